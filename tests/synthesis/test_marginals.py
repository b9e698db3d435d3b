"""Many marginals of a fitted tree at once, against the joint distribution of all columns."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core.planning.tree.junction_tree import junction_tree, maximal_cliques
from prism_core.synthesis.engine import tree_marginals
from prism_core.synthesis.engine.variable_elimination import marginal_of
from prism_core.synthesis.pgm import Pgm

N = 50


@st.composite
def trees(draw):
    """A calibrated junction tree of a random joint with zeros, in one part or in several."""
    names = [f"v{i}" for i in range(draw(st.integers(1, 7)))]
    sizes = {name: draw(st.integers(1, 4)) for name in names}
    subset = st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)
    cliques = [tuple(sorted(clique)) for clique in draw(st.lists(subset, max_size=7))]
    tree = junction_tree(maximal_cliques(sizes, cliques))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    axis = {name: place for place, name in enumerate(names)}
    operands = []
    for clique in tree.cliques:
        factor = rng.dirichlet(np.full(int(np.prod([sizes[x] for x in clique])), 0.5))
        factor[rng.random(factor.shape) < draw(st.sampled_from([0.0, 0.2]))] = 0.0
        factor[0] += 0.1  # something is left of the joint
        operands += [factor.reshape([sizes[x] for x in clique]), [axis[x] for x in clique]]
    joint = np.einsum(*operands, list(axis.values()))
    joint /= joint.sum()
    tables = tuple(
        N * np.einsum(joint, list(axis.values()), [axis[x] for x in clique])
        for clique in tree.cliques
    )
    return sizes, tree, tables, joint


def asked(sizes, most=3):
    """All marginals of a few columns, in every order."""
    return [c for k in range(1, most + 1) for c in itertools.permutations(sizes, k)]


@given(trees())
def test_many_marginals_are_those_of_the_joint(made):
    sizes, tree, tables, joint = made
    before = [table.copy() for table in tables]
    found = tree_marginals.marginals_of(tree, tables, sizes, N, asked(sizes))
    assert set(found) == set(asked(sizes))
    axis = {name: place for place, name in enumerate(sizes)}
    for clique, counts in found.items():
        wanted = N * np.einsum(joint, list(axis.values()), [axis[x] for x in clique])
        np.testing.assert_allclose(counts, wanted, atol=1e-9)
    for table, known in zip(tables, before, strict=True):
        np.testing.assert_array_equal(table, known)


@given(trees())
def test_they_are_the_same_one_by_one(made):
    sizes, tree, tables, _ = made
    for clique, counts in tree_marginals.marginals_of(tree, tables, sizes, N, asked(sizes)).items():
        np.testing.assert_allclose(counts, marginal_of(tree, tables, sizes, N, clique), atol=1e-9)


def chain(columns=5, size=3):
    """A model of columns in a chain."""
    names = [f"v{i}" for i in range(columns)]
    sizes = dict.fromkeys(names, size)
    rng = np.random.default_rng(4)
    step = rng.dirichlet(np.full(size, 0.8), size)
    pairs = list(itertools.pairwise(names))
    now, tables = np.full(size, 1.0 / size), []
    for _ in pairs:
        tables.append(N * now[:, None] * step)
        now = now @ step
    tree = junction_tree(maximal_cliques(sizes, pairs))
    assert tree.cliques == tuple(pairs)
    return Pgm(sizes=sizes, n=N, tree=tree, tables=tuple(tables), loss=0.0)


def test_a_model_gives_larger_marginals_and_large_trees_too(monkeypatch):
    model = chain()
    names = tuple(model.sizes)
    wanted = [("v0", "v4"), ("v4", "v2", "v0"), names[:4], ("v0", "v4")]
    found = model.marginals(wanted)
    assert list(found) == [("v0", "v4"), ("v4", "v2", "v0"), names[:4]]
    monkeypatch.setattr(tree_marginals, "MAX_CELLS", 1)
    assert not tree_marginals.marginals_of(model.tree, model.tables, model.sizes, N, wanted)
    for clique, counts in model.marginals(wanted).items():
        np.testing.assert_allclose(counts, found[clique], atol=1e-9)


def test_what_would_need_a_huge_table_is_absent(monkeypatch):
    model = chain(columns=4, size=2)
    monkeypatch.setattr("prism_core.synthesis.engine.variable_elimination.MAX_CELLS", 8)
    assert set(model.marginals([("v0", "v3"), ("v0", "v1", "v2", "v3")])) == {("v0", "v3")}


@pytest.mark.parametrize("columns", [2, 40])
def test_far_ends_of_a_chain_are_nearly_independent(columns):
    model = chain(columns=columns)
    pair = model.marginals([("v0", f"v{columns - 1}")])["v0", f"v{columns - 1}"] / N
    apart = np.abs(pair - np.outer(pair.sum(axis=1), pair.sum(axis=0))).max()
    assert (apart < 1e-9) == (columns == 40)


def test_what_is_kept_is_little_more_than_what_was_asked_for():
    """Columns behind two neighbours, asked for in pairs: all with all of them are not kept."""
    middle = [f"m{i}" for i in range(10)]
    left, right = ([f"{side}{i}" for i in range(10)] for side in "lr")
    sizes = dict.fromkeys([*middle, *left, *right], 2)
    cliques = [tuple(middle), ("m0", *left), ("m1", *right)]
    joint = [
        np.random.default_rng(i).dirichlet(np.ones(2 ** len(c))) for i, c in enumerate(cliques)
    ]
    centre, *sides = (p.reshape([2] * len(c)) for p, c in zip(joint, cliques, strict=True))
    shared = [centre.sum(axis=tuple(a for a in range(10) if a != at)) for at in (0, 1)]
    tables = [centre] + [
        side / side.sum(axis=tuple(range(1, 11)), keepdims=True) * mass.reshape(2, *[1] * 10)
        for side, mass in zip(sides, shared, strict=True)
    ]
    tree = junction_tree(cliques)
    tables = [tables[cliques.index(clique)] for clique in tree.cliques]
    asked = [("m2", one, other) for one, other in zip(left, right, strict=True)]
    found = tree_marginals.marginals_of(tree, tables, sizes, 1.0, asked)
    owners = {id(owner): owner.size for owner in map(_owner, found.values())}
    assert sum(owners.values()) <= tree_marginals._WASTE * 8 * len(asked)
    for clique, table in found.items():
        assert np.allclose(table, marginal_of(tree, tables, sizes, 1.0, clique), atol=1e-15)


def _owner(table):
    while table.base is not None:
        table = table.base
    return table
