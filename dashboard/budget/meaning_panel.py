"""What epsilon means here, for people who decide: odds, tests, comparisons, limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.common.fields import keep
from dashboard.common.widgets import cached, chart, mistakes
from dashboard.session.shelf import project
from prism_core.explain.deployments import DEPLOYMENTS, NOT_COMPARABLE
from prism_core.explain.meaning import GUESSES, Meaning, fixed, meaning
from prism_core.figures import odds_figure, trade_off_figure
from prism_core.privacy.accountants.accountant import available
from prism_core.text.numbers import percent, small, up

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan

_SHARP = "meaning_exact"


def section(plan: Plan) -> None:
    """The text of a committee, with figures and a button to take it along. Spends nothing."""
    with mistakes():
        sharp = _may_be_sharp(plan)
        # Asked here, because the toggle stands further down and its text needs the result.
        exact = True if sharp and st.session_state.get(_SHARP) else None
        found = cached("meaning_kept", (plan, exact), lambda: meaning(plan, exact=exact))
        st.markdown(f"**{found.claim}**")
        guess, test = st.columns(2, gap="large")
        with guess:
            _guess(found)
        with test:
            _test(found, sharp=sharp)
        _limits(found)
        _deployments(found)
        st.caption(found.basis)
        st.download_button(
            "Download this as text",
            found.to_markdown(),
            "meaning.md",
            mime="text/markdown",
            key="meaning_download",
            icon=":material/download:",
            on_click="ignore",
            help="Markdown; every release carries the same text for its own plan.",
        )


def _may_be_sharp(plan: Plan) -> bool:
    """Whether loss distributions can be composed: where that is proven, and not done anyway."""
    return not plan.accountant.fixed_only and fixed(plan) and "pld" in available()


def _guess(found: Meaning) -> None:
    designs = project().designs
    st.subheader("A guess about one person", anchor=False)
    st.select_slider(
        "How often is somebody right about a person before the release?",
        GUESSES,
        value=designs.guess if designs.guess in GUESSES else GUESSES[3],
        key="meaning_guess",
        format_func=lambda many: f"1 in {many:,}",
        on_change=keep,
        args=(designs, "guess", "meaning_guess"),
    )
    chosen = found.guess(st.session_state["meaning_guess"])
    before, after = st.columns(2)
    before.metric("Right before", chosen.before_words, border=True)
    after.metric("Right after, at most", chosen.after_words, border=True)
    figure = cached("meaning_odds_kept", (chosen,), lambda: odds_figure(chosen))
    chart(figure, key="meaning_odds", alt=f"People as points. {chosen.sentence}")
    st.caption(chosen.sentence)


def _test(found: Meaning, *, sharp: bool) -> None:
    st.subheader("A test for being in the table", anchor=False)
    lines = "\n".join(f"| {percent(t.rate)} | **{percent(t.power)}** |" for t in found.tests)
    st.markdown(f"| False alarms | True positives, at most |\n|---|---|\n{lines}")
    log = st.toggle("Show small rates (logarithmic)", key="meaning_log")
    if sharp:
        st.toggle(
            "Sharper curve (takes some seconds)",
            key=_SHARP,
            help="Composes the privacy loss distributions of all steps instead of their zCDP. "
            "The bound is valid either way.",
        )
    figure = cached(
        "meaning_curve_kept",
        (found, log),
        lambda: trade_off_figure(found.curve, found.tests, log=log),
    )
    chart(
        figure,
        key="meaning_curve",
        alt="Curve of true positives against false alarms. "
        + "; ".join(f"at {percent(t.rate)} at most {percent(t.power)}" for t in found.tests),
    )
    st.caption(
        "The best that any test can do that knows all other rows, under the composition of "
        f"everything this plan spends. {found.tests[1].sentence}"
    )


def _deployments(found: Meaning) -> None:
    st.subheader("Beside published releases", anchor=False)
    own = ("This plan", None, "a person", up(found.epsilon), small(found.delta), None)
    rows = [
        (each.name, each.year, each.unit, f"{each.epsilon:g}", each.delta_words, each.source)
        for each in DEPLOYMENTS
    ]
    # Int64, as this plan has no year: beside an empty cell pandas would write the others with
    # decimals.
    frame = pd.DataFrame(
        [own, *rows], columns=["release", "year", "protects", "epsilon", "delta", "source"]
    ).astype({"year": "Int64"})
    st.dataframe(
        frame,
        hide_index=True,
        width="stretch",
        height="content",
        placeholder="",
        key="meaning_deployments",
        column_config={
            "release": st.column_config.TextColumn(width=275),
            "year": st.column_config.NumberColumn(format="%d", width=60),
            "protects": st.column_config.TextColumn(width=220),
            "source": st.column_config.LinkColumn(display_text="source", width=75),
        },
    )
    st.caption(NOT_COMPARABLE)


def _limits(found: Meaning) -> None:
    st.subheader("What it does not protect", anchor=False)
    half = (len(found.limits) + 1) // 2
    parts = (found.limits[:half], found.limits[half:])
    for column, part in zip(st.columns(2, gap="large"), parts, strict=True):
        column.markdown("\n".join(f"- **{limit.title}.** {limit.text}" for limit in part))
