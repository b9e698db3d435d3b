"""CSV in and out, for the two formats that are tables."""

from __future__ import annotations

import csv
import io
from itertools import islice
from typing import TYPE_CHECKING

from prism_core.errors import StructureError
from prism_core.structure.formats._sketch import cannot_hold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_ROWS = 250_000


def rows_of(text: str, what: str) -> list[tuple[int, list[str]]]:
    """The rows that hold something, with their number from 1; cells without white space around.

    Raises:
        StructureError: when the text is no regular CSV.
    """
    try:
        lines = list(islice(csv.reader(io.StringIO(text, newline="")), MAX_ROWS + 1))
    except csv.Error:
        raise StructureError(f"The {what} is not a regular CSV.", field="dag") from None
    if len(lines) > MAX_ROWS:
        raise StructureError(f"The {what} has more than {MAX_ROWS:,} rows.", field="dag")
    rows = [[cell.strip() for cell in line] for line in lines]
    return [(number, row) for number, row in enumerate(rows, 1) if any(row)]


def table_of(rows: Iterable[Sequence[str]], names: Sequence[str]) -> str:
    """Rows as CSV.

    Raises:
        StructureError: for a name with white space around it, which readers of CSV cut off.
    """
    cannot_hold(
        names, "CSV", lambda name: name == name.strip(),
        "names there have no white space around them.",
    )  # fmt: skip
    out = io.StringIO()
    # Older versions of csv leave a name with a carriage return unquoted.
    unusual = any("\r" in name for name in names)
    quoting = csv.QUOTE_ALL if unusual else csv.QUOTE_MINIMAL
    csv.writer(out, lineterminator="\n", quoting=quoting).writerows(rows)
    return out.getvalue()
