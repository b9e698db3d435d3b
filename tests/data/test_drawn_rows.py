"""Rows that a database draws for an evaluation: keyed, the same in every engine, one exchanged."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from prism_core.data.encoding import encode
from prism_core.data.engines.coded_query import PERSON, TURN, drawn, sampled
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import from_frame
from prism_core.errors import TableError
from prism_core.runs import inputs
from tests.support import postgres, spark
from tests.support.cells import ODD
from tests.support.engines import OnWorkers, opened, write_texts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pytestmark = pytest.mark.privacy

KEY = "the key of this test"


@pytest.fixture
def frame(frame) -> pd.DataFrame:
    """Hostile cells, and rows that are equal."""
    for place, column in enumerate(frame.columns):
        frame.loc[place * 25 : place * 25 + len(ODD) - 1, column] = ODD
    frame.loc[200:260] = frame.loc[200].to_numpy()
    frame["mrn"] = [f"p{row // 3} é" for row in range(len(frame))]
    return frame


def people(schema: Schema, most: int = 1) -> Schema:
    return Schema(columns=schema.columns, person_id="mrn", persons=100, max_rows=most)


def rows_of(table: Any) -> Counter[tuple[int, ...]]:
    return Counter(map(tuple, table.codes.tolist()))


@pytest.fixture
def parquet(frame, tmp_path) -> Path:
    write_texts(frame, tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def check_engine(table: Any, parquet: Path, schema: Schema) -> None:
    """An engine draws what DuckDB draws of a file, for rows and for people."""
    with opened(str(parquet), parquet.parent) as file:
        for declared in (schema, people(schema), people(schema, 2)):
            for rows in (40, 10**6):
                found = table.draw(declared, rows, KEY, public=True)
                wanted = file.draw(declared, rows, KEY, public=True)
                assert rows_of(found) == rows_of(wanted)
                assert found.people == wanted.people


@postgres.needing
def test_postgres_draws_what_duckdb_draws(postgres_server, frame, schema, parquet, tmp_path):
    cells = list(frame.itertuples(index=False))
    postgres.load(postgres_server, "drawn_rows", cells, dict.fromkeys(frame.columns, "text"))
    with opened(f"{postgres_server}?table=drawn_rows", tmp_path) as table:
        check_engine(table, parquet, schema)


class TestOnSpark:
    pytestmark = spark.NEEDED

    def test_spark_draws_what_duckdb_draws(self, standalone_spark, schema, parquet):
        with standalone_spark.opened(parquet) as table:
            check_engine(table, parquet, schema)


def test_all_rows_come_where_there_are_no_more(frame, schema, parquet, tmp_path):
    memory = encode(schema, from_frame(frame))
    with opened(str(parquet), tmp_path) as table:
        for rows in (300, 301, 10**6):
            found = table.draw(schema, rows, KEY, public=True)
            assert rows_of(found) == rows_of(memory)
            assert found.public
        part = table.draw(schema, 299, KEY, public=False)
    assert part.n == 299
    assert not part.public
    assert (rows_of(memory) - rows_of(part)).total() == 1
    assert not rows_of(part) - rows_of(memory)


def test_one_key_draws_the_same_rows_and_another_one_others(schema, parquet, tmp_path):
    with opened(str(parquet), tmp_path) as table:
        for declared in (schema, people(schema), people(schema, 2)):
            first, again, other = (
                rows_of(table.draw(declared, 30, key, public=True)) for key in (KEY, KEY, "other")
            )
            assert first == again
            assert first != other


def test_whole_people_are_drawn_and_no_more_rows_than_wanted(frame, schema, parquet, tmp_path):
    with opened(str(parquet), tmp_path) as table:
        one = table.draw(people(schema), 30, KEY, public=True)
        assert (one.n, one.people, one.person) == (30, 30, None)
        two = table.draw(people(schema, 2), 31, KEY, public=True)
        assert (two.n, two.people) == (30, 15)
        five = table.draw(people(schema, 5), 31, KEY, public=True)
        assert (five.n, five.people) == (18, 6)  # all three rows of each
        assert five.person is not None
        assert np.bincount(five.person).tolist() == [3] * 6
        every = table.draw(people(schema), 10**6, KEY, public=True)
        assert every.n == 100
        # A declared number that is not the table's is no matter: a holdout has people of its own.
        fewer = Schema(columns=schema.columns, person_id="mrn", persons=7)
        assert table.draw(fewer, 10**6, KEY, public=True).n == 100


def test_a_table_without_rows_or_a_column_is_refused(frame, schema, tmp_path):
    with duckdb.connect(str(tmp_path / "none.db")) as db:
        db.execute(f"CREATE TABLE stays ({', '.join(f'{name} VARCHAR' for name in frame)})")
    write_texts(frame.drop(columns="ward"), tmp_path / "less.parquet")
    with (
        opened(f"duckdb:///{tmp_path / 'none.db'}?table=stays", tmp_path) as none,
        opened(str(tmp_path / "less.parquet"), tmp_path) as less,
    ):
        with pytest.raises(TableError, match="no rows"):
            none.draw(schema, 10, KEY, public=True)
        with pytest.raises(TableError, match="ward"):
            less.draw(schema, 10, KEY, public=True)


def test_codes_of_workers_engine_are_drawn_alike(schema, parquet, tmp_path):
    with opened(str(parquet), tmp_path) as table:
        workers = replace(table, engine=OnWorkers(table.engine, 7))
        check_engine(workers, parquet, schema)


# --- what one row, or one person, can change --------------------------------------------------

ALPHABET = ("a", "b", None)


@pytest.fixture(scope="module")
def duck() -> Any:
    return ibis.duckdb.connect()


def asked(duck: Any, query: Any) -> Counter[tuple[Any, ...]]:
    found = duck.to_pyarrow(query).to_pydict()
    return Counter(zip(*found.values(), strict=True))


def texts(rows: Sequence[tuple[Any, ...]], names: Sequence[str]) -> Any:
    kinds = dict.fromkeys(names, "string")
    return ibis.memtable(pd.DataFrame(rows, columns=list(names), dtype=object), schema=kinds)


def test_replacing_a_row_exchanges_one_row_of_those_drawn_at_most(duck):
    """Of every small table with equal rows among others, for two keys."""
    cells = list(itertools.product(ALPHABET, ALPHABET[:2]))
    rng = np.random.default_rng(4)
    moved = set()
    for key in ("k", "another"):
        for _ in range(12):
            rows = [cells[at] for at in rng.integers(0, 4, 9)]
            other = [cells[int(rng.integers(0, len(cells)))], *rows[1:]]
            draws = [
                asked(duck, sampled(texts(table, ("u", "v")), key, 4)) for table in (rows, other)
            ]
            assert all(draw.total() == 4 for draw in draws)
            moved.add((draws[0] - draws[1]).total())
    assert moved == {0, 1}


def test_zeros_of_either_sign_are_one_cell(duck):
    """They are numbered together: with a text of its own the sign of one would move others."""
    table = ibis.memtable(pa.table({"u": pa.array([0.0] * 6 + [-0.0] * 6 + [1.0, float("nan")])}))
    turned = ibis.memtable(pa.table({"u": pa.array([0.0] * 12 + [1.0, float("nan")])}))
    for key in map(str, range(8)):
        draws = [asked(duck, sampled(rows, key, 3)) for rows in (table, turned)]
        assert [sum(n for (cell,), n in draw.items() if cell == 0.0) for draw in draws] == [
            draws[1][(0.0,)]
        ] * 2


def test_replacing_a_person_exchanges_one_of_those_drawn_at_most(duck):
    """All rows of a person, whatever they hold and however many they are."""
    rng = np.random.default_rng(5)
    moved = set()
    for most in (1, 2):
        for key in map(str, range(12)):
            rows = [
                (f"p{who}", ALPHABET[at])
                for who in range(7)
                for at in rng.integers(0, 3, rng.integers(1, 4))
            ]
            other = [row for row in rows if row[0] != "p3"]
            other += [("new" if rng.random() < 0.5 else "p3", "b")] * int(rng.integers(1, 4))
            draws = []
            for table in (rows, other):
                query = drawn(texts(table, (PERSON, "v")), key, most, together=True, people=3)
                found = duck.to_pyarrow(query).to_pylist()
                owners: dict[str, list[Any]] = {}
                for row in found:
                    owners.setdefault(row["owner"], []).append(row["v"])
                # As `draw` cuts: the rows of three people.
                draws.append(Counter(map(tuple, list(owners.values())[:3])))
                assert draws[-1].total() == 3
                assert most == 1 or {row[TURN] for row in found} <= {0, 1}
            moved.add((draws[0] - draws[1]).total())
    assert moved == {0, 1}


def test_the_draw_is_the_least_keyed_hashes_once_more_in_memory(duck):
    rows = [("a", "x")] * 5 + [("b", "y")] * 3 + [(None, "z"), ("c/d", "z"), ("c", "d/z")]
    lots = []
    for content, many in Counter(rows).items():
        words = "/".join("" if cell is None else cell for cell in content)
        lots += [
            (hashlib.md5(f"{KEY}/{place}/{words}".encode()).hexdigest(), content)
            for place in range(many)
        ]
    wanted = Counter(content for _, content in sorted(lots, key=lambda lot: lot[0])[:6])
    assert asked(duck, sampled(texts(rows, ("u", "v")), KEY, 6)) == wanted


def test_every_row_is_as_likely_to_be_drawn(duck):
    """30 of 60 rows, a third of them equal: over 400 keys the share stays within 1e-9's bounds."""
    rows = [("same", str(0))] * 20 + [("own", str(row)) for row in range(40)]
    table = texts(rows, ("u", "v"))
    hits = 0
    for key in range(400):
        hits += asked(duck, sampled(table, str(key), 30))["same", "0"]
    # Hypergeometric: mean 10 a draw, variance 30 * 1/3 * 2/3 * 30/59. 6.2 deviations: below 1e-9.
    deviation = (400 * 30 / 3 * 2 / 3 * 30 / 59) ** 0.5
    assert abs(hits - 4_000) < 6.2 * deviation


def test_of_a_large_table_the_generator_decides_which_rows_are_drawn(
    schema, parquet, tmp_path, monkeypatch
):
    monkeypatch.setattr(inputs, "EVALUATED", 50)
    with opened(str(parquet), tmp_path) as table:
        draws = [
            inputs.encode_holdout(declared, table, rng=np.random.default_rng(seed))
            for declared in (schema, people(schema))
            for seed in (1, 1, 2)
        ]
    assert [draw.n for draw in draws] == [50] * 6
    for first, again, other in (draws[:3], draws[3:]):
        assert rows_of(first) == rows_of(again)
        assert rows_of(first) != rows_of(other)
    # Nothing is drawn where all rows come: known noise stays what it is in memory.
    monkeypatch.setattr(inputs, "EVALUATED", 10**6)
    rng = np.random.default_rng(1)
    with opened(str(parquet), tmp_path) as table:
        inputs.encode_holdout(schema, table, rng=rng)
    assert rng.bytes(8) == np.random.default_rng(1).bytes(8)
