"""Junction trees: triangulation, forecasts, roots and widening, by hand and on random graphs."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.planning.brief import Brief
from prism_core.planning.choices import with_forest
from prism_core.planning.design import design, with_features
from prism_core.planning.tree.junction_tree import (
    BYTES_PER_CELL,
    Forecast,
    JunctionTree,
    forecast,
    junction_tree,
    maximal_cliques,
    rooted,
    total_cells,
)
from prism_core.planning.tree.size import enlarged_cells
from prism_core.planning.wishes.task import ALLOCATIONS, MODELS, Budget, Synthesis, Task
from tests.support.interaction_graphs import interaction_graph

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


@st.composite
def models(draw):
    names = [f"v{i}" for i in range(draw(st.integers(1, 8)))]
    sizes = {name: draw(st.integers(1, 6)) for name in names}
    subset = st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)
    cliques = [tuple(sorted(c)) for c in draw(st.lists(subset, max_size=9))]
    last = tuple(draw(st.lists(st.sampled_from(names), max_size=1)))
    return sizes, cliques, last


@given(models())
def test_a_triangulation_is_chordal_and_covers_everything(model):
    sizes, cliques, last = model
    found = maximal_cliques(sizes, cliques, last=last)
    graph = interaction_graph(sizes, found)
    assert set(graph) == set(sizes)
    if graph.number_of_nodes() > 3:
        assert nx.is_chordal(graph)
    for clique in cliques:
        assert any(set(clique) <= set(other) for other in found)
    # Maximal, and exactly the maximal cliques that networkx finds by brute force.
    assert {frozenset(c) for c in found} == {frozenset(c) for c in nx.find_cliques(graph)}
    position = {name: i for i, name in enumerate(sizes)}
    assert all(list(c) == sorted(c, key=position.__getitem__) for c in found)


@given(models())
def test_running_intersection(model):
    sizes, cliques, last = model
    found = maximal_cliques(sizes, cliques, last=last)
    tree = junction_tree(found)
    assert sorted(tree.cliques) == sorted(found)
    before: set[str] = set()
    for clique, parent, separator in zip(tree.cliques, tree.parents, tree.separators, strict=True):
        # What a clique shares with all of its predecessors stands in its parent alone.
        assert before & set(clique) == set(separator)
        if parent is not None:
            assert set(separator) <= set(tree.cliques[parent])
        before |= set(clique)
    for name in sizes:  # the cliques of a column are connected in the tree
        holders = {i for i, clique in enumerate(tree.cliques) if name in clique}
        links = [(i, p) for i, p in enumerate(tree.parents) if p in holders and i in holders]
        assert len(links) == len(holders) - 1


@given(models())
def test_the_forecast_is_the_real_size(model):
    sizes, cliques, last = model
    found = maximal_cliques(sizes, cliques, last=last)
    cells = [math.prod(sizes[name] for name in clique) for clique in found]
    size = forecast(sizes, cliques, last=last)
    assert (size.largest_clique, size.cells, size.exact) == (max(cells), sum(cells), True)
    assert total_cells(sizes, found) == sum(cells)


def test_fewer_cells_in_all_do_not_buy_a_larger_clique():
    """Removing w first leaves 99 cells, 81 of them in {u, v, w}; the forest's bound is 54."""
    sizes = {"y": 2, "u": 3, "v": 3, "w": 9}
    cliques = [("y", "u"), ("y", "v"), ("u", "w"), ("v", "w")]
    size = forecast(sizes, cliques, last=("y",))
    assert (size.largest_clique, size.cells) == (54, 108)


def random_forest(draw, plan):
    joined = nx.utils.UnionFind(name for name in plan.schema.names if name != plan.task.target)
    if len(plan.tree.joined) > 1:
        joined.union(*plan.tree.joined)
    chosen = []
    for _ in range(plan.tree.rounds):
        open_pairs = [p for p in plan.tree.candidates if joined[p[0]] != joined[p[1]]]
        chosen.append(draw(st.sampled_from(open_pairs)))
        joined.union(*chosen[-1])
    return tuple(chosen)


