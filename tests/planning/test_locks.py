"""Shares fixed by hand: kept, never above the declaration, and nothing fails at run time."""

from __future__ import annotations

import itertools
import math
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError, ConfigError
from prism_core.planning.brief import Brief
from prism_core.planning.choices import with_forest, with_three_way
from prism_core.planning.design import design, with_features
from prism_core.planning.wishes import config as configs
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.task import Budget, Shares, Synthesis, Task
from prism_core.structure.dag import Dag

pytestmark = pytest.mark.privacy

SIZES = {"a": 2, "b": 3, "y": 2, "c": 4, "d": 5, "e": 2}
SCHEMA = Schema(
    columns=tuple(
        Column(name=name, kind="categorical", levels=tuple(range(size)))
        for name, size in SIZES.items()
    ),
    one_row_per_person=True,
)
DAG = Dag(nodes=SCHEMA.names, edges=(("a", "y"), ("b", "y"), ("c", "y")))
TASK = Task(target="y", max_joint_cells=0)
STAR = Synthesis(model="naive_bayes")
PAIR = Lock(columns=("y", "a"), share=0.05)
SINGLE = Lock(columns=("d",), share=0.02)


def plan_of(*locks, task=TASK, dag=DAG, synthesis=STAR, **budget):
    return design(
        Brief(SCHEMA, task, Budget(locks=locks, **budget), 4_000, dag=dag, synthesis=synthesis)
    )


def by_columns(plan):
    return {frozenset(query.clique): query for query in plan.queries}


@pytest.mark.parametrize("name", ["zcdp", "basic", "pld"])
@pytest.mark.parametrize("rule", ["closed_form", "uniform", "tilted"])
def test_a_lock_holds_in_both_pools_and_the_others_split_the_rest(name, rule):
    free = plan_of(accountant=name, allocation=rule, tilt=0.3)
    held = plan_of(PAIR, SINGLE, accountant=name, allocation=rule, tilt=0.3)
    assert held.warnings == ()
    queries, before = by_columns(held), by_columns(free)
    assert queries[PAIR.key].share == 0.05
    assert queries[SINGLE.key].share == 0.02
    assert {key for key, query in queries.items() if query.locked} == {PAIR.key, SINGLE.key}
    for pool in ("task", "background"):
        shares = [
            math.fsum(query.share for query in plan.queries if query.pool == pool)
            for plan in (held, free)
        ]
        assert shares[0] == pytest.approx(shares[1], rel=1e-9)
    assert held.spent.epsilon <= held.budget.epsilon
    assert held.spent.epsilon >= held.budget.epsilon * (1 - 1e-3)
    # Of the others of the pool, each has the same part of the rest as before of theirs.
    left = [queries[frozenset((x, "y"))].share / before[frozenset((x, "y"))].share for x in "bc"]
    assert left[0] == pytest.approx(left[1], rel=1e-9)
    # And the noise follows the share.
    if name == "zcdp":
        assert queries[PAIR.key].sigma == pytest.approx(1 / math.sqrt(0.05 * held.total))


@pytest.mark.parametrize("name", ["zcdp", "basic"])
def test_locks_beside_marginals_chosen_at_run_time(name):
    """The rest goes to pairs and to the 3-way and tree marginals alike, and all are measured."""
    task = replace(TASK, three_way="model_error", max_three_way=1)
    pgm = Synthesis()
    plan = plan_of(PAIR, SINGLE, task=task, synthesis=pgm, accountant=name)
    free = plan_of(task=task, synthesis=pgm, accountant=name)
    assert plan.three_way is not None
    assert plan.tree is not None
    assert free.three_way is not None
    assert by_columns(plan)[PAIR.key].share == 0.05
    before = by_columns(free)[frozenset("by")].share / free.three_way.measure_share
    after = by_columns(plan)[frozenset("by")].share / plan.three_way.measure_share
    assert after == pytest.approx(before, rel=1e-9)
    done = with_three_way(plan, plan.three_way.candidates[:1])
    tied = [done.tree.candidates[place] for place in (0, 1, 2, 3)]
    for chosen in itertools.combinations(tied, done.tree.rounds):
        whole = with_forest(done, chosen)
        assert whole.spent.epsilon <= plan.budget.epsilon
        assert by_columns(whole)[SINGLE.key].share == 0.02


def test_a_lock_on_what_is_not_measured_is_said_and_changes_nothing():
    free = plan_of()
    idle = (
        Lock(columns=("d", "y"), share=0.1),
        Lock(columns=("a",), share=0.1),
        Lock(columns=("a", "b"), share=0.1),
        Lock(columns=("b", "c"), share=0.1),
    )
    plan = plan_of(*idle)
    assert plan.queries == free.queries
    assert len(plan.warnings) == 4
    for lock, warning in zip(idle, plan.warnings, strict=True):
        assert f"The lock on {lock.label} holds nothing" in warning


