"""Graph facts against their definitions, on random graphs."""

from __future__ import annotations

import itertools

import networkx as nx
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from prism_core.errors import CycleError, StructureError
from prism_core.structure import formats
from prism_core.structure.dag import Dag, find_cycle
from prism_core.structure.roles import roles

PAIRS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: pair[0] != pair[1]),
    unique=True,
    max_size=14,
).map(lambda pairs: [(f"n{u}", f"n{v}") for u, v in pairs])


def separates(dag: Dag, given_nodes: set[str], node: str) -> bool:
    rest = set(dag.nodes) - given_nodes - {node}
    return not rest or nx.is_d_separator(dag.graph, {node}, rest, given_nodes)


@given(st.from_type(Dag), st.data())
def test_neighbours_are_what_the_edges_say(dag, data):
    y = data.draw(st.sampled_from(dag.nodes))
    parents = {u for u, v in dag.edges if v == y}
    children = {v for u, v in dag.edges if u == y}
    married = {u for u, v in dag.edges if v in children} - {y} - parents - children
    assert set(dag.parents(y)) == parents
    assert set(dag.children(y)) == children
    assert set(dag.co_parents(y)) == married
    assert set(dag.markov_blanket(y)) == parents | children | married
    before = {node for node in dag.nodes if node != y and nx.has_path(dag.graph, node, y)}
    assert set(dag.ancestors(y)) == before
    for found in (dag.parents(y), dag.children(y), dag.co_parents(y), dag.markov_blanket(y)):
        assert list(found) == sorted(found, key=dag.nodes.index)


@given(st.from_type(Dag), st.data())
def test_the_blanket_is_the_smallest_set_that_separates(dag, data):
    y = data.draw(st.sampled_from(dag.nodes))
    blanket = set(dag.markov_blanket(y))
    others = [node for node in dag.nodes if node != y]
    assert separates(dag, blanket, y)
    for dropped in blanket:
        assert not separates(dag, blanket - {dropped}, y)
    enough = [
        set(chosen)
        for size in range(len(others) + 1)
        for chosen in itertools.combinations(others, size)
        if separates(dag, set(chosen), y)
    ]
    assert min(map(len, enough)) == len(blanket)
    assert all(blanket <= chosen for chosen in enough)


@given(st.from_type(Dag), st.data())
def test_given_its_parents_a_node_is_separate_from_what_it_does_not_cause(dag, data):
    y = data.draw(st.sampled_from(dag.nodes))
    parents = set(dag.parents(y))
    free = set(dag.nodes) - {y} - parents - set(nx.descendants(dag.graph, y))
    assert not free or nx.is_d_separator(dag.graph, {y}, free, parents)


@given(st.from_type(Dag), st.data())
def test_every_node_has_one_role(dag, data):
    y = data.draw(st.sampled_from(dag.nodes))
    found = roles(dag, y)
    assert list(found) == list(dag.nodes)
    assert [node for node, role in found.items() if role == "target"] == [y]
    assert {n for n, role in found.items() if role == "parent"} == set(dag.parents(y))
    assert {n for n, role in found.items() if role == "child"} == set(dag.children(y))


@given(PAIRS)
def test_a_cycle_is_named_in_full_and_runs_along_the_given_edges(edges):
    cycle = find_cycle(edges)
    acyclic = nx.is_directed_acyclic_graph(nx.DiGraph(edges))
    assert (cycle == ()) == acyclic
    nodes = tuple(sorted({node for edge in edges for node in edge}))
    if acyclic:
        assert Dag(nodes=nodes, edges=tuple(edges)).edges == tuple(edges)
        return
    assert cycle[0] == cycle[-1]
    assert len(set(cycle)) == len(cycle) - 1 >= 2
    assert set(itertools.pairwise(cycle)) <= set(edges)
    with pytest.raises(CycleError) as caught:
        Dag(nodes=nodes, edges=tuple(edges))
    assert set(itertools.pairwise(caught.value.cycle)) <= set(edges)
    assert " → ".join(caught.value.cycle) in str(caught.value)


@given(st.from_type(Dag), st.sampled_from(sorted(formats.FORMATS)), st.booleans())
def test_a_graph_reads_back_as_it_was_written(dag, form, named):
    try:
        text = formats.write(dag, form)
    except StructureError as error:
        assert form in {"bif", "model-string"}
        assert "Rename the node or choose another format" in str(error)  # noqa: PT017
        return
    again = formats.read(text.encode("utf-8"), form if named else None)
    assert set(again.nodes) == set(dag.nodes)
    assert set(again.edges) == set(dag.edges)
    if form in {"node-link", "dagitty", "dot", "gml", "graphml"}:
        assert again == dag


@given(st.from_type(Dag))
def test_edges_survive_on_the_columns_of_a_table(dag):
    columns = (*reversed(dag.nodes), "another column")
    assume("another column" not in dag.nodes)
    over = dag.over(columns)
    assert over.nodes == columns
    assert over.edges == dag.edges
    for node in dag.nodes:
        assert set(over.markov_blanket(node)) == set(dag.markov_blanket(node))


@st.composite
def _mutated(draw: st.DrawFn) -> str:
    """A valid file with a few signs replaced, removed, doubled or moved."""
    form = draw(st.sampled_from(sorted(formats.FORMATS)))
    try:
        text = formats.write(draw(st.from_type(Dag)), form)
    except StructureError:
        text = "network x { } variable a { } variable b { } probability ( a | b ) { table 1; }"
    signs = st.sampled_from('{}[]()<>-@|:;,="\\/*#&\n\r 01ax') | st.characters(
        exclude_categories=["Cs"]
    )
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        gone = draw(st.integers(0, 3))
        text = text[:at] + draw(st.text(signs, max_size=3)) + text[at + gone :]
    return text


@given(
    st.text(max_size=200) | st.binary(max_size=200) | _mutated(),
    st.sampled_from([None, None, *sorted(formats.FORMATS)]),
)
@settings(max_examples=300)
def test_any_text_gives_a_graph_or_a_sentence(text, form):
    try:
        dag = formats.read(text, form)
    except StructureError as error:
        assert str(error).endswith(".")  # noqa: PT017
        assert len(str(error)) < 1_000  # noqa: PT017
    else:
        assert nx.is_directed_acyclic_graph(dag.graph)
