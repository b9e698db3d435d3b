"""The joint of causes and the target: when it is measured, how much of it, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import PlanError, TaskError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.joint import JOINT_LIMIT
from prism_core.planning.wishes.config import wishes_dict, wishes_from
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.structure.dag import Dag


def schema(*sizes: int) -> Schema:
    columns = [
        Column(name=f"x{i}", kind="ordinal", levels=tuple(range(size)))
        for i, size in enumerate(sizes)
    ]
    return Schema(columns=(*columns, Column(name="y", kind="boolean")), one_row_per_person=True)


def plan(sizes, task=None, n=10_000, causes=None, **budget):
    table = schema(*sizes)
    names = [f"x{i}" for i in range(len(sizes))] if causes is None else causes
    dag = Dag(nodes=table.names, edges=tuple((name, "y") for name in names))
    return design(Brief(table, task or Task(target="y"), Budget(**budget), n, dag=dag))


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_few_causes_are_measured_at_once(k):
    found = plan([2] * 10, causes=[f"x{i}" for i in range(k)])
    joint = next(query for query in found.queries if query.kind == "joint")
    assert len(joint.clique) == k + 1
    assert found.measures_all_at_once
    assert found.joint.error == pytest.approx(joint.relative_error, rel=1e-6)


@pytest.mark.parametrize("accountant", ["zcdp", "basic"])
def test_a_joint_of_all_of_s_has_no_rounds_to_refuse(accountant):
    """Rounds need zCDP; where they were asked for and none is run, any accountant does."""
    wish = Task(target="y", three_way="adaptive")
    found = plan([2] * 5, wish, causes=["x0", "x1", "x2"], accountant=accountant)
    assert found.measures_all_at_once
    assert any("measured with the target at once" in warning for warning in found.warnings)


def test_beside_a_joint_the_pairs_stay():
    """Without interactions they say more: their cells are few."""
    found = plan([2] * 5)
    kinds = [query.kind for query in found.queries]
    assert (kinds.count("pair"), kinds.count("joint")) == (5, 1)
    assert sum(query.share for query in found.queries) <= 1.0


def test_of_many_causes_the_largest_part_that_is_tolerable():
    found = plan([2, 9, 2, 9, 2, 2])
    assert found.joint.features == ("x0", "x2", "x4", "x5")
    assert found.joint.error <= JOINT_LIMIT
    assert "2 causes left out" in found.joint.reason
    everything = replace(found.task, together=("x0", "x1", "x2", "x4", "x5"))
    assert plan([2, 9, 2, 9, 2, 2], everything).joint.error > JOINT_LIMIT


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(2, 6), min_size=2, max_size=5),
    n=st.integers(200, 50_000),
    epsilon=st.sampled_from([0.1, 1.0, 5.0]),
    turn=st.integers(0, 4),
)
def test_whatever_is_measured_is_tolerable_and_paid_for(sizes, n, epsilon, turn):
    found = plan(sizes, n=n, epsilon=epsilon)
    assert found.spent.epsilon <= epsilon
    joint = found.joint
    if joint is not None and joint.features and not joint.alone:
        assert joint.error <= JOINT_LIMIT
    elif joint is not None and not joint.features:
        assert joint.error > JOINT_LIMIT
        assert not any(query.kind == "joint" for query in found.queries)
    # The order of the columns changes nothing but which of equal ones is taken.
    turned = plan([*sizes[turn:], *sizes[:turn]], n=n, epsilon=epsilon).joint
    assert (joint is None) == (turned is None)
    assert joint is None or joint.cells == turned.cells


def test_noise_and_price_are_on_the_plan_with_the_reason():
    entry = plan([2] * 5).to_dict()["joint"]
    assert entry["cells"] == 64
    assert entry["features"] == [f"x{i}" for i in range(5)]
    assert entry["reason"].startswith("64 cells with an expected error of ")
    dear = plan([9] * 5, epsilon=0.1).to_dict()["joint"]
    assert dear["features"] == []
    assert "up to 10% is tolerable" in dear["reason"]


def test_the_curator_asks_for_a_joint_whatever_its_noise():
    asked = Task(target="y", together=("x3", "x1"))
    found = plan([9] * 5, asked, epsilon=0.1)
    assert found.joint.asked
    assert found.joint.features == ("x1", "x3")
    assert ("x1", "x3", "y") in found.cliques
    assert asked == wishes_from(wishes_dict(asked, Budget(), Synthesis()))[0]


def test_weights_count_in_the_error_that_is_told():
    asked = Task(target="y", together=("x0", "x1"), weights={"x0": 16.0, "x2": 0.5})
    found = plan([2, 3, 4, 5], asked)
    (joint,) = [query for query in found.queries if query.kind == "joint"]
    assert found.joint.error == pytest.approx(joint.relative_error, rel=1e-6)


def test_without_a_graph_all_features_or_none():
    """Of the first two the joint would be tolerable, and is not told in place of the one of all."""
    wide = Task(target="y", regime="predictive", k=5)
    found = design(Brief(schema(2, 2, 9, 9, 9), wide, Budget(epsilon=1.0), 10_000)).joint
    assert found.features == ()
    assert found.error > JOINT_LIMIT
    assert f"{found.cells:,} cells" in found.reason


def test_the_curator_forbids_it():
    for k in (2, 5):
        found = plan([2] * k, Task(target="y", joint="never"))
        assert found.joint is None
        assert {query.kind for query in found.queries} == {"pair"}


def test_causes_of_the_graphical_regime_are_the_parents():
    table = schema(2, 2, 2, 2)
    dag = Dag(nodes=table.names, edges=(("x0", "y"), ("x1", "y"), ("x2", "y"), ("y", "x3")))
    task = Task(target="y", regime="graphical")
    found = design(Brief(table, task, Budget(epsilon=1.0), 2_000, dag=dag))
    assert found.s == ("x0", "x1", "x2", "x3")
    assert found.joint.features == ("x0", "x1", "x2")


@pytest.mark.parametrize(
    ("task", "field"),
    [
        (Task(target="y", together=("x0", "x9")), "together"),
        (Task(target="y", together=("x0", "x1"), three_way="cmi"), "together"),
        (Task(target="y", together=("x0", "x1"), max_joint_cells=7), "together"),
        (Task(target="y", regime="predictive", k=2, together=("x0", "x1")), "together"),
    ],
)
def test_what_cannot_be_measured_so_is_refused(task, field):
    with pytest.raises((TaskError, PlanError)) as refused:
        plan([2] * 5, task)
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"together": ("x0",)}, "together"),
        ({"together": ("x0", "x0")}, "together"),
        ({"together": ("x0", "y")}, "together"),
        ({"together": ("x0", "x1"), "joint": "never"}, "joint"),
        ({"joint": "always"}, "joint"),
    ],
)
def test_wishes_that_say_nothing_are_refused(wish, field):
    with pytest.raises(TaskError) as refused:
        Task(target="y", **wish)
    assert refused.value.field == field


def test_weights_and_several_targets_need_pairs():
    assert plan([2] * 4, Task(target="y", weights={"x0": 2.0})).joint is None
