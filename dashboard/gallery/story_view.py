"""Story of the gallery: its sentence, what is stored of it, its run here, its project."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.common.open_project import of_sample, open_project
from dashboard.common.steps import STEPS
from dashboard.common.widgets import chart, mistakes
from dashboard.jobs import worker
from dashboard.session.designs import from_values
from dashboard.session.shelf import project
from prism_core.figures import story_figure, story_low
from prism_core.reproduction import rows
from prism_core.reproduction.result_tables import title
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dashboard.session.project import Project
    from prism_core.reproduction import ResultRow, Stored, Story


def section(story: Story, number: int) -> None:
    """A story from its sentence to its numbers."""
    st.subheader(f"{number} · {story.title}", anchor=False)
    st.markdown(story.sentence)
    if story.missing:
        st.caption(f":material/info: To run it here or open it: {story.missing}")
    with st.container(horizontal=True, vertical_alignment="center"):
        run_button(story)
        pressed = _open_button(story)
    _opening(story, pressed=pressed)
    gallery = project().gallery
    if message := gallery.messages.get(story.name):
        st.warning(plain(message), icon=":material/info:")
    kept = story.stored()
    left, right = st.columns(2, gap="medium")
    with left:
        _stored(story, kept)
    with right:
        if is_running(story):
            watch(story, lambda rows: draw(story, kept.rows, rows, "live"))
        else:
            _made_here(story, kept.rows, gallery.found.get(story.name, ()))
    _numbers(story, kept.rows, gallery.found.get(story.name, ()))


def draw(story: Story, stored: Sequence[ResultRow], live: Sequence[ResultRow], which: str) -> None:
    """The figure of the stored rows or of those made here; the same colours and axis in both."""
    known = {(row.method, row.setting) for row in (*stored, *live)}
    drawn = story_figure(
        live if which == "live" else stored,
        story.title,
        title,
        order=[line for line in story.lines if line in known],
        # Of both, so that the two figures have one axis.
        low=story_low((*stored, *live)),
    )
    chart(
        drawn.figure,
        key=f"gallery_{story.name}_{which}",
        alt=drawn.words,
        name=f"{story.name}-{which}",
    )


def _stored(story: Story, kept: Stored) -> None:
    st.markdown("**Stored results**")
    if not kept.rows:
        st.info(
            "This version comes with no stored results of this story: the long run has not "
            f"reached it yet. `prism reproduce {story.name}` prints them.",
            icon=":material/hourglass_empty:",
        )
        return
    draw(story, kept.rows, (), "stored")
    fewest, most = kept.seeds
    seeds = f"{most}" if fewest == most else f"{fewest} to {most}"
    dates = " and ".join(dict.fromkeys(made.date for made in kept.runs))
    st.caption(
        f"Mean AUC on real rows with 95% intervals over {seeds} seeds, from the latest full run "
        f"({dates}). Dashed: the same learner trained on the real rows."
    )


def _made_here(story: Story, stored: Sequence[ResultRow], live: Sequence[ResultRow]) -> None:
    st.markdown("**Run on this machine**")
    if not live:
        st.caption("Not run yet. " + ("" if story.missing else f"{_small(story)}: {story.takes}."))
        return
    draw(story, stored, live, "live")
    st.caption(
        f"{_small(story)}: the first seeds and tables of the stored run. Means without intervals, "
        "which so few runs do not give."
    )


def _small(story: Story) -> str:
    seeds = f"{story.live_seeds} seed{'' if story.live_seeds == 1 else 's'}"
    epsilons = " and ".join(f"{epsilon:g}" for epsilon in story.live_epsilons)
    return f"{len(story.live)} methods, {seeds}, epsilon {epsilons}"


def _numbers(story: Story, stored: Sequence[ResultRow], live: Sequence[ResultRow]) -> None:
    if not stored and not live:
        return
    with st.expander("The figures in numbers", icon=":material/table_rows:"):
        rows = [("stored", row) for row in stored] + [("run here", row) for row in live]
        st.dataframe(
            pd.DataFrame(
                {
                    "where": [where for where, _ in rows],
                    "method": [title(row.method) for _, row in rows],
                    "setting": [row.setting for _, row in rows],
                    "epsilon": [row.epsilon for _, row in rows],
                    "AUC": [row.onehot.auc_mean for _, row in rows],
                    "± (95%)": [row.onehot.auc_ci for _, row in rows],
                    "real rows": [row.onehot.ceiling for _, row in rows],
                    "seconds": [row.seconds for _, row in rows],
                    "seeds": [len(row.seeds) for _, row in rows],
                }
            ),
            hide_index=True,
            width="stretch",
            key=f"gallery_{story.name}_numbers",
            column_config={
                name: st.column_config.NumberColumn(format="%.4f")
                for name in ("AUC", "± (95%)", "real rows")
            },
        )
        for made in story.stored().runs:
            versions = ", ".join(f"{name} {number}" for name, number in made.versions)
            st.caption(f"`{made.command}`, {made.date}: {plain(versions)}")


def _open_button(story: Story) -> bool:
    """The story's table, graph and target in the studio."""
    return st.button(
        "Open as a project",
        key=_key(story),
        icon=":material/folder_open:",
        disabled=bool(story.missing),
        help=story.missing or None,
    )


