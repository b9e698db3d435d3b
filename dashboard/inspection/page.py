"""Inspect: can I trust it?"""

from __future__ import annotations

import streamlit as st

from dashboard.common.fields import keep
from dashboard.common.steps import STEPS
from dashboard.common.widgets import heading, onward, require_earlier_steps
from dashboard.inspection import (
    holdout_session,
    private_numbers,
    results,
    shapes,
    side_by_side,
    subgroups,
    trust,
)
from dashboard.inspection.figure import badge, score_card
from dashboard.inspection.results import ask, inspection
from dashboard.session.shelf import project
from prism_core.evaluation import OUTSIDE_EPSILON, memorisation
from prism_core.evaluation.fidelity.memorisation import STRONGER
from prism_core.evaluation.score_text import percent
from prism_core.runs.inputs import fresh_rng
from prism_core.text.markdown import plain


def _memorisation() -> None:
    """Nearest record, membership, exact copies; started by a button."""
    subject = inspection().subject
    st.markdown(f"**{STRONGER}**")
    if "memorisation" not in inspection().works and not st.button(
        "Run both tests", type="primary", key="memorisation_run", icon=":material/manage_search:"
    ):
        return
    # In a tuple: None means to `ask` that work goes on, and here that there is nothing to compare.
    done = ask("memorisation", lambda tell: (memorisation(subject, fresh_rng(), tell),))
    if done is None:
        return
    (found,) = done
    if found is None:
        st.info(
            "The rows that this release was made from are no longer in memory, or there are too "
            "few of them.",
            icon=":material/info:",
        )
        return
    first, second, third = st.columns(3)
    score_card(
        first,
        "Nearer to a row it was made from",
        found.closer,
        found.closer_interval,
        "Share of synthetic rows whose nearest training row differs in fewer columns than their "
        "nearest row kept aside. 50%: nothing was copied.",
        percent,
    )
    score_card(
        second,
        "AUC of a membership attack",
        found.membership,
        found.membership_interval,
        "Who is near a synthetic row is taken for a member. 0.5 is guessing.",
    )
    score_card(
        third,
        "Equal in every column to a row it was made from",
        found.copies,
        None,
        f"Of the rows kept aside, {percent(found.copies_aside)} have a synthetic twin by chance.",
        percent,
    )
    st.markdown(plain(found.sentence))
    st.caption(f"{found.rows:,} rows of each table were compared with each other.")


SECTIONS = {
    "Can I trust it?": trust.section,
    "Where the error comes from": shapes.error_section,
    "Columns and pairs": shapes.shapes_section,
    "Subgroups": subgroups.section,
    "Memorisation": _memorisation,
    "Compare": side_by_side.section,
    "Private numbers": private_numbers.section,
    "Ask the holdout": holdout_session.section,
}
# Sections whose numbers are differentially private. (No text: Streamlit would show it.)
INSIDE = ("Private numbers", "Ask the holdout")

heading("Inspect", "Does the synthetic table serve in place of the real one?")
require_earlier_steps("Inspect")
state = project()
if state.inspection.shown is None:
    results.section()
    # Who does not want the real rows read again needs no comparison for the report.
    st.page_link(STEPS[-1].page, label="Go to Report without comparing", icon=STEPS[-1].icon)
else:
    results.choose_target()
    names = list(SECTIONS)
    chosen = st.segmented_control(
        "Section",
        names,
        default=state.inspection.shown.section or names[0],
        key="inspect_section",
        required=True,
        label_visibility="collapsed",
        on_change=keep,
        args=(state.inspection.shown, "section", "inspect_section"),
    )
    section = chosen or names[0]
    if section not in INSIDE:
        badge(OUTSIDE_EPSILON)
    SECTIONS[section]()
    onward("Inspect")
