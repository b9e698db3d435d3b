"""Bounds of a plan: golden values by hand, proofs by enumeration, guarantees by simulation."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError
from prism_core.explain.bound_remedies import remedies
from prism_core.explain.error_bounds import (
    ERM,
    HISTOGRAM,
    TREE,
    Bound,
    bounds,
    noise_l1,
    rademacher,
    sampling_l1,
)
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.structure.dag import Dag

SIZES = {"a": 3, "b": 2, "c": 4, "y": 2}
SCHEMA = Schema(
    columns=tuple(
        Column(name=name, kind="categorical", levels=tuple(range(size)))
        for name, size in SIZES.items()
    ),
    one_row_per_person=True,
)
IID = Synthesis(sampling="iid", rows=10_000, model="naive_bayes")


def plan(*parents, n=1_000_000, synthesis=IID, task=None, epsilon=1.0):
    dag = Dag(nodes=SCHEMA.names, edges=tuple((name, "y") for name in parents))
    task = task or Task(target="y", max_joint_cells=1)
    return design(Brief(SCHEMA, task, Budget(epsilon=epsilon), n, dag=dag, synthesis=synthesis))


# --- formulas --------------------------------------------------------------------------------


def test_golden_values():
    """By hand: ln 120 = 4.787492, ln 20 = 2.995732, ln 40 = 3.688879."""
    assert noise_l1(6, 10.0, 1_000, 0.05) == pytest.approx(0.06 * math.sqrt(9.574983), rel=1e-6)
    assert noise_l1(6, 10.0, 1_000, 0.05) == pytest.approx(0.1856608, rel=1e-5)
    assert noise_l1(6, 0.5, 1_000, 0.05) == pytest.approx(0.003 * math.sqrt(2 * math.log(240)))
    assert sampling_l1(6, 1_000, 0.05) == pytest.approx(0.0774597 + 0.0774046, rel=1e-5)
    assert rademacher(3, 10_000) == pytest.approx(0.02)
    erm = bounds(plan("a")).erm
    assert erm.terms[1].raw == pytest.approx(4 * math.sqrt(2 / 10_000))
    assert erm.terms[2].raw == pytest.approx(0.0271620, rel=1e-5)


def test_everything_is_rounded_up():
    exact = 6 * (10.0 / 1_000) * math.sqrt(2 * math.log(6 / 0.05))
    assert noise_l1(6, 10.0, 1_000, 0.05) > exact
    assert sampling_l1(6, 7, 0.05) > math.sqrt(6 / 7) + math.sqrt(2 * math.log(20) / 7)
    assert rademacher(2, 7) > math.sqrt(3 / 7)
    erm = bounds(plan("a")).erm
    assert erm.total.raw > math.fsum(term.raw for term in erm.terms)


def outside(sigma, t):
    """P(|X| > t) of the integer noise."""
    reach = math.ceil(40 * sigma) + 40
    x = np.arange(-reach, reach + 1)
    law = np.exp(-(x**2) / (2 * sigma**2))
    return float(law[np.abs(x) > t].sum() / law.sum())


SIGMAS = (0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 1.0, 1.05, 1.3, 2.0, 3.7, 11.0, 80.0)


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("cells", [1, 2, 12, 5_000])
@pytest.mark.parametrize("beta", [0.5, 0.05, 1e-6])
def test_no_cell_passes_the_bound_by_the_exact_law(sigma, cells, beta):
    a_cell = noise_l1(cells, sigma, 1, beta) / cells
    assert cells * outside(sigma, a_cell) <= beta


def test_the_papers_constant_fails_for_coarse_noise():
    """Why there is a factor 2 below sigma = 1."""
    sigma, beta = 0.8, 0.46
    paper = sigma * math.sqrt(2 * math.log(1 / beta))
    assert outside(sigma, paper * (1 - 1e-9)) > beta


@pytest.mark.statistical
@pytest.mark.parametrize("sigma", [0.7, 1.0, 25.0])
def test_noise_stays_below_its_bound(sigma):
    """4,000 marginals of 6 cells; false alarms below 1e-10 (binomial with the stated beta)."""
    draws, beta = 4_000, 0.05
    noise = SeededNoise(np.random.default_rng(11))
    made = noise.add_discrete_gaussian(np.zeros((draws, 6), dtype=np.int64), sigma)
    l1 = np.abs(made).sum(axis=1)
    allowed = stats.binom.isf(1e-10, draws, beta)
    assert (l1 > noise_l1(6, sigma, 1, beta)).sum() <= allowed
    expected = 6 * sigma * math.sqrt(2 / math.pi)
    assert (l1 > expected).sum() > allowed  # the expectation is no such bound


@pytest.mark.statistical
def test_rows_stay_near_their_population():
    """4,000 samples of 300 rows over 12 cells; false alarms below 1e-10."""
    rng = np.random.default_rng(12)
    draws, n, beta = 4_000, 300, 0.05
    p = rng.dirichlet(np.ones(12))
    l1 = np.abs(rng.multinomial(n, p, draws) / n - p).sum(axis=1)
    assert (l1 > sampling_l1(12, n, beta)).sum() <= stats.binom.isf(1e-10, draws, beta)


@given(st.integers(0, 2**32 - 1))
def test_a_star_is_off_by_no_more_than_its_pairs(seed):
    """(2 |S| + 1) alpha, the proof of the tree bound, on random stars."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, rng.integers(1, 4))

    def star(concentration, y, conditionals=None):
        mixed = 0.5 * y + 0.5 * rng.dirichlet(np.full(2, concentration))
        rows = [rng.dirichlet(np.full(size, concentration), 2) for size in sizes]
        if conditionals is not None:
            step = rng.uniform(0, 0.3)
            both = zip(conditionals, rows, strict=True)
            rows = [(1 - step) * old + step * new for old, new in both]
        return mixed, rows

    def joint(y, rows):
        whole = y[:, None]
        for row in rows:
            whole = (whole[:, :, None] * row[:, None, :]).reshape(2, -1)
        return whole

    y, rows = star(1.0, np.full(2, 0.5))
    other_y, other = star(1.0, y, rows)
    distance = 0.5 * np.abs(joint(y, rows) - joint(other_y, other)).sum()
    alpha = max(
        0.5 * np.abs(y[:, None] * a - other_y[:, None] * b).sum()
        for a, b in zip(rows, other, strict=True)
    )
    assert distance <= (2 * len(sizes) + 1) * alpha + 1e-12


