"""Noisy pairs drawn together: against Bayes' formula, at both ends, and what is left alone."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from prism_core.data.linear_queries import linear_query
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.explain.error_bounds import bounds
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.shrinkage import may_move_pairs, target_of_pair
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.synthesis.empirical_bayes import shrunk
from prism_core.synthesis.measure import Measurement
from prism_core.synthesis.release import fit_model

N = 10_000


def schema(kind: str = "categorical", levels: int = 6, nullable: bool = False) -> Schema:
    names = tuple(f"l{i}" for i in range(levels))
    return Schema(
        columns=(
            Column(name="x", kind=kind, levels=names, nullable=nullable),
            Column(name="few", kind="categorical", levels=("a", "b", "c")),
            Column(name="y", kind="boolean", levels=(False, True)),
            Column(name="z", kind="categorical", levels=("r", "s", "t")),
            Column(name="cost", kind="numeric", lower=0.0, upper=1.0, edges=(0.3, 0.6)),
        ),
        one_row_per_person=True,
    )


def pair(table: np.ndarray, sigma: float, clique: tuple[str, str] = ("x", "y")) -> Measurement:
    return Measurement(clique=clique, values=np.asarray(table, dtype=np.int64), sigma=sigma)


def rates(table: np.ndarray) -> np.ndarray:
    return table[:, 1] / table.sum(axis=1)


def exact(rng: np.random.Generator, rate: np.ndarray, rows: np.ndarray) -> np.ndarray:
    positive = np.rint(rows * rate)
    return np.stack([rows - positive, positive], axis=1)


def test_bayes_formula_by_brute_force():
    """The same grid of variances, with the posterior mean P (P + sigma^2 I)^-1 d."""
    rng = np.random.default_rng(0)
    rows = np.array([4_000, 3_000, 1_500, 900, 400, 200])
    sigma = 60.0
    table = exact(rng, np.array([0.2, 0.35, 0.3, 0.6, 0.1, 0.9]), rows)
    noisy = np.rint(table + rng.normal(0.0, sigma, table.shape))
    (found,) = shrunk([pair(noisy, sigma)], schema(), ("y",), N)
    share = noisy.sum(axis=0) / noisy.sum()
    total = noisy.sum(axis=1)
    deviation = noisy - np.outer(total, share)
    scale = np.sqrt(1 - 2 * share + 2 * share**2)
    margin = total / total.sum() * N
    best, kept = -math.inf, deviation
    for variance in np.exp(np.linspace(math.log(1e-6), math.log(1e3), 64)):
        prior = variance * np.diag(margin**2)
        whole = prior + sigma**2 * np.eye(6)
        seen = deviation / scale
        likelihood = -0.5 * (
            2 * np.linalg.slogdet(whole)[1] + (seen * np.linalg.solve(whole, seen)).sum()
        )
        if likelihood > best:
            best, kept = likelihood, prior @ np.linalg.solve(whole, deviation)
    assert np.abs(found.values - (noisy - deviation + kept)).max() <= 0.5 + 1e-6
    assert 0.05 < np.abs(kept).sum() / np.abs(deviation).sum() < 0.95  # something to tell


def test_without_noise_nothing_moves():
    rng = np.random.default_rng(1)
    table = exact(rng, rng.random(6), np.array([4_000, 3_000, 1_500, 900, 400, 200]))
    for kind in ("categorical", "ordinal"):
        (found,) = shrunk([pair(table, 1e-3)], schema(kind), ("y",), N)
        np.testing.assert_array_equal(found.values, table)


def test_noise_alone_leaves_one_rate_for_all_levels():
    """Nothing is told apart that is not there: rates scatter a tenth as much, over 40 draws."""
    rng = np.random.default_rng(2)
    rows = np.full(6, N // 6)
    table = exact(rng, np.full(6, 0.3), rows)
    for kind in ("categorical", "ordinal"):
        before, after = [], []
        for _ in range(40):
            noisy = np.rint(table + rng.normal(0.0, 80.0, table.shape))
            (found,) = shrunk([pair(noisy, 80.0)], schema(kind), ("y",), N)
            before.append(np.var(rates(noisy)))
            after.append(np.var(rates(found.values)))
        assert np.mean(after) < 0.35 * np.mean(before)


@pytest.mark.parametrize("kind", ["categorical", "ordinal"])
def test_rates_come_nearer_to_the_truth(kind):
    """Mean squared error of the counts over 60 draws, levels of very different size, a trend."""
    rng = np.random.default_rng(3)
    rows = np.array([5_000, 3_000, 1_200, 500, 200, 100])
    table = exact(rng, np.array([0.1, 0.2, 0.3, 0.35, 0.45, 0.55]), rows)
    truth = table[:, 1] - rows * table[:, 1].sum() / N
    errors = []
    for _ in range(60):
        noisy = np.rint(table + rng.normal(0.0, 90.0, table.shape))
        share = noisy[:, 1].sum() / noisy.sum()
        (found,) = shrunk([pair(noisy, 90.0)], schema(kind), ("y",), N)
        errors.append(
            [
                ((counts[:, 1] - counts.sum(axis=1) * share - truth) ** 2).sum()
                for counts in (noisy, found.values)
            ]
        )
    before, after = np.mean(errors, axis=0)
    assert after < (0.9 if kind == "categorical" else 0.7) * before


@pytest.mark.parametrize("clique", [("x", "z"), ("z", "x")])
def test_totals_of_the_levels_stay_up_to_rounding(clique):
    rng = np.random.default_rng(4)
    table = rng.integers(-50, 900, (6, 3))
    values = table if clique[0] == "x" else table.T
    (found,) = shrunk([pair(values, 70.0, clique)], schema("ordinal"), ("z",), N)
    moved = found.values if clique[0] == "x" else found.values.T
    assert np.abs(moved.sum(axis=1) - table.sum(axis=1)).max() <= 1.5
    assert (moved != table).any()
    assert found.sigma == 70.0


def test_the_order_of_axes_does_not_matter():
    rng = np.random.default_rng(5)
    table = rng.integers(0, 900, (6, 2))
    (one,) = shrunk([pair(table, 70.0)], schema(), ("y",), N)
    (other,) = shrunk([pair(table.T, 70.0, ("y", "x"))], schema(), ("y",), N)
    np.testing.assert_array_equal(one.values, other.values.T)


def test_neighbours_share_only_where_levels_have_an_order():
    """A level of noise between two clear neighbours takes their rate, or the whole's."""
    rows = np.array([2_000, 2_000, 60, 2_000, 2_000, 60])
    table = exact(np.random.default_rng(0), np.array([0.1, 0.1, 0.1, 0.1, 0.9, 0.9]), rows)
    table[2] = [10, 50]  # noise
    found = {
        kind: rates(shrunk([pair(table, 40.0)], schema(kind), ("y",), N)[0].values)
        for kind in ("categorical", "ordinal")
    }
    assert found["ordinal"][2] < found["categorical"][2] < 50 / 60


