"""3-way marginals within S: planned, chosen, paid and bounded."""

from __future__ import annotations

import itertools
import math
import random

import networkx as nx
import numpy as np
import pytest

from prism_core.data.counts import marginal_counts
from prism_core.errors import BudgetError, PlanError, PrivacyError
from prism_core.explain.plan_lines import lines
from prism_core.planning.brief import Brief
from prism_core.planning.candidates import MAX_CLIQUE_CELLS
from prism_core.planning.choices import with_forest, with_three_way
from prism_core.planning.design import design, with_features
from prism_core.planning.wishes.task import Budget, Shares, Synthesis, Task
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.noise import SeededNoise
from prism_core.privacy.scores import (
    conditional_information,
    conditional_information_sensitivity,
    model_error,
)
from prism_core.structure.dag import Dag
from prism_core.synthesis import release
from prism_core.synthesis.measure import measure
from prism_core.synthesis.naive_bayes import fit_naive_bayes
from prism_core.synthesis.select import choose_three_way
from tests.support.exclusive_or import DAG, SCHEMA, N, domain, table
from tests.support.interaction_graphs import interaction_graph
from tests.support.noise import Best

pytestmark = pytest.mark.privacy

RULES = ["cmi", "model_error"]


def plan_for(rule="cmi", *, schema=SCHEMA, dag=DAG, synthesis=None, n=N, task=None, **budget):
    wish = {"target": "y", "three_way": rule, "max_joint_cells": 0, **(task or {})}
    return design(
        Brief(
            schema, Task(**wish), Budget(**budget), n, dag=dag, synthesis=synthesis or Synthesis()
        )
    )


def shares(plan) -> dict[str, float]:
    found: dict[str, float] = {}
    for line in lines(plan):
        found[line.pool] = found.get(line.pool, 0.0) + line.share
    return found


# --- the plan --------------------------------------------------------------------------------


def test_the_choice_pool_pays_for_choosing_and_goes_to_task_when_unused():
    plan = plan_for()
    assert shares(plan) == pytest.approx({"choice": 0.05, "task": 0.75, "background": 0.20})
    assert shares(plan_for("none")) == pytest.approx({"task": 0.80, "background": 0.20})
    assert plan.three_way.rounds == 2  # a forest over three features
    assert plan.three_way.candidates == (("a", "b"), ("a", "c"), ("b", "c"))
    assert plan.tree.rounds == 1  # the same forest goes on to d
    entry = plan.to_dict()["deferred"][0]
    assert (entry["name"], entry["rule"], entry["rounds"]) == ("3-way marginals", "cmi", 2)
    assert plan.hash != plan_for("none").hash
    assert plan.hash != plan_for("model_error").hash


@pytest.mark.parametrize(
    ("rule", "sensitivity"), [("cmi", conditional_information_sensitivity(N)), ("model_error", 2.0)]
)
def test_the_score_has_its_own_sensitivity(rule, sensitivity):
    plan = plan_for(rule)
    assert plan.three_way.sensitivity == sensitivity
    assert plan.three_way_event in plan.events
    assert plan.three_way_event.count == 2


@pytest.mark.parametrize("accountant", ["zcdp", "basic"])
@pytest.mark.parametrize("regime", ["causal", "graphical", "predictive"])
def test_the_total_is_kept_to_the_last_choice(accountant, regime):
    plan = plan_for(task={"regime": regime, "k": 3}, accountant=accountant)
    found = [plan]
    if regime == "predictive":
        found.append(with_features(plan, ["a", "c", "d"]))
    rnd = random.Random(1)
    found += resolved(rnd, found[-1])
    assert found[-1].three_way is found[-1].tree is None
    for step in found:
        assert step.total == plan.total
        assert step.spent.epsilon <= plan.budget.epsilon
        assert step.spent.epsilon == pytest.approx(plan.budget.epsilon, rel=1e-6)
        assert step.spent.delta <= plan.delta
        amount = step.spent.rho if accountant == "zcdp" else step.spent.epsilon
        assert amount <= plan.total


