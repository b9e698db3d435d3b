"""Passes over a table that stays where it is: as many as the plan says, counted on a real one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from prism_core.data.engines.duckdb_engine import DuckEngine
from prism_core.data.engines.engine_table import EngineTable
from prism_core.data.schema.schema import Schema
from prism_core.planning import asked_marginals as asking
from prism_core.planning.asked_marginals import asked_marginals, most_passes, passes_text
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.runs import inputs
from tests.support.bundles import DAG
from tests.support.engines import opened, released_alike
from tests.support.plan_kinds import PLANS, QUICK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.planning.plan import Plan

KINDS: dict[str, tuple[Task, Budget, Any, Synthesis]] = {
    **PLANS,
    "predictive": (Task(target="readmitted", regime="predictive", k=3), Budget(), None, QUICK),
    "coarsened": (
        Task(target="readmitted", regime="predictive", k=2, coarsen="auto"),
        Budget(epsilon=9.0),
        None,
        QUICK,
    ),
    "everything": (
        Task(target="readmitted", regime="predictive"),
        Budget(epsilon=9.0),
        None,
        QUICK,
    ),
    "one tree": (
        Task(target="readmitted", regime="predictive"),
        Budget(epsilon=9.0),
        None,
        Synthesis(),
    ),
    "forest": (
        Task(target="readmitted", max_joint_cells=0, three_way="cmi"),
        Budget(),
        DAG,
        Synthesis(),
    ),
}
TYPES = {"age": "BIGINT", "smoker": "BOOLEAN", "grade": "BIGINT", "seen": "DATE", "dose": "DOUBLE"}


def plan_of(kind: str, schema: Schema, n: int = 300) -> Plan:
    task, budget, dag, synthesis = KINDS[kind]
    if dag is not None and dag.prior is not None:  # learned of these people
        dag = replace(dag, prior=replace(dag.prior, person_id=schema.person_id))
    return design(Brief(schema, task, budget, n, dag=dag, synthesis=synthesis))


@pytest.fixture
def table(tmp_path, frame) -> Iterator[BigTable]:
    """Texts of levels alone may be odd: their few cells come home, and numbers do not."""
    frame.loc[3:8, "ward"] = [" north", "South ", "é", "1e1", "", "north\x0b"]
    place = tmp_path / "stays.db"
    with duckdb.connect(str(place)) as db:
        db.register("texts", frame)
        cells = [f"TRY_CAST({n} AS {TYPES.get(n, 'VARCHAR')}) AS {n}" for n in frame]
        db.execute(f"CREATE TABLE stays AS SELECT {', '.join(cells)} FROM texts")
    with opened(f"duckdb:///{place}?table=stays", tmp_path) as found:
        yield found


@pytest.fixture
def passes(monkeypatch) -> list[str]:
    """The queries that went over the rows."""
    made: list[str] = []
    for name in ("batches", "tallied", "grouped"):
        real = getattr(DuckEngine, name)

        def counted(*given: Any, name: str = name, real: Any = real) -> Any:
            made.append(name)
            return real(*given)

        monkeypatch.setattr(DuckEngine, name, counted)
    return made


def released(plan: Plan, table: BigTable) -> Any:
    rows = inputs.ready(
        plan.schema, table, public=True, rng=inputs.generator(1), asked=asked_marginals(plan)
    )
    released_alike(plan, rows)
    return rows


@pytest.fixture(autouse=True)
def uncovered(monkeypatch) -> None:
    """A look at some rows, which public tables are given, is no pass over the table."""
    monkeypatch.setattr(inputs, "check_covered", lambda *_: None)
    monkeypatch.setattr(inputs, "some_rows", lambda raw: raw)


def test_the_kinds_are_all_there_are(schema):
    plans = [plan_of(kind, schema) for kind in KINDS]
    asked = [asked_marginals(plan) for plan in plans]
    assert {most_passes(plan) for plan in plans} == {1, 2}
    assert {(one.complete, one.rows) for one in asked} >= {(True, False), (False, False)}
    for part in ("selections", "interactions", "three_way", "tree", "coarsening"):
        assert any(getattr(plan, part) for plan in plans), part
        assert not all(getattr(plan, part) for plan in plans), part


@pytest.mark.parametrize("kind", KINDS)
def test_a_release_makes_as_many_passes_as_its_plan_says(kind, table, schema, passes):
    plan = plan_of(kind, schema)
    released(plan, table)
    assert len(passes) == most_passes(plan), passes
    assert ("one pass" in passes_text(plan)) == (len(passes) == 1)


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_table_that_is_too_large_to_be_kept_it_makes_no_more(
    kind, table, schema, passes, monkeypatch
):
    for module in (inputs, asking):
        monkeypatch.setattr(module, "MOST_ROWS", 299)
    plan = plan_of(kind, schema)
    asked = asked_marginals(plan)
    if asked.rows:
        assert "are not kept" in passes_text(plan)
        return
    rows = released(plan, table)
    assert isinstance(rows, EngineTable)
    assert rows.scans == len(passes) <= most_passes(plan)
    if asked.complete:
        assert len(passes) == most_passes(plan)


@pytest.mark.parametrize("persons", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_ten_billion_people_can_be_planned_for(kind, persons, schema):
    many = 10**10
    if persons:
        schema = Schema(columns=schema.columns, person_id="mrn", persons=many)
    plan = plan_of(kind, schema, many)
    assert plan.n == many
    assert 1 <= most_passes(plan) < 20
    assert passes_text(plan).startswith("table: ")
    assert all(query.sigma > 0.0 for query in plan.queries)
