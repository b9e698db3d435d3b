"""Run under way with its stages and log, and what it left."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common import asset_entry, plan_changes
from dashboard.common.widgets import chart
from dashboard.jobs.folders import RESULT
from dashboard.jobs.progress import TITLES, WRITING
from dashboard.session.shelf import project, unreadable_run
from prism_core.bundle.manifest import zip_bytes
from prism_core.bundle.reader import read_bundle
from prism_core.bundle.write import bundle_folder
from prism_core.figures import parts_figure, parts_words
from prism_core.planning.approval import same_asset
from prism_core.privacy.ledger import STATE_WORDS
from prism_core.synthesis.fine_counts import FoundParts, found_parts
from prism_core.text.markdown import plain
from prism_core.text.numbers import delta_text, eps_text, left_text

if TYPE_CHECKING:
    from pathlib import Path

    from dashboard.jobs.job import Job, JobOutcome
    from prism_core.planning.plan import Plan

_SINGLE = (
    (bundle_folder.SCHEMA, "Schema (YAML)"),
    (bundle_folder.PLAN, "Plan (JSON)"),
    (bundle_folder.CERTIFICATE, "Certificate (JSON)"),
)
_ROWS_HIGH = 178  # pixels: four rows and the names of the columns


def section() -> None:
    """The view of the project's run."""
    state = project()
    job = state.release.job
    assert job is not None
    if state.release.notice:
        st.warning(plain(state.release.notice), icon=":material/fingerprint:")
    outcome = job.outcome()
    if outcome.state == "running":
        plan_changes.plan_changed_notice(job)
        _watch()
        return
    plan_changes.plan_changed_notice(job)
    if outcome.state == "done":
        state.release.folder = job.result
        _done(job, outcome)
    else:
        _stopped(job, outcome)
    left, right = st.columns(2)
    with left.expander("Stages and times", icon=":material/checklist:"):
        show_stages(job, outcome)
    with right:
        show_log(job, key="release_ended")
    if st.button("Prepare another run", key="release_again", icon=":material/restart_alt:"):
        # A run that failed after its charge has used the approval up, too.
        if outcome.state == "done" or not (job.public or job.charge() is None):
            state.release.approved = None  # it was given for one run
        state.forget_results()
        st.rerun()


def unreadable_notice() -> None:
    """What became of a run whose folder another version wrote, or somebody changed."""
    folder = unreadable_run()
    if folder is not None and project().release.job is None:
        st.warning(
            "The last run of this project cannot be shown: another version of the program wrote "
            "its folder, or a file in it was changed. If a charge was written, it stands in the "
            f"ledger. What the run gave out is in {plain(str(folder / RESULT))}: `prism verify` "
            "checks it. Nothing was deleted.",
            icon=":material/folder_off:",
        )


@st.fragment(run_every=0.7)
def _watch() -> None:
    job = project().release.job
    if job is None:
        st.rerun()
        return
    outcome = job.outcome()
    # The whole page: what stands after a run is outside of this fragment.
    if outcome.state != "running":
        st.rerun()
    st.subheader("Running", anchor=False)
    if job.waiting:
        st.info("Waiting until other runs have ended.", icon=":material/hourglass_empty:")
    show_stages(job, outcome)
    st.caption(
        f"{job.seconds:,.0f} s so far, in a process of its own: you can look at other pages, or "
        "close the browser and open this project's address again. That is the one in the "
        "browser's address bar now, with `?project=` and what follows; without it another, empty "
        "project opens. The fit prepares for a while before its bar moves."
    )
    if st.button(
        "Cancel the run",
        key="release_cancel",
        icon=":material/stop_circle:",
        # Everything is paid for by then, and only the files are missing.
        disabled=outcome.stage == WRITING,
    ):
        with st.spinner("Stopping …"):
            job.cancel()
        st.rerun()
    if not job.public:
        st.caption(_if_cancelled(outcome))
    show_log(job, key="release_running")


def _if_cancelled(outcome: JobOutcome) -> str:
    if outcome.stage in ("", "charge"):
        return "Nothing is measured yet: cancelled now, nothing is spent."
    if outcome.stage == WRITING:
        return "Everything is measured and drawn; the files are being written."
    return "Measuring has begun: cancelled now, the charge stands."


def _stopped(job: Job[Plan], outcome: JobOutcome) -> None:
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


