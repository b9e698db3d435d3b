"""Groups of codes: the map for a column of many codes, uploaded, pasted or by characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.common import uploads
from dashboard.common.widgets import mistakes
from dashboard.session.shelf import project
from prism_core.data.schema import code_groups, column_form
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.data.schema.code_groups import CodeGroups

_KINDS = ("categorical", "ordinal")


def section(rows: Sequence[dict[str, Any]]) -> None:
    """Under the form of columns: choose a column, give its map.

    Args:
        rows: of the form as it is typed.
    """
    names = [str(row["name"]) for row in rows if row.get("kind") in _KINDS and row.get("name")]
    # While columns are learned the form is read-only, and a map would change it.
    if not names or project().data.learns:
        return
    with st.expander("Many codes: model a column on groups of them"):
        st.markdown(
            "A column of hundreds of codes (diagnoses, postcodes) drowns in noise. Give a "
            "**public** map from codes to groups: groups are measured, and a synthetic row gets "
            "one of its group's codes, all alike or by the weights of the map. What a code says "
            "beyond its group is not in the synthetic rows. The map comes from a codebook, not "
            "from the rows."
        )
        name = st.selectbox("Column", names, key="groups_column")
        row = next(row for row in rows if row.get("name") == name)
        _now(row)
        found, why = _map(row, _text(), _prefix())
        first, second, _ = st.columns([1.3, 1.3, 2])
        if (
            first.button(
                "Use this map",
                key="use_groups",
                disabled=found is None,
                width="stretch",
                help=why or None,
            )
            and found is not None
        ):
            # The levels go: the map says what the codes are, and both together would be a mistake.
            _put(name, {"groups": code_groups.write_map(found), "levels": ""})
        if second.button(
            "Without groups",
            key="drop_groups",
            disabled=not row.get("groups"),
            width="stretch",
            help="The column gets levels again, to be typed in the form.",
        ):
            _put(name, {"groups": ""})


def _now(row: dict[str, Any]) -> None:
    if row.get("groups"):
        with mistakes(), code_groups.named(str(row["name"])):
            found = code_groups.read_map(str(row["groups"]))
            st.caption(f"Now: {plain(code_groups.sentence(found))}.")


def _text() -> str:
    """The map as it was uploaded, else as it is typed."""
    file = st.file_uploader(
        "Map as a CSV: code, group and, if wished, weight",
        type=["csv", "txt", "tsv"],
        key="groups_file",
        max_upload_size=uploads.TEXT_MEGABYTES,
    )
    typed = st.text_area(
        "Or one code and its group a line",
        key="groups_text",
        placeholder="I50.1,heart failure\nI50.9,heart failure\nE11.9,diabetes",
    )
    if file is None:
        return str(typed)
    # replace: a byte that is no UTF-8 must not end the page with a traceback.
    return file.getvalue().decode("utf-8", errors="replace")


def _prefix() -> int | None:
    if not st.checkbox(
        "The first characters of a code name its group",
        key="groups_by_prefix",
        help="Then the map needs codes only: with 3, I50.1 and I50.9 are in the group I50.",
    ):
        return None
    return int(st.number_input("Characters", 1, 20, 3, key="groups_prefix"))


def _map(row: dict[str, Any], text: str, prefix: int | None) -> tuple[CodeGroups | None, str]:
    """The map that would be used, with its size on the page, or why there is none yet."""
    pasted, levels = bool(text.strip()), ()
    with mistakes():
        levels = column_form.codes(row)
    if not pasted and (prefix is None or not levels):
        why = (
            "To use a map: upload or paste one. Or tick *The first characters …*: then the levels "
            "of the column are its codes."
            if prefix is None
            else "To use a map: upload or paste the codes, or type them under *Levels* above."
        )
        st.caption(f":orange[{why}]")
        return None, why
    with mistakes(), code_groups.named(str(row["name"])):
        found = (
            code_groups.read_map(text, prefix=prefix)
            if pasted or prefix is None
            else code_groups.by_prefix(levels, prefix)
        )
        where = "" if pasted else "The levels of the column: "
        st.caption(f"{where}**{found.count:,} codes in {len(found.groups):,} groups**.")
        return found, ""
    return None, "The map has the mistake that is named above."


def _put(name: str, change: dict[str, Any]) -> None:
    """Change the column's row; the other rows stay as they are typed."""
    data = project().data
    data.show_form([row | change if row.get("name") == name else row for row in data.rows_of_form])
    st.rerun()
