"""What the theory promises for a plan: guarantees and expectations, told apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.common.fields import number_entry, optional_entry
from dashboard.common.widgets import cached, chart, mistakes
from dashboard.session.shelf import project
from prism_core.explain.bound_remedies import Remedy, remedies
from prism_core.explain.error_bounds import KIND_WORDS, Bound, PlanBounds, bounds
from prism_core.figures import bounds_figure, erm_figure
from prism_core.figures.guarantees import MOST_MARGINALS
from prism_core.text.markdown import plain
from prism_core.text.numbers import count_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dashboard.session.designs import Entries
    from prism_core.planning.plan import Plan

_COLOURS = {"expectation": "gray", "guarantee": "green", "assumption": "orange"}


def section(entries: Entries, plan: Plan) -> None:
    """What applies, what does not with the way to change that, and the entries. Spends nothing."""
    st.markdown(
        "About **accuracy** only: the privacy of a release is guaranteed in any case. A "
        "**guarantee** holds but for a chance you set; an **expectation** is an average."
    )
    designs = project().designs
    with mistakes():
        asked = (plan, designs.beta, designs.p_min)
        found = cached(
            "bounds_kept",
            asked,
            lambda: bounds(plan, beta=designs.beta, p_min=designs.p_min),
        )
        if not plan.s_is_final:
            st.caption(
                "The features are chosen when the release runs. Shown is the worst case: the "
                f"{count_text(plan.task.k or 0, 'column')} with most levels."
            )
        applying = [line for line in _all(found) if line[1].value is not None]
        _values(applying)
        _marginals(found)
        if found.erm.total.value is not None:
            _risk(found)
        rest = [line for line in _all(found) if line[1].value is None]
        if rest:
            _without(entries, rest, remedies(plan, found))
    # Also where the bounds cannot be computed: what stands in their way may be corrected here.
    _entries()


def _all(found: PlanBounds) -> tuple[tuple[str, Bound, str], ...]:
    """Title, bound, and which remedies are for it."""
    worst = max(found.task, key=lambda line: line.l1.raw or 0.0).l1
    return (
        ("Noise of a table with the target, at worst", worst, ""),
        ("Model against population (Δ_S)", found.delta_s, "distance"),
        ("Real rows against population", found.sampling, ""),
        ("Loss from training on synthetic rows (excess risk)", found.erm.total, "risk"),
    )


def _without(
    entries: Entries, rest: Sequence[tuple[str, Bound, str]], needed: Sequence[Remedy]
) -> None:
    """The bounds that say nothing about this plan, why, and a button where a change mends it."""
    st.markdown("**Does not apply to this plan**")
    for title, bound, kind in rest:
        st.caption(f"**{title}.** {plain(bound.sentence)}")
        for remedy in needed:
            if remedy.bound == kind:
                st.button(
                    f"Make this bound apply: {remedy.words.lower()}",
                    key=f"bounds_remedy_{remedy.bound}",
                    icon=":material/build:",
                    on_click=_mend,
                    args=(entries, remedy),
                )


def _mend(entries: Entries, remedy: Remedy) -> None:
    room, name = remedy.option.split(".")
    # It is a frozen value in the entries; the task's options are entries themselves.
    if room == "synthesis":
        value: Any = remedy.value
        entries.synthesis = replace(entries.synthesis, **{name: value})
    else:
        setattr(entries, name, remedy.value)


def _entries() -> None:
    state = project()
    left, right, _ = st.columns([1, 1, 1.4])
    with left:
        number_entry(
            state.designs,
            "beta",
            "bounds_beta",
            "Chance that a bound fails, β",
            help="Smaller is surer and gives larger bounds. They grow slowly: with the root of a "
            "logarithm.",
        )
    with right:
        optional_entry(
            state.designs,
            "p_min",
            "bounds_p_min",
            "Smallest share p_min (optional)",
            placeholder="not declared",
            help="The smallest share that any level of S or the target has among people at large. "
            "Declare it from public knowledge, never from the private rows. Needed only where the "
            "joint of S and the target is not measured.",
        )


def _values(applying: Sequence[tuple[str, Bound, str]]) -> None:
    if not applying:
        return
    for column, (title, bound, _) in zip(st.columns(len(applying)), applying, strict=True):
        with column.container(border=True, height="stretch"):
            st.metric(title, bound.text)
            _said(bound)


def _said(bound: Bound) -> None:
    badge = f":{_COLOURS[bound.kind]}-badge[{KIND_WORDS[bound.kind]}]\n\n"
    st.caption(
        f"{badge if bound.value is not None else ''}{plain(bound.sentence)}\n\n"
        f"*{plain(bound.theorem)}*"
    )


def _risk(found: PlanBounds) -> None:
    st.markdown("**Excess risk of training on the synthetic rows, term by term**")
    figure = cached("bounds_erm_kept", (found,), lambda: erm_figure(found.erm))
    chart(figure, key="bounds_erm", alt=f"The terms as one stacked bar. {found.erm.text}")
    st.caption(plain(found.erm.text))
    for column, term in zip(st.columns(3), found.erm.terms, strict=True):
        with column:
            st.markdown(f"**{plain(term.name)}**: {term.text}")
            _said(term)


def _marginals(found: PlanBounds) -> None:
    st.markdown("**Error of the marginals measured for the task: expected and guaranteed**")
    task = sorted(found.task, key=lambda line: -(line.l1.raw or 0.0))
    figure = cached("bounds_marginals_kept", (found,), lambda: bounds_figure(task))
    more = len(task) - MOST_MARGINALS
    chart(
        figure,
        key="bounds_marginals",
        alt="For each marginal with the target, the expected and "
        f"the guaranteed error; the largest is that of {task[0].label}."
        if task
        else "No bar.",
    )
    st.caption(
        f"Each guarantee holds by itself but for a chance of {found.beta:.3g}. "
        + (f"The {MOST_MARGINALS} largest of {len(task)} are drawn. " if more > 0 else "")
        + "All marginals are in the table."
    )
    with st.expander(f"All {len(found.marginals)} marginals as a table"):
        _table(found)


def _table(found: PlanBounds) -> None:
    frame = cached("bounds_table_kept", (found,), lambda: _frame(found))
    st.dataframe(
        frame,
        hide_index=True,
        width="stretch",
        height=min(420, 38 + 35 * len(frame)),
        key="bounds_table",
    )


def _frame(found: PlanBounds) -> pd.DataFrame:
    lines = found.marginals
    return pd.DataFrame(
        {
            "marginal": [line.label for line in lines],
            "pool": [line.pool for line in lines],
            "cells": [line.cells for line in lines],
            "expected l1 error": [line.expected.text for line in lines],
            "guaranteed l1 error": [line.l1.text for line in lines],
            "guaranteed total variation": [line.tv.text for line in lines],
        }
    )
