"""From a wish to a budget: an error that is wanted, and what it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.keep import from_percent, keep
from dashboard.parts.budget_entry import entry, key_of
from dashboard.state import project
from dashboard.widgets import plain
from prism_core.errors import PrismError
from prism_core.planning.inverse import epsilon_for_error

if TYPE_CHECKING:
    from dashboard.entries import Entries

_ANSWER = "wish_answer"


def section(entries: Entries) -> None:
    """The wish, a button that finds what it needs, and a button to take that."""
    st.subheader("From a wish to a budget", anchor=False)
    scenarios = project().scenarios
    with st.container(horizontal=True, vertical_alignment="bottom"):
        key = entry("wish", round(scenarios.wish * 100.0, 9))
        st.number_input(
            "Wished error of the task marginals, at most % of n", step=0.5, format="%.4g", key=key,
            on_change=keep, args=(scenarios, "wish", key, from_percent), width=300,
            help="Mean expected l1 error of the marginals with the target, over n: an "
            "expectation, not a guarantee.",
        )  # fmt: skip
        if st.button("Find the epsilon", key=key_of("wish_epsilon")):
            _find_epsilon(entries)
    _answered(entries)


def _find_epsilon(entries: Entries) -> None:
    """The least epsilon that keeps the wish; a few dozen plans."""
    state = project()
    wish = state.scenarios.wish
    try:
        assert state.schema is not None
        found = epsilon_for_error(
            state.schema, entries.task_for(state.target or ""), entries.used_budget(), state.n,
            wish, dag=state.dag, synthesis=entries.synthesis,
        )  # fmt: skip
    except PrismError as error:
        st.session_state[key_of(_ANSWER)] = (_asked(entries), None, str(error))
    else:
        words = f"An expected error of at most {wish:.3%} of n needs epsilon {found:g}."
        st.session_state[key_of(_ANSWER)] = (_asked(entries), found, words)


def _asked(entries: Entries) -> tuple[object, ...]:
    """What an answer holds for: everything but the epsilon that is set."""
    state = project()
    budget = entries.budget
    return (
        state.scenarios.wish, entries.regime, entries.k, entries.three_way, entries.joint,
        tuple(entries.weights.items()), budget.allocation, budget.tilt, budget.accountant,
        budget.delta, budget.background, budget.selection, budget.choice,
        tuple(budget.locks.items()), entries.synthesis, state.n, state.schema,
    )  # fmt: skip


def _answered(entries: Entries) -> None:
    """The last answer, while what was asked still stands."""
    asked, found, words = st.session_state.get(key_of(_ANSWER), (None, None, ""))
    if asked != _asked(entries):
        return
    if found is None:
        st.warning(plain(words), icon=":material/info:")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{words}**")
        st.button(
            f"Take epsilon {found:g}", key=key_of("wish_take"), type="primary",
            on_click=_take, args=(entries, found), disabled=entries.budget.epsilon == found,
        )  # fmt: skip


def _take(entries: Entries, epsilon: float) -> None:
    entries.budget.epsilon = epsilon
