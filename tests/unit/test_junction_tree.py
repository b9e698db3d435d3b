"""Triangulation and junction trees on graphs that can be checked by hand."""

from __future__ import annotations

import itertools

import pytest

from prism_core.planning.junction_tree import (
    BYTES_PER_CELL,
    Forecast,
    forecast,
    interaction_graph,
    junction_tree,
    maximal_cliques,
    total_cells,
)

SIZES = {"a": 2, "b": 3, "c": 5, "d": 7, "y": 2}


def test_a_star_is_its_own_junction_tree():
    star = [("a", "y"), ("b", "y"), ("c", "y")]
    cliques = maximal_cliques(SIZES, star, last=("y",))
    assert cliques == (("a", "y"), ("b", "y"), ("c", "y"), ("d",))
    tree = junction_tree(cliques)
    assert set(tree.cliques) == set(cliques)
    assert sum(parent is None for parent in tree.parents) == 2  # d stands alone
    assert sorted(tree.separators) == [(), (), ("y",), ("y",)]


def test_a_cycle_gets_its_cheaper_chord():
    cycle = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]
    cliques = maximal_cliques(SIZES, cycle)
    # Chord a-c: 2*3*5 + 2*5*7 = 100; chord b-d: 2*3*7 + 3*5*7 = 147.
    assert set(cliques) == {("a", "b", "c"), ("a", "c", "d"), ("y",)}
    assert total_cells(SIZES, cliques) == 102


def test_cliques_inside_others_vanish():
    cliques = maximal_cliques(SIZES, [("a", "b", "c"), ("a", "b"), ("c",)])
    assert cliques == (("a", "b", "c"), ("d",), ("y",))


def test_columns_in_no_clique_stand_alone():
    assert maximal_cliques({"a": 2, "b": 2}, []) == (("a",), ("b",))


def test_forecast_is_the_size_of_the_cliques():
    size = forecast(SIZES, [("a", "y"), ("b", "y"), ("c",), ("d",)])
    assert size == Forecast(largest_clique=7, cells=4 + 6 + 5 + 7, exact=True)
    assert size.megabytes == 22 * BYTES_PER_CELL / 2**20


def test_parents_come_first_and_separators_are_shared():
    chain = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "y")]
    tree = junction_tree(maximal_cliques(SIZES, chain))
    for i, (clique, parent) in enumerate(zip(tree.cliques, tree.parents, strict=True)):
        if parent is None:
            assert tree.separators[i] == ()
        else:
            assert parent < i
            assert set(tree.separators[i]) == set(clique) & set(tree.cliques[parent])


def test_interaction_graph():
    graph = interaction_graph("abcd", [("a", "b", "c"), ("d",)])
    assert set(map(frozenset, graph.edges)) == {
        frozenset(pair) for pair in itertools.combinations("abc", 2)
    }
    assert "d" in graph


@pytest.mark.parametrize("spread", [1, 4])
def test_a_forest_under_y_never_makes_a_clique_beyond_y_and_a_pair(spread):
    """The bound that every plan rests on: {y, u, v} for the edges (u, v) of a forest."""
    names = [f"x{i}" for i in range(12)]
    sizes = {**{name: 2 + i % spread for i, name in enumerate(names)}, "y": 3}
    forest = [(names[i // 2], names[i]) for i in range(1, 12)]
    for joined in (3, 7, 12):
        star = [(name, "y") for name in names[:joined]]
        cliques = maximal_cliques(sizes, [*star, *forest], last=("y",))
        bound = sum(3 * sizes[u] * sizes[v] for u, v in forest)
        alone = sum(3 * sizes[name] for name in names)
        assert total_cells(sizes, cliques) <= bound + alone
