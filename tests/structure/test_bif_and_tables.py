"""BIF, model strings and adjacency matrices."""

from __future__ import annotations

import gzip

import pandas as pd
import pytest

from prism_core.errors import StructureError
from prism_core.structure import formats
from prism_core.structure.dag import Dag

BIF = """// from somewhere {
network "a net" { property "author } x" ; }
variable  tub { type discrete [ 2 ] { yes, no }; property "position = (73, -165.5)" ; }
variable "two words" { /* } */ type discrete[3]{<5,5-10,>=10}; // }
}
variable x.1-y { type discrete [ 2 ] { a//b, no }; }
probability ( tub | "two words" , x.1-y ) { (yes) 0.05, 0.95; default 1 ; }
probability ( x.1-y ) { table 0.5, 0.5; }
"""


def test_a_bif_file():
    for source in (BIF, BIF.encode(), gzip.compress(BIF.encode()), BIF.replace("\n", "\r\n")):
        drawing = formats.read_drawing(source)
        assert drawing.dag == Dag(
            nodes=("tub", "two words", "x.1-y"), edges=(("two words", "tub"), ("x.1-y", "tub"))
        )
        assert drawing.positions == {"tub": (73.0, -165.5)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "variable a { }\nvariable a { }",
            "Line 2, column 10: the node 'a' was already given at line 1",
        ),
        ("variable a { } probability ( a | b ) { }", "column 34: the edge 'b' → 'a' names 'b'"),
        ("probability ( a | b ) { }", "column 15: 'a' is not declared"),
        ("variable a { } probability ( a ) { } probability ( a ) { }", "two probability blocks"),
        ("variable a { } variable b { } probability ( a b ) { }", r"'\)' is missing here"),
        ("variable a { } variable b { } probability ( a | b b ) { }", "',' is missing here"),
        ("variable a { } probability ( a | a ) { }", "points to itself"),
        ("variable a { type discrete [ 2 ] { yes, no };", "block is not closed"),
        ("variable a", "'{' is missing here .the text ends too early"),
        ("network x { } edge a", "'edge' is unexpected"),
        ("network x { } variable a { } network y { }", "second network"),
        ("network x { }", "holds no variable"),
        ("", "The graph is empty"),
        ("variable { }", "a name is missing here"),
        ('variable "" { }', "empty name"),
    ],
)
def test_bif_that_is_not_clear_is_refused_with_its_place(text, expected):
    with pytest.raises(StructureError, match=expected):
        formats.read(text, "bif")


@pytest.mark.parametrize(
    ("text", "nodes", "edges"),
    [
        ("[A][B|A][C|A:B]", "A B C", "A>B A>C B>C"),
        ("  [A]\n [B|A]\r\n", "A B", "A>B"),
        ("[B|A][A]", "B A", "A>B"),
        ("[x.1][2|x.1]", "x.1 2", "x.1>2"),
    ],
)
def test_model_strings(text, nodes, edges):
    expected = Dag(
        nodes=tuple(nodes.split()), edges=tuple(tuple(e.split(">")) for e in edges.split())
    )  # type: ignore[arg-type]
    assert formats.read(text) == formats.read(text, "model-string") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[A][B|C]", "column 4: the edge 'C' → 'B' names 'C', which is not a node"),
        ("[A][A]", "'A' was already given"),
        ("[A] and [B]", "column 5: a model string is written"),
        ("[A|]", "names '', which is not a node"),
        ("[A][B|A:A]", "the edge 'A' → 'B' was already given"),
        ("[A|A]", "points to itself"),
        ("[]", "empty name"),
        ("", "The graph is empty"),
        ("[A", "a model string is written"),
    ],
)
def test_model_strings_that_are_not_clear_are_refused(text, expected):
    with pytest.raises(StructureError, match=expected):
        formats.read(text, "model-string")


def test_matrices_of_pandas_and_r():
    frame = pd.DataFrame([[0, 1, 1], [0, 0, 0], [0, 1, 0]], index=list("abc"), columns=list("abc"))
    expected = {("a", "b"), ("a", "c"), ("c", "b")}
    for text in (
        frame.to_csv(),
        frame.astype(float).to_csv(),
        frame.astype(bool).to_csv(),
        frame.to_csv(index=False),
        frame.to_csv().replace(",a,b,c", '"","a","b","c"'),
        frame.to_csv(lineterminator="\r\n"),
        "node" + frame.to_csv(),
        frame.to_csv().replace("0", ""),
    ):
        dag = formats.read(text)
        assert dag.nodes == ("a", "b", "c")
        assert set(dag.edges) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (",a,b\na,0,1\nb,1,0\n", "Row 3, cell 2: 'a' and 'b' point at each other"),
        (",a,b\na,0,0.7\nb,0,0\n", "Row 2, cell 3: a cell must be 0 or 1, not '0.7'"),
        (",a,b\na,1,0\nb,0,0\n", "Row 2, cell 2: 'a' points to itself"),
        (",a,b\nb,0,1\na,0,0\n", "Row 2, cell 1: the row must be the one of 'a'"),
        (",a,b\na,0,1,0\nb,0,0\n", "hold 2 values"),
        (",a,b\na,0,1\n", "has 2 columns and 1 rows"),
        (",a,a\na,0,1\na,0,0\n", "Row 1, cell 3: the node 'a' was already given at row 1, cell 2"),
        (",a,\na,0,1\n,0,0\n", "empty name"),
        ("x\n", "has 0 columns"),
        ("", "is empty"),
    ],
)
def test_matrices_that_are_not_clear_are_refused(text, expected):
    with pytest.raises(StructureError, match=expected):
        formats.read(text, "adjacency")