# --- a plan ----------------------------------------------------------------------------------


def test_every_measured_marginal_has_its_three_numbers():
    found = plan("a", "b")
    made = bounds(found, beta=0.01)
    assert [line.label for line in made.marginals] == [query.label for query in found.queries]
    assert {line.label for line in made.task} == {"a × y", "b × y"}
    for line, query in zip(made.marginals, found.queries, strict=True):
        assert line.expected.raw == query.relative_error
        assert (line.expected.kind, line.expected.failing) == ("expectation", 0.0)
        assert (line.l1.kind, line.l1.theorem, line.l1.failing) == ("guarantee", HISTOGRAM, 0.01)
        assert line.l1.raw == noise_l1(query.cells, query.sigma, found.n, 0.01)
        assert line.tv.raw == line.l1.raw / 2
        assert line.expected.raw < line.l1.raw
        assert "1%" in line.l1.sentence


def test_above_one_there_is_no_guarantee():
    made = bounds(plan("a", "b", n=60, epsilon=0.1))
    for line in made.task:
        assert line.l1.raw > 1.0
        assert line.l1.value is None
        assert line.l1.text == "no guarantee"
    expectation = replace(made.task[0].expected, raw=1.2)
    assert (expectation.value, expectation.text) == (None, "above 1")
    assert replace(made.task[0].l1, raw=1.0).text == "1"
    with pytest.raises(BudgetError, match="finite"):
        Bound(name="x", raw=math.nan, kind="guarantee", theorem="", sentence="")


def test_pairs_alone_do_not_bound_the_joint():
    made = bounds(plan("a", "b"))
    assert made.delta_s.raw is None
    assert made.delta_s.text == "no guarantee"
    assert "p_min" in made.delta_s.sentence
    assert made.erm.terms[0].raw is None
    assert made.erm.total.raw is None
    assert "not bounded" in made.erm.total.sentence
    large = bounds(plan("a", n=60, epsilon=0.1)).erm.total
    assert large.raw > 1.0
    assert "promises nothing" in large.sentence


def test_one_feature_is_its_own_joint():
    found = plan("a")
    (query,) = (query for query in found.queries if query.pool == "task")
    made = bounds(found)
    expected = noise_l1(6, query.sigma, found.n, 0.025) + sampling_l1(6, found.n, 0.025)
    assert made.delta_s.raw == pytest.approx(expected / 2, rel=1e-11)
    assert (made.delta_s.kind, made.delta_s.theorem) == ("assumption", HISTOGRAM)
    assert "known after the run" in made.delta_s.sentence
    after = bounds(found, residual=0.01)
    assert after.delta_s.raw == pytest.approx(made.delta_s.raw + 0.005, rel=1e-11)
    assert "known after the run" not in after.delta_s.sentence


