"""A tiny table of private rows with its schema, and a cell to look for."""

from __future__ import annotations

import numpy as np
import pandas as pd

from prism_core.data.schema.column import Column, equal_edges
from prism_core.data.schema.schema import Schema

CANARY = "CANARY7f3a"
"""A cell that may stand nowhere but among the rows."""


def small_frame(rows: int = 300, seed: int = 7) -> pd.DataFrame:
    """Rows for `schema`, generated."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    smoker = rng.random(rows) < 0.3
    risk = 0.1 + 0.3 * smoker + 0.4 * (age > 60)
    texts = np.where(rng.random(rows) < 0.1, "", np.where(smoker, "true", "false"))
    days = np.datetime64("2020-01-01") + rng.integers(0, 365, rows)
    return pd.DataFrame(
        {
            "age": age.astype(str),
            "smoker": texts,
            "grade": rng.integers(1, 4, rows).astype(str),
            "ward": rng.choice(["north", "south", "east"], rows),
            "seen": days.astype(str),
            "dose": np.round(2.0 * rng.random(rows), 3).astype(str),
            "readmitted": np.where(rng.random(rows) < risk, "yes", "no"),
        }
    )


def small_schema() -> Schema:
    """One column of every kind; `readmitted` is the target."""
    return Schema(
        columns=(
            Column(
                name="age",
                kind="numeric",
                lower=18,
                upper=89,
                decimals=0,
                edges=equal_edges(18, 89, 4, 0),
            ),
            Column(name="smoker", kind="boolean", nullable=True),
            Column(name="grade", kind="ordinal", levels=(1, 2, 3)),
            Column(
                name="ward", kind="categorical", levels=("north", "south", "rest"), other="rest"
            ),
            Column(
                name="seen",
                kind="date",
                lower=18_262,
                upper=18_627,
                edges=equal_edges(18_262, 18_627, 3, 0),
            ),
            Column(
                name="dose", kind="numeric", lower=0.0, upper=2.0, edges=(0.5, 1.0), nullable=True
            ),
            Column(name="readmitted", kind="boolean"),
        ),
        one_row_per_person=True,
    )
