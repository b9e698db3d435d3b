"""A domain that a database counts: the counts of memory, cell for cell, and none that grows."""

from __future__ import annotations

import itertools
import math
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from math import inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prism_core.data.engines import tallies
from prism_core.data.engines.servers import IbisEngine
from prism_core.data.schema.column import Column
from prism_core.data.tables.raw_table import read_table
from prism_core.errors import PlanError, TableError
from prism_core.learning.domain import domain_counts, domain_plan
from prism_core.learning.domain.domain_plan import design_domain
from prism_core.learning.domain.learned_domain import learn_domain
from prism_core.learning.domain.requests import (
    CategoryRequest,
    NumericRequest,
    Outline,
    RowsRequest,
)
from tests.support import postgres, spark
from tests.support.cells import ALIKE, ODD
from tests.support.engines import OnWorkers, opened
from tests.support.noise import Tape
from tests.support.receipts import without_receipts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.learning.domain.domain_plan import DomainPlan

pytestmark = pytest.mark.privacy

ROWS = 120
Y = Column(name="y", kind="boolean")
ASKED = (
    NumericRequest(name="age", lower=0.0, upper=150.0, cells=30, decimals=0, special=(999,)),
    NumericRequest(name="pay", lower=0.0, upper=1e6, scale="log", nullable=True, cells=12),
    NumericRequest(name="dose", lower=-5.0, upper=5.0, fill=1.0, cells=20),
    NumericRequest(name="seen", kind="date", lower=0.0, upper=30_000.0, cells=16),
    NumericRequest(name="written", kind="date", lower=0.0, upper=30_000.0, cells=16),
    # A whole number may be a year or a day: all such cells are coded at home, missing ones, too.
    NumericRequest(name="year", kind="date", lower=0.0, upper=30_000.0, cells=16),
    CategoryRequest(name="ward"),
    CategoryRequest(name="grade", other="3"),
    CategoryRequest(name="level", nullable=True),
    CategoryRequest(name="born"),
    CategoryRequest(name="flag"),
)
KINDS: dict[str, tuple[pa.DataType, str]] = {
    "age": (pa.int64(), "bigint"),
    "pay": (pa.string(), "text"),
    "dose": (pa.float64(), "double precision"),
    "seen": (pa.date32(), "date"),
    "written": (pa.string(), "text"),
    "year": (pa.int64(), "bigint"),
    "ward": (pa.string(), "text"),
    "grade": (pa.int64(), "bigint"),
    "level": (pa.float64(), "double precision"),
    "born": (pa.date32(), "date"),
    "flag": (pa.bool_(), "boolean"),
    "y": (pa.string(), "text"),
    "who": (pa.string(), "text"),
}
CELLS: dict[str, tuple[object, ...]] = {
    "age": (40, 41, 40, None, -5, 999, 2**62, 70, 150, 0),
    "pay": ("10", "20", *ODD, "1e999", "é" * 300, "9" * 400, "x" * 16),
    "dose": (0.0, -0.0, nan, inf, -inf, 4.9, None, 1e300, -5.0, 1.5),
    "seen": (date(1970, 1, 1), date(2020, 2, 29), None, date(1, 1, 1), date(9999, 12, 31)),
    "written": ("2020-01-05", *ODD, "9999-12-31", "1970-01-01"),
    "year": (2001, None, 20200229, 1975, -3, None),
    "ward": ("north", "south", *ODD, *ALIKE, "é" * 300, "\x1f", "a\xa0b", None, "a'b\\'", "other"),
    "grade": (1, 2, 3, None, -7),
    "level": (1.0, 2.5, nan, 0.0, -0.0, inf, None),
    "born": (date(2001, 5, 5), None, date(1, 1, 1)),
    "flag": (True, False, None, True),
    "y": ("yes", "no"),
}


def cells_of(name: str, rows: int = ROWS) -> list[object]:
    """Each cell often enough for its category to take part."""
    return list(itertools.islice(itertools.cycle(CELLS[name]), rows))


def table_of(rows: int = ROWS) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {name: cells_of(name, rows) for name in CELLS}
    return found | {"who": [f"p{number}" for number in range(rows)]}


