"""Every kind of plan: its hash stays what it was, and what all kinds refuse."""

from __future__ import annotations

import inspect
import math
import pkgutil
from dataclasses import replace
from importlib import import_module

import pytest

import prism_core
from prism_core.comparators import design_comparator
from prism_core.comparators.external import design_external
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError, PlanError, PrivacyError
from prism_core.evaluation.inside_epsilon.holdout_plan import design_holdout
from prism_core.evaluation.inside_epsilon.private_plan import design_private
from prism_core.learning.domain.domain_plan import design_domain
from prism_core.learning.domain.requests import CategoryRequest, NumericRequest, Outline
from prism_core.learning.graph.graph_plan import design_graph
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.step_plan import StepPlan, delta_in_force
from prism_core.planning.wishes.task import Budget, Task
from prism_core.structure.dag import Dag

N = 1_000
SCHEMA = Schema(
    columns=(
        Column(name="age", kind="numeric", lower=0.0, upper=100.0, edges=(25.0, 50.0, 75.0)),
        Column(name="ward", kind="categorical", levels=("north", "süd", "rest"), other="rest"),
        Column(name="grade", kind="ordinal", levels=(1, 2, 3), nullable=True),
        Column(name="y", kind="boolean"),
    ),
    one_row_per_person=True,
)
OUTLINE = Outline(
    columns=(
        NumericRequest(name="age", lower=0.0, upper=150.0, cells=150, decimals=0),
        CategoryRequest(name="ward"),
        *SCHEMA.columns[2:],
    ),
    one_row_per_person=True,
)
DAG = Dag(nodes=SCHEMA.names, edges=(("age", "y"), ("ward", "grade"), ("grade", "y")))


def release(schema=SCHEMA, n=N):
    # Defaults of that version, which later ones replaced.
    task = Task(target="y", regime="causal", joint="never")
    budget = Budget(epsilon=1.0, allocation="closed_form")
    return design(Brief(schema, task, budget, n, dag=DAG))


def above():
    task = Task(target="y", regime="predictive", k=2)
    budget = Budget(epsilon=2.0, delta=1e-7, above_limit=1.0, allocation="closed_form")
    return design(Brief(SCHEMA, task, budget, N))


PLANS = {
    "release": (release, "814de2e13a02466425ae146847a11c1599c8c544ae37cddcaf796a52d23a96df"),
    "above a limit": (above, "770f0cbcd98960ba2ca3122a29acf50124f38d04d5c61d07d01651de1805b724"),
    "domain": (
        lambda: design_domain(OUTLINE, 1.0, None, N),
        "2f11fee9f7622f57b6ef6713ae454a1d5ad4c82d306b98fb7b089278aea6f899",
    ),
    "graph": (
        lambda: design_graph(SCHEMA, "y", 1.0, None, N),
        "30cb686981414d9ae5376dae70b0f1438c071c13796ce1c3e2d86eebb21cf56a",
    ),
    "private": (
        lambda: design_private(SCHEMA, "y", N, 1.0),
        "27edc4467836aba46d5d858c8cd649a44b996411eee93cefd69ba2d11e7ba0e6",
    ),
    "private, numeric": (
        lambda: design_private(SCHEMA, "age", N, 1.0, above_limit=0.5),
        "aa4acf45160339b5ea7f6eb44e88a25d79299d22ac043c20e456e1511e481bba",
    ),
    "holdout": (
        lambda: design_holdout(SCHEMA, "y", N, 1.0),
        "9a89cd21e6dd57467b624065fe1ce7c82c6526583f13b3422d97d1c029473036",
    ),
    "mst": (
        lambda: design_comparator("mst", SCHEMA, N, 1.0),
        "8c911a705b6d3f93f777d08f7c3b46b3cb112d232f3ba2b247c2d7f780d3d0b4",
    ),
    "aim": (
        lambda: design_comparator("aim", SCHEMA, N, 1.0, 1e-7, above_limit=0.5),
        "4920153a2e78f1e3744a7331bc5b9d8ae6c356691d721e54e2e0b24b8cd458f7",
    ),
    "package": (
        lambda: design_external("dpmm-mst", SCHEMA, N, 1.0),
        "5b1295eacadb17ebae93bca9630d33ae3000af5551429a269dfd5ad411579573",
    ),
}
"""Of plans as version 0.1.0 made them, but for the first two, which have a joint or ties by now.
Ledgers, approvals and bundles name them by these."""


@pytest.mark.privacy
@pytest.mark.parametrize("name", PLANS)
def test_a_plan_keeps_its_hash(name):
    make, known = PLANS[name]
    assert make().hash == known


def test_every_kind_of_plan_is_here():
    kinds = {
        value
        for found in pkgutil.walk_packages(prism_core.__path__, "prism_core.")
        if not found.name.endswith("_child")
        for value in vars(import_module(found.name)).values()
        if inspect.isclass(value) and issubclass(value, StepPlan) and "document" in vars(value)
    } - {StepPlan}
    assert kinds == {type(make()) for make, _ in PLANS.values()}
    assert len(kinds) == 7


@pytest.mark.privacy
@pytest.mark.parametrize("name", [name for name in PLANS if name != "package"])
def test_the_price_holds_what_the_plan_spends_and_declares(name):
    plan = PLANS[name][0]()
    budget = getattr(plan, "budget", plan)
    price = plan.price
    assert price.plan == plan.hash
    assert price.events == plan.events
    assert price.spent.delta == plan.delta
    assert price.spent.rho >= math.fsum(event.rho for event in plan.events) * (1.0 - 1e-12)
    assert price.declared == budget.epsilon >= price.spent.epsilon * (1.0 - 1e-9)
    assert price.above_limit == budget.above_limit


NOBODY = replace(SCHEMA, one_row_per_person=False)


@pytest.mark.privacy
@pytest.mark.parametrize(
    "make",
    [
        lambda: design_domain(replace(OUTLINE, one_row_per_person=False), 1.0, None, N),
        lambda: design_graph(NOBODY, "y", 1.0, None, N),
        lambda: design_private(NOBODY, "y", N, 1.0),
        lambda: design_holdout(NOBODY, "y", N, 1.0),
        lambda: design_comparator("mst", NOBODY, N, 1.0),
    ],
)
def test_no_kind_is_planned_before_somebody_says_whose_rows_they_are(make):
    with pytest.raises(PrivacyError) as caught:
        make()
    assert caught.value.field == "one_row_per_person"


@pytest.mark.parametrize("n", [1, 0, -3, True, 2.0, "9", None])
@pytest.mark.parametrize(
    "make",
    [
        lambda n: release(n=n),
        lambda n: design_domain(OUTLINE, 1.0, 1e-6, n),
        lambda n: design_graph(SCHEMA, "y", 1.0, 1e-6, n),
        lambda n: design_private(SCHEMA, "y", n, 1.0, 1e-6),
        lambda n: design_holdout(SCHEMA, "y", n, 1.0, 1e-6),
        lambda n: design_comparator("mst", SCHEMA, n, 1.0, 1e-6),
        lambda n: design_external("dpmm-mst", SCHEMA, n, 1.0, 1e-6),
    ],
)
def test_every_kind_needs_two_rows(make, n):
    with pytest.raises((BudgetError, PlanError)) as caught:
        make(n)
    assert caught.value.field == "n"


def test_delta_is_as_declared_or_the_square_of_the_share_of_a_row():
    assert delta_in_force(None, 1_000) == 1e-6
    assert delta_in_force(0.25, 1_000) == 0.25
    assert math.isnan(delta_in_force(None, 1))
