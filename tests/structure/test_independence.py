"""What a graph implies."""

from __future__ import annotations

import itertools
from itertools import islice

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core.errors import StructureError
from prism_core.structure.dag import Dag
from prism_core.structure.independence import (
    Independence,
    blanket_sufficiency,
    d_separated,
    local_basis,
    missing_edges,
)

CHAIN = Dag(nodes=("a", "b", "c"), edges=(("a", "b"), ("b", "c")))
COLLIDER = Dag(nodes=("a", "b", "c", "d"), edges=(("a", "c"), ("b", "c"), ("c", "d")))


def test_the_three_ways_three_nodes_can_meet():
    assert not d_separated(CHAIN, "a", "c")
    assert d_separated(CHAIN, "a", "c", {"b"})
    fork = Dag(nodes=("a", "b", "c"), edges=(("b", "a"), ("b", "c")))
    assert not d_separated(fork, "a", "c")
    assert d_separated(fork, "a", "c", ["b"])
    assert d_separated(COLLIDER, "a", "b")
    assert not d_separated(COLLIDER, "a", "b", ("c",))
    assert not d_separated(COLLIDER, ("a",), ["b"], ("d",))


@pytest.mark.parametrize(
    ("arguments", "field", "expected"),
    [
        (("z", "a", ()), "left", "left names 'z', which is not a node"),
        (("a", "z", ()), "right", "right names 'z'"),
        (("a", "b", ("z",)), "given", "given names 'z'"),
        (("a", "a", ()), "right", "'a' stands in left and in right"),
        (("a", "b", ("a",)), "given", "'a' stands in left and in given"),
        (("a", "b", ("b",)), "given", "'b' stands in right and in given"),
        (((), "b", ()), "left", "left is empty"),
        (("a", (), ()), "right", "right is empty"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(arguments, field, expected):
    with pytest.raises(StructureError, match=expected) as caught:
        d_separated(CHAIN, *arguments)
    assert caught.value.field == field


def test_worked_examples():
    assert [str(one) for one in local_basis(CHAIN)] == ["c ⫫ a | b"]
    assert [str(one) for one in missing_edges(COLLIDER)] == ["a ⫫ b", "a ⫫ d | c", "b ⫫ d | c"]
    assert [str(one) for one in missing_edges(COLLIDER, of="d")] == ["a ⫫ d | c", "b ⫫ d | c"]
    assert list(missing_edges(COLLIDER, measured=("a", "b", "d"))) == [
        Independence(left=("a",), right=("b",))
    ]
    full = Dag(nodes=("a", "b"), edges=(("a", "b"),))
    assert list(missing_edges(full)) == list(local_basis(full)) == []
    for bad in ({"of": "z"}, {"measured": ("z",)}):
        with pytest.raises(StructureError, match="names 'z', which is not a node"):
            list(missing_edges(CHAIN, **bad))


def separated_by_paths(dag: Dag, one: str, other: str, given_nodes: set[str]) -> bool:
    """The definition: every path holds a closed node."""
    skeleton = dag.graph.to_undirected()
    for path in nx.all_simple_paths(skeleton, one, other):
        closed = False
        for before, node, after in zip(path, path[1:], path[2:], strict=False):
            meets = dag.graph.has_edge(before, node) and dag.graph.has_edge(after, node)
            below = {node} | nx.descendants(dag.graph, node)
            closed |= (not below & given_nodes) if meets else node in given_nodes
        if not closed:
            return False
    return True


@given(st.from_type(Dag), st.data())
def test_d_separation_is_what_its_definition_says(dag, data):
    if len(dag.nodes) < 2:
        return
    one, other = data.draw(st.permutations(dag.nodes))[:2]
    rest = [node for node in dag.nodes if node not in {one, other}]
    chosen = data.draw(st.sets(st.sampled_from(rest))) if rest else set()
    assert d_separated(dag, one, other, chosen) == separated_by_paths(dag, one, other, chosen)


@given(st.from_type(Dag))
def test_every_statement_holds_and_no_missing_edge_is_forgotten(dag):
    for statement in [*local_basis(dag), *missing_edges(dag)]:
        assert d_separated(dag, statement.left, statement.right, statement.given)
    found = list(missing_edges(dag))
    joined = {frozenset(edge) for edge in dag.edges}
    apart = {frozenset(pair) for pair in itertools.combinations(dag.nodes, 2)} - joined
    assert [frozenset((*s.left, *s.right)) for s in found] == [
        frozenset(pair) for pair in itertools.combinations(dag.nodes, 2) if frozenset(pair) in apart
    ]
    for statement in found:
        for name in statement.given:
            smaller = [other for other in statement.given if other != name]
            assert not d_separated(dag, statement.left, statement.right, smaller)


@given(st.from_type(Dag))
def test_the_local_basis_fixes_the_graph_up_to_what_it_implies(dag):
    """A graph with another statement of some missing edge cannot have the same basis."""
    implied = {
        (frozenset(pair), size)
        for pair in itertools.combinations(dag.nodes, 2)
        for size in [d_separated(dag, pair[0], pair[1])]
    }
    rebuilt = Dag(
        nodes=dag.nodes,
        edges=tuple(
            (parent, node)
            for node in dag.nodes
            for parent in next(
                (s.given for s in local_basis(dag) if s.left == (node,)), dag.parents(node)
            )
        ),
    )
    assert {
        (frozenset(pair), d_separated(rebuilt, pair[0], pair[1]))
        for pair in itertools.combinations(dag.nodes, 2)
    } == implied


def test_two_hundred_columns_are_listed_lazily():
    nodes = tuple(f"n{i}" for i in range(200))
    dag = Dag(
        nodes=nodes,
        edges=tuple((nodes[i], nodes[j]) for i in range(200) for j in (i + 1, i + 9) if j < 200),
    )
    assert len(list(local_basis(dag))) == 198
    for statement in islice(missing_edges(dag), 20):
        assert d_separated(dag, statement.left, statement.right, statement.given)


def test_the_blanket_is_said_to_be_enough():
    text = blanket_sufficiency(COLLIDER, "a")
    assert "MB(a) = {b, c} separates a from d" in text
    assert "no row was read" in text
    assert "the other 2 columns" in blanket_sufficiency(COLLIDER, "d").replace("MB(d) = {c}", "")
    assert "holds every other column" in blanket_sufficiency(CHAIN, "b")
    with pytest.raises(StructureError, match="'z' is not a node"):
        blanket_sufficiency(CHAIN, "z")


@given(st.from_type(Dag), st.data())
def test_the_blanket_is_always_enough(dag, data):
    assert blanket_sufficiency(dag, data.draw(st.sampled_from(dag.nodes)))