def test_a_joint_can_be_locked():
    two = Dag(nodes=SCHEMA.names, edges=(("a", "y"), ("e", "y")))
    plan = plan_of(Lock(columns=("a", "e", "y"), share=0.4), task=Task(target="y"), dag=two)
    assert [query.kind for query in plan.queries if query.locked] == ["joint"]
    assert any("the task pool is locked" in warning for warning in plan.warnings)
    assert plan.spent.epsilon < 0.9 * plan.budget.epsilon  # what is not wished for is not spent


@pytest.mark.parametrize(
    "locks",
    [
        (Lock(columns=("a", "y"), share=0.8),),
        (Lock(columns=("d",), share=0.2),),
        (Lock(columns=("a", "y"), share=0.4), Lock(columns=("b", "y"), share=0.4)),
    ],
)
def test_locks_that_leave_nothing_are_refused_by_name(locks):
    # Nothing is selected or chosen here: the task pool has 80% and the background 20%.
    shares = Shares(selection=0.1, choice=0.15, task=0.55, background=0.2)
    with pytest.raises(BudgetError, match="leave nothing for the others") as caught:
        plan_of(*locks, shares=shares)
    assert caught.value.field == "locks"


PREDICTIVE = Task(target="y", regime="predictive", k=2)


@pytest.mark.parametrize("synthesis", [STAR, Synthesis()], ids=["naive_bayes", "pgm"])
@pytest.mark.parametrize("task", [PREDICTIVE, replace(PREDICTIVE, max_joint_cells=0)])
@pytest.mark.parametrize("name", ["zcdp", "basic"])
def test_whatever_is_chosen_at_run_time_a_lock_holds_where_it_is_measured(synthesis, task, name):
    locks = (
        Lock(columns=("a", "y"), share=0.3),
        Lock(columns=("e", "y"), share=0.3),
        Lock(columns=("d",), share=0.05),
        Lock(columns=("a",), share=0.05),
    )
    plan = plan_of(*locks, task=task, dag=None, synthesis=synthesis, accountant=name)
    assert all("if the features chosen" in warning for warning in plan.warnings)
    shares = {lock.key: lock.share for lock in locks}
    seen = set()
    for s in itertools.combinations("abcde", 2):
        found = with_features(plan, s)
        assert found.spent.epsilon <= plan.budget.epsilon
        measured = by_columns(found)
        for key, share in shares.items():
            assert key not in measured or measured[key].share == share
        seen |= {key for key in shares if key in measured}
        idle = [warning for warning in found.warnings if "holds nothing" in warning]
        assert len(idle) == len([key for key in shares if key not in measured])
    assert {frozenset("d"), frozenset("a")} <= seen
    assert task.max_joint_cells or seen == set(shares)


@pytest.mark.parametrize(
    "locks",
    [
        # no single S of the worst case, but some S: the two largest locks on pairs
        (Lock(columns=("a", "y"), share=0.5), Lock(columns=("e", "y"), share=0.4)),
        (Lock(columns=("a", "e", "y"), share=0.85),),  # a joint
        tuple(Lock(columns=(x,), share=0.067) for x in "abc"),  # three of five stay single
    ],
)
def test_locks_that_some_choice_could_not_keep_are_refused_beforehand(locks):
    with pytest.raises(BudgetError, match="depending on which features are chosen") as caught:
        plan_of(*locks, task=PREDICTIVE, dag=None, synthesis=STAR)
    assert caught.value.field == "locks"


def test_adaptive_rounds_keep_a_lock_whatever_is_chosen():
    """Nothing is kept back beside a lock: it would be missing for it, or come on top of it."""
    locks = (Lock(columns=("a", "y"), share=0.15), Lock(columns=("e", "y"), share=0.15))
    task = replace(PREDICTIVE, k=3, three_way="adaptive")
    plan = plan_of(*locks, task=task, dag=None, synthesis=Synthesis(), epsilon=8.0)
    for s in itertools.combinations("abcde", 3):
        found = with_features(plan, s)
        assert (found.three_way is None) == found.measures_all_at_once
        assert found.interactions is None
        assert found.spent.epsilon <= plan.budget.epsilon
        measured = by_columns(found)
        assert all(measured[lock.key].share == 0.15 for lock in locks if lock.key in measured)


