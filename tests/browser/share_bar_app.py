"""A page around the bar of shares for the browser tests; ``?case=hostile`` has odd labels."""

import json

import streamlit as st

from dashboard.components.share_bar import SharePart, share_bar

COLOURS = ("#009E73", "#CC79A7", "#0072B2", "#E69F00")
PATTERNS = (".", "x", "", "/")
LABELS = {
    "plain": ("Choosing", "Triples", "Task", "Background"),
    "hostile": ("<img src=x onerror=alert(1)>", "</style><script>alert(2)</script>", "$x$", "体重"),
}


def bar_page() -> None:
    """Show the bar, what came back, and the switches the tests need."""
    state = st.session_state
    state.setdefault("tenths", [100, 50, 650, 200])
    state.setdefault("rev", 0)
    labels = LABELS[st.query_params.get("case", "plain")]
    if st.button("Reset in Python"):
        state.tenths, state.rev = [250, 250, 250, 250], state.rev + 1
    found = share_bar(
        key="bar",
        rev=state.rev,
        label="Shares",
        parts=[
            SharePart(label=label, tenths=tenths, least=10, colour=colour, pattern=pattern)
            for label, tenths, colour, pattern in zip(
                labels, state.tenths, COLOURS, PATTERNS, strict=True
            )
        ],
    )
    if found is not None:
        state.tenths = list(found)
    with st.container(key="got"):
        st.text(json.dumps({"rev": state.rev, "tenths": state.tenths}))


def other_page() -> None:
    """A place to go away to."""
    st.header("Elsewhere")


st.set_page_config(layout="wide")
st.navigation(
    [st.Page(bar_page, title="Bar", default=True), st.Page(other_page, title="Other")]
).run()
