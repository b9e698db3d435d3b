"""Reading and writing graphs. One file a format; docs/graphs.md says what each understands.

    node-link     JSON of networkx, d3 and vis-network
    edge-list     CSV with the header from,to
    adjacency     CSV matrix of 0 and 1
    dagitty       DAGitty's text, also pasted from R, also bare `A -> Y`
    dot           Graphviz
    gml           networkx, igraph, Gephi, yEd
    graphml       the same in XML
    bif           bnlearn and the Bayesian Network Repository, structure only
    model-string  bnlearn, [A][B|A]

Objects of networkx and pgmpy, and lists of pairs, are read, too; `to_networkx` and `to_pgmpy` make
graphs of those.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from prism_core.errors import StructureError
from prism_core.structure.dag import Dag, Drawing
from prism_core.structure.formats import (
    adjacency,
    bif,
    dagitty,
    dot,
    edge_list,
    gml,
    graphml,
    model_string,
    node_link,
)
from prism_core.structure.formats._detect import MAX_BYTES, detect, text_of
from prism_core.structure.formats._sketch import shown
from prism_core.structure.formats.objects import from_networkx, from_pairs, to_networkx, to_pgmpy
from prism_core.text import untrusted
from prism_core.text.file_or_text import GRAPH, Source, located
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    import networkx as nx


__all__ = [
    "FORMATS",
    "MAX_BYTES",
    "SUFFIXES",
    "detect",
    "from_networkx",
    "from_pairs",
    "holding",
    "parse",
    "read",
    "read_drawing",
    "to_networkx",
    "to_pgmpy",
    "write",
]

FORMATS = {
    "node-link": node_link,
    "edge-list": edge_list,
    "adjacency": adjacency,
    "dagitty": dagitty,
    "dot": dot,
    "gml": gml,
    "graphml": graphml,
    "bif": bif,
    "model-string": model_string,
}

_SIGN = re.compile(r"[\r\n]|->|<-|--|[\[\]{}<>,]")  # without one, a text is no graph
_UNMARKED = ("edge-list", "adjacency", "model-string")
"""Formats without a way to say that a node is unmeasured."""

SUFFIXES = {
    ".json": "node-link",
    ".csv": "edge-list",
    ".dag": "dagitty",
    ".txt": "dagitty",
    ".dot": "dot",
    ".gv": "dot",
    ".gml": "gml",
    ".graphml": "graphml",
    ".bif": "bif",
}
"""The format that a file with such a name is written in. Reading goes by content."""


def read(source: Source | nx.Graph | Iterable[tuple[str, str]], format: str | None = None) -> Dag:
    """The graph in `source`: a file, text, pairs, or a graph of networkx or pgmpy.

    Args:
        source: the graph, or where it stands. A `str` is a file, unless it can only be text, see
            `sources`; a list of pairs holds causes and effects. Text is UTF-8, at most MAX_BYTES,
            perhaps gzipped.
        format: one of FORMATS; recognised from the text when None.

    Raises:
        StructureError: when there is no such file, the format is unknown or the graph is not
            usable; says where and what to do.
    """
    return read_drawing(source, format).dag


def read_drawing(
    source: Source | nx.Graph | Iterable[tuple[str, str]], format: str | None = None
) -> Drawing:
    """As `read`, with the positions and roles that the file gives."""
    # Before the source is read: an unknown format is no fault of the file.
    if format is not None:
        _format(format)
    # Before iterables, as a text is one of its letters.
    if isinstance(source, str | bytes | os.PathLike):
        found = located(source, GRAPH)
        if isinstance(found, Path):
            return parse(untrusted.read_bytes(found, untrusted.GRAPH), format)
        if format is None and isinstance(found, str) and _is_no_graph(found):
            raise StructureError(
                f"There is no file {shown(found)}, and as text it is no graph. Check the path, or "
                "write for example 'A -> Y'.",
                field="dag",
            )
        return parse(found, format)
    if hasattr(source, "is_directed"):
        return from_networkx(cast("nx.Graph", source))
    if isinstance(source, Iterable):
        return from_pairs(source)
    raise StructureError(
        f"A graph cannot be read from {type(source).__name__}. Give a path, text, bytes, a list of "
        "pairs or a networkx.DiGraph.",
        field="dag",
    )


def parse(content: str | bytes, format: str | None = None) -> Drawing:
    """The drawing in a text or in the bytes of a file; never a path, whoever wrote it.

    Raises:
        StructureError: when the format is unknown or the graph is not usable.
    """
    reader = None if format is None else _format(format)
    text = text_of(content)
    return (reader or FORMATS[detect(text)]).read(text)


def write(graph: Dag | Drawing, format: str) -> str:
    """The graph as text in one of FORMATS; reading it back gives the same graph.

    Raises:
        StructureError: when the format is unknown or cannot hold one of the names, what a learned
            graph cost, or that a node is unmeasured.
    """
    writer = _format(format)
    drawing = graph if isinstance(graph, Drawing) else Drawing(dag=graph)
    if format in _UNMARKED and drawing.dag.unmeasured:
        others = ", ".join(name for name in FORMATS if name not in _UNMARKED)
        raise StructureError(
            f"The format {format} cannot say that {shown(drawing.dag.unmeasured[0])} is "
            f"unmeasured. Choose one of {others}.",
            field="format",
        )
    if drawing.dag.learned and format != "node-link":
        raise StructureError(
            "Only the format node-link holds how a learned graph came about and what it cost. "
            "Write it as JSON.",
            field="format",
        )
    return writer.write(drawing)


def holding(dag: Dag) -> tuple[str, ...]:
    """The formats that hold all that the graph says, its names aside."""
    if dag.learned:
        return ("node-link",)
    return tuple(name for name in FORMATS if not (dag.unmeasured and name in _UNMARKED))


def _is_no_graph(text: str) -> bool:
    """Whether a text of one line bears no sign of a graph: it was meant as a name."""
    return bool(text.strip()) and len(text) <= untrusted.GRAPH.size and not _SIGN.search(text)


def _format(name: str) -> Any:  # noqa: ANN401  (a module)
    if name not in FORMATS:
        raise StructureError(
            f"format must be one of {', '.join(FORMATS)}.{suggestion(name, FORMATS)}",
            field="format",
        )
    return FORMATS[name]