def _opening(story: Story, *, pressed: bool) -> None:
    with mistakes(), st.spinner("Making the table …") if pressed else nullcontext():
        if open_project(_key(story), lambda: _opened(story), pressed=pressed):
            st.switch_page(STEPS[0].page)


def _key(story: Story) -> str:
    return f"gallery_{story.name}_open"


def _opened(story: Story) -> Project:
    sample = story.sample()
    task, synthesis = story.project(sample)
    new = of_sample(sample)
    new.designs.plan.take(from_values(task, new.designs.plan.budget.budget(), synthesis))
    return new


def is_running(story: Story) -> bool:
    """Whether this story runs now."""
    job = project().gallery.job
    return job is not None and job.plan.name == story.name


def run_button(story: Story) -> None:
    """Begin the run; one story at a time."""
    gallery = project().gallery
    busy = gallery.job is not None
    if st.button(
        "Run it here",
        key=f"gallery_{story.name}_run",
        icon=":material/play_arrow:",
        type="primary",
        disabled=busy or bool(story.missing),
        help=story.missing
        or ("Another story is running." if busy and not is_running(story) else None),
    ):
        with mistakes():
            gallery.messages.pop(story.name, None)
            gallery.job = worker.start_story(story)
            st.rerun()


@st.fragment(run_every=0.8)
def watch(story: Story, draw: Callable[[tuple[ResultRow, ...]], None]) -> None:
    """Grows with every run; the rest of the page waits until the last.

    Args:
        story: that runs.
        draw: the figure of the rows so far.
    """
    gallery = project().gallery
    job = gallery.job
    if job is None:
        st.rerun()
        return
    outcome = job.outcome()
    told = worker.story_outcomes(job)
    if outcome.state != "running":
        if outcome.state == "done":
            gallery.found[story.name] = rows(told)
        else:
            cancelled = outcome.state == "cancelled"
            gallery.messages[story.name] = "Stopped." if cancelled else outcome.message
        job.remove()
        gallery.job = None
        st.rerun()
    st.markdown("**Running on this machine**")
    bar, stop = st.columns([4, 1], vertical_alignment="center")
    total = len(story.asked())
    bar.progress(len(told) / total, text=f"{len(told)} of {total} runs, {job.seconds:,.0f} s")
    if stop.button(
        "Stop", key=f"gallery_{story.name}_cancel", icon=":material/stop_circle:", width="stretch"
    ):
        with st.spinner("Stopping …"):
            job.cancel()
        st.rerun()
    if told:
        draw(rows(told))
    else:
        st.caption("The first run is under way: the engine is loaded, then a model fitted …")
