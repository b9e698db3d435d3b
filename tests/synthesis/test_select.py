"""Private choices: what is asked of the mechanism, and what comes back."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import networkx as nx
import numpy as np
import pytest

from prism_core.data.counts import marginal_counts
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import PrivacyError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design, with_features
from prism_core.planning.wishes.task import Budget, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.privacy.scores import (
    association,
    model_error,
    mutual_information,
    mutual_information_sensitivity,
)
from prism_core.synthesis.measure import measure
from prism_core.synthesis.naive_bayes import fit_naive_bayes
from prism_core.synthesis.select import choose_features, choose_forest
from prism_core.synthesis.select.features import net_association
from tests.support.noise import Best

pytestmark = pytest.mark.privacy

SIZES = {"a": 2, "b": 3, "y": 2, "c": 4, "d": 2}
SCHEMA = Schema(
    columns=tuple(
        Column(name=name, kind="categorical", levels=tuple(range(size)))
        for name, size in SIZES.items()
    ),
    one_row_per_person=True,
)


def rows(n: int = 400) -> EncodedTable:
    """b tells y, c tells d, a tells nothing."""
    rng = np.random.default_rng(11)
    b, c = rng.integers(0, 3, n), rng.integers(0, 4, n)
    codes = np.column_stack([rng.integers(0, 2, n), b, b > 0, c, c > 1])
    return EncodedTable(schema=SCHEMA, codes=codes)


TABLE = rows()
PREDICTIVE = design(
    Brief(
        SCHEMA,
        Task(target="y", regime="predictive", k=3, max_joint_cells=0, three_way="none"),
        Budget(),
        TABLE.n,
    )
)


def test_features_are_chosen_without_replacement_by_association():
    noise = Best()
    chosen = choose_features(TABLE, PREDICTIVE, noise)
    assert len(chosen) == 3
    assert "b" in chosen
    assert chosen == SCHEMA.canonical(chosen)
    assert [len(scores) for scores, _, _ in noise.choices] == [4, 3, 2]
    assert {epsilon for _, epsilon, _ in noise.choices} == {PREDICTIVE.selection.event.epsilon}
    assert {sensitivity for _, _, sensitivity in noise.choices} == {3 / TABLE.n}
    scores = [net_association(marginal_counts(TABLE, (name, "y")), TABLE.n) for name in "abcd"]
    assert noise.choices[0][0] == pytest.approx(scores)


def test_levels_count_against_a_feature():
    """Of 60 levels that say nothing, chance makes more than of two that say a little."""
    rng, n = np.random.default_rng(5), 2_000
    y = rng.integers(0, 2, n)
    weak = np.where(rng.random(n) < 0.08, y, rng.integers(0, 2, n))
    schema = Schema(
        columns=tuple(
            Column(name=name, kind="categorical", levels=tuple(range(size)))
            for name, size in {"weak": 2, "wide": 60, "y": 2}.items()
        ),
        one_row_per_person=True,
    )
    codes = np.column_stack([weak, rng.integers(0, 60, n), y])
    table = EncodedTable(schema=schema, codes=codes)
    plan = design(Brief(schema, Task(target="y", regime="predictive", k=1), Budget(), n))
    raw = [association(marginal_counts(table, (name, "y"))) for name in ("weak", "wide")]
    assert raw[0] < raw[1]
    assert choose_features(table, plan, Best()) == ("weak",)


@pytest.mark.parametrize("rule", ["one_shot", "mutual_information"])
def test_one_shot_asks_once_and_spends_the_same(rule):
    task = Task(target="y", regime="predictive", k=3, max_joint_cells=0, selection=rule)
    plan = design(Brief(SCHEMA, task, Budget(), TABLE.n))
    noise, steps = Best(), []
    chosen = choose_features(TABLE, plan, noise, lambda: steps.append(1))
    assert (len(steps), plan.selection.steps, len(chosen)) == (1, 1, 3)
    assert "b" in chosen
    assert chosen == SCHEMA.canonical(chosen)
    ((scores, epsilon, sensitivity),) = noise.choices
    assert (epsilon, sensitivity) == (plan.selection.event.epsilon, plan.selection.sensitivity)
    assert plan.selection.event == PREDICTIVE.selection.event
    by_information = rule == "mutual_information"
    score = mutual_information if by_information else partial(net_association, n=TABLE.n)
    assert scores == pytest.approx([score(marginal_counts(TABLE, (name, "y"))) for name in "abcd"])


@pytest.mark.parametrize(
    ("sizes", "binary"),
    [
        ({"a": 4, "b": 5, "y": 2}, True),
        ({"a": 2, "b": 2, "y": 5}, True),
        ({"a": 2, "b": 3, "y": 3}, False),
    ],
)
def test_the_sensitivity_of_mutual_information_holds_for_every_candidate(sizes, binary):
    schema = Schema(
        columns=tuple(
            Column(name=name, kind="categorical", levels=tuple(range(size)))
            for name, size in sizes.items()
        ),
        one_row_per_person=True,
    )
    task = Task(target="y", regime="predictive", k=1, selection="mutual_information")
    plan = design(Brief(schema, task, Budget(), 500))
    assert plan.selection.sensitivity == mutual_information_sensitivity(500, binary=binary)
    assert plan.to_dict()["deferred"][0]["rule"] == "mutual_information"


def test_known_features_cost_nothing():
    plan = design(Brief(SCHEMA, Task(target="y", regime="predictive", k=1), Budget(), TABLE.n))
    fixed = with_features(plan, ["a"])
    assert len(choose_features(TABLE, fixed, Best())) == 1
    noise = Best()
    assert choose_features(TABLE, replace(fixed, selection=None), noise) == ("a",)
    assert noise.choices == []


def forest_run(noise: Best):
    plan = with_features(PREDICTIVE, ["a", "b", "d"])
    measurements = measure(TABLE, plan.queries, noise)
    model = fit_naive_bayes(plan.sizes, "y", plan.n, measurements)
    return plan, model, choose_forest(TABLE, plan, model, noise)


def test_the_forest_spans_and_takes_what_the_model_gets_most_wrong():
    noise = Best()
    plan, model, pairs = forest_run(noise)
    assert pairs[0] == ("c", "d")  # the one dependence outside the star
    graph = nx.Graph(pairs)
    assert nx.is_tree(graph)
    assert set(graph) == {"a", "b", "c", "d"}
    assert len(pairs) == plan.tree.rounds
    assert {sensitivity for _, _, sensitivity in noise.choices} == {2.0}
    assert {epsilon for _, epsilon, _ in noise.choices} == {plan.tree.event.epsilon}
    penalty = math.sqrt(2 / math.pi) * plan.tree.sigma
    expected = [
        model_error(marginal_counts(TABLE, pair), model.marginal(pair))
        - penalty * SCHEMA.cells(pair)
        for pair in plan.tree.candidates
    ]
    assert noise.choices[0][0] == pytest.approx(expected)


def test_no_tree_no_choice():
    plan, model, _ = forest_run(Best())
    assert choose_forest(TABLE, replace(plan, tree=None), model, Best()) == ()


def test_a_step_comes_before_every_choice():
    steps = []
    choose_features(TABLE, PREDICTIVE, Best(), lambda: steps.append(1))
    assert len(steps) == 3


def test_known_noise_on_private_rows_is_refused_before_a_row_is_read():
    plan, model, _ = forest_run(Best())

    class Untouchable:
        public = False
        schema = SCHEMA
        n = people = TABLE.n
        contribution = SCHEMA.contribution

        def column(self, name):
            raise AssertionError("a row was read")

    noise = SeededNoise(np.random.default_rng(0))
    with pytest.raises(PrivacyError, match="Seeded noise"):
        choose_forest(Untouchable(), plan, model, noise)
    with pytest.raises(PrivacyError, match="Seeded noise"):
        choose_features(Untouchable(), PREDICTIVE, noise)
