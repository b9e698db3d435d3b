"""Which format a text is in, from its first signs."""

from __future__ import annotations

import csv
import re

from prism_core.structure.formats import dagitty

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


def detect(text: str) -> str:
    """The name of a format; never fails (a wrong guess is refused by its reader)."""
    lines = text.lstrip().split("\n", 8)[:8]
    head = _cells(lines[0])
    if [cell.lower() for cell in head] == ["from", "to"]:
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
    if dagitty.is_r(text):
        return "dagitty"
    if len(head) > 1 and len(lines) > 1 and _is_matrix_row(_cells(lines[1])):
        return "adjacency"
    if _ARROW.search(text):
        return "dagitty"
    return "node-link" if text.startswith("{", start) else "edge-list"


def _cells(line: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line[:100_000]]), [])]
    except csv.Error:
        return []


def _is_matrix_row(cells: list[str]) -> bool:
    return len(cells) > 1 and all(cell.lower() in {"0", "1", "true", "false"} for cell in cells[1:])
