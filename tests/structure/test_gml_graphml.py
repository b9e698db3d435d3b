"""GML and GraphML: as networkx and other programs write them, and as an attacker would."""

from __future__ import annotations

import io
import itertools

import networkx as nx
import pytest

from prism_core.errors import StructureError
from prism_core.structure import formats
from prism_core.structure.dag import Dag

NAMES = ("plain", "two words", "größe", 'q"q', "a&b", "<x>", "日本語", "new\nline", "0")
GRAPH = nx.DiGraph([*itertools.pairwise(NAMES), ("plain", "0")])


def test_files_of_networkx_are_read_and_read_by_it():
    gml = "\n".join(nx.generate_gml(GRAPH))
    assert set(formats.read(gml).edges) == set(GRAPH.edges)
    assert set(nx.parse_gml(formats.write(formats.read(gml), "gml")).edges) == set(GRAPH.edges)
    out = io.BytesIO()
    nx.write_graphml(nx.DiGraph([edge for edge in GRAPH.edges if "new\nline" not in edge]), out)
    dag = formats.read(out.getvalue())
    assert set(dag.edges) == {edge for edge in GRAPH.edges if "new\nline" not in edge}
    assert set(nx.parse_graphml(formats.write(dag, "graphml")).edges) == set(dag.edges)


def gml(body: str, head: str = "directed 1") -> str:
    return f'Creator "x"\nVersion 1\n# note\ngraph\n[\n  {head}\n{body}\n]\n'


TWO = 'node [ id 1 label "a" ] node [ id 2 label "b" ]'


def test_gml_of_other_programs():
    igraph = 'node [ id 0 name "A b" ] node [ id 1 name "C" ] edge [ source 0 target 1 w 1.5e-3 ]'
    assert formats.read(gml(igraph)).edges == (("A b", "C"),)
    assert formats.read(gml("node [ id 7 ] node [ id 8 ] edge [ source 8 target 7 ]")).edges == (
        ("8", "7"),
    )
    assert formats.read(
        gml('node [ id 1 label "&auml;&#x41;&nope;&#xd800;&#9999999;" ]')
    ).nodes == ("äA&nope;&#xd800;&#9999999;",)
    drawn = formats.read_drawing(
        gml(
            'node [ id 1 label "a" graphics [ x -1.5 y 2 fill "#ff" ] ] '
            'node [ id 2 label "b" x 1 y 3 ]'
        )
    )
    assert drawn.positions == {"a": (-1.5, 2.0), "b": (1.0, 3.0)}
    assert formats.read(gml("node [ id 1 label 01.50 ]")).nodes == ("01.50",)
    late = f"graph [ edge [ source 1 target 2 ] {TWO} directed 1 ]"
    assert formats.read(late) == Dag(nodes=("a", "b"), edges=(("a", "b"),))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (gml(TWO, head=""), "Line 5, column 1: the graph is undirected"),
        (gml(TWO, head="directed 0"), "undirected"),
        (
            gml(TWO + " edge [ source 1 target 3 ]"),
            "Line 7, column 54: target '3' is not the id of",
        ),
        (gml(TWO + " edge [ source 1 ]"), "this edge has no 'target'"),
        (gml(TWO + " edge [ source 1 target 1 ]"), "'a' points to itself"),
        (gml(TWO + " edge [ source 1 target 2 ]" * 2), "already given at line 7, column 54"),
        (gml('node [ id 1 label "a" ] node [ id 2 label "a" ]'), "the node 'a' was already given"),
        (gml('node [ id 1 label "a" ] node [ id 1 label "b" ]'), "id '1' is given to two nodes"),
        (gml('node [ label "a" ]'), "this node has no id or no name"),
        (gml('node [ id 1 label "" ]'), "empty name"),
        (gml('node [ id 1 label "a ]'), "quote is not closed"),
        (gml("node [ id 1"), "ends too early"),
        (gml("node id"), "'id' is unexpected here"),
        (gml("node ]"), "']' is unexpected here"),
        (gml("node [ id 1-2 ]"), "'-2' is unexpected here"),
        (gml(TWO) + gml(TWO), "second graph"),
        (gml("x [ " * 60), "nested more than 50 deep"),
        ('Creator "x"', "holds no 'graph"),
        (gml("node [ id 1 label [ x 1 ] ]"), "no id or no name"),
        (gml(f"node [ id {'9' * 5000} label 1 ]"), "no id or no name"),
    ],
)
def test_gml_that_is_not_clear_is_refused_with_its_place(text, expected):
    with pytest.raises(StructureError, match=expected):
        formats.read(text, "gml")


