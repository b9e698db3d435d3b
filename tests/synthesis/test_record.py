"""T-RECORD: the pipeline on neighbours, with the noisy outputs of one run frozen in the other.

With the outputs frozen, whatever still differs came from the rows without noise. So control flow
and every parameter must be the same, and every true vector may move by its sensitivity at most.
Deterministic: no false alarms.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from prism_core.data.counts import marginal_counts
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.learning.graph import learned_graph
from prism_core.learning.graph.graph_plan import design_graph
from prism_core.learning.graph.learned_graph import learn_graph
from prism_core.planning import adaptive_rounds, ties
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.regression import regression_of
from prism_core.planning.wishes.targets import Target
from prism_core.planning.wishes.task import (
    MODELS,
    REGIMES,
    SELECTIONS,
    Budget,
    Shares,
    Synthesis,
    Task,
)
from prism_core.privacy.scores import (
    conditional_information_sensitivity,
    mutual_information_sensitivity,
)
from prism_core.structure.dag import Dag
from prism_core.synthesis import release
from prism_core.synthesis.naive_bayes import fit_naive_bayes
from prism_core.synthesis.pgm import fit_pgm
from tests.support.noise import Tape
from tests.support.receipts import without_receipts

pytestmark = pytest.mark.privacy

SIZES = {"a": 2, "b": 3, "y": 2, "c": 4, "d": 2, "e": 3}
SCHEMA = Schema(
    columns=tuple(
        Column(name=name, kind="categorical", levels=tuple(range(size)))
        for name, size in SIZES.items()
    ),
    one_row_per_person=True,
)
DAG = Dag(nodes=SCHEMA.names, edges=(("a", "y"), ("b", "y"), ("y", "c"), ("d", "c")))


def neighbours(seed: int) -> tuple[EncodedTable, EncodedTable]:
    """Random ones, and the hard ones: a constant table, and a lone row that moves everywhere."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 60))
    codes = np.column_stack([rng.integers(0, size, n) for size in SIZES.values()])
    if seed % 3 == 0:
        codes[:] = 0
    other = codes.copy()
    other[rng.integers(n)] = [size - 1 for size in SIZES.values()]
    if seed % 3 == 2:
        codes, other = other, codes
    return tuple(EncodedTable(schema=SCHEMA, codes=c) for c in (codes, other))  # type: ignore[return-value]


def play(plan, table, frozen=None):
    tape, steps = Tape(frozen, seed=len(SIZES)), []
    made = release.release(
        plan,
        table,
        ledger=None,
        noise=tape,
        rng=np.random.default_rng(1),
        progress=lambda stage, share: steps.append((stage, share)),
    )
    return made, tape, steps


EXTREME = Shares(selection=0.98, choice=0.0, task=0.01, background=0.01)


@pytest.fixture(autouse=True)
def fast_fit(monkeypatch):
    """The fit is post-processing; everything before it is real, the forest included."""

    def fit(sizes, target, n, measurements, **_):
        pairs = any(target in m.clique and len(m.clique) == 2 for m in measurements)
        blocks = [m for m in measurements if len(m.clique) < 3 or not pairs]  # none may overlap
        return fit_naive_bayes(sizes, target, n, blocks)

    monkeypatch.setattr(release, "fit_pgm", fit)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("regime", "model", "accountant", "shares"),
    [
        *itertools.product(REGIMES, MODELS, ["zcdp"], [Shares()]),
        ("predictive", "pgm", "basic", Shares()),
        ("predictive", "pgm", "zcdp", EXTREME),
    ],
)
def test_replayed_on_a_neighbour_nothing_but_the_true_vectors_moves(
    seed, regime, model, accountant, shares
):
    before, after = neighbours(seed)
    weights = {"a": 3.0} if seed % 2 else {}
    plan = design(
        Brief(
            SCHEMA,
            Task(target="y", regime=regime, k=3, weights=weights),
            Budget(accountant=accountant, shares=shares),
            before.n,
            dag=DAG,
            synthesis=Synthesis(model=model, rows=20),
        )
    )
    made, tape = compare(plan, before, after)
    check_spend(made, tape)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("selection", SELECTIONS)
