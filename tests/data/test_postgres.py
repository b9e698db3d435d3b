"""The same expressions on a PostgreSQL server of our own, where it and psycopg are installed."""

from __future__ import annotations

import itertools
import time
from contextlib import closing
from dataclasses import replace
from datetime import date
from math import inf, nan
from threading import Thread
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prism_core.data.encoding import encode
from prism_core.data.engines import out_of_core
from prism_core.data.engines.engine import ADVICE
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables import address
from prism_core.data.tables.raw_table import from_frame, read_table
from prism_core.errors import TableError
from tests.support.cells import ALIKE, COLLATED, ODD
from tests.support.postgres import NEEDED, PASSWORD, load

pytestmark = NEEDED


@pytest.fixture
def server(postgres_server):
    return postgres_server


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
    table = out_of_core.open_table(place, tmp_path / "workspace")
    try:
        assert "canary" not in repr(table)
        assert "canary" not in repr(table.engine)
        assert table.rows == memory.n
        cliques = [c for k in (1, 2) for c in itertools.combinations(schema.names, k)]
        stored = table.store(schema, public=True)
        expected = memory.counts(cliques)
        for counts in (
            stored.counts(cliques),
            table.counted_there(schema, public=True).counts(cliques),
        ):
            for found, wanted in zip(counts, expected, strict=True):
                assert (found == wanted).all()
        drawn = stored.sample(stored.n, np.random.default_rng(1))
        assert sorted(map(tuple, drawn.codes)) == sorted(map(tuple, memory.codes))
    finally:
        table.close()


def test_cells_that_a_collation_calls_equal_are_told_apart(server, tmp_path):
    import psycopg

    cells = [*ALIKE, "rest"]
    with psycopg.connect(server.replace("postgres://", "postgresql://")) as db:
        db.execute(
            "CREATE COLLATION alike (provider = icu, locale = 'und-u-ks-level2', "
            "deterministic = false)"
        )
        db.execute("CREATE TABLE collated (v text COLLATE alike)")
        for cell in cells:
            db.execute("INSERT INTO collated VALUES (%s)", [cell])
    memory = encode(COLLATED, from_frame(pd.DataFrame({"v": cells}))).counts([("v",)])[0].tolist()
    there = out_of_core.open_table(address.parse(f"{server}?table=collated"), tmp_path / "ws")
    with closing(there):
        for rows in (
            there.counted_there(COLLATED, public=True),
            there.store(COLLATED, public=True),
        ):
            assert rows.counts([("v",)])[0].tolist() == memory


def test_a_backslash_in_a_cell_is_a_backslash(server, tmp_path):
    """Also where texts are read as they were before 9.1."""
    import psycopg

    cells = ["\\') OR 1=1 --", "ä\\", "rest"]
    plain = server.replace("postgres://", "postgresql://")
    with psycopg.connect(plain, autocommit=True) as db:
        db.execute("CREATE TABLE slashes (v text)")
        for cell in cells:
            db.execute("INSERT INTO slashes VALUES (%s)", [cell])
        (name,) = db.execute("SELECT current_database()").fetchone()
        db.execute(f'ALTER DATABASE "{name}" SET standard_conforming_strings = off')
    try:
        memory = encode(COLLATED, from_frame(pd.DataFrame({"v": cells}))).counts([("v",)])[0]
        there = out_of_core.open_table(address.parse(f"{server}?table=slashes"), tmp_path / "ws")
        with closing(there):
            found = there.counted_there(COLLATED, public=True).counts([("v",)])[0]
        assert found.tolist() == memory.tolist()
    finally:
        with psycopg.connect(plain, autocommit=True) as db:
            db.execute(f'ALTER DATABASE "{name}" RESET standard_conforming_strings')


