"""Graphs as files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import networkx as nx
import pytest

from prism_core.errors import CycleError, StructureError
from prism_core.structure import formats
from prism_core.structure.dag import Dag, Drawing
from tests.support.refusals import refused

HOSTILE = (
    "a,b",
    '"quoted"',
    "it's",
    "from",
    "to",
    "a\nb",
    "a\rb",
    "a\tb",
    "=1+1",
    "{x",
    "[y",
    "größe",
    "日本語",
    "\U0001f600",
    "a\u2028b",
    "<script>alert(1)</script>",
    "a → b",
    "0",
    "null",
    "#c",
    "two words",
    "b-c",
    "a->b",
    "a\\",
    "\\n",
    '\\"',
    "a(b)|c",
    "&amp;",
    "&#65;",
    "]]>",
    "__proto__",
    "constructor",
    "node",
    "Graph",
    "dag",
    "subgraph",
    "-1",
    "1.5",
    "x1.y",
    "%20",
    "\x01",
    " a ",
    "\u0301e",
    "e\u0301",
    "\u200b",
    "//c",
    "/*",
    "’",
)


_NARROW = ('"quoted"', "a\nb", "a\rb", "a\tb", "{x")
CANNOT = {("model-string", name) for name in (*_NARROW, "[y")}
CANNOT |= {("bif", name) for name in _NARROW}
CANNOT |= {
    ("bif", name)
    for name in ("a,b", "a\u2028b", "<script>alert(1)</script>", "a → b", "two words", "a(b)|c")
}
CANNOT |= {("bif", name) for name in ("&amp;", "&#65;", "//c", "/*", '\\"')}
CANNOT |= {("model-string", name) for name in ("a(b)|c", "]]>", '\\"')}
CANNOT |= {(form, "\x01") for form in ("graphml", "bif", "model-string")}
CANNOT |= {(form, " a ") for form in ("edge-list", "adjacency", "bif", "model-string")}


@pytest.mark.parametrize("form", sorted(formats.FORMATS))
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_survive(form, name):
    for edges in (((name, "y"),), (("y", name),), ()):
        dag = Dag(nodes=(name, "y"), edges=edges)
        if (form, name) in CANNOT:
            with refused(StructureError, "nodes"):
                formats.write(dag, form)
            continue
        text = formats.write(dag, form)
        for again in (formats.read(text), formats.read(text.encode()), formats.read(text, form)):
            assert set(again.nodes) == {name, "y"}
            assert again.edges == edges


@pytest.mark.parametrize("form", sorted(formats.FORMATS))
def test_a_large_graph_survives(form):
    nodes = tuple(f"column {i}" if form not in {"bif"} else f"column_{i}" for i in range(2_000))
    size = 300 if form == "adjacency" else 2_000  # a matrix has the square of cells
    nodes = nodes[:size]
    edges = tuple((nodes[i], nodes[j]) for i in range(size) for j in (i + 1, i + 7) if j < size)
    again = formats.read(formats.write(Dag(nodes=nodes, edges=edges), form))
    assert set(again.nodes) == set(nodes)
    assert set(again.edges) == set(edges)


DRAWN = Drawing(
    dag=Dag(nodes=("a", "u", "y"), edges=(("a", "y"), ("u", "y")), unmeasured=("u",)),
    positions={"a": (-1.25, 2.0), "y": (1e-9, 1e12)},
    outcome=("y",),
    exposure=("a",),
)


@pytest.mark.parametrize("form", ["node-link", "dagitty", "dot", "gml", "graphml"])
def test_positions_and_roles_survive(form):
    assert formats.read_drawing(formats.write(DRAWN, form)) == DRAWN


def test_bif_keeps_positions_and_forgets_roles():
    again = formats.read_drawing(formats.write(DRAWN, "bif"))
    assert again.positions == DRAWN.positions
    assert again.outcome == ()


def test_a_drawing_is_checked():
    dag = Dag(nodes=("a",))
    with refused(StructureError, "outcome") as caught:
        Drawing(dag=dag, outcome=("z",))
    assert caught.value.field == "outcome"
    with refused(StructureError, "positions"):
        Drawing(dag=dag, positions={"a": (0.0, float("nan"))})


def test_networkx_reads_and_writes_the_same_graphs():
    graph = nx.DiGraph([("a", "y"), ("y", 3)])
    for key in ("edges", "links"):
        dag = formats.read(json.dumps(nx.node_link_data(graph, edges=key)))
        assert dag == Dag(nodes=("a", "y", "3"), edges=(("a", "y"), ("y", "3")))
    document = json.loads(formats.write(dag, "node-link"))
    assert set(nx.node_link_graph(document, edges="edges").edges) == set(dag.edges)


def test_an_edge_list_by_hand():
    dag = formats.read("\ufeffFrom , TO\n\n age , y\nsex,\n".encode())
    assert dag == Dag(nodes=("age", "y", "sex"), edges=(("age", "y"),))


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        ("a,b\n1,2\n", "dag", "not recognised. An edge list begins with the line from,to"),
        ("", "dag", "The graph is empty"),
        ("from,to\na\n", "edges", "Line 2 of the edge list needs two cells"),
        ("from,to\na,b\na,b,c\n", "edges", "Line 3"),
        ("from,to\n,b\n", "edges", "Line 2"),
        ("from,to\na,a\n", "edges", "Row 2: 'a' points to itself"),
        ("from,to\na,b\n\na,b\n", "edges", "Row 4: the edge 'a' → 'b' was already given at row 2"),
        ('{"nodes": ["a", "a"], "edges": []}', "nodes", "Node entry 2: the node 'a' was already"),
        ('{"nodes": ["a", true], "edges": []}', "nodes", "Entry 2 of the graph has no 'id'"),
        ('{"nodes": ["a", ""], "edges": []}', "nodes", "Entry 2 of the graph has no 'id'"),
        ("from,to\n" + "a" * 200_000 + ",b\n", "dag", "not a regular CSV"),
        ("{", "dag", "not readable as JSON .line 1"),
        ("[" * 100_000, "dag", "more than 100 deep"),
        ('{"nodes": ' + "9" * 5000 + "}", "dag", "not readable as JSON"),
        ("[]", "dag", "lists 'nodes' and 'edges'"),
        ('{"nodes": []}', "dag", "lists 'nodes' and 'edges'"),
        ('{"nodes": {}, "edges": []}', "dag", "lists 'nodes' and 'edges'"),
        ('{"nodes": [{"name": "a"}], "edges": []}', "nodes", "Entry 1 of the graph has no 'id'"),
        ('{"nodes": [{"id": null}], "edges": []}', "nodes", "Entry 1"),
        ('{"nodes": ["a"], "edges": [{"source": "a"}]}', "edges", "no 'target'"),
        ('{"nodes": ["a"], "edges": ["a"]}', "edges", "no 'source'"),
        ('{"nodes": ["a"], "edges": [], "directed": false}', "edges", "undirected"),
        ('{"nodes": ["a"], "edges": [{"source": "a", "target": "b"}]}', "edges", "not a node"),
    ],
)
def test_what_is_no_graph_gets_a_sentence(text, field, expected):
    with pytest.raises(StructureError, match=expected) as caught:
        formats.read(text)
    assert caught.value.field == field
    assert str(caught.value).endswith(".")


def test_files(tmp_path):
    dag = Dag(nodes=("a", "y"), edges=(("a", "y"),))
    (tmp_path / "dag.csv").write_text(formats.write(dag, "edge-list"), encoding="utf-8")
    assert formats.read(tmp_path / "dag.csv") == dag
    (tmp_path / "latin.csv").write_bytes("from,to\nä,b\n".encode("latin-1"))
    with pytest.raises(StructureError, match="not UTF-8 text"):
        formats.read(tmp_path / "latin.csv")
    with pytest.raises(StructureError, match=r"'absent\.csv' does not exist: there is no such"):
        formats.read(tmp_path / "absent.csv")


def test_an_unknown_format_is_refused():
    for act in (lambda: formats.read("", "xls"), lambda: formats.write(Dag(nodes=("a",)), "xls")):
        with refused(StructureError, "format"):
            act()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "The graph is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0", r"is a picture \(PNG\), which is no text"),
        (b"PK\x03\x04\0\0abc", "is a ZIP archive"),
        (b"%PDF-1.7\n1 0 obj\n", "is a PDF file, which is no text"),
        (b"\x01\x02\0\0abc", r"zero byte \(line 1\): it is binary data"),
        ("dag { a -> größe }".encode("latin-1"), r"line 1, byte 14 of the file; perhaps Latin-1"),
        ("dag {\na -> größe }".encode("cp1252"), "line 2, byte 14"),
        ("dag { a -> b }".encode("utf-16"), "UTF-16 text, not UTF-8 text. Save it as UTF-8"),
        ("dag { a -> b }".encode("utf-32"), "UTF-32 text, not UTF-8 text"),
        ("dag { a -> b }".encode("utf-16-le"), "UTF-16 text without its mark"),
        (b"\x1f\x8bnothing", "damaged gzip"),
        (b"dag { a -> b } " * 4_000_000, "larger than 20 MB"),
        (gzip.compress(b" " * 50_000_000, mtime=0), "larger than 20 MB"),
    ],
    ids=range(13),
)
def test_what_is_no_text_is_named(data, expected, tmp_path):
    with pytest.raises(StructureError, match=expected):
        formats.read(data)
    (tmp_path / "graph").write_bytes(data)
    with pytest.raises(StructureError, match=expected):
        formats.read(tmp_path / "graph")


def test_texts_that_are_no_text_are_named():
    for text, expected in (("a -> \ud800", "surrogate"), ("a" * 20_000_001, "20 MB")):
        with pytest.raises(StructureError, match=expected):
            formats.read(text)
    with pytest.raises(StructureError, match="cannot be read"):
        formats.read(Path("a\0b"))
    with pytest.raises(StructureError, match="cannot be read from int"):
        formats.read(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("form", sorted(formats.FORMATS))
@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\x01",
        "{" * 100_000,
        "[" * 100_000,
        "<a>" * 100_000,
        "(" * 100_000,
        "dag {" * 60,
        "digraph {" + "{" * 60,
        "graph [" * 60,
        '"' * 99_999,
        "\\" * 100_000,
        "a -> " * 100_001,
        "/*" * 50_000,
        "network x {" * 50_000,
        "[a|" * 50_000,
        ";" * 100_000,
        "dag{" + "{a b c d e f g}->" * 40_000,
        "digraph{" + "a;" * 50_000,
        "&" * 100_000,
        "digraph{" + '"b" + ' * 20_000,
        "digraph{a" + ":b" * 20_000,
        "dag{a [" + "b," * 20_000,
    ],
    ids=range(23),
)
def test_hostile_texts_are_refused_in_every_format(form, text):
    with pytest.raises(StructureError) as caught:
        formats.read(text, form)
    assert str(caught.value).endswith(".")
    assert len(str(caught.value)) < 1_000


def test_too_many_nodes_and_edges_are_named():
    with pytest.raises(StructureError, match="edge list has more than 250,000 rows"):
        formats.read("from,to\n" + "\n" * 250_001)
    names = " ".join(f"n{i}" for i in range(501))
    others = " ".join(f"m{i}" for i in range(501))
    with pytest.raises(StructureError, match="more than 100,000 edges"):
        formats.read(f"{{{names}}} -> {{{others}}}")
    with pytest.raises(StructureError, match="more than 10,000 nodes"):
        formats.read("dag {" + " ".join(f"n{i}" for i in range(10_001)) + "}")


CYCLES = {
    "node-link": '{"nodes": ["a", "b"], "edges": [["a", "b"], ["b", "a"]]}',
    "edge-list": "from,to\na,b\nb,a\n",
    "adjacency": ",a,b,c\na,0,1,0\nb,0,0,1\nc,1,0,0\n",
    "dagitty": "a -> b -> a",
    "dot": "digraph { a -> b -> a }",
    "gml": 'graph [ directed 1 node [ id 0 label "a" ] node [ id 1 label "b" ] '
    "edge [ source 0 target 1 ] edge [ source 1 target 0 ] ]",
    "graphml": '<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/>'
    '<edge source="a" target="b"/><edge source="b" target="a"/></graph></graphml>',
    "bif": "variable a { } variable b { } probability ( a | b ) { } probability ( b | a ) { }",
    "model-string": "[a|b][b|a]",
}


@pytest.mark.parametrize("form", sorted(formats.FORMATS))
def test_a_cycle_is_named_in_every_format(form):
    with pytest.raises(CycleError, match=r"a → b|b → a"):
        formats.read(CYCLES[form])


@pytest.mark.parametrize("form", sorted(formats.FORMATS))
def test_line_ends_of_windows_change_nothing(form):
    dag = Dag(nodes=("a", "b", "c"), edges=(("a", "b"),))
    text = "\ufeff" + formats.write(dag, form).replace("\n", "\r\n")
    assert formats.read(text.encode()) == formats.read(text) == formats.read(text, form)
    assert set(formats.read(text).nodes) == {"a", "b", "c"}
    assert formats.read(text).edges == dag.edges


def test_objects_of_networkx():
    graph = nx.DiGraph([("a", "y"), ("y", 3)])
    graph.nodes["a"].update(pos=(1, 2), role="exposure")
    graph.add_node("u", x=0.5, y=1.5, role="latent")
    drawing = formats.read_drawing(graph)
    assert drawing.dag == Dag(
        nodes=("a", "y", "3", "u"), edges=(("a", "y"), ("y", "3")), unmeasured=("u",)
    )
    assert drawing.positions == {"a": (1.0, 2.0), "u": (0.5, 1.5)}
    assert (drawing.exposure, drawing.dag.unmeasured) == (("a",), ("u",))
    again = formats.to_networkx(drawing)
    assert formats.read(again) == drawing.dag
    assert again.nodes["a"]["pos"] == (1.0, 2.0)
    again.add_edge("3", "new")  # a copy: the drawing stays as it is
    assert "new" not in drawing.dag.graph


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (nx.Graph([("a", "b")]), "The graph is undirected"),
        (nx.MultiDiGraph([("a", "b"), ("a", "b")]), "Edge 2: the edge 'a' → 'b' was already given"),
        (nx.DiGraph([(("a", 1), "b")]), r"A node of the graph is tuple"),
        (nx.DiGraph([(1.5, "b")]), "is float '1.5'"),
        (nx.DiGraph([(True, "b")]), "is bool"),
        (nx.DiGraph([("", "b")]), "is str ''"),
        (nx.DiGraph([(10**5000, "b")]), "is int ''"),
        (nx.DiGraph([(3, "b"), ("3", "c")]), "'3' was already given"),
        (nx.DiGraph([("a", "a")]), "points to itself"),
        (nx.DiGraph([("a", "b"), ("b", "a")]), "cycle"),
    ],
)
def test_objects_that_are_no_dag_are_refused(graph, expected):
    with pytest.raises(StructureError, match=expected):
        formats.read(graph)


@pytest.mark.parametrize("form", sorted(formats.FORMATS))
def test_the_longest_name_survives_and_a_longer_one_is_refused(form):
    sign = "\\" if form in {"dagitty", "dot", "node-link", "model-string"} else "ä"
    dag = Dag(nodes=("y", sign * 10_000), edges=(("y", sign * 10_000),))
    text = formats.write(dag, form)
    assert formats.read(text).edges == dag.edges
    longer = text.replace(sign * 10_000, sign * 10_100).replace("&#228;" * 100, "&#228;" * 101)
    with pytest.raises(StructureError, match="10,000 characters") as caught:
        formats.read(longer, form)
    assert len(str(caught.value)) < 1_000
