"""Columns that are not needed: named, and left out with one click."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common.widgets import mistakes
from dashboard.session.shelf import project
from prism_core.data.schema import column_form
from prism_core.explain.column_use import column_uses, named
from prism_core.text.markdown import plain
from prism_core.text.numbers import count_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dashboard.session.project import Project
    from prism_core.data.schema.column import Column

_NAMED = 30


def section() -> None:
    """What the plan does not need, and what was left out before."""
    # Without a plan nobody knows what is needed; what was left out can be brought back all the
    # same.
    with mistakes():
        _offer(not_needed(project()))
    _left_out()


def _offer(names: tuple[str, ...]) -> None:
    state = project()
    target = plain(state.settled_task().target_text)
    if not names:
        used = "is used" if state.plan().s_is_final else "may still be chosen by the run"
        st.caption(f"Every column {used} to predict {target}.")
        return
    are = "column is" if len(names) == 1 else "columns are"
    st.markdown(
        f"**{len(names):,} {are} not needed** to predict {target}: {plain(_listed(names))}."
    )
    st.caption(
        f"They would be published all the same, and their link to {target} is not preserved. "
        "Leave out each that no recipient needs: what is not published needs no protection."
    )
    left, right = st.columns([2, 1], vertical_alignment="bottom", gap="large")
    kept = left.multiselect(
        "Keep these nevertheless",
        names,
        # Streamlit keeps what was chosen by the key: with fewer names left, some of it is no choice
        # any more.
        key=f"keep_columns_{len(names)}",
        placeholder="None",
    )
    going = [name for name in names if name not in kept]
    if right.button(
        f"Leave out {count_text(len(going), 'column')}",
        icon=":material/filter_alt:",
        key="leave_out_columns",
        disabled=not going,
        width="stretch",
        help="They leave the declaration, on the page Data, too. In the graph they stay as "
        "unmeasured where they have an edge. You can bring them back.",
    ):
        leave_out(state, going)
        st.rerun()


def _left_out() -> None:
    state = project()
    schema = state.data.schema
    gone = [name for name in state.data.left_out if schema is not None and name not in schema]
    if not gone:
        return
    text, button = st.columns([2, 1], vertical_alignment="center", gap="large")
    text.success(
        f"**Left out:** {plain(_listed(gone))}. They will not be published.",
        icon=":material/filter_alt_off:",
    )
    if button.button(
        "Bring them back", key="bring_columns_back", icon=":material/undo:", width="stretch"
    ):
        with mistakes():
            bring_back(state)
            st.rerun()


def _listed(names: list[str] | tuple[str, ...]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def not_needed(state: Project) -> tuple[str, ...]:
    """Columns that would be published beside those that the plan needs. Reads no row.

    Raises:
        PrismError: when there is no plan yet.
    """
    plan = state.plan()
    # Before the run has chosen among them each may turn out to be needed.
    return tuple(named(column_uses(plan), "context")) if plan.s_is_final else ()


def leave_out(state: Project, names: Sequence[str]) -> None:
    """Take columns out of the declaration; those with an edge stay in the graph as unmeasured.

    Without them the graph would say that what they cause has nothing in common.

    Args:
        state: the project.
        names: of columns; the target is none of them.
    """
    schema, graph = state.data.schema, state.structure.graph
    assert schema is not None
    tied = {name for edge in graph.edges for name in edge}
    places = {name: (schema.index(name), schema[name]) for name in names}
    if graph.provenance == "declared":  # a learned graph says nothing about causes
        graph.unmeasured |= tied.intersection(names)
    _declare(state, [column for column in schema.columns if column.name not in places])
    state.data.left_out |= places


def bring_back(state: Project) -> None:
    """Declare the columns that were left out again, where they stood."""
    schema = state.data.schema
    assert schema is not None
    columns = list(schema.columns)
    # From the left, so that each stands right once those before it are back.
    for place, column in sorted(state.data.left_out.values(), key=lambda one: one[0]):
        if column.name not in schema:
            columns.insert(place, column)
    _declare(state, columns)
    state.data.left_out = {}


def _declare(state: Project, columns: Sequence[Column]) -> None:
    data, old = state.data, state.data.schema
    assert old is not None
    # What is on record of looks at the rows holds for this change as for any other.
    known, source = data.on_record(columns, data.form_provenance or old.provenance)
    state.use_schema(
        replace(
            old,
            columns=tuple(columns),
            looks=known,
            provenance=source,
            codebook=data.codebook_of(columns, source),
        )
    )
    data.show_form(column_form.to_rows(columns))
