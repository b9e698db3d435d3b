"""Comparison of two designs: what differs, and what comes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.budget import charts, edited_design, saved_designs
from dashboard.common.fields import keeping
from dashboard.common.plan_changes import entry_name
from dashboard.session.designs import PLAN
from dashboard.session.shelf import project
from prism_core.errors import PrismError
from prism_core.planning.search.comparison import Difference, differences
from prism_core.text.markdown import plain
from prism_core.text.numbers import delta_text, eps_text, error_text, share_text, sigma_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pandas.io.formats.style import Styler

    from prism_core.planning.plan import Plan

_FORMATS = {
    "budget.shares.": share_text,
    "budget.locks.": share_text,
    "budget.delta": delta_text,
    "delta": delta_text,
    "epsilon spent": eps_text,
    "largest sigma": sigma_text,
    "mean expected": error_text,
    "largest expected": error_text,
}
_BETTER = "background-color: rgba(0, 158, 115, 0.22); font-weight: 600"
_DIFFERS = "background-color: rgba(230, 159, 0, 0.20)"


def section() -> None:
    """The plan beside another design, and designs kept by name."""
    designs = project().designs
    scenarios = designs
    if not scenarios.others:
        st.markdown(
            "There is nothing beside the plan yet. **Keep as B** (above) puts a copy of what is "
            "set now beside it; then switch to B and change it, or go on changing A."
        )
        saved_designs.section()
        return
    letter = scenarios.beside
    if len(scenarios.others) > 1:
        st.segmented_control(
            "Compare A with",
            sorted(scenarios.others),
            required=True,
            default=letter,
            **keeping(scenarios, "beside", "design_beside", letter),
        )
    plans = _plans((PLAN, letter))
    if plans is not None:
        a, b = plans
        _table(differences(a, b), letter)
        edited_design.adopt_button(letter, "compare_adopt", main=True)
        _curves(designs.edited, {PLAN: a, letter: b})
    # Also where one of the two has no plan: a saved design may take its place.
    saved_designs.section()


def _plans(letters: Sequence[str]) -> list[Plan] | None:
    """Their plans; None, with a sentence, when one has none."""
    state, found = project(), []
    for letter in letters:
        try:
            found.append(state.plan(state.designs.entries(letter)))
        except PrismError as error:
            st.error(f"{letter} has no plan: {plain(str(error))}", icon=":material/error:")
    return found if len(found) == len(letters) else None


def _curves(edited: str, plans: dict[str, Plan]) -> None:
    first = edited if edited in plans else PLAN
    # The edited one first: the first curve is the one that is looked at.
    charts.curves({first: plans[first], **plans})


def _table(found: Sequence[Difference], letter: str) -> None:
    """Differences on top, then what comes of them; the better side is marked."""
    if not any(row.kind == "entry" for row in found):
        st.caption(f"A and {letter} say the same. Switch to {letter} above and change it.")
    frame = pd.DataFrame(
        {
            "": [entry_name(row.what) for row in found],
            "A, the plan": [_shown(row, "a") for row in found],
            letter: [_shown(row, "b") for row in found],
            "less is better": [{"a": "A", "b": letter}.get(row.better or "", "") for row in found],
        }
    )
    st.dataframe(
        _marked(frame, found, letter),
        hide_index=True,
        width="stretch",
        height="content",
        column_config={"": st.column_config.TextColumn("", width=310, pinned=True)},
    )


def _marked(frame: pd.DataFrame, found: Sequence[Difference], letter: str) -> Styler:
    """Green where a side is better, amber where an entry differs."""
    styles = pd.DataFrame("", index=frame.index, columns=frame.columns)
    sides = {"a": "A, the plan", "b": letter}
    for place, row in enumerate(found):
        if row.better is not None:
            styles.loc[place, sides[row.better]] = _BETTER
        elif row.kind == "entry":
            styles.loc[place, list(sides.values())] = _DIFFERS
    return frame.style.apply(lambda _: styles, axis=None)


def _shown(row: Difference, side: str) -> str:
    """One value in words."""
    value = getattr(row, side)
    if value is None:
        return "–"
    if isinstance(value, str):
        return value.replace("_", " ") if row.kind == "entry" else value
    for what, text in _FORMATS.items():
        if row.what.startswith(what):
            return text(float(value))
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}"