def test_no_more_than_asked_for_and_none_where_the_joint_is_measured():
    assert plan_for(task={"max_three_way": 1}).three_way.rounds == 1
    assert plan_for(task={"max_three_way": 1}).tree.rounds == 2
    small = domain(a=2, b=2, y=2, d=2)
    dag = Dag(nodes=small.names, edges=(("a", "y"), ("b", "y")))
    joint = plan_for(schema=small, dag=dag, task={"max_joint_cells": 5_000})
    assert joint.queries[0].kind == "joint"
    assert joint.three_way is None
    assert shares(joint)["task"] == pytest.approx(0.80)
    one = plan_for(schema=small, dag=Dag(nodes=small.names, edges=(("a", "y"),)))
    assert one.three_way is None  # no pair of features in S


def test_what_cannot_be_planned_is_refused():
    with pytest.raises(PlanError, match="graphical model") as caught:
        plan_for(synthesis=Synthesis(model="naive_bayes"))
    assert caught.value.field == "three_way"
    none_left = Shares(selection=0.10, choice=0.0, task=0.70, background=0.20)
    with pytest.raises(BudgetError, match="choice share above 0"):
        plan_for(shares=none_left)
    plan_for("none", shares=none_left)


@pytest.mark.parametrize(
    "pairs",
    [
        (),
        (("a", "b"),),
        (("a", "b"), ("a", "b")),
        (("a", "b"), ("a", "d")),
        (("a", "b"), ("a", "c"), ("b", "c")),
    ],
)
def test_another_choice_than_planned_is_refused(pairs):
    with pytest.raises(PlanError, match="3-way marginals"):
        with_three_way(plan_for(), pairs)
    with pytest.raises(PlanError, match="3-way marginals"):
        with_three_way(plan_for("none"), pairs)


# --- the bound and the regime guard ----------------------------------------------------------


def resolved(rnd: random.Random, plan) -> list:
    """The plan after every choice that the rows could lead to, taken at random."""
    found = []
    if plan.three_way is not None:
        pairs = spanning(rnd, plan.s, plan.three_way.candidates, plan.three_way.rounds, ())
        plan = with_three_way(plan, pairs)
        found.append(plan)
    if plan.tree is not None:
        names = [name for name in plan.schema.names if name != plan.task.target]
        ties = (*plan.tree.tied, *itertools.pairwise(plan.tree.joined))
        plan = with_forest(plan, spanning(rnd, names, plan.tree.candidates, plan.tree.rounds, ties))
        found.append(plan)
    return found


def spanning(rnd, names, candidates, rounds, ties):
    joined = nx.utils.UnionFind(names)
    for pair in ties:
        joined.union(*pair)
    chosen = []
    for _ in range(rounds):
        chosen.append(rnd.choice([p for p in candidates if joined[p[0]] != joined[p[1]]]))
        joined.union(*chosen[-1])
    return tuple(chosen)


@pytest.mark.parametrize("regime", ["causal", "graphical", "predictive"])
def test_whatever_is_chosen_fits_the_forecast_and_keeps_the_target_apart(regime):
    """Whatever the rows hold: S separates Y, and the first forecast is an upper bound."""
    rnd = random.Random(regime)
    seen = 0
    for _ in range(60):
        names = [f"c{i}" for i in range(rnd.randint(4, 9))]
        schema = domain(**{name: rnd.choice([2, 3, 5, 20, 150]) for name in names}, y=2)
        s = rnd.sample(names, rnd.randint(2, len(names)))
        dag = Dag(nodes=schema.names, edges=tuple((name, "y") for name in s))
        wish = {"regime": regime, "k": len(s), "max_three_way": rnd.randint(1, 6)}
        first = plan_for(rnd.choice(RULES), schema=schema, dag=dag, task=wish)
        plan = with_features(first, s) if regime == "predictive" else first
        last = resolved(rnd, plan)[-1]
        assert last.forecast.largest_clique <= first.forecast.largest_clique <= MAX_CLIQUE_CELLS
        assert last.forecast.cells <= first.forecast.cells
        graph = interaction_graph(schema.names, last.cliques)
        assert set(graph.neighbors("y")) == set(s)
        triples = [query for query in last.queries if query.kind == "three-way"]
        assert len(triples) == min(wish["max_three_way"], len(s) - 1)
        assert all(set(query.clique) <= {*s, "y"} and query.pool == "task" for query in triples)
        graph.remove_node("y")
        assert nx.is_forest(graph)  # treewidth 2 with the target on top
        assert nx.is_connected(graph)
        graph.remove_nodes_from(s)
        seen += 1
    assert seen == 60


