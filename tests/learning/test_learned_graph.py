"""Learning a blanket: the plan, the charge, the search, and what travels with the graph."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prism_core
from prism_core.bundle.certificate import Facts
from prism_core.bundle.certificate import certificate as certificate_of
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
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
from prism_core.learning.graph.learned_graph import BlanketScores, graph_of_public, learn_graph
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.accountants.conversions import epsilon_to_rho, rho_to_epsilon
from prism_core.privacy.events import GaussianEvent
from prism_core.privacy.learning_charge import LearningCharge
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.noise import SeededNoise
from prism_core.privacy.scores import (
    association,
    conditional_association,
    conditional_association_sensitivity,
)
from prism_core.structure import formats
from prism_core.structure.dag import Dag
from prism_core.structure.matching import match
from prism_core.synthesis.release import release
from tests.support.enumeration import worst_move
from tests.support.noise import Watching

NAMES = ("cause", "effect", "copy", "noise", "y", "wide")
SIZES = (2, 3, 2, 4, 2, 5)
SCHEMA = Schema(
    columns=tuple(
        Column(name=name, kind="categorical", levels=tuple(range(size)))
        for name, size in zip(NAMES, SIZES, strict=True)
    ),
    one_row_per_person=True,
)
TASK = Task(target="y", regime="graphical")
STAR = Synthesis(model="naive_bayes", rows=50)


def people(n: int = 4_000, *, public: bool = False, schema: Schema = SCHEMA) -> EncodedTable:
    """cause -> y -> effect; `copy` is a noisy copy of cause; the rest is noise."""
    rng = np.random.default_rng(11)
    cause = rng.integers(0, 2, n)
    y = np.where(rng.random(n) < 0.2, 1 - cause, cause)
    effect = np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), 2 * y)
    copy = np.where(rng.random(n) < 0.1, 1 - cause, cause)
    columns = [cause, effect, copy, rng.integers(0, 4, n), y, rng.integers(0, 5, n)]
    return EncodedTable(schema=schema, codes=np.column_stack(columns), public=public)


def plan_for(n: int = 4_000, epsilon: float = 2.0, delta: float | None = 1e-6, **others):
    return design_graph(SCHEMA, "y", epsilon, delta, n, **({"members": 4} | others))


def seeded() -> SeededNoise:
    return SeededNoise(np.random.default_rng(5))


# --- the score -------------------------------------------------------------------------------


@pytest.mark.privacy
@pytest.mark.parametrize(
    ("shape", "largest"),
    [((2, 2, 1), 8), ((2, 2, 2), 7), ((2, 3, 1), 7), ((2, 3, 2), 4), ((3, 3, 1), 5)],
)
def test_conditional_association_moves_by_at_most_its_sensitivity(shape, largest):
    ratios = []
    for n in range(1, largest + 1):
        worst = worst_move(shape, n, conditional_association)
        declared = conditional_association_sensitivity(n)
        assert worst <= declared * (1 + 1e-12)
        ratios.append(worst / declared)
    assert max(ratios) >= (0.5 if shape == (2, 2, 2) else 0.35)


@pytest.mark.privacy
def test_the_constant_cannot_be_three():
    """The witness of the proof: both strata lose nearly 2 when one row moves between them."""
    s = 100
    before = np.stack([[[s * s, 0], [0, 1]], [[0, s], [s, s * s - 2 * s]]], axis=2)
    after = before.copy()
    after[1, 1, 0] -= 1
    after[0, 0, 1] += 1
    n = int(before.sum())
    move = abs(conditional_association(before) - conditional_association(after))
    assert 3.9 / n < move <= conditional_association_sensitivity(n)


def test_conditional_association_is_what_it_says():
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 5, (2, 3, 4))
    counts[:, :, 1] = 0  # an empty stratum
    p = counts / counts.sum()
    brute = 0.5 * sum(
        abs(p[x, y, z] - p[x, :, z].sum() * p[:, y, z].sum() / p[:, :, z].sum())
        for x, y, z in itertools.product(range(2), range(3), (0, 2, 3))
    )
    assert conditional_association(counts) == pytest.approx(brute)
    assert conditional_association(counts[:, :, :1]) == pytest.approx(association(counts[:, :, 0]))


@pytest.mark.privacy
def test_the_score_of_the_search_moves_by_at_most_its_sensitivity():
    """Every column's score, for members none, one and two, under random replaced rows."""
    rng = np.random.default_rng(3)
    plan, worst = plan_for(n=12), 0.0
    for _ in range(200):
        codes = np.column_stack([rng.integers(0, size, 12) for size in SIZES])
        if rng.random() < 0.5:
            codes[:, :] = codes[0]
        other = codes.copy()
        other[0] = [rng.integers(0, size) for size in SIZES]
        for members in ([], ["cause"], ["cause", "effect"]):
            left = [name for name in plan.candidates if name not in members]
            a, b = (
                np.array(
                    BlanketScores(plan).of(EncodedTable(schema=SCHEMA, codes=c), left, members)
                )
                for c in (codes, other)
            )
            worst = max(worst, float(np.abs(a - b).max()) / plan.sensitivity)
    assert 0.25 < worst <= 1.0