def test_a_missing_value_has_no_neighbours():
    with_missing = schema("ordinal", nullable=True)
    rows = np.array([2_000, 2_000, 2_000, 2_000, 1_500, 400, 100])
    table = exact(np.random.default_rng(0), np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.1]), rows)
    found = rates(shrunk([pair(table, 5.0)], with_missing, ("y",), N)[0].values)
    assert abs(found[6] - 0.1) < 0.1  # a curve through its place would say .7


def test_what_is_left_alone():
    one = schema()
    names = ("x", "few", "y", "z", "cost")
    pairs = {
        clique
        for clique in itertools.permutations(names, 2)
        if target_of_pair(one, clique, ("y", "z")) is not None
    }
    assert pairs == {("x", "y"), ("y", "x"), ("x", "z"), ("z", "x")}
    assert target_of_pair(one, ("x", "cost"), ("cost",)) is None  # a number
    assert target_of_pair(one, ("x", "few", "y"), ("y",)) is None
    assert target_of_pair(one, ("x",), ("y",)) is None
    rng = np.random.default_rng(6)
    query = linear_query(one, ("x", "y"), ("levels", "levels"))
    kept = [
        Measurement(clique=("x",), values=rng.integers(0, 9, 6), sigma=3.0),
        Measurement(clique=("x", "few"), values=rng.integers(0, 9, (6, 3)), sigma=3.0),
        Measurement(clique=("x", "few", "y"), values=rng.integers(0, 9, (6, 3, 2)), sigma=3.0),
        Measurement(
            clique=("x", "y"), values=rng.integers(0, 9, query.shape), sigma=3.0, query=query
        ),
    ]
    for before, after in zip(kept, shrunk(kept, one, ("y",), 50), strict=True):
        assert after is before


def test_margins_of_other_marginals_count():
    """The rows of a level are known from all marginals that hold it, by their precision."""
    rng = np.random.default_rng(7)
    table = rng.integers(0, 400, (6, 2))
    alone = shrunk([pair(table, 80.0)], schema(), ("y",), N)[0]
    margin = Measurement(
        clique=("x",), values=np.array([5_000, 4_000, 700, 200, 90, 10]), sigma=1.0
    )
    informed = shrunk([pair(table, 80.0), margin], schema(), ("y",), N)[0]
    assert (alone.values != informed.values).any()
    small, large = (np.abs(informed.values - table)[row].sum() for row in (5, 0))
    assert small > large  # ten rows say nothing, five thousand do


def test_the_graphical_model_is_fitted_to_shrunk_pairs_unless_asked_otherwise():
    one = schema("ordinal")
    rng = np.random.default_rng(8)
    task = Task(target="y", regime="predictive", k=4, three_way="none", max_joint_cells=0)
    models = {}
    measured = None
    for pairs in ("shrunk", "measured"):
        plan = design(
            Brief(one, task, Budget(epsilon=1.0), 4_000, synthesis=Synthesis(pairs=pairs))
        )
        if measured is None:
            measured = [
                Measurement(
                    clique=query.clique,
                    sigma=query.sigma,
                    values=rng.integers(0, 900, [one.size(name) for name in query.clique]),
                )
                for query in plan.queries
            ]
        models[pairs] = fit_model(plan, measured).marginal(("x", "y"))
        assert may_move_pairs(plan) == (pairs == "shrunk")
        assert plan.to_dict()["pairs"] == pairs
    assert np.abs(models["shrunk"] - models["measured"]).max() > 1.0


def test_naive_bayes_takes_pairs_as_they_are():
    """The paper's backend; and its bound under the tree assumption stays."""
    plan = design(
        Brief(
            schema(),
            Task(target="y", regime="predictive", k=4),
            Budget(epsilon=1.0),
            4_000,
            synthesis=Synthesis(model="naive_bayes"),
        )
    )
    assert not may_move_pairs(plan)


def test_no_bound_is_claimed_for_pairs_that_were_drawn_together():
    task = Task(target="y", regime="predictive", k=4, three_way="none", max_joint_cells=0)
    for pairs in ("shrunk", "measured"):
        plan = design(
            Brief(schema(), task, Budget(epsilon=5.0), 10**7, synthesis=Synthesis(pairs=pairs))
        )
        found = bounds(plan, p_min=0.3).delta_s
        assert (found.raw is None) == (pairs == "shrunk")
        assert ("drawn together" in found.sentence) == (pairs == "shrunk")
