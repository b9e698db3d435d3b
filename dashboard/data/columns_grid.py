"""Grid of the columns: its cells, what marks those that are needed, and changes to many rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.common.widgets import mistakes as shown
from dashboard.session.shelf import entry_key, project
from prism_core.data.schema import column_form
from prism_core.data.schema.column_rules import KINDS
from prism_core.data.schema.form_mistakes import CellMistake, mistakes, needed_cells
from prism_core.data.tables.header import check_header
from prism_core.errors import SchemaError
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Sequence


NEEDED = "needed"
"""Stands in every empty cell that its kind needs."""

GRID: dict[str, Any] = {
    "name": st.column_config.TextColumn("Column", required=True, width=118, pinned=True),
    "kind": st.column_config.SelectboxColumn("Kind", options=list(KINDS), width=90),
    "learn": st.column_config.CheckboxColumn(
        "Learn",
        help="Not in the codebook: learn bounds and bins (numeric, date) or the names of "
        "the levels (categorical) with a part of the privacy budget",
        width=70,
    ),
    "levels": st.column_config.TextColumn(
        "Levels",
        help="Allowed values, separated by |. 1 and 0.5 are numbers, 01 and north are texts; in "
        'quotation marks, as in "1" or "a|b", it is a text, whatever it looks like',
        width=125,
    ),
    "groups": st.column_config.TextColumn(
        "Codes in groups",
        help="The map from codes to groups; given below",
        disabled=True,
        width="small",
    ),
    "lower": st.column_config.TextColumn(
        "Lower", help="Smallest value; below is clipped", width=70
    ),
    "upper": st.column_config.TextColumn("Upper", help="Largest value; above is clipped", width=70),
    "bins": st.column_config.TextColumn(
        "Bins",
        help="A number of equal bins, the inner edges separated by |, or log bins for "
        "quantities of many magnitudes: log 12; log 12 zero gives 0 a bin of its own; "
        "log 12 zero unit 0.01 names the smallest magnitude that matters. Left empty, log "
        "bins are proposed where the bounds are far apart, and else a run finds bins that predict",
        width=66,
    ),
    "decimals": st.column_config.TextColumn(
        "Decimals",
        help="Of the values that are made; 0 for whole numbers. Left empty, they are proposed "
        "from the bounds when the columns are applied",
        width=92,
    ),
    "nullable": st.column_config.CheckboxColumn("May be missing", width=126),
    "special": st.column_config.TextColumn(
        "Special values",
        help="Numbers and dates: codes that are no numbers, such as -9 | 97 | .a, each a level of "
        "its own; written back as they are",
        width=122,
    ),
    "fill": st.column_config.TextColumn(
        "Empty cells become",
        help="Where none may be missing: a level or a number",
        width=115,
    ),
    "other": st.column_config.TextColumn(
        "Unknown values become",
        help="One of the levels; missing or the first level if empty",
        width=115,
    ),
    "labels": st.column_config.TextColumn(
        "Words for values",
        help="Shown beside the codes, which stay in the rows: 1 = Female | 2 = Male",
        width=136,
    ),
    "description": st.column_config.TextColumn("Meaning", width=85),
}
_FLAGS = ("learn", "nullable")
_RARE = ("fill", "other")
"""Cells that few declarations use: shown where one is filled in, or when asked for, so that the
others stand side by side on a small screen."""
_MORE = "columns_more_cells"
_TITLES = {key: str(config["label"]) for key, config in GRID.items()}
_ROWS_SHOWN = 12
"""Rows of the grid without a scroll bar of its own: with more, the buttons below it would leave the
screen."""
_GRID_HEIGHT = 334  # pixels; a part of a row is cut, which shows that there are more
_MOST_SHOWN = 12  # mistakes that are written out; more are counted


_FIRST_DAY = "Of dates, a year or month is its first day."
_LAST_DAY = "Of dates, a year or month is its last day."
_CURES = (
    "What no document says can be *learned* with a part of the budget, and a column that is not "
    "needed can be left out: both for many columns under *Set many at once*."
)

_HELP = (
    "- **Levels:** the allowed values, separated by |. A number is met by its value, so that 1.0 "
    "in the file is the level 1, and a text such as 01234 only by itself.\n"
    "- **Bins:** a number of equal bins, the inner edges separated by |, or *log 12* (*log 12 "
    "zero*) for a heavy tail such as income. Left empty, log bins are proposed where the "
    "bounds are far apart; else a run finds bins that predict with a tenth of the budget, where "
    "that allows it. Values outside the bounds are clipped.\n"
    "- **Ordinal:** levels with an order.\n"
    "- **Leave a column out** under *Set many at once*, such as the ID that names the person: it "
    "is never synthesised, and is named under *People and rows*.\n"
    "- **Learn:** not in the codebook? Bounds and bins, or the names of levels, are then learned "
    "with a part of the privacy budget."
)


def grid() -> list[dict[str, Any]]:
    """The grid as it is edited. A page switch drops the widget; its rows are kept here."""
    data = project().data
    if data.learns:  # read-only: an editor that is switched off starts anew, without what is typed
        frame = pd.DataFrame(data.rows_of_form, columns=list(GRID))
        st.dataframe(
            frame.assign(decimals=frame["decimals"].astype("string")),
            column_config=GRID,
            hide_index=True,
            width="stretch",
        )
        st.caption("Read-only while the columns are being learned.")
        return data.rows_of_form
    tools = st.container(horizontal=True, vertical_alignment="center")
    # Rows that Python puts in need a widget of their own: this one lays its edits over them.
    key = entry_key(f"columns_grid_{data.form_rev}")
    # Another page was shown meanwhile and Streamlit dropped the edits: what was typed is the base
    # now.
    if key not in st.session_state and data.form_edited is not None:
        data.form = data.form_edited
    rows = data.form or []
    # Read before the grid is drawn, so that the marks answer to the cell that was typed just now.
    edits = (st.session_state.get(key) or {}).get("edited_rows", {})
    marked = [_marked(row, {**row, **edits.get(place, {})}) for place, row in enumerate(rows)]
    frame = pd.DataFrame(marked, columns=list(GRID))
    # One type whatever is in a column: with another type the editor would forget what is typed.
    frame = frame.astype({name: "bool" if name in _FLAGS else "string" for name in GRID})
    edited = st.data_editor(
        frame,
        column_config=GRID,
        column_order=_order(marked),
        num_rows="fixed",  # only then do marks change without a new editor
        hide_index=True,
        width="stretch",
        height="content" if len(marked) <= _ROWS_SHOWN else _GRID_HEIGHT,
        key=key,
        placeholder=NEEDED,
    )
    found = edited.astype(object).where(edited.notna(), "")
    data.form_edited = [_row(row) for row in found.to_dict("records")]
    with tools:  # after the grid, so that they change what was typed last, too
        _tools(data.form_edited)
    return data.form_edited


def _order(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The columns of the grid that are shown; another order is no new editor."""
    hidden = {"groups"} if st.session_state.get(_MORE) else {"groups", *_RARE}
    return [name for name in GRID if name not in hidden or any(row.get(name) for row in rows)]


