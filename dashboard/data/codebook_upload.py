"""Codebook upload: what was understood of it, what it leaves open, and the form that it fills."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.common import uploads
from dashboard.common.widgets import mistakes
from dashboard.data import codebook_bounds
from dashboard.session.shelf import entry_key, project
from prism_core.data.codebooks import Codebook, CodebookColumn, read_codebook
from prism_core.data.codebooks.recognition import is_schema
from prism_core.data.schema.codebook_source import FORMAT_TEXT, CodebookReading
from prism_core.data.schema.level import day_text
from prism_core.errors import SchemaError
from prism_core.text.markdown import plain
from prism_core.text.numbers import count_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from prism_core.data.schema.column_form import FormRow
    from prism_core.data.schema.schema import Schema

_ENDINGS = [
    *("csv", "tsv", "txt", "xlsx", "xls", "ods", "json", "yaml", "yml", "xml"),
    *("sav", "zsav", "dta", "sas7bdat", "xpt"),
]
_PREVIEWED = 15  # columns of a codebook that are shown without a scroll bar of their own
_READ = "codebook_read"  # of this session: the file that was read last, and what it says


def section(
    take: Callable[[Schema], None],
    fill: Callable[[Sequence[FormRow], CodebookReading], None],
    take_file: Callable[[bytes], None],
) -> None:
    """The way to a declaration through a codebook.

    Args:
        take: puts a schema in use, where nothing is left open.
        fill: puts rows into the form, with what the codebook alone gives.
        take_file: puts a schema file of this program in use, which may stand here as well.
    """
    file = st.file_uploader(
        "Codebook",
        type=_ENDINGS,
        key=uploads.widget_key("upload_codebook"),
        max_upload_size=uploads.TABLE_MEGABYTES,
        help="REDCap data dictionary; Frictionless Table Schema or Data Package; CSVW; DDI "
        "Codebook; a table with one row a column. Of a file of SPSS, Stata or SAS the labels, "
        "measures and formats are read, and no row. A schema file of this program works, too.",
    )
    if file is None:
        # Nothing leads back to what was read, and a codebook of many codes is large.
        st.session_state.pop(_READ, None)
        carried = project().data.carried
        if carried is None:
            st.caption(
                "A dictionary of your own is a table with a row for each column: its name, its "
                "meaning, its type, and its codes (0=No; 1=Yes) or its range (0 to 100)."
            )
        else:
            st.caption(
                ":material/check: The table's own file says what its columns are: nothing need be "
                "uploaded. Another codebook takes its place above"
                + (", and so does this file with its labels." if _of_sas(carried) else ".")
            )
            with mistakes():
                _decide(carried, take, fill)
        return
    if is_schema(file.getvalue()):
        st.caption(":material/check: This is a schema of this program; it is used as it is.")
        if st.button("Use this schema", type="primary", key="use_schema_here"):
            take_file(file.getvalue())
        return
    with mistakes():
        codebook = _codebook(file)
        if codebook is not None:
            _decide(codebook, take, fill)


def _codebook(file: UploadedFile) -> Codebook | None:
    """The codebook, read once for each file; None while it is not said which table is meant."""
    # By its ID: the next file may hold a single table.
    several = st.session_state.get(f"{_READ}_several") == file.file_id
    named = st.text_input("Table of the codebook", key="codebook_resource") if several else ""
    catalog = _catalog(file)
    # By its ID: another file may have the same name.
    asked = (file.file_id, named, catalog.file_id if catalog else "")
    kept = st.session_state.get(_READ)
    if kept is not None and kept[0] == asked:
        return kept[1]
    try:
        found = read_codebook(
            file.getvalue(),
            name=file.name,
            resource=named or None,
            catalog=catalog.getvalue() if catalog else None,
        )
    except SchemaError as error:
        if error.field != "resource":
            raise
        st.session_state[f"{_READ}_several"] = file.file_id
        # The question which table is meant stands above, and this run has passed it.
        if not several:
            st.rerun()
        st.info(plain(str(error)), icon=":material/table_view:")
        return None
    st.session_state[_READ] = (asked, found)
    return found


def _of_sas(codebook: Codebook) -> bool:
    return codebook.source.name.lower().endswith(".sas7bdat")


def _catalog(file: UploadedFile) -> UploadedFile | None:
    """The labels of a file of SAS, which stand in a file beside it."""
    if not file.name.lower().endswith(".sas7bdat"):
        return None
    return st.file_uploader(
        "Labels of its values (.sas7bcat), where there are some",
        type=["sas7bcat"],
        key="upload_catalog",
        max_upload_size=uploads.TEXT_MEGABYTES,
    )


def _decide(
    codebook: Codebook,
    take: Callable[[Schema], None],
    fill: Callable[[Sequence[FormRow], CodebookReading], None],
) -> None:
    _preview(codebook)
    names = _in_table(codebook)
    person, left = _left_out(codebook, names)
    rest = [name for name in codebook.names if name in names and name not in left]
    taken, learned = codebook_bounds.section(codebook, rest)
    if not st.button("Use this codebook", type="primary", key="use_codebook", disabled=not rest):
        return
    kept = codebook.without(name for name in codebook.names if name not in rest)
    state = project()
    if person is not None:
        state.data.person_hint = person
        # Else the radio keeps what it showed before, instead of what was just said.
        for key in ("people_way", "people_column"):
            st.session_state.pop(entry_key(key), None)
    # The form has nothing to ask then.
    if not kept.open:
        take(kept.schema(**vars(state.data.people)))
        return
    columns = [column.column for column in kept.columns]
    filled = kept.with_suggested(taken)
    state.data.bounds_suggested = taken
    rows = [column.row for column in filled.columns]
    for row in rows:
        row["learn"] = row["name"] in learned
    fill(
        rows,
        CodebookReading(
            source=codebook.source, columns=tuple(each for each in columns if each is not None)
        ),
    )


def _preview(codebook: Codebook) -> None:
    """What was understood, column by column."""
    missing = {one.column: one.missing for one in codebook.open}
    st.markdown(
        f"**{plain(codebook.source.name)}**, read as {FORMAT_TEXT[codebook.source.format]}: "
        f"{count_text(len(codebook.columns), 'column')}, {len(missing):,} with something open."
    )
    rows = [
        {
            "column": column.name,
            "kind": column.kind or "",
            "may hold": _holds(column) + (", or missing" if column.nullable else ""),
            "open": missing.get(column.name, ""),
            "suggested": codebook.suggested[column.name].text
            if column.name in codebook.suggested
            else "",
            "meaning": column.description,
            "remark": "" if column.remark in missing.get(column.name, "") else column.remark,
            "where": column.source,
        }
        for column in codebook.columns
    ]
    table = pd.DataFrame(rows)
    # Columns without a word take the room in which the codes can be read.
    empty = [
        name
        for name in ("open", "suggested", "meaning", "remark")
        if not any(row[name] for row in rows)
    ]
    st.dataframe(
        table.drop(columns=empty),
        hide_index=True,
        width="stretch",
        height="content" if len(rows) <= _PREVIEWED else "auto",
        column_config={
            "may hold": st.column_config.TextColumn(width="large"),
            "open": st.column_config.TextColumn(width="medium"),
        },
        key="codebook_preview",
    )
    # A codebook often says nothing of empty cells, and they would become values unseen.
    st.caption(
        "Where *or missing* does not stand, an empty cell of the table is counted as a value. Tick "
        "*May be missing* under Columns for every column that has empty cells."
    )
    if missing:
        st.caption(
            "What is open can be typed in the form that follows, learned with a part of the "
            "budget, or left out with its column."
        )
    with st.expander("How the columns were read"):
        taken = pd.DataFrame(codebook.understood, columns=["in the codebook", "taken for"])
        st.dataframe(taken, hide_index=True, width="stretch")


def _holds(column: CodebookColumn) -> str:
    words = dict(column.labels)
    if column.binned:
        ends = [
            "?" if end is None else day_text(end) if column.kind == "date" else f"{end:g}"
            for end in (column.lower, column.upper)
        ]
        special = f"; special: {', '.join(map(str, column.special))}" if column.special else ""
        return f"{ends[0]} to {ends[1]}{special}"
    shown = [
        f"{level} = {words[str(level)]}" if str(level) in words else str(level)
        for level in column.levels[:8]
    ]
    more = len(column.levels) - len(shown)
    return " | ".join(shown) + (f" and {more:,} more" if more else "")


def _in_table(codebook: Codebook) -> frozenset[str]:
    """The codebook's columns that the open table has; all of them while there is no table."""
    raw = project().data.raw
    if raw is None:
        return frozenset(codebook.names)
    there, told = set(raw.header), set(codebook.names)
    if absent := [name for name in codebook.names if name not in there]:
        st.info(
            f"Not in the table, and left out: {plain(', '.join(absent[:50]))}.",
            icon=":material/info:",
        )
    # Their number alone: without a line of names, the header is somebody's row.
    if untold := len(there - told):
        st.info(
            f"In the table, and not in the codebook: {count_text(untold, 'column')}. They are not "
            "synthesised. To declare one, use *Add columns* above the form.",
            icon=":material/info:",
        )
    return frozenset(there & told)


def _left_out(codebook: Codebook, names: frozenset[str]) -> tuple[str | None, frozenset[str]]:
    """The column that names the person, and those that are left out."""
    still = [one for one in codebook.open if one.column in names]
    first, second = st.columns([1, 2])
    person = first.selectbox(
        "Names the person (an ID)",
        [one.column for one in still if "person" in one.cures or "kind" in one.missing],
        index=None,
        key="codebook_person",
        placeholder="None of them",
        help="It is never synthesised; one row of each person is kept.",
    )
    left = second.multiselect(
        "Left out of the synthetic table",
        [name for name in codebook.names if name in names],
        [one.column for one in still if one.cures[0] in ("leave out", "person")],
        key="codebook_left_out",
        help="Free text, identifiers and files are left out unless you take them out of this list. "
        "Every other open column stands in the form: type what is missing, tick Learn, or leave "
        "it out there.",
    )
    return person, frozenset({*left, *([person] if person is not None else [])})
