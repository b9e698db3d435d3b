"""Access of a session: a stranger until it has shown the key, or in the hosted form has logged in.

Every page, and everything that hands out, starts, signs or opens, asks here. In the hosted form the
answer is the role of the identity; the key is of no use there.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import streamlit as st
from streamlit import runtime
from streamlit.components.v2 import component
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.key import identity, machine_key
from prism_core.errors import AccessError
from prism_core.hosting import audit_log, people
from prism_core.privacy.ledger import Ledger, default_workspace

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.components.v2.types import ComponentRenderer

    from prism_core.hosting.audit_log import Deed
    from prism_core.hosting.configuration import Role

_GIVEN = "access_given"
_SETTLED = "access_settled"
_WRONG = "access_wrong"


def granted(*roles: Role) -> bool:
    """Whether this session has shown the key, or in the hosted form is of somebody with a role.

    Outside of a served app there are no sessions, and so no strangers.

    Args:
        roles: one of which is enough; a curator's where none is named.
    """
    if get_script_run_ctx(suppress_warning=True) is None:
        # A thread of a served app belongs to no session, so nobody has shown a key there.
        return not runtime.exists()
    if identity.hosted():
        person = identity.logged_in()
        return person is not None and bool(person.roles & set(roles or ("curator",)))
    return st.session_state.get(_GIVEN) is True


def require(*roles: Role) -> None:
    """Stop a stranger.

    Args:
        roles: as for `granted`.

    Raises:
        AccessError: when this session has not shown the key; in the hosted form when nobody is
            logged in, the login has ended, or the person has none of the roles.
    """
    if granted(*roles):
        return
    if identity.hosted() and get_script_run_ctx(suppress_warning=True) is not None:
        identity.current()  # says whether nobody is logged in or the login has ended
        raise AccessError(
            f"This needs the role {' or '.join(roles or ('curator',))}. Ask who runs this server "
            "for it. Nothing was done.",
            field="role",
        )
    raise AccessError(
        "This needs the key. Open the address that stands in the terminal window where the "
        "app was started, or type its key on the page Data. Nothing was done.",
        field="key",
    )


def require_own_machine() -> None:
    """Stop who names a path or host of the server: in the hosted form it is not theirs to name.

    Raises:
        AccessError: in the hosted form, and as `require`.
    """
    require()
    if identity.hosted():
        raise AccessError(
            "On this server nobody types a path or a host. Choose a source by its name, or upload "
            "a file. Nothing was opened.",
            field="source",
        )


def names_places() -> bool:
    """Whether this session may name paths and hosts: with the key, and not in the hosted form."""
    return granted() and not identity.hosted()


def ledger(*roles: Role) -> Ledger:
    """The workspace's ledger; pages get it here and nowhere else. It names who charges.

    Args:
        roles: as for `granted`.

    Raises:
        AccessError: as `require`.
    """
    require(*roles)
    return Ledger(who=who())


def workspace(*roles: Role) -> Path:
    """The workspace's folder, for what is kept beside the ledger.

    Args:
        roles: as for `granted`.

    Raises:
        AccessError: as `require`.
    """
    require(*roles)
    return default_workspace()


def who() -> str:
    """Whom the ledger names as the one who charges; "" for the user of this machine.

    Raises:
        AccessError: in the hosted form, when nobody is logged in.
    """
    return identity.current().who if identity.hosted() else ""


def note(did: Deed, what: str, to: str = "") -> None:
    """Note a step in the audit log, before it is done; nothing in the laptop form.

    Args:
        did: what is done.
        what: the id of what it is done to.
        to: the hash of a plan.

    Raises:
        AccessError: when nobody is logged in.
        ConfigError: when the log cannot be written.
    """
    if identity.hosted():
        audit_log.note(default_workspace(), identity.current(), did, what, to)


def note_login() -> None:
    """Note in the audit log, once a login, who has logged in; nothing in the laptop form.

    Raises:
        ConfigError: when the log cannot be written.
    """
    person = identity.logged_in() if identity.hosted() else None
    if person is None:
        return
    # The time at which the provider said who it is: all tabs of one login share it.
    login = (str(default_workspace()), person.who, identity.claims().get("iat"))
    if login not in _noted():
        # First: a login that could not be noted is noted in the next run.
        people.seen(default_workspace(), person)
        _noted().add(login)


@st.cache_resource(show_spinner=False)
def _noted() -> set[tuple[object, ...]]:
    """Logins that this server has noted."""
    return set()


def offer(typed: str) -> bool:
    """Take what somebody typed; whether it is the key. The browser is told to keep it."""
    right = not identity.hosted() and machine_key.matches(typed)
    if right:
        st.session_state[_GIVEN] = True
        # Open again, so that `ask` hands the key to the browser for later tabs.
        st.session_state.pop(_SETTLED, None)
    return right


def wrong() -> bool:
    """Whether the address, or the browser's memory, held a key that is not this app's."""
    return bool(st.session_state.get(_WRONG))


def settled() -> bool:
    """Whether it is known who this session is; until then nothing is shown, see `ask`.

    In the hosted form the browser's cookie has said it already.
    """
    if identity.hosted():
        return True
    told = st.query_params.get(machine_key.PARAMETER, "")
    # Another key in the address than the one that was judged has to be judged anew.
    if st.session_state.get(_SETTLED) is None or told not in ("", st.session_state[_SETTLED]):
        return False
    if told:  # this side has not heard yet that the browser took it out
        del st.query_params[machine_key.PARAMETER]
    return True


def ask() -> None:
    """Find out who this session is, and begin the run again once that is known.

    The key comes with the address that the launcher opens, or from the browser, which keeps it for
    later tabs and reloads. The browser takes it out of the address bar before anything else is
    done: a screenshot or a shared address must not hold it.

    Call it after `st.navigation`: the browser answers for the page that it knows by then.
    """
    told = st.query_params.get(machine_key.PARAMETER, "")
    if machine_key.matches(told):
        st.session_state[_GIVEN] = True
    asked = "keep" if granted() else "who"
    # The key goes only to a browser that has shown it.
    keep = machine_key.current() if granted() else ""
    found = key_slot(asked, keep, machine_key.PARAMETER)
    if found is None:
        return
    if asked == "who" and machine_key.matches(found):
        st.session_state[_GIVEN] = True
    # Only where there was one: a browser that never had a key is not told that it is wrong.
    st.session_state[_WRONG] = not granted() and bool(told or found)
    st.session_state[_SETTLED] = told
    st.rerun()


_KEY = "access_slot"

# Inside the frame of another page nothing is read or kept: a click there is not meant for us.
_JS = """
const NAME = "prism-studio-key";

