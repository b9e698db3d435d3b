"""GML, as networkx, igraph, Gephi and yEd write it.

A node's name is its `label` if all nodes have one, else its `name` (igraph), else its `id`. GML is
undirected unless the graph says `directed 1`, and is refused then. Positions are those of
`graphics [ x .. y .. ]`, or `x` and `y` of the node. Characters outside ASCII may stand as they are
or as `&#228;`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.entities import name2codepoint
from typing import TYPE_CHECKING, TypeAlias

from prism_core.errors import StructureError
from prism_core.structure.formats._sketch import (
    MAX_DEPTH,
    MAX_TEXT,
    Sketch,
    place,
    position,
    role_words,
    shown,
)

if TYPE_CHECKING:
    from prism_core.structure.dag import Drawing

_TOKEN = re.compile(
    r"(?P<space>(?:[\s\ufeff]+|^\#[^\n]*)+)|(?P<open>\[)|(?P<close>\])|(?P<key>[A-Za-z_]\w*)"
    r'|(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))|"(?P<text>[^"]*)"',
    re.MULTILINE,
)
MAX_WORDS = 1_500_000
"""The largest graph takes 1.1 million: ten an edge, ten a node."""
_ENTITY = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_Value: TypeAlias = "str | float | int | _Record"


@dataclass
class _Record:
    """A list `[ key value ... ]`; of a key given twice the first value counts."""

    mark: int
    values: dict[str, _Value] = field(default_factory=dict)


@dataclass
class _Found:
    """Nodes and edges as they come; names are known at the end only."""

    nodes: list[_Record] = field(default_factory=list)
    edges: list[_Record] = field(default_factory=list)
    graphs: list[_Record] = field(default_factory=list)


def read(text: str) -> Drawing:
    """The drawing in a GML file."""
    sketch = Sketch(lambda offset: place(text, offset), declared=True)
    found = _scan(text, sketch)
    if not found.graphs:
        raise StructureError("The GML text holds no 'graph [ ... ]'.", field="dag")
    if len(found.graphs) > 1:
        raise sketch.refuse(found.graphs[1].mark, "there is a second graph. Keep one graph only.")
    graph = found.graphs[0]
    if graph.values.get("directed") != 1:
        raise sketch.refuse(
            graph.mark,
            "the graph is undirected (it does not say 'directed 1'). Every edge needs a direction, "
            "from cause to effect.",
            field="edges",
        )
    names = _names(found.nodes, sketch)
    for edge in found.edges:
        ends = []
        for key in ("source", "target"):
            end = edge.values.get(key)
            if not isinstance(end, int | str):
                raise sketch.refuse(edge.mark, f"this edge has no {key!r}.", field="edges")
            if end not in names:
                raise sketch.refuse(
                    edge.mark, f"{key} {shown(str(end))} is not the id of a node.", field="edges"
                )
            ends.append(names[end])
        sketch.edge(ends[0], ends[1], edge.mark)
    return sketch.drawing()


def _names(nodes: list[_Record], sketch: Sketch) -> dict[str | int, str]:
    """Add the nodes; their names by id."""
    key = next(
        (key for key in ("label", "name") if all(key in node.values for node in nodes)), "id"
    )
    names: dict[str | int, str] = {}
    for node in nodes:
        own, name = node.values.get("id"), node.values.get(key)
        if not isinstance(own, int | str) or not isinstance(name, int | float | str):
            raise sketch.refuse(node.mark, "this node has no id or no name.", field="nodes")
        if own in names:
            raise sketch.refuse(
                node.mark, f"the id {shown(str(own))} is given to two nodes.", field="nodes"
            )
        # By the id as it is written: the ends of edges name it, never the label.
        names[own] = sketch.node(str(name), node.mark, once=True)
        drawn = node.values.get("graphics")
        where = drawn.values if isinstance(drawn, _Record) else node.values
        sketch.at(names[own], position(where.get("x"), where.get("y")))
        for word in str(node.values.get("role", "")).split():
            sketch.role(names[own], word)
        sketch.observed(names[own], node.values.get("observed"))
    return names


def _scan(text: str, sketch: Sketch) -> _Found:
    """One pass over the tokens with an own stack, so that depth costs no recursion."""
    found = _Found()
    stack: list[tuple[str, _Record]] = [("", _Record(mark=0))]
    key: str | None = None
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            what = "this quote is not closed" if text[at] == '"' else f"{text[at]!r} is unexpected"
            raise sketch.refuse(at, f"{what}. GML is 'key value' and 'key [ ... ]'.")
        kind, mark, at = token.lastgroup, at, token.end()
        if kind == "space":
            continue
        sketch.step(mark, MAX_WORDS)
        if kind == "key" and key is None:
            key = token.group()
        elif kind == "close" and key is None and len(stack) > 1:
            name, record = stack.pop()
            _keep(found, stack, name, record)
        elif key is None or kind in {"close", "key"}:
            raise sketch.refuse(mark, f"{shown(token.group())} is unexpected here.")
        elif kind == "open":
            if len(stack) > MAX_DEPTH:
                raise sketch.refuse(mark, f"lists are nested more than {MAX_DEPTH} deep.")
            stack.append((key, _Record(mark=mark)))
            key = None
        else:
            stack[-1][1].values.setdefault(key, _scalar(token, key))
            key = None
    if key is not None or len(stack) > 1:
        raise sketch.refuse(len(text), "the text ends too early. Add the missing ']'.")
    return found


def _keep(found: _Found, stack: list[tuple[str, _Record]], name: str, record: _Record) -> None:
    path = [*(part for part, _ in stack[1:]), name]
    if path == ["graph"]:
        found.graphs.append(record)
    elif path == ["graph", "node"]:
        found.nodes.append(record)
    elif path == ["graph", "edge"]:
        found.edges.append(record)
    else:
        stack[-1][1].values.setdefault(name, record)


def _scalar(token: re.Match[str], key: str) -> str | int | float:
    """A text or a number; a number too large for an int's text is infinite."""
    if token.lastgroup == "text":
        text = token.group("text")
        return _plain(text) if len(text) <= MAX_TEXT else text  # no name is that long
    text = token.group()
    if key in {"label", "name"}:
        return text  # a name stays as it is written
    try:
        return int(text)
    except ValueError:
        return float(text)


