"""Coverage of a declaration: cells outside it, and where it cannot be meant for the rows.

Encoding is total: a cell that fits nothing becomes what the declaration says, or a default. One
such cell is nothing to speak of. Where most cells of a column fall there, the declaration is about
other rows, and what is made of them says nothing. Of public rows that is an error. Of private rows
nothing may depend on it but the curator's own screen: she asks, on the page Data or by
`prism check`, and that she asked is on record (`data.schema.looks`).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import pandas as pd

from prism_core.data.encoding import beyond, inside, is_empty
from prism_core.data.tables.header import check_columns
from prism_core.data.tables.raw_table import RawTable, as_texts
from prism_core.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.data.schema.column import Column
    from prism_core.data.schema.schema import Schema

Misfit: TypeAlias = Literal["", "values", "unknown", "empty", "clipped"]


class ClippedWarning(UserWarning):
    """Most cells of a column of public rows lie beyond its bounds, and are clipped to them."""


MOST = 0.5
"""Share of a column's cells that may fall on a default nobody declared; above, it is an error."""


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """What a declaration covers of a column's cells; as private as the rows.

    Attributes:
        column: its declaration.
        cells: how many there are.
        outside: cells that are no level, no number or day within the bounds, or empty where none
            may be missing.
        different: different texts.
        misfit: why the declaration cannot be meant for these cells, or "": most of them fall on a
            default that nobody declared, because they are outside (`values`) or empty (`empty`);
            or most are caught by `other` and none is a level (`unknown`); or most are numbers or
            days beyond the bounds (`clipped`), which are clipped to them as the bounds declare.
    """

    column: Column
    cells: int
    outside: int
    different: int
    misfit: Misfit

    @property
    def refused(self) -> bool:
        """Whether public rows like these are an error: clipping is declared, so it is a note."""
        return self.misfit not in ("", "clipped")

    @property
    def advice(self) -> str:
        """What is wrong and what to do, for a misfit; it names the column and no cell."""
        column, name = self.column, repr(self.column.name)
        if self.misfit == "clipped":
            return (
                f"Column {name}: more than half of the cells lie beyond the declared bounds and "
                "are clipped to them. If the unit or the bounds (lower, upper) are wrong, correct "
                "them."
            )
        if self.misfit == "empty":
            return (
                f"Column {name}: more than half of the cells are empty or fit nothing, and would "
                f"become {_default(column)}. Declare nullable: true, or fill, what an empty cell "
                "becomes; or leave the column out."
            )
        if self.misfit == "unknown":
            return (
                f"Column {name}: not one cell is a declared level, so all would become the level "
                "named under other. Compare the levels with the file's own spelling and correct "
                "them, or leave the column out."
            )
        if column.binned:
            what = "days" if column.kind == "date" else "numbers"
            return (
                f"Column {name}: more than half of the cells are no {what}, and would become "
                f"{_default(column)}. Correct its kind, or leave the column out."
            )
        hint = "" if column.kind == "boolean" else ", or declare other, the level they become"
        return (
            f"Column {name}: more than half of the cells are none of the declared levels, and "
            f"would all become {_default(column)}. Compare the levels with the file's own spelling "
            f"and correct them{hint}; or leave the column out."
        )


def _default(column: Column) -> str:
    if column.nullable:
        return "missing"
    return "the lower bound" if column.binned else "one and the same level"


def coverage(schema: Schema, raw: RawTable) -> list[Coverage]:
    """What the declaration covers, column by column.

    Reads the rows and spends nothing. Of private rows it is for the curator's screen on request
    only: never stored, logged, exported or used by a run.

    Raises:
        TableError: when a declared column is not in the header.
    """
    check_columns(schema.names, raw.header, raw.name)
    return [_of(column, raw.column(column.name)) for column in schema.columns]


def rows_outside(column: Column, cells: Sequence[str] | pd.Series) -> int:
    """How many cells the declaration does not cover; as private as they are, see `coverage`."""
    return _of(column, pd.Series(cells)).outside


def check_covered(schema: Schema, raw: RawTable) -> None:
    """Refuse public rows that the declaration cannot be meant for. Spends nothing.

    What is clipped as declared is a `ClippedWarning`.

    Raises:
        TableError: naming the first such column and what to do; see `Coverage.misfit`.
    """
    for found in coverage(schema, raw):
        if found.refused:
            raise TableError(found.advice, field=found.column.name)
        if found.misfit:
            warnings.warn(found.advice, ClippedWarning, stacklevel=2)


def _of(column: Column, cells: pd.Series) -> Coverage:
    """Each different text is looked at once."""
    places, different = pd.factorize(as_texts(cells))
    texts = pd.Series(different).str.strip()
    counts = np.bincount(places, minlength=len(texts))
    fits = inside(column, texts)
    # A level may be spelled NA or ?, and then such a cell is not empty.
    empty = is_empty(texts) & ~fits
    outside = ~fits & ~(empty & column.nullable)
    return Coverage(
        column=column,
        cells=len(cells),
        outside=int(counts[outside].sum()),
        different=len(texts),
        misfit=_misfit(column, counts, fits, empty, beyond(column, texts)),
    )


def _misfit(
    column: Column,
    counts: NDArray[np.int64],
    fits: NDArray[np.bool_],
    empty: NDArray[np.bool_],
    clipped: NDArray[np.bool_],
) -> Misfit:
    cells, strange = counts.sum(), counts[~fits & ~empty & ~clipped].sum()
    # Where the declaration says what empty cells become, they may be as many as there are.
    blank = 0 if column.nullable or column.fill is not None else counts[empty].sum()
    if column.other is not None:
        if strange > MOST * cells and not counts[fits].any():
            return "unknown"
        strange = 0
    if strange + blank > MOST * cells:
        return "values" if strange >= blank else "empty"
    # A special value beyond the bounds is no number, and never clipped.
    return "clipped" if counts[clipped & ~fits].sum() > MOST * cells else ""
