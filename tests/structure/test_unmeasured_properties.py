"""Graphs with unmeasured nodes against their definitions, on random graphs.

Two independent readings: networkx' d-separation on the whole graph, and linear Gaussian worlds, in
which what the graph says can be computed from the covariance of the columns alone.
"""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_core.errors import StructureError
from prism_core.structure import formats
from prism_core.structure.dag import Dag
from prism_core.structure.independence import (
    blanket_sufficiency,
    changes_not_covered,
    local_basis,
    missing_edges,
)
from prism_core.structure.roles import node_roles, roles
from tests.support.refusals import refused

EXACT = settings(max_examples=200, derandomize=True)
"""Numbers are compared: always the same worlds, so that no unlucky weights come up one day."""


@st.composite
def hidden_graphs(draw: st.DrawFn) -> Dag:
    """Up to eight nodes in a causal order, up to three of them unmeasured."""
    size = draw(st.integers(3, 8))
    nodes = [f"n{i}" for i in range(size)]
    pairs = list(itertools.combinations(nodes, 2))
    kept = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    hidden = draw(st.sets(st.sampled_from(nodes), max_size=min(3, size - 2)))
    shown = draw(st.permutations(nodes))
    return Dag(
        nodes=tuple(shown),
        unmeasured=tuple(hidden),
        edges=tuple(pair for pair, there in zip(pairs, kept, strict=True) if there),
    )


def separates(dag: Dag, given_nodes: set[str], node: str) -> bool:
    rest = set(dag.measured) - given_nodes - {node}
    return not rest or nx.is_d_separator(dag.graph, {node}, rest, given_nodes)


@given(hidden_graphs(), st.data())
def test_the_blanket_is_the_smallest_set_of_columns_that_separates(dag, data):
    y = data.draw(st.sampled_from(dag.measured))
    blanket = set(dag.markov_blanket(y))
    others = [node for node in dag.measured if node != y]
    assert blanket <= set(others)
    enough = [
        set(chosen)
        for size in range(len(others) + 1)
        for chosen in itertools.combinations(others, size)
        if separates(dag, set(chosen), y)
    ]
    assert blanket in enough
    assert all(blanket <= chosen for chosen in enough)
    assert f"MB({y})" in blanket_sufficiency(dag, y)
    for other in others:  # so several targets can be protected together
        assert (other in blanket) == (y in dag.markov_blanket(other))


@given(hidden_graphs(), st.data())
def test_the_statements_are_about_columns_and_true(dag, data):
    y = data.draw(st.sampled_from(dag.measured))
    for fact in [*local_basis(dag), *missing_edges(dag), *missing_edges(dag, of=y)]:
        named = {*fact.left, *fact.right, *fact.given}
        assert named <= set(dag.measured)
        assert nx.is_d_separator(dag.graph, set(fact.left), set(fact.right), set(fact.given))
    pairs = {frozenset((*fact.left, *fact.right)) for fact in missing_edges(dag)}
    for one, other in itertools.combinations(dag.measured, 2):
        rest = [node for node in dag.measured if node not in {one, other}]
        apart = any(
            nx.is_d_separator(dag.graph, {one}, {other}, set(chosen))
            for size in range(len(rest) + 1)
            for chosen in itertools.combinations(rest, size)
        )
        assert (frozenset((one, other)) in pairs) == apart


@given(hidden_graphs(), st.data())
def test_a_change_is_covered_when_one_more_cause_of_the_node_is_separated(dag, data):
    y = data.draw(st.sampled_from(dag.measured))
    others = [node for node in dag.measured if node != y]
    s = data.draw(st.sets(st.sampled_from(others)))
    found = changes_not_covered(dag, y, s)
    for node in dag.nodes:
        if node == y:
            continue
        changed = nx.DiGraph(dag.graph)
        changed.add_edge("change", node)
        apart = nx.is_d_separator(changed, {"change"}, {y}, s)
        assert (node in found) == (not apart)
    full = Dag(nodes=dag.nodes, edges=dag.edges)
    assert changes_not_covered(full, y, full.parents(y)) == ()


@given(hidden_graphs(), st.data())
def test_roles_and_projected_neighbours(dag, data):
    y = data.draw(st.sampled_from(dag.measured))
    hidden = set(dag.unmeasured)

    def joined(cause: str, effect: str) -> bool:
        between = dag.graph.subgraph(hidden | {cause, effect})
        return nx.has_path(between, cause, effect)

    others = [node for node in dag.measured if node != y]
    assert set(dag.measured_parents(y)) == {node for node in others if joined(node, y)}
    assert set(dag.measured_children(y)) == {node for node in others if joined(y, node)}
    found = roles(dag, y)
    assert {node for node, role in found.items() if role == "unmeasured"} == hidden
    near = {n for n, role in found.items() if role in {"parent", "child", "co_parent", "tied"}}
    assert near == set(dag.markov_blanket(y))
    for name in hidden:
        with refused(StructureError, "s"):
            node_roles(dag, y, (name,))


