"""Spreadsheets (Excel and ODS): the names of their sheets, and the rows of one as texts.

Whole numbers are written without a point, dates and times as ISO texts, and what is true or false
as such a word. Texts stay as they are. A sheet that is no table (a title, two rows of names, merged
cells), and a cell without a value (an error, a formula that nobody calculated), are refused when
the file is read, with the sheet and the cell: as a CSV with an open quotation mark is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from prism_core.data.tables import workbook_child
from prism_core.data.tables.header import check_header
from prism_core.data.tables.raw_table import as_texts, different_texts
from prism_core.data.tables.reader_process import Job, tables, whole
from prism_core.errors import TableError
from prism_core.text import untrusted

if TYPE_CHECKING:
    from collections.abc import Iterator

_WHAT = "spreadsheet (Excel or ODS)"
_SHOWN = 20
_SPEED = 50_000  # bytes a second; a workbook of ten cells a byte takes less

_CELLS = {
    "merged": (
        "has merged cells, which begin in {cell}. In a table every cell is one: unmerge them, and "
        "leave one row of names."
    ),
    "error": "has an error in {cell} (such as #N/A). Correct the cell, or make it empty.",
    "formula": (
        "has a formula in {cell} that was saved without its result. Open the file in a "
        "spreadsheet and save it, or put values in place of formulas."
    ),
    "unnamed": (
        "has no name of a column in {cell}. Its first row must hold the names of all columns: "
        "remove a title above it, and name every column."
    ),
    "names": (
        "seems to have a second row of names: {cell} is a text in a column of numbers or dates, "
        "and the whole row holds texts. Leave one row of names."
    ),
}


def sheet_names(content: bytes, name: str) -> tuple[str, ...]:
    """The names of a workbook's sheets, in their order. Spends nothing: no cell is looked at.

    Args:
        content: the file.
        name: its name, for messages.

    Raises:
        TableError: when it is damaged or needs a password.
    """
    job = _job(content, name, "sheets", "")
    try:
        found = untrusted.from_json(whole(job).decode(), untrusted.TABLE_NOTES)
    except ValueError:
        found = None
    if not isinstance(found, list):
        raise _damaged(name)
    return tuple(map(str, found))


def read_workbook(content: bytes, name: str, *, sheet: str = "") -> Iterator[pd.DataFrame]:
    """The rows of a sheet as frames of texts, a part at a time; the first one has no rows.

    Spends nothing: the cells are as private as the file.

    Args:
        content: the file.
        name: its name, for messages.
        sheet: the sheet's name; "" where the workbook has one only.

    Raises:
        TableError: when it is damaged, needs a password, has several sheets and none is named, or
            the sheet is no table. The message names sheet and cell, and quotes no cell.
    """
    header: list[str] | None = None
    for table in tables(_job(content, name, "cells", sheet)):
        if header is None:
            header = _header(table.schema.metadata, name)
            check_header(header, name)
        texts: dict[str, Any] = {}
        for place, title in enumerate(header):
            texts[title] = _texts(table.column(f"{place}"), table.column(f"{place}."))
        yield pd.DataFrame(texts, index=range(table.num_rows), dtype=str)


def _job(content: bytes, name: str, what: str, sheet: str) -> Job:
    return Job(
        script=workbook_child.__file__,
        source=content,
        name=name,
        what=_WHAT,
        arguments=(what, sheet),
        speed=_SPEED,
        refusal=lambda why: _refusal(why, name),
    )


def _damaged(name: str) -> TableError:
    return TableError(f"The file {name!r} is not a readable {_WHAT}.")


def _header(notes: dict[bytes, bytes] | None, name: str) -> list[str]:
    try:
        about = untrusted.from_json((notes or {})[b"about"].decode(), untrusted.TABLE_NOTES)
        return [str(title).strip() for title in about["names"]]
    except (ValueError, KeyError, TypeError):
        pass
    raise _damaged(name)


def _texts(words: Any, numbers: Any) -> pd.Series:  # noqa: ANN401
    """One column: a word where there is one, else the number's text by the rule for all tables."""
    places, texts = different_texts(pd.Series(numbers.to_numpy(zero_copy_only=False)))
    # A missing number has the place -1, and the last of the texts is the empty one.
    cells = texts[places].astype(object)
    found = words.to_pandas()
    there = found.notna().to_numpy()
    cells[there] = found[there]
    return as_texts(pd.Series(cells, dtype=object))


def _refusal(why: dict[str, Any], name: str) -> TableError:
    reason, sheets = why.get("why"), [str(one) for one in why.get("sheets") or ()]
    if reason == "password":
        return TableError(
            f"The file {name!r} is protected by a password. Save it without one; a table that is "
            "read here stays on this machine."
        )
    if reason == "unpacked":
        return TableError(
            f"The file {name!r} unpacks to far more than its cells can be, and is not read. Open "
            "it in a spreadsheet, delete rows and columns that hold nothing, and save it again."
        )
    listed = ", ".join(repr(one) for one in sheets[:_SHOWN])
    listed += " and others" if len(sheets) > _SHOWN else ""
    if reason == "sheets":
        return TableError(
            f"The file {name!r} has several sheets: {listed}. Name the one that holds the rows: "
            f"{name}#SHEET.",
            field="sheet",
            sheets=tuple(sheets),
        )
    if reason == "absent":
        return TableError(
            f"The file {name!r} has no sheet of that name. Its sheets are {listed}.",
            field="sheet",
            sheets=tuple(sheets),
        )
    sheet = str(why.get("sheet"))
    if reason == "empty":
        return TableError(f"The sheet {sheet!r} of {name!r} is empty.", field="sheet")
    words = _CELLS.get(str(reason))
    if words is None:
        return _damaged(name)
    # Cut, as the child read a file of somebody else: what it says is not believed.
    said = words.format(cell=str(why.get("cell"))[:16])
    return TableError(f"The sheet {sheet!r} of {name!r} {said}", field="sheet")
