"""The same tree from another clique: every edge keeps its separator, parents come first."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from prism_core.planning.junction_tree import JunctionTree, junction_tree, rooted

CHAIN = junction_tree((("a", "b"), ("b", "c"), ("c", "y"), ("d",)))


def test_the_order_stays_where_the_first_clique_holds_the_target():
    for names in ((), ("a",), ("b",)):
        assert rooted(CHAIN, names) == tuple(enumerate(CHAIN.separators))


def test_from_the_other_end():
    order = rooted(CHAIN, ("y",))
    assert [CHAIN.cliques[index] for index, _ in order] == [
        ("c", "y"), ("b", "c"), ("a", "b"), ("d",)
    ]  # fmt: skip
    assert [separator for _, separator in order] == [(), ("c",), ("b",), ()]


def test_of_several_targets_the_clique_with_most_comes_first():
    tree = JunctionTree(
        cliques=(("a", "y"), ("a", "y", "z")), parents=(None, 0), separators=((), ("a", "y"))
    )
    assert rooted(tree, ("y", "z"))[0] == (1, ())


@pytest.mark.parametrize("seed", range(30))
def test_every_random_tree_meets_its_predecessors_in_its_separator(seed):
    rng = np.random.default_rng(seed)
    names = [f"x{i}" for i in range(9)]
    cliques = [tuple(sorted(rng.choice(names, 3, replace=False))) for _ in range(5)]
    found = [c for c in dict.fromkeys(cliques) if c != cliques[0]]
    tree = junction_tree((cliques[0], *found))
    for name in itertools.chain(*tree.cliques):
        order = rooted(tree, (name,))
        assert sorted(index for index, _ in order) == list(range(len(tree.cliques)))
        assert name in tree.cliques[order[0][0]]
        assert sorted(separator for _, separator in order) == sorted(tree.separators)
        assert all(set(separator) <= set(tree.cliques[index]) for index, separator in order)
