"""Table of marginals: what each gets, what comes of it, and the lock on its share."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.budget.edited_design import key_of
from dashboard.common.fields import from_percent
from prism_core.explain.plan_lines import AllocationComparison, PlanLine, against_uniform, lines
from prism_core.explain.run_time import size_text
from prism_core.text.numbers import error_text, up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dashboard.session.designs import Entries
    from prism_core.planning.plan import Plan

_EDITED = ("locked", "share")
_ROW = 35
_HEIGHT = 388
"""Pixels: ten rows, so that the page stays short."""


@dataclass(frozen=True, kw_only=True)
class LockRow:
    """One line of the table, for taking over what is typed into it.

    Attributes:
        columns: of the marginal; () where a share cannot be locked.
        share: of the whole budget, as planned.
    """

    columns: tuple[str, ...]
    share: float


def section(entries: Entries, plan: Plan) -> None:
    """The table, and the size of the model."""
    found = lines(plan)
    measured = iter(against_uniform(plan))
    # Both lists are in the plan's order, but only one has lines for what is chosen later.
    beside = [next(measured) if line.measured else None for line in found]
    rows = [
        LockRow(columns=() if other is None else other.columns, share=line.share)
        for line, other in zip(found, beside, strict=True)
    ]
    frame = _frame(entries, found, beside, rows)
    # Streamlit keeps edits by the number of a row: other marginals need another widget.
    labels = zlib.crc32("\n".join(frame["marginal"]).encode())
    key = f"{key_of('marginals')}_{entries.rev}_{labels:x}"
    st.data_editor(
        frame,
        key=key,
        hide_index=True,
        num_rows="fixed",
        width="stretch",
        placeholder="–",
        height=min(_HEIGHT, 38 + _ROW * len(frame)),
        column_config=_COLUMNS,
        disabled=[name for name in frame.columns if name not in _EDITED],
        column_order=_order(frame),
        on_change=_typed,
        args=(entries, rows, key, entries.rev),
    )
    _foot(entries, plan, rows)


def _frame(
    entries: Entries,
    found: Sequence[PlanLine],
    beside: Sequence[AllocationComparison | None],
    rows: Sequence[LockRow],
) -> pd.DataFrame:
    def of(attribute: str, under: str = "now") -> list[float | None]:
        return [None if o is None else getattr(getattr(o, under), attribute) for o in beside]

    locks = _by_columns(entries)
    held = [locks.get(frozenset(row.columns)) if row.columns else None for row in rows]
    return pd.DataFrame(
        {
            "marginal": [line.label for line in found],
            "pool": [line.pool for line in found],
            "cells": pd.array([line.cells for line in found], dtype="Int64"),
            "weight": [None if other is None else other.weight for other in beside],
            "locked": [share is not None for share in held],
            "share": [
                # The typed share, not the planned one: an impossible lock has to stand there to be
                # corrected.
                round(100.0 * (line.share if share is None else share), 6)
                for line, share in zip(found, held, strict=True)
            ],
            "sigma": rounded(of("sigma"), 3),
            "error": percents(of("relative_error")),
            "uniform": percents(of("relative_error", "uniform")),
            "closed form": percents(of("relative_error", "closed_form")),
        }
    )


def rounded(values: Sequence[float | None], digits: int) -> list[float | None]:
    """Numbers as every page writes them, and still numbers, so that the table can sort them."""
    return [None if value is None else float(up(value, digits)) for value in values]


def percents(errors: Sequence[float | None]) -> list[float | None]:
    """Expected errors in percents, likewise."""
    return [None if e is None else float(error_text(e).removesuffix("%")) for e in errors]


def _order(frame: pd.DataFrame) -> list[str]:
    """The columns that say something: no weights that are all alike, no error that stands twice."""
    # weight == weight leaves out NaN, which pandas has where there is no weight.
    alike = len({weight for weight in frame["weight"].tolist() if weight == weight}) <= 1
    idle = {"weight"} if alike else set[str]()
    idle |= {name for name in ("uniform", "closed form") if frame[name].equals(frame["error"])}
    return [name for name in frame.columns if name not in idle]


def _by_columns(entries: Entries) -> dict[frozenset[str], float]:
    return {frozenset(columns): share for columns, share in entries.budget.locks.items()}


def _number(label: str, width: int | None, number_format: str | None, help: str) -> Any:  # noqa: ANN401
    return st.column_config.NumberColumn(label, width=width, format=number_format, help=help)


_COLUMNS: dict[str, Any] = {
    "marginal": st.column_config.TextColumn("table of counts", width=258, pinned=True),
    "pool": st.column_config.TextColumn("paid by", width=92),
    "cells": _number("cells", 62, None, "Numbers in the table"),
    "weight": _number(
        "weight",
        70,
        "%.2f",
        "Task weight, mean 1 in a pool. Typed under *Shares and weights as numbers*.",
    ),
    "locked": st.column_config.CheckboxColumn(
        "lock", width=56, help="Hold this share; the others of the pool share the rest"
    ),
    "share": _number(
        "share, %",
        82,
        "%.2f",
        "Of the whole budget. Typing a share locks it; here decimals take a point: 2.5.",
    ),
    "sigma": _number("noise, σ", 78, "%g", "Standard deviation of the noise in a cell, in rows"),
    "error": _number(
        "error",
        70,
        "%g%%",
        "Expected error: the sum over all cells of how far the noise moves the count (l1), "
        "relative to the number of rows",
    ),
    "uniform": _number(
        "error, equal split", None, "%g%%", "If all tables of the pool had the same share"
    ),
    "closed form": _number(
        "error, formula", None, "%g%%", "Under the closed form with nothing locked"
    ),
}


def _typed(entries: Entries, rows: Sequence[LockRow], key: str, rev: int) -> None:
    """Take over locks and shares; what a table cannot show by itself makes it start anew.

    Of an earlier revision nothing is taken: a late message still tells what was typed there.
    """
    if rev != entries.rev:
        return
    for place, changes in st.session_state[key]["edited_rows"].items():
        row = rows[int(place)]
        if not row.columns:
            st.toast("This line stands for what is chosen when the release runs: no lock.")
            entries.renew()
        # Before the share: a row keeps what was typed into it, also when its lock is taken off.
        elif changes.get("locked") is False:
            _unlock(entries, row.columns)
            entries.renew()  # the share typed before would still stand in its cell
        elif changes.get("share") is not None:
            _lock(entries, row.columns, from_percent(float(changes["share"])))
        elif changes.get("locked"):
            _lock(entries, row.columns, row.share, replace=False)


def _lock(
    entries: Entries, columns: tuple[str, ...], share: float, *, replace: bool = True
) -> None:
    """Hold a marginal's share."""
    if replace or frozenset(columns) not in _by_columns(entries):
        _unlock(entries, columns)
        entries.budget.locks[columns] = share


