"""Several rows a person where the rows are: one draw in every engine, one person at a time."""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from prism_core.data.encoding import encode
from prism_core.data.engines import engine_table, out_of_core, stored_table
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import from_frame
from prism_core.errors import PrivacyError, TableError
from prism_core.planning.asked_marginals import asked_marginals
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Task
from prism_core.privacy.contribution import WEIGHTINGS
from tests.support import bundles, spark
from tests.support.cells import ODD
from tests.support.engines import OnWorkers, opened, released_alike, write_texts
from tests.support.people import everybody, schema_of
from tests.support.postgres import NEEDED, load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prism_core.data.engines.out_of_core import BigTable

pytestmark = pytest.mark.privacy

KEY = "the key of this test"
MOST = 3


@dataclass(frozen=True)
class Visits:
    """Rows of people who have 1 to 6 each, hostile cells and equal rows among them."""

    frame: pd.DataFrame
    schema: Schema

    @property
    def named(self) -> Schema:
        """With a bin for each row, in front: rows of a person are numbered by it alone."""
        last = len(self.frame) - 1
        row = Column(name="row", kind="numeric", lower=0, upper=last, edges=tuple(range(last)))
        return replace(self.schema, columns=(row, *self.schema.columns[:3]))

    def kept(self, key: str, most: int) -> np.ndarray:
        """How many rows of its person are kept beside each kept row, with it; 0 for others.

        The draw once more, in memory.
        """
        found = np.zeros(len(self.frame), dtype=np.int64)
        for person, rows in self.frame.reset_index().groupby("mrn"):
            lots = [
                hashlib.md5(f"{key}/{place}/{person}".encode()).hexdigest()
                for place in range(len(rows))
            ]
            turns = np.argsort(np.argsort(lots))
            places = rows["index"].to_numpy()[turns < most]
            found[places] = len(places)
        return found


@pytest.fixture
def visits(frame, schema) -> Visits:
    frame = frame[:100].copy()
    for place, column in enumerate(frame.columns):
        frame.loc[place * 10 : place * 10 + len(ODD) - 1, column] = ODD
    # Equal rows of a person, whose order nobody knows.
    frame.loc[70:80] = frame.loc[70].to_numpy()
    sizes = itertools.cycle((1, 2, 3, 4, 5, 6))
    people: list[str] = []
    while len(people) < len(frame):
        people += [f"p{len(people)} é"] * next(sizes)
    people[:2] = ["", ""]  # an empty ID is an ID like any other
    frame["mrn"] = people[: len(frame)]
    frame["row"] = [str(row) for row in range(len(frame))]
    return Visits(
        frame,
        replace(
            schema,
            one_row_per_person=False,
            person_id="mrn",
            persons=frame["mrn"].nunique(),
            max_rows=MOST,
        ),
    )


@pytest.fixture
def keyed(monkeypatch) -> None:
    for module in (engine_table, out_of_core):
        monkeypatch.setattr(module, "fresh_key", lambda: KEY)


@pytest.fixture
def table(visits, tmp_path) -> Iterator[BigTable]:
    write_texts(visits.frame, tmp_path / "t.parquet")
    with opened(str(tmp_path / "t.parquet"), tmp_path) as found:
        yield found


def weights(table: BigTable, schema: Schema) -> list[np.ndarray]:
    """What each row counts, by the counts of the database and by those of stored codes."""
    stored = table.store(schema, public=False)
    there = table.counted_there(schema, public=False)
    assert there.contribution == stored.contribution == schema.contribution
    assert there.people == stored.people == schema.persons
    found = [rows.counts([("row",)])[0] for rows in (there, stored)]
    stored.folder.close()
    return found


def expected(visits: Visits, schema: Schema) -> np.ndarray:
    kept = visits.kept(KEY, schema.max_rows)
    return np.array([schema.contribution.weight(many) if many else 0 for many in kept])


def check_equal(visits: Visits, table: BigTable, other: BigTable) -> None:
    """Another engine draws what memory draws, and of hostile and equal rows what `table` draws."""
    named = replace(visits.named, weighting="persons")
    for found in weights(other, named):
        np.testing.assert_array_equal(found, expected(visits, named))
    schema = replace(visits.schema, weighting="persons")
    pairs = list(itertools.combinations(schema.names, 2))
    for way in ("counted_there", "store"):
        found, wanted = (
            getattr(one, way)(schema, public=False).counts(pairs) for one in (other, table)
        )
        for mine, theirs in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.usefixtures("keyed")
