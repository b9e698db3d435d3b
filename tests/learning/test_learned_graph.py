"""Learning a blanket: the plan, the charge, and what travels with the graph."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import prism_core
from prism_core.bundle.certificate import Facts
from prism_core.bundle.certificate import certificate as certificate_of
from prism_core.data.encoding import EncodedTable
from prism_core.errors import (
    BudgetError,
    LedgerError,
    OverspentError,
    PlanError,
    PrivacyError,
    StructureError,
    TaskError,
)
from prism_core.explain.features_statement import features_statement
from prism_core.learning.graph.graph_plan import LEAST, design_graph
from prism_core.learning.graph.learned_graph import learn_graph
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Task
from prism_core.privacy.accountants.conversions import epsilon_to_rho, rho_to_epsilon
from prism_core.privacy.events import GaussianEvent
from prism_core.privacy.learning_charge import LearningCharge
from prism_core.privacy.ledger import Ledger
from prism_core.structure import formats
from prism_core.structure.dag import Dag
from prism_core.structure.matching import match
from prism_core.synthesis.release import release
from tests.support.blankets import NAMES, SCHEMA, STAR, TASK, people, plan_for, seeded
from tests.support.noise import Watching

# --- the plan --------------------------------------------------------------------------------


@pytest.mark.privacy
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 10.0])
@pytest.mark.parametrize("share", [0.01, 0.2, 0.9, 0.999])
@pytest.mark.parametrize("domain", [False, True])
def test_graph_domain_and_release_together_stay_below_the_declaration(epsilon, share, domain):
    delta = 1e-6
    rho = epsilon_to_rho(epsilon, delta)
    earlier = (
        LearningCharge(
            events=(GaussianEvent(sigma=math.sqrt(5.0 / rho), label="learning x"),), delta=delta
        )
        if domain
        else None
    )
    schema = replace(SCHEMA, provenance="dp", prior=earlier) if domain else SCHEMA
    plan = design_graph(schema, "y", epsilon, delta, 4_000, share=share)
    dag = Dag(nodes=NAMES, edges=(("cause", "y"),), provenance="dp", prior=plan.prior(7))
    later = design(
        Brief(schema, TASK, Budget(epsilon=epsilon, delta=delta), 4_000, dag=dag, synthesis=STAR)
    )
    before = (*(earlier.events if earlier else ()), *plan.events)
    spent = math.fsum(event.rho for event in (*before, *later.events))
    assert spent <= rho
    assert spent >= rho * (1 - 1e-6)
    assert rho_to_epsilon(spent, delta) <= epsilon
    assert later.guarantee.rho == pytest.approx(spent, rel=1e-12)
    assert later.guarantee.epsilon <= epsilon
    assert plan.spent.rho == pytest.approx(share * (0.8 if domain else 1.0) * rho, rel=1e-6)
    assert later.spent.rho < later.guarantee.rho
    document = later.to_dict()
    assert document["graph"]["rho"] == plan.spent.rho
    assert document["graph"]["charge"] == 7
    assert document["with_learning"]["rho"] == later.guarantee.rho
    assert ("domain" in document) == domain
    assert plan.left_epsilon == pytest.approx(later.spent.epsilon, rel=1e-3)
    json.dumps(document, allow_nan=False)


@pytest.mark.privacy
@pytest.mark.parametrize("value", [None, math.nan, 0, 1, 1.0, -0.1, math.inf, True, "0.1"])
def test_the_share_is_closed(value):
    with pytest.raises(BudgetError, match="share"):
        plan_for(share=value)


@pytest.mark.privacy
@pytest.mark.parametrize("value", [None, math.nan, 0, -1, 2.0, math.inf, True, "4"])
def test_members_are_closed(value):
    with pytest.raises(BudgetError, match="members"):
        plan_for(members=value)


@pytest.mark.privacy
@pytest.mark.parametrize("value", [math.nan, 0, -1.0, math.inf, True, "1"])
def test_epsilon_delta_and_n_are_closed(value):
    for changes in ({"epsilon": value}, {"delta": value}, {"n": value}):
        with pytest.raises(BudgetError):
            plan_for(**changes)


def test_what_cannot_be_learned_is_refused_with_its_field():
    for schema, target, error, field in (
        (SCHEMA, "z", TaskError, "target"),
        (replace(SCHEMA, columns=SCHEMA.columns[4:5]), "y", TaskError, "target"),
        (replace(SCHEMA, one_row_per_person=False), "y", PrivacyError, "one_row_per_person"),
        (
            replace(SCHEMA, one_row_per_person=False, person_id="id", persons=9),
            "y",
            BudgetError,
            "n",
        ),
    ):
        with pytest.raises(error) as caught:
            design_graph(schema, target, 1.0, None, 4_000)
        assert caught.value.field == field


@pytest.mark.privacy
def test_a_learned_graph_carries_its_cost_through_networkx_and_node_link():
    prior = design_graph(SCHEMA, "y", 1.0, None, 4_000).prior(7)
    dag = Dag(nodes=NAMES, edges=(("cause", "y"),), provenance="dp", prior=prior)
    assert formats.read(formats.to_networkx(dag)) == dag
    assert formats.read(formats.write(dag, "node-link")) == dag
    public = replace(dag, provenance="public twin", prior=None)
    assert formats.read(formats.to_networkx(public)) == public
    broken = formats.to_networkx(dag)
    broken.graph["learned"] = {"events": "none"}
    with pytest.raises(StructureError, match="What the graph cost cannot be read"):
        formats.read(broken)
    del broken.graph["learned"]  # a design refuses a graph that does not say what it cost
    with pytest.raises(BudgetError, match="does not say what it cost"):
        design(
            Brief(
                SCHEMA,
                Task(target="y", regime="graphical"),
                Budget(),
                4_000,
                dag=formats.read(broken),
            )
        )


def test_the_cost_of_a_graph_holds_for_the_unit_that_was_counted():
    schema = replace(SCHEMA, one_row_per_person=False, person_id="id", persons=4_000)
    plan = design_graph(schema, "y", 1.0, None, 4_000)
    dag = Dag(nodes=NAMES, edges=(("cause", "y"),), provenance="dp", prior=plan.prior())
    task = Task(target="y", regime="graphical")
    assert design(Brief(schema, task, Budget(), 4_000, dag=dag)).prior is not None
    with pytest.raises(BudgetError, match="another declaration of people"):
        design(Brief(SCHEMA, task, Budget(), 4_000, dag=dag))


def test_defaults_hash_threshold_and_warning():
    plan = design_graph(SCHEMA, "y", 1.0, None, 4_000)
    assert plan.delta == 1 / 4_000**2
    assert plan.members == 5  # no more than there are candidates
    assert plan.hash == design_graph(SCHEMA, "y", 1.0, None, 4_000).hash
    assert plan.hash != design_graph(SCHEMA, "y", 1.0, None, 4_001).hash
    scale = 2 * 4 / 4_000 / plan.event.epsilon
    assert plan.threshold == pytest.approx(scale * math.log(5))
    assert plan_for(n=10**9).threshold == LEAST
    assert plan_for(n=900_000).warnings == ()
    (warning,) = plan_for(n=200).warnings
    assert "stand out of the noise" in warning


# --- charged first ---------------------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path):
    found = Ledger(tmp_path)
    found.register("ward", epsilon=2.0, delta=1e-6)
    return found


@pytest.mark.privacy
def test_the_charge_stands_before_the_first_mechanism_and_lists_the_step(ledger):
    plan, noise = plan_for(), Watching(ledger)
    found = learn_graph(plan, people(), ledger=ledger, asset="ward", noise=noise)
    assert 1 <= noise.calls <= 4
    (charge,) = ledger.charges()
    assert (charge.state, charge.plan, charge.id) == ("done", plan.hash, found.charge)
    assert charge.rho == plan.spent.rho
    assert found.dag.prior == plan.prior(charge.id, *found.dag.prior.receipts)
    assert all(found.dag.prior.receipts)
    assert found.dag.prior.subjects == ("the blanket of y",)
    assert found.stamp == "learned"
    assert ledger.balance("ward").spent_epsilon == rho_to_epsilon(plan.spent.rho, 1e-6)


@pytest.mark.privacy
@pytest.mark.parametrize("breaks_at", [1, 2])
def test_a_failed_run_stays_charged(ledger, breaks_at):
    with pytest.raises(RuntimeError):
        learn_graph(
            plan_for(), people(), ledger=ledger, asset="ward", noise=Watching(ledger, breaks_at)
        )
    assert [charge.state for charge in ledger.charges()] == ["failed"]


@pytest.mark.privacy
def test_only_what_stopped_before_any_mechanism_is_void(ledger):
    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn_graph(plan_for(), people(), ledger=ledger, asset="ward", progress=stop)
    assert [charge.state for charge in ledger.charges()] == ["void"]


class Untouchable(EncodedTable):
    def counts(self, cliques):
        raise AssertionError("a row was counted")


@pytest.mark.privacy
def test_refusals_come_before_a_row_is_counted(ledger):
    table = Untouchable(schema=SCHEMA, codes=people().codes)
    private = {"ledger": ledger, "asset": "ward"}
    with pytest.raises(PrivacyError, match="Seeded noise"):
        learn_graph(plan_for(), table, noise=seeded(), **private)
    with pytest.raises(PlanError, match="4,001"):
        learn_graph(plan_for(n=4_001), table, **private)
    other = replace(SCHEMA, columns=SCHEMA.columns[::-1])
    with pytest.raises(PlanError, match="another schema"):
        learn_graph(design_graph(other, "y", 1.0, None, 4_000), table, **private)
    with pytest.raises(LedgerError, match="Name the data asset"):
        learn_graph(plan_for(), table, ledger=ledger)
    with pytest.raises(OverspentError):
        learn_graph(plan_for(epsilon=30.0), table, **private)
    assert ledger.charges() == ()


@pytest.mark.privacy
def test_a_rehearsal_is_not_charged_and_still_deducted(ledger):
    found = learn_graph(
        plan_for(), people(public=True), ledger=ledger, asset="ward", noise=seeded()
    )
    assert ledger.charges() == ()
    assert found.charge is None
    later = design(
        Brief(SCHEMA, TASK, Budget(epsilon=2.0, delta=1e-6), 4_000, dag=found.dag, synthesis=STAR)
    )
    assert later.prior is not None


@pytest.mark.privacy
def test_learn_design_release_and_the_certificate_lists_it(ledger):
    table = people()
    learned = prism_core.learn_graph(plan_for(share=0.5), table, ledger=ledger, asset="ward")
    dag = learned.dag
    if not learned.members:  # the noise may hide everything; the cost is the same
        dag = replace(dag, edges=(("cause", "y"),))
    later = design(
        Brief(SCHEMA, TASK, Budget(epsilon=2.0, delta=1e-6), 4_000, dag=dag, synthesis=STAR)
    )
    made = release(later, table, ledger=ledger, asset="ward", rng=np.random.default_rng(1))
    certificate = certificate_of(made.stages, Facts.of(made))
    json.dumps(certificate, allow_nan=False)
    assert certificate["graph_provenance"] == "dp"
    assert certificate["graph"]["charge"] == learned.charge
    assert certificate["graph"]["rho"] == learned.spent.rho
    assert certificate["guarantee"]["epsilon"] <= 2.0
    assert certificate["guarantee"]["rho"] == pytest.approx(learned.spent.rho + later.spent.rho)
    first, second = ledger.charges()
    assert (first.state, second.state) == ("done", "done")
    assert second.rho == later.total
    assert first.rho + second.rho <= epsilon_to_rho(2.0, 1e-6)


# --- what travels with the graph -------------------------------------------------------------


def learned_dag() -> Dag:
    return Dag(
        nodes=NAMES,
        edges=(("cause", "y"), ("effect", "y")),
        provenance="dp",
        prior=plan_for().prior(3),
    )


@pytest.mark.privacy
def test_the_cost_survives_files_editing_and_matching(tmp_path):
    dag = learned_dag()
    (tmp_path / "dag.json").write_text(formats.write(dag, "node-link"), encoding="utf-8")
    assert formats.read(tmp_path / "dag.json") == dag
    assert dag.over(NAMES[::-1]).prior == dag.prior
    edited = replace(dag, edges=(*dag.edges, ("noise", "cause")))
    assert (edited.provenance, edited.prior) == ("dp", dag.prior)
    renamed = match(dag, ("A", *NAMES[1:]), {"cause": "A"}).drawing.dag
    assert (renamed.provenance, renamed.prior) == ("dp", dag.prior)
    dropped = match(dag, NAMES[1:], {"cause": None}).drawing.dag
    assert (dropped.provenance, dropped.prior) == ("dp", dag.prior)


@pytest.mark.privacy
@pytest.mark.parametrize("format", [name for name in formats.FORMATS if name != "node-link"])
def test_a_format_that_cannot_hold_the_cost_is_refused(format):
    with pytest.raises(StructureError, match="node-link"):
        formats.write(learned_dag(), format)


@pytest.mark.privacy
@pytest.mark.parametrize(
    "changes",
    [
        {"provenance": "declared"},
        {"provenance": "x"},
        {"provenance": []},
        {"learned": {}},
        {"learned": {"events": [1], "delta": 0.1}},
        {"learned": {"events": [], "delta": 0.1}},
        {"learned": {"events": [{"event": "exponential", "epsilon": math.nan}], "delta": 0.1}},
        {"learned": {"events": [{"event": "x"}], "delta": 0.1}},
        {"learned": 3},
        {"learned": {"events": [{"event": "exponential", "epsilon": 1.0}], "delta": "x"}},
    ],
)
def test_a_spoiled_cost_is_refused(changes):
    document = json.loads(formats.write(learned_dag(), "node-link")) | changes
    with pytest.raises(StructureError):
        formats.read(json.dumps(document))


@pytest.mark.privacy
def test_a_learned_graph_is_refused_where_it_does_not_fit():
    budget = Budget(epsilon=2.0, delta=1e-6)
    for edited in (learned_dag(), replace(learned_dag(), edges=(("cause", "y"),))):
        with pytest.raises(TaskError, match="learned from rows"):
            design(Brief(SCHEMA, Task(target="y"), budget, 4_000, dag=edited))
    for accountant in ("basic", "pld"):
        with pytest.raises(BudgetError, match="zcdp"):
            design(
                Brief(
                    SCHEMA, TASK, replace(budget, accountant=accountant), 4_000, dag=learned_dag()
                )
            )
    with pytest.raises(BudgetError, match="nothing is left"):
        design(Brief(SCHEMA, TASK, replace(budget, epsilon=0.1), 4_000, dag=learned_dag()))
    with pytest.raises(BudgetError, match="does not say what it cost"):
        design(Brief(SCHEMA, TASK, budget, 4_000, dag=replace(learned_dag(), prior=None)))


@pytest.mark.privacy
def test_in_the_predictive_regime_its_cost_is_deducted_too():
    task = Task(target="y", regime="predictive", k=2)
    later = design(Brief(SCHEMA, task, Budget(epsilon=2.0, delta=1e-6), 4_000, dag=learned_dag()))
    assert later.prior is not None
    assert later.guarantee.rho == pytest.approx(later.spent.rho + later.prior.rho)


def test_the_statement_says_that_it_was_learned_and_is_not_causal():
    dag, causal = learned_dag(), Task(target="y")
    assert "not causal" in features_statement(TASK, dag)
    assert f"epsilon = {dag.prior.spent.epsilon:.3g}" in features_statement(TASK, dag)
    assert "not what causes it" in features_statement(causal, dag)
    assert "learned" not in features_statement(causal, Dag(nodes=NAMES, edges=(("cause", "y"),)))
