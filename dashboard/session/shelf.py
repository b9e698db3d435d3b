"""Shelf of projects: the session's own, found again by its address after a reload."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.key import access
from dashboard.session import memory
from dashboard.session.data_entries import DataEntries
from dashboard.session.designs import from_values
from dashboard.session.graph import StructureEntries
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries, ReleaseEntries
from prism_core.data.schema import column_form
from prism_core.data.schema.looks import merged
from prism_core.errors import SchemaError

if TYPE_CHECKING:
    from pathlib import Path

_KEY = "project"
_OPEN_TO_ALL = "sample project"  # of a session without the key; under no address
_UNREADABLE = "run of another version"
_SHELF = 4  # projects kept in memory for a reload


def unsaved_parts(state: Project) -> tuple[str, ...]:
    """Parts in words, for a sentence; empty where nothing would be lost. Reads no row."""
    parts = []
    if state.data.sample is None and (state.data.raw is not None or state.data.schema is not None):
        parts.append("the table and everything declared, drawn and planned for it")
    elif _changed(state):
        parts.append("what you changed in it")
    if state.release.job is not None and state.release.folder is None and state.release.job.alive:
        parts.append("the view of the run under way")
    elif (
        state.release.job is not None
        or state.release.folder is not None
        or state.release.finished is not None
    ):
        parts.append("the run that it shows")
    return tuple(parts)


def sample_marks(state: Project) -> tuple[object, ...]:
    """What the user may change in an opened sample, to be compared later."""
    return (
        state.data.schema,
        state.structure.target,
        state.structure.graph.edges,
        state.designs.plan.copy(),
        state.data.holdout_share,
        state.designs.beta,
        state.designs.p_min,
        len(state.designs.others),
        len(state.designs.saved),
    )


def _changed(state: Project) -> bool:
    """Whether a sample is no longer as it was opened."""
    if state.opened is not None and sample_marks(state) != state.opened:
        return True
    if state.data.schema is None or state.data.form_edited is None:
        return False
    try:
        return not column_form.same(state.data.form_edited, state.data.schema.columns)
    except SchemaError:  # a row is half typed
        return True


@st.cache_resource
def _shelf() -> OrderedDict[str, Project]:
    """Projects by a key nobody can guess, so that reloading the page finds them again."""
    return OrderedDict()


def _shelve(state: Project) -> None:
    """Put a project in front; of too many, those that hold nothing of their own go first."""
    memory.register(state)
    shelf = _shelf()
    shelf[state.key] = state
    shelf.move_to_end(state.key)
    while len(shelf) > _SHELF:
        others = [key for key in shelf if key != state.key]
        del shelf[next((key for key in others if not unsaved_parts(shelf[key])), others[0])]


def project() -> Project:
    """The session's project; after a reload the one that the address names.

    Without the key it is one of this session alone: no address leads to it or from it.
    """
    if not access.granted():
        return st.session_state.setdefault(_OPEN_TO_ALL, Project())
    if _KEY not in st.session_state:
        key = st.query_params.get(_KEY, "")
        sample = st.session_state.pop(_OPEN_TO_ALL, None)  # looked at before the key was shown
        st.session_state[_KEY] = _shelf().get(key) or _resumed(key) or sample or Project()
    return st.session_state[_KEY]


def _resumed(key: str) -> Project | None:
    """What the workspace knows of a project that this process does not: its last run."""
    from dashboard.jobs import folders, worker

    found = worker.find(key)
    if found is None:
        last = folders.newest(key)
        if last is not None:
            st.session_state[_UNREADABLE] = last
        return None
    plan, asset = found.job.plan, found.asset
    state = Project(
        key=key,
        data=DataEntries(
            name=found.name, public=found.public, schema=plan.schema, looks=plan.schema.looks
        ),
        account=AccountEntries(
            seed=found.seed,
            asset="" if asset is None else asset.name,
            why="" if asset is None else asset.why,
        ),
        structure=StructureEntries(target=plan.task.target),
        release=ReleaseEntries(job=found.job),
    )
    if asset is not None:
        state.account.lifetime = asset.lifetime_epsilon
    if plan.dag is not None:
        state.structure.graph.load(plan.dag)
    state.designs.plan.take(from_values(plan.task, plan.budget, plan.synthesis))
    return state


def unreadable_run() -> Path | None:
    """Folder of the last run of the project in the address, where this version cannot show it."""
    return st.session_state.get(_UNREADABLE)


def resume() -> None:
    """Show a run of this project that is under way, wherever it was started."""
    from dashboard.jobs import folders, worker

    state = project()
    if not access.granted():
        return
    last = None if state.release.job is not None else folders.newest(state.key)
    found = worker.find(state.key) if last is not None and folders.alive(last) else None
    if found is not None:
        state.release.job = found.job


def _inherit(new: Project) -> None:
    """What this session knows of tables goes along: those that are private, and looks at them."""
    old, data = project().data, new.data
    data.public_marks |= old.public_marks
    data.private_marks = (data.private_marks | old.private_marks) - data.public_marks
    data.looked = {**old.looked, **data.looked}
    data.looks = merged(data.looks, data.looked.get(data.table_key, ()))


def replace_project(new: Project) -> None:
    """Start over with another project.

    Raises:
        AccessError: without the key, for anything but a packaged sample.
    """
    if new.data.sample is None or not new.data.public:
        access.require()
    # So that it stands under the address that the tab shows already.
    new.key = project().key
    _inherit(new)
    new.gallery = project().gallery
    new.opened = sample_marks(new)
    st.session_state[_KEY if access.granted() else _OPEN_TO_ALL] = new
    if access.granted():
        _shelve(new)  # in place of the old one, whose rows nothing leads to any more


def beside(new: Project) -> None:
    """Make another project findable by its address, and leave the one that is open as it is.

    Raises:
        AccessError: without the key.
    """
    access.require()
    _inherit(new)
    new.opened = new.opened or sample_marks(new)
    _shelve(new)
    _shelve(project())


def remember() -> None:
    """Keep the project findable by the address; the last few, in this process only.

    A session without the key keeps none: it would push others off the shelf.
    """
    if not access.granted():
        return
    state = project()
    _shelve(state)
    if st.query_params.get(_KEY) != state.key:
        st.query_params[_KEY] = state.key
