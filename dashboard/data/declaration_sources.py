"""Sources of the declaration: a codebook, a schema file, names, a public twin, or the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common import public_claim, uploads
from dashboard.common.widgets import mistakes
from dashboard.data import codebook_upload, tabs
from dashboard.data.columns_grid import typed_names
from dashboard.session.data_entries import People
from dashboard.session.shelf import entry_key, project
from prism_core.data.draft import draft_from_rows
from prism_core.data.schema import column_form, schema_file
from prism_core.data.schema.codebook_source import WITHOUT_CODEBOOK, CodebookReading
from prism_core.data.schema.looks import merged
from prism_core.data.tables.header import check_columns, check_names
from prism_core.data.tables.header import check_header as check_header_names
from prism_core.data.tables.raw_table import read_table
from prism_core.errors import SchemaError
from prism_core.learning.domain import outline_io as learning_form
from prism_core.learning.domain.outline_io import has_requests, loads_outline
from prism_core.runs.inputs import some_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.data.schema.schema import Provenance, Schema
    from prism_core.learning.domain.requests import Outline

_WAYS = {
    "codebook": "Upload a codebook (REDCap, SPSS, Stata, SAS, Frictionless, DDI, a dictionary)",
    "header": "Start from the column names and fill in the rest",
    "upload": "Upload a schema (YAML or JSON)",
    "twin": "Draft from a public file with the same layout",
    "rows": "Draft from your own file (it is read without protection)",
}


def sources() -> None:
    """The ways to a declaration; each puts a draft into the form, or a schema in use."""
    ways = dict(_WAYS)
    if project().data.awaits_table:
        del ways["rows"]
    if project().data.public:
        ways["rows"] = "Draft from this file (its rows are public)"
    way = st.radio(
        "Declare the columns by",
        list(ways),  # the first is what most people have
        format_func=lambda key: ways[key],
        key="schema_way",
    )
    if way == "codebook":
        codebook_upload.section(_take, _start_with, _take_file)
    elif way == "upload":
        _from_schema_file()
    elif way == "header":
        _from_header()
    elif way == "twin":
        _from_twin()
    else:
        _from_rows()


def _from_header() -> None:
    """The names of the open table; while there is none they are typed or pasted."""
    raw = project().data.raw
    typed = ""
    if raw is None:
        typed = st.text_area(
            "Names of the columns",
            key="draft_names",
            placeholder="age, sex, ward, readmitted",
            help="With commas, tabs or line ends between. A row of names copied from a spreadsheet "
            "can be pasted. Leave out the column that names the person.",
        )
    if st.button("Start with the column names", key="draft_header"):
        with mistakes():
            if raw is None:
                header = typed_names(str(typed))
                check_header_names(header, "what you typed")
            else:
                header = raw.header
                # Nothing has confirmed yet that the first line holds names: it may be somebody's
                # row.
                check_names(header, raw.name)
            _start(column_form.blank_rows(header), "declared")


def _from_schema_file() -> None:
    file = st.file_uploader(
        "Schema file",
        type=["yaml", "yml", "json"],
        key="upload_schema",
        max_upload_size=uploads.TEXT_MEGABYTES,
    )
    if file is not None and st.button("Use this schema", type="primary", key="use_schema"):
        _take_file(file.getvalue())


def _take_file(content: bytes) -> None:
    """Use a schema file, or put an outline into the form."""
    with mistakes():
        # replace: a byte that is no UTF-8 must not end the page with a traceback.
        text = content.decode("utf-8", errors="replace")
        if has_requests(text):
            _take_outline(loads_outline(text))
        else:
            _take(schema_file.loads(text))


def _from_twin() -> None:
    file = uploads.table("Public file with the same layout", "upload_twin")
    if file is None:
        return
    with mistakes():
        sheet = uploads.sheet(file, "upload_twin")
        if st.button("Draft from the public file", key="draft_twin"):
            raw = read_table(file, name=file.name, sheet=sheet)
            public_claim.check(raw)
            schema, left = draft_from_rows(raw, "public twin")
            # The draft is made, and needs no row any more.
            uploads.let_go(file, "upload_twin")
            _start(column_form.to_rows(schema.columns), "public twin", left)


def _from_rows() -> None:
    state = project()
    # Public rows are a twin of themselves: to look at them tells nothing.
    provenance: Provenance = "public twin" if state.data.public else "private rows"
    agreed = state.data.public or st.checkbox(
        "I understand: this reads the private rows without protection. The report will say so on "
        "every page.",
        key=entry_key("draft_rows_agreed"),
    )
    if st.button("Draft from the file", disabled=not agreed, key="draft_rows"):
        with mistakes():
            assert state.data.raw is not None
            # On record before a row is read.
            state.look("drafted from rows")
            schema, left = draft_from_rows(some_rows(state.data.raw), provenance)
            _start(column_form.to_rows(schema.columns), provenance, left)


def _start(
    rows: Sequence[column_form.FormRow],
    provenance: Provenance,
    left: Sequence[str] = (),
    outline: Outline | None = None,
    read: CodebookReading | None = None,
) -> None:
    """Put a draft into the form; it becomes the schema when it is applied."""
    data = project().data
    data.show_form(rows)
    data.form_provenance, data.read = provenance, read
    data.outlined = () if outline is None else outline.columns
    data.decimals_proposed, data.left_out = {}, {}
    # With a codebook they have just been put there, for this form.
    if read is None:
        data.bounds_suggested = {}
    st.session_state["form_left_out"] = tuple(left)
    st.rerun()


def _start_with(rows: Sequence[column_form.FormRow], read: CodebookReading) -> None:
    """Put the draft of a codebook into the form."""
    project().use_schema(None)
    _start(rows, "codebook", read=read)


def _take(schema: Schema) -> None:
    """Use an uploaded schema as it is."""
    state = project()
    check_header(schema.header)
    known, source = state.data.on_record(
        schema.columns, schema.provenance, schema.looks, whole=True
    )
    codebook = None if source in WITHOUT_CODEBOOK else schema.codebook
    schema = replace(schema, looks=known, provenance=source, codebook=codebook)
    state.use_schema(schema)
    state.data.left_out, state.data.bounds_suggested = {}, {}
    state.data.show_form(column_form.to_rows(schema.columns))
    state.data.form_provenance, state.data.read = schema.provenance, CodebookReading.of(schema)
    st.session_state["form_left_out"] = ()
    tabs.go_on()
    st.rerun()


def _take_outline(outline: Outline) -> None:
    """Put an uploaded outline into the form, its requests ticked; another tab learns it."""
    state = project()
    if outline.prior is not None:
        raise SchemaError(
            "A part of this schema was learned before, and the rest is to be learned still. Use "
            "`prism learn-domain` for it.",
            field="learned",
        )
    check_header(outline.header)
    known, provenance = state.data.on_record(
        outline.columns, outline.provenance, outline.looks, whole=True
    )
    state.data.looks = merged(state.data.looks, known)
    rows, details = learning_form.to_rows(outline)
    state.data.learning.details.update({name: dict(found) for name, found in details.items()})
    state.data.learning.rows = outline.learn_rows is not None
    if outline.learn_rows is not None:
        state.data.learning.most_rows = outline.learn_rows.most
    # First: else the people would be written into the schema that was in use.
    state.use_schema(None)
    state.declare_people(
        People(
            one_row_per_person=outline.one_row_per_person,
            person_id=outline.person_id,
            persons=outline.persons,
            max_rows=outline.max_rows,
            weighting=outline.weighting,
        )
    )
    # Before `_start`, which ends this run.
    tabs.go_on(tabs.LEARN)
    _start(rows, provenance, outline=outline)


def check_header(header: Sequence[str]) -> None:
    """Refuse names of columns that are not those of the open table, where there is one.

    Raises:
        SchemaError: when they are not.
    """
    raw = project().data.raw
    if raw is not None:  # without a table they are compared when it is loaded
        check_columns(header, raw.header, raw.name)
