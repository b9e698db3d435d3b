"""Naive Bayes against its joint distribution, written out in full."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from prism_core.synthesis.measure import Measurement
from prism_core.synthesis.naive_bayes import NaiveBayes, fit_naive_bayes
from prism_core.synthesis.projection import to_simplex

SIZES = {"a": 2, "b": 3, "y": 3, "c": 2, "d": 4}
N = 500


def measured(*cliques: tuple[str, ...], seed: int = 3, sigma: float = 2.0) -> list[Measurement]:
    rng = np.random.default_rng(seed)
    return [
        Measurement(
            clique=clique,
            values=rng.integers(-5, 60, [SIZES[name] for name in clique]),
            sigma=sigma * (1 + i),
        )
        for i, clique in enumerate(cliques)
    ]


WORKLOADS = [
    [("a", "y"), ("b", "y"), ("c",), ("d",)],
    [("a", "b", "y"), ("c",), ("d",)],  # a joint block
    [("a", "b", "y"), ("y", "c"), ("d",)],  # and a pair beside it
    [("a", "y"), ("b", "y"), ("y", "c"), ("y", "d")],
    [("y", "d"), ("a",), ("b",), ("c",), ("a", "c")],  # background pairs are not used
]


def full_joint(model: NaiveBayes) -> np.ndarray:
    """P over all columns in schema order: the definition, cell by cell."""
    names = tuple(SIZES)
    joint = np.zeros([SIZES[name] for name in names])
    for cell in itertools.product(*(range(SIZES[name]) for name in names)):
        at = dict(zip(names, cell, strict=True))
        p = model.prior[at["y"]]
        for block, table in model.blocks.items():
            p *= table[(at["y"], *(at[name] for name in block))]
        for name, table in model.margins.items():
            p *= table[at[name]]
        joint[cell] = p
    return joint


@pytest.mark.parametrize("workload", WORKLOADS, ids=str)
def test_every_marginal_in_every_order_is_that_of_the_joint(workload):
    model = fit_naive_bayes(SIZES, "y", N, measured(*workload))
    joint = full_joint(model)
    names = tuple(SIZES)
    assert joint.sum() == pytest.approx(1.0)
    for size in (1, 2, 3):
        for clique in itertools.permutations(names, size):
            drop = tuple(i for i, name in enumerate(names) if name not in clique)
            kept = [name for name in names if name in clique]
            brute = np.transpose(joint.sum(axis=drop), [kept.index(name) for name in clique])
            np.testing.assert_allclose(model.marginal(clique), brute * N, atol=1e-9)
    np.testing.assert_allclose(model.marginal(names), joint * N, atol=1e-9)
    reverse = names[::-1]
    np.testing.assert_allclose(model.marginal(reverse), joint.T * N, atol=1e-9)


@pytest.mark.parametrize("workload", WORKLOADS, ids=str)
def test_many_pairs_are_those_asked_one_by_one(workload):
    model = fit_naive_bayes(SIZES, "y", N, measured(*workload))
    pairs = list(itertools.permutations(SIZES, 2))
    for pair, counts in zip(pairs, model.pairs(pairs), strict=True):
        np.testing.assert_allclose(counts, model.marginal(pair), rtol=1e-12, atol=1e-9)


def test_the_prior_weighs_tables_by_their_precision():
    many = measured(("a", "y"), ("b", "y"))
    model = fit_naive_bayes({"a": 2, "b": 3, "y": 3}, "y", N, many)
    # The y margin of a table sums |table| / |y| noisy cells.
    variances = [m.sigma**2 * m.values.size / 3 for m in many]
    margins = [m.values.sum(axis=0) for m in many]
    mean = sum(m / v for m, v in zip(margins, variances, strict=True)) / sum(
        1 / v for v in variances
    )
    np.testing.assert_allclose(model.prior, to_simplex(mean))


def test_exact_tables_are_reproduced():
    joint = np.array([[30, 10], [20, 40]])
    found = fit_naive_bayes(
        {"a": 2, "y": 2}, "y", 100, [Measurement(clique=("a", "y"), values=joint, sigma=1.0)]
    )
    np.testing.assert_allclose(found.marginal(("a", "y")), joint)
    np.testing.assert_allclose(found.marginal(("y", "a")), joint.T)


def test_a_level_of_y_without_mass_spreads_evenly():
    values = np.array([[-9, 50], [-9, 50], [-9, 0]])
    found = fit_naive_bayes(
        {"a": 3, "y": 2}, "y", 100, [Measurement(clique=("a", "y"), values=values, sigma=1.0)]
    )
    np.testing.assert_allclose(found.blocks[("a",)][0], 1 / 3)
    assert np.isfinite(found.marginal(("a", "y"))).all()


@pytest.mark.parametrize("workload", WORKLOADS, ids=str)
@pytest.mark.parametrize("rule", ["rounded", "iid"])
@pytest.mark.parametrize("rows", [0, 1, 37])
def test_rows_have_the_schema_s_columns_and_codes(workload, rule, rows):
    model = fit_naive_bayes(SIZES, "y", N, measured(*workload))
    codes = model.sample(rows, np.random.default_rng(1), rule)
    assert codes.shape == (rows, len(SIZES))
    assert codes.dtype == np.int32
    assert (codes >= 0).all()
    assert (codes < np.array(list(SIZES.values()))).all()


def test_rounded_totals_are_within_a_row_of_the_model():
    model = fit_naive_bayes(SIZES, "y", N, measured(*WORKLOADS[0]))
    rows = 1_000
    codes = model.sample(rows, np.random.default_rng(1), "rounded")
    for name in ("d",):  # an independent column is one clique: systematic sampling keeps it
        share = np.bincount(codes[:, list(SIZES).index(name)], minlength=SIZES[name])
        expected = model.marginal((name,)) * rows / N
        assert np.abs(share - expected).max() <= 1.0 + 1e-9
    assert math.isclose(model.marginal(("y",)).sum(), N)