def write(columns: dict[str, list[Any]], path: Path) -> Path:
    pq.write_table(pa.table({n: pa.array(c, KINDS[n][0]) for n, c in columns.items()}), path)
    return path


def outline(*columns: Any, **people: Any) -> Outline:
    return Outline(columns=(*(columns or ASKED), Y), **(people or {"one_row_per_person": True}))


def plan_for(asked: Outline, n: int) -> DomainPlan:
    return design_domain(asked, 40.0, 1e-3, n, share=0.5)


def learned(plan: DomainPlan, rows: Any, noise: Tape) -> Any:
    found = learn_domain(plan, rows, ledger=None, noise=noise, rng=np.random.default_rng(0))
    return without_receipts(found.schema)


def check_alike(plan: DomainPlan, memory: Any, there: Any) -> None:
    """The same vectors for the noise, and with the same noise the same schema."""
    ours = Tape(seed=1)
    theirs = Tape(seed=1)
    schema, wanted = learned(plan, there, ours), learned(plan, memory, theirs)
    assert len(ours.counts) == len(theirs.counts) == len(plan.events)
    for (found, sigma), (expected, scale) in zip(ours.counts, theirs.counts, strict=True):
        np.testing.assert_array_equal(found, expected)
        assert sigma == scale
    assert schema == wanted


@dataclass
class Places:
    """Opens a table in one of the databases."""

    kind: str
    folder: Path
    request: pytest.FixtureRequest

    def open(self, columns: dict[str, list[Any]], path: Path) -> AbstractContextManager[BigTable]:
        if self.kind == "parquet":
            return opened(str(path), self.folder)
        if self.kind == "workers":
            return self._workers(path)
        if self.kind == "duckdb":
            return self._duckdb(path)
        if self.kind == "postgres":
            return self._postgres(columns)
        return self.request.getfixturevalue("standalone_spark").opened(path)

    @contextmanager
    def _workers(self, path: Path) -> Iterator[BigTable]:
        with opened(str(path), self.folder) as table:
            yield replace(table, engine=OnWorkers(table.engine, 7))

    def _duckdb(self, path: Path) -> AbstractContextManager[BigTable]:
        import duckdb

        place = self.folder / "stays.db"
        with duckdb.connect(str(place)) as db:
            db.execute(f"CREATE OR REPLACE TABLE stays AS FROM read_parquet('{path}')")
        return opened(f"duckdb:///{place}?table=stays", self.folder)

    def _postgres(self, columns: dict[str, list[Any]]) -> AbstractContextManager[BigTable]:
        server = self.request.getfixturevalue("postgres_server")
        name = "learn_" + "".join(c if c.isalnum() else "_" for c in self.request.node.name)[-40:]
        rows = list(zip(*columns.values(), strict=True))
        postgres.load(server, name.lower(), rows, {n: KINDS[n][1] for n in columns})
        return opened(f"{server}?table={name.lower()}", self.folder)


@pytest.fixture(
    params=[
        "parquet",
        "workers",
        "duckdb",
        pytest.param("postgres", marks=postgres.NEEDED),
        pytest.param("spark", marks=spark.NEEDED),
    ]
)
def places(request, tmp_path) -> Places:
    return Places(request.param, tmp_path, request)


def test_a_learned_domain_is_that_of_memory(places, tmp_path):
    """Hostile cells of every type are coded by the one rule."""
    columns = table_of()
    path = write(columns, tmp_path / "t.parquet")
    plan = plan_for(outline(), ROWS)
    with places.open(columns, path) as table:
        check_alike(plan, read_table(path), table)


def test_of_people_one_row_is_counted_and_how_many_they_have(places, tmp_path):
    """All rows of a person are alike here: any of them is the one that memory draws."""
    columns = {name: [c for c in cells for _ in range(3)] for name, cells in table_of(30).items()}
    # Some people more rows, up to 7, in no order.
    for name, cells in columns.items():
        columns[name] = [*cells, *cells[:4], *cells[:1]]
    path = write(columns, tmp_path / "t.parquet")
    asked = outline(person_id="who", persons=30, learn_rows=RowsRequest(most=4))
    plan = plan_for(asked, 30)
    with places.open(columns, path) as table:
        check_alike(plan, read_table(path), table)
        wrong = plan_for(outline(person_id="who", persons=29), 29)
        with pytest.raises(PlanError, match="29 rows"):
            learned(wrong, table, Tape(seed=1))
        alone = Outline(columns=(Y,), person_id="who", persons=30, learn_rows=RowsRequest(most=3))
        check_alike(plan_for(alone, 30), read_table(path), table)


