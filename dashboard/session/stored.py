"""Stored projects: what is entered is kept on disk as it changes, and opened again by its id.

No row is stored. In the hosted form a project belongs to its owner and is open to whom it is shared
with. In the laptop form there is one user.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from dashboard.key import access, identity
from dashboard.session import offered_sources
from dashboard.session.project_files import from_file, to_file, with_sample
from prism_core.errors import AccessError, PrismError
from prism_core.hosting.project_store import ProjectRecord, ProjectStore

if TYPE_CHECKING:
    from dashboard.session.project import Project


def store() -> ProjectStore:
    """The projects of this session's person.

    Raises:
        AccessError: without the key or the login.
    """
    return ProjectStore(access.workspace(), identity.current())


def keep(state: Project) -> None:
    """Store what is entered, where it is another than what is stored.

    What cannot be stored for a mistake in it is said on the page until it can; what was stored
    before stays meanwhile.
    """
    try:
        file, left = to_file(state)
        # Asked at the end of every run of a page; the disk is written for a change alone.
        wanted = (file, state.data.from_source)
        if wanted != state.kept:
            store().save(state.key, file, source=state.data.from_source)
            state.kept = wanted
        state.unsaved = f"design {', '.join(left)} has a mistake in it" if left else ""
    except PrismError as error:
        state.unsaved = str(error)


def is_kept(state: Project) -> bool:
    """Whether something of it is stored."""
    return state.kept is not None


def allowed(state: Project) -> bool:
    """Whether this session's person may work in a project that is in memory."""
    if not identity.hosted():
        return True
    person = identity.current()
    record = store().record(state.key)
    if record is None:
        # Nothing is stored yet, so no record can say whose it is; the session that made it can.
        mine = state.owner in ("", person.subject)
    else:
        mine = record.role_of(person.subject) in ("owner", "editor")
    return mine and (not _has_rows(state) or _is_offered(state))


def _has_rows(state: Project) -> bool:
    """Whether rows, or what was computed from them, can be seen in it."""
    data = state.data
    return (
        data.raw is not None
        or data.test is not None
        or state.release.finished is not None
        or state.release.put_away is not None
    )


def _is_offered(state: Project) -> bool:
    """Whether its rows come from no source, or from one that this person may choose.

    To share a project shares its design; who may see a source's rows is for the administrator.
    """
    if not offered_sources.bound(state):
        return True
    try:
        offered_sources.chosen(state.data.from_source)
    except AccessError:
        return False
    except PrismError:  # the administrator's file cannot be read just now
        return state.owner == identity.current().subject
    return True


def restored(id: str) -> Project | None:
    """The project of an id, waiting for its table; for a reader a copy of it. None without one.

    Raises:
        AccessError: when it is somebody else's.
        PrismError: when it cannot be read.
    """
    record = store().opened(id)
    if record is None:
        return None
    file = store().load(id)
    access.note("project opened", id)
    state = with_sample(from_file(file), file.sample)
    state.data.from_source = record.source
    if record.role_of(identity.current().subject) == "reader":
        state.owner = identity.current().subject
        # Cut, because a stored name ends at 200 characters, and would lose the mark of a copy.
        state.data.name = f"{state.data.name[:190]} (copy)"
        return state
    state.key, state.owner = id, record.owner
    with suppress(PrismError):  # it is stored again at the next change
        state.kept = (to_file(state)[0], record.source)
    return state


def records() -> tuple[ProjectRecord, ...]:
    """The projects that this session's person may open, the last changed first."""
    return store().records()
