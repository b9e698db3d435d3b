"""A CSV that no spreadsheet executes: cells that look like formulas get a mark in front.

The rule is OWASP's for "CSV injection" (leading = + - @, tab, carriage return, line feed, and the
full-width signs), but for numbers: -3 stays -3. The mark is an apostrophe. A cell that starts with
one gets another, so that taking one apostrophe off every cell that starts with one gives the
texts back, whatever they were.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

from prism_core.data.tables import RawTable, from_frame, read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    import pandas as pd

MARK = "'"
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_FORMULA = re.compile("[\\s\ufeff\u200b]*[=+\\-@＝＋－＠]|[\t\r\n]")
_CUTS = (";", "\t", "|")
"""What some spreadsheets cut lines at, whatever the file was written with."""


def neutral(text: str) -> str:
    """The text as it stands in the CSV."""
    if text.startswith(MARK):
        return MARK + text
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return MARK + text
    return text


def restored(text: str) -> str:
    """The text behind a cell of the CSV."""
    return text.removeprefix(MARK)


def csv_text(table: pd.DataFrame) -> str:
    """Synthetic rows as CSV, in the text form of the declared levels, every cell neutral."""
    return raw_csv_text(from_frame(table))


def raw_csv_text(raw: RawTable) -> str:
    """The same from rows as text: synthetic ones, which were paid for. Spends nothing."""
    frame = raw.frame.copy()
    for name in raw.header:
        frame[name] = _each(raw.column(name), neutral)
    frame.columns = [neutral(name) for name in raw.header]
    # With every cell in quotes a spreadsheet that cuts at another mark finds no cell to execute.
    texts = (*raw.header, *(text for name in raw.header for text in raw.column(name).unique()))
    style = csv.QUOTE_ALL if _cut(texts) else csv.QUOTE_MINIMAL
    return frame.to_csv(index=False, lineterminator="\n", quoting=style)


def _each(cells: pd.Series, change: Callable[[str], str]) -> pd.Series:
    """Every cell changed; columns have few different texts."""
    texts = {str(text): change(str(text)) for text in cells.unique()}
    return cells.map(texts.__getitem__)


def _cut(texts: Iterable[str]) -> bool:
    return any(mark in text for text in texts for mark in _CUTS)


def read_csv(path: Path) -> RawTable:
    """The rows of a bundle's CSV, as they were before they were made neutral.

    Raises:
        TableError: when it cannot be read.
    """
    raw = read_table(path)
    frame = raw.frame.copy()
    for name in raw.header:
        frame[name] = _each(raw.column(name), restored)
    frame.columns = [restored(name) for name in raw.header]
    return RawTable(frame, raw.name)
