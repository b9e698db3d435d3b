"""Junction trees of random graphs against networkx and the definitions."""

from __future__ import annotations

import itertools
import math

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_core.data.column import Column
from prism_core.data.schema import Schema
from prism_core.planning.choices import with_forest
from prism_core.planning.design import design, with_features
from prism_core.planning.junction_tree import (
    forecast,
    interaction_graph,
    junction_tree,
    maximal_cliques,
    total_cells,
)
from prism_core.planning.task import ALLOCATIONS, MODELS, Budget, Synthesis, Task


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
        target="c0", regime="predictive", k=data.draw(st.integers(1, count)),
        max_joint_cells=data.draw(st.sampled_from([0, 20, 5_000])),
    )  # fmt: skip
    budget = Budget(
        accountant=data.draw(st.sampled_from(["zcdp", "basic"])),
        allocation=data.draw(st.sampled_from(ALLOCATIONS)),
    )
    synthesis = Synthesis(model=data.draw(st.sampled_from(MODELS)))
    plan = design(schema, task, budget, 1_000, synthesis=synthesis)
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
    plan = with_features(design(schema, task, Budget(), 500), schema.names[1:])
    found = []
    for pairs in itertools.combinations(plan.tree.candidates, plan.tree.rounds):
        if nx.is_forest(nx.Graph(pairs)):
            found.append(with_forest(plan, pairs).forecast.cells)
    assert len(found) == 16  # Cayley: 4 ** 2 spanning trees
    assert max(found) <= plan.forecast.cells
