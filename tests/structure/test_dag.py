"""The graph: what it refuses, and its facts against their definitions on random graphs."""

from __future__ import annotations

import itertools
import pickle

import networkx as nx
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from prism_core.errors import CycleError, StructureError
from prism_core.structure import formats
from prism_core.structure.dag import Dag, find_cycle
from prism_core.structure.roles import ROLE_TEXT, node_roles, roles, touching
from tests.support.refusals import refused


def test_a_cycle_is_named_in_full():
    edges = (("age", "bmi"), ("bmi", "sugar"), ("sugar", "age"), ("age", "y"))
    with pytest.raises(CycleError) as caught:
        Dag(nodes=("age", "bmi", "sugar", "y"), edges=edges)
    assert str(caught.value) == (
        "The graph has a cycle: age → bmi → sugar → age. Remove one of these edges."
    )
    assert caught.value.cycle == ("age", "bmi", "sugar", "age")
    assert caught.value.field == "edges"
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301  (our own bytes)
    assert (str(again), again.cycle) == (str(caught.value), caught.value.cycle)


def test_two_edges_between_two_nodes_are_a_cycle():
    assert find_cycle([("a", "b"), ("b", "a")]) in {("a", "b", "a"), ("b", "a", "b")}
    assert find_cycle([("a", "b"), ("a", "c"), ("b", "c")]) == ()
    assert find_cycle([]) == ()


@pytest.mark.parametrize(
    ("nodes", "edges", "field", "text"),
    [
        (("a", "a"), (), "nodes", "appears twice"),
        (("a", "b"), (("a", "b"), ("a", "b")), "edges", "appears twice"),
        (("a", "b"), (("a", "a"),), "edges", "'a' points to itself. Remove this edge"),
        (("a", "b"), (("a", "c"),), "edges", "'a' → 'c' names 'c', which is not a node"),
    ],
)
def test_an_unusable_graph_is_refused(nodes, edges, field, text):
    with pytest.raises(StructureError, match=text) as caught:
        Dag(nodes=nodes, edges=edges)
    assert caught.value.field == field


def test_nodes_that_are_not_columns_are_named():
    dag = Dag(nodes=("age", "shoe size", "y"), edges=(("age", "y"),))
    with pytest.raises(StructureError, match=r"'shoe size'\. Rename or remove") as caught:
        dag.over(("age", "y", "sex"))
    assert "'age'" not in str(caught.value)
    many = Dag(nodes=tuple(f"n{i}" for i in range(20)))
    with pytest.raises(StructureError, match="'n7' and others"):
        many.over(("y",))


def test_columns_without_an_edge_stay_alone():
    dag = Dag(nodes=("age", "y"), edges=(("age", "y"),)).over(("y", "sex", "age"))
    assert dag.nodes == ("y", "sex", "age")
    assert dag.markov_blanket("sex") == ()


@pytest.mark.parametrize("question", ["parents", "children", "markov_blanket", "ancestors"])
def test_an_unknown_node_is_named(question):
    with refused(StructureError, "target"):
        getattr(Dag(nodes=("a",)), question)("z")


def test_a_worked_example():
    dag = Dag(
        nodes=("z", "p", "y", "c", "s", "d", "o"),
        edges=(("z", "p"), ("p", "y"), ("y", "c"), ("s", "c"), ("c", "d")),
    )
    assert dag.parents("y") == ("p",)
    assert dag.children("y") == ("c",)
    assert dag.co_parents("y") == ("s",)
    assert dag.markov_blanket("y") == ("p", "c", "s")
    assert dag.ancestors("y") == ("z", "p")
    found = roles(dag, "y")
    assert found == {
        "z": "ancestor",
        "p": "parent",
        "y": "target",
        "c": "child",
        "s": "co_parent",
        "d": "other",
        "o": "other",
    }
    assert set(found.values()) == set(ROLE_TEXT) - {"tied", "unmeasured"}


def test_a_role_comes_with_its_place_in_s():
    dag = Dag(
        nodes=("z", "p", "y", "c", "s"),
        edges=(("z", "p"), ("p", "y"), ("y", "c"), ("z", "c"), ("s", "c")),
    )
    found = {one.name: one for one in node_roles(dag, "y", ("p",))}
    assert [name for name, one in found.items() if one.in_s] == ["p"]
    assert found["p"].text == "parent: a direct cause of Y; in S"
    assert found["y"].text == "target Y"
    assert found["z"].text == (
        "co-parent: another cause of a child of Y, and an indirect cause of Y; not in S"
    )
    assert found["s"].text.endswith("child of Y; not in S")
    for bad in ("y", "nobody"):
        with pytest.raises(StructureError, match="S holds"):
            node_roles(dag, "y", (bad,))


def test_what_touches_a_set():
    dag = Dag(nodes=("z", "p", "y", "c", "o"), edges=(("z", "p"), ("p", "y"), ("y", "c")))
    assert touching(dag, ("y",)) == ("p", "y", "c")
    assert touching(dag, ("y", "p")) == ("z", "p", "y", "c")
    assert touching(dag, ()) == ()
    with pytest.raises(StructureError, match="'q' is not a node"):
        touching(dag, ("q",))


@pytest.mark.parametrize("name", ["", "\ud800", 3, None])
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises(StructureError, match="no usable name") as caught:
        Dag(nodes=("a", name))
    assert caught.value.field == "nodes"


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
