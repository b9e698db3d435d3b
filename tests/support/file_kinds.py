"""The same rows in files of every kind, with types as their programs keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pyreadstat

from tests.support.workbooks import ods, ods_cell, xls, xlsx

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ("sav", "zsav", "dta", "xpt", "xlsx")
_DAYS = {"sav": "DATE11", "zsav": "DATE11", "dta": "%td", "xpt": "DATE9"}


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of `small_frame` with numbers and days."""
    found = frame.copy()
    for name in ("age", "grade", "dose"):
        found[name] = frame[name].astype(float)
    found["seen"] = pd.to_datetime(frame["seen"]).dt.date
    return found


def write(frame: pd.DataFrame, path: Path, kind: str) -> Path:
    """A file of the rows of `small_frame`; a workbook has a sheet of notes before it.

    Returns:
        The place to be read: of the workbook with its sheet.
    """
    rows = typed(frame)
    if kind == "xlsx":
        table = [list(rows), *rows.astype(object).to_numpy().tolist()]
        path.write_bytes(xlsx({"Notes": [["Made in May"]], "Rows": table}))
        return path.with_name(f"{path.name}#Rows")
    days = {"variable_format": {"seen": _DAYS[kind]}}
    if kind in ("sav", "zsav"):
        pyreadstat.write_sav(rows, path, compress=kind == "zsav", **days)
    elif kind == "dta":
        pyreadstat.write_dta(rows, path, **days)
    else:
        pyreadstat.write_xport(rows, path, file_format_version=8, **days)
    return path


DAMAGED = ("csv", "parquet", *KINDS, "ods", "xls")


def damaged(frame: pd.DataFrame, path: Path, kind: str) -> Path:
    """A file of the rows of `small_frame` whose head is whole and whose rows are not.

    Returns:
        The place to be read.
    """
    if kind in KINDS:
        place = write(frame, path, kind)
    elif kind == "csv":
        frame.to_csv(path, index=False)
        place = path
    elif kind in ("ods", "xls"):
        path.write_bytes(_workbook(frame, kind))
        place = path
    else:
        frame.to_parquet(path, index=False)
        place = path
    content = path.read_bytes()
    start, end = _rows(content, kind)
    noise = bytes(byte ^ 0x5A for byte in content[start:end])
    # Behind a mark that opens a quotation no line ends any more; the last bytes of a Parquet file
    # say where its columns are, and any bytes in a file of numbers are numbers: it is cut.
    broken = {"csv": b'"', "parquet": noise, "xlsx": noise, "ods": noise}.get(kind, b"")
    path.write_bytes(content[:start] + broken + (content[end:] if kind == "parquet" else b""))
    return place


def _rows(content: bytes, kind: str) -> tuple[int, int]:
    """Where the rows begin and end."""
    if kind == "csv":
        return content.index(b"\n") + 1, len(content)
    if kind == "parquet":
        return 4, len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    if kind == "dta":
        return content.index(b"<data>") + 100, len(content)
    if kind in ("sav", "zsav"):
        return content.index(b"\xe7\x03\0\0\0\0\0\0") + 40, len(content)
    if kind in ("xlsx", "ods", "xls"):
        return len(content) // 3, len(content)
    return len(content) - 200, len(content)


def _workbook(frame: pd.DataFrame, kind: str) -> bytes:
    table = [list(frame), *frame.astype(str).to_numpy().tolist()]
    if kind == "xls":
        return xls("Rows", table)
    return ods({"Rows": [[ods_cell(cell) for cell in row] for row in table]})
