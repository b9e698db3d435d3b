"""Confirming what is spent: a confirmation holds for the amount that stood beside it, no other.

What is typed into another field arrives together with the click on a button, and another tab of the
same project may change it meanwhile. So a confirmation remembers what the page showed when it was
given, and is taken back as soon as anything of that is another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.state import project

if TYPE_CHECKING:
    from collections.abc import Callable

    from prism_core.privacy.ledger.charging import Owed


def subject(plan_hash: str, owed: Owed | None = None) -> str:
    """What is confirmed: the plan with its amount, the asset and its lifetime.

    Args:
        plan_hash: SHA-256 of the plan.
        owed: learning that is charged with it.
    """
    state = project()
    return repr((plan_hash, state.public, state.asset.strip(), state.lifetime, owed))


def typed_word(
    key: str, label: str, what: str, fits: Callable[[str], bool], *, disabled: bool = False,
    width: int | None = None,
) -> bool:  # fmt: skip
    """A text field; True while it holds the word, typed beside what is shown now.

    Args:
        key: of the field.
        label: of the field.
        what: from `subject`.
        fits: whether the text is the word.
        disabled: whether nothing can be typed yet.
        width: of the field; that of its place when None.
    """
    changed = _taken_back(key, what, "")
    typed = st.text_input(
        label, key=key, autocomplete="off", disabled=disabled, on_change=_give, args=(key,),
        width="stretch" if width is None else width,
    )  # fmt: skip
    return _holds(key, what, changed=changed) and fits(typed)


def ticked(key: str, label: str, what: str) -> bool:
    """A check box; True while it is ticked, beside what is shown now. See `typed_word`."""
    changed = _taken_back(key, what, False)
    agreed = st.checkbox(label, key=key, on_change=_give, args=(key,))
    return _holds(key, what, changed=changed) and agreed


def _shown(key: str) -> str:
    return f"{key} beside"


def _given(key: str) -> str:
    return f"{key} given for"


def _give(key: str) -> None:
    # Runs before the page is made anew: beside it still stood what was shown last.
    st.session_state[_given(key)] = st.session_state.get(_shown(key))


def _taken_back(key: str, what: str, empty: object) -> bool:
    if st.session_state.get(_given(key), what) == what:
        return False
    st.session_state[key] = empty
    del st.session_state[_given(key)]
    return True


def _holds(key: str, what: str, *, changed: bool) -> bool:
    st.session_state[_shown(key)] = what
    if changed:
        st.warning(
            "What you confirmed has changed since. Look at the amount and confirm it again.",
            icon=":material/restart_alt:",
        )
    return st.session_state.get(_given(key)) == what