def test_every_way_of_choosing_features_replays(seed, selection):
    before, after = neighbours(seed)
    plan = design(
        Brief(
            SCHEMA,
            Task(target="y", regime="predictive", k=3, selection=selection),
            Budget(),
            before.n,
            synthesis=Synthesis(rows=20),
        )
    )
    check_spend(*compare(plan, before, after))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("regime", "selection", "accountant"),
    [
        ("causal", "greedy", "zcdp"),
        ("graphical", "greedy", "zcdp"),
        ("predictive", "greedy", "zcdp"),
        ("predictive", "greedy", "basic"),
        ("predictive", "one_shot", "zcdp"),
        ("predictive", "mutual_information", "zcdp"),
    ],
)
def test_several_targets_replay(seed, regime, selection, accountant, monkeypatch):
    """The model that the forest is scored by is real here: naive Bayes has one target."""
    monkeypatch.setattr(release, "fit_pgm", fit_pgm)
    before, after = neighbours(seed)
    task = Task(
        target="y", regime=regime, k=2, selection=selection, further=(Target(name="d", weight=0.5),)
    )
    dag = Dag(nodes=SCHEMA.names, edges=(*DAG.edges, ("b", "d"), ("e", "d")))
    plan = design(
        Brief(
            SCHEMA,
            task,
            Budget(accountant=accountant),
            before.n,
            dag=dag,
            synthesis=Synthesis(rows=20),
        )
    )
    made, tape = compare(plan, before, after)
    check_spend(made, tape)
    if regime == "predictive":  # by weight; rho is epsilon squared over 8 a choice
        asked = [how[0] for kind, _, how in tape.asked if kind == "choice"]
        first, second = asked[0], asked[2 if selection == "greedy" else 1]
        ratio = second / first
        assert ratio ** (1 if accountant == "basic" else 2) == pytest.approx(0.5)
        assert made.plan.tree_event is not None


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("rule", "regime", "accountant"),
    [
        ("cmi", "causal", "zcdp"),
        ("cmi", "predictive", "basic"),
        ("model_error", "graphical", "zcdp"),
        ("model_error", "predictive", "zcdp"),
    ],
)
def test_the_choice_of_three_way_marginals_replays(seed, rule, regime, accountant):
    before, after = neighbours(seed)
    task = Task(target="y", regime=regime, k=3, three_way=rule, max_three_way=2, max_joint_cells=0)
    plan = design(
        Brief(
            SCHEMA,
            task,
            Budget(accountant=accountant),
            before.n,
            dag=DAG,
            synthesis=Synthesis(rows=20),
        )
    )
    made, tape = compare(plan, before, after)
    check_spend(made, tape)
    triples = [query for query in made.plan.queries if query.kind == "three-way"]
    assert len(triples) == (1 if regime == "causal" else 2)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("regime", REGIMES)
def test_the_adaptive_rounds_replay(seed, regime, monkeypatch):
    """Each round's fit is real here, as the next round's candidates and scores follow from it."""
    monkeypatch.setattr(adaptive_rounds, "NOISE_LIMIT", math.inf)
    monkeypatch.setattr(adaptive_rounds, "FIRST_NOISE_LIMIT", math.inf)
    monkeypatch.setattr(release, "fit_pgm", fit_pgm)
    before, after = neighbours(seed)
    task = Task(
        target="y", regime=regime, k=3, three_way="adaptive", max_three_way=4, max_joint_cells=0
    )
    plan = design(
        Brief(SCHEMA, task, Budget(epsilon=20.0), before.n, dag=DAG, synthesis=Synthesis(rows=20))
    )
    made, tape = compare(plan, before, after)
    event = made.plan.three_way_event
    assert event.count == (2 if regime == "causal" else 4)
    picked = sum(query.parts for query in made.plan.queries if query.kind == "adaptive")
    assert picked + len(made.plan.unused) == event.count
    # Parts that measured nothing, and choices that did not run, count as spent.
    asked = [how for kind, _, how in tape.asked if kind == "choice"]
    forest = made.plan.tree_event.epsilon
    taken = sum((e / event.epsilon) ** 2 for e, sens, *_ in asked if sens == 2.0 and e != forest)
    assert picked <= taken * (1 + 1e-9)
    assert taken <= event.count
    idle = [1.0 / one.sigma**2 for one in made.plan.unused]
    idle.append((event.count - taken) * event.epsilon**2 / 8.0)
    check_spend(made, tape, math.fsum(idle))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("regime", REGIMES)