@pytest.mark.parametrize(("weighting", "most"), [("rows", MOST), ("persons", 2), ("persons", 6)])
def test_duckdb_draws_what_memory_draws(visits, table, weighting, most):
    schema = replace(visits.named, weighting=weighting, max_rows=most)
    for found in weights(table, schema):
        np.testing.assert_array_equal(found, expected(visits, schema))


@pytest.mark.usefixtures("keyed")
def test_workers_draw_what_memory_draws(visits, table):
    """The functions that Spark's workers run, in batches that cut people."""
    check_equal(visits, table, replace(table, engine=OnWorkers(table.engine, 7)))


class TestPostgres:
    pytestmark = NEEDED

    @pytest.mark.usefixtures("keyed")
    def test_it_draws_what_memory_draws(self, visits, table, postgres_server, tmp_path):
        rows = list(visits.frame.itertuples(index=False, name=None))
        load(postgres_server, "visits", rows, dict.fromkeys(visits.frame, "text"))
        with opened(f"{postgres_server}?table=visits", tmp_path) as other:
            check_equal(visits, table, other)


class TestSpark:
    pytestmark = spark.NEEDED

    @pytest.mark.usefixtures("keyed")
    def test_it_draws_what_memory_draws(self, visits, table, standalone_spark, tmp_path):
        with standalone_spark.opened(tmp_path / "t.parquet") as other:
            check_equal(visits, table, other)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.usefixtures("keyed")
def test_a_person_moves_her_own_rows_alone(visits, table, tmp_path, weighting):
    """Replaced by somebody with other rows, more rows, or another ID."""
    schema = replace(visits.named, weighting=weighting)
    before = weights(table, schema)[0]
    person = visits.frame["mrn"] == visits.frame["mrn"].value_counts().index[0]
    assert person.sum() > MOST
    for number, change in enumerate(({"ward": "east", "age": "1e3"}, {"mrn": "somebody"})):
        changed = visits.frame.copy()
        for name, cell in change.items():
            changed.loc[person, name] = cell
        path = tmp_path / f"{number}.parquet"
        write_texts(changed, path)
        with opened(str(path), tmp_path) as other:
            for after in weights(other, schema):
                np.testing.assert_array_equal(after[~person], before[~person])
                assert after[person].sum() <= schema.contribution.most
    # The counts of the others are those of the others alone.
    others = visits.frame[~person]
    write_texts(others, tmp_path / "others.parquet")
    with opened(str(tmp_path / "others.parquet"), tmp_path) as other:
        fewer = replace(schema, persons=others["mrn"].nunique())
        np.testing.assert_array_equal(weights(other, fewer)[0][~person], before[~person])


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_no_two_people_move_the_counts_by_more_than_the_bound(tmp_path, weighting):
    """All people of one to four rows of four cells where two rows are kept, all pairs of them."""
    people = list(everybody((2, 2), 4))
    rows = [(f"w{i}", *row) for i, own in enumerate(people) for row in own]
    frame = pd.DataFrame(rows, columns=["world", "a", "y"]).astype(str)
    frame["who"] = frame["world"]
    small = schema_of((2, 2), 2, weighting, persons=len(people))
    world = Column(name="world", kind="categorical", levels=tuple(frame["world"].unique()))
    schema = replace(small, columns=(world, *small.columns))
    write_texts(frame, tmp_path / "t.parquet")
    bound = schema.contribution
    with opened(str(tmp_path / "t.parquet"), tmp_path) as table:
        stored = table.store(schema, public=False)
        for rows_there in (table.counted_there(schema, public=False), stored):
            (counts,) = rows_there.counts([("world", "a", "y")])
            each = counts.reshape(len(people), -1)
            moved = each[:, None, :] - each[None, :, :]
            assert np.abs(moved).sum(axis=2).max() == bound.l1
            largest = np.sqrt((moved**2).sum(axis=2).max())
            assert bound.l2 - 1e-6 < largest <= bound.l2
            sums = each.sum(axis=1)
            assert (sums.min(), sums.max()) == (bound.least, bound.most)
        stored.folder.close()


