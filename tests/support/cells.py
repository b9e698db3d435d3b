"""Cells of every type, plain and hard ones, and the codes that each has by itself.

For `test_row_locality.py`, which holds every place of a table to them.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from math import inf, nan
from typing import Any

import numpy as np
import pyarrow as pa

from prism_core.data.encoding import encode_column
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import arrow_texts

ALIKE = ("Ä", "ä", "É1", "é1", "ÉÉ", "éé")
"""Texts that some collations call equal, two and two."""

COLLATED = Schema(
    columns=(
        Column(name="v", kind="categorical", levels=("Ä", "É1", "none", "rest"), other="rest"),
    ),
    one_row_per_person=True,
)
"""What they are declared as: one of each two is a level."""

DECLARED: dict[str, Column] = {
    "number": Column(name="_", kind="numeric", lower=0, upper=10, edges=(2.0, 5.0), nullable=True),
    "filled": Column(name="_", kind="numeric", lower=-3, upper=10, edges=(-1.0, 2.0), fill=4),
    "special": Column(
        name="_",
        kind="numeric",
        lower=-20,
        upper=10,
        edges=(0.0, 2.0, 5.0),
        nullable=True,
        special=(-9, 3.0, "1.5", ".a", 0, "inf", 10**15, "1234.0", 2**62),
    ),
    "levels": Column(name="_", kind="categorical", levels=(0, 1, 2, 3), nullable=True, other=3),
    "words": Column(
        name="_",
        kind="categorical",
        levels=("a", "1", "2020-01-05", "inf"),
        nullable=True,
        other="a",
    ),
    "texts": Column(
        name="_", kind="categorical", levels=("1", "2", "0.5", "01234", "1.50"), nullable=True
    ),
    "flag": Column(name="_", kind="boolean", nullable=True),
    "day": Column(
        name="_", kind="date", lower=0, upper=20_000, edges=(9_000.0, 18_000.0), nullable=True
    ),
    "days": Column(
        name="_",
        kind="date",
        lower=0,
        upper=20_000,
        edges=(9_000.0, 18_000.0),
        special=("9999-12-31", "1990-01-01", -9, 2020, ".a", "1582-10-10"),
    ),
}


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Cells of one type of a file.

    Attributes:
        kind: the type.
        plain: ordinary cells, none of which says how far the others go.
        hard: what one person's cell may be as well.
        declared: the columns of `DECLARED` that such cells are read as.
    """

    kind: pa.DataType
    plain: tuple[Any, ...]
    hard: tuple[Any, ...]
    declared: tuple[str, ...]


NUMBERS = ("number", "filled", "special", "levels")
CELLS = {
    # NaN without a null or an infinity beside it: what minimum and maximum do not tell of.
    "double": Cells(
        kind=pa.float64(),
        plain=(nan, 1.0, nan, 0.0, 2.0, nan),
        declared=(*NUMBERS, "words", "texts"),
        hard=(
            9.0,
            -9.0,
            nan,
            None,
            inf,
            -inf,
            -0.0,
            0.5,
            1e300,
            1e16,
            5e-324,
            3.0,
            1.5,
            1e15,
            2.0**62,
            1234.0,
        ),
    ),
    "gaps": Cells(
        kind=pa.float64(),
        plain=(nan, None, 1.0, -0.0, 3.0, 0.0),
        declared=NUMBERS,
        hard=(9.0, -9.0, 1.5, inf, -inf, nan, None, 1e300, 2.0**63, 1.0, 1e-9, 4.0),
    ),
    "none": Cells(
        kind=pa.float64(),
        plain=(nan,),
        declared=NUMBERS,
        hard=(9.0, nan, None, inf, -inf, 0.0, 1.0, 2.0, 1e300, 3.5, -0.0, -1.0),
    ),
    "single": Cells(
        kind=pa.float32(),
        plain=(nan, 1.0, 2.5, 0.0),
        declared=NUMBERS,
        hard=(9.0, nan, None, inf, -inf, -0.0, 1e30, 3.5),
    ),
    "whole": Cells(
        kind=pa.int64(),
        plain=(1, 2, 0, 3),
        declared=(*NUMBERS, "words", "texts"),
        hard=(9, None, -9, 2**62, -(2**63), 2**53 + 1, 10**15, 1, 1234),
    ),
    "small": Cells(
        kind=pa.int32(),
        plain=(1, 2, 2, 0),
        declared=("number", "special", "flag"),
        hard=(9, None, -9, 2**31 - 1, -(2**31)),
    ),
    "text": Cells(
        kind=pa.string(),
        plain=("1", "2", "a", "1.5", "2020-01-05"),
        declared=("number", "special", "levels", "words", "flag", "day", "days"),
        hard=(
            "9e9",
            None,
            "",
            "nan",
            "inf",
            "9" * 40,
            "true",
            "x y",
            "1e999",
            "20200105",
            "zz",
            "\u0663",
        ),
    ),
    # As pandas writes whole numbers once a column has blanks, and what only looks like a number.
    "spelled": Cells(
        kind=pa.string(),
        plain=("1.0", "2.0", "", "1.0", "0.5"),
        declared=("levels", "texts", "flag", "day"),
        hard=(
            "01",
            "1.00",
            "1e0",
            "1234",
            "01234",
            "1234.0",
            "1.5",
            "1.50",
            "0.50",
            "+1",
            "2020.0",
            "20200105.0",
        ),
    ),
    "day": Cells(
        kind=pa.date32(),
        plain=(dt.date(2020, 1, 5), dt.date(1990, 1, 1)),
        declared=("day", "days", "words"),
        hard=(dt.date(9999, 12, 31), None, dt.date(1, 1, 1), dt.date(1582, 10, 10)),
    ),
    "moment": Cells(
        kind=pa.timestamp("us"),
        plain=(dt.datetime(2020, 1, 5, 23), dt.datetime(1990, 1, 1)),
        declared=("day", "days", "words"),
        hard=(dt.datetime(9999, 12, 31, 23), None, dt.datetime(1, 1, 1), dt.datetime(1582, 1, 1)),
    ),
    "exact": Cells(
        kind=pa.decimal128(20, 2),
        plain=(Decimal("1.00"), Decimal("2.50")),
        declared=("number", "special", "levels", "texts"),
        hard=(Decimal("9.00"), None, Decimal("-123456789012345678.25"), Decimal("3.00")),
    ),
    # Special values in every writing, and what is near them.
    "answer": Cells(
        kind=pa.float64(),
        plain=(-9.0, nan, 3.0, 1.0, -0.0),
        declared=("special", "days"),
        hard=(
            1.5,
            1e15,
            2.0**62,
            1234.0,
            inf,
            -inf,
            nan,
            None,
            0.0,
            -9.5,
            3.0000000000000004,
            -9.0,
        ),
    ),
    "coded": Cells(
        kind=pa.int64(),
        plain=(-9, 3, 0, 1),
        declared=("special",),
        hard=(2**62, 2**62 + 1, 10**15, 10**15 + 1, 1234, None, -9, 2**53 + 1, 3, 4, -(2**63), 0),
    ),
    "reply": Cells(
        kind=pa.string(),
        plain=("-9", ".a", "3", "1", "1.5", "2020-01-05"),
        declared=("special", "days"),
        hard=(
            "-9.0",
            "-09",
            "1.50",
            "1234.0",
            "1234",
            "-0",
            "inf",
            " .a ",
            "9999-12-31",
            "99991231",
            "2020",
            "3e0",
        ),
    ),
    "bool": Cells(kind=pa.bool_(), plain=(True, False), declared=("flag", "words"), hard=(None,)),
}

