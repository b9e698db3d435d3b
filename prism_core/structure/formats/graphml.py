"""GraphML, as networkx, igraph, Gephi and yEd write it.

A node's name is its `id`. The XML is read with expat's own handlers: a document type, and with it
every entity, is refused before it can be expanded. Undirected graphs and edges, hyperedges, nested
graphs and a second graph are refused with their place. Positions are data named `x` and `y`, or
yEd's `Geometry`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from prism_core.errors import StructureError
from prism_core.structure.formats._sketch import (
    MAX_DEPTH,
    Sketch,
    cannot_hold,
    position,
    role_words,
    shown,
)
from prism_core.text.untrusted_xml import XmlReader

if TYPE_CHECKING:
    from prism_core.structure.dag import Drawing

MAX_ELEMENTS = 1_500_000
"""The largest graph of yEd takes about that: ten an edge and more a node."""
_XML = re.compile("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+")
_DECLARED = re.compile(r"\s*<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']*)[\"']")
_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    '  <key id="x" for="node" attr.name="x" attr.type="double"/>\n'
    '  <key id="y" for="node" attr.name="y" attr.type="double"/>\n'
    '  <key id="role" for="node" attr.name="role" attr.type="string"/>\n'
    '  <graph edgedefault="directed">\n'
)


def read(text: str) -> Drawing:
    """The drawing in a GraphML file."""
    declared = _DECLARED.match(text)
    # ASCII is written alike in nearly all encodings, so what is declared does not matter then.
    if declared and not text.isascii() and declared.group(1).lower() not in {"utf-8", "utf8"}:
        raise StructureError(
            f"Line 1: the XML declares the encoding {shown(declared.group(1))}. Save it as UTF-8.",
            field="dag",
        )
    reader = _GraphmlReader()
    if wrong := reader.parse(text):
        raise StructureError(wrong, field="dag")
    return reader.drawing()


class _GraphmlReader(XmlReader):
    """Handlers of a graph, and what they saw."""

    def __init__(self) -> None:
        super().__init__()
        self.sketch = Sketch(lambda mark: f"line {mark[0]}, column {mark[1]}", declared=True)
        self.path: list[str] = []
        self.keys: dict[str, str] = {}
        self.directed = True
        self.graphs = 0
        self.node = ""
        self.key = ""
        self.texts: list[str] = []
        self.values: dict[str, str] = {}

    def mark(self) -> tuple[int, int]:
        return self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1

    def refuse(self, what: str, field: str = "dag") -> StructureError:
        return self.sketch.refuse(self.mark(), what, field=field)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.sketch.step(self.mark(), MAX_ELEMENTS)
        # Without its namespace, of which yEd has one of its own.
        name = tag.rpartition(" ")[2]
        if not self.path and name != "graphml":
            raise self.refuse(f"this is XML, but not GraphML: it starts with {shown(name)}.")
        self.path.append(name)
        if len(self.path) > MAX_DEPTH:
            raise self.refuse(f"elements are nested more than {MAX_DEPTH} deep.")
        act = {
            "graph": self.graph,
            "node": self.open_node,
            "edge": self.edge,
            "key": self.declare,
            "data": self.data,
            "Geometry": self.geometry,
            "hyperedge": self.hyperedge,
        }.get(name)
        if act is not None:
            act(attributes)

    def end(self, _: str) -> None:
        name = self.path.pop()
        if name == "data" and self.key:
            # expat may hand a text over in pieces.
            self.values[self.key] = "".join(self.texts).strip()
            self.key = ""
        elif name == "node":
            where = position(self.values.get("x"), self.values.get("y"))
            self.sketch.at(self.node, where)
            for word in self.values.get("role", "").split():
                self.sketch.role(self.node, word)
            self.sketch.observed(self.node, self.values.get("observed"))
            self.node = ""

    def characters(self, text: str) -> None:
        if self.key:
            self.texts.append(text)

    def graph(self, attributes: dict[str, str]) -> None:
        self.graphs += 1
        if self.graphs > 1:
            raise self.refuse("there is a second or a nested graph. Keep one graph only.")
        self.directed = attributes.get("edgedefault") == "directed"

    def open_node(self, attributes: dict[str, str]) -> None:
        if self.node:
            raise self.refuse("a node stands inside a node.", "nodes")
        if "id" not in attributes:
            raise self.refuse("this node has no 'id'.", "nodes")
        self.node = self.sketch.node(attributes["id"], self.mark(), once=True)
        self.values = {}

    def edge(self, attributes: dict[str, str]) -> None:
        ends = [attributes.get("source"), attributes.get("target")]
        if ends[0] is None or ends[1] is None:
            raise self.refuse("this edge has no 'source' or no 'target'.", "edges")
        # XML's booleans are words or digits.
        directed = {"true": True, "1": True, "false": False, "0": False}.get(
            attributes.get("directed", ""), self.directed
        )
        if not directed:
            raise self.refuse(
                f"the edge between {shown(ends[0])} and {shown(ends[1])} is undirected. Every edge "
                "needs a direction, from cause to effect (edgedefault='directed').",
                "edges",
            )
        self.sketch.edge(ends[0], ends[1], self.mark())

    def hyperedge(self, _: dict[str, str]) -> None:
        raise self.refuse("hyperedges have no direction. Write edges.", "edges")

    def declare(self, attributes: dict[str, str]) -> None:
        # Without the attribute a key is for all, says GraphML.
        if attributes.get("for") in {"node", "all", None} and "id" in attributes:
            self.keys[attributes["id"]] = attributes.get("attr.name", "").lower()

    def data(self, attributes: dict[str, str]) -> None:
        name = self.keys.get(attributes.get("key", ""), "")
        # Of nodes alone: edges and the graph may have data of the same name.
        if self.node and name in {"x", "y", "role", "observed"}:
            self.key, self.texts = name, []

    def geometry(self, attributes: dict[str, str]) -> None:
        if self.node:
            self.values.update({key: attributes[key] for key in ("x", "y") if key in attributes})

    def drawing(self) -> Drawing:
        if not self.graphs:
            raise StructureError("The GraphML text holds no graph.", field="dag")
        return self.sketch.drawing()


def write(drawing: Drawing) -> str:
    """GraphML with names as ids.

    Raises:
        StructureError: for a name with a control character, which XML cannot hold.
    """
    cannot_hold(
        drawing.dag.nodes,
        "GraphML",
        lambda name: _XML.fullmatch(name) is not None,
        "XML has no control characters.",
    )
    parts = [_HEAD]
    for node in drawing.dag.nodes:
        values = []
        if node in drawing.positions:
            x, y = drawing.positions[node]
            values += [f'<data key="x">{x!r}</data>', f'<data key="y">{y!r}</data>']
        roles = role_words(drawing, node)
        if roles:
            values.append(f'<data key="role">{escape(" ".join(roles))}</data>')
        parts.append(f"    <node id={_attribute(node)}>{''.join(values)}</node>\n")
    parts += [
        f"    <edge source={_attribute(cause)} target={_attribute(effect)}/>\n"
        for cause, effect in drawing.dag.edges
    ]
    return "".join([*parts, "  </graph>\n</graphml>\n"])


def _attribute(name: str) -> str:
    """Quoted, with white space that a parser would turn into a space written as a reference."""
    return quoteattr(name, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
