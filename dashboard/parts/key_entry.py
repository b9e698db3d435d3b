"""The key of whoever started the app, asked for once a session."""

from __future__ import annotations

import streamlit as st

from dashboard import machine_key

_GIVEN = "machine_key_given"


def given(key: str, instead: str = "upload a file") -> bool:
    """Whether this session belongs to whoever started the app; asks for the key if not.

    Others on this machine can open the app as well, and it reads and writes with its starter's
    rights.

    Args:
        key: of the entry.
        instead: what can be done without the key.
    """
    if not machine_key.known():
        st.info(
            "Off, because the app was not started by the command `prism-dashboard`: that command "
            "shows a key in its terminal which tells you from others on this machine. Start the "
            f"app with it, or {instead}.",
            icon=":material/lock:",
        )
        return False
    if st.session_state.get(_GIVEN):
        return True
    typed = st.text_input(
        "Key shown in the terminal", type="password", key=key,
        help="The app opens files with the rights of whoever started it, so it asks once a "
        "session that it is you.",
    )  # fmt: skip
    if machine_key.matches(typed):
        st.session_state[_GIVEN] = True
        st.rerun()
    if typed:
        st.error("This is not the key shown in the terminal.", icon=":material/error:")
    return False
