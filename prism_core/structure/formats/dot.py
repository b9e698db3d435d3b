"""Graphviz' DOT.

A node's name is its ID, not its label. `strict`, subgraphs, groups as ends of edges, defaults,
ports, comments, joined strings and HTML-like attribute values are understood; an HTML-like ID is
refused. So is what is not directed: `graph`, `--`, and `dir=back`, `none` or `both`. An unquoted
name may hold letters, digits, dots and underscores; one with a hyphen is refused, never cut.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prism_core.structure.formats._arrow_grammar import Attribute, Dialect, Parser, quoted
from prism_core.structure.formats._sketch import Sketch, position_of, role_words

if TYPE_CHECKING:
    from prism_core.structure.dag import Drawing

_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = {"node", "edge", "graph", "digraph", "subgraph", "strict"}


def read(text: str) -> Drawing:
    """The drawing in a DOT file."""
    parser = Parser(
        text, Dialect(backwards=False, keywords=True, on_node=_on_node, on_edge=_on_edge)
    )
    found = parser.name()
    if found is not None and found[0].lower() == "strict" and not found[2]:
        found = parser.name()
    word = "" if found is None or found[2] else found[0].lower()
    if word not in {"digraph", "graph"}:
        raise parser.sketch.refuse(
            0 if found is None else found[1], "a DOT graph starts with 'digraph {'."
        )
    parser.name()
    if not parser.take("{"):
        raise parser.unexpected()
    if word == "graph":
        assert found is not None
        raise parser.sketch.refuse(
            found[1],
            "the graph is declared as 'graph', which is undirected ('--'). Write 'digraph' and an "
            "arrow '->' for every edge.",
            field="edges",
        )
    parser.statements()
    if not parser.done():
        raise parser.sketch.refuse(
            parser.at, "there is text after the closing brace. Keep one graph only."
        )
    return parser.sketch.drawing()


def _on_node(sketch: Sketch, name: str, attribute: Attribute) -> None:
    if attribute.key == "pos" and attribute.value is not None:
        where = position_of(attribute.value)
        if where is not None:  # Graphviz measures y upwards
            # 0.0 - y and not -y, which would make -0.0 of 0.
            sketch.at(name, (where[0], 0.0 - where[1]))
    elif attribute.key == "role" and attribute.value is not None:
        for word in attribute.value.split():
            sketch.role(name, word)
    elif attribute.key == "observed":
        sketch.observed(name, attribute.value)


def _on_edge(sketch: Sketch, attribute: Attribute) -> None:
    if attribute.key == "dir" and (attribute.value or "").lower() != "forward":
        raise sketch.refuse(
            attribute.mark,
            f"an edge has dir={attribute.value!r}, so it is not drawn from cause to effect. Remove "
            "the attribute and write 'cause -> effect'. An unmeasured common cause is a node of "
            'its own: U [role="latent"]; U -> a; U -> b.',
            field="edges",
        )


def write(drawing: Drawing) -> str:
    """`digraph { ... }` with one line a node and one a edge; unusual names are quoted."""
    lines = ["digraph {"]
    for node in drawing.dag.nodes:
        words = []
        if node in drawing.positions:
            x, y = drawing.positions[node]
            # `repr` reads back to the same number, so that a file keeps its places.
            words.append(f'pos="{x!r},{0.0 - y!r}"')
        roles = role_words(drawing, node)
        if roles:
            words.append(f'role="{" ".join(roles)}"')
        lines.append(f"  {_id(node)}" + (f" [{', '.join(words)}]" if words else "") + ";")
    lines += [f"  {_id(cause)} -> {_id(effect)};" for cause, effect in drawing.dag.edges]
    return "\n".join([*lines, "}"]) + "\n"


def _id(name: str) -> str:
    plain = _SIMPLE.fullmatch(name) and name.lower() not in _KEYWORDS
    return name if plain else quoted(name)
