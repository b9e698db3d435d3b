"""The stages of a run with their times, and its log."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.telling import TITLES

if TYPE_CHECKING:
    from dashboard.worker import Job, Outcome
    from prism_core.planning.plan import Plan


def stages(job: Job[Plan]) -> list[str]:
    """Keys of the stages that this run goes through, in order."""
    skipped = set() if job.plan.selection else {"select"}
    if job.public:
        skipped.add("charge")
    if job.plan.three_way is None:
        skipped.add("three_way")
    if job.plan.tree is None:
        skipped.add("forest")
    return [key for key in TITLES if key not in skipped]


def show(job: Job[Plan], outcome: Outcome) -> None:
    """Every stage: done, under way, or to come."""
    keys = stages(job)
    position = next((place for place, key in enumerate(keys) if key == outcome.stage), -1)
    if outcome.state == "done":
        position = len(keys)
    for number, key in enumerate(keys):
        text = TITLES[key]
        if number < position:
            st.markdown(f":green[:material/check_circle:] {text}{_took(outcome, key, job)}")
        elif number > position:
            st.markdown(f":gray[:material/radio_button_unchecked: {text}]")
        elif outcome.state == "running":
            so_far = max(0, int(time.time()) - outcome.times.get(key, int(time.time())))
            st.progress(outcome.share, text=f"**{text}** … {_seconds(so_far)}")
        else:
            st.markdown(f":orange[:material/cancel:] {text}: stopped here")
    if outcome.state == "running" and position < 0:
        st.caption("Starting the process …")


def log(job: Job[Plan], *, key: str) -> None:
    """The log, to be opened; it holds no private value."""
    text = job.log
    if not text:
        return
    with st.expander("Log: what was done when", icon=":material/article:"):
        st.code(text, language=None, wrap_lines=True)
        st.download_button(
            "Download the log", text, "run-log.txt", key=f"{key}_log", on_click="ignore",
            icon=":material/download:",
        )  # fmt: skip
        st.caption(
            "It follows from the plan, the ledger and the clock. Times are those of whole stages, "
            "in whole seconds."
        )


def _took(outcome: Outcome, key: str, job: Job[Plan]) -> str:
    """How long a stage that is over took."""
    began = outcome.times.get(key)
    if began is None:
        return ""
    order = list(outcome.times)
    following = order[order.index(key) + 1 :]
    end = outcome.times[following[0]] if following else int(job.started + job.seconds)
    return f" · {_seconds(max(0, end - began))}"


def _seconds(whole: int) -> str:
    return "under 1 s" if whole < 1 else f"{whole:,} s"
