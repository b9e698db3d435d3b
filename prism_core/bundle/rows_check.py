"""Are the synthetic rows inside the declared domain, and those that the noisy counts give?"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from prism_core import foreign
from prism_core.bundle.layout import PARQUET, SYNTHETIC
from prism_core.bundle.spreadsheet import csv_text, raw_csv_text, read_csv
from prism_core.data.coverage import rows_outside
from prism_core.data.tables import from_frame, read_table
from prism_core.pipeline import draw, fit_model

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from prism_core.planning.plan import Plan
    from prism_core.synthesis.measure import Measurement


def rows_findings(folder: Path, plan: Plan) -> list[str]:
    """Rows, columns and cells of both files against the plan. Reads synthetic rows only."""
    found: list[str] = []
    text, typed = read_csv(folder / SYNTHETIC), read_table(folder / PARQUET)
    if text.header != plan.schema.names:
        return [f"{SYNTHETIC} has other columns than the schema, or another order."]
    if text.rows != plan.rows:
        found.append(f"{SYNTHETIC} holds {text.rows:,} rows; the plan makes {plan.rows:,}.")
    found += [
        f"{SYNTHETIC} holds a value of {column.name!r} outside the declared domain."
        for column in plan.schema.columns
        if rows_outside(column, text.column(column.name).drop_duplicates())
    ]
    if typed.header != text.header or not typed.frame.equals(text.frame):
        found.append(f"{SYNTHETIC} and {PARQUET} do not hold the same rows.")
    if foreign.content_of(folder / SYNTHETIC, foreign.TABLE) != raw_csv_text(text).encode("utf-8"):
        found.append(f"{SYNTHETIC} is not written as this program writes it.")
    return found


def redrawn_findings(
    folder: Path, plan: Plan, measurements: Sequence[Measurement], seed: int
) -> list[str]:
    """The model fitted again and its rows drawn again must be the rows in the folder."""
    _, table = draw(plan, fit_model(plan, measurements), seed)
    if csv_text(table).encode("utf-8") == foreign.content_of(folder / SYNTHETIC, foreign.TABLE):
        return _parquet_findings(folder, table)
    found = read_csv(folder / SYNTHETIC).frame
    again = from_frame(table).frame
    if found.shape != again.shape or list(found.columns) != list(again.columns):
        return ["Fitted and drawn again, the noisy counts give a table of another shape."]
    changed = int((found.to_numpy() != again.to_numpy()).any(axis=1).sum())
    return [
        f"{changed:,} of {len(again):,} synthetic rows are not those that the noisy counts and the "
        "seed give."
    ]


def _parquet_findings(folder: Path, table: pd.DataFrame) -> list[str]:
    """The Parquet file to the byte, where the library that wrote it is the one that is here.

    Otherwise its rows were compared already, and what else such a file can hold is only looked
    at for entries that this program does not write.
    """
    import pyarrow.parquet as pq

    again = io.BytesIO()
    table.to_parquet(again, index=False)
    if again.getvalue() == foreign.content_of(folder / PARQUET, foreign.TABLE):
        return []
    theirs, ours = pq.read_metadata(folder / PARQUET), pq.read_metadata(again)
    same_writer = theirs.created_by == ours.created_by
    if same_writer or set(theirs.metadata or {}) - set(ours.metadata or {}):
        return [f"{PARQUET} is not written as this program writes it."]
    return []
