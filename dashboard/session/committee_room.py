"""The committee's room as this session's person may use it; in the laptop form there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard.key import access, identity
from dashboard.session.project_files import to_file
from prism_core.errors import PrismError
from prism_core.hosting.committee import Committee
from prism_core.hosting.configuration import ROLES

if TYPE_CHECKING:
    from dashboard.session.project import Project
    from prism_core.bundle.protocol.protocol import Protocol
    from prism_core.hosting.submission import SubmittedProtocol


def committee() -> Committee:
    """The committee's protocols, as far as this person's roles go.

    Raises:
        AccessError: when nobody is logged in, or the person has no role.
    """
    hosting = identity.hosting()
    assert hosting is not None, "a session of the laptop form has no committee"
    return Committee(access.workspace(*ROLES), identity.current(), hosting)


def submit(state: Project, protocol: Protocol) -> SubmittedProtocol:
    """Put the protocol of a project before the committee, with what is entered in the project.

    Raises:
        PrismError: when it is not usable, or is no project of this person's.
    """
    access.require()
    return committee().submit(protocol, state.key, to_file(state)[0])


def submitted(state: Project) -> tuple[SubmittedProtocol, ...]:
    """The protocols of a project, the newest first."""
    return committee().of_project(state.key)


def take_approval(state: Project) -> str:
    """Let the release have the committee's newest approval, and no other.

    An approval that came with a project's file counts for nothing here.

    Returns:
        Why an approval does not count, "" where it does or there is none.
    """
    state.release.approved = None
    room = committee()
    for found in room.of_project(state.key):
        if found.state != "approved":
            continue
        try:
            state.release.approved = room.approval(found)
        except PrismError as error:
            return str(error)
        return ""
    return ""
