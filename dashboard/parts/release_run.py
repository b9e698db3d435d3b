"""A run under way, and what it left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.parts import moved_on, release_stages
from dashboard.state import project
from dashboard.telling import WRITING
from dashboard.widgets import plain
from prism_core.bundle import writer
from prism_core.bundle.archive import zip_bytes
from prism_core.planning.words import delta_text, eps_text
from prism_core.privacy.ledger import STATE_WORDS

if TYPE_CHECKING:
    from pathlib import Path

    from dashboard.worker import Job, Outcome
    from prism_core.planning.plan import Plan


def section() -> None:
    """The view of the project's run."""
    state = project()
    job = state.job
    assert job is not None
    if state.notice:
        st.warning(plain(state.notice), icon=":material/fingerprint:")
    outcome = job.outcome()
    if outcome.state == "running":
        moved_on.notice(job)
        _watch()
        return
    moved_on.notice(job)
    if outcome.state == "done":
        state.folder = job.result
        _done(job, outcome)
    else:
        _stopped(job, outcome)
    with st.expander("Stages and times", icon=":material/checklist:"):
        release_stages.show(job, outcome)
    release_stages.log(job, key="release_ended")
    if st.button("Prepare another run", key="release_again", icon=":material/restart_alt:"):
        if outcome.state == "done" or not (job.public or job.charge() is None):
            state.approved = None  # it was given for one run
        state.forget_results()
        st.rerun()


@st.fragment(run_every=0.7)
def _watch() -> None:
    job = project().job
    if job is None:
        st.rerun()
        return
    outcome = job.outcome()
    if outcome.state != "running":
        st.rerun()
    st.subheader("Running", anchor=False)
    release_stages.show(job, outcome)
    st.caption(
        f"{job.seconds:,.0f} s so far, in a process of its own: you can look at other pages, or "
        "close the browser and open this project's address again. That is the one in the "
        "browser's address bar now, with `?project=` and what follows; without it another, empty "
        "project opens. The fit prepares for a while before its bar moves."
    )
    if st.button(
        "Cancel the run", key="release_cancel", icon=":material/stop_circle:",
        disabled=outcome.stage == WRITING,
    ):  # fmt: skip
        with st.spinner("Stopping …"):
            job.cancel()
        st.rerun()
    if not job.public:
        st.caption(_if_cancelled(outcome))
    release_stages.log(job, key="release_running")


def _if_cancelled(outcome: Outcome) -> str:
    if outcome.stage in ("", "charge"):
        return "Nothing is measured yet: cancelled now, nothing is spent."
    if outcome.stage == WRITING:
        return "Everything is measured and drawn; the files are being written."
    return "Measuring has begun: cancelled now, the charge stands."


def _stopped(job: Job[Plan], outcome: Outcome) -> None:
    """Why it ended, and what the ledger says of it."""
    if outcome.state == "cancelled":
        st.warning("**The run was cancelled.** No file was written.", icon=":material/cancel:")
    else:
        st.error(plain(outcome.message), icon=":material/error:")
    if job.public:
        return
    charge = job.charge()
    if charge is None:
        st.info("**Nothing is spent:** no charge was written.", icon=":material/receipt_long:")
    elif not charge.counts:
        st.info(
            f"**Nothing is spent:** charge {charge.id} was written, and is marked void, because no "
            "mechanism had run.",
            icon=":material/receipt_long:",
        )
    else:
        st.warning(
            f"**The charge stands:** number {charge.id}, epsilon {eps_text(charge.epsilon)} of "
            f"“{plain(charge.asset)}” ({STATE_WORDS[charge.state]}). What was measured cannot be "
            "taken back, and nothing of it was given out.",
            icon=":material/receipt_long:",
        )


def _done(job: Job[Plan], outcome: Outcome) -> None:
    stamp = outcome.document["stamp"]
    plan = job.plan
    st.success(
        f"**{stamp.capitalize()}.** {outcome.document['rows']:,} synthetic rows, epsilon "
        f"{eps_text(plan.budget.epsilon)}, delta {delta_text(plan.delta)}.",
        icon=":material/verified:",
    )
    if outcome.document.get("charge"):
        st.caption(f"Charge number {outcome.document['charge']} in the ledger.")
    st.caption(f"The files stand in {plain(str(job.result))}, for this user only.")
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
