"""Memorisation: the two tests that people ask for, and why epsilon is the stronger answer."""

from __future__ import annotations

import streamlit as st

from dashboard.inspection.figure import score_card
from dashboard.inspection.results import ask, inspection
from prism_core.evaluation import memorisation
from prism_core.evaluation.fidelity.memorisation import STRONGER
from prism_core.evaluation.score_text import percent
from prism_core.runs.inputs import fresh_rng
from prism_core.text.markdown import plain


def section() -> None:
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