def test_ties_replay(seed, regime, monkeypatch):
    """What they leave goes back to the pairs: how much follows from the choices alone."""
    monkeypatch.setattr(adaptive_rounds, "NOISE_LIMIT", -math.inf)
    monkeypatch.setattr(ties, "may_tie", lambda frame, features: True)
    monkeypatch.setattr(ties, "FALSE_TIES", 2.0)  # a bar low enough for some to pass
    monkeypatch.setattr(release, "fit_pgm", fit_pgm)
    before, after = neighbours(seed)
    task = Task(target="y", regime=regime, k=3, joint="never")
    plan = design(
        Brief(SCHEMA, task, Budget(epsilon=20.0), before.n, dag=DAG, synthesis=Synthesis(rows=20))
    )
    assert plan.three_way.bar is not None
    made, tape = compare(plan, before, after)
    picked = sum(query.kind == "adaptive" for query in made.plan.queries)
    again = sum(query.kind == "again" for query in made.plan.queries)
    opened = made.stages.opened.three_way
    assert made.plan.three_way_event.count == min(opened.rounds, picked + 1)
    assert (again > 0) == (picked < opened.rounds)
    # Once no candidate is open, the choice that is paid for does not run.
    chosen = [how for kind, _, how in tape.asked if kind == "choice"]
    asked = sum(math.isclose(e, made.plan.three_way_event.epsilon) for e, *_ in chosen)
    idle = (made.plan.three_way_event.count - asked) * made.plan.three_way_event.epsilon**2 / 8.0
    check_spend(made, tape, idle)


def compare(plan, before, after):
    """Record on `before`, replay on `after`; fails on any difference that is not allowed."""
    made, tape, steps = play(plan, before)
    again, replay, other_steps = play(plan, after, tape.outputs)
    assert other_steps == steps
    assert again.plan == made.plan
    assert again.plan.hash == made.plan.hash
    np.testing.assert_array_equal(again.codes, made.codes)  # all that follows is post-processing
    assert len(replay.asked) == len(tape.asked)
    moved = 0.0
    for (kind, truth, how), (kind_, truth_, how_) in zip(tape.asked, replay.asked, strict=True):
        assert (kind, how, truth.shape) == (kind_, how_, truth_.shape)
        change = truth - truth_
        if kind == "gaussian":
            assert truth.dtype == np.int64
            bound = gradients(plan).get(how[0], math.sqrt(2.0))
            assert math.sqrt(float((change**2).sum())) <= bound
            assert how[0] in gradients(plan) or truth.sum() == truth_.sum() == before.n
        else:
            assert np.abs(change).max() <= how[1] * (1 + 1e-9)
        moved = max(moved, float(np.abs(change).max()))
    assert moved > 0.0  # the neighbours do differ
    return made, tape


def gradients(plan) -> dict[float, float]:
    """The sensitivity of what is noised at a scale, where that is the gradient of a regression."""
    found = [choice for choice in plan.selections if choice.rule == "logistic"]
    return {
        choice.event.sigma: regression_of(SCHEMA, choice.candidates, "y").sensitivity
        for choice in found
    }


def check_spend(made, tape, idle: float = 0.0) -> None:
    """What was really asked of the noise, added up by hand, is what the plan says it spends.

    `idle`: rho of steps that count as spent and did not run.
    """
    plan = made.plan
    gaussian = [how[0] for kind, _, how in tape.asked if kind == "gaussian"]
    choices = [
        epsilon
        for kind, _, (epsilon, *rest) in tape.asked
        if kind == "choice"
        for _ in range(rest[1] if len(rest) > 1 else 1)
    ]
    moves = gradients(plan)
    asked = [moves.get(sigma, math.sqrt(2.0)) ** 2 / (2.0 * sigma**2) for sigma in gaussian]
    asked += [e**2 / 8.0 for e in choices]
    rho = math.fsum([idle, *asked])
    assert rho == pytest.approx(plan.spent.rho, rel=1e-9)
    assert plan.spent.epsilon <= plan.budget.epsilon
    assert plan.spent.delta <= plan.delta
    if plan.budget.accountant == "zcdp":
        assert rho <= plan.total * (1 + 1e-12)
    else:
        parts = [query.event.epsilon for query in plan.queries]
        assert math.fsum([*parts, *choices]) <= plan.budget.epsilon
    sensitivities = {how[1] for kind, _, how in tape.asked if kind == "choice"}
    allowed = {3.0 / plan.n, 2.0, mutual_information_sensitivity(plan.n, binary=True)}
    assert sensitivities <= allowed | {conditional_information_sensitivity(plan.n)}
    assert [m.sigma for m in made.measurements] == [s for s in gaussian if s not in moves]


