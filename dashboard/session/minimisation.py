"""Data minimisation: columns that a plan does not need leave the declaration, and come back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from prism_core.data.schema import column_form
from prism_core.explain.column_use import column_uses, named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dashboard.session.project import Project
    from prism_core.data.schema.column import Column


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
