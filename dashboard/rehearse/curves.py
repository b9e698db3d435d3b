"""Curves of a rehearsal as it grows, and what it says."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.common.fields import keeping
from dashboard.common.rehearsal_run import kept
from dashboard.common.widgets import chart, mistakes
from dashboard.session.rehearsals import adopt, shown
from dashboard.session.shelf import project
from prism_core.figures import legend_marks, lowest, rehearsal_figure, rehearsal_text
from prism_core.rehearsal import RehearsalPoint, RehearsalRequest, estimates, pace, verdict
from prism_core.rehearsal.allocation_choice import AllocationChoice, decide
from prism_core.rehearsal.points import GUESS_TEXT, METRIC_TEXT
from prism_core.rehearsal.variants import PLANNED
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.samples.additive_scm import Shift

FEW = 5
"""Below so many runs of each, the page warns of taking their intervals at their word."""
_HEIGHT = 250
_SHAPES = {
    "circle": "border-radius:50%",
    "diamond": "transform:rotate(45deg)",
    "square": "",
    "x": "clip-path:polygon(20% 0,50% 30%,80% 0,100% 20%,70% 50%,100% 80%,80% 100%,50% 70%,"
    "20% 100%,0 80%,30% 50%,0 20%)",
    "triangle-up": "clip-path:polygon(50% 0,100% 100%,0 100%)",
}
"""Of a mark in the legend, by the symbol in the figures; of as many designs as there may be."""
_VIEWS = {"comparison": "Comparison", "allocation": "Split chosen for you"}

_TITLES: dict[Shift, str] = {
    "none": "The world stays as it is",
    "children": "Consequences stop following the target",
    "parents": "Causes of the target move",
}


def section() -> None:
    """What was asked for last: under way, or done."""
    entries = project().rehearsing
    if entries.message:
        st.warning(plain(entries.message), icon=":material/info:")
    if entries.job is not None:
        _watch()
        return
    if entries.asked is not None and entries.trial is not None:
        st.segmented_control(
            "Results",
            list(_VIEWS),
            format_func=_VIEWS.__getitem__,
            default=entries.view,
            required=True,
            label_visibility="collapsed",
            **keeping(entries, "view", "rehearse_view", entries.view),
        )
    asked = shown(entries)
    if asked is None:
        st.info(
            "Press **Run the rehearsal** to see which design predicts best at each epsilon.",
            icon=":material/theater_comedy:",
        )
        return
    points = asked.points(kept())
    _shown(asked, points, done=True)
    # Only when every run is there: before, the designs have not been tried alike.
    if points and asked.done(points) == asked.rehearsal.runs:
        _adopting(asked)


@st.fragment(run_every=0.8)
def _watch() -> None:
    """Grows with every point; the rest of the page waits until the run has ended."""
    entries = project().rehearsing
    asked = shown(entries)
    if entries.job is None or asked is None:
        st.rerun()
        return
    outcome = entries.job.outcome()
    if outcome.state != "running":
        _ended(outcome.state, outcome.message)
        st.rerun()
    points = asked.points(kept())
    done, runs = asked.done(points), asked.rehearsal.runs
    bar, button = st.columns([5, 1], vertical_alignment="center")
    text = f"{done} of {runs} runs, {entries.job.seconds:,.0f} s so far"
    left = pace(done, entries.before, runs, entries.job.seconds)
    bar.progress(done / runs, text=f"{text}, {left}" if left else text)
    if button.button("Stop", key="rehearse_cancel", icon=":material/stop_circle:", width="stretch"):
        with st.spinner("Stopping …"):
            entries.job.cancel()
        _ended("cancelled", "")
        st.rerun()
    _shown(asked, points, done=False)


def _ended(state: str, message: str) -> None:
    entries = project().rehearsing
    if state == "cancelled":
        entries.message = "Stopped. What ran is kept: starting again goes on from there."
    elif state != "done":
        entries.message = message
    if entries.job is not None:
        # Its points are kept in the workspace by what they are made of; the folder holds nothing
        # else.
        entries.job.remove()
    entries.job = None


def _shown(asked: RehearsalRequest, points: list[RehearsalPoint], *, done: bool) -> None:
    if not points:
        st.caption(
            "The first runs are under way. Each fits a model of its own: seconds to minutes. How "
            "long all of them take is estimated as soon as the first has ended."
            if not done
            else "Nothing ran."
        )
        return
    shifts = asked.shifts if project().rehearsing.shifted else asked.shifts[:1]
    entries = project().rehearsing
    if entries.view == "allocation":
        if done and entries.choosing is not None and asked.done(points) == asked.rehearsal.runs:
            _choice(decide(entries.choosing, asked.rehearsal, points))
        return
    said = [text for shift in shifts if (text := verdict(points, shift))]
    if said:
        st.markdown("\n".join(f"- {plain(text)}" for text in said))
    _figures(asked, points, shifts, done=done)


def _figures(
    asked: RehearsalRequest, points: list[RehearsalPoint], shifts: Sequence[Shift], *, done: bool
) -> None:
    found = estimates(points)
    names = [variant.name for variant in asked.rehearsal.variants]
    # One lower end for all figures: else the same height would mean another score in each.
    low = lowest([one for one in found if one.shift in shifts])
    _legend(names)
    # Two places at least, so that a single figure does not fill the width.
    for column, shift in zip(st.columns(max(2, len(shifts)), gap="small"), shifts, strict=False):
        own = [one for one in found if one.shift == shift]
        with column:
            st.markdown(f"**{_TITLES[shift]}**")
            figure = rehearsal_figure(
                own,
                epsilons=asked.rehearsal.epsilons,
                names=names,
                low=low,
                height=_HEIGHT,
                legend=False,
            )
            # A figure that still grows is another widget: one that was drawn anew in the moment it
            # moved to its final place has been seen to stay empty.
            key = f"rehearse_chart_{shift}" if done else f"rehearse_growing_{shift}"
            chart(figure, key=key, alt=rehearsal_text(own))
    metric = points[0].metric
    few = asked.rehearsal.seeds < FEW
    st.caption(
        f"On {plain(asked.title)}. Mean {METRIC_TEXT[metric]} with 95% intervals over "
        f"{asked.rehearsal.seeds} runs{' (few: take ten before you decide)' if few else ''}. "
        f"Dashed: without noise. Dotted: {GUESS_TEXT[metric]}."
    )
    if not done:
        return
    with st.expander("The figures in words and numbers", icon=":material/table_rows:"):
        for note in asked.notes:
            st.caption(plain(note))
        for shift in shifts:
            own = [one for one in found if one.shift == shift]
            st.markdown(f"**{_TITLES[shift]}.** {plain(rehearsal_text(own))}")
        rows = [one for one in found if one.shift in shifts]
        st.dataframe(
            pd.DataFrame(
                {
                    "world": [_TITLES[one.shift] for one in rows],
                    "design": [one.variant for one in rows],
                    "epsilon": [one.epsilon for one in rows],
                    METRIC_TEXT[metric]: [one.mean for one in rows],
                    "± (95%)": [one.half for one in rows],
                    "without noise": [one.ceiling for one in rows],
                    "runs": [one.runs for one in rows],
                }
            ),
            hide_index=True,
            width="stretch",
            column_config=_NUMBERS,
        )


def _legend(names: Sequence[str]) -> None:
    """One legend for all figures: a mark of colour and shape for each design."""
    # Escaped, because a name is typed by somebody and `st.html` writes what it is given.
    marks = "".join(
        f'<span style="white-space:nowrap;margin-right:1.4em"><i style="display:inline-block;'
        f"width:11px;height:11px;margin-right:7px;background:{colour};"
        f'{_SHAPES[symbol]}"></i>{html.escape(name)}</span>'
        for name, colour, symbol in legend_marks(names)
    )
    st.html(f'<div style="font-size:0.95rem">{marks}</div>')


_NUMBERS = {
    name: st.column_config.NumberColumn(format="%.4f")
    for name in (
        *METRIC_TEXT.values(),
        "± (95%)",
        "without noise",
        "behind the best",
        "± (95%), difference",
    )
}


def _choice(choice: AllocationChoice) -> None:
    st.markdown(plain(choice.why))
    st.dataframe(
        pd.DataFrame(
            {
                "split": [one.name for one in choice.tried],
                METRIC_TEXT[choice.metric]: [one.mean for one in choice.tried],
                "± (95%)": [one.half for one in choice.tried],
                "behind the best": [one.behind for one in choice.tried],
                "± (95%), difference": [one.behind_half for one in choice.tried],
                "as good as the best": [one.level for one in choice.tried],
            }
        ),
        hide_index=True,
        width="stretch",
        column_config=_NUMBERS,
    )
    if st.button(
        f"Adopt “{plain(choice.chosen)}”",
        key="rehearse_adopt_choice",
        icon=":material/check:",
        type="primary",
    ):
        adopt(project().designs.plan, choice.scenario)
        _told(choice.chosen)


def _adopting(asked: RehearsalRequest) -> None:
    """A button a design: its regime and allocation become the plan's."""
    rehearsing = project().rehearsing
    if rehearsing.view == "allocation" or len(asked.rehearsal.variants) < 2:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Make it the plan:**", width="content")
        for place, design in enumerate(asked.rehearsal.variants):
            if design.name == PLANNED:
                continue
            st.button(
                f"Adopt “{plain(design.name)}”",
                key=f"rehearse_adopt_{place}",
                icon=":material/check:",
                on_click=_adopt,
                args=(design,),
            )


def _adopt(design: Scenario) -> None:
    state = project()
    # Designs of the page Budget change places with the plan, so that neither is lost.
    letter = state.rehearsing.letters.get(design.name)
    if letter is None:
        adopt(state.designs.plan, design)
    # It may have been removed since the rehearsal.
    elif letter in state.designs.others:
        state.designs.swap(letter)
    with mistakes():
        # At once: where the design cannot be planned, that is said here and not on the next page.
        state.plan()
    _told(design.name)


def _told(name: str) -> None:
    st.toast(f"The plan is now as in “{name}”. See the page Budget.")