export default function keySlot({ data, setStateValue }) {
  const address = new URL(window.location.href);
  if (address.searchParams.has(data.parameter)) {
    address.searchParams.delete(data.parameter);
    window.history.replaceState(window.history.state, "", address);
  }
  let found = "";
  if (window.top === window) {
    try {
      if (data.keep) window.localStorage.setItem(NAME, data.keep);
      found = window.localStorage.getItem(NAME) ?? "";
    } catch {
      // Storage is off in this browser: the key is asked for in every tab.
    }
  }
  setStateValue("said", { asked: data.asked, found });
}
"""


def key_slot(asked: str, keep: str, parameter: str) -> str | None:
    """Ask the browser for the key it keeps, and hand it one to keep.

    Args:
        asked: names the question; an answer to another one is none.
        keep: the key, "" where the browser is only asked.
        parameter: of the address; taken out of the address bar.

    Returns:
        What it keeps, "" for nothing; None while it has not answered. Anybody can answer
        anything: compare it with the key.
    """
    result = _component()(
        key=_KEY, data={"asked": asked, "keep": keep, "parameter": parameter}, on_said_change=_heard
    )
    said = result.get("said")
    if not isinstance(said, dict) or said.get("asked") != asked:
        return None
    found = said.get("found")
    return found if isinstance(found, str) else ""


def _heard() -> None:
    """Streamlit keeps only those states that have a callback."""


@cache
def _component() -> ComponentRenderer:
    return component("studio_key_slot", js=_JS)
