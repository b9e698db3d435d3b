"""Form of columns: its grid, what is proposed for it, and putting it in use."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.common.widgets import mistakes
from dashboard.data import codebook_bounds, columns_grid, groups_panel, tabs
from dashboard.data.declaration_sources import check_header, sources
from dashboard.session.shelf import entry_key, project
from prism_core.data.codebooks import table_schema_text
from prism_core.data.draft import propose_bins, propose_decimals
from prism_core.data.schema import column_form, level_lines, schema_file
from prism_core.data.schema.column_rules import KINDS
from prism_core.data.schema.looks import LONGEST, sentences
from prism_core.data.schema.schema import Provenance, Schema
from prism_core.errors import PrismError, SchemaError
from prism_core.learning.domain.outline_io import dumps_outline
from prism_core.text.markdown import plain


def section() -> None:
    """The first tab of the page Data."""
    data = project().data
    # The rows were let go: what is typed stays on screen, the last cell too.
    if data.raw is None and not data.awaits_table:
        columns_grid.grid()
        st.caption("It can be put in use once the rows are back.")
        return
    if data.schema is None and data.form is None:
        st.markdown(
            "Declare the *domain*: what every column **may** hold, from the codebook, not from the "
            "rows. The declaration will be public."
        )
    begun = data.schema is not None or data.form is not None
    with st.expander("Where the declaration comes from", expanded=not begun):
        sources()
    _form()


def _form() -> None:
    data = project().data
    # A sample comes with its schema, and the form is filled when it is first looked at.
    if data.form is None and data.schema is not None:
        data.show_form(column_form.to_rows(data.schema.columns))
    if data.form is None:
        return
    left = st.session_state.get("form_left_out", ())
    if left:
        st.info(
            "Left out, because they hold too many different values to be levels: "
            f"{plain(', '.join(left))}. They will not be synthesised.",
            icon=":material/info:",
        )
    edited = columns_grid.grid()
    complete = columns_grid.mistakes_section(edited)
    _to_propose(edited)
    _proposed(edited)
    codebook_bounds.notice(edited)
    _single_level(edited)
    _booleans(edited)
    _unkinded(edited)
    groups_panel.section(edited)
    if data.checked:
        _source()
    _buttons(edited, complete=complete)


def _source() -> None:
    """Her own statement on where changes come from, once she has seen counts of the rows."""
    data = project().data
    # With a schema in use the page says it below, see `provenance_notice`.
    for sentence in sentences(data.told) if data.schema is None else ():
        st.caption(f":material/visibility: {plain(sentence)}")
    key = entry_key(f"apply_source_{data.checks}")  # each check asks anew
    st.text_input(
        "I state that what I declare from here on is written in this source (document, version, "
        "page)",
        value=data.source,
        key=key,
        placeholder="for example: codebook 3.2, page 14",
        on_change=_keep_source,
        args=(key,),
        help="The private rows were looked at. While this is empty, what you change is "
        "taken to come from them, and the provenance becomes *private rows*, as every report says. "
        "The committee may ask to see the page. After another look it is asked anew; what was "
        "stated for earlier changes stays on record.",
    )
    if data.source:
        st.caption(
            f"Your statement, recorded with each change that you apply and written into the "
            f"schema: declared from {plain(data.source)}, not from what was seen of the rows."
        )
    else:
        st.caption(":orange[No source is named: changes make the provenance *private rows*.]")


def _keep_source(key: str) -> None:
    text = " ".join(str(st.session_state[key]).split())
    project().data.source = text[:LONGEST].strip() if len(text) > 3 and text.isprintable() else ""


def _no_kind(rows: list[dict[str, Any]]) -> list[str]:
    return [str(row["name"]) for row in rows if row.get("name") and not row.get("kind")]


def _unkinded(rows: list[dict[str, Any]]) -> None:
    """All rows without a kind at once, and the way out for the column that is an ID."""
    names, state = _no_kind(rows), project()
    # One column names the person; where it is declared the question is answered.
    if not names or state.data.people.person_id is not None:
        return
    left, right = st.columns([2, 1.2], vertical_alignment="bottom")
    chosen = left.selectbox(
        "Does one of them name the person (an ID)?",
        names,
        index=None,
        key="form_person",
        placeholder="None of them",
    )
    right.button(
        "This names the person",
        key="form_names_person",
        disabled=chosen is None,
        on_click=_names_person,
        args=(chosen, rows),
        width="stretch",
        help="Takes its row out of the form and names it under People and rows.",
    )


def _names_person(name: str, rows: list[dict[str, Any]]) -> None:
    data = project().data
    data.show_form([row for row in rows if row["name"] != name])
    data.person_hint = name
    # Else the radio keeps what it showed before, instead of what was just said.
    for key in ("people_way", "people_column"):
        st.session_state.pop(entry_key(key), None)


def _download(rows: list[dict[str, Any]], *, applied: bool) -> tuple[str, str]:
    """The declaration as a file, and why there is none yet: a schema, or an outline to learn."""
    data = project().data
    if not data.anything_to_learn:
        # Only what is in use: a file of the schema beside a form that says something else would
        # mislead.
        return (schema_file.dumps(data.schema), "") if data.schema and applied else ("", "")
    missing = _no_kind(rows)
    if missing:
        return "", f"Without a kind: {', '.join(missing)}."
    try:
        return dumps_outline(data.outline(provenance())), ""
    except PrismError as error:
        return "", str(error)


def _buttons(edited: list[dict[str, Any]], *, complete: bool) -> None:
    data = project().data
    applied = _applied(edited)
    row = st.container(horizontal=True, vertical_alignment="center")
    if row.button(
        "Apply the columns",
        type="primary",
        # What is to be learned has no domain yet: the schema comes out of learning.
        disabled=applied or bool(data.to_learn),
        key="apply_columns",
    ):
        _apply(edited, complete=complete)
    row.markdown(_standing(applied=applied), width="stretch")
    text, why = _download(edited, applied=applied)
    row.download_button(
        "Download what is declared (YAML)"
        if data.anything_to_learn
        else "Download the schema (YAML)",
        text,
        "outline.yaml" if data.anything_to_learn else "schema.yaml",
        mime="application/yaml",
        icon=":material/download:",
        key="download_schema",
        disabled=not text,
        help="An outline, with what is to be learned: `prism learn-domain` and this page read it. "
        "Nothing is spent."
        if data.anything_to_learn
        else None,
    )
    if applied and data.schema is not None:
        with row:
            _table_schema_download(data.schema)
    if why:
        st.caption(f"Before it can be downloaded: {plain(why)}")


def _standing(*, applied: bool) -> str:
    """Whether what the form says is in use."""
    data = project().data
    if data.to_learn:
        return (
            f":orange[:material/school:] To be learned: {plain(', '.join(data.to_learn))}. See "
            "*Learn columns*."
        )
    if applied:
        return ":material/check_circle: These columns are in use."
    return ":orange[:material/pending:] Changes are not in use until you apply them."


def _applied(rows: list[dict[str, Any]]) -> bool:
    data = project().data
    try:
        return data.schema is not None and column_form.same(rows, data.schema.columns)
    except SchemaError:  # a half-typed row is no mistake yet
        return False


def _new_decimals(rows: list[dict[str, Any]]) -> dict[str, int]:
    """Decimals to propose where none are typed, by column.

    Each column is proposed some once, so that a cell she empties again stays empty; a column that
    is in use without decimals keeps none.
    """
    data = project().data
    columns = () if data.schema is None else data.schema.columns
    free = {column.name for column in columns if column.kind == "numeric"}
    free |= data.decimals_proposed.keys()
    return {name: found for name, found in propose_decimals(rows).items() if name not in free}


def _to_propose(rows: list[dict[str, Any]]) -> None:
    """Log bins that will be taken where no bins are typed."""
    found = propose_bins(rows)
    if found:
        named = ", ".join(f"{name} {bins}" for name, bins in found.items())
        st.caption(
            f":orange[:material/bar_chart: Bins proposed from the bounds: {plain(named)}.] They "
            "span four orders of magnitude or more, where equal bins would hold nearly everything "
            "in the first one. They are put in when you apply the columns; type others to decline."
        )


def _proposed(rows: list[dict[str, Any]]) -> None:
    """Which decimals nobody typed, for as long as they stand there."""
    kept = project().data.decimals_proposed
    found = [
        f"{r['name']} {r['decimals']}"
        for r in rows
        if r["decimals"] is not None and kept.get(r["name"]) == r["decimals"]
    ]
    if found:
        st.caption(
            ":orange[:material/decimal_increase: Decimals proposed from the bounds: "
            f"{plain(', '.join(found))}.] They say how the values that are made are written "
            "(0: whole numbers). Where it is otherwise, change them in the grid and apply again."
        )


def _single_level(rows: list[dict[str, Any]]) -> None:
    """Levels with commas between are one level: they would turn every cell into an outside one."""
    found = [
        str(row["name"])
        for row in rows
        if "," in (levels := str(row.get("levels") or ""))
        and level_lines.LEVEL_SEPARATOR not in levels
        and not levels.startswith('"')
    ]
    if found:
        st.warning(
            f"One level only: {plain(', '.join(found))}. Levels are separated by "
            f"{level_lines.LEVEL_SEPARATOR}, as in north{level_lines.LEVEL_SEPARATOR}south; a "
            "comma belongs to the level. If it is meant so, put the level in quotation marks.",
            icon=":material/splitscreen:",
        )


def _booleans(rows: list[dict[str, Any]]) -> None:
    """What comes out of a column that may hold yes and no, or 1 and 0."""
    found = [str(row["name"]) for row in rows if row.get("kind") == "boolean"]
    if found:
        st.caption(
            f"{len(found)} boolean column{'s' * (len(found) > 1)} will be written as true and "
            "false.",
            help=f"Whatever the file writes: {plain(', '.join(found))}. To keep its own words, "
            f"declare a column categorical, with the levels no{level_lines.LEVEL_SEPARATOR}yes.",
        )


def _apply(rows: list[dict[str, Any]], *, complete: bool) -> None:
    state = project()
    if not complete:
        missing = _no_kind(rows)
        kinds = (
            f" For {'each of ' if len(missing) > 1 else ''}{plain(', '.join(missing))}: choose its "
            f"kind ({', '.join(KINDS)}), or leave the column out. The one that names the person is "
            "left out here and named under *People and rows*."
            if missing
            else ""
        )
        st.error(
            f"The columns are not in use yet: every cell that needs something is named above."
            f"{kinds}",
            icon=":material/error:",
        )
        return
    with mistakes():
        old = state.data.schema
        column_form.from_rows(rows)  # what cannot be read is said before anything is proposed
        bins = propose_bins(rows)
        rows = [row | {"bins": bins.get(row["name"], row["bins"])} for row in rows]
        new = _new_decimals(rows)
        rows = [row | {"decimals": new.get(row["name"], row["decimals"])} for row in rows]
        columns = column_form.from_rows(rows)
        known, source = state.data.on_record(columns, provenance())
        schema = Schema(
            columns=columns,
            provenance=source,
            looks=known,
            codebook=state.data.codebook_of(columns, source),
            prior=old.prior if old else None,
            **vars(state.data.people),
        )
        # Before it is in use: everything after it takes the rows to have these columns.
        check_header(schema.header)
        state.use_schema(schema)
        state.data.decimals_proposed |= new
        # Only then, because other rows begin the grid anew.
        if new or bins:
            state.data.show_form(rows)
        tabs.go_on()
        st.rerun()


def provenance() -> Provenance:
    """A change made after seeing counts of private rows is taken to come from them."""
    data = project().data
    if data.checked and not data.source:
        return "private rows"
    return data.form_provenance or (data.schema.provenance if data.schema else "declared")


def _table_schema_download(schema: Schema) -> None:
    """The schema as Frictionless Table Schema, beside its own file."""
    st.download_button(
        "Download as Table Schema (JSON)",
        table_schema_text(schema),
        "schema.json",
        mime="application/json",
        icon=":material/download:",
        key="download_table_schema",
        help="Frictionless Table Schema, for other programs. This page reads it as a codebook, "
        "unless something of it came from rows: only the schema's own file keeps that.",
    )