SCHEMA = Schema(
    columns=(
        Column(name="row", kind="categorical", levels=tuple(f"r{i}" for i in range(12))),
        *(
            replace(DECLARED[name], name=f"{kind}_{name}")
            for kind, cells in CELLS.items()
            for name in cells.declared
        ),
    ),
    one_row_per_person=True,
)
ROWS = SCHEMA["row"].level_count
PERSON = 7
"""The row of whoever is replaced."""


Rows = dict[str, list[Any]]


def plain(turn: int | None = None) -> Rows:
    """The cells of every type; with a turn, one row holds the hard cells of that turn."""
    rows = {
        kind: [cells.plain[i % len(cells.plain)] for i in range(ROWS)]
        for kind, cells in CELLS.items()
    }
    if turn is not None:
        for kind, cells in CELLS.items():
            rows[kind][PERSON] = cells.hard[turn % len(cells.hard)]
    return rows


def hard() -> Rows:
    """Hard cells in every row."""
    return {
        kind: [cells.hard[i % len(cells.hard)] for i in range(ROWS)]
        for kind, cells in CELLS.items()
    }


def table(rows: Rows) -> pa.Table:
    """The rows as a table: every column of `SCHEMA` with the cells of its type."""
    arrays = {"row": pa.array(SCHEMA["row"].levels, pa.string())}
    for kind, cells in CELLS.items():
        for name in cells.declared:
            arrays[f"{kind}_{name}"] = pa.array(rows[kind], cells.kind, from_pandas=False)
    return pa.table(arrays)


@cache
def code(kind: str, name: str, value: str) -> int:
    """The code of a cell, encoded as if there were no other."""
    cells = CELLS[kind]
    cell = next(one for one in (*cells.plain, *cells.hard) if repr(one) == value)
    texts = arrow_texts(pa.array([cell], cells.kind, from_pandas=False))
    return int(encode_column(DECLARED[name], texts)[0])


def alone(rows: Rows) -> np.ndarray:
    """The codes of all cells, each encoded by itself: shape (rows, columns)."""
    columns = [
        [code(kind, name, repr(one)) for one in rows[kind]]
        for kind, cells in CELLS.items()
        for name in cells.declared
    ]
    return np.column_stack([np.arange(ROWS), *columns])


ODD = (
    "",
    " 20 ",
    "nan",
    "inf",
    "1e1",
    "999",
    "-5",
    "20.0",
    "yes",
    "NO",
    " t",
    "north ",
    "East",
    "unknown",
    "2020-02-30",
    "2020-06-01T10:00:00",
    "2020",
    "2020-12-31",
    "3",
    "03",
    "1.00",
)
