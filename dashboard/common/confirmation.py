"""Confirmation of an amount: typed word, tick, and the tick above the workspace's maximum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.session.shelf import project
from prism_core.data.schema.looks import unchecked
from prism_core.errors import PrismError
from prism_core.privacy.ledger import default_workspace, rules
from prism_core.text.markdown import plain

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
    return repr(
        (plan_hash, state.data.public, state.account.asset.strip(), state.account.lifetime, owed)
    )


def typed_word(
    key: str,
    label: str,
    what: str,
    fits: Callable[[str], bool],
) -> bool:
    """A text field; True while it holds the word, typed beside what is shown now.

    Args:
        key: of the field.
        label: of the field.
        what: from `subject`.
        fits: whether the text is the word.
    """
    changed = _taken_back(key, what, "")
    typed = st.text_input(
        label,
        key=key,
        # It is to be typed: a browser that offers the word would confirm for her.
        autocomplete="off",
        on_change=_give,
        args=(key,),
    )
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
    # Now, because a widget that is drawn takes no other value.
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


def tick_above_maximum(epsilon: float, key: str) -> None:
    """Beside an entry of epsilon: where it is above the maximum, the curator may say so.

    Nothing is shown for public rows, nor below the maximum. What is ticked holds for this project
    and this maximum, wherever an epsilon is entered; plans above it say so on every paper.

    Args:
        epsilon: as entered.
        key: of the widget.
    """
    state = project()
    if state.data.public:
        return
    try:
        most = rules.max_epsilon(default_workspace())
    except PrismError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    # `not >`, because NaN may be typed and exceeds nothing.
    if not epsilon > most:
        return

    def take() -> None:
        state.designs.allowed_above = most if st.session_state[key] else None

    st.checkbox(
        f"I decide: epsilon may be above this workspace's maximum of {most:g}. The protocol, the "
        "certificate and the report will say so.",
        # The tick was for one maximum; another one is to be exceeded on purpose again.
        value=state.designs.allowed_above == most,
        key=key,
        on_change=take,
    )


def above_maximum(epsilon: float) -> float | None:
    """The maximum where this epsilon exceeds it on purpose, None where it does not.

    Raises:
        BudgetError: when it does and that is not ticked.
    """
    return project().above_limit(epsilon)


def show_warnings(warnings: tuple[str, ...]) -> None:
    """What a plan warns of, before anything is charged."""
    for warning in warnings:
        st.warning(plain(warning), icon=":material/warning:")


def say_unchecked(when: str = "") -> None:
    """Beside what a step costs, before it is charged: that nobody looked if the cells fit.

    Args:
        when: from when on it can be counted, where columns are still to be learned.
    """
    data = project().data
    if note := unchecked(data.looks, public=data.public):
        st.warning(
            f"{note[0].upper()}{note[1:]}: *Check the declaration* on the page Data does{when}.",
            icon=":material/rule:",
        )
