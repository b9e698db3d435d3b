"""From a wish to a budget: an error that is wanted, and what it needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.parts.budget_entry import key_of
from dashboard.parts.typed_entry import percent_entry
from dashboard.state import project
from dashboard.widgets import plain
from prism_core.errors import PrismError
from prism_core.planning.inverse import epsilon_for_error
from prism_core.planning.largest import most_bins, most_features

if TYPE_CHECKING:
    from collections.abc import Callable

    from dashboard.entries import Entries


@dataclass(frozen=True, kw_only=True)
class _Question:
    """What can be asked of a wished error.

    Attributes:
        button: words of its button.
        find: gives the value; needs a few dozen plans.
        words: the answer, with {wish} and {value} in it.
        take: puts the value into the entries; None where it is to be set elsewhere.
        button_take: words of the button that does, with {value} in it.
        free: the entry of the budget that the answer does not depend on.
    """

    button: str
    find: Callable[[Entries], Any]
    words: str
    take: Callable[[Entries, Any], None] | None = None
    button_take: str = ""
    free: str = ""


def section(entries: Entries) -> None:
    """The wish, a button for each question, and a button to take the answer."""
    st.subheader("From a wish to a budget", anchor=False)
    scenarios = project().scenarios
    with st.container(horizontal=True, vertical_alignment="bottom"):
        percent_entry(
            scenarios.wish, partial(setattr, scenarios, "wish"), key_of("wish"),
            "Wished error of the task marginals, at most % of n", width=300,
            help="Mean expected l1 error of the marginals with the target, over n: an "
            "expectation, not a guarantee.",
        )  # fmt: skip
        for name, question in _QUESTIONS.items():
            if name == "k" and entries.regime != "predictive":
                continue
            if st.button(question.button, key=key_of(f"wish_{name}")):
                _ask(entries, name)
    _answered(entries)


def _epsilon(entries: Entries) -> float:
    return epsilon_for_error(**_inputs(entries), dag=project().dag)


def _bins(entries: Entries) -> int:
    return most_bins(**_inputs(entries), dag=project().dag)


def _features(entries: Entries) -> int:
    return most_features(**_inputs(entries))


def _inputs(entries: Entries) -> dict[str, Any]:
    state = project()
    return {
        "schema": state.schema, "task": entries.task_for(state.target or ""),
        "budget": entries.used_budget(), "n": state.n, "target": state.scenarios.wish,
        "synthesis": entries.synthesis,
    }  # fmt: skip


def _take_epsilon(entries: Entries, value: float) -> None:
    entries.budget.epsilon = value


def _take_features(entries: Entries, value: int) -> None:
    entries.k = value


_QUESTIONS = {
    "epsilon": _Question(
        button="Find the epsilon", find=_epsilon, free="epsilon",
        words="An expected error of at most {wish}% of n needs epsilon {value:g}.",
        take=_take_epsilon, button_take="Take epsilon {value:g}",
    ),
    "k": _Question(
        button="Find the most features", find=_features,
        words="At this epsilon, {value} features (k) stay within {wish}% of n.",
        take=_take_features, button_take="Take k = {value}",
    ),
    "bins": _Question(
        button="Find the most bins", find=_bins,
        words="At this epsilon, {value} equal bins for every column with bounds stay within "
        "{wish}% of n. Bins are declared on the page Data.",
    ),
}  # fmt: skip


def _ask(entries: Entries, name: str) -> None:
    """Find the answer, or what stands in its way, and keep it with what was asked."""
    question = _QUESTIONS[name]
    try:
        value = question.find(entries)
        words = question.words.format(wish=f"{100.0 * project().scenarios.wish:.4g}", value=value)
    except PrismError as error:
        value, words = None, str(error)
    scenarios = project().scenarios
    scenarios.answers[scenarios.edited] = (name, _asked(entries, name), value, words)


def _asked(entries: Entries, name: str) -> tuple[object, ...]:
    """Everything that an answer holds for."""
    state = project()
    budget = dict(vars(entries.budget))
    for how in ("shares_rev", "epsilon_typed"):  # not what is set, but how it came about
        del budget[how]
    budget["locks"] = dict(entries.budget.locks)
    budget.pop(_QUESTIONS[name].free, None)
    return (
        state.scenarios.wish, budget, entries.regime, None if name == "k" else entries.k,
        entries.selection, entries.three_way, entries.max_three_way, entries.joint,
        entries.numeric_queries, entries.numeric_bins, entries.thresholds,
        dict(entries.numeric_columns), dict(entries.weights), entries.synthesis, state.n,
        state.schema, state.target, state.graph.edges,
    )  # fmt: skip


def _answered(entries: Entries) -> None:
    """The last answer; without its button, and as an earlier one, once other things are set."""
    scenarios = project().scenarios
    if scenarios.edited not in scenarios.answers:
        return
    name, asked, value, words = scenarios.answers[scenarios.edited]
    if asked != _asked(entries, name):
        if value is not None:
            st.caption(f"Earlier answer, before something else was set: {plain(words)}")
        return
    if value is None:
        st.warning(plain(words), icon=":material/info:")
        return
    question = _QUESTIONS[name]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{words}**", width="content")
        if question.take is not None:
            st.button(
                question.button_take.format(value=value), key=key_of("wish_take"), type="primary",
                on_click=question.take, args=(entries, value),
            )  # fmt: skip