@pytest.mark.statistical
def test_every_row_is_kept_equally_often(tmp_path):
    """Two of three rows of 12,000 people: a share beyond 8 sd; false alarm below 1e-14."""
    ids = np.repeat(np.arange(12_000), 3).astype(str)
    frame = pd.DataFrame({"mrn": ids, "turn": np.tile(["a", "b", "c"], 12_000)})
    write_texts(frame, tmp_path / "t.parquet")
    turn = Column(name="turn", kind="categorical", levels=("a", "b", "c"))
    schema = Schema(columns=(turn,), person_id="mrn", persons=12_000, max_rows=2)
    with opened(str(tmp_path / "t.parquet"), tmp_path) as table:
        (counts,) = table.counted_there(schema, public=True).counts([("turn",)])
        stored = table.store(schema, public=True)
    (one,) = stored.one_row_each.counts([("turn",)])
    stored.folder.close()
    assert counts.sum() == 24_000
    assert one.sum() == 12_000
    for found, mean in ((counts, 8_000), (one, 4_000)):
        assert np.abs(found - mean).max() < 8 * np.sqrt(12_000 * 2 / 9)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_parts_are_cut_by_person(visits, table, weighting, monkeypatch):
    # Steps that end in the middle of a person.
    monkeypatch.setattr(stored_table, "STEP", 17)
    schema = replace(visits.named, weighting=weighting)
    stored = table.store(schema, public=False)
    train, holdout = stored.set_aside(20, np.random.default_rng(3))
    assert (train.people, holdout.people) == (stored.people - 20, 20)
    assert train.n + holdout.n == stored.n
    parts = [part.counts([("row",)])[0] for part in (train, holdout)]
    np.testing.assert_array_equal(sum(parts), stored.counts([("row",)])[0])
    owners = [set(visits.frame["mrn"][part > 0]) for part in parts]
    assert [len(owner) for owner in owners] == [train.people, holdout.people]
    assert not owners[0] & owners[1]
    for part, counts in zip((train, holdout), parts, strict=True):
        drawn = part.sample(10**6, np.random.default_rng(4))
        assert (drawn.people, drawn.n) == (part.people, part.n)
        np.testing.assert_array_equal(drawn.counts([("row",)])[0], counts)
        again = stored_table.from_dict(
            json.loads(json.dumps(stored_table.to_dict(part.one_row_each))),
            schema.with_one_row(),
            public=False,
        )
        (once,) = again.counts([("row",)])
        assert once.sum() == again.people == part.people
        assert not once[counts == 0].any()
    few = train.sample(7 * MOST, np.random.default_rng(4))
    assert few.people == 7
    assert few.n <= 7 * MOST
    with pytest.raises(TableError, match="holdout"):
        stored.set_aside(stored.people, np.random.default_rng(3))
    stored.folder.close()


def test_people_who_do_not_stand_together_are_noticed(visits, table, monkeypatch):
    batches = type(table.engine).batches

    def turned(engine: Any, query: Any) -> Iterator[pa.RecordBatch]:
        for batch in batches(engine, query):
            yield batch.take(pa.array(range(batch.num_rows - 1, -1, -1)))

    monkeypatch.setattr(type(table.engine), "batches", turned)
    with pytest.raises(TableError, match="together"):
        table.store(visits.named, public=False)


def test_another_number_of_people_is_refused(visits, table):
    wrong = replace(visits.schema, persons=visits.schema.persons - 1)
    for read in (
        lambda: table.store(wrong, public=False),
        lambda: table.counted_there(wrong, public=False).counts([("age",)]),
    ):
        with pytest.raises(PrivacyError) as caught:
            read()
        assert caught.value.field == "persons"
        assert str(visits.schema.persons) not in str(caught.value)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_a_release_is_that_of_memory(visits, table, weighting):
    """Where nobody has more rows than are kept, so that every draw keeps all."""
    schema = replace(visits.schema, weighting=weighting, max_rows=6)
    memory = encode(schema, from_frame(visits.frame), public=True, rng=np.random.default_rng(5))
    task = Task(target="readmitted", max_joint_cells=0, three_way="none")
    plan = design(Brief(schema, task, Budget(), memory.people, dag=bundles.DAG))
    there = table.counted_there(schema, public=True)
    there.prefetch(asked_marginals(plan).cliques)
    stored = table.store(schema, public=True)
    made = [released_alike(plan, rows) for rows in (memory, there, stored)]
    stored.folder.close()
    assert there.scans == 2
    for other in made[1:]:
        np.testing.assert_array_equal(other.codes, made[0].codes)
        for mine, wanted in zip(other.measurements, made[0].measurements, strict=True):
            np.testing.assert_array_equal(mine.values, wanted.values)