def test_the_hash_covers_locks_and_tilt():
    plans = [
        plan_of(),
        plan_of(PAIR),
        plan_of(replace(PAIR, share=0.06)),
        plan_of(allocation="tilted", tilt=0.5),
        plan_of(allocation="tilted", tilt=0.6),
    ]
    assert len({plan.hash for plan in plans}) == len(plans)
    assert plans[1].to_dict()["locks"] == [{"columns": ["y", "a"], "share": 0.05}]
    assert [row["locked"] for row in plans[1].to_dict()["queries"] if "locked" in row] == [True]
    assert "locks" not in plans[0].to_dict()
    assert plans[3].to_dict()["tilt"] == 0.5
    assert plan_of(tilt=0.5).hash == plans[0].hash  # of no other rule


@pytest.mark.parametrize(
    ("columns", "share"),
    [
        ((), 0.1),
        ("ay", 0.1),
        (("a", "a"), 0.1),
        (("a", ""), 0.1),
        (("a", 1), 0.1),
        (("a",), 0.0),
        (("a",), 1.0),
        (("a",), math.nan),
        (("a",), True),
        (("a",), "0.1"),
    ],
)
def test_unusable_locks(columns, share):
    with pytest.raises(BudgetError) as caught:
        Lock(columns=columns, share=share)
    assert caught.value.field == "locks"


@pytest.mark.parametrize(
    "locks",
    [
        (PAIR, Lock(columns=("a", "y"), share=0.1)),
        ("no lock",),
        (Lock(columns=("a",), share=0.6), Lock(columns=("b",), share=0.5)),
    ],
)
def test_unusable_lists_of_locks(locks):
    with pytest.raises(BudgetError) as caught:
        Budget(locks=locks)
    assert caught.value.field == "locks"


@pytest.mark.parametrize("tilt", [-0.1, 1.1, math.nan, True, "1", None])
def test_unusable_tilts(tilt):
    with pytest.raises(BudgetError) as caught:
        Budget(allocation="tilted", tilt=tilt)
    assert caught.value.field == "tilt"


HEAD = '[table]\ntrain = "t.csv"\nschema = "s.yaml"\n[task]\ntarget = "y"\n'


def test_locks_in_toml():
    text = HEAD + (
        '[budget]\nallocation = "tilted"\ntilt = 0.25\n'
        '[[budget.locks]]\ncolumns = ["y", "a"]\nshare = 0.05\n'
        '[[budget.locks]]\ncolumns = ["d"]\nshare = 0.02\n'
    )
    found = configs.from_dict(tomllib.loads(text), folder=Path())
    assert found.budget.locks == (PAIR, SINGLE)
    assert found.budget.tilt == 0.25
    assert configs.from_dict(tomllib.loads(configs.dumps(found)), folder=Path()) == found


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ("locks = 3", "budget.locks"),
        ('locks = ["a"]', "budget.locks"),
        ('locks = [{columns = ["a"]}]', "budget.locks.share"),
        ('locks = [{columns = "a", share = 0.1}]', "budget.locks.columns"),
        ('locks = [{columns = ["a"], share = 0.1, why = "x"}]', "why"),
        ('tilt = "half"', "budget.tilt"),
    ],
)
def test_unusable_locks_in_toml(entry, field):
    with pytest.raises(ConfigError) as caught:
        configs.from_dict(tomllib.loads(f"{HEAD}[budget]\n{entry}\n"), folder=Path())
    assert caught.value.field == field


@pytest.mark.parametrize("rule", ["closed_form", "uniform", "tilted"])
def test_five_marginals_at_a_quarter_raised_to_a_half_with_one_held(rule):
    """Epsilon .25 over 5 marginals is .05 each; at .5 with one held at .05 the sum is within .5."""
    five = Dag(nodes=SCHEMA.names, edges=tuple((name, "y") for name in "abcde"))
    before = plan_of(dag=five, accountant="basic", epsilon=0.25, allocation="uniform")
    assert [query.event.epsilon for query in before.queries] == pytest.approx([0.05] * 5)
    lock = Lock(columns=("c", "y"), share=0.1)
    after = plan_of(lock, dag=five, accountant="basic", epsilon=0.5, allocation=rule, tilt=0.5)
    amounts = {query.clique: query.event.epsilon for query in after.queries}
    assert len(amounts) == 5
    assert amounts.pop(("y", "c")) == pytest.approx(0.05, rel=1e-9)
    assert math.fsum(amounts.values()) == pytest.approx(0.45)
    total = 0.0
    for query in after.queries:
        total += query.event.epsilon
    assert total <= 0.5
    assert math.fsum(query.event.epsilon for query in after.queries) <= 0.5
    assert math.fsum(query.share for query in after.queries) <= 1.0
