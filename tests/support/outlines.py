"""An outline with a column of each kind."""

from __future__ import annotations

import numpy as np
import pandas as pd

from prism_core.data.schema.column import Column
from prism_core.data.tables.raw_table import RawTable
from prism_core.learning.domain.requests import CategoryRequest, NumericRequest, Outline

Y = Column(name="y", kind="boolean")
AGE = NumericRequest(name="age", lower=0.0, upper=150.0, cells=150, decimals=0)
PAY = NumericRequest(name="pay", lower=0.0, upper=1e9, scale="log", unit=100.0, decimals=2)
DOSE = NumericRequest(name="dose", lower=-5.0, upper=5.0, nullable=True, cells=20)
SEEN = NumericRequest(name="seen", kind="date", lower=0.0, upper=30_000.0)
WARD = CategoryRequest(name="ward")
ALL = (AGE, PAY, DOSE, SEEN, WARD, Y)


def outline(*columns) -> Outline:
    return Outline(columns=columns or ALL, one_row_per_person=True)


def raw(rows: int, **cells) -> RawTable:
    frame = dict.fromkeys(("age", "pay", "dose", "seen", "ward", "y"), "") | cells
    return RawTable(pd.DataFrame(frame, index=range(rows), dtype=object))


def rng() -> np.random.Generator:
    return np.random.default_rng(4)
