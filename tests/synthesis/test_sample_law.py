"""Rows follow the model: 1-way, 2-way and joint laws of samples against marginals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from prism_core.planning.tree.junction_tree import JunctionTree, junction_tree
from prism_core.synthesis.measure import Measurement
from prism_core.synthesis.naive_bayes import fit_naive_bayes
from prism_core.synthesis.sample import sample_tree
from tests.support.laws import ACCEPT, fit_p_value

pytestmark = pytest.mark.statistical

SIZES = {"a": 2, "b": 3, "y": 2, "c": 2}
MEASURED = [
    Measurement(
        clique=("a", "b", "y"),
        sigma=1.0,
        values=np.array([[[90, 10], [40, 30], [5, 80]], [[20, 60], [50, 15], [70, 30]]]),
    ),
    Measurement(clique=("y", "c"), sigma=1.0, values=np.array([[150, 60], [40, 250]])),
]
ROWS = 60_000


def counts(codes: np.ndarray, clique: tuple[str, ...]) -> np.ndarray:
    names = list(SIZES)
    shape = [SIZES[name] for name in clique]
    cells = np.ravel_multi_index([codes[:, names.index(name)] for name in clique], shape)
    return np.bincount(cells, minlength=int(np.prod(shape)))


@pytest.fixture(scope="module")
def model():
    return fit_naive_bayes(SIZES, "y", 500, MEASURED)


def test_iid_rows_follow_every_marginal(model):
    codes = model.sample(ROWS, np.random.default_rng(1), "iid")
    for size in (1, 2, 3, 4):
        for clique in itertools.combinations(SIZES, size):
            law = model.marginal(clique).ravel() / 500
            assert fit_p_value(counts(codes, clique), law) > ACCEPT
    wrong = np.roll(model.marginal(("a", "b")).ravel() / 500, 1)
    assert fit_p_value(counts(codes, ("a", "b")), wrong) < ACCEPT


def test_rounded_rows_vary_less_and_follow_the_law(model):
    codes = model.sample(ROWS, np.random.default_rng(1), "rounded")
    every = tuple(SIZES)
    law = model.marginal(every).ravel() / 500
    assert fit_p_value(counts(codes, every), law) > ACCEPT
    for clique in (("a", "b", "y"), ("y", "c")):
        expected = model.marginal(clique).ravel() * ROWS / 500
        assert np.abs(counts(codes, clique) - expected).max() <= 3.0  # iid: hundreds


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("rule", ["rounded", "iid"])
def test_a_single_row_follows_the_law_too(model, rows, rule):
    """Systematic sampling is unbiased however few rows are drawn."""
    rng = np.random.default_rng(6)
    draws = np.concatenate([model.sample(rows, rng, rule)[:1] for _ in range(3_000)])
    law = model.marginal(("a", "y")).ravel() / 500
    assert fit_p_value(counts(draws, ("a", "y")), law) > ACCEPT


def test_children_of_one_parent_keep_their_true_correlation():
    """Regression against mbi's rounding fault: given y, a and b are independent; with rounding in
    one shared order they were not. The true correlation is 0.64 (0.8 * 0.8)."""
    sizes = {"a": 2, "y": 2, "b": 2}
    table = np.array([[0.45, 0.05], [0.05, 0.45]])
    tree = junction_tree((("a", "y"), ("y", "b")))
    rows = 40_000
    codes = sample_tree(tree, [table, table], sizes, rows, np.random.default_rng(2), "rounded")
    found = np.corrcoef(codes[:, 0], codes[:, 2])[0, 1]
    assert abs(found - 0.64) < 7 / np.sqrt(rows)  # false alarm below 1e-10
    for y in (0, 1):
        some = codes[codes[:, 1] == y]
        assert abs(np.corrcoef(some[:, 0], some[:, 2])[0, 1]) < 7 / np.sqrt(len(some))


@pytest.mark.parametrize("rows", [3, 5, 9])
def test_spreading_classes_evenly_leaves_the_law_of_a_row(rows):
    """Whatever the class, a row's cell follows the conditional distribution, also where a state
    has two or three rows."""
    sizes = {"y": 2, "s": 2, "x": 3}
    tree = JunctionTree(
        cliques=(("y", "s"), ("s", "x")), parents=(None, 0), separators=((), ("s",))
    )
    pair = np.array([[0.3, 0.2], [0.1, 0.4]])
    given = np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])
    tables = [pair, given * pair.sum(axis=0)[:, None]]
    rng = np.random.default_rng(7)
    # One row a run: the rows of a run are not independent of each other.
    found = np.zeros((2, 2, 3), dtype=np.int64)
    for _ in range(20_000 // rows):
        codes = sample_tree(tree, tables, sizes, rows, rng, "rounded", ("y",))
        found[tuple(codes[0])] += 1
    law = pair[:, :, None] * given[None]
    assert fit_p_value(found.ravel(), law.ravel()) > ACCEPT
    independent = np.multiply.outer(pair.sum(axis=1), (pair.sum(axis=0)[:, None] * given))
    assert fit_p_value(found.ravel(), independent.ravel()) < ACCEPT


def test_a_class_stands_at_every_place_equally_often():
    """One row of a class beside two of another would stand in the middle half of the time: the
    ranks are turned."""
    tree = JunctionTree(cliques=(("y",), ("x",)), parents=(None, None), separators=((), ()))
    tables = [np.array([1.0, 2.0]), np.ones(3)]
    rng = np.random.default_rng(8)
    draws = [
        sample_tree(tree, tables, {"y": 2, "x": 3}, 3, rng, "rounded", ("y",)) for _ in range(6_000)
    ]
    alone = np.array([codes[codes[:, 0] == 0, 1][0] for codes in draws])
    assert fit_p_value(np.bincount(alone, minlength=3), np.full(3, 1 / 3)) > ACCEPT
