"""Bounds that a codebook leaves open: what is suggested for them, and what the curator takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.session.shelf import project
from prism_core.text.markdown import plain
from prism_core.text.numbers import count_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prism_core.data.codebooks import Codebook
    from prism_core.data.codebooks.usual_bounds import UsualBounds

_SHOWN = 12
# The first is the default: the range of a format says nothing of what a table holds.
_WIDE = {
    "blank": "Leave them blank",
    "fill": "Fill them in",
    "learn": "Learn narrower ones within",
}


def section(
    codebook: Codebook, rest: Sequence[str]
) -> tuple[dict[str, UsualBounds], frozenset[str]]:
    """What is filled in for numbers without bounds, and which columns are ticked to be learned.

    Args:
        codebook: whose columns they are.
        rest: names of the columns that are used.
    """
    found = {name: bounds for name, bounds in codebook.suggested.items() if name in rest}
    usual = {name: bounds for name, bounds in found.items() if not bounds.wide}
    wide = {name: bounds for name, bounds in found.items() if bounds.wide}
    taken: dict[str, UsualBounds] = {}
    if usual and st.checkbox(
        f"Fill in the usual bounds of {count_text(len(usual), 'column')}: {plain(_named(usual))}",
        value=True,
        key="codebook_usual",
        help="The codebook gives no bounds for them. These are the usual ones of what its names "
        "and labels say, from no row of any table. Values outside are clipped: look at them in the "
        "form, and change what your table knows otherwise.",
    ):
        taken |= usual
    way = _way_of(wide) if wide else "blank"
    # Also to be learned: the wide bounds are what is looked for narrower ones within.
    if way != "blank":
        taken |= wide
    names = codebook.names
    # In the codebook's order: the wide ones were taken after the usual ones.
    ordered = {name: taken[name] for name in names if name in taken}
    return ordered, frozenset(wide) if way == "learn" else frozenset()


def _way_of(wide: Mapping[str, UsualBounds]) -> str:
    return st.radio(
        f"Bounds of {count_text(len(wide), 'column')} by format alone: {plain(_named(wide))}",
        list(_WIDE),
        format_func=_WIDE.__getitem__,
        horizontal=True,
        key="codebook_wide",
        help="All that a cell can hold by the file's own format: no value is clipped, and most "
        "of the range may be empty. Narrower bounds give better bins: type them, or learn them "
        "with a part of the budget. Where a program chose the format by the rows (`compress` of "
        "Stata), type them.",
    )


def _named(found: Mapping[str, UsualBounds]) -> str:
    """The columns with their bounds; those of the same bounds together."""
    alike: dict[str, list[str]] = {}
    for name, bounds in list(found.items())[:_SHOWN]:
        alike.setdefault(bounds.text, []).append(name)
    shown = [f"{', '.join(names)} {text}" for text, names in alike.items()]
    more = len(found) - _SHOWN
    return "; ".join(shown) + (f"; and {more:,} more" if more > 0 else "")


def notice(rows: Sequence[Mapping[str, Any]]) -> None:
    """Which bounds of the form are suggestions, for as long as they stand there."""
    suggested = project().data.bounds_suggested
    found: dict[str, UsualBounds] = {}
    for row in rows:
        bounds = suggested.get(str(row["name"]))
        if bounds is not None and _stands(row, bounds):
            found[str(row["name"])] = bounds
    if found:
        st.caption(
            f":orange[:material/straighten: Bounds suggested, not in the codebook: "
            f"{plain(_named(found))}.] Values outside are clipped. Where your table knows "
            "otherwise, change them in the grid."
        )


def _stands(row: Mapping[str, Any], bounds: UsualBounds) -> bool:
    try:
        return (float(row["lower"]), float(row["upper"])) == (bounds.lower, bounds.upper)
    # The cell is text, and what is typed there may be no number yet.
    except ValueError:
        return False
