"""Shelf of projects: the session's own, found again by its address after a reload.

Those looked at last are in memory with their rows; what was entered in all of them is on disk.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.key import access, identity
from dashboard.session import memory, stored
from dashboard.session.data_entries import DataEntries
from dashboard.session.designs import from_values
from dashboard.session.graph import StructureEntries
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries, ReleaseEntries
from prism_core.data.schema import column_form
from prism_core.data.schema.looks import merged
from prism_core.errors import AccessError, ConfigError, PrismError, SchemaError

if TYPE_CHECKING:
    from pathlib import Path

_KEY = "project"
_OPEN_TO_ALL = "sample project"  # of a session without the key; under no address
_UNREADABLE = "run of another version"
_REFUSED = "project that is not opened"
_OPENED = "projects opened"
_SHELF, _HOSTED = 4, 64  # projects kept in memory for a reload; of one user, and of a house


def entry_key(base: str) -> str:
    """Key of a widget that shows an entry of the project; another one once another is open.

    A page that opens a project in place of another goes on with the widgets of the old one. Under
    the same key they would show what was entered there, and it would count as entered here.

    Args:
        base: the key for the session's first project.
    """
    count = st.session_state.get(_OPENED, 0)
    return f"{base} of {count}" if count else base


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
        # A copy: the entries are changed in place, and would always equal themselves.
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
    while len(shelf) > (_HOSTED if identity.hosted() else _SHELF):
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
        st.session_state[_KEY] = _addressed(key) or _mine(sample or Project())
    return st.session_state[_KEY]


def _mine(state: Project) -> Project:
    """A project that nobody has stored yet, as this session's person's."""
    state.owner = identity.current().subject
    return state


def _addressed(key: str) -> Project | None:
    """The project of an address, None where there is none or it is not this person's."""
    try:
        return _found(key)
    except PrismError as error:
        st.session_state[_REFUSED] = str(error)
        return None


def _found(key: str) -> Project | None:
    """The project of an id, None where there is none.

    Raises:
        AccessError: when it is somebody else's.
        PrismError: when it cannot be read.
    """
    # Memory comes first: it holds the rows, which are never on disk.
    here = _shelf().get(key)
    if here is not None and stored.allowed(here):
        access.note("project opened", key)
        return here
    found = stored.restored(key) if key else None
    if found is None and here is not None:
        access.note("refused", key, "project of another")
        raise AccessError(
            "This project belongs to somebody else. Nothing was opened.", field="project"
        )
    if found is None:
        # Without a record nobody could say whose the run is.
        return None if identity.hosted() else _resumed(key)
    # A reader gets a copy with a key of its own; the run stays with the owner's project.
    if found.key == key:
        _attach_run(found)
    return found


def refusal() -> str:
    """Why the project of the address is not opened, once; "" where it is."""
    return st.session_state.pop(_REFUSED, "")


def open_stored(id: str) -> None:
    """Open a project of the list in this session.

    Raises:
        AccessError: when it is somebody else's.
        PrismError: when it is gone, or cannot be read.
    """
    access.require()
    found = _found(id)
    if found is None:
        raise ConfigError("This project is gone. Reload the page.", field="project")
    st.session_state[_KEY] = found


def forget_stored(id: str) -> None:
    """Delete what is stored of a project, and let go of it.

    Raises:
        AccessError: when it is somebody else's.
    """
    stored.store().delete(id)
    _shelf().pop(id, None)
    # What is open here would be stored again with its next change.
    if project().key == id:
        st.session_state[_KEY] = _mine(Project())


def address_of(state: Project) -> str:
    """The address that opens a project: in the hosted form in full, as the app may have a path."""
    hosting = identity.hosting()
    return f"{'' if hosting is None else hosting.address}/?{_KEY}={state.key}"


def _attach_run(state: Project) -> None:
    """The last run of a project that was stored, where it is of these columns."""
    from dashboard.jobs import folders, worker

    found = worker.find(state.key)
    if found is None:
        last = folders.newest(state.key)
        if last is not None:
            st.session_state[_UNREADABLE] = last
        return
    schema = state.data.schema
    if schema is not None and found.job.plan.schema.names == schema.names:
        # The run knows whether its rows were public; a stored project opens as private.
        state.release.job, state.data.public = found.job, found.public


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
    # `find` designs the plan anew, which takes too long for every run of a page. So it is asked
    # only where a run lives.
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
    if stored.is_kept(project()):
        # It stays in the list under its own id; of its rows nothing is kept.
        _shelf().pop(project().key, None)
    else:
        # So that it stands under the address that the tab shows already.
        new.key = project().key
    _mine(new)
    _inherit(new)
    # A story may be running: it belongs to the session and not to the project.
    new.gallery = project().gallery
    new.opened = sample_marks(new)
    st.session_state[_OPENED] = st.session_state.get(_OPENED, 0) + 1
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
    _keep(_mine(new))
    _shelve(new)
    # Last, so that it is in front, or back again where the new one took its place.
    _shelve(project())


def remember() -> None:
    """Keep the project findable by the address, and what is entered in it on disk.

    A session without the key keeps none: it would push others off the shelf.
    """
    if not access.granted():
        return
    if not stored.allowed(project()):  # it was shared, and no longer is
        st.session_state[_KEY] = _mine(Project())
    state = project()
    _shelve(state)
    # Streamlit sends every setting to the browser, also of what stands there already.
    if st.query_params.get(_KEY) != state.key:
        st.query_params[_KEY] = state.key
    _keep(state)


def keep_entries() -> None:
    """Store what this run of the page changed; asks nobody for anything and shows nothing."""
    if access.granted() and _KEY in st.session_state:
        _keep(project())


def _keep(state: Project) -> None:
    """Store a project with something of its own; an empty page or an untouched sample has none."""
    if stored.is_kept(state) or unsaved_parts(state) or state.data.awaits_table:
        stored.keep(state)
