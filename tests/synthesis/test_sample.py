"""Sampling along a junction tree: exact totals, edges of the range, domains of random trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_core.planning.tree.junction_tree import JunctionTree, junction_tree, maximal_cliques
from prism_core.synthesis.sample import sample_tree

RULES = pytest.mark.parametrize("rule", ["rounded", "iid"])
SIZES = {"a": 2, "y": 2, "b": 2}
TREE = junction_tree((("a", "y"), ("y", "b")))


def star_tables(correlation: float) -> list[np.ndarray]:
    """a and b both follow y; tables in the tree's order."""
    table = np.array([[1 + correlation, 1 - correlation], [1 - correlation, 1 + correlation]]) / 4
    return [table for _ in TREE.cliques]


@RULES
@pytest.mark.parametrize("rows", [0, 1, 2, 5])
def test_few_rows(rule, rows):
    codes = sample_tree(TREE, star_tables(0.5), SIZES, rows, np.random.default_rng(0), rule)
    assert codes.shape == (rows, 3)
    assert codes.dtype == np.int32


@RULES
def test_a_point_mass_is_drawn_and_nothing_else(rule):
    table = np.zeros((3, 4))
    table[2, 1] = 7.0
    tree = junction_tree((("a", "b"),))
    codes = sample_tree(tree, [table], {"b": 4, "a": 3}, 50, np.random.default_rng(0), rule)
    assert set(map(tuple, codes)) == {(1, 2)}  # schema order: b, a


@RULES
def test_cells_without_mass_are_never_drawn(rule):
    table = np.array([[0.0, 3.0, 0.0, 2.0], [0.0, 0.0, 1.0, 0.0]])
    tree = junction_tree((("a", "b"),))
    codes = sample_tree(tree, [table], {"a": 2, "b": 4}, 20_000, np.random.default_rng(0), rule)
    assert set(map(tuple, codes)) == {(0, 1), (0, 3), (1, 2)}


def test_rounded_totals_are_exact_per_clique():
    """Systematic sampling: every cell of the root clique within one row of its share."""
    rng = np.random.default_rng(4)
    table = rng.dirichlet(np.ones(12)).reshape(3, 4)
    tree = junction_tree((("a", "b"),))
    for rows in (1, 10, 997):
        codes = sample_tree(tree, [table], {"a": 3, "b": 4}, rows, rng, "rounded")
        found = np.zeros((3, 4))
        np.add.at(found, tuple(codes.T), 1)
        assert found.sum() == rows
        assert np.abs(found - table * rows).max() <= 1.0 + 1e-9


def test_rounded_totals_are_exact_where_the_shares_are_whole():
    table = np.array([[10, 20, 0], [5, 25, 40]])
    tree = junction_tree((("a", "b"),))
    codes = sample_tree(tree, [table], {"a": 2, "b": 3}, 100, np.random.default_rng(1), "rounded")
    found = np.zeros((2, 3))
    np.add.at(found, tuple(codes.T), 1)
    np.testing.assert_array_equal(found, table)


def test_rows_come_in_random_order():
    tree = junction_tree((("a",),))
    codes = sample_tree(tree, [np.ones(2)], {"a": 2}, 1_000, np.random.default_rng(1), "rounded")
    steps = np.count_nonzero(np.diff(codes[:, 0]))
    assert 400 < steps < 600  # sorted rows would have 1; outside with probability < 1e-9


def test_components_are_independent_and_any_order_of_cliques_works():
    tree = JunctionTree(cliques=(("b",), ("a",)), parents=(None, None), separators=((), ()))
    codes = sample_tree(
        tree,
        [np.array([1.0, 0.0]), np.array([0.0, 1.0])],
        {"a": 2, "b": 2},
        9,
        np.random.default_rng(0),
        "rounded",
    )
    assert set(map(tuple, codes)) == {(1, 0)}


def test_siblings_under_one_parent_are_not_coupled():
    """Regression against mbi's rounding fault: two children of one parent, rounded in the same
    order, come out equal or opposite. True correlation of a and b given y is 0."""
    rows = 4_000
    for seed in range(5):
        codes = sample_tree(
            TREE, star_tables(0.0), SIZES, rows, np.random.default_rng(seed), "rounded"
        )
        correlation = np.corrcoef(codes[:, 0], codes[:, 2])[0, 1]
        assert abs(correlation) < 7 / np.sqrt(rows)  # false alarm below 1e-10 in five runs


def test_a_separator_state_that_only_rounding_reaches_is_spread_evenly():
    child = np.array([[0.0, 0.0], [3.0, 1.0]])  # no mass where y = 0
    tree = JunctionTree(cliques=(("y",), ("y", "b")), parents=(None, 0), separators=((), ("y",)))
    codes = sample_tree(
        tree,
        [np.array([1.0, 1.0]), child],
        {"y": 2, "b": 2},
        400,
        np.random.default_rng(0),
        "rounded",
    )
    alone = codes[codes[:, 0] == 0, 1]
    assert np.bincount(alone, minlength=2).tolist() == [100, 100]


