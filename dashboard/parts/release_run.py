"""A run under way, and what it left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.state import project
from dashboard.widgets import plain
from prism_core.bundle import writer
from prism_core.bundle.archive import zip_bytes
from prism_core.pipeline import STAGES, Stage

if TYPE_CHECKING:
    from pathlib import Path

    from dashboard.worker import Job, Outcome


def section() -> None:
    """The view of the session's run."""
    state = project()
    assert state.job is not None
    if state.notice:
        st.warning(plain(state.notice), icon=":material/fingerprint:")
    outcome = state.job.outcome()
    if outcome.state == "running":
        _watch()
        return
    if outcome.state == "done":
        state.folder = state.job.result
        _done(state.job, outcome)
    elif outcome.state == "cancelled":
        st.warning(
            "The run was cancelled. Before the first measurement nothing is spent; after it the "
            "charge stands. The ledger says which.",
            icon=":material/cancel:",
        )
    else:
        st.error(plain(outcome.message), icon=":material/error:")
    if st.button("Prepare another run", key="release_again", icon=":material/restart_alt:"):
        state.forget_results()
        st.rerun()


@st.fragment(run_every=0.7)
def _watch() -> None:
    job = project().job
    if job is None:
        return
    outcome = job.outcome()
    if outcome.state != "running":
        st.rerun()
    st.subheader("Running", anchor=False)
    _stages(job, outcome)
    st.caption(
        f"{job.seconds:,.0f} s so far, in a process of its own: you can look at other pages and "
        "come back. The fit prepares for a while before its bar moves."
    )
    if st.button("Cancel the run", key="release_cancel", icon=":material/stop_circle:"):
        with st.spinner("Stopping …"):
            job.cancel()
        st.rerun()


def _stages(job: Job, outcome: Outcome) -> None:
    skipped = set() if job.plan.selection else {"select"}
    if project().public:
        skipped.add("charge")
    if job.plan.three_way is None:
        skipped.add("three_way")
    if job.plan.tree is None:
        skipped.add("forest")
    keys: list[Stage] = [key for key in STAGES if key not in skipped]
    position = next((place for place, key in enumerate(keys) if key == outcome.stage), -1)
    for number, text in enumerate(STAGES[key] for key in keys):
        if number < position:
            st.markdown(f":green[:material/check_circle:] {text}")
        elif number == position:
            st.progress(outcome.share, text=f"**{text}** …")
        else:
            st.markdown(f":gray[:material/radio_button_unchecked: {text}]")
    if position < 0:
        st.caption("Starting the process …")


def _done(job: Job, outcome: Outcome) -> None:
    stamp = outcome.document["stamp"]
    plan = job.plan
    st.success(
        f"**{stamp.capitalize()}.** {outcome.document['rows']:,} synthetic rows, epsilon "
        f"{plan.budget.epsilon:g}, delta {plan.delta:.2g}.",
        icon=":material/verified:",
    )
    if outcome.document.get("charge"):
        st.caption(f"Charge number {outcome.document['charge']} in the ledger.")
    files = [writer.SYNTHETIC, writer.SCHEMA, writer.PLAN, writer.CERTIFICATE]
    titles = ["Synthetic rows (CSV)", "Schema (YAML)", "Plan (JSON)", "Certificate (JSON)"]
    for column, name, title in zip(st.columns(4), files, titles, strict=True):
        column.download_button(
            title, (job.result / name).read_bytes(), name, key=f"download_{name}",
            icon=":material/download:", width="stretch",
            type="primary" if name == writer.SYNTHETIC else "secondary",
        )  # fmt: skip
    st.download_button(
        "The bundle (ZIP)", zip_bytes(job.result), "prism-bundle.zip", key="download_zip",
        icon=":material/folder_zip:",
        help="All files that may be handed over, with the noisy counts, the certificate, a data "
        "sheet and checksums. `prism verify` checks them without the private rows.",
    )  # fmt: skip
    st.subheader("First synthetic rows", anchor=False)
    st.dataframe(_head(job.result / writer.SYNTHETIC), hide_index=True, width="stretch")


def _head(path: Path):  # noqa: ANN202
    import pandas as pd

    return pd.read_csv(path, nrows=20, dtype=str, keep_default_na=False)