@settings(max_examples=80)
@given(st.data())
def test_the_worst_case_is_never_below_what_comes(data):
    """Over every S that may be chosen and every spanning forest."""
    count = data.draw(st.integers(2, 7))
    sizes = data.draw(st.lists(st.sampled_from([1, 2, 2, 3, 5, 9]), min_size=count, max_size=count))
    schema = Schema(
        columns=tuple(
            Column(name=f"c{i}", kind="categorical", levels=tuple(range(size)))
            for i, size in enumerate([data.draw(st.integers(2, 3)), *sizes])
        ),
        one_row_per_person=True,
    )
    task = Task(
        target="c0",
        regime="predictive",
        k=data.draw(st.integers(1, count)),
        max_joint_cells=data.draw(st.sampled_from([0, 20, 5_000])),
    )
    budget = Budget(
        accountant=data.draw(st.sampled_from(["zcdp", "basic"])),
        allocation=data.draw(st.sampled_from(ALLOCATIONS)),
    )
    synthesis = Synthesis(model=data.draw(st.sampled_from(MODELS)))
    plan = design(Brief(schema, task, budget, 1_000, synthesis=synthesis))
    s = data.draw(st.permutations(schema.names[1:]))[: task.k]
    known = with_features(plan, s)
    assert known.forecast.cells <= plan.forecast.cells
    assert known.forecast.largest_clique <= plan.forecast.largest_clique
    if known.tree is None:
        return
    assert not known.forecast.exact
    final = with_forest(known, random_forest(data.draw, known))
    assert final.forecast.exact
    assert final.forecast.cells <= known.forecast.cells
    assert final.forecast.largest_clique <= known.forecast.largest_clique
    exact = maximal_cliques(final.sizes, final.cliques, last=("c0",))
    assert final.forecast.cells == total_cells(final.sizes, exact)


def test_every_spanning_forest_of_a_small_plan_fits_its_worst_case():
    schema = Schema(
        columns=tuple(
            Column(name=f"c{i}", kind="categorical", levels=tuple(range(size)))
            for i, size in enumerate([2, 2, 3, 4, 2])
        ),
        one_row_per_person=True,
    )
    task = Task(target="c0", regime="predictive", k=4, max_joint_cells=0, three_way="none")
    plan = with_features(design(Brief(schema, task, Budget(), 500)), schema.names[1:])
    found = []
    for pairs in itertools.combinations(plan.tree.candidates, plan.tree.rounds):
        if nx.is_forest(nx.Graph(pairs)):
            found.append(with_forest(plan, pairs).forecast.cells)
    assert len(found) == 16  # Cayley: 4 ** 2 spanning trees
    assert max(found) <= plan.forecast.cells


CHAIN = junction_tree((("a", "b"), ("b", "c"), ("c", "y"), ("d",)))


def test_the_order_stays_where_the_first_clique_holds_the_target():
    for names in ((), ("a",), ("b",)):
        assert rooted(CHAIN, names) == tuple(enumerate(CHAIN.separators))


def test_from_the_other_end():
    order = rooted(CHAIN, ("y",))
    assert [CHAIN.cliques[index] for index, _ in order] == [
        ("c", "y"),
        ("b", "c"),
        ("a", "b"),
        ("d",),
    ]
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
    for clique, told in zip(asked, enlarged_cells(tree, sizes, asked), strict=True):
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
    for clique, cells in zip(asked, enlarged_cells(tree, sizes, asked), strict=True):
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
    assert enlarged_cells(tree, sizes, [("v0", "v5")]).tolist() == [16 + 4 * 64]
    assert forecast(sizes, [*pairs, ("v0", "v5")]).cells == 4 * 64


@pytest.mark.parametrize("count", [0, 1, 5_000])
def test_as_many_as_are_asked_for(count):
    sizes = {"a": 2, "b": 3, "y": 2}
    tree = junction_tree(maximal_cliques(sizes, [("a", "y")]))
    found = enlarged_cells(tree, sizes, [("a", "b")] * count)
    assert found.tolist() == [found[0]] * count if count else not found.size
