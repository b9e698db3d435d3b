"""Shelf of projects: the session's own, found again by its address after a reload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.data.schema import column_form
from prism_core.errors import SchemaError

if TYPE_CHECKING:
    from dashboard.session.project import Project


def unsaved_parts(state: Project) -> tuple[str, ...]:
    """Parts in words, for a sentence; empty where nothing would be lost. Reads no row."""
    parts = []
    if state.sample is None and (state.raw is not None or state.schema is not None):
        parts.append("the table and everything declared, drawn and planned for it")
    elif _changed(state):
        parts.append("what you changed in it")
    if state.job is not None and state.folder is None and state.job.alive:
        parts.append("the view of the run under way")
    elif state.job is not None or state.folder is not None or state.finished is not None:
        parts.append("the run that it shows")
    return tuple(parts)


def sample_marks(state: Project) -> tuple[object, ...]:
    """What the user may change in an opened sample, to be compared later."""
    return (
        state.schema,
        state.target,
        state.graph.edges,
        state.copy(),
        state.holdout_share,
        state.beta,
        state.p_min,
        len(state.scenarios.others),
        len(state.scenarios.saved),
    )


def _changed(state: Project) -> bool:
    """Whether a sample is no longer as it was opened."""
    if state.opened is not None and sample_marks(state) != state.opened:
        return True
    if state.schema is None or state.form_edited is None:
        return False
    try:
        return not column_form.same(state.form_edited, state.schema.columns)
    except SchemaError:  # a row is half typed
        return True