def _unlock(entries: Entries, columns: tuple[str, ...]) -> None:
    for known in [known for known in entries.budget.locks if set(known) == set(columns)]:
        del entries.budget.locks[known]


def _foot(entries: Entries, plan: Plan, rows: Sequence[LockRow]) -> None:
    """How many shares are locked, the size of the model, and the way to remove all locks.

    It stands beneath the table, and always: the first lock moves nothing, and the toolbar that
    the table shows above itself covers nothing.
    """
    # As sets: a lock from a file may name the columns in another order.
    known = {frozenset(row.columns) for row in rows}
    idle = [columns for columns in entries.budget.locks if frozenset(columns) not in known]
    left, right = st.columns([3, 1], vertical_alignment="center")
    count = len(entries.budget.locks)
    words = f"**{count} share{'s' * (count > 1)} locked.**" if count else "No share is locked."
    if idle:
        words += f" {len(idle)} of them on tables that are not in this list."
    left.caption(
        f"{words} Model size: {plan.forecast.cells:,} cells.",
        help=f"The model as it is planned: {size_text(plan)}.",
    )
    if right.button(
        "Remove all locks",
        key=key_of("locks_clear"),
        icon=":material/lock_open:",
        disabled=not count,
        width="stretch",
    ):
        entries.budget.locks.clear()
        entries.renew()
        st.rerun()
