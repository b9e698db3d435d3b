"""Declaring the columns: upload, draft, and a form to correct them in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.state import project
from dashboard.widgets import mistakes, plain
from prism_core.data import form, schema_io
from prism_core.data.column import KINDS
from prism_core.data.draft import draft_from_header, draft_from_rows
from prism_core.data.schema import Provenance, Schema
from prism_core.data.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.data.column import Column

_WAYS = {
    "upload": "Upload a schema (YAML or JSON)",
    "header": "Start from the column names and fill in the rest",
    "twin": "Draft from a public file with the same layout",
    "rows": "Draft from the private file itself (not private)",
}


def section() -> None:
    """The second section of the page Data."""
    st.header("2 · Columns")
    state = project()
    if state.schema is None and state.form is None:
        st.markdown(
            "The declared levels and bounds are the *public domain*: what a column **may** hold, "
            "from the codebook, not from the rows."
        )
    with st.expander("Where the declaration comes from", expanded=state.schema is None):
        _sources()
    _form()


def _sources() -> None:
    ways = dict(_WAYS)
    if project().public:
        ways["rows"] = "Draft from this file (its rows are public)"
    way = st.radio(
        "Declare the columns by", list(ways), format_func=lambda key: ways[key], key="schema_way"
    )
    if way == "upload":
        _from_schema_file()
    elif way == "header":
        if st.button("Start with the column names", key="draft_header"):
            raw = project().raw
            assert raw is not None
            _start(draft_from_header(raw.header), "declared")
    elif way == "twin":
        _from_twin()
    else:
        _from_rows()


def _from_schema_file() -> None:
    file = st.file_uploader("Schema file", type=["yaml", "yml", "json"], key="upload_schema")
    if file is not None and st.button("Use this schema", type="primary", key="use_schema"):
        with mistakes():
            _take(schema_io.loads(file.getvalue().decode("utf-8", errors="replace")))


def _from_twin() -> None:
    file = st.file_uploader(
        "Public file with the same layout", type=["csv", "txt", "tsv", "parquet"],
        key="upload_twin",
    )  # fmt: skip
    if file is not None and st.button("Draft from the public file", key="draft_twin"):
        with mistakes():
            schema, left = draft_from_rows(
                read_table(file.getvalue(), name=file.name), "public twin"
            )
            _start(schema.columns, "public twin", left)


def _from_rows() -> None:
    state = project()
    provenance: Provenance = "public twin" if state.public else "private rows"
    agreed = state.public or st.checkbox(
        "I understand: this reads the private rows without protection. The report will say so on "
        "every page.",
        key="draft_rows_agreed",
    )  # fmt: skip
    if st.button("Draft from the file", disabled=not agreed, key="draft_rows"):
        with mistakes():
            assert state.raw is not None
            schema, left = draft_from_rows(state.raw, provenance)
            _start(schema.columns, provenance, left)


def _start(columns: Sequence[Column], provenance: Provenance, left: Sequence[str] = ()) -> None:
    """Put a draft into the form; it becomes the schema when it is applied."""
    state = project()
    state.form = [dict(row) for row in form.to_rows(columns)]
    state.form_rev += 1
    st.session_state["form_provenance"] = provenance
    st.session_state["form_left_out"] = tuple(left)
    st.rerun()


def _take(schema: Schema) -> None:
    state = project()
    state.use_schema(schema)
    state.form = [dict(row) for row in form.to_rows(schema.columns)]
    state.form_rev += 1
    st.session_state["form_provenance"] = schema.provenance
    st.rerun()


def _form() -> None:
    state = project()
    if state.form is None and state.schema is not None:
        state.form = [dict(row) for row in form.to_rows(state.schema.columns)]
    if state.form is None:
        return
    left = st.session_state.get("form_left_out", ())
    if left:
        st.info(
            f"Left out, because nearly every value is different: {plain(', '.join(left))}. They "
            "will not be synthesised.",
            icon=":material/info:",
        )
    edited = _grid(state.form, state.form_rev)
    applied = _applied(edited)
    if state.checked and not applied:
        st.checkbox(
            "My changes come from the codebook, not from the counts I saw (else the schema's "
            "provenance becomes *private rows*)",
            key="apply_codebook",
        )
    left_column, right_column = st.columns([1, 3])
    if left_column.button(
        "Apply the columns", type="primary", disabled=applied, key="apply_columns", width="stretch"
    ):
        _apply(edited)
    if applied:
        right_column.markdown(":material/check_circle: These columns are in use.")
    if state.schema is not None:
        right_column.download_button(
            "Download the schema (YAML)", schema_io.dumps(state.schema), "schema.yaml",
            mime="application/yaml", icon=":material/download:", key="download_schema",
        )  # fmt: skip


def _grid(rows: list[dict[str, Any]], revision: int) -> list[dict[str, Any]]:
    config = {
        "name": st.column_config.TextColumn("Column", required=True, width="medium"),
        "kind": st.column_config.SelectboxColumn("Kind", options=list(KINDS), required=True),
        "levels": st.column_config.TextColumn(
            "Levels", help="Allowed values, separated by |", width="medium"
        ),
        "lower": st.column_config.TextColumn("Lower", help="Smallest value; below is clipped"),
        "upper": st.column_config.TextColumn("Upper", help="Largest value; above is clipped"),
        "bins": st.column_config.TextColumn(
            "Bins", help="A number of equal bins, or the inner edges separated by |"
        ),
        "decimals": st.column_config.NumberColumn(
            "Decimals", help="0 for whole numbers", min_value=0, max_value=12, step=1
        ),
        "nullable": st.column_config.CheckboxColumn("May be missing"),
        "other": st.column_config.TextColumn(
            "Unknown values become", help="One of the levels; missing or the first level if empty"
        ),
        "description": st.column_config.TextColumn("Meaning", width="large"),
    }
    frame = pd.DataFrame(rows, columns=list(config))
    frame["decimals"] = frame["decimals"].astype("Int64")
    edited = st.data_editor(
        frame, column_config=config, num_rows="dynamic", hide_index=True, width="stretch",
        key=f"columns_grid_{revision}",
    )  # fmt: skip
    found = edited.astype(object).where(edited.notna(), None)
    return [dict(row) for row in found.to_dict("records")]


def _applied(rows: list[dict[str, Any]]) -> bool:
    state = project()
    try:
        return state.schema is not None and form.from_rows(rows) == state.schema.columns
    except Exception as error:  # a half-typed row is no mistake yet
        if not isinstance(error, form.SchemaError):
            raise
        return False


def _apply(rows: list[dict[str, Any]]) -> None:
    state = project()
    with mistakes():
        old = state.schema
        schema = Schema(
            columns=form.from_rows(rows),
            provenance=_provenance(old),
            one_row_per_person=bool(old and old.one_row_per_person),
            person_id=old.person_id if old else None,
            persons=old.persons if old else None,
            prior=old.prior if old else None,
        )
        assert state.raw is not None
        absent = [name for name in schema.names if name not in state.raw.header]
        if absent:
            raise form.SchemaError(
                f"The table has no column {', '.join(map(repr, absent[:5]))}. Correct the name "
                "or remove the row.",
                field="columns",
            )
        state.use_schema(schema)
        st.rerun()


def _provenance(old: Schema | None) -> Provenance:
    """A change made after seeing counts of private rows is taken to come from them."""
    if project().checked and not st.session_state.get("apply_codebook", False):
        return "private rows"
    drafted: Provenance | None = st.session_state.get("form_provenance")
    return drafted or (old.provenance if old else "declared")
