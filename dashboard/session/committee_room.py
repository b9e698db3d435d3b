"""The committee's room as this session's person may use it; in the laptop form there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard.key import access, identity
from dashboard.session.project_files import to_file
from prism_core.errors import PrismError
from prism_core.hosting.committee import Committee
from prism_core.hosting.configuration import ROLES
from prism_core.planning.approval import same_asset

if TYPE_CHECKING:
    from dashboard.session.project import Project
    from prism_core.bundle.protocol.protocol import Protocol
    from prism_core.hosting.submission import SubmittedProtocol
    from prism_core.planning.plan import Plan


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
    # With the entries, from which the committee's page plans the same again for its figures.
    return committee().submit(protocol, state.key, to_file(state)[0])


def submitted(state: Project) -> tuple[SubmittedProtocol, ...]:
    """The protocols of a project, the newest first."""
    return committee().of_project(state.key)


def take_approval(state: Project, plan: Plan) -> str:
    """Let the release have the committee's newest approval of its plan and asset, and no other.

    Where there is none it has the newest of another, so that the page says what changed. An
    approval that came with a project's file counts for nothing here.

    Args:
        state: the project.
        plan: what is entered now.

    Returns:
        Why an approval does not count, "" where it does or there is none.
    """
    # First: nothing that came with a file, or was decided for another plan, may be left over.
    state.release.approved = None
    room = committee()
    approved = [one for one in room.of_project(state.key) if one.state == "approved"]
    asked = [
        one
        for one in approved
        if one.plan_sha256 == plan.hash and same_asset(one.asset, state.account.asset)
    ]
    for found in (asked or approved)[:1]:
        try:
            state.release.approved = room.approval(found)
        except PrismError as error:
            return str(error)
    return ""
