"""The same expressions on a PostgreSQL server of our own, where it and psycopg are installed."""

from __future__ import annotations

import importlib.util
import itertools
import os
import shutil
import socket
import subprocess
import tempfile
from dataclasses import replace
from datetime import date
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from unit.test_spark import ODD

from prism_core.data import address, big
from prism_core.data.encoding import encode
from prism_core.data.tables import read_table
from prism_core.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = shutil.which("pg_ctl") or next(
    (str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))), None
)
PASSWORD = "canary%40secret"  # as it stands in an address: an encoded @

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="needs PostgreSQL's programs"),
    pytest.mark.skipif(importlib.util.find_spec("psycopg") is None, reason="needs psycopg"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Address of a fresh server on the loopback that wants a password."""
    assert PROGRAM is not None
    folder = Path(tempfile.mkdtemp(prefix="prism-pg-"))
    bins = Path(PROGRAM).resolve().parent
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    secret = folder / "password"
    secret.write_text(PASSWORD.replace("%40", "@"), encoding="utf-8")
    who = {"user": "postgres"} if os.geteuid() == 0 else {}  # PostgreSQL refuses to run as root
    if who:
        for path in (folder, secret):
            shutil.chown(path, "postgres")

    def run(name: str, *arguments: str) -> None:
        subprocess.run([str(bins / name), *arguments], check=True, capture_output=True,
                       cwd=folder, **who)  # fmt: skip

    data = folder / "data"
    run("initdb", "-D", str(data), "-U", "prism", "-A", "scram-sha-256", f"--pwfile={secret}")
    options = f"-h 127.0.0.1 -p {port} -k {folder}"
    run("pg_ctl", "-D", str(data), "-w", "-l", str(folder / "log"), "-o", options, "start")
    try:
        yield f"postgres://prism:{PASSWORD}@127.0.0.1:{port}/postgres"
    finally:
        run("pg_ctl", "-D", str(data), "-m", "immediate", "stop")
        shutil.rmtree(folder)


def load(server: str, table: str, rows: list[tuple[object, ...]], columns: dict[str, str]) -> None:
    import psycopg

    with psycopg.connect(server.replace("postgres://", "postgresql://")) as connection:
        kinds = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
        connection.execute(f"create table {table} ({kinds})")
        marks = ", ".join(["%s"] * len(columns))
        with connection.cursor() as cursor:
            cursor.executemany(f"insert into {table} values ({marks})", rows)


def test_postgres_counts_are_those_of_memory(server, tmp_path, frame, schema):
    for column, place in zip(frame.columns, itertools.count()):
        frame.loc[place * 25 : place * 25 + len(ODD) - 1, column] = ODD
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    memory = encode(schema, read_table(path))
    rows = [tuple(None if v == "" else v for v in row) for row in frame.itertuples(index=False)]
    load(server, '"Stays of ""2026"""', rows, dict.fromkeys(frame.columns, "text"))
    place = address.parse(f'{server}?table=Stays of "2026"')
    assert "canary" not in str(place)
    table = big.open_table(place, tmp_path / "workspace")
    try:
        assert table.rows == memory.n
        cliques = [c for k in (1, 2) for c in itertools.combinations(schema.names, k)]
        stored = table.store(schema, public=True)
        for found, wanted in zip(stored.counts(cliques), memory.counts(cliques), strict=True):
            assert (found == wanted).all()
        drawn = stored.sample(stored.n, np.random.default_rng(1))
        assert sorted(map(tuple, drawn.codes)) == sorted(map(tuple, memory.codes))
    finally:
        table.close()


def test_the_types_of_postgres_are_those_of_a_parquet_file(server, tmp_path, frame, schema):
    """Dates, exact decimals, floats that are no numbers, booleans, whole numbers, gaps."""
    table = pa.table(
        {
            "age": pa.array([*([None, 2**40, -7] * 10), *map(int, frame["age"][30:])], pa.int64()),
            "smoker": pa.array([{"": None, "true": True}.get(v, False) for v in frame["smoker"]]),
            "grade": pa.array([*([None, 3.5, 2.0] * 20), *map(float, frame["grade"][60:])]),
            "ward": pa.array([None if v == "east" else v for v in frame["ward"]], pa.string()),
            "seen": pa.array([None if i % 9 == 0 else date.fromisoformat(v)
                              for i, v in enumerate(frame["seen"])], pa.date32()),
            "dose": pa.array([None, nan, inf, -inf, 1e300, *map(float, frame["dose"][5:])]),
            "readmitted": pa.array([v == "yes" for v in frame["readmitted"]]),
            "person": pa.array([i // 2 for i in range(len(frame))], pa.int64()),
        }
    )  # fmt: skip
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    load(
        server, "typed", list(map(tuple, zip(*table.to_pydict().values(), strict=True))),
        {"age": "bigint", "smoker": "boolean", "grade": "numeric", "ward": "varchar(9)",
         "seen": "date", "dose": "double precision", "readmitted": "boolean", "person": "bigint"},
    )  # fmt: skip
    memory = encode(schema, read_table(path))
    found = big.open_table(address.parse(f"{server}?table=typed"), tmp_path / "workspace")
    try:
        cliques = [c for k in (1, 2) for c in itertools.combinations(schema.names, k)]
        stored = found.store(schema, public=True)
        for mine, wanted in zip(stored.counts(cliques), memory.counts(cliques), strict=True):
            assert (mine == wanted).all()
        assert found.people("person") == len(frame) // 2
        people = replace(schema, one_row_per_person=False, person_id="person",
                         persons=len(frame) // 2)  # fmt: skip
        assert found.store(people, public=True).n == len(frame) // 2
    finally:
        found.close()


@pytest.mark.privacy
def test_a_refusal_of_the_server_tells_neither_password_nor_value(server, tmp_path):
    for wrong in (server.replace(PASSWORD, "canary-wrong"), server):
        with pytest.raises(TableError) as caught:
            big.open_table(address.parse(f"{wrong}?table=absent"), tmp_path / "workspace")
        assert "canary" not in str(caught.value)
        assert caught.value.__cause__ is None
