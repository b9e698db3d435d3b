"""A story of the gallery: its number, its figure, its run here, its project."""

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
from prism_core.figures import story_dots
from prism_core.reproduction import ResultRow, Story, rows
from prism_core.reproduction.result_tables import title
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dashboard.session.project import Project


def section(story: Story) -> None:
    """A story from its sentence to its numbers."""
    st.subheader(story.title, anchor=False)
    st.markdown(story.sentence)
    result(story)
    with st.container(horizontal=True, vertical_alignment="center"):
        run_button(story)
        # Apart from what it opens: the question that may follow needs the width of the page.
        pressed = _open_button(story)
    _opening(story, pressed=pressed)
    gallery = project().gallery
    if message := gallery.messages.get(story.name):
        st.warning(plain(message), icon=":material/info:")
    live = gallery.found.get(story.name, ())
    if is_running(story):
        watch(story, lambda rows: draw(story, rows, "live"))
    elif live:
        st.markdown(f"**Run on this machine** · {_small(story)}, means without intervals")
        draw(story, live, "live")
    _notes(story)
    _numbers(story, story.stored().rows, live)


def result(story: Story) -> None:
    """The number of the story and its figure, from the results that come with this version."""
    kept = story.stored()
    headline = story.headline(kept.rows)
    if headline is None:
        st.info(
            "This version comes with no stored results of this story. "
            f"`prism reproduce {story.name}` makes them.",
            icon=":material/hourglass_empty:",
        )
        return
    left, right = st.columns([1, 1.7], gap="large", vertical_alignment="center")
    with left, st.container(key="story_meaning"):
        # Nothing is escaped: the number is made of results that come with the program.
        st.html(f'<p style="font-size:5.5rem;font-weight:700;line-height:1">{headline.number}</p>')
        st.markdown(headline.sentence)
        fewest, _ = kept.seeds
        st.caption(f"Epsilon {headline.epsilon:g}. Means of {fewest} runs or more.")
    with right:
        draw(story, kept.rows, "stored")


def draw(story: Story, found: Sequence[ResultRow], which: str) -> None:
    """The figure of the stored rows or of those made here."""
    drawn = story_dots(story.at_epsilon(found), story.title, story.label)
    chart(
        drawn.figure,
        key=f"gallery_{story.name}_{which}",
        alt=drawn.words,
        name=f"{story.name}-{which}",
    )


def _small(story: Story) -> str:
    runs = f"{story.live_seeds} run{'' if story.live_seeds == 1 else 's'} each"
    return f"{len(story.live)} methods, {runs}, epsilon {story.epsilon:g}"


def _notes(story: Story) -> None:
    with st.expander("Notes for the speaker", icon=":material/notes:"):
        st.markdown("\n".join(f"- {plain(note)}" for note in story.notes))


def _numbers(story: Story, stored: Sequence[ResultRow], live: Sequence[ResultRow]) -> None:
    if not stored and not live:
        return
    with st.expander("All numbers", icon=":material/table_rows:"):
        rows = [("stored", row) for row in stored] + [("run here", row) for row in live]
        st.dataframe(
            pd.DataFrame(
                {
                    "where": [where for where, _ in rows],
                    "table": [story.label(row) for _, row in rows],
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
        disabled=busy,
        help="Another story is running."
        if busy and not is_running(story)
        else f"{_small(story)}: some seconds.",
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
    # Another tab of the project has taken its result.
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
