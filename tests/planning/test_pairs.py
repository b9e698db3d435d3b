"""The pairs that nobody lists, against the list."""

from __future__ import annotations

import itertools

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.planning import candidates
from prism_core.planning.candidates import Pairs, forest_candidates, three_way_candidates

SIZES = st.lists(st.integers(1, 12), min_size=2, max_size=9)


@given(sizes=SIZES, most=st.integers(0, 150), data=st.data())
def test_pairs_are_those_of_the_list(sizes, most, data):
    names = tuple(f"c{i}" for i in range(len(sizes)))
    size = dict(zip(names, sizes, strict=True))
    tied = data.draw(st.frozensets(st.sampled_from(names)))
    pairs = Pairs(names=names, sizes=tuple(sizes), most=most, tied=tied)
    every = list(itertools.combinations(names, 2))
    brute = [p for p in every if size[p[0]] * size[p[1]] <= most and not tied.issuperset(p)]
    assert list(pairs) == brute
    assert len(pairs) == len(brute)
    assert [pair for pair in every if pair in pairs] == brute
    assert not any((v, u) in pairs for u, v in every)
    assert ("c0", "stranger") not in pairs
    cells = sorted((size[u] * size[v] for u, v in brute), reverse=True)
    assert pairs.cells == sum(cells)
    for count in range(len(brute) + 2):
        assert pairs.largest(count) == cells[:count]
    if brute:
        assert pairs[0] == brute[0]
        assert pairs[-1:] == tuple(brute[-1:])


@given(sizes=SIZES, limit=st.integers(1, 300), data=st.data())
def test_rounds_are_the_edges_of_a_spanning_forest(sizes, limit, data):
    names = tuple(f"c{i}" for i in range(len(sizes)))
    schema = Schema(
        columns=tuple(
            Column(name=name, kind="categorical", levels=tuple(range(size)))
            for name, size in zip(names, sizes, strict=True)
        )
    )
    features = names[1:]
    joined = schema.canonical(data.draw(st.frozensets(st.sampled_from(features))))
    rounds_at_most = max(1, len(features) - 1)
    base = candidates.MAX_TREE_CELLS - limit * rounds_at_most
    found = forest_candidates(schema, "c0", joined, base)
    brute = [
        pair
        for pair in itertools.combinations(features, 2)
        if not set(joined).issuperset(pair) and schema.cells((*pair, "c0")) <= limit
    ]
    assert list(found.pairs) == brute
    graph = nx.Graph(brute)
    graph.add_nodes_from(features)
    graph.add_edges_from(itertools.pairwise(joined))
    groups = len(features) - max(0, len(joined) - 1)
    assert found.rounds == groups - nx.number_connected_components(graph)
    if not joined:
        three = three_way_candidates(features[:4], found, 20)
        assert list(three.pairs) == [pair for pair in brute if set(features[:4]).issuperset(pair)]
