"""The same rows in files of every kind, with types as their programs keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pyreadstat

from tests.support.workbooks import xlsx

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
