"""A tiny table of private rows, hostile where tables are."""

from __future__ import annotations

import numpy as np
import pandas as pd


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