@pytest.mark.statistical
def test_chance_alone_stays_below_its_bound_on_average():
    """Uniform margins meet the bound; the mean of 400 tables has a standard error of 1% of it, so
    10% off has a false-alarm rate below 1e-20."""
    rng = np.random.default_rng(4)
    plan = plan_for(n=2_000)
    found = []
    for _ in range(400):
        codes = np.column_stack([rng.integers(0, size, 2_000) for size in SIZES])
        counts = EncodedTable(schema=SCHEMA, codes=codes).counts([("effect", "y", "wide")])[0]
        found.append(conditional_association(counts))
    bound = plan.by_chance("effect", ("wide",))
    assert 0.9 * bound < np.mean(found) < 1.1 * bound


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


# --- the search ------------------------------------------------------------------------------


def test_members_are_found_and_what_they_explain_is_not():
    found = learn_graph(
        plan_for(n=20_000, epsilon=20.0), people(20_000, public=True), ledger=None, noise=seeded()
    )
    assert set(found.members) == {"cause", "effect"}
    assert found.dag.edges == (("cause", "y"), ("effect", "y"))
    assert found.dag.markov_blanket("y") == ("cause", "effect")
    assert found.dag.nodes == NAMES
    assert (found.dag.provenance, found.stamp) == ("dp", "rehearsal, not learned")
    exact = graph_of_public(plan_for(n=20_000), people(20_000, public=True))
    assert set(exact.members) == {"cause", "effect"}


def test_nothing_to_find_gives_an_empty_graph_and_the_cost_stands():
    table = replace(people(public=True), codes=np.zeros((4_000, 6), dtype=np.int32))
    found = learn_graph(plan_for(epsilon=20.0), table, ledger=None, noise=seeded())
    assert found.members == found.dag.edges == ()
    assert found.dag.prior is not None
    with pytest.raises(TaskError, match="no neighbours"):
        design(Brief(SCHEMA, TASK, Budget(), 4_000, dag=found.dag))


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(1, 9))
def test_any_rows_give_a_graph_whose_blanket_is_what_was_found(seed, n, members):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, size, n) for size in SIZES])
    table = EncodedTable(schema=SCHEMA, codes=codes, public=True)
    noise = SeededNoise(rng)
    found = learn_graph(plan_for(n=n, members=members), table, ledger=None, noise=noise)
    assert len(set(found.members)) == len(found.members) <= members
    assert set(found.dag.markov_blanket("y")) == set(found.members) <= set(NAMES) - {"y"}
    assert formats.read(formats.write(found.dag, "node-link")) == found.dag


def test_tables_that_are_too_large_are_not_conditioned_on(monkeypatch):
    monkeypatch.setattr("prism_core.learning.graph.learned_graph.MAX_CELLS", 16)
    scores = BlanketScores(plan_for())
    assert scores._tests("copy", ["wide", "cause"]) == [("copy", "cause")]
    assert scores._tests("noise", ["wide", "effect"]) == [("noise",)]


@pytest.mark.privacy
def test_rows_read_exactly_must_be_public_and_cost_nothing():
    with pytest.raises(PrivacyError, match="public table"):
        graph_of_public(plan_for(), people())
    found = graph_of_public(plan_for(), people(public=True))
    assert (found.spent, found.events, found.charge) == (None, (), None)
    assert (found.dag.provenance, found.dag.prior) == ("public twin", None)
    later = design(Brief(SCHEMA, TASK, Budget(delta=1e-6), 4_000, dag=found.dag, synthesis=STAR))
    assert later.prior is None
    with pytest.raises(TaskError, match="causal"):
        design(Brief(SCHEMA, Task(target="y"), Budget(), 4_000, dag=found.dag))


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
