"""Report: what do I hand over?"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common import attribution, plan_changes
from dashboard.common.fields import keep, language_entry
from dashboard.common.widgets import cached, heading, mistakes, require_earlier_steps
from dashboard.key import access
from dashboard.session.shelf import project
from prism_core.bundle.account import Account, account_after
from prism_core.bundle.manifest import zip_bytes
from prism_core.bundle.notebook import notebook
from prism_core.bundle.reader import read_bundle
from prism_core.bundle.report.report_copy import MISSING, chromium, copy_report, report_pdf
from prism_core.bundle.report.report_extras import Extras, outside
from prism_core.errors import BundleError, LedgerError, PrismError
from prism_core.evaluation import INSIDE_EPSILON, OUTSIDE_EPSILON
from prism_core.evaluation.results import MetricRow

if TYPE_CHECKING:
    from pathlib import Path

    from dashboard.session.project import Project
    from prism_core.bundle.certificate import Facts
    from prism_core.rehearsal.estimates import Estimate

_TALL = 620  # pixels of the window on the report: it scrolls, and the page does not
_PDF = "report_pdf_kept"


def _report() -> None:
    """Everything on the page; nothing here reads a private row or spends anything."""
    state = project()
    assert state.release.folder is not None
    folder = state.release.folder
    plan_changes.plan_changed_notice(state.release.job)
    downloads = st.container()  # first on the screen, and made of what is chosen below it
    with mistakes():
        extras = _chosen(state)
        html = cached("report_kept", (folder, extras), lambda: copy_report(folder, extras))
        with downloads:
            _downloads(folder, html, extras)
        if extras.evaluation is not None:
            st.warning(f"**Outside epsilon.** {OUTSIDE_EPSILON}", icon=":material/visibility_off:")
        st.iframe(html, height=_TALL, alt="The report, page by page")


def _chosen(state: Project) -> Extras:
    """What the curator puts into this copy."""
    rows, rehearsed, account = _measured(state), _rehearsed(state), _account(state)
    # An inspection that was let go of has left behind what was paid for.
    bought = (
        state.inspection.bought
        if state.inspection.shown is None
        else state.inspection.shown.private
    )
    private = [found for found in bought if found.covered]  # a rehearsal is not private
    assert state.release.folder is not None
    said = attribution.entries(state, state.release.folder)
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    day = row.date_input(
        "Date on the report",
        width=180,
        value=state.report.date,
        key="report_date",
        on_change=keep,
        args=(state.report, "date", "report_date"),
        help="Nothing else in it depends on the day, so it can be written again and compared.",
    )
    with row:
        language = language_entry("report_language")
        add_rehearsed = _toggle(
            "rehearsed",
            "Add the rehearsals",
            bool(rehearsed),
            "Means of the runs on stand-in rows. No real row is in them.",
            "Rehearse first: there is nothing to add.",
        )
        add_private = _toggle(
            "private",
            "Add the private numbers",
            bool(private),
            INSIDE_EPSILON,
            "Buy them on the page Inspect, under Private numbers.",
        )
        add_account = _toggle(
            "account",
            "Add the account",
            account is not None,
            "Every charge on the same people, with its day, as the ledger has them now.",
            "This run has no charge in the ledger.",
        )
        add_outside = _toggle(
            "outside",
            "Add numbers outside epsilon",
            bool(rows),
            OUTSIDE_EPSILON,
            "Comparisons with real rows; none yet. They are made on Inspect.",
        )
    return Extras(
        said=said,
        date="" if day is None else day.isoformat(),
        rehearsed=rehearsed if add_rehearsed else (),
        private=tuple(found.to_dict() for found in private) if add_private else (),
        evaluation=outside(rows) if add_outside else None,
        account=account if add_account else None,
        language=language,
    )


def _toggle(name: str, label: str, there: bool, text: str, missing: str) -> bool:
    """An opt-in that is off unless it was asked for, and cannot be on without anything to add."""
    key = f"report_{name}"
    on = st.toggle(
        label,
        value=there and getattr(project().report, name),
        key=key,
        disabled=not there,
        help=text if there else missing,
        on_change=keep,
        args=(project().report, name, key),
    )
    # Both: the switch keeps what it showed when the thing to add has gone.
    return there and on


def _account(state: Project) -> Account | None:
    """The account with this release in it; None where it has no charge here."""
    facts = _facts(state)
    if facts.charge is None:
        return None
    # The report is whole without the account, and its switch says that there is none.
    with suppress(BundleError, LedgerError):
        return account_after(access.workspace(), facts)
    return None


def _measured(state: Project) -> list[MetricRow]:
    """Rows of the comparisons that were worked out in this session."""
    if state.inspection.shown is None:
        return []
    found = state.inspection.shown.done("").values()
    rows = (row for result in found for row in getattr(result, "rows", ()))
    return [row for row in rows if isinstance(row, MetricRow)]


def _rehearsed(state: Project) -> tuple[Estimate, ...]:
    """Means of the rehearsal of the released plan; none where the last one was of another plan."""
    from dashboard.common.rehearsal_run import of_plan

    if state.data.schema is None:  # taken away since: the finished release is still shown
        return ()
    try:
        plan = state.plan()
    except PrismError:
        return ()
    return of_plan() if plan.hash == _facts(state).planned_sha256 else ()


def _facts(state: Project) -> Facts:
    folder = state.release.folder
    assert folder is not None
    return cached("report_facts", (folder,), lambda: read_bundle(folder).facts)


def _downloads(folder: Path, html: str, extras: Extras) -> None:
    own = " with your additions" if extras.some else ""
    first, second, third, fourth = st.columns(4)
    first.download_button(
        "Report (HTML)",
        html.encode("utf-8"),
        f"{_stem(extras)}.html",
        "text/html",
        key="report_html",
        icon=":material/download:",
        type="primary",
        width="stretch",
        on_click="ignore",
        help=f"One file{own} that opens anywhere and loads nothing from elsewhere.",
    )
    with second:
        _paper(html, _stem(extras))
    third.download_button(
        "The bundle (ZIP)",
        cached("report_zip", (folder,), lambda: zip_bytes(folder)),
        "prism-bundle.zip",
        "application/zip",
        key="report_zip_download",
        icon=":material/folder_zip:",
        width="stretch",
        on_click="ignore",
        help="Rows, noisy counts, certificate, checksums, and the report without any addition.",
    )
    fourth.download_button(
        "Notebook (ipynb)",
        cached("report_notebook", (folder,), lambda: notebook(folder)),
        "release.ipynb",
        "application/x-ipynb+json",
        key="report_notebook_download",
        icon=":material/code_blocks:",
        width="stretch",
        on_click="ignore",
        help="Put it into the unpacked bundle: it fits the model and draws the rows again, from "
        "the noisy counts.",
    )


def _stem(extras: Extras) -> str:
    """The file's name says what must not be handed over by mistake."""
    return "report" if extras.evaluation is None else "report-with-numbers-outside-epsilon"


def _paper(html: str, stem: str) -> None:
    """Two clicks: the browser of the machine prints, then the file is there."""
    kept = st.session_state.get(_PDF)
    # Printed for exactly this text: a PDF of an earlier one must not be handed out under it.
    if kept is not None and kept[0] == html:
        st.download_button(
            "Report (PDF)",
            kept[1],
            f"{stem}.pdf",
            "application/pdf",
            key="report_pdf",
            icon=":material/picture_as_pdf:",
            width="stretch",
            on_click="ignore",
        )
        return
    there = chromium() is not None
    if st.button(
        "Prepare the PDF",
        key="report_print",
        icon=":material/print:",
        width="stretch",
        disabled=not there,
        help="Takes some seconds." if there else MISSING,
    ):
        with st.spinner("Printing …"), mistakes():
            st.session_state[_PDF] = (html, report_pdf(html))
            st.rerun()


heading("Report", "What is handed over: the report as the committee will see it, and the bundle.")
require_earlier_steps("Inspect")  # a run is needed; looking at its rows beside real ones is not
_report()
