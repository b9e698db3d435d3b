"""From bytes or text to text; what is no UTF-8 text is refused with a reason."""

from __future__ import annotations

import re
import zlib

from prism_core import foreign
from prism_core.errors import StructureError

MAX_BYTES = foreign.GRAPH.size
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
        foreign.check_size(content, foreign.GRAPH)
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
        unpacker = zlib.decompressobj(wbits=31)
        return unpacker.decompress(data, MAX_BYTES + 1)
    except zlib.error:
        raise StructureError("The graph is a damaged gzip file.", field="dag") from None


def _decoded(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise _too_large()
    try:
        return _text(foreign.decoded(data, foreign.GRAPH))
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
