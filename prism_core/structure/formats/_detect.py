"""Recognition of a graph's text: from bytes to UTF-8 text, and its format by its first signs.

What is no text, or in none of the formats, is refused with a reason.
"""

from __future__ import annotations

import csv
import re
import zlib

from prism_core.errors import StructureError
from prism_core.structure.formats import dagitty
from prism_core.structure.formats._sketch import PRINTED
from prism_core.text import untrusted

_LEAD = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/|#[^\n]*)*", re.DOTALL)
# The order decides: a model string begins with a bracket, as a list in JSON does.
_STARTS = (
    ("dagitty", re.compile(r'(?:dag|pdag|mag|pag)(?:\s+(?:[\w.]+|"[^"]*"))?\s*\{', re.IGNORECASE)),
    (
        "dot",
        re.compile(
            r'(?:strict\s+)?(?:di)?graph(?:\s+(?:[^\s{}\[\]"]+|"[^"]*"))?\s*\{', re.IGNORECASE
        ),
    ),
    (
        "gml",
        re.compile(
            r'(?:(?:Creator|Version|comment)\s+(?:"[^"]*"|[-\d.]+)\s+|#[^\n]*\n\s*)*'
            r"graph\s*\[",
            re.IGNORECASE,
        ),
    ),
    ("bif", re.compile(r'(?:network|variable|probability)\s*(?:"[^"]*"|[^\s{}"]*)\s*[{(]')),
    ("model-string", re.compile(r'\[[^\[\]{}"]+\]')),
    ("node-link", re.compile(r"\[|\{\s*(?:\}|\"|\Z)")),
    # No tag: `<-` is an arrow.
    ("graphml", re.compile(r"<(?!-)")),
)
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


MAX_BYTES = untrusted.GRAPH.size
"""The largest file read: 10,000 nodes with 100,000 edges fit into it in every format."""


def text_of(content: str | bytes) -> str:
    """The text of a graph, without a byte-order mark; line ends stay as they are.

    A gzip file is unpacked (bnlearn's networks come as ``.bif.gz``).

    Raises:
        StructureError: when it is too large, empty, or not UTF-8 text.
    """
    if isinstance(content, bytes):
        text = _decoded(_unpacked(content))
    else:
        untrusted.check_size(content, untrusted.GRAPH)
        if re.search("[\ud800-\udfff]", content):
            raise StructureError(
                "The graph holds half of a surrogate pair, which is not text. Save it as UTF-8.",
                field="dag",
            )
        text = _text(content.removeprefix("\ufeff"))
    if not text.strip():
        raise StructureError("The graph is empty. Give a file or text with edges.", field="dag")
    return text


def _unpacked(data: bytes) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        # 15, zlib's largest window, and 16 for the head of a gzip file.
        unpacker = zlib.decompressobj(wbits=31)
        # One byte beyond the limit shows that a file is too large; a bomb is not unpacked
        # further.
        return unpacker.decompress(data, MAX_BYTES + 1)
    except zlib.error:
        raise StructureError("The graph is a damaged gzip file.", field="dag") from None


def _decoded(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise _too_large()
    try:
        return _text(untrusted.decoded(data, untrusted.GRAPH))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        guess = "binary data" if b"\0" in data else "perhaps Latin-1 or Windows-1252"
        raise StructureError(
            f"The graph is not UTF-8 text (line {line}, byte {error.start + 1} of the file; "
            f"{guess}). Save it as UTF-8.",
            field="dag",
        ) from None


def _text(text: str) -> str:
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise StructureError(
            f"The graph holds a zero byte (line {line}): it is binary data or UTF-16 text without "
            "its mark. Save it as UTF-8 text.",
            field="dag",
        )
    return text


def _too_large() -> StructureError:
    return StructureError(
        f"The graph is larger than {MAX_BYTES // 1_000_000} MB. Upload the structure alone, "
        "without data or tables.",
        field="dag",
    )
