"""Charts of shares and of error against epsilon; the epsilon that a wished error needs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.budget import epsilon_entry
from dashboard.budget.edited_design import key_of
from dashboard.common.fields import percent_entry
from dashboard.common.widgets import chart
from dashboard.session.shelf import project
from prism_core.errors import PrismError
from prism_core.explain.plan_lines import against_uniform
from prism_core.figures import BudgetRow, budget_figure, error_curve_figure, error_figure
from prism_core.planning.brief import Brief
from prism_core.planning.search.epsilon_curve import error_curve
from prism_core.planning.search.inverse import epsilon_for_error, most_bins, most_features
from prism_core.text.markdown import plain
from prism_core.text.numbers import error_text, share_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dashboard.session.designs import Entries
    from prism_core.planning.plan import Plan

_SAID = 5  # bars that the words for those who do not see them name
MOST_BARS = 40
"""Most marginals in a figure; all are in the table."""

# Every third value may miss the last one, at which the curve is to end.
_EPSILONS = (*epsilon_entry.GRID[::3], epsilon_entry.MOST)


def shares(plan: Plan) -> None:
    """What every marginal gets, beside the uniform split, and the error that results."""
    found = sorted(against_uniform(plan), key=lambda line: -line.now.share)
    shown = found[:MOST_BARS]
    rows = [
        BudgetRow(
            label=line.label if line.times == 1 else f"{line.label} (each)",
            pool=line.pool,
            share=line.now.share,
            sigma=line.now.sigma,
            relative_error=line.now.relative_error,
            cells=round(line.cells),
        )
        for line in shown
    ]
    if len(found) > len(shown):
        st.caption(
            f"The {len(shown)} marginals with the largest shares of {len(found)}; all are in the "
            "list *Tables of counts*."
        )
    st.markdown("**Share of the budget**: as planned, and if all marginals of a pool had the same")
    figure = budget_figure(rows, beside=[line.uniform.share for line in shown])
    chart(
        figure,
        key=key_of("budget_chart"),
        alt="Bars of the shares of the budget, each beside the uniform one. The largest: "
        + ", ".join(f"{row.label} {share_text(row.share)}" for row in rows[:_SAID]),
    )
    st.markdown("**Expected error**")
    errors = [(row.relative_error, row.label) for row in rows if row.relative_error is not None]
    largest = sorted(errors, reverse=True)[:_SAID]
    chart(
        error_figure(rows),
        key=key_of("error_chart"),
        alt="Bars of the expected errors, relative to the number of rows. The largest: "
        + ", ".join(f"{label} {error_text(size)}" for size, label in largest),
    )
    st.caption(
        "Expected l1 error of each noisy marginal over n: an expectation of the noise, not a "
        "guarantee, and before the model smooths it."
    )


def error(entries: Entries, plan: Plan) -> None:
    """Error against epsilon, with the epsilon that is set; and epsilon from a wished error."""
    state = project()
    # The edited one first, and as it was handed over: without its locks it has a plan where the
    # entries have none.
    plans = {state.designs.edited: plan}
    for letter in state.designs.letters:
        if letter not in plans:
            with suppress(PrismError):  # its mistake is shown where it is edited
                plans[letter] = state.plan(state.designs.entries(letter))
    curves(plans)
    epsilon_entry.epsilon_slider(
        entries.budget, "epsilon_chart", label="Epsilon of this design, beneath the chart"
    )
    st.caption(
        "The marked point is the epsilon that is set: move the slider beneath the chart, and all "
        "of the page follows. Mean and largest expected error of the marginals with the target; "
        "an expectation, not a guarantee."
    )
    wish_section(entries)


def curves(plans: Mapping[str, Plan]) -> None:
    """Error against epsilon.

    Args:
        plans: by the letters of their designs; the first is the one that is looked at.
    """
    names = {letter: "This design" if len(plans) == 1 else letter for letter in plans}
    lines = {names[k]: error_curve(plan, _EPSILONS) for k, plan in plans.items()}
    here = {names[k]: error_curve(plan, [plan.budget.epsilon])[0] for k, plan in plans.items()}
    chart(
        error_curve_figure(lines, here),
        key="curve_chart",
        alt="Curves of the expected error against epsilon, falling. "
        + "; ".join(f"{n}: {error_text(p.mean)} at epsilon {p.epsilon:g}" for n, p in here.items()),
    )


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


def wish_section(entries: Entries) -> None:
    """The wish, a button for each question, and a button to take the answer."""
    st.subheader("Find the budget for a wanted error", anchor=False)
    scenarios = project().designs
    with st.container(horizontal=True, vertical_alignment="bottom"):
        percent_entry(
            scenarios.wish,
            partial(setattr, scenarios, "wish"),
            key_of("wish"),
            "Wished error of the task marginals, at most % of n",
            width=300,
            help="Mean expected l1 error of the marginals with the target, over n: an "
            "expectation, not a guarantee.",
        )
        for name, question in _QUESTIONS.items():
            if name == "k" and entries.regime != "predictive":
                continue
            if st.button(question.button, key=key_of(f"wish_{name}")):
                _ask(entries, name)
    _answered(entries)


def _least_epsilon(entries: Entries) -> float:
    return epsilon_for_error(_brief(entries), project().designs.wish)


def _bins(entries: Entries) -> int:
    return most_bins(_brief(entries), project().designs.wish)


def _features(entries: Entries) -> int:
    return most_features(_brief(entries), project().designs.wish)


def _brief(entries: Entries) -> Brief:
    state = project()
    assert state.data.schema is not None
    return Brief(
        state.data.schema,
        entries.task_for(state.structure.target or ""),
        # The workspace's maximum is for who spends; a search spends nothing.
        entries.used_budget(),
        state.data.n,
        dag=state.dag,
        synthesis=entries.synthesis,
    )


def _take_epsilon(entries: Entries, value: float) -> None:
    entries.budget.epsilon = value


def _take_features(entries: Entries, value: int) -> None:
    entries.k = value


_QUESTIONS = {
    "epsilon": _Question(
        button="Find the epsilon",
        find=_least_epsilon,
        free="epsilon",
        words="An expected error of at most {wish}% of n needs epsilon {value:g}.",
        take=_take_epsilon,
        button_take="Take epsilon {value:g}",
    ),
    "k": _Question(
        button="Find the most features",
        find=_features,
        words="At this epsilon, {value} features (k) stay within {wish}% of n.",
        take=_take_features,
        button_take="Take k = {value}",
    ),
    "bins": _Question(
        button="Find the most bins",
        find=_bins,
        words="At this epsilon, {value} equal bins for every column with bounds stay within "
        "{wish}% of n. Bins are declared on the page Data.",
    ),
}


def _ask(entries: Entries, name: str) -> None:
    """Find the answer, or what stands in its way, and keep it with what was asked."""
    question = _QUESTIONS[name]
    try:
        value = question.find(entries)
        words = question.words.format(wish=f"{100.0 * project().designs.wish:.4g}", value=value)
    except PrismError as error:
        value, words = None, str(error)
    scenarios = project().designs
    # With what it was asked of, so that it is not taken for an answer about other entries.
    scenarios.answers[scenarios.edited] = (name, _asked(entries, name), value, words)


def _asked(entries: Entries, name: str) -> tuple[object, ...]:
    """Everything that an answer holds for."""
    state = project()
    typed = entries.typed()
    # What the question is about may be anything.
    if name == "k":
        del typed["k"]
    if free := _QUESTIONS[name].free:
        typed["budget"] = replace(typed["budget"], **{free: 0.0})
    return (
        state.designs.wish,
        typed,
        state.data.n,
        state.data.schema,
        state.structure.target,
        state.structure.graph.edges,
    )


def _answered(entries: Entries) -> None:
    """The last answer; without its button, and as an earlier one, once other things are set."""
    scenarios = project().designs
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
                question.button_take.format(value=value),
                key=key_of("wish_take"),
                type="primary",
                on_click=question.take,
                args=(entries, value),
            )
