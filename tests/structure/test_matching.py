"""Nodes that are not columns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core.errors import StructureError
from prism_core.structure.dag import Dag, Drawing
from prism_core.structure.independence import d_separated
from prism_core.structure.matching import key, match, strangers, suggest, unambiguous

COLUMNS = ("age", "blood_pressure", "Größe", "sex", "sex_", "readmitted")


def graph(*edges: str, nodes: str = "") -> Dag:
    pairs = tuple(tuple(edge.split(">")) for edge in edges)
    names = dict.fromkeys([*nodes.split(), *(name for pair in pairs for name in pair)])
    return Dag(nodes=tuple(names), edges=pairs)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Blood Pressure", "blood_pressure"),
        ("blood-pressure", "BloodPressure"),
        ("GRÖSSE", "größe"),
        ("Gro\u0308ße", "Größe"),
        ("ﬁeld", "field"),
        ("x²", "x2"),
        ("a.b", "A B"),
    ],
)
def test_names_that_mean_the_same(one, other):
    assert key(one) == key(other)


def test_punctuation_alone_stays_a_name():
    assert key("!?") != key("??")


def test_suggestions():
    dag = graph(
        "Age>Blood Pressure", "Gro\u0308sse>Blood Pressure", "SEX>readmitted", "U>readmited"
    )
    assert strangers(dag, COLUMNS) == (
        "Age",
        "Blood Pressure",
        "Gro\u0308sse",
        "SEX",
        "U",
        "readmited",
    )
    found = suggest(dag, COLUMNS)
    assert found["Age"] == ("age",)
    assert found["Blood Pressure"] == ("blood_pressure",)
    assert found["Gro\u0308sse"] == ("Größe",)
    assert found["SEX"] == ("sex", "sex_")  # two columns may be meant
    assert found["U"] == ()
    assert found["readmited"] == ()  # the column has its own node already
    assert unambiguous(dag, COLUMNS) == {
        "Age": "age",
        "Blood Pressure": "blood_pressure",
        "Gro\u0308sse": "Größe",
    }
    assert suggest(graph("reamitted>age"), COLUMNS)["reamitted"] == ("readmitted",)


def test_two_nodes_with_one_key_are_not_matched_by_themselves():
    dag = graph("Age>AGE")
    assert unambiguous(dag, COLUMNS) == {}
    assert suggest(dag, COLUMNS) == {"Age": ("age",), "AGE": ("age",)}


def test_many_names_are_compared_by_key_alone():
    nodes = " ".join(f"N_{i}" for i in range(500))
    columns = tuple(f"n{i}" for i in range(500))
    assert unambiguous(graph(nodes=nodes), columns)["N_7"] == "n7"
    assert suggest(graph(nodes=nodes), columns)["N_7"] == ("n7",)


def test_a_mapping_renames_everything():
    drawing = Drawing(
        dag=replace(graph("Age>U", "U>y", "B>y"), unmeasured=("U",)),
        positions={"Age": (1.0, 2.0), "U": (0.0, 0.0)},
        outcome=("y",),
        exposure=("Age",),
    )
    found = match(drawing, ("y", "age", "b", "c"), {"Age": "age", "B": "b", "U": None})
    assert found.drawing == Drawing(
        dag=Dag(nodes=("y", "age", "b", "c"), edges=(("b", "y"),)),
        positions={"age": (1.0, 2.0)},
        outcome=("y",),
        exposure=("age",),
    )
    assert found.renamed == {"Age": "age", "B": "b"}
    assert found.dropped == ("U",)
    assert len(found.consequences) == 1
    swapped = match(graph("a>b"), ("a", "b"), {"a": "b", "b": "a"})
    assert swapped.drawing.dag.edges == (("b", "a"),)


@pytest.mark.parametrize(
    ("mapping", "connect", "expected"),
    [
        ({}, (), r"'Age' \(and 1 more\) is not a column of the table. Did you mean 'age'\?"),
        ({"Age": "age"}, (), "'U' is not a column of the table. Map it to a column, keep it"),
        ({"Age": "agee", "U": None}, (), "gives 'Age' the name 'agee', which is not a column"),
        ({"Z": "age"}, (), "mapping names 'Z', which is not a node"),
        ({"Age": "y", "U": None}, (), "'Age' and 'y' are both mapped to the column 'y'"),
        ({"Age": "age", "U": "age"}, (), "'Age' and 'U' are both mapped to the column 'age'"),
        ({"Age": "age", "U": None}, ("Age",), "connect names 'Age', which is not dropped"),
    ],
)
def test_a_mapping_that_is_not_clear_is_refused(mapping, connect, expected):
    with pytest.raises(StructureError, match=expected):
        match(graph("Age>U", "U>y"), ("age", "y"), mapping, connect=connect)


@pytest.mark.parametrize(
    ("edges", "connect", "left", "says"),
    [
        (("a>U", "a>b"), (), {"a>b"}, ["causes no other node, so nothing else changes"]),
        (("U>a", "a>b"), (), {"a>b"}, ["a cause of a only", "nothing else changes"]),
        (("a>U", "U>b"), (), set(), ["from a through U to b is lost", "Join them"]),
        (("a>U", "U>b"), ("U",), {"a>b"}, ["its causes a now point at its effects b directly"]),
        (("U>a", "U>b"), (), set(), ["a common cause of a and b", "look unrelated", "predictive"]),
        (("U>a", "U>b", "U>c"), (), set(), ["a common cause of {a, b} and c"]),
        (
            ("c>U", "U>a", "U>b"),
            ("U",),
            {"c>a", "c>b"},
            ["now point at", "a common cause of a and b"],
        ),
        (("c>U", "U>a", "U>b", "c>a"), ("U",), {"c>a", "c>b"}, ["now point at"]),
    ],
)
def test_what_a_dropped_node_leaves_behind_is_said(edges, connect, left, says):
    dag = graph(*edges)
    columns = tuple(node for node in dag.nodes if node != "U")
    found = match(dag, columns, {"U": None}, connect=connect)
    assert {f"{cause}>{effect}" for cause, effect in found.drawing.dag.edges} == left
    for words in says:
        assert words in " ".join(found.consequences)


def test_dropped_nodes_go_causes_first():
    found = match(graph("U2>a", "U2>b", "U1>U2"), ("a", "b"), {"U1": None, "U2": None})
    assert found.dropped == ("U1", "U2")
    assert "a cause of U2 only" in found.consequences[0]
    assert "a common cause of a and b" in found.consequences[1]


@given(st.from_type(Dag), st.data())
def test_exact_drops_imply_the_same_independences(dag, data):
    """Where the sentence says that nothing else changes, d-separation agrees."""
    node = data.draw(st.sampled_from(dag.nodes))
    columns = tuple(other for other in dag.nodes if other != node)
    if len(columns) < 2:
        return
    connect = data.draw(st.booleans())
    found = match(dag, columns, {node: None}, connect=(node,) if connect else ())
    text = " ".join(found.consequences)
    one, other = data.draw(st.permutations(columns))[:2]
    rest = [name for name in columns if name not in {one, other}]
    chosen = data.draw(st.sets(st.sampled_from(rest))) if rest else set()
    before = d_separated(dag, one, other, chosen)
    after = d_separated(found.drawing.dag, one, other, chosen)
    if "nothing else changes" in text:
        assert before == after
    elif connect and "common cause" not in text:  # joined, one effect: no new claim is made
        assert before or not after


@pytest.mark.parametrize(
    ("node", "column"),
    [
        ("NumberOfDrugs", "n_drugs"),
        ("LOS", "length_of_stay"),
        ("LengthOfStay", "los"),
        ("Readmission 30d", "readmitted_30d"),
        ("AGE-years", "age_years"),
    ],
)
def test_other_ways_to_write_a_column_are_suggested(node, column):
    columns = ("ward", "hba1c", "sex", "n_visits", column)
    dag = Dag(nodes=(node, "ward"), edges=((node, "ward"),))
    assert suggest(dag, columns)[node][0] == column


def test_what_has_nothing_in_common_is_not_suggested():
    dag = Dag(nodes=("frailty", "ward"), edges=(("frailty", "ward"),))
    assert suggest(dag, ("ward", "hba1c", "f", "n_drugs"))["frailty"] == ()
