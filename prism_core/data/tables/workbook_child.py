"""Reader of spreadsheets (Excel and ODS) in a child process; see `reader_child`.

A sheet is a table if its first row names every column and no cell stands for two. What is not so is
refused with the sheet and the cell. Calamine says nothing of errors and formulas: `workbook_marks`
looks for them in the file itself.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

ROWS = 50_000
"""Rows that are written at a time."""
_UNPACKED, _TIMES = 2**24, 200
"""Bytes that any archive may unpack to, and how many more for each of its own: the sheets of tables
whose columns are all alike come to a hundred."""
_PIECE = 2**20
_COMPOUND = b"\xd0\xcf\x11\xe0"  # .xls, and what an encrypted workbook is put into
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_EXACT = 2**53
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "."})


def read(
    source: BinaryIO,
    output: BinaryIO,
    limits: Any,  # noqa: ANN401  (of a file that this one cannot import)
    what: str,
    sheet: str,
) -> None:
    """Write the names of the sheets as JSON, or the cells of one as an Arrow stream.

    Args:
        source: the file.
        output: gets the JSON or the stream.
        limits: of `reader_child`.
        what: "sheets" or "cells".
        sheet: the sheet's name; "" where there is one only.
    """
    content = source.read()
    if content.startswith(_COMPOUND) and _ENCRYPTED in content:
        limits.refuse(why="password")
    _check_unpacked(content, limits)
    book = _opened(content, limits)
    # Charts and macros are sheets to Excel, too.
    found = [one.name for one in book.sheets_metadata if str(one.typ).endswith("WorkSheet")]
    if what == "sheets":
        output.write(json.dumps(found).encode())
        return
    # Hidden sheets are no choice to make: with one sheet in view that one is meant.
    shown = [
        one.name
        for one in book.sheets_metadata
        if one.name in found and str(one.visible).endswith(".Visible")
    ]
    name = _chosen(sheet, found, shown, limits)
    _write_cells(book.get_sheet_by_name(name), content, output, limits)


def _check_unpacked(content: bytes, limits: Any) -> None:  # noqa: ANN401
    """Refuse an archive that unpacks to far more than a table does, before anything is parsed.

    What it declares is added up first; then each part is unpacked, up to what it declares.
    """
    if not content.startswith(b"PK"):
        return
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.infolist()
        if sum(part.file_size for part in parts) > _UNPACKED + _TIMES * len(content):
            limits.refuse(why="unpacked")
        for part in parts:
            with archive.open(part) as file:  # raises where more is in it, as its sum is another
                while file.read(_PIECE):
                    pass


def _opened(content: bytes, limits: Any) -> Any:  # noqa: ANN401
    import python_calamine as calamine

    try:
        return calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    except calamine.PasswordError:
        limits.refuse(why="password")


def _chosen(sheet: str, found: list[str], shown: list[str], limits: Any) -> str:  # noqa: ANN401
    if not sheet:
        if len(shown) == 1:
            return shown[0]
        if len(found) == 1:
            return found[0]
        limits.refuse(why="sheets", sheets=found)
    alike = [name for name in found if name == sheet] or [
        name for name in found if name.strip() == sheet.strip()
    ]
    if len(alike) != 1:
        limits.refuse(why="absent", sheets=found)
    return alike[0]


def _write_cells(sheet: Any, content: bytes, output: BinaryIO, limits: Any) -> None:  # noqa: ANN401
    """The stream: for every column its texts, and its numbers where a cell is one."""
    import pyarrow as pa

    if sheet.start is None:
        limits.refuse(why="empty", sheet=sheet.name)
    limits.check_cells(sheet.height * sheet.width)
    for (row, column), last in sheet.merged_cell_ranges or ():
        if (row, column) != tuple(last):
            limits.refuse(why="merged", sheet=sheet.name, cell=cell_name(row, column))
    part = "workbook_records.py" if content.startswith(_COMPOUND) else "workbook_marks.py"
    marks = limits.module(Path(__file__).with_name(part))
    found = marks.first(content, sheet.name)
    if found is not None:
        why, row, column = found
        limits.refuse(why=why, sheet=sheet.name, cell=cell_name(row, column))
    rows = sheet.to_python()
    header = _header(rows, sheet, limits)
    shape = pa.schema(
        [
            pa.field(f"{place}{part}", kind)
            for place in range(len(header))
            for part, kind in (("", pa.string()), (".", pa.float64()))
        ],
        metadata={"about": json.dumps({"names": header})},
    )
    with pa.ipc.new_stream(output, shape) as out:
        for start in range(1, len(rows), ROWS):
            # As an empty line of a CSV: it is nobody's row.
            kept = [row for row in rows[start : start + ROWS] if any(c != "" for c in row)]
            arrays = [
                pa.array([take(row[place]) for row in kept], kind)
                for place in range(len(header))
                for take, kind in ((_text, pa.string()), (_number, pa.float64()))
            ]
            limits.count(sum(array.nbytes for array in arrays))
            if kept:
                out.write_batch(pa.record_batch(arrays, schema=shape))


def _header(rows: list[list[Any]], sheet: Any, limits: Any) -> list[str]:  # noqa: ANN401
    """The names in the first row, after looking for a title and for a second row of names."""
    top, left = sheet.start
    header = [_name(cell) for cell in rows[0]]
    for place, name in enumerate(header):
        if not name.strip():
            limits.refuse(why="unnamed", sheet=sheet.name, cell=cell_name(top, left + place))
    if len(rows) > 2 and _names_again(rows[1]):
        for place, cell in enumerate(rows[1]):
            below = [row[place] for row in rows[2:] if row[place] != ""]
            if cell != "" and below and not any(isinstance(one, str) for one in below):
                limits.refuse(why="names", sheet=sheet.name, cell=cell_name(top + 1, left + place))
    return header


def _names_again(row: list[Any]) -> bool:
    """Whether a row could hold names: texts alone, at least two, all different."""
    cells = [cell for cell in row if cell != ""]
    texts = [cell.strip().lower() for cell in cells if isinstance(cell, str)]
    return (
        len(texts) == len(cells) > 1
        and len(set(texts)) == len(texts)
        and not _MISSING.intersection(texts)
    )


def _name(cell: Any) -> str:  # noqa: ANN401
    text = _text(cell)
    if text is not None:
        return text
    return str(int(cell)) if float(cell).is_integer() else str(cell)


def _text(cell: Any) -> str | None:  # noqa: ANN401
    """The text of a cell, None for a number: what its text is, is said in one place."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, dt.datetime):
        return cell.isoformat(timespec="milliseconds" if cell.microsecond // 1_000 else "seconds")
    if isinstance(cell, dt.date):
        return cell.isoformat()
    if isinstance(cell, dt.time):
        return cell.isoformat(timespec="milliseconds" if cell.microsecond // 1_000 else "seconds")
    if isinstance(cell, dt.timedelta):
        return _clock(round(cell.total_seconds() * 1_000))
    # As a float it would be another number.
    if isinstance(cell, int) and abs(cell) >= _EXACT:
        return str(cell)
    return None


def _number(cell: Any) -> float | None:  # noqa: ANN401
    return None if _text(cell) is not None else float(cell)


def _clock(milliseconds: int) -> str:
    sign, rest = ("-", -milliseconds) if milliseconds < 0 else ("", milliseconds)
    seconds, part = divmod(rest, 1_000)
    text = f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{part:03}" if part else text


def cell_name(row: int, column: int) -> str:
    """The name of a cell as spreadsheets have it: B3 for row 2 and column 1, counted from 0."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(65 + letter) + letters
    return f"{letters}{row + 1}"
