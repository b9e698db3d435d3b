"""CSV files as chunks of text cells: the one reader, whatever the size of the file.

A file that is read into memory and one that is not must be cut into the same cells, so both go
through here. No type is guessed. What is refused (bytes that are no text, a line with more cells
than the header, a quotation mark that is never closed) is refused before anything is charged.
"""

from __future__ import annotations

import codecs
import io
import re
from typing import TYPE_CHECKING, BinaryIO

import pandas as pd

from prism_core.data.tables.header import check_header, many_columns
from prism_core.errors import TableError
from prism_core.text import untrusted
from prism_core.text.file_or_text import no_table

if TYPE_CHECKING:
    from collections.abc import Iterator

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
LATIN1 = "latin-1"

CHUNK = 50_000
"""Rows cut at a time."""

_HEAD = 65_536
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x19]")  # bytes that no text holds


class _Text(io.TextIOWrapper):
    """A text stream that remembers whether its bytes were text: pandas forgets the reason.

    Its lines end as the header's does: by CR, or by LF with or without a CR before it. Any other
    CR is a part of its cell: where a program did not quote it, the row of one person would become
    two, or be passed over as an empty line.
    """

    broken = False
    end = "\n"
    returns = False  # whether a CR stands before the LF of its lines

    def read(self, size: int | None = -1, /) -> str:
        try:
            return super().read(size)
        except UnicodeError:
            self.broken = True
            raise


def read_delimited(
    stream: BinaryIO, name: str, *, separator: str = ",", encoding: str = "utf-8"
) -> Iterator[pd.DataFrame]:
    """The rows of a CSV as frames of texts, `CHUNK` rows each; the first may have no row.

    Every frame has the header as its columns. Spends nothing: the cells are private.

    Args:
        stream: the file, at its start; it can be wound back.
        name: the file's name, for messages.
        separator: one of `SEPARATORS`.
        encoding: a text encoding; a byte-order mark in the file goes before it.

    Raises:
        TableError: with a suggested separator or encoding where one would help. No cell is in
            it, nor in its context.
    """
    if separator not in SEPARATORS:
        raise TableError(
            f"separator must be one of {', '.join(SEPARATORS.values())}.", field="separator"
        )
    head = stream.read(_HEAD)
    encoding = _encoding(head, name, encoding)
    text = _wound_back(stream, encoding)
    before, first = _first_line(text, head, name)
    _check_separator(first, name, separator)
    # A rough bound before anything is cut; `check_header` counts exactly.
    if first.count(separator) > 2 * untrusted.COLUMNS:
        raise many_columns(name)
    header: list[str] | None = None
    text = _wound_back(stream, encoding, text)
    text.end = "\r" if first.endswith("\r") else "\n"
    text.returns = first.endswith("\r\n")
    for _ in range(before):  # the header says how many cells a line has
        text.readline()
    for cells in _cut(text, head, name, separator):
        if header is None:
            header = [str(cell).strip() for cell in cells.iloc[0]]
            check_header(header, name)
            cells = cells.iloc[1:]
        cells.columns = header
        yield cells.reset_index(drop=True)


def _wound_back(stream: BinaryIO, encoding: str, before: _Text | None = None) -> _Text:
    if before is not None:
        before.detach()
    stream.seek(0)
    # newline="": Python would turn every CR into a line end, those inside cells, too.
    return _Text(stream, encoding=encoding, newline="")


def _encoding(head: bytes, name: str, encoding: str) -> str:
    if not head.strip():
        raise TableError(f"The file {name!r} is empty.")
    other = no_table(head, name)
    if other:
        raise TableError(other)
    # UTF-16 is full of NULs as well, and is told by its mark.
    if b"\x00" in head and not untrusted.mark_of(head):
        raise _binary(name)
    try:
        "".encode(encoding)  # a LookupError, too, for a codec that is not one of texts
        known = True
    except (LookupError, ValueError):
        known = False
    if not known:
        raise TableError(
            f"encoding {encoding!r} is not known. Use utf-8 or latin-1.", field="encoding"
        )
    if mark := untrusted.mark_of(head):
        return mark
    return "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding


def _binary(name: str) -> TableError:
    return TableError(
        f"The file {name!r} is not a CSV: it is a binary file of a kind that is not known here. "
        "Export the table as CSV or Parquet and load that."
    )


def _not_text(text: _Text, head: bytes, name: str) -> TableError:
    if _CONTROL.search(head):
        return _binary(name)
    encoding = text.encoding.removesuffix("-sig").upper()
    return TableError(
        f"The file {name!r} is not {encoding} text. It may be written in latin-1 "
        "(Western European): read it with that encoding, or export it as UTF-8.",
        field="encoding",
        encoding=LATIN1,
    )


def _first_line(text: _Text, head: bytes, name: str) -> tuple[int, str]:
    """The first line that is not empty, and how many stand before it."""
    try:
        return next(((n, line) for n, line in enumerate(text) if line.strip()), (0, ""))
    except UnicodeError:
        failed = _not_text(text, head, name)
    # Outside of the handler: the context of an error would hold bytes of rows.
    raise failed


def _cut(text: _Text, head: bytes, name: str, separator: str) -> Iterator[pd.DataFrame]:
    """The lines as cells, the header's line among them; a short line is filled with nothing."""
    reader = None
    while True:
        failed = cells = None
        try:
            # Inside: making the reader reads the first lines, and fails like any other part.
            if reader is None:
                reader = pd.read_csv(
                    text,
                    sep=separator,
                    lineterminator=text.end,
                    dtype=str,
                    keep_default_na=False,
                    na_filter=False,
                    header=None,  # read as a line, so that it sets the number of cells
                    on_bad_lines="error",
                    skip_blank_lines=True,
                    engine="c",
                    low_memory=False,
                    chunksize=CHUNK,
                )
            cells = next(reader, None)
        except UnicodeError:
            failed = _not_text(text, head, name)
        except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError):
            failed = _not_text(text, head, name) if text.broken else _irregular(name)
        if failed is not None:
            raise failed
        if cells is None:
            return
        yield (_without_returns(cells) if text.returns else cells).fillna("")


def _without_returns(cells: pd.DataFrame) -> pd.DataFrame:
    """Without the CR before a line's LF, and without lines of it alone, which are empty ones.

    A line is looked at by itself. In a whole line the last cell has the CR, so that a line with
    nothing but one in its first cell is an empty one.
    """
    empty = (cells.iloc[:, 0] == "\r") & (cells.iloc[:, 1:] == "").all(axis=1)
    cells = cells.loc[~empty].reset_index(drop=True)
    last = cells.columns[-1]
    cells[last] = cells[last].str.removesuffix("\r")
    return cells


def _irregular(name: str) -> TableError:
    return TableError(
        f"The file {name!r} is not a regular CSV: some line has more cells than the header "
        "has names, or a quotation mark is not closed. Export it again from the source system."
    )


def _check_separator(first: str, name: str, separator: str) -> None:
    if separator not in first:
        other = max(SEPARATORS, key=first.count)
        if first.count(other):
            raise TableError(
                f"The header of {name!r} is separated by {SEPARATORS[other]}, not by "
                f"{SEPARATORS[separator]}. Read it with the separator {SEPARATORS[other]}.",
                field="separator",
                separator=other,
            )
