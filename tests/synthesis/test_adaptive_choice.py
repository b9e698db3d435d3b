"""The choice in an adaptive round: its scores, and the bounds of what may be picked."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace

import numpy as np
import pytest

from prism_core.data.counts import marginal_counts
from prism_core.data.encoding import EncodedTable
from prism_core.errors import PrivacyError
from prism_core.planning import adaptive_rounds
from prism_core.planning.adaptive_rounds import Pick
from prism_core.planning.choices import with_adaptive
from prism_core.planning.design import with_features
from prism_core.planning.tree.junction_tree import forecast
from prism_core.privacy.noise import SeededNoise
from prism_core.privacy.scores import model_error
from prism_core.structure.dag import Dag
from prism_core.synthesis.measure import Measurement, measure
from prism_core.synthesis.pgm import fit_pgm
from prism_core.synthesis.select import AdaptiveChooser
from prism_core.synthesis.select.adaptive import watched
from tests.support.adaptive_plans import plan_for
from tests.support.exclusive_or import N, domain, table
from tests.support.interaction_graphs import interaction_graph
from tests.support.noise import Best

pytestmark = pytest.mark.privacy


# --- the bound and the regime guard ----------------------------------------------------------


@pytest.mark.parametrize("regime", ["causal", "graphical", "predictive"])
def test_whatever_is_picked_keeps_the_target_apart_and_within_the_forecast(regime):
    rnd = random.Random(regime)
    grew = 0
    for _ in range(40):
        names = [f"c{i}" for i in range(rnd.randint(4, 9))]
        schema = domain(**{name: rnd.choice([2, 3, 5, 12, 30]) for name in names}, y=2)
        s = rnd.sample(names, rnd.randint(2, len(names)))
        dag = Dag(nodes=schema.names, edges=tuple((name, "y") for name in s))
        wish = {"regime": regime, "k": len(s), "max_three_way": rnd.randint(1, 30)}
        first = plan_for(schema=schema, dag=dag, task=wish, n=10**6)
        plan = with_features(first, s) if regime == "predictive" else first
        assert first.three_way is not None
        rows = EncodedTable(
            schema=schema, codes=np.zeros((4, len(schema.names)), dtype=np.int32), public=True
        )
        chooser = AdaptiveChooser(rows, plan, Anything(rnd))
        while chooser.left:
            chooser.pick(Still() if rnd.random() < 0.3 else Moving(rnd))
        final = with_adaptive(plan, chooser.picks)
        picked = [pick.clique for pick in chooser.picks]
        size = forecast(plan.sizes, final.cliques, last=("y",))
        known = forecast(plan.sizes, plan.cliques, last=("y",))
        assert size.cells <= known.cells + adaptive_rounds.GROWTH_CELLS
        assert size.cells <= first.forecast.cells
        assert size.largest_clique <= first.forecast.largest_clique
        graph = interaction_graph(schema.names, final.cliques)
        assert set(graph.neighbors("y")) == set(s)
        assert all(set(clique) <= {*s, "y"} for clique in picked)
        grew += size.cells > known.cells
    assert grew > 10


class Anything:
    """Picks at random, seldom nothing."""

    secure = False

    def __init__(self, rnd: random.Random) -> None:
        self.rnd = rnd

    def exponential_choice(self, scores, epsilon, sensitivity):
        return self.rnd.randrange(len(scores) - (self.rnd.random() < 0.9))


class Still:
    """A model that no measurement moves."""

    def marginal(self, clique):
        return np.zeros(())


class Moving:
    """A model that every measurement moves by far."""

    def __init__(self, rnd: random.Random) -> None:
        self.rnd = rnd

    def marginal(self, clique):
        return np.array(self.rnd.uniform(-1e12, 1e12))


# --- the choice ------------------------------------------------------------------------------


def test_the_score_is_the_error_of_the_model_less_the_noise_and_stopping_is_zero():
    rows, plan, noise = table(), plan_for(), Best(99)
    model = fit_pgm(plan.sizes, "y", N, measure(rows, plan.queries, noise))
    chooser = AdaptiveChooser(rows, plan, noise)
    assert chooser.pick(model) == ("a", "b", "y")
    three = plan.three_way
    penalty = math.sqrt(2 / math.pi) * three.sigma
    wanted = [
        model_error(counts, model.marginal(clique)) - penalty * counts.size
        for clique in three.candidates
        for counts in [marginal_counts(rows, clique)]
    ]
    scores, epsilon, sensitivity = noise.choices[0]
    assert scores == pytest.approx([*wanted, 0.0])
    assert (epsilon, sensitivity) == (pytest.approx(three.event.epsilon), 2.0)
    assert epsilon <= three.event.epsilon
    chooser.pick(model)
    assert len(noise.choices[1][0]) == len(scores) - 1  # not the same again
    assert three.event.count == three.rounds
    chooser.left, chooser.picks = 9, [Pick(clique=clique, parts=1) for clique in three.candidates]
    assert chooser.pick(model) is None  # no candidate is left: no mechanism runs
    assert (chooser.left, len(noise.choices)) == (0, 2)


def test_weights_of_features_weigh_the_scores_and_their_sensitivity():
    rows, noise, plain = table(), Best(99), Best(99)
    plan = plan_for(task={"weights": {"a": 3.0, "b": 0.5}})
    model = fit_pgm(plan.sizes, "y", N, measure(rows, plan.queries, noise))
    AdaptiveChooser(rows, plan, noise).pick(model)
    AdaptiveChooser(rows, replace(plan, task=plan_for().task), plain).pick(model)
    weights = {("a", "b"): 1.75, ("a", "c"): 2.0, ("b", "c"): 0.75}
    wanted = [
        weights[clique[:2]] * score
        for clique, score in zip(plan.three_way.candidates, plain.choices[0][0][:-1], strict=True)
    ]
    assert noise.choices[0][0] == pytest.approx([*wanted, 0.0])
    assert noise.choices[0][2] == plan.three_way.sensitivity == 4.0
    # One row moves the counts by 2, times the largest weight of two features together.


class Recorded(Best):
    """Finds something in the rounds that are told, nothing in the others."""

    def __init__(self, found: str) -> None:
        super().__init__(99)
        self.found = found

    def exponential_choice(self, scores, epsilon, sensitivity):
        index = super().exponential_choice(scores, epsilon, sensitivity)
        return index if self.found[len(self.choices) - 1] == "x" else len(scores) - 1


@pytest.mark.parametrize(
    ("found", "moves", "widths"),
    [
        ("xxxxxx", "mmmmmm", (1, 1, 1, 1, 1, 1)),
        ("xxx", "sss", (1, 2, 3)),
        ("xxxx", "mmss", (1, 1, 1, 3)),
        ("---", "mmm", (1, 2, 3)),
        ("xx-x", "mmmm", (1, 1, 1, 3)),
        ("x-x", "sss", (1, 2, 3)),
    ],
)
def test_a_round_takes_twice_the_parts_once_nothing_was_found(found, moves, widths):
    """`moves`: whether the measurement before moved the model by more than its noise."""
    noise, plan = Recorded(found), plan_for()
    chooser = AdaptiveChooser(table(), plan, noise)
    models = {"m": Moving(random.Random(1)), "s": Still()}
    before = chooser.left
    taken = []
    for move in moves:
        chooser.pick(models[move])
        taken.append(before - chooser.left)
        before = chooser.left
    assert tuple(taken) == widths
    assert chooser.left == 0
    epsilon = plan.three_way.event.epsilon
    asked = [choice[1] for choice in noise.choices]
    assert asked == pytest.approx([epsilon * math.sqrt(width) for width in widths])
    assert sum(e**2 / 8 for e in asked) <= plan.three_way.event.rho
    with_adaptive(plan, chooser.picks)


def test_of_a_large_s_those_features_are_watched_that_tell_most():
    names = [f"c{i:02}" for i in range(60)]
    schema = domain(**dict.fromkeys(names, 2), y=2)
    dag = Dag(nodes=schema.names, edges=tuple((name, "y") for name in names))
    plan = plan_for(schema=schema, dag=dag, n=10**7)
    counts = {True: np.array([[90, 10], [10, 90]]), False: np.array([[50, 50], [50, 50]])}
    told = set(names[:3] + names[17:])  # 46 of them, one too many
    measured = [
        Measurement(clique=query.clique, values=counts[query.clique[0] in told], sigma=1.0)
        for query in plan.queries
    ]
    kept = watched(plan, measured)
    assert len(kept.pairs.names) == adaptive_rounds.WATCHED
    assert set(kept.pairs.names) < told
    assert set(kept) < set(plan.three_way.candidates)
    assert len(plan.three_way.candidates) == len(set(plan.three_way.candidates)) == 60 * 59
    few = plan_for()
    assert watched(few, []) is few.three_way.candidates


def test_known_noise_on_private_rows_is_refused_before_a_row_is_read():
    with pytest.raises(PrivacyError, match="Seeded noise"):
        AdaptiveChooser(table(), plan_for(), SeededNoise(np.random.default_rng(0)))


def test_a_clique_that_would_outgrow_the_limit_is_not_open():
    names = [f"c{i}" for i in range(6)]
    schema = domain(**dict.fromkeys(names, 19), y=2)
    dag = Dag(nodes=schema.names, edges=tuple((name, "y") for name in names))
    plan = plan_for(schema=schema, dag=dag, n=10**6)
    rows = EncodedTable(schema=schema, codes=np.zeros((2, 7), dtype=np.int32))
    chooser = AdaptiveChooser(rows, plan, Best(99))
    ring = list(itertools.combinations(names[:4], 2))[:5]  # all but the last edge of four columns
    chooser.picks = [Pick(clique=clique, parts=1) for clique in ring]
    assert ("c2", "c3") not in chooser._open()
    assert ("c0", "c1", "y") in chooser._open()
    assert ("c4", "c5") in chooser._open()


def test_the_largest_clique_holds_as_forecast_where_one_takes_in_all_known_ones():
    schema = domain(a=37, b=51, c=53, y=2)
    dag = Dag(nodes=schema.names, edges=tuple((name, "y") for name in "abc"))
    plan = plan_for(schema=schema, dag=dag, n=10**6)
    rows = EncodedTable(schema=schema, codes=np.zeros((2, 4), dtype=np.int32))
    chooser = AdaptiveChooser(rows, plan, Best(99))
    for edge in itertools.combinations("abc", 2):
        assert edge in chooser._open()
        chooser.picks.append(Pick(clique=edge, parts=1))
    final = with_adaptive(plan, chooser.picks).forecast
    assert final.largest_clique > adaptive_rounds.GROWTH_CELLS
    assert final.largest_clique <= plan.forecast.largest_clique
    assert final.cells <= plan.forecast.cells