def test_more_names_than_can_take_part_are_counted_in_two_scans(places, tmp_path, monkeypatch):
    monkeypatch.setattr(domain_plan, "MOST_CATEGORIES", 6)
    names = [f"name {number}" for number in range(80)]
    ward = [*names, *["north"] * 20, *[" north "] * 5, *["south"] * 21, *["east"] * 19]
    columns = {"ward": list(np.random.default_rng(3).permutation(ward)), "y": ["yes"] * len(ward)}
    path = write(columns, tmp_path / "t.parquet")
    plan = plan_for(outline(CategoryRequest(name="ward")), len(ward))
    (event,) = plan.events
    assert event.least == 25
    with places.open(columns, path) as table:
        found = domain_counts.count_there(plan, table)
        assert found.named == {"ward": {"north": 25}}
        check_alike(plan, read_table(path), table)


@pytest.fixture
def scans(monkeypatch) -> list[list[str]]:
    """The outputs of each scan."""
    asked: list[list[str]] = []
    counted = tallies._counted
    monkeypatch.setattr(tallies, "_counted", lambda *a: (asked.append(list(a[2])), counted(*a))[1])
    return asked


def test_one_scan_counts_all_columns_and_wide_ones_are_counted_in_several(
    tmp_path, scans, monkeypatch
):
    path = write(table_of(), tmp_path / "t.parquet")
    plan = plan_for(outline(), ROWS)
    with opened(str(path), tmp_path) as table:
        domain_counts.count_there(plan, table)
        (whole,) = scans
        monkeypatch.setattr(tallies, "MOST_SETS", 5)
        scans.clear()
        check_alike(plan, read_table(path), table)
        assert [name for part in scans for name in part] == whole
        assert max(map(len, scans)) <= 5
        assert len(scans) > len(whole) // 5


def test_rows_that_come_home_are_counted_as_by_a_worker(tmp_path):
    """BigQuery's, which no test reaches: Ibis reads, and nothing there counts."""

    class Reads(IbisEngine):
        def batches(self, query: Any) -> Any:
            return self.backend.batches(query)

        def number(self, query: Any) -> int:
            return self.backend.number(query)

    columns = table_of()
    path = write(columns, tmp_path / "t.parquet")
    with opened(str(path), tmp_path) as table:
        reads = Reads(table.engine, table.engine.tables, "stays")
        check_alike(plan_for(outline(), ROWS), read_table(path), replace(table, engine=reads))


def test_files_of_other_types_are_each_read_by_their_own(tmp_path):
    texts = {"grade": ["1", "2", " 1", "x"], "dose": ["1.5", "-0.0", "1e0", "word"]}
    numbers = {"grade": [1, None, 2, 7], "dose": [1.5, nan, 0.0, None]}
    asked = outline(CategoryRequest(name="grade"), ASKED[2])
    kinds = {"grade": pa.string(), "dose": pa.string()}
    pq.write_table(
        pa.table({n: pa.array(c, kinds[n]) for n, c in texts.items()} | {"y": ["yes"] * 4}),
        tmp_path / "a.parquet",
    )
    write(numbers | {"y": ["yes"] * 4}, tmp_path / "b.parquet")
    with opened(str(tmp_path / "*.parquet"), tmp_path) as table:
        found = domain_counts.count_there(plan_for(asked, 8), table)
        memory = [read_table(tmp_path / f"{name}.parquet") for name in "ab"]
    for request in asked.columns_to_learn:
        cells = [raw.column(request.name) for raw in memory]
        if isinstance(request, CategoryRequest):
            names = [n for part in cells for n in domain_counts.categories(request, part) if n]
            assert found.names(request) == {n: names.count(n) for n in names}
        else:
            parts = [domain_counts.encode_column(request.grid, part) for part in cells]
            wanted = np.bincount(np.concatenate(parts), minlength=request.grid.size)
            np.testing.assert_array_equal(found.numbers(request), wanted)