def learn_twice(before, after, members=4):
    """Learn a graph on `before`, replay on `after`; the tapes, and fails where they differ."""
    plan = design_graph(SCHEMA, "y", 50.0, None, before.n, share=0.9, members=members)
    tapes, graphs = [], []
    for table in (before, after):
        tapes.append(Tape(tapes[0].outputs if tapes else None, seed=len(SIZES)))
        found = learn_graph(plan, table, ledger=None, noise=tapes[-1])
        graphs.append(replace(found, dag=without_receipts(found.dag)))
    assert graphs[0] == graphs[1]
    assert len(tapes[0].asked) == len(tapes[1].asked) <= members
    moved = 0.0
    for (_, truth, how), (_, truth_, how_) in zip(tapes[0].asked, tapes[1].asked, strict=True):
        assert (how, truth.shape) == (how_, truth_.shape)
        change = float(np.abs(truth - truth_).max())
        assert change <= how[1] * (1 + 1e-9)
        assert how == (plan.event.epsilon, 4.0 / plan.n)
        assert truth[-1] == truth_[-1] == plan.threshold  # the bar is public
        moved = max(moved, change)
    assert moved > 0.0
    assert members * plan.event.epsilon**2 / 8.0 == pytest.approx(plan.spent.rho, rel=1e-9)
    return plan, tapes


@pytest.mark.parametrize("seed", range(12))
def test_learning_a_graph_replays(seed):
    learn_twice(*neighbours(seed))


def test_learning_a_graph_goes_through_several_rounds():
    rounds = [len(learn_twice(*neighbours(seed))[1][0].asked) for seed in range(12)]
    assert max(rounds) >= 2  # else conditional scores are never asked for


def test_leaks_of_learning_a_graph_are_seen(monkeypatch):
    before, after = neighbours(0)
    monkeypatch.setattr(
        learned_graph, "conditional_association", lambda counts: float(counts.max())
    )
    with pytest.raises(AssertionError):
        learn_twice(before, after)


def leaky_sigma(table, clique, sigma, noise, sensitivity):
    counts = marginal_counts(table, clique)
    return noise.add_discrete_gaussian(counts, sigma * (1.0 + 0.1 * counts.ravel()[0]))


def leaky_counts(table, clique, sigma, noise, sensitivity):
    return noise.add_discrete_gaussian(2 * marginal_counts(table, clique), sigma)


def leaky_rounds(table, clique, sigma, noise, sensitivity):
    counts = marginal_counts(table, clique)
    for _ in range(1 + int(counts.ravel()[-1] > 0)):
        noisy = noise.add_discrete_gaussian(counts, sigma)
    return noisy


@pytest.mark.parametrize(
    ("leak", "sign"),
    [
        (leaky_sigma, AssertionError),
        (leaky_counts, AssertionError),
        (leaky_rounds, (AssertionError, ValueError, StopIteration)),
    ],
)
def test_planted_leaks_are_seen(monkeypatch, leak, sign):
    before, after = neighbours(0)
    plan = design(
        Brief(
            SCHEMA,
            Task(target="y"),
            Budget(),
            before.n,
            dag=DAG,
            synthesis=Synthesis(model="naive_bayes", rows=20),
        )
    )
    compare(plan, before, after)
    monkeypatch.setattr("prism_core.synthesis.measure.noisy_marginal", leak)
    with pytest.raises(sign):  # a mechanism more or less puts the tape out of step
        compare(plan, before, after)
