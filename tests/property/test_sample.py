"""Samples of random junction trees stay in the domain and keep their totals."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_core.planning.junction_tree import junction_tree, maximal_cliques
from prism_core.synthesis.sample import sample_tree


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
