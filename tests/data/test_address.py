"""Addresses of tables: what they name, and that a password never shows."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import pytest

from prism_core.data.tables.address import parse
from prism_core.errors import TableError
from prism_core.planning.wishes import config as configs

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "s3cr3t/pw"
URLS = (
    f"postgres://me:{SECRET.replace('/', '%2F')}@db.example:5432/ward?table=stays&schema=s",
    "postgresql://me@db.example/ward?table=stays&password=s3cr3t",
    "bigquery://project/data?table=stays&credentials=s3cr3t",
    "duckdb:///x.db?table=stays&token=s3cr3t",
)


@pytest.mark.privacy
@pytest.mark.parametrize("url", URLS)
def test_a_password_shows_nowhere(url, tmp_path):
    address = parse(url)
    shown = [str(address), repr(address), f"{address}", address.shown, repr([address])]
    shown += [address.title, repr(copy.copy(address))]
    text = f'[table]\ntrain = "{url}"\nholdout = "{url}"\nschema = "s"\n[task]\ntarget = "y"\n'
    config = configs.from_dict(configs.tomllib.loads(text), folder=tmp_path)
    shown += [repr(config), configs.dumps(config)]
    assert not [part for part in shown if "s3cr3t" in part]
    assert all("stays" in part for part in shown)
    assert "s3cr3t" in address.connection() or address.place == "duckdb"


@pytest.mark.privacy
@pytest.mark.parametrize(
    "text",
    [
        "mysql://me:s3cr3t@host/db?table=t",
        "postgres://me:s3cr3t@host/db",
        "s3://s3cr3t/x.parquet",
        "http://me:s3cr3t@[::1/db?table=t",
    ],
)
def test_a_url_that_is_no_table_is_refused_without_repeating_it(text):
    with pytest.raises(TableError, match=r"duckdb:///FILE|postgres://USER") as caught:
        parse(text)
    assert "s3cr3t" not in str(caught.value)


def test_a_variable_is_named_in_what_is_shown_and_filled_in_for_the_driver(monkeypatch):
    address = parse("postgres://me:${PRISM_WARD_PW}@host/db?table=t")
    assert address.shown == "postgres://me:${PRISM_WARD_PW}@host/db?table=t"
    with pytest.raises(TableError, match="PRISM_WARD_PW, which is not set"):
        address.connection()
    monkeypatch.setenv("PRISM_WARD_PW", "a@b/c")
    assert address.connection() == "postgres://me:a%40b%2Fc@host/db"


def test_paths_and_patterns(tmp_path: Path):
    for name in ("b.csv", "a.csv", "odd[1].csv", "c.txt"):
        (tmp_path / name).write_text("x\n1\n")
    assert parse("a.csv", tmp_path).place == "file"
    assert parse("odd[1].csv", tmp_path).place == "file"  # a file of that very name
    found = parse("[ab].csv", tmp_path)
    assert [path.name for path in found.files()] == ["a.csv", "b.csv"]
    assert [p.name for p in parse(str(tmp_path / "?.csv")).files()] == ["a.csv", "b.csv"]
    for text in ("none*.csv", "none.csv", "a" * 5000 + "*"):
        with pytest.raises(TableError, match="No file matches"):
            parse(text, tmp_path).files()
    assert parse("duckdb:///a.csv?table=t", tmp_path).path_part() == tmp_path / "a.csv"


@pytest.mark.privacy
@pytest.mark.parametrize(
    "text",
    [
        "postgres://me:CAN/ARY@host/db?table=t",
        "postgres://me:CAN#ARY@host/db?table=t",
        "postgres://me:CAN?ARY@host/db?table=t",
        "postgres://m:e:CANARY@host/db?table=t",
        "postgres://me:x@CANARY@host/db?table=t",
        "spark:///x.parquet?master=spark://u:CANARY@h",
        "postgres:me:CANARY@host/db?table=t",
        "postgres//me:CANARY@host/db?table=t",
        "postgres://host:5432/db?table=t&password=CAN@ARY",
        "postgres://host/db?table=t&password=CAN@ARY",
        "postgres://me:12/CANARY@host/db?table=t",
        "postgres://me:12?CANARY@host/db?table=t",
        "postgres://me:12#CANARY@host/db?table=t",
        "me:CANARY@host",
        "postgres//me:CANARY@host/*?table=t",
        "postgres://me:CAN\nARY@host/d?table=t",
    ],
)
def test_a_password_with_odd_marks_or_after_a_slip_is_not_shown(text):
    shown = ""
    try:
        found = parse(text)
        shown = f"{found.shown} {found!r} {found} {found.title}"
        found.files()
    except TableError as error:
        shown += str(error)
    assert not [part for part in ("CANARY", "CAN", "ARY") if part in shown]


@pytest.mark.privacy
def test_only_variables_meant_for_addresses_are_sent_to_a_host(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "CANARY")
    for text in (
        "postgres://me:${AWS_SECRET_ACCESS_KEY}@host/db?table=t",
        "postgres://host/db?table=t&options=${AWS_SECRET_ACCESS_KEY}",
    ):
        with pytest.raises(TableError, match=r"begin with PG or PRISM_") as caught:
            parse(text).connection()
        assert "CANARY" not in str(caught.value)