def _plain(text: str) -> str:
    """Entities as characters; what is none stays as it is."""

    def sign(match: re.Match[str]) -> str:
        body = match.group(1)
        if not body.startswith("#"):
            # HTML 4, whose table this is, has no `apos`; XML has.
            code = name2codepoint.get(body, 39 if body == "apos" else None)
        else:
            code = int(body[2:], 16) if body[1] in "xX" else int(body[1:])
        # Surrogates are halves of a character, and no UTF-8 holds them.
        usable = code is not None and 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
        return chr(code) if usable and code is not None else match.group()

    return _ENTITY.sub(sign, text)


def write(drawing: Drawing) -> str:
    """GML in ASCII; other characters are written `&#228;`."""
    lines = ["graph [", "  directed 1"]
    number = {node: index for index, node in enumerate(drawing.dag.nodes)}
    for node in drawing.dag.nodes:
        lines += ["  node [", f"    id {number[node]}", f'    label "{_escaped(node)}"']
        roles = role_words(drawing, node)
        if roles:
            lines.append(f'    role "{" ".join(roles)}"')
        if node in drawing.positions:
            x, y = drawing.positions[node]
            lines.append(f"    graphics [ x {x!r} y {y!r} ]")
        lines.append("  ]")
    for cause, effect in drawing.dag.edges:
        lines += ["  edge [", f"    source {number[cause]}", f"    target {number[effect]}", "  ]"]
    return "\n".join([*lines, "]"]) + "\n"


def _escaped(name: str) -> str:
    return re.sub(r'[^ -~]|[&"]', lambda match: f"&#{ord(match.group())};", name)
