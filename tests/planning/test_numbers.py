"""Numbers at the doors: numpy's are numbers, and the unusable are refused by name."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest

from prism_core.comparators import design_comparator
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import read_table
from prism_core.errors import PrismError, TableError
from prism_core.evaluation.inside_epsilon.holdout_plan import design_holdout
from prism_core.evaluation.inside_epsilon.private_plan import design_private
from prism_core.explain.meaning import meaning
from prism_core.learning.graph.graph_plan import design_graph
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.targets import Target
from prism_core.planning.wishes.task import Budget, Shares, Synthesis, Task
from prism_core.structure.dag import Dag
from prism_core.synthesizer import PrismSynthesizer

NAMES = tuple("abcdy")
SCHEMA = Schema(
    columns=tuple(Column(name=name, kind="boolean") for name in NAMES), one_row_per_person=True
)
DAG = Dag(nodes=NAMES, edges=(("a", "y"), ("b", "y")))
EPSILONS = (5e-324, 1e-300, 1e-101, 1e-99, 1e-20, 1.0, 20.0, 1e4, 1e10, 1e99, 1e101, 1e150, 1e308)
DELTAS = (5e-324, 1e-310, 1e-251, 1e-249, 1e-100, 1e-6, 0.5, 1.0 - 1e-16, None)


@pytest.mark.parametrize("rule", ["zcdp", "basic"])
@pytest.mark.parametrize("regime", ["causal", "predictive"])
def test_every_epsilon_and_delta_is_planned_or_refused_by_name(rule, regime):
    """Anything but a plan or an error of ours ends the test, warnings of numpy too."""
    task = Task(target="y", regime=regime, k=2 if regime == "predictive" else None)
    planned = unnamed = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for epsilon, delta in itertools.product(EPSILONS, DELTAS):
            try:
                budget = Budget(epsilon=epsilon, delta=delta, accountant=rule)
                plan = design(Brief(SCHEMA, task, budget, 1_000, dag=DAG))
                assert all(0.0 < query.event.sigma < math.inf for query in plan.queries)
                assert plan.price.spent.rho > 0.0
                meaning(plan).to_markdown()
                planned += 1
            except PrismError as error:
                unnamed += not error.field
    assert planned > 20
    assert unnamed == 0


def test_so_do_the_other_plans():
    made = unnamed = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for epsilon, delta in itertools.product(EPSILONS, DELTAS):
            for plan in (
                lambda e, d: design_graph(SCHEMA, "y", e, d, 1_000).left_epsilon,
                lambda e, d: design_comparator("aim", SCHEMA, 1_000, e, d).warnings,
                lambda e, d: design_comparator("mst", SCHEMA, 1_000, e, d).events,
                lambda e, d: design_private(SCHEMA, "y", 1_000, e, d).warnings,
                lambda e, d: design_holdout(SCHEMA, "y", 1_000, e, d).warnings,
            ):
                try:
                    plan(epsilon, delta)
                    made += 1
                except PrismError as error:
                    unnamed += not error.field
    assert made > 100
    assert unnamed == 0


@pytest.mark.parametrize("bad", [10**400, -(10**400), "1", None, [1], {}, 1j, True, math.nan])
def test_what_is_no_number_is_refused_everywhere(bad):
    for make in (
        lambda: Budget(epsilon=bad),
        lambda: Budget(tilt=bad),
        lambda: Shares(task=bad),
        lambda: Lock(columns=("a",), share=bad),
        lambda: Target(name="a", weight=bad),
        lambda: Task(target="y", weights={"a": bad}),
        lambda: Task(target="y", thresholds=bad),
        lambda: Task(target="y", max_three_way=bad),
        lambda: Synthesis(iterations=bad),
    ):
        if isinstance(bad, int) and bad > 1 and "three" in str(make.__code__.co_consts):
            continue  # "at most so many": a large one is none too many
        try:
            make()
        except PrismError:
            continue
        assert type(bad) is int
        assert bad > 0
    for rows in (bad, 1.5):
        if rows is not None:
            with pytest.raises(PrismError):
                Synthesis(rows=rows)


def test_numbers_of_numpy_are_numbers():
    """The plan is the one of plain numbers, to its hash."""

    def plan(f, i):
        return design(
            Brief(
                Schema(
                    columns=(
                        Column(
                            name="n",
                            kind="numeric",
                            lower=f(0.0),
                            upper=f(8.0),
                            edges=(f(2.0), f(4.0)),
                            decimals=i(0),
                        ),
                        Column(name="o", kind="ordinal", levels=(i(1), i(2), i(3))),
                        *SCHEMA.columns,
                    ),
                    one_row_per_person=True,
                ),
                Task(
                    target="y",
                    weights={"a": f(2.0)},
                    max_joint_cells=i(0),
                    max_three_way=i(7),
                    further=(),
                ),
                Budget(
                    epsilon=f(0.5),
                    delta=f(2.0**-30),
                    tilt=f(0.5),
                    allocation="tilted",
                    shares=Shares(
                        selection=f(0.0), choice=f(0.0), task=f(0.75), background=f(0.25)
                    ),
                    locks=(Lock(columns=("a", "y"), share=f(0.125)),),
                ),
                i(1_000),
                dag=DAG,
                synthesis=Synthesis(rows=i(50), iterations=i(20)),
            )
        )

    plain = plan(float, int)
    for f, i in ((np.float64, np.int64), (np.float32, np.int32), (np.float32, np.uint16)):
        assert plan(f, i).hash == plain.hash


def test_the_facade_takes_them_and_says_what_it_does_not_take(schema, frame):
    dag = Dag(nodes=schema.names, edges=(("age", "readmitted"),))
    made = PrismSynthesizer(
        schema=schema,
        target="readmitted",
        dag=dag,
        ledger=None,
        epsilon=np.float32(1.0),
        delta=np.float64(1e-6),
        synthesis=Synthesis(model="naive_bayes", rows=np.int64(40)),
    )
    raw = read_table(frame.to_csv(index=False).encode(), name="a.csv")
    made.fit(raw)
    assert len(made.sample(np.int64(7))) == 7
    for wrong in ([1, 2], [[1, 2]], {"age": [1]}, np.zeros((3, 2)), None, "rows.csv", 3):
        with pytest.raises(TableError, match="DataFrame"):
            made.fit(wrong)
    for rows in (np.float64(3.0), np.bool_(True), 0, "3"):
        with pytest.raises(PrismError, match="whole number"):
            made.sample(rows)
