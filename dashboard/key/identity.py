"""The current identity: of the login in the hosted form, of whoever started the app in the other.

The hosted form is on where a hosting file is named (`prism_core.hosting.configuration`). Streamlit
does the login with the provider and keeps its claims in a signed cookie; what they say is read here
in every run, so a login that has ended or a role that was taken away ends in the next run.
"""

from __future__ import annotations

import getpass
import time
from typing import Any

import streamlit as st

from prism_core.errors import AccessError
from prism_core.hosting import configuration
from prism_core.hosting.configuration import ROLES, Hosting
from prism_core.hosting.identity import Identity, identified


def hosting() -> Hosting | None:
    """The hosting file in force; None in the laptop form.

    Raises:
        ConfigError: when it is named and not usable.
    """
    return configuration.current()


def hosted() -> bool:
    """Whether people log in, and none of them is the one who started the app.

    Raises:
        ConfigError: as `hosting`.
    """
    return hosting() is not None


def current() -> Identity:
    """Who is at this session's screen. In the laptop form that is one user with all roles.

    Raises:
        AccessError: in the hosted form, when nobody is logged in or the login has ended.
        ConfigError: as `hosting`.
    """
    found = hosting()
    # Asked in every run and never kept: a login ends, and a role is taken away, while a tab is
    # open.
    return own() if found is None else identified(claims(), found, time.time())


def logged_in() -> Identity | None:
    """As `current`, and None where nobody is."""
    try:
        return current()
    except AccessError:
        return None


def own() -> Identity:
    """Whoever started the app on their own machine."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # some containers have no name for the user
        name = "unknown"
    return Identity(subject=name, name=name, roles=frozenset(ROLES))


def claims() -> dict[str, Any]:
    """What the provider says of this session's person; nothing where nobody has logged in."""
    return dict(st.user.to_dict())