def xml(body: str, edges: str = "directed", head: str = "") -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{head}'
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        f'<graph edgedefault="{edges}">\n{body}\n</graph></graphml>'
    )


PAIR = '<node id="a"/><node id="b"/>'
LAUGHS = (
    '<!DOCTYPE lolz [<!ENTITY lol "lol">'
    + "".join(f'<!ENTITY lol{i} "{f"&lol{i - 1};" * 10}">' for i in range(1, 10)).replace(
        "lol0", "lol"
    )
    + "]>\n"
)


def test_graphml_of_other_programs():
    yed = (
        '<graphml xmlns:y="http://www.yworks.com/xml/graphml"><key id="d6" for="node" '
        'yfiles.type="nodegraphics"/><graph edgedefault="directed"><edge source="n0" target="n1"/>'
        '<node id="n0"><data key="d6"><y:ShapeNode><y:Geometry height="30.0" x="1.5" y="-2"/>'
        '</y:ShapeNode></data></node><node id="n1"/></graph></graphml>'
    )
    drawn = formats.read_drawing(yed)
    assert drawn.dag == Dag(nodes=("n0", "n1"), edges=(("n0", "n1"),))
    assert drawn.positions == {"n0": (1.5, -2.0)}
    mixed = xml(f'{PAIR}<edge directed="true" source="a" target="b"/>', "undirected")
    assert formats.read(mixed).edges == (("a", "b"),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            xml(f'{PAIR}\n<edge source="a" target="b"/>', "undirected"),
            "Line 5, column 1: the edge between 'a' and 'b' is undirected",
        ),
        (xml(f'{PAIR}<edge directed="false" source="a" target="b"/>'), "is undirected"),
        (xml(f'{PAIR}<edge source="a" target="c"/>'), "names 'c', which is not a node"),
        (xml(f'{PAIR}<edge source="a"/>'), "no 'source' or no 'target'"),
        (xml(f'{PAIR}<edge source="a" target="a"/>'), "points to itself"),
        (xml(f"{PAIR}{PAIR}"), "column 29: the node 'a' was already given at line 4, column 1"),
        (xml("<node/>"), "this node has no 'id'"),
        (xml('<node id=""/>'), "empty name"),
        (xml(f"{PAIR}<hyperedge/>"), "hyperedges have no direction"),
        (xml('<node id="a"><graph edgedefault="directed"/></node>'), "second or a nested graph"),
        (xml('<node id="a"><node id="b"/></node>'), "a node stands inside a node"),
        (xml("<x>" * 60), "nested more than 50 deep"),
        (xml(PAIR, head=LAUGHS), "Line 2, column 16: the file declares a document type"),
        (xml(PAIR, head='<!DOCTYPE g SYSTEM "file:///etc/passwd">'), "document type"),
        (xml('<node id="&lol;"/>'), "not well-formed XML .undefined entity"),
        (xml('<node id="a"'), "Line 5, column .*not well-formed"),
        (xml('<node id="\x01"/>'), "not well-formed"),
        ("<html></html>", "is a web page"),
        ("<svg></svg>", "this is XML, but not GraphML: it starts with 'svg'"),
        ("<graphml/>", "holds no graph"),
        ("<", "not well-formed"),
        (xml('<node id="ä"/>').replace("UTF-8", "ISO-8859-1"), "declares the encoding"),
    ],
)
def test_graphml_that_is_unsafe_or_not_clear_is_refused_with_its_place(text, expected):
    with pytest.raises(StructureError, match=expected):
        formats.read(text)


def test_an_encoding_that_makes_no_difference_is_accepted():
    assert formats.read(xml(PAIR).replace("UTF-8", "ISO-8859-1")).nodes == ("a", "b")