@given(hidden_graphs(), st.sampled_from(sorted(formats.FORMATS)))
def test_a_mark_reads_back_or_is_refused(dag, form):
    if form not in formats.holding(dag):
        assert dag.unmeasured
        with pytest.raises(StructureError, match=f"{form} cannot say that .* is unmeasured"):
            formats.write(dag, form)
        return
    again = formats.read(formats.write(dag, form))
    assert again == dag or form in {"edge-list", "adjacency", "model-string", "bif"}
    assert set(again.unmeasured) == set(dag.unmeasured)
    assert set(again.edges) == set(dag.edges)


class World:
    """A linear Gaussian world along the graph: x = W x + m + noise."""

    def __init__(self, dag: Dag, rng: np.random.Generator) -> None:
        self.order = {node: place for place, node in enumerate(dag.nodes)}
        size = len(dag.nodes)
        self.weights = np.zeros((size, size))
        for cause, effect in dag.edges:
            sign = rng.choice((-1.0, 1.0))
            self.weights[self.order[effect], self.order[cause]] = sign * rng.uniform(0.5, 1.5)
        self.noise, self.means = rng.uniform(0.5, 2.0, size), rng.normal(size=size)

    def change(self, node: str, rng: np.random.Generator) -> World:
        """Another way in which one node comes about."""
        other = object.__new__(World)
        place = self.order[node]
        other.order, other.weights = self.order, self.weights.copy()
        other.noise, other.means = self.noise.copy(), self.means.copy()
        other.weights[place] *= rng.uniform(0.2, 0.6)
        other.noise[place] *= rng.uniform(3.0, 5.0)
        other.means[place] += rng.uniform(1.0, 2.0)
        return other

    def law(self, names: list[str]) -> tuple[np.ndarray, np.ndarray]:
        mixing = np.linalg.inv(np.eye(len(self.order)) - self.weights)
        places = [self.order[name] for name in names]
        cov = mixing @ np.diag(self.noise) @ mixing.T
        return (mixing @ self.means)[places], cov[np.ix_(places, places)]

    def given(self, y: str, s: list[str]) -> np.ndarray:
        """Slopes, intercept and variance of y given s."""
        mean, cov = self.law([y, *s])
        slopes = np.linalg.solve(cov[1:, 1:], cov[1:, 0]) if s else np.zeros(0)
        return np.array([*slopes, mean[0] - slopes @ mean[1:], cov[0, 0] - slopes @ cov[1:, 0]])


@EXACT
@given(hidden_graphs(), st.data())
def test_the_blanket_is_what_a_linear_world_predicts_from(dag, data):
    y = data.draw(st.sampled_from(dag.measured))
    world = World(dag, np.random.default_rng(data.draw(st.integers(0, 2**32 - 1))))
    names = [y, *(node for node in dag.measured if node != y)]
    _, cov = world.law(names)
    precision = np.linalg.inv(cov)
    used = np.abs(precision[0]) / np.sqrt(precision[0, 0] * np.diag(precision)) > 1e-9
    assert {name for name, on in zip(names, used, strict=True) if on} - {y} == set(
        dag.markov_blanket(y)
    )


@EXACT
@given(hidden_graphs(), st.data())
def test_what_a_linear_world_predicts_stays_where_a_change_is_covered(dag, data):
    y = data.draw(st.sampled_from(dag.measured))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    world, s = World(dag, rng), list(dag.measured_parents(y))
    found = changes_not_covered(dag, y, s)
    for node in dag.nodes:
        if node != y:
            gap = np.abs(world.given(y, s) - world.change(node, rng).given(y, s)).max()
            assert (gap > 1e-9) == (node in found), node


@given(hidden_graphs(), st.data())
def test_without_unmeasured_nodes_nothing_is_different(dag, data):
    full = Dag(nodes=dag.nodes, edges=dag.edges)
    y = data.draw(st.sampled_from(full.nodes))
    assert full.measured == full.nodes
    assert full.measured_parents(y) == full.parents(y)
    assert full.measured_children(y) == full.children(y)
    assert set(full.markov_blanket(y)) == {*full.parents(y), *full.children(y), *full.co_parents(y)}
    assert all(fact.given == full.parents(fact.left[0]) for fact in local_basis(full))
