"""From a path, bytes or text to text; what is no UTF-8 text is refused with a reason."""

from __future__ import annotations

import codecs
import re
import zlib
from pathlib import Path

from prism_core import foreign
from prism_core.errors import StructureError

MAX_BYTES = foreign.GRAPH.size
"""The largest file read: 10,000 nodes with 100,000 edges fit into it in every format."""

_WIDE = {
    codecs.BOM_UTF32_LE: "UTF-32", codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16",
}  # fmt: skip


def text_of(source: str | bytes | Path) -> str:
    """The text of `source`, without a byte-order mark; line ends stay as they are.

    A gzip file is unpacked (bnlearn's networks come as ``.bif.gz``).

    Raises:
        StructureError: for a file that cannot be read, is too large, or is not UTF-8 text.
    """
    if isinstance(source, Path):
        source = _bytes_of(source)
    if isinstance(source, bytes):
        return _decoded(_unpacked(source))
    foreign.check_size(source, foreign.GRAPH)
    if re.search("[\ud800-\udfff]", source):
        raise StructureError(
            "The graph holds half of a surrogate pair, which is not text. Save it as UTF-8.",
            field="dag",
        )
    return _text(source.removeprefix("\ufeff"))


def _bytes_of(path: Path) -> bytes:
    try:
        return foreign.content_of(path, foreign.GRAPH)
    except (OSError, ValueError):  # a path with a NUL is a ValueError
        raise StructureError(f"The graph file {path.name!r} cannot be read.", field="dag") from None


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
    for mark, name in _WIDE.items():
        if data.startswith(mark):
            raise StructureError(
                f"The graph is {name} text, not UTF-8 text. Save it as UTF-8.", field="dag"
            )
    try:
        return _text(data.decode("utf-8-sig"))
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
