"""The workspace's maximum epsilon on a page: what is above it, and the tick that allows it."""

from __future__ import annotations

import streamlit as st

from dashboard.state import project
from dashboard.widgets import plain
from prism_core.errors import PrismError
from prism_core.privacy.ledger import default_workspace, rules


def tick(epsilon: float, key: str) -> None:
    """Beside an entry of epsilon: where it is above the maximum, the curator may say so.

    Nothing is shown for public rows, nor below the maximum. What is ticked holds for this project
    and this maximum, wherever an epsilon is entered; plans above it say so on every paper.

    Args:
        epsilon: as entered.
        key: of the widget.
    """
    state = project()
    if state.public:
        return
    try:
        most = rules.max_epsilon(default_workspace())
    except PrismError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    if not epsilon > most:
        return

    def take() -> None:
        state.allowed_above = most if st.session_state[key] else None

    st.checkbox(
        f"I decide: epsilon may be above this workspace's maximum of {most:g}. The protocol, the "
        "certificate and the report will say so.",
        value=state.allowed_above == most, key=key, on_change=take,
    )  # fmt: skip


def above(epsilon: float) -> float | None:
    """The maximum where this epsilon exceeds it on purpose, None where it does not.

    Raises:
        BudgetError: when it does and that is not ticked.
    """
    return project().above_limit(epsilon)


def warned(warnings: tuple[str, ...]) -> None:
    """What a plan warns of, before anything is charged."""
    for warning in warnings:
        st.warning(plain(warning), icon=":material/warning:")