def _done(job: Job[Plan], outcome: JobOutcome) -> None:
    """The bundle first; then what it cost, what is left, and the first rows."""
    stamp = outcome.document["stamp"]
    plan = job.plan
    st.success(
        f"**{stamp.capitalize()}.** {outcome.document['rows']:,} synthetic rows, epsilon "
        f"{eps_text(plan.budget.epsilon)}, delta {delta_text(plan.delta)}.",
        icon=":material/verified:",
    )
    spent, left, bundle = st.columns([1, 1, 1.4], vertical_alignment="center")
    spent.metric("Spent", "nothing" if job.public else f"ε {_cost(job)}", border=True)
    left.metric("Left for one more release", _left(job), border=True)
    with bundle:
        st.download_button(
            "The bundle (ZIP)",
            zip_bytes(job.result),
            "prism-bundle.zip",
            key="download_zip",
            icon=":material/folder_zip:",
            type="primary",
            width="stretch",
            help="All files that may be handed over, with the noisy counts, the certificate, a "
            "data sheet and checksums. `prism verify` checks them without the private rows.",
        )
        _file(job, bundle_folder.SYNTHETIC, "Synthetic rows (CSV)")
    if outcome.document.get("charge"):
        st.caption(f"Charge number {outcome.document['charge']} in the ledger.")
    st.dataframe(
        _head(job.result / bundle_folder.SYNTHETIC),
        hide_index=True,
        width="stretch",
        height=_ROWS_HIGH,
        key="release_rows",
    )
    if plan.coarsening is not None:
        with st.expander("Bins that were found", icon=":material/align_vertical_bottom:"):
            found_bins(job.result)
    with st.expander("Single files", icon=":material/folder_open:"):
        st.caption(f"The files stand in {plain(str(job.result))}, for this user only.")
        with st.container(horizontal=True):
            for name, title in _SINGLE:
                _file(job, name, title)


def found_bins(folder: Path) -> None:
    """A picture of one column's fine grid and its cuts."""
    found = {one.name: one for one in _parts_found(str(folder))}
    chosen = found[st.selectbox("Column", list(found), key="found_bins_column")]
    chart(parts_figure(chosen), key="found_bins", alt=parts_words(chosen))
    st.caption(
        f"{plain(parts_words(chosen))} Everything here follows from the noisy counts of the "
        "bundle, so it may be shown to anybody."
    )


@st.cache_data(max_entries=4, show_spinner=False)  # a finished bundle does not change
def _parts_found(folder: str) -> tuple[FoundParts, ...]:
    bundle = read_bundle(folder)
    return found_parts(bundle.schema, bundle.choices.parts or (), bundle.measurements)


def _file(job: Job[Plan], name: str, title: str) -> None:
    st.download_button(
        title,
        (job.result / name).read_bytes(),
        name,
        key=f"download_{name}",
        icon=":material/download:",
        width="stretch",
    )


def _cost(job: Job[Plan]) -> str:
    """Epsilon of the charge; that of the plan where the ledger does not hold it any more."""
    charge = job.charge()
    return eps_text(job.plan.budget.epsilon if charge is None else charge.epsilon)


def _left(job: Job[Plan]) -> str:
    """What the asset's lifetime budget still holds, as far as this asset is the one named."""
    if job.public:
        return "everything"
    charge = job.charge()
    balance = asset_entry.balance(job.plan.delta)
    if charge is None or balance is None or not same_asset(charge.asset, balance.asset.name):
        return "–"
    return f"ε {left_text(balance.left_epsilon)}"


def _head(path: Path):  # noqa: ANN202
    import pandas as pd

    # As text: pandas would read 01 as 1, and the level NA as a missing value.
    return pd.read_csv(path, nrows=20, dtype=str, keep_default_na=False)


def stages(job: Job[Plan]) -> list[str]:
    """Keys of the stages that this run goes through, in order."""
    skipped = set() if job.plan.selection else {"select"}
    if job.public:
        skipped.add("charge")
    if job.plan.coarsening is None:
        skipped.add("coarsen")
    if job.plan.interactions is None:
        skipped.add("interactions")
    if job.plan.three_way is None:
        skipped.add("three_way")
    if job.plan.tree is None:
        skipped.add("forest")
    return [key for key in TITLES if key not in skipped]


def show_stages(job: Job[Plan], outcome: JobOutcome) -> None:
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


def show_log(job: Job[Plan], *, key: str) -> None:
    """The log, to be opened; it holds no private value."""
    text = job.log
    if not text:
        return
    with st.expander("Log: what was done when", icon=":material/article:"):
        st.code(text, language=None, wrap_lines=True)
        st.download_button(
            "Download the log",
            text,
            "run-log.txt",
            key=f"{key}_log",
            on_click="ignore",
            icon=":material/download:",
        )
        st.caption(
            "It follows from the plan, the ledger and the clock. Times are those of whole stages, "
            "in whole seconds."
        )


def _took(outcome: JobOutcome, key: str, job: Job[Plan]) -> str:
    """How long a stage that is over took."""
    began = outcome.times.get(key)
    if began is None:
        return ""
    order = list(outcome.times)
    following = order[order.index(key) + 1 :]
    # A stage tells only when it began; it ends where the next one begins.
    end = outcome.times[following[0]] if following else int(job.started + job.seconds)
    return f" · {_seconds(max(0, end - began))}"


def _seconds(whole: int) -> str:
    return "under 1 s" if whole < 1 else f"{whole:,} s"
