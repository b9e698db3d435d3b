"""Graphs as files."""

from __future__ import annotations

import json

import networkx as nx
import pytest

from prism_core.errors import StructureError
from prism_core.structure import formats
from prism_core.structure.dag import Dag

HOSTILE = (
    "a,b", '"quoted"', "it's", "from", "to", "a\nb", "a\rb", "a\tb", "=1+1", "{x", "[y", "größe",
    "日本語", "\U0001f600", "a\u2028b", "<script>alert(1)</script>", "a → b", "0", "null", "#c",
)  # fmt: skip


@pytest.mark.parametrize("form", sorted(formats.FORMATS))
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_survive(form, name):
    for edges in (((name, "y"),), (("y", name),), ()):
        dag = Dag(nodes=(name, "y"), edges=edges)
        text = formats.write(dag, form)
        for again in (formats.read(text), formats.read(text.encode()), formats.read(text, form)):
            assert set(again.nodes) == {name, "y"}
            assert again.edges == edges


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
        ("a,b\n1,2\n", "dag", "first line is 'from,to'"),
        ("", "dag", "first line is 'from,to'"),
        ("from,to\na\n", "edges", "Line 2 of the edge list needs two cells"),
        ("from,to\na,b\na,b,c\n", "edges", "Line 3"),
        ("from,to\n,b\n", "edges", "Line 2"),
        ("from,to\na,a\n", "edges", "points to itself"),
        ("from,to\n" + "a" * 200_000 + ",b\n", "dag", "not a regular CSV"),
        ("{", "dag", "not readable as JSON .line 1"),
        ("[" * 100_000, "dag", "not readable as JSON"),
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
    with pytest.raises(StructureError, match=r"'absent\.csv' cannot be read"):
        formats.read(tmp_path / "absent.csv")


def test_an_unknown_format_is_refused():
    for act in (lambda: formats.read("", "dot"), lambda: formats.write(Dag(nodes=("a",)), "dot")):
        with pytest.raises(StructureError, match="format must be one of node-link, edge-list"):
            act()