def test_on_every_neighbour_the_vectors_move_by_sqrt_two_and_the_noise_is_asked_alike(tmp_path):
    """T-SENS and T-RECORD on the way of a database: a replaced row with cells of every kind."""
    plan = plan_for(outline(), 4)
    vectors = []
    others = [{n: CELLS[n][number % len(CELLS[n])] for n in CELLS} for number in range(0, 33, 3)]
    for number, other in enumerate([None, *others]):
        columns = table_of(4)
        if other is not None:
            columns = {n: [*cells[:3], other.get(n, cells[3])] for n, cells in columns.items()}
        path = write(columns, tmp_path / f"{number}.parquet")
        with opened(str(path), tmp_path) as table:
            found = domain_counts.count_there(plan, table)
            tape = Tape(vectors[0][2].outputs) if vectors else Tape(seed=2)
            vectors.append((found, learned(plan, found, tape), tape))
    worst = 0.0
    for (one, _, tape), (two, _, other) in itertools.combinations(vectors, 2):
        shapes = [[(c.shape, s) for c, s in each.counts] for each in (tape, other)]
        assert shapes[0] == shapes[1]
        for request in plan.outline.columns_to_learn:
            if isinstance(request, NumericRequest):
                moved = one.numbers(request) - two.numbers(request)
                distance = math.sqrt(int((moved**2).sum()))
            else:
                names = [each.names(request) for each in (one, two)]
                distance = math.sqrt(
                    sum(
                        (names[0].get(n, 0) - names[1].get(n, 0)) ** 2
                        for n in {*names[0], *names[1]}
                    )
                )
            assert distance <= math.sqrt(2.0)
            worst = max(worst, distance)
    assert worst == math.sqrt(2.0)
    # The grids of numbers come out the same from the same noisy counts, whatever the rows were.
    assert len({vector[1].columns[:6] for vector in vectors}) == 1


def test_names_that_change_between_two_scans_are_refused(tmp_path, monkeypatch, canary):
    monkeypatch.setattr(domain_plan, "MOST_CATEGORIES", 3)
    columns = {"ward": [f"w{number}" for number in range(20)], "y": ["yes"] * 20}
    path = write(columns, tmp_path / "t.parquet")
    plan = plan_for(outline(CategoryRequest(name="ward")), 20)
    counted, scans = tallies._counted, []

    def changing(*arguments: Any) -> Any:
        scans.append(1)
        if len(scans) == 2:
            write({**columns, "ward": [*columns["ward"][:19], canary]}, path)
        yield from counted(*arguments)

    monkeypatch.setattr(tallies, "_counted", changing)
    with opened(str(path), tmp_path) as table, pytest.raises(TableError) as caught:
        domain_counts.count_there(plan, table)
    assert caught.value.field == "train"
    assert canary not in str(caught.value)
    assert len(scans) == 2


def test_a_table_that_does_not_fit_is_refused_before_its_rows_are_counted(tmp_path, scans):
    path = write(table_of(), tmp_path / "t.parquet")
    with opened(str(path), tmp_path) as table:
        with pytest.raises(PlanError, match="119 rows"):
            domain_counts.count_there(plan_for(outline(), 119), table)
        strange = outline(CategoryRequest(name="stranger"))
        with pytest.raises(TableError, match="stranger"):
            domain_counts.count_there(plan_for(strange, ROWS), table)
    assert scans == []


def test_counts_travel_to_another_process(tmp_path):
    path = write(table_of(), tmp_path / "t.parquet")
    plan = plan_for(outline(), ROWS)
    with opened(str(path), tmp_path) as table:
        counts = domain_counts.count_there(plan, table)
    assert domain_counts.loads(domain_counts.dumps(counts)) == counts
    check_alike(plan, read_table(path), domain_counts.loads(domain_counts.dumps(counts)))
    with pytest.raises(PlanError, match="119 rows"):
        learned(plan_for(outline(), 119), counts, Tape(seed=1))