def test_a_marginal_too_large_for_a_clique_never_becomes_a_candidate():
    schema = domain(a=900, b=900, c=3, y=2, d=2)
    plan = plan_for(schema=schema)
    assert plan.three_way.candidates == (("a", "c"), ("b", "c"))
    assert plan.three_way.rounds == 2
    wide = domain(a=900, b=900, y=2, d=2)
    dag = Dag(nodes=wide.names, edges=(("a", "y"), ("b", "y")))
    assert plan_for(schema=wide, dag=dag).three_way is None


# --- the choice ------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_the_marginal_that_the_pairs_miss_is_taken_first(rule):
    rows, plan, noise = table(), plan_for(rule, epsilon=8.0), Best()
    model = fit_naive_bayes(plan.sizes, "y", N, measure(rows, plan.queries, noise))
    pairs = choose_three_way(rows, plan, model, noise)
    assert pairs[0] == ("a", "b")
    assert len(pairs) == 2
    assert nx.is_forest(nx.Graph(list(pairs)))
    three = plan.three_way
    assert [(e, u) for _, e, u in noise.choices] == [(three.event.epsilon, three.sensitivity)] * 2
    counts = [marginal_counts(rows, (*pair, "y")) for pair in three.candidates]
    if rule == "cmi":
        expected = [conditional_information(found) for found in counts]
    else:
        penalty = math.sqrt(2 / math.pi) * three.sigma
        expected = [
            model_error(found, model.marginal((*pair, "y"))) - penalty * found.size
            for pair, found in zip(three.candidates, counts, strict=True)
        ]
    assert noise.choices[0][0] == pytest.approx(expected)
    assert [len(scores) for scores, _, _ in noise.choices] == [3, 2]


def test_no_choice_costs_nothing_and_known_noise_is_refused():
    plan = plan_for("none")
    assert choose_three_way(table(), plan, None, Best()) == ()  # type: ignore[arg-type]
    with pytest.raises(PrivacyError, match="Seeded noise"):
        choose_three_way(table(), plan_for(), None, SeededNoise(np.random.default_rng(0)))  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", RULES)
def test_a_run_measures_what_was_chosen_within_its_charge(tmp_path, monkeypatch, rule):
    fitted = []

    def fit(sizes, target, n, measurements, **_):
        fitted.extend(measurements)
        return fit_naive_bayes(sizes, target, n, [m for m in measurements if len(m.clique) < 3])

    monkeypatch.setattr(release, "fit_pgm", fit)
    ledger = Ledger(tmp_path)
    ledger.register("ward", epsilon=20.0, delta=1e-5)
    made = release.release(
        plan_for(rule, epsilon=8.0, synthesis=Synthesis(rows=30, pairs="measured")),
        table(),
        ledger=ledger,
        asset="ward",
        noise=Best(),
        rng=np.random.default_rng(2),
    )
    kinds = [query.kind for query in made.plan.queries]
    assert kinds == ["pair"] * 3 + ["one-way"] + ["three-way"] * 2 + ["tree"]
    assert [m.clique for m in fitted] == [m.clique for m in made.measurements]
    assert [m.clique for m in made.measurements] == list(made.plan.cliques)
    assert [m.sigma for m in made.measurements] == [q.sigma for q in made.plan.queries]
    assert ("a", "b", "y") in made.plan.cliques
    assert made.plan.spent.rho <= ledger.charges()[0].rho


@pytest.mark.slow
def test_in_the_fitted_model_s_separates_the_target():
    """Numerically: I(Y; d | S) is 0 to solver precision, and the exclusive or is learned."""
    made = release.release(
        plan_for(epsilon=20.0, synthesis=Synthesis(rows=30, iterations=500)),
        table(),
        ledger=None,
        noise=Best(),
        rng=np.random.default_rng(2),
    )
    joint = made.model.marginal(("a", "b", "c", "d", "y"))
    flat = joint.reshape(-1, *joint.shape[3:])
    assert conditional_information(np.moveaxis(flat, 0, -1)) == pytest.approx(0.0, abs=1e-9)
    told = made.model.marginal(("a", "b", "y"))
    assert told[0, 0, 1] + told[1, 1, 1] + told[0, 1, 0] + told[1, 0, 0] < 0.05 * N
