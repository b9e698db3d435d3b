"""Coarsening in a plan: what it costs, when it is left out, and the plan once parts are known."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from prism_core.data.schema.column import Column, equal_edges
from prism_core.data.schema.schema import Schema
from prism_core.errors import PlanError
from prism_core.planning.brief import Brief
from prism_core.planning.choices import Choices, replay
from prism_core.planning.coarsening import (
    LONG,
    MOST_PARTS,
    SHARE,
    ColumnParts,
    coarse_schema,
    widest_parts,
)
from prism_core.planning.design import design, with_parts
from prism_core.planning.wishes.targets import Target
from prism_core.planning.wishes.task import Budget, Task
from prism_core.structure.dag import Dag

COLUMNS = (
    Column(
        name="dose",
        kind="numeric",
        lower=0,
        upper=500,
        decimals=1,
        edges=equal_edges(0, 500, 8, 1),
        nullable=True,
        special=(-9,),
    ),
    Column(name="age", kind="numeric", lower=0, upper=99, edges=equal_edges(0, 99, 5, 0)),
    Column(name="ward", kind="categorical", levels=tuple(f"w{i}" for i in range(40))),
    Column(name="sex", kind="categorical", levels=("f", "m")),
    Column(name="y", kind="boolean"),
)
SCHEMA = Schema(columns=COLUMNS, one_row_per_person=True)


def brief(n=20_000, dag=None, **task):
    task = {"regime": "predictive", "coarsen": "auto"} | task
    return Brief(SCHEMA, Task(target="y", **task), Budget(epsilon=1.0), n, dag=dag)


def test_it_takes_its_share_and_the_plan_spends_what_it_spent_without():
    plan = design(brief())
    assert plan.coarsening.names == ("dose", "age", "ward")
    assert math.fsum(query.event.rho for query in plan.coarsening.queries) == pytest.approx(
        SHARE * plan.total
    )
    assert math.fsum(event.rho for event in plan.events) == pytest.approx(plan.total, rel=1e-6)
    assert plan.spent.epsilon <= 1.0


def test_by_itself_only_columns_whose_bins_are_left_open_are_coarsened():
    assert design(brief(coarsen="open")).coarsening is None
    columns = (COLUMNS[0], replace(COLUMNS[1], open_bins=True), *COLUMNS[2:])
    wish = replace(brief(coarsen="open"), schema=replace(SCHEMA, columns=columns))
    assert design(wish).coarsening.names == ("age",)
    assert Task(target="y").coarsen == "open"


def test_without_the_wish_the_plan_is_as_it_was():
    plan = design(brief(coarsen="never"))
    assert plan.coarsening is None
    assert plan.domain is plan.schema
    assert "coarsening" not in plan.to_dict()


@pytest.mark.parametrize(
    "wish",
    [
        brief(n=300),
        brief(numeric_queries="moments", numeric_bins=2),
        brief(further=(Target(name="sex"),), three_way="none"),
        replace(brief(three_way="none"), budget=Budget(epsilon=1.0, accountant="basic")),
    ],
    ids=["noise", "moments", "targets", "basic"],
)
def test_it_is_left_out_where_it_would_not_pay_or_does_not_go(wish):
    assert design(wish).coarsening is None


def test_the_noisiest_column_is_left_out_first():
    """With less budget the column of most cells goes, and the others share what it had."""
    names = {
        design(replace(brief(), n=n)).coarsening.names
        for n in range(2_000, 5_000, 200)
        if design(replace(brief(), n=n)).coarsening is not None
    }
    assert len(names) > 1
    assert all(set(one) < {"dose", "age", "ward"} or len(one) == 3 for one in names)


@pytest.mark.privacy
@pytest.mark.parametrize("regime", ["causal", "graphical"])
def test_with_a_graph_only_features_of_s_are_counted_with_y(regime):
    dag = Dag(nodes=SCHEMA.names, edges=(("dose", "y"), ("sex", "y"), ("ward", "age")))
    plan = design(brief(regime=regime, dag=dag))
    assert plan.coarsening.names == ("dose",)


def test_a_plan_is_sized_for_as_many_parts_as_there_may_be():
    plan = design(brief())
    assert plan.sizes["age"] == plan.sizes["ward"] == MOST_PARTS
    assert plan.sizes["dose"] == MOST_PARTS + 2
    assert SCHEMA["ward"].level_count >= LONG


def parts(plan, counts=(3, 5, 1)):
    found = []
    for one, count in zip(widest_parts(plan.schema, plan.coarsening), counts, strict=True):
        found.append(replace(one, parts=tuple(min(part, count - 1) for part in one.parts)))
    return tuple(found)


def test_with_parts_the_same_budget_is_shared_out_over_the_cells_there_are():
    planned = design(brief())
    plan = with_parts(planned, parts(planned))
    assert [plan.sizes[name] for name in SCHEMA.names] == [5, 5, 1, 2, 2]
    assert plan.coarsening == planned.coarsening
    assert math.fsum(event.rho for event in plan.events) == pytest.approx(plan.total, rel=1e-6)
    assert plan.spent.epsilon <= 1.0
    sigma = {query.clique: query.sigma for query in plan.queries}
    assert sigma != {query.clique: query.sigma for query in planned.queries}
    written = plan.to_dict()["coarsening"]["columns"]
    assert [max(column["parts"]) + 1 for column in written] == [3, 5, 1]
    assert "parts" not in planned.to_dict()["coarsening"]["columns"][0]


def test_coarse_columns_have_a_bin_or_a_named_level_for_each_part():
    planned = design(brief())
    found = coarse_schema(SCHEMA, parts(planned, (3, 5, 12)))
    assert len(found["dose"].edges) == 2
    assert found["dose"].special == (-9,)
    assert found["dose"].nullable
    assert found["ward"].levels[0].startswith("1: w0 and ")
    assert found["sex"] is SCHEMA["sex"]


@pytest.mark.privacy
@pytest.mark.parametrize(
    "change",
    [
        lambda found: found[:2],
        lambda found: (found[1], found[0], found[2]),
        lambda found: (replace(found[0], parts=found[0].parts[1:]), *found[1:]),
        lambda found: (replace(found[0], parts=found[0].parts[::-1]), *found[1:]),
        lambda found: (*found[:2], replace(found[2], parts=tuple(range(40)))),
    ],
    ids=["missing", "order", "short", "no runs", "many"],
)
def test_parts_that_no_run_finds_are_refused(change):
    planned = design(brief())
    with pytest.raises(PlanError) as error:
        with_parts(planned, change(parts(planned)))
    assert error.value.field == "coarsen"


@pytest.mark.parametrize("numbers", [(), (0, 2), (1,), (0, True)], ids=str)
def test_parts_are_numbered(numbers):
    with pytest.raises(PlanError):
        ColumnParts(name="x", parts=numbers)


def test_replayed_the_plan_is_the_same_and_parts_cannot_be_left_out_or_added():
    planned = design(brief())
    opened = with_parts(planned, parts(planned))
    choices = replace(Choices.of(opened), s=opened.s)
    if opened.three_way is None and opened.tree is None:
        assert replay(brief(), choices).opened == opened
    for wish, wrong in ((brief(), replace(choices, parts=None)), (brief(coarsen="never"), choices)):
        with pytest.raises(PlanError) as error:
            replay(wish, wrong)
        assert error.value.field == "coarsen"