CHILD = JunctionTree(
    cliques=(("y",), ("s",), ("s", "x")), parents=(None, None, 1), separators=((), (), ("s",))
)
CHILD_SIZES = {"s": 3, "x": 4, "y": 3}


def child_tables(rng: np.random.Generator) -> list[np.ndarray]:
    """x follows s alone."""
    return [rng.dirichlet(np.ones(shape)) for shape in (3, 3)] + [
        rng.dirichlet(np.ones(12)).reshape(3, 4)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_classes_are_spread_evenly_over_columns_that_hang_elsewhere(seed):
    """The bound of the docstring, in every state: c m_y / M up to 1 + K m_y / M rows."""
    rng = np.random.default_rng(seed)
    tables = child_tables(rng)
    codes = sample_tree(CHILD, tables, CHILD_SIZES, 900, rng, "rounded", ("y",))
    found = np.zeros((3, 4, 3))
    np.add.at(found, tuple(codes.T), 1)
    group, cell = found.sum(axis=1, keepdims=True), found.sum(axis=2, keepdims=True)
    state = np.maximum(found.sum(axis=(1, 2), keepdims=True), 1)
    assert (np.abs(found - cell * group / state) <= 1 + 3 * group / state + 1e-9).all()


def test_classes_are_spread_evenly_over_parts_that_nothing_joins_to_the_target():
    tree = JunctionTree(cliques=(("a",), ("y",)), parents=(None, None), separators=((), ()))
    codes = sample_tree(
        tree,
        [np.ones(2), np.array([0.3, 0.7])],
        {"a": 2, "y": 2},
        1_000,
        np.random.default_rng(0),
        "rounded",
        ("y",),
    )
    assert np.abs(np.bincount(codes[codes[:, 1] == 1, 0]) - 350).max() <= 3


def test_independent_draws_stay_independent():
    """The bound on the risk assumes `iid`: the target changes nothing there."""
    draws = [
        sample_tree(
            CHILD,
            child_tables(np.random.default_rng(5)),
            CHILD_SIZES,
            300,
            np.random.default_rng(1),
            "iid",
            spread,
        )
        for spread in ((), ("y",))
    ]
    np.testing.assert_array_equal(*draws)


def test_with_more_classes_than_rows_nothing_is_spread():
    rows, sizes = 2, {"s": 2, "x": 2, "y": 3}
    tables = [np.ones(3), np.ones(2), np.ones((2, 2))]
    codes = sample_tree(CHILD, tables, sizes, rows, np.random.default_rng(0), "rounded", ("y",))
    assert codes.shape == (rows, 3)


@st.composite
def calibrated(draw):
    """A random joint over a few columns, and its marginals on a random junction tree."""
    names = [f"v{i}" for i in range(draw(st.integers(1, 5)))]
    sizes = {name: draw(st.integers(1, 4)) for name in names}
    subset = st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)
    tree = junction_tree(maximal_cliques(sizes, draw(st.lists(subset, max_size=5))))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    joint = rng.dirichlet(np.full(int(np.prod(list(sizes.values()))), 0.4))
    joint = joint.reshape(list(sizes.values()))
    tables = [
        joint.sum(axis=tuple(i for i, name in enumerate(names) if name not in clique))
        for clique in tree.cliques
    ]
    return sizes, tree, tables, rng


@settings(max_examples=80)
@given(model=calibrated(), rows=st.integers(0, 60), rule=st.sampled_from(["rounded", "iid"]))
def test_rows_stay_in_the_support_of_every_clique(model, rows, rule):
    sizes, tree, tables, rng = model
    codes = sample_tree(tree, tables, sizes, rows, rng, rule)
    assert codes.shape == (rows, len(sizes))
    place = {name: i for i, name in enumerate(sizes)}
    for clique, table in zip(tree.cliques, tables, strict=True):
        cells = tuple(codes[:, place[name]] for name in clique)
        assert (table[cells] > 0.0).all()


@settings(max_examples=80)
@given(model=calibrated(), rows=st.integers(1, 300))
def test_rounded_keeps_every_clique_within_its_rounding(model, rows):
    """Given its separator state, every cell is within one row of its conditional share."""
    sizes, tree, tables, rng = model
    codes = sample_tree(tree, tables, sizes, rows, rng, "rounded")
    place = {name: i for i, name in enumerate(sizes)}
    for clique, separator, table in zip(tree.cliques, tree.separators, tables, strict=True):
        found = np.zeros(table.shape)
        np.add.at(found, tuple(codes[:, place[name]] for name in clique), 1)
        fresh = tuple(i for i, name in enumerate(clique) if name not in separator)
        state_rows = found.sum(axis=fresh, keepdims=True)
        mass = table.sum(axis=fresh, keepdims=True)
        share = np.divide(table, mass, out=np.zeros_like(table), where=mass > 0)
        assert (np.abs(found - share * state_rows) <= 1.0 + 1e-6).all()