def test_the_types_of_postgres_are_those_of_a_parquet_file(server, tmp_path, frame, schema):
    """Dates, exact decimals, floats that are no numbers, booleans, whole numbers, gaps."""
    table = pa.table(
        {
            "age": pa.array([*([None, 2**40, -7] * 10), *map(int, frame["age"][30:])], pa.int64()),
            "smoker": pa.array([{"": None, "true": True}.get(v, False) for v in frame["smoker"]]),
            "grade": pa.array([*([None, 3.5, 2.0] * 20), *map(float, frame["grade"][60:])]),
            "ward": pa.array([None if v == "east" else v for v in frame["ward"]], pa.string()),
            "seen": pa.array(
                [
                    None if i % 9 == 0 else date.fromisoformat(v)
                    for i, v in enumerate(frame["seen"])
                ],
                pa.date32(),
            ),
            "dose": pa.array([None, nan, inf, -inf, 1e300, *map(float, frame["dose"][5:])]),
            "readmitted": pa.array([v == "yes" for v in frame["readmitted"]]),
            "person": pa.array([i // 2 for i in range(len(frame))], pa.int64()),
        }
    )
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    load(
        server,
        "typed",
        list(map(tuple, zip(*table.to_pydict().values(), strict=True))),
        {
            "age": "bigint",
            "smoker": "boolean",
            "grade": "numeric",
            "ward": "varchar(9)",
            "seen": "date",
            "dose": "double precision",
            "readmitted": "boolean",
            "person": "bigint",
        },
    )
    memory = encode(schema, read_table(path))
    found = out_of_core.open_table(address.parse(f"{server}?table=typed"), tmp_path / "workspace")
    try:
        cliques = [c for k in (1, 2) for c in itertools.combinations(schema.names, k)]
        stored = found.store(schema, public=True)
        expected = memory.counts(cliques)
        for counts in (
            stored.counts(cliques),
            found.counted_there(schema, public=True).counts(cliques),
        ):
            for mine, wanted in zip(counts, expected, strict=True):
                assert (mine == wanted).all()
        assert found.people("person") == len(frame) // 2
        people = replace(
            schema, one_row_per_person=False, person_id="person", persons=len(frame) // 2
        )
        assert found.store(people, public=True).n == len(frame) // 2
        drawn = found.counted_there(people, public=True)
        once, again = drawn.counts([("age",)])[0], drawn.counts([("age", "seen")])[0]
        assert once.sum() == len(frame) // 2
        assert (again.sum(axis=1) == once).all()
    finally:
        found.close()


def test_an_enum_is_its_label_and_an_oid_a_number_without_a_sign(server, tmp_path):
    """Also an enum of another schema, and one behind a domain."""
    import psycopg

    rows = [("ok", "b", "sad", 4294967295), ("sad", "a", "ok", 7), (None, None, None, None)]
    with psycopg.connect(server.replace("postgres://", "postgresql://"), autocommit=True) as db:
        db.execute("CREATE SCHEMA odd")
        db.execute("CREATE TYPE mood AS ENUM ('sad', 'ok')")
        db.execute("CREATE TYPE odd.grade AS ENUM ('a', 'b')")
        db.execute("CREATE DOMAIN moody AS mood")
        db.execute("CREATE TABLE enums (m mood, g odd.grade, d moody, o oid)")
        for row in rows:
            db.execute("INSERT INTO enums VALUES (%s, %s, %s, %s)", row)
    schema = Schema(
        columns=(
            Column(name="m", kind="categorical", levels=("ok", "sad"), nullable=True),
            Column(name="g", kind="ordinal", levels=("a", "b"), nullable=True),
            Column(name="d", kind="categorical", levels=("sad", "ok"), nullable=True),
            Column(name="o", kind="numeric", lower=0, upper=2**32, edges=(8.0,), nullable=True),
        ),
        one_row_per_person=True,
    )
    texts = pd.DataFrame([["" if cell is None else str(cell) for cell in row] for row in rows])
    memory = encode(schema, from_frame(texts.set_axis(list(schema.names), axis=1)))
    cliques = [(name,) for name in schema.names] + [("m", "o"), ("g", "d")]
    table = out_of_core.open_table(address.parse(f"{server}?table=enums"), tmp_path / "workspace")
    with closing(table):
        assert sorted(table.some(9).column("o")) == ["", "4294967295", "7"]
        for counts in (table.store(schema, public=True), table.counted_there(schema, public=True)):
            for found, wanted in zip(counts.counts(cliques), memory.counts(cliques), strict=True):
                assert found.tolist() == wanted.tolist()


@pytest.mark.privacy
def test_a_refusal_of_the_server_tells_neither_password_nor_value(server, tmp_path):
    absent = urlsplit(server)._replace(netloc=f"prism:{PASSWORD}@127.0.0.1:1").geturl()
    for wrong, reason in (
        (server.replace(PASSWORD, "canary-wrong"), "login"),
        (absent, "host"),
        (server, "missing"),
    ):
        with pytest.raises(TableError) as caught:
            out_of_core.open_table(address.parse(f"{wrong}?table=absent"), tmp_path / "workspace")
        assert "canary" not in str(caught.value)
        assert ADVICE[reason] in str(caught.value)
        assert caught.value.__cause__ is None


@pytest.mark.privacy
def test_a_table_that_may_not_be_read_is_told_apart(server, tmp_path):
    import psycopg

    load(server, "closed", [("canary",)], {"age": "text"})
    with psycopg.connect(server.replace("postgres://", "postgresql://")) as db:
        db.execute("create role stranger login password 'canary@secret'")
    stranger = server.replace("prism:", "stranger:", 1)
    place = address.parse(f"{stranger}?table=closed")
    with closing(out_of_core.open_table(place, tmp_path / "ws")) as table:
        with pytest.raises(TableError) as caught:
            _ = table.rows
        assert ADVICE["permission"] in str(caught.value)
        assert "canary" not in str(caught.value)


CUT = (
    "select pg_terminate_backend(pid) from pg_stat_activity "
    "where pid <> pg_backend_pid() and state = 'active' and query like 'COPY%'"
)


@pytest.mark.privacy
@pytest.mark.parametrize("scan", [1, 2])
def test_a_connection_that_is_cut_in_a_scan_is_an_error(server, tmp_path, frame, schema, scan):
    """In the scan of cells and in that of counts; a release makes both before its charge."""
    import psycopg

    rows = list(frame.itertuples(index=False, name=None))
    name = f"cut_{scan}"
    load(server, name, rows, dict.fromkeys(frame.columns, "text"))
    place = address.parse(f"{server}?table={name}")
    with (
        psycopg.connect(server.replace("postgres://", "postgresql://"), autocommit=True) as db,
        closing(out_of_core.open_table(place, tmp_path / "ws")) as table,
    ):
        there = table.counted_there(schema, public=False)
        if scan == 2:
            there.counts([("age",)])
        # Rows that take long enough to be cut off in the middle.
        db.execute(f"alter table {name} rename to whole_{scan}")
        db.execute(
            f"create view {name} as select * from whole_{scan} where pg_sleep(0.02) is not null"
        )

        def cut() -> None:
            while not db.execute(CUT).fetchall():
                time.sleep(0.05)

        cutting = Thread(target=cut, daemon=True)
        cutting.start()
        with pytest.raises(TableError) as caught:
            there.counts([("ward", "age")])
        cutting.join()
    assert caught.value.__context__ is None
