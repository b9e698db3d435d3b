"""Comparing synthetic with real rows, on request."""

from __future__ import annotations

import streamlit as st

from dashboard.state import project
from dashboard.widgets import mistakes
from prism_core.bundle import writer
from prism_core.data.tables import read_table
from prism_core.pipeline import evaluate
from prism_core.workspace import encode_synthetic, fresh_rng, in_memory


def section() -> None:
    """The button that reads the real rows once more, without noise."""
    st.warning(
        "This reads the real rows without noise. What it shows is not covered by epsilon and is "
        "meant for the data curator only. Making several releases and keeping the one with the "
        "best numbers is itself a leak.",
        icon=":material/visibility_lock:",
    )
    if not st.button(
        "Compare with the real rows", type="primary", key="inspect_run", icon=":material/compare:"
    ):
        return
    state = project()
    assert state.folder is not None and state.holdout is not None
    bar = st.progress(0.0, text="Training on synthetic and on real rows …")

    def tell(share: float, text: str) -> None:
        bar.progress(share, text=text)

    with mistakes():
        folder = writer.read(state.folder)
        rng = fresh_rng()
        state.evaluation = evaluate(
            encode_synthetic(folder.schema, read_table(folder.synthetic)),
            in_memory(state.holdout, rng),
            target=folder.certificate["task"]["target"],
            train=None if state.train is None else in_memory(state.train, rng),
            s=tuple(folder.certificate["task"]["s"]),
            progress=tell,
        )
        st.rerun()
