"""The graph: what it refuses, in whose words."""

from __future__ import annotations

import pickle

import pytest

from prism_core.errors import CycleError, StructureError
from prism_core.structure.dag import Dag, find_cycle
from prism_core.structure.roles import ROLE_TEXT, node_roles, roles, touching


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
    with pytest.raises(StructureError, match="'z' is not a node of the graph"):
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
        "z": "ancestor", "p": "parent", "y": "target", "c": "child", "s": "co_parent",
        "d": "other", "o": "other",
    }  # fmt: skip
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
