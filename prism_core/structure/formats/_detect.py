"""Which format a text is in, from its first signs; what is in none is refused with a reason."""

from __future__ import annotations

import csv
import re

from prism_core.errors import StructureError
from prism_core.structure.formats import dagitty
from prism_core.structure.formats._printed import PRINTED

_LEAD = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/|#[^\n]*)*", re.DOTALL)
_STARTS = (
    ("dagitty", re.compile(r'(?:dag|pdag|mag|pag)(?:\s+(?:[\w.]+|"[^"]*"))?\s*\{', re.IGNORECASE)),
    ("dot", re.compile(r'(?:strict\s+)?(?:di)?graph(?:\s+(?:[^\s{}\[\]"]+|"[^"]*"))?\s*\{',
                       re.IGNORECASE)),
    ("gml", re.compile(r'(?:(?:Creator|Version|comment)\s+(?:"[^"]*"|[-\d.]+)\s+|#[^\n]*\n\s*)*'
                       r'graph\s*\[', re.IGNORECASE)),
    ("bif", re.compile(r'(?:network|variable|probability)\s*(?:"[^"]*"|[^\s{}"]*)\s*[{(]')),
    ("model-string", re.compile(r'\[[^\[\]{}"]+\]')),
    ("node-link", re.compile(r"\[|\{\s*(?:\}|\"|\Z)")),
    ("graphml", re.compile(r"<(?!-)")),
)  # fmt: skip
_ARROW = re.compile(r"->|<-|--|@-")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|true|false|na|nan|", re.IGNORECASE)
_NO_GRAPHS = (
    (
        re.compile(r"\[\s*[(\[]\s*['\"]"),
        "is a list of pairs as Python or JSON writes it. From Python, give the list itself; as "
        "text, write one edge a line under the header from,to",
    ),
    (re.compile(r"<(?:!doctype\s+)?html", re.IGNORECASE), "is a web page (HTML). Save the graph"),
    (
        re.compile(r"\W*from\W*[;\t|]\W*to\b", re.IGNORECASE),
        "is an edge list that is not separated by commas. Write its first line as from,to, and a "
        "comma in every line",
    ),
)


def detect(text: str) -> str:
    """The name of the format whose signs a text bears; its reader may still refuse it.

    Raises:
        StructureError: when it bears the signs of none, or of something that is no graph.
    """
    for pattern, what in _NO_GRAPHS:
        if pattern.match(text.lstrip()):
            raise StructureError(f"The graph {what}.", field="dag")
    found = _by_first_signs(text) or _by_lines(text)
    if found is None:
        raise StructureError(
            "The format of the graph is not recognised. An edge list begins with the line from,to; "
            "an adjacency matrix with the names of its columns; DAGitty's text, and DOT's, hold "
            "arrows (->). docs/graphs.md shows all formats.",
            field="dag",
        )
    return found


def _by_first_signs(text: str) -> str | None:
    printed = PRINTED.match(text)
    if printed is not None:
        return "model-string" if re.match(r'"\s*\[', text[printed.end() :]) else "dagitty"
    if [cell.lower() for cell in _cells(text.lstrip().split("\n", 1)[0])] == ["from", "to"]:
        return "edge-list"
    if text[:1] == "," or text.startswith('"",'):
        return "adjacency"
    lead = _LEAD.match(text)
    start = lead.end() if lead else 0
    for name, pattern in _STARTS:
        if pattern.match(text, start):
            brackets = text.startswith("{", start) and name == "node-link"
            if brackets and _ARROW.search(text) and '":' not in re.sub(r"\s", "", text[:4096]):
                return "dagitty"  # a group in braces comes first
            return name
    return None


def _by_lines(text: str) -> str | None:
    if dagitty.is_r(text):
        return "dagitty"
    lines = text.lstrip().split("\n", 8)[:8]
    head = _cells(lines[0])
    if (
        len(head) > 1
        and len(lines) > 1
        and (_is_matrix_row(_cells(lines[1])) or _is_weighted(text, len(head)))
    ):
        return "adjacency"
    if _ARROW.search(text):
        return "dagitty"
    return "node-link" if text.lstrip().startswith("{") else None


def _cells(line: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line[:100_000]]), [])]
    except csv.Error:
        return []


def _is_matrix_row(cells: list[str]) -> bool:
    return len(cells) > 1 and all(cell.lower() in {"0", "1", "true", "false"} for cell in cells[1:])


def _is_weighted(text: str, columns: int) -> bool:
    """Whether a matrix has as many rows as columns, and numbers in them."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2:
        return False
    first, *cells = _cells(lines[1]) or [""]
    named = not _NUMBER.fullmatch(first)
    square = len(lines) - 1 == columns - named
    return square and any(cells) and all(_NUMBER.fullmatch(cell) for cell in cells)
