"""DAGitty's text, as people write, export and paste it."""

from __future__ import annotations

import pytest

from prism_core.errors import StructureError
from prism_core.structure import formats
from prism_core.structure.dag import Dag
from prism_core.structure.formats import dagitty

M_GRAPH = "W->Y X->W Z_1->{X Z_3} Z_2->{Y Z_3} Z_3->{X Y}"


@pytest.mark.parametrize(
    "text",
    [
        M_GRAPH,
        f"dag{{{M_GRAPH}}}",
        f"dag {{\n{M_GRAPH}\n}}\n",
        f"dagitty('dag{{{M_GRAPH}}}')",
        f'library(dagitty)\ng <- dagitty::dagitty( "dag {{ {M_GRAPH} }}", layout = TRUE)\nplot(g)',
        f'g <- dagitty(x = r"---[dag{{{M_GRAPH}}}]---")',
        M_GRAPH.replace("->", "\xa0->\u2003"),
        M_GRAPH.replace(" Z", "; Z").replace("{X", "{X,"),
        "Y<-W<-X  X<-Z_1->Z_3 Y<-Z_2->Z_3->X {Y} <- Z_3",
    ],
)
def test_the_worked_example_is_exact(text):
    dag = formats.read(text)
    assert set(dag.markov_blanket("Y")) == {"W", "Z_2", "Z_3"}
    assert set(dag.markov_blanket("Z_1")) == {"X", "Z_2", "Z_3"}
    assert len(dag.edges) == 8
    assert set(dag.nodes) == {"W", "X", "Y", "Z_1", "Z_2", "Z_3"}


@pytest.mark.parametrize(
    ("text", "nodes", "edges"),
    [
        ("dag {X -> Y -> Z}", "X Y Z", "X>Y Y>Z"),
        ("dag {X <- Y -> Z}", "X Y Z", "Y>X Y>Z"),
        ("dag { a b; c }", "a b c", ""),
        ("dag {}", "", ""),
        ('dag g { bb="0,0,1,1" a -> b [beta=.5] }', "a b", "a>b"),
        ("dag { {a b} -> c -> {d e} }", "a b c d e", "a>c b>c c>d c>e"),
        ("dag { a -> {b -> c} }", "a b c", "b>c a>b a>c"),
        ("{a b} -> c", "a b c", "a>c b>c"),
        ('{"a" "b"} -> c', "a b c", "a>c b>c"),
        ("{ a -> b } c", "a b c", "a>b"),
        ("a -> b // cause\n/* none */ # more\nc", "a b c", "a>b"),
        ("größe -> 日本語", "größe 日本語", "größe>日本語"),
        ("x1.y -> 2", "x1.y 2", "x1.y>2"),
        ("dag { dag -> node }", "dag node", "dag>node"),
    ],
)
def test_statements(text, nodes, edges):
    dag = formats.read(text, "dagitty")
    assert dag == Dag(
        nodes=tuple(nodes.split()), edges=tuple(tuple(e.split(">")) for e in edges.split())
    )  # type: ignore[arg-type]
    assert formats.read(text) == dag


def test_names_are_whole():
    assert formats.read('dag { "b-c" -> "a \\"b\\"" }').edges == (("b-c", 'a "b"'),)
    assert formats.read(
        "dagitty('dag { \"b c\" -> it\\'s }')".replace("it\\'s", '"it\\\'s"')
    ).edges == (("b c", "it's"),)
    assert formats.read('dagitty("dag { \\"b c\\" -> \\u00e4\\x41 }")').edges == (("b c", "äA"),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a -> b-c", "Line 1, column 6: 'b-c' holds a hyphen"),
        ("a -> b-c-d", "'b-c-d' holds a hyphen"),
        ("dag{a->b-}", "column 8: 'b-' holds a hyphen"),
        ("a -> b - c", "Line 1, column 8: '-' is not expected here"),
        ("mag {\n  a <-> b\n}", "Line 2, column 5: '<->' is not a directed edge"),
        ("a -- b", "column 3: '--' is not a directed edge"),
        ("dag{a@->b}", "column 6: '@->' is not a directed edge"),
        ("mag { a <-@ b }", "'<-@' is not a directed edge"),
        ("pag { a @-@ b }", "'@-@' is not a directed edge"),
        ("pag { a @-- b }", "'@--' is not a directed edge"),
        ("a --> b", "'-->' is not a directed edge"),
        ("dag { a → b }", "'→' is not a directed edge"),
        (
            "dag { a -> b a -> b }",
            "column 16: the edge 'a' → 'b' was already given at line 1, column 9",
        ),
        ("dag { a -> {a} }", "'a' points to itself"),
        ("dag { a -> }", "'}' is not expected"),
        ("dag { -> a }", "the arrow '->' has a name on one side only"),
        ("dag { a -> b", "ends too early"),
        ("dag { a [exposure }", "'}' is not expected"),
        ("dag { a [exposure", "list is not closed"),
        ('dag { "a -> b }', "column 7: this quote is not closed"),
        ('dag { "a"b -> c }', "quoted name 'a' goes on"),
        ('dag { a"b" -> c }', "a quote follows 'a' at once"),
        ('dag { "" -> c }', "a node has an empty name"),
        ("dag { “a” -> c }", "'“' is not expected here"),
        ("dag { a -> b } dag { c }", "text after the closing brace"),
        ("dag { a -> b }\n}", "Line 2, column 1: there is text"),
        ("dag { /* a -> b }", "comment is not closed"),
        ("a(b) -> c", "column 2: '\\(' is not expected here"),
        ("a:b -> c", "':' is not expected here"),
        ("dag{a->b=c}", "points to no node"),
        ("dagitty('dag{a->b}') + dagitty('dag{c}')", "column 24: there is a second call"),
        ("dagitty('dag{a->b}", "string is not closed"),
        ("dagitty(r'(dag{a->b}')", "string is not closed"),
        ("x <- dagitty('dag{a->\\q}')", r"column 22: .* is no escape of R"),
        ("dagitty('dag{\\\"a\\\" -> \nb -- c}')", "Line 2, column 3: '--'"),
        ("dagitty('dag{\\x41 -- c}')", "column 19: '--'"),
        ("dagitty('')", "names no node"),
        ("a -> ​b", "is not expected"),
        ("dag{" * 60, "nested|ends too early|not expected"),
        ("{" * 51 + "a -> b", "nested more than 50 deep"),
    ],
)
def test_what_is_not_directed_or_not_clear_is_refused_with_its_place(text, expected):
    with pytest.raises(StructureError, match=expected) as caught:
        formats.read(text, "dagitty")
    assert str(caught.value).endswith(".")


def test_positions_and_roles():
    drawing = formats.read_drawing(
        'dag {\nbb="-3,-0.5,2,1.2"\nD [outcome,pos="1.000,-1.5e1"]\nE [exposure, pos = "x,y"]\n'
        'U [latent]\nV [u]\nZ [adjusted,pos="1e999,0"]\nE -> D [pos="1,2"]\n}\n'
    )
    assert drawing.positions == {"D": (1.0, -15.0)}  # what is no position is left out
    assert (drawing.outcome, drawing.exposure) == (("D",), ("E",))
    assert drawing.dag.unmeasured == ("U", "V")


def test_what_is_written_is_what_dagitty_writes():
    drawing = formats.read_drawing('dag { "b-c" [exposure,pos="1,2"] "b-c" -> y }')
    assert dagitty.write(drawing) == ('dag {\n"b-c" [exposure,pos="1.0,2.0"]\ny\n"b-c" -> y\n}\n')