def test_a_measured_joint_is_used():
    found = plan("a", "b", task=Task(target="y"), synthesis=replace(IID, model="pgm"))
    assert {query.kind for query in found.queries if query.pool == "task"} == {"joint"}
    made = bounds(found)
    assert made.delta_s.value is not None
    assert made.erm.total.value == pytest.approx(
        2 * made.delta_s.raw + made.erm.terms[1].raw + made.erm.terms[2].raw, rel=1e-11
    )
    assert made.erm.total.failing == pytest.approx(0.1)


def test_the_tree_bound_needs_a_declaration_and_small_errors():
    found = plan("a", "b")
    pairs = [query for query in found.queries if query.kind == "pair"]
    alpha = (
        max(
            noise_l1(pair.cells, pair.sigma, found.n, 0.0125)
            + sampling_l1(pair.cells, found.n, 0.0125)
            for pair in pairs
        )
        / 2
    )
    made = bounds(found, p_min=0.2)
    assert made.delta_s.raw == pytest.approx(2 * alpha / 0.2, rel=1e-10)
    assert (made.delta_s.kind, made.delta_s.theorem) == ("assumption", TREE)
    assert "independent of each other" in made.delta_s.sentence
    # Above 2/5 the own proof asks for more than the leading term of the paper.
    assert bounds(found, p_min=0.5).delta_s.raw == pytest.approx(5 * alpha, rel=1e-10)
    refused = bounds(found, p_min=1.9 * alpha).delta_s
    assert refused.raw is None
    assert "less than half of p_min" in refused.sentence


def test_the_theorem_is_for_independent_draws():
    made = bounds(plan("a", synthesis=replace(IID, sampling="rounded"))).erm
    assert not made.iid
    assert made.total.raw is None
    assert "independent draws" in made.total.sentence
    assert [term.theorem for term in made.terms] == [ERM] * 3
    assert bounds(plan("a")).erm.total.value is not None
    assert made.text.endswith("Together: no guarantee.")
    assert made.terms[2].kind == "assumption"
    assert bounds(plan("a")).erm.terms[2].kind == "guarantee"


def test_before_features_are_chosen_the_worst_case_is_bounded():
    task = Task(target="y", regime="predictive", k=2, max_joint_cells=1)
    found = design(Brief(SCHEMA, task, Budget(), 100_000, synthesis=IID))
    assert not found.s_is_final
    made = bounds(found, p_min=0.3)
    assert len(made.task) == 2
    assert made.delta_s.raw is not None


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.1, math.nan, None, True, "x"], ids=repr)
def test_an_unusable_beta_is_refused(bad):
    with pytest.raises(BudgetError, match="beta must") as caught:
        bounds(plan("a"), beta=bad)
    assert caught.value.field == "beta"


@pytest.mark.parametrize("bad", [0.0, 0.51, -0.1, math.nan, True, "x"], ids=repr)
def test_an_unusable_p_min_is_refused(bad):
    with pytest.raises(BudgetError, match="p_min must"):
        bounds(plan("a"), p_min=bad)


@pytest.mark.parametrize("bad", [-0.1, 2.1, math.nan, True], ids=repr)
def test_an_unusable_residual_is_refused(bad):
    with pytest.raises(BudgetError, match="residual must"):
        bounds(plan("a"), residual=bad)


# --- remedies --------------------------------------------------------------------------------


def test_a_remedy_is_offered_for_what_it_mends_and_no_longer_once_it_is_taken():
    rounded = replace(IID, sampling="rounded", model="pgm")
    made = plan("a", "b", synthesis=rounded)
    offered = {one.option: one.value for one in remedies(made, bounds(made, p_min=0.25))}
    assert offered == {"synthesis.sampling": "iid", "synthesis.pairs": "measured"}
    mended = plan("a", "b", synthesis=replace(rounded, sampling="iid", pairs="measured"))
    found = bounds(mended, p_min=0.25)
    assert remedies(mended, found) == ()
    assert found.delta_s.raw is not None
    assert found.erm.total.raw is not None


def test_without_a_declared_share_no_option_mends_the_distance():
    made = plan("a", "b")
    assert bounds(made).delta_s.raw is None
    assert remedies(made, bounds(made)) == ()
