"""The size of a junction tree into which a clique is laid, against one that is built."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core.planning.junction_tree import (
    JunctionTree,
    forecast,
    junction_tree,
    maximal_cliques,
    total_cells,
)
from prism_core.planning.widened import widened_cells


@st.composite
def trees(draw):
    names = [f"v{i}" for i in range(draw(st.integers(1, 7)))]
    sizes = {name: draw(st.integers(1, 5)) for name in names}
    subset = st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)
    cliques = [tuple(sorted(clique)) for clique in draw(st.lists(subset, max_size=8))]
    asked = [tuple(clique) for clique in draw(st.lists(subset, min_size=1, max_size=6))]
    return sizes, junction_tree(maximal_cliques(sizes, cliques)), asked


def linked(tree: JunctionTree) -> nx.Graph:
    """The tree, its roots joined to an empty clique."""
    graph = nx.Graph()
    graph.add_node(-1)
    for index, parent in enumerate(tree.parents):
        graph.add_edge(index, -1 if parent is None else parent)
    return graph


def laid_in(tree, clique, meeting):
    """The cliques of the tree with the clique's columns carried to one of them."""
    graph = linked(tree)
    wide = {index: set(names) for index, names in enumerate(tree.cliques)} | {-1: set()}
    for name in clique:
        holders = [index for index, names in enumerate(tree.cliques) if name in names]
        ways = [nx.shortest_path(graph, home, meeting) for home in holders]
        for index in min(ways, key=len):
            wide[index].add(name)
    return graph, wide


def is_junction_tree(graph, wide):
    columns = set().union(*wide.values())
    return all(
        nx.is_connected(graph.subgraph([index for index, held in wide.items() if name in held]))
        for name in columns
    )


@given(trees())
def test_it_is_the_size_of_a_junction_tree_that_holds_the_clique(made):
    sizes, tree, asked = made
    for clique, told in zip(asked, widened_cells(tree, sizes, asked), strict=True):
        best = math.inf
        homes = {
            next(index for index, names in enumerate(tree.cliques) if name in names)
            for name in clique
        }
        for meeting in homes:
            graph, wide = laid_in(tree, clique, meeting)
            assert is_junction_tree(graph, wide)
            assert set(clique) <= wide[meeting]
            cells = [math.prod(sizes[x] for x in held) for held in wide.values()]
            best = min(best, sum(cells) - (math.prod(sizes[x] for x in wide[-1]) == 1))
        assert told == best


@given(trees())
def test_what_is_covered_costs_nothing_and_all_else_something(made):
    sizes, tree, asked = made
    now = total_cells(sizes, tree.cliques)
    for clique, cells in zip(asked, widened_cells(tree, sizes, asked), strict=True):
        covered = any(set(clique) <= set(held) for held in tree.cliques)
        if covered:
            assert cells == now
        elif all(sizes[name] > 1 for name in clique):
            assert cells > now


def test_a_chain_closed_to_a_ring():
    names = [f"v{i}" for i in range(6)]
    sizes = dict.fromkeys(names, 4)
    pairs = list(itertools.pairwise(names))
    tree = junction_tree(maximal_cliques(sizes, pairs))
    # v5 is carried into (v4, v3), (v3, v2), (v2, v1) and (v1, v0), or v0 the other way.
    assert widened_cells(tree, sizes, [("v0", "v5")]).tolist() == [16 + 4 * 64]
    assert forecast(sizes, [*pairs, ("v0", "v5")]).cells == 4 * 64


@pytest.mark.parametrize("count", [0, 1, 5_000])
def test_as_many_as_are_asked_for(count):
    sizes = {"a": 2, "b": 3, "y": 2}
    tree = junction_tree(maximal_cliques(sizes, [("a", "y")]))
    found = widened_cells(tree, sizes, [("a", "b")] * count)
    assert found.tolist() == [found[0]] * count if count else not found.size
