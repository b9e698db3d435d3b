"""Sources that are offered to this session's person, and what a project of one is bound to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard.key import access, identity
from prism_core.hosting import sources

if TYPE_CHECKING:
    from dashboard.session.project import Project
    from prism_core.hosting.sources import Source


def offered() -> tuple[Source, ...]:
    """The sources that this person may choose; none in the laptop form.

    Raises:
        AccessError: when nobody is logged in, or the person is no curator.
        ConfigError: when the administrator's file is not usable.
    """
    access.require()
    hosting = identity.hosting()
    return () if hosting is None else sources.offered(hosting.sources, identity.current())


def chosen(name: str) -> Source:
    """The source of a name.

    Raises:
        AccessError: when it is not offered to this person.
        ConfigError: when the administrator's file is not usable.
    """
    access.require()
    hosting = identity.hosting()
    return sources.chosen(None if hosting is None else hosting.sources, name, identity.current())


def bind(state: Project, source: Source | None) -> Project:
    """Say where a project's rows come from: of a source, its asset and no other is charged."""
    state.data.from_source = "" if source is None else source.name
    if source is not None:
        state.account.asset, state.account.lifetime = source.asset, source.lifetime_epsilon
    return state


def bound(state: Project) -> bool:
    """Whether its asset is a source's, and not for the curator to name."""
    # Without a hosting file there is no source that could name the asset.
    return bool(state.data.from_source) and not state.data.public and identity.hosted()


def hold(state: Project) -> None:
    """Charge a project of a source to the source's asset, whatever stands in it.

    Raises:
        AccessError: when the source is no longer offered to this person.
        ConfigError: when the administrator's file is not usable.
    """
    if bound(state):
        bind(state, chosen(state.data.from_source))
