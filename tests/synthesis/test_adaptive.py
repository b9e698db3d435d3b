"""The adaptive rounds: planned, picked, paid, and made again from what was picked."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError, PlanError
from prism_core.explain.plan_lines import lines
from prism_core.planning import adaptive_rounds
from prism_core.planning.adaptive_rounds import Pick
from prism_core.planning.brief import Brief
from prism_core.planning.choices import Choices, replay, with_adaptive
from prism_core.planning.design import design
from prism_core.planning.pools import FOREST_LIMIT
from prism_core.planning.queries import expected_relative_error
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.task import Budget, Shares, Synthesis, Task
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.noise import SeededNoise
from prism_core.privacy.scores import conditional_information
from prism_core.synthesis import release
from prism_core.synthesis.engine import variable_elimination
from tests.support.adaptive_plans import plan_for
from tests.support.exclusive_or import N, domain, table
from tests.support.noise import Best

pytestmark = pytest.mark.privacy


# --- the plan --------------------------------------------------------------------------------


def test_the_task_pool_pays_for_pairs_rounds_and_their_choice():
    plan = plan_for()
    three = plan.three_way
    pool = 0.80  # with the unused pools for selection and choice
    rounds = pool * adaptive_rounds.ROUNDS_SHARE
    assert three.choice_share == pytest.approx(rounds * adaptive_rounds.CHOICE_SHARE)
    assert three.measure_share == pytest.approx(rounds * (1 - adaptive_rounds.CHOICE_SHARE))
    paid = {"task": 0.0, "background": 0.0}
    for line in lines(plan):
        paid[line.pool] += line.share
    assert paid == pytest.approx({"task": 0.80, "background": 0.20})
    assert tuple(three.candidates) == tuple(
        clique
        for pair, triple in (
            (("a", "b"), ("a", "b", "y")),
            (("a", "c"), ("a", "c", "y")),
            (("b", "c"), ("b", "c", "y")),
        )
        for clique in (pair, triple)
    )
    assert three.rounds == 6
    assert three.sensitivity == 2.0
    entry = plan.to_dict()["deferred"][0]
    assert (entry["name"], entry["rule"]) == ("adaptive marginals", "adaptive")
    others = [plan_for(task={"three_way": rule}).hash for rule in ("none", "cmi", "model_error")]
    assert plan.hash not in others


def test_no_round_where_the_noise_outweighs_the_gain():
    """Data-free: with less budget or fewer rows there are fewer rounds, and at last none."""
    found = [
        0 if plan.three_way is None else plan.three_way.rounds
        for plan in (plan_for(epsilon=epsilon) for epsilon in (8.0, 3.0, 2.0, 0.1))
    ]
    assert found == sorted(found, reverse=True)
    assert found[0] == 6
    assert found[-1] == 0
    assert plan_for(epsilon=1.0, n=200_000).three_way.rounds == 6
    plain, none = plan_for(epsilon=0.1), plan_for(epsilon=0.1, task={"three_way": "none"})
    assert plain.cliques == none.cliques
    assert plain.tree.joined == ("a", "b", "c")  # nor are pairs within S worth their noise
    assert (plain.tree.rounds, none.tree.rounds) == (1, 3)
    for plan in (plan_for(epsilon=e) for e in (1.5, 2.0, 3.0, 8.0)):
        three = plan.three_way
        if three is not None and three.bar is None:  # ties have a score of their own
            error = three.cells * three.sigma * math.sqrt(2 / math.pi) / N
            assert error <= adaptive_rounds.FIRST_NOISE_LIMIT
            least = math.sqrt(min(adaptive_rounds.LEAST_ROUNDS, three.rounds) / three.rounds)
            assert error * least <= adaptive_rounds.NOISE_LIMIT


def test_where_no_round_fits_small_pairs_within_s_may_still_tie_its_features():
    """Y has 60 levels: 3-way marginals drown, pairs of features do not; no ties of 60."""
    schema = domain(y=60, a=4, b=4, c=4, d=4)
    task = Task(target="y", regime="predictive", three_way="auto", max_joint_cells=0, k=4)
    plan = design(Brief(schema, task, Budget(epsilon=4.0), 20_000))
    assert plan.three_way is None
    assert (plan.tree.joined, plan.tree.rounds) == ((), 3)
    assert expected_relative_error(plan.tree.cells, plan.tree.sigma, plan.n) <= FOREST_LIMIT
    noisier = design(Brief(schema, task, Budget(epsilon=0.1), 20_000))
    assert noisier.three_way is noisier.tree is None


@pytest.mark.parametrize(("cuts", "tied"), [(tuple(range(1, 16)), True), ((8,), False)])
def test_features_of_a_number_are_tied_whatever_the_noise(cuts, tied):
    """Its scale suffers where correlated features count twice; the order of classes does not."""
    number = Column(name="y", kind="numeric", lower=0, upper=16, edges=cuts, decimals=0)
    schema = Schema(columns=(number, *domain(a=4, b=4, c=4).columns), one_row_per_person=True)
    task = Task(target="y", regime="predictive", max_joint_cells=0, k=3)
    plan = design(Brief(schema, task, Budget(epsilon=0.05), 2_000))
    assert plan.three_way is None
    assert (plan.tree is not None) is tied


def test_left_to_the_plan_there_are_rounds_where_they_fit_and_no_complaint_where_not():
    auto = {"three_way": "auto"}
    assert plan_for(task=auto).three_way == plan_for().three_way
    assert plan_for(epsilon=0.1, task=auto).warnings == ()
    assert plan_for(epsilon=0.1).warnings != ()
    for other in ({"synthesis": Synthesis(model="naive_bayes")}, {"accountant": "basic"}):
        plan = plan_for(task=auto, **other)
        assert (plan.three_way, plan.warnings) == (None, ())
        assert plan.queries == plan_for(task={"three_way": "none"}, **other).queries
    lock = Lock(columns=("a", "y"), share=0.3)
    assert plan_for(task=auto, locks=(lock,)).three_way is None
    assert plan_for(task=auto, locks=(Lock(columns=("d",), share=0.05),)).three_way is not None


def test_what_cannot_be_planned_is_refused():
    with pytest.raises(PlanError, match="graphical model") as caught:
        plan_for(synthesis=Synthesis(model="naive_bayes"))
    assert caught.value.field == "three_way"
    with pytest.raises(BudgetError, match="accounted for under zcdp") as refused:
        plan_for(accountant="basic")
    assert refused.value.field == "accountant"
    plan_for(shares=Shares(selection=0.1, choice=0.0, task=0.7, background=0.2))  # unlike cmi


@pytest.mark.parametrize(
    "cliques",
    [
        (("a", "b"), ("a", "b")),
        (("a", "d"),),
        (("a", "y"),),
        (("a", "d", "y"),),
        (("b", "a"),),
        (
            ("a", "b"),
            ("a", "c"),
            ("b", "c"),
            ("a", "b", "y"),
            ("a", "c", "y"),
            ("b", "c", "y"),
            ("a", "b"),
        ),
    ],
)
def test_other_marginals_than_candidates_are_refused(cliques):
    plan = plan_for()
    picks = tuple(Pick(clique=clique, parts=1) for clique in cliques)
    with pytest.raises(PlanError, match="daptive marginal"):
        with_adaptive(plan, picks)
    with pytest.raises(PlanError, match="daptive marginal"):
        replay(plan.brief, Choices(s=plan.s, picks=picks))
    none = plan_for(task={"three_way": "none"})
    with pytest.raises(PlanError, match="no adaptive marginals"):
        with_adaptive(none, picks)
    with pytest.raises(PlanError, match="no adaptive marginals"):
        replay(none.brief, Choices(s=none.s, picks=picks))


def picks_of(plan, parts):
    cliques = plan.three_way.candidates[: len(parts)]
    return [Pick(clique=c, parts=p) for c, p in zip(cliques, parts, strict=True)]


@pytest.mark.parametrize("parts", [(7,), (4, 3), (0,), (-1, 3), (True,), (1.0,)])
def test_more_parts_than_planned_are_refused(parts):
    plan = plan_for()
    picks = picks_of(plan, parts)
    with pytest.raises(PlanError, match="more than planned"):
        with_adaptive(plan, picks)


@pytest.mark.parametrize("parts", [(), (1,), (1, 2), (1, 1, 4), (6,), (1,) * 6])
def test_the_same_is_spent_whatever_the_rounds_measure(parts):
    plan = plan_for()
    picks = picks_of(plan, parts)
    final = with_adaptive(plan, picks)
    assert len(final.unused) == 6 - sum(parts)
    picked = sum(parts)
    for query, part in zip(final.queries[-len(parts) :], parts, strict=False):
        assert query.sigma == pytest.approx(plan.three_way.sigma / math.sqrt(part))
    assert final.spent.rho == pytest.approx(plan.spent.rho, rel=1e-12)
    assert final.spent.epsilon <= plan.budget.epsilon
    assert final.spent.rho <= plan.total
    before, after = (sum(line.share for line in lines(p)) for p in (plan, final))
    assert after == pytest.approx(before - plan.three_way.choice_share)
    shown = [line.label for line in lines(final) if "not needed" in line.label]
    assert len(shown) == (picked < 6)


# --- a run -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("most", "picked"), [(5, set()), (9, {("a", "b"), ("a", "b", "y")})])
def test_a_candidate_that_the_model_cannot_spell_out_does_not_stop_a_charged_run(
    tmp_path, monkeypatch, most, picked
):
    """Two columns of thousands of levels, each beside a small one, need too large a table."""
    monkeypatch.setattr(variable_elimination, "MAX_CELLS", most)
    ledger = Ledger(tmp_path)
    ledger.register("ward", epsilon=20.0, delta=1e-5)
    plan = plan_for(synthesis=Synthesis(rows=30))
    made = release.release(
        plan, table(), ledger=ledger, asset="ward", noise=Best(99), rng=np.random.default_rng(2)
    )
    assert {query.clique for query in made.plan.queries if query.kind == "adaptive"} == picked
    assert len(made.plan.unused) == plan.three_way.rounds - len(picked)
    assert ledger.charges()[0].state == "done"


@pytest.mark.parametrize("stop_after", [0, 1, 99])
def test_a_run_measures_what_was_picked_within_its_charge(tmp_path, stop_after):
    ledger = Ledger(tmp_path)
    ledger.register("ward", epsilon=20.0, delta=1e-5)
    noise = Best(stop_after)
    plan = plan_for(synthesis=Synthesis(rows=30))
    made = release.release(
        plan, table(), ledger=ledger, asset="ward", noise=noise, rng=np.random.default_rng(2)
    )
    kinds = [query.kind for query in made.plan.queries]
    picked = kinds.count("adaptive")
    assert picked <= min(stop_after, 6)
    assert bool(picked) == bool(stop_after)
    assert kinds == ["pair"] * 3 + ["one-way"] + ["adaptive"] * picked + ["tree"]
    assert [m.clique for m in made.measurements] == list(made.plan.cliques)
    assert [m.sigma for m in made.measurements] == [q.sigma for q in made.plan.queries]
    assert made.plan.spent.rho <= ledger.charges()[0].rho
    assert made.plan.spent.rho == pytest.approx(plan.spent.rho, rel=1e-12)
    if picked:
        assert made.plan.queries[4].clique == ("a", "b", "y")
    stages = replay(made.plan.brief, Choices.of(made.plan))
    assert stages.final.hash == made.plan.hash
    assert stages.planned.hash == plan.hash


def test_in_the_fitted_model_s_separates_the_target():
    """Numerically: I(Y; d | S) is 0 to solver precision, and the exclusive or is learned."""
    made = release.release(
        plan_for(epsilon=20.0, synthesis=Synthesis(rows=30)),
        table(),
        ledger=None,
        noise=Best(99),
        rng=np.random.default_rng(2),
    )
    joint = made.model.marginal(("a", "b", "c", "d", "y"))
    flat = joint.reshape(-1, *joint.shape[3:])
    assert conditional_information(np.moveaxis(flat, 0, -1)) == pytest.approx(0.0, abs=1e-9)
    told = made.model.marginal(("a", "b", "y"))
    assert told[0, 0, 1] + told[1, 1, 1] + told[0, 1, 0] + told[1, 0, 0] < 0.05 * N


def test_a_seeded_rehearsal_is_the_same_twice():
    rows = replace(table(), public=True)
    runs = [
        release.release(
            plan_for(synthesis=Synthesis(rows=30)),
            rows,
            ledger=None,
            noise=SeededNoise(np.random.default_rng(3)),
            rng=np.random.default_rng(4),
        )
        for _ in range(2)
    ]
    assert runs[0].plan.hash == runs[1].plan.hash
    assert (runs[0].codes == runs[1].codes).all()
