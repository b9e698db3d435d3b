"""Sheet: the rows of a codebook that is a table itself, and what its headers are taken for."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.errors import SchemaError
from prism_core.text import untrusted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MARKS = (",", ";", "\t")
_LONGEST = 1_000_000
"""Most characters of a cell; a list of choices of ten thousand codes is shorter."""
_WIDEST = 1_000
_ROWS = 100_000
_SIGNS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class SheetRow:
    """A row.

    Attributes:
        line: where it begins, counted from 1.
        cells: its texts, as many as the header has.
    """

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Sheet:
    """The first row that holds anything is the header; empty rows are none.

    Attributes:
        header: its texts, without white space around them.
        rows: the others.
    """

    header: tuple[str, ...]
    rows: tuple[SheetRow, ...]


def sheet_of(rows: Sequence[tuple[int, Sequence[str]]]) -> Sheet:
    """The sheet of rows and their lines.

    Raises:
        SchemaError: when there is no row below the header, or a limit is passed.
    """
    kept = [(line, [cell.strip() for cell in cells]) for line, cells in rows]
    # Dropped with their numbers kept, so that a message names the line of the file.
    kept = [(line, cells) for line, cells in kept if any(cells)]
    if len(kept) < 2:
        raise SchemaError(
            "The codebook has no row below its header. Name a file with one row for a column of "
            "the table.",
            field="codebook",
        )
    header = tuple(kept[0][1])
    if len(header) > _WIDEST:
        raise SchemaError(
            f"The codebook's header has more than {_WIDEST:,} names, which are not read. Name a "
            "file with one row for a column of the table.",
            field="codebook",
        )
    width = len(header)
    # By the header's width, not by the cells there are: every row is filled up to it below.
    if width * len(kept) > untrusted.CODEBOOK.values:
        raise SchemaError(
            f"The codebook has more than {untrusted.CODEBOOK.values:,} cells, which are not read.",
            field="codebook",
        )
    padded = [SheetRow(line, tuple([*cells, *[""] * width][:width])) for line, cells in kept[1:]]
    return Sheet(header, tuple(padded))


def csv_rows(text: str) -> list[tuple[int, list[str]]]:
    """The rows of a CSV text with commas, semicolons or tabs, each with the line it begins in.

    Raises:
        SchemaError: when a quotation mark is not closed, or a limit is passed.
    """
    first = next((line for line in text.split("\n") if line.strip()), "")
    # Of marks that are equally frequent the first: a header of one name is cut at commas.
    mark = max(_MARKS, key=first.count)
    # A process-wide setting: restored below.
    before = csv.field_size_limit(_LONGEST)
    # Strict: else a quotation mark that is not closed makes one cell of all that follows, in
    # silence. The line ends are left to the reader, which keeps those inside of cells.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    rows: list[tuple[int, list[str]]] = []
    cells = line = 0
    wrong = ""
    try:
        for row in reader:
            rows.append((line + 1, row))
            cells, line = cells + len(row), reader.line_num
            if len(rows) > _ROWS:
                wrong = f"more than {_ROWS:,} rows, which are not read"
                break
            if cells > untrusted.CODEBOOK.values:
                wrong = f"more than {untrusted.CODEBOOK.values:,} cells, which are not read"
                break
    except csv.Error:
        wrong = (
            f"a row from line {line + 1} on that is no CSV: a quotation mark is not closed or "
            f"stands inside a cell, or a cell has more than {_LONGEST:,} characters"
        )
    finally:
        csv.field_size_limit(before)
    if wrong:
        raise SchemaError(f"The codebook has {wrong}.", field="codebook")
    return rows


def folded(header: str) -> str:
    """A header without what people do not see as different.

    Example:
        >>> folded("Branching Logic (Show field only if...)"), folded(" VARIABLE_NAME ")
        ('branchinglogicshowfieldonlyif', 'variablename')
    """
    return _SIGNS.sub("", unicodedata.normalize("NFKC", header[:200]).casefold())


def folded_headers(
    header: Sequence[str], known: Mapping[str, str], meanings: Mapping[str, str]
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Where the parts of a codebook stand, and in words what each header was taken for.

    Of two headers for one part the first is used.

    Args:
        header: as the file has it.
        known: part by folded header.
        meanings: words by part.
    """
    places: dict[str, int] = {}
    understood: list[tuple[str, str]] = []
    for place, name in enumerate(header):
        part = known.get(folded(name))
        used = part is not None and part not in places
        if used and part is not None:
            places[part] = place
        if name:
            understood.append((name[:200], meanings[part] if used and part else "not used"))
    return places, understood
