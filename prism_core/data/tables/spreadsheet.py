"""CSV that no spreadsheet executes: cells that look like formulas get a mark in front.

The rule is OWASP's for "CSV injection" (leading = + - @, tab, carriage return, line feed, and the
full-width signs), but for numbers: -3 stays -3. The mark is an apostrophe. A cell that starts with
one gets another, so that taking one apostrophe off every cell that starts with one gives the
texts back, whatever they were.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Literal

import numpy as np

from prism_core.data.tables.header import check_header
from prism_core.data.tables.raw_table import RawTable, different_texts, read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

MARK = "'"
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_FORMULA = re.compile("[\\s\ufeff\u200b]*[=+\\-@＝＋－＠]|[\t\r\n]")
_END = "\r\n"
_CUTS = (";", "\t", "|")
"""What some spreadsheets cut lines at, whatever the file was written with."""


def neutral(text: str) -> str:
    """The text as it stands in the CSV."""
    if text[:1].isascii() and text[:1].isalnum():
        return text  # most are, and a table of 200 columns has a hundred thousand
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
    header = [str(name).strip() for name in table.columns]
    check_header(header, "table")
    cells = [different_texts(table.iloc[:, place]) for place in range(len(header))]
    return _written(header, cells)


def raw_csv_text(raw: RawTable) -> str:
    """The same from rows as text: synthetic ones, which were paid for. Spends nothing."""
    return _written(raw.header, [different_texts(raw.column(name)) for name in raw.header])


def _written(
    header: Sequence[str], columns: Sequence[tuple[NDArray[np.intp], NDArray[np.object_]]]
) -> str:
    """The lines; every different text of a column is made neutral and quoted once."""
    # With every cell in quotes a spreadsheet that cuts at another mark finds no cell to execute.
    everything = (*header, *(text for _, texts in columns for text in texts))
    style = csv.QUOTE_ALL if _cut(everything) else csv.QUOTE_MINIMAL
    # A line of one empty cell would be no line: the writer puts it in quotes.
    alone = len(header) == 1
    top = ",".join(_quoted([neutral(name) for name in header], style, alone=alone))
    cells = [
        np.array(_quoted([neutral(text) for text in texts], style, alone=alone), dtype=object)[
            places
        ].tolist()
        for places, texts in columns
    ]
    lines = map(",".join, zip(*cells, strict=True))
    return "".join(f"{line}\n" for line in (top, *lines))


def _quoted(texts: Sequence[str], style: Literal[0, 1], *, alone: bool) -> list[str]:
    """Texts as the csv module writes them as a cell."""
    out = _Lines()
    # What ends a line is put in quotes inside a cell: so it has to be named, and is cut off again.
    writer = csv.writer(out, lineterminator=_END, quoting=style)
    if alone:
        writer.writerows([text] for text in texts)
        return [line.removesuffix(_END) for line in out.lines]
    # With a second cell an empty text is not put in quotes; it is cut off again.
    writer.writerows([text, 0] for text in texts)
    return [line.rpartition(",")[0] for line in out.lines]


class _Lines:
    """What the csv module writes, line by line: it writes each at once."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, line: str) -> None:
        self.lines.append(line)


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
