"""Graphviz files."""

from __future__ import annotations

import pytest

from prism_core.errors import StructureError
from prism_core.structure import formats
from prism_core.structure.dag import Dag


@pytest.mark.parametrize(
    ("text", "nodes", "edges"),
    [
        ("digraph { a -> b\n}", "a b", "a>b"),
        ("digraph {\na -> b;\n\n}\n\n", "a b", "a>b"),
        ("strict DiGraph g { A; B; A->B }", "A B", "A>B"),
        (
            'digraph "my graph" { a -> b -> c [color="red", label=<<b>x</b> [ y>]; }',
            "a b c",
            "a>b b>c",
        ),
        ("digraph { rankdir=LR; node [shape=box]; edge [color=gray]; a -> b }", "a b", "a>b"),
        ("digraph { subgraph cluster_0 { label=x; a; b } -> c }", "a b c", "a>c b>c"),
        ("digraph { a:p1:ne -> b:p2 }", "a b", "a>b"),
        ('digraph { "a" + "b" -> c }', "ab c", "ab>c"),
        ("digraph { // a -> z\n/* y */\n# x\na -> {b c} }", "a b c", "a>b a>c"),
        ('digraph { n1 [label="Age"]; n1 -> n2 [dir=forward] }', "n1 n2", "n1>n2"),
        ("digraph{é->b}", "é b", "é>b"),
        ("digraph { x = -1.5; a [w=-2] }", "a", ""),
    ],
)
def test_statements(text, nodes, edges):
    expected = Dag(
        nodes=tuple(nodes.split()), edges=tuple(tuple(e.split(">")) for e in edges.split())
    )  # type: ignore[arg-type]
    assert formats.read(text) == formats.read(text, "dot") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "graph { a -- b }",
            "Line 1, column 1: the graph is declared as 'graph', which is undirected",
        ),
        ("digraph { a -- b }", "column 13: '--' is not a directed edge"),
        ("digraph { a <- b }", "'<-' is not a directed edge"),
        ("digraph {\n a -> b [dir=back] }", "Line 2, column 10: an edge has dir='back'"),
        ("digraph { edge [dir=none] a -> b }", "dir='none'"),
        ('digraph { a -> b [dir="both"] }', "dir='both'"),
        ("digraph { a -> b-c }", "'b-c' holds a hyphen"),
        ("digraph { <b>a</b> -> c }", "'<' is not expected here"),
        ("digraph { a [label=<b] }", "'<' is not closed"),
        ("digraph { a -> b } digraph { c }", "text after the closing brace"),
        ("digraph { a -> b -> a", "ends too early"),
        ("digraph [ a ]", "'\\[' is not expected"),
        ("digraph { node a }", "'a' is not expected"),
        ("a -> b", "a DOT graph starts with 'digraph {'"),
        ("", "The graph is empty"),
        ("digraph { subgraph x a }", "'a' is not expected"),
        ("digraph { a: -> b }", "arrow '->' has a name on one side only"),
    ],
)
def test_what_is_not_directed_or_not_clear_is_refused_with_its_place(text, expected):
    with pytest.raises(StructureError, match=expected):
        formats.read(text, "dot")


def test_positions_grow_downwards():
    drawing = formats.read_drawing('digraph { a [pos="27,18!"]; b [pos="e,1,2 3,4"] }')
    assert drawing.positions == {"a": (27.0, -18.0)}
    assert 'a [pos="27.0,18.0"];' in formats.write(drawing, "dot")