def _marked(row: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """A row for the editor: None, which it shows as a mark, in empty cells that are needed now.

    Args:
        row: as the editor was begun with.
        now: with what has been typed since.
    """
    needed = needed_cells(now)
    shown: dict[str, Any] = {}
    for name in GRID:
        if name in _FLAGS:
            shown[name] = row.get(name) is True
        else:
            # As it stands, spaces and all: what is typed is never rewritten.
            text = str(row[name]) if column_form.cell_text(row, name) else ""
            shown[name] = text if text or name not in needed else None
    return shown


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the form; decimals are a number where they are one."""
    made = {str(name): value is True if name in _FLAGS else value for name, value in row.items()}
    decimals = str(made["decimals"]).strip()
    # Not isdigit alone, which takes superscripts for digits.
    whole = decimals.isascii() and decimals.isdigit() and len(decimals) < 4
    return made | {"decimals": int(decimals) if whole else decimals or None}


def _tools(rows: list[dict[str, Any]]) -> None:
    """Above the grid: what is done to many rows, and what a spreadsheet is good for."""
    with st.popover("Set many at once", icon=":material/checklist:"):
        _many(rows)
    with st.popover("Add columns", icon=":material/add:"):
        _add(rows)
    st.toggle(
        "More cells",
        key=_MORE,
        help="*Empty cells become* and *Unknown values become*. Left empty, an unknown value "
        "becomes missing where that is allowed, and else the first level.",
    )
    with st.popover("What belongs in the cells", icon=":material/help:"):
        st.markdown(_HELP)
    st.caption(":material/content_paste: Paste with Ctrl+V (⌘V). *needed* marks a cell to fill in.")


def _many(rows: list[dict[str, Any]]) -> None:
    # With other rows nothing is chosen: a name that is gone could not be shown.
    key = f"many_names_{project().data.form_rev}"
    names = list(dict.fromkeys(str(row["name"]) for row in rows if row["name"]))
    empty = [str(row["name"]) for row in rows if row["name"] and not row["kind"]]
    numbers, dates = _lacking(rows, "numeric"), _lacking(rows, "date")
    bare = [*_lacking(rows, "categorical"), *_lacking(rows, "ordinal")]
    chosen = st.multiselect("Columns", names, key=key, placeholder="Choose columns")
    row = st.container(horizontal=True)
    for label, part, wanted in (
        ("Choose all", "many_all", names),
        (f"Without a kind ({len(empty)})", "many_empty", empty),
        (f"Without levels ({len(bare)})", "many_levels", bare),
        (f"Numbers without bounds ({len(numbers)})", "many_numbers", numbers),
        (f"Dates without bounds ({len(dates)})", "many_dates", dates),
    ):
        # By a callback: the list above is drawn, and takes no other value in this run.
        row.button(label, key=part, on_click=_choose, args=(key, wanted), disabled=not wanted)
    kind = st.selectbox("Kind", KINDS, index=None, key="many_kind", placeholder="Choose a kind")
    if st.button(
        "Give them this kind",
        key="many_set",
        type="primary",
        disabled=not chosen or kind is None,
        width="stretch",
    ):
        # Decimals belong to numbers: in another kind they would be a mistake to clear by hand.
        _change(rows, chosen, {"kind": kind} | ({} if kind == "numeric" else {"decimals": None}))
    _many_bounds(rows, chosen)
    left, middle, right = st.columns(3)
    if left.button("May be missing", key="many_nullable", disabled=not chosen, width="stretch"):
        _change(rows, chosen, {"nullable": True})
    if middle.button(
        "Learn them",
        key="many_learn",
        disabled=not chosen,
        width="stretch",
        help="Ticks *Learn*: bounds of numbers and dates, and names of levels, are learned with a "
        "part of the budget. Numbers and dates need wide bounds for it.",
    ):
        _change(rows, chosen, {"learn": True})
    if right.button(
        "Leave them out",
        key="many_drop",
        disabled=not chosen,
        width="stretch",
        help="They are taken out of the form and are not synthesised, as an ID is not.",
    ):
        _change(rows, chosen, None)


def _many_bounds(rows: list[dict[str, Any]], chosen: Sequence[str]) -> None:
    """The same bounds for the numbers and dates among the chosen columns: scores of one scale."""
    rev = project().data.form_rev  # what was given is not typed anew
    left, right = st.columns(2)
    lower = left.text_input("Lower", key=f"many_lower_{rev}", help=_FIRST_DAY)
    upper = right.text_input("Upper", key=f"many_upper_{rev}", help=_LAST_DAY)
    typed = {cell: text.strip() for cell, text in (("lower", lower), ("upper", upper)) if text}
    binned = [str(row["name"]) for row in rows if row["kind"] in ("numeric", "date")]
    names = [name for name in chosen if name in binned]
    if st.button(
        "Give them these bounds",
        key="many_bounds",
        disabled=not names or not typed,
        width="stretch",
        help="Of the chosen columns the numbers and dates get them.",
    ):
        _change(rows, names, typed)


def _lacking(rows: list[dict[str, Any]], kind: str) -> list[str]:
    """Columns of a kind without the cells that it needs."""
    return [
        str(row["name"])
        for row in rows
        if row["name"] and row["kind"] == kind and not all(row[c] for c in needed_cells(row))
    ]


def _choose(key: str, names: list[str]) -> None:
    st.session_state[key] = names


def _change(
    rows: list[dict[str, Any]], names: Sequence[str], change: dict[str, Any] | None
) -> None:
    """Change the rows of these columns, or take them out; the others stay as they are typed."""
    chosen, made = set(names), []
    for row in rows:
        if row["name"] not in chosen:
            made.append(row)
        elif change is not None:
            made.append({**row, **change})
    project().data.show_form(made)
    # The grid above shows the old rows already.
    st.rerun()


def _add(rows: list[dict[str, Any]]) -> None:
    data = project().data
    key = f"add_names_{data.form_rev}"
    st.text_area(
        "Names",
        key=key,
        placeholder="dose, ward, readmitted",
        help="With commas, tabs or line ends between: a row or a column of a spreadsheet can be "
        "pasted.",
    )
    if st.button("Add them", key="add_columns", type="primary"):
        with shown():
            added = typed_names(str(st.session_state[key]))
            check_header([*(str(row["name"]) for row in rows), *added], "the columns")
            data.show_form([*rows, *(dict(row) for row in column_form.blank_rows(added))])
            st.rerun()


def typed_names(text: str) -> tuple[str, ...]:
    """Names as they are typed or pasted, in order.

    Raises:
        SchemaError: when there is none.
    """
    names = tuple(name for part in re.split(r"[,;\t\r\n]+", text) if (name := part.strip()))
    if not names:
        raise SchemaError("Type the names of the columns, with commas between.", field="columns")
    return names


def mistakes_section(rows: list[dict[str, Any]]) -> bool:
    """All mistakes below the grid, by column and cell; whether there is none."""
    found = mistakes(rows)
    if not found:
        return True
    count = "1 cell needs" if len(found) == 1 else f"{len(found):,} cells need"
    lines = [f":orange[:material/rule: **{count} something**] before the columns can be used:"]
    for cell, title in _TITLES.items():
        empty = [each for each in found if each.cell == cell and each.is_missing]
        if empty:
            lines.append(f"- **{title}** is needed: {plain(_named(empty))}")
    wrong = [each for each in found if not each.is_missing]
    lines += [
        f"- **{plain(_named([each]))} · {_TITLES[each.cell]}:** {plain(each.text)}"
        for each in wrong[:_MOST_SHOWN]
    ]
    if len(wrong) > _MOST_SHOWN:
        lines.append(f"- and {len(wrong) - _MOST_SHOWN:,} more")
    if any(each.is_missing for each in found):
        lines += ["", _CURES]
    with st.container(border=True, key="form_mistakes"):
        st.markdown("\n".join([lines[0], "", *lines[1:]]))
    return False


def _named(found: list[CellMistake]) -> str:
    names = [each.column or f"row {each.row + 1}" for each in found]
    more = f" and {len(names) - 3 * _MOST_SHOWN:,} more" if len(names) > 3 * _MOST_SHOWN else ""
    return ", ".join(names[: 3 * _MOST_SHOWN]) + more
