"""Attribution of a release: who releases what for which purpose, for report and registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common.fields import replaced, showing
from dashboard.common.widgets import cached
from dashboard.session.shelf import project
from prism_core.bundle.reader import read_said
from prism_core.planning.wishes.curator_statement import LABELS, LONGEST, NEEDED, CuratorStatement

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dashboard.session.project import Project

TITLE = "Who, what and why: your words for the committee"
"""Over the form of the statement."""


def before(state: Project) -> None:
    """The entries before a run, which go into its bundle."""
    with st.expander(TITLE, icon=":material/badge:", key="said_before", on_change="rerun"):
        st.caption(
            "It goes into the protocol, the report, the certificate and the data sheet. It is "
            "public once they are handed over. Say nothing here that only the rows know."
        )
        ledger = {"asset": state.account.asset.strip(), "purpose": state.account.why.strip()}
        # What is typed already is not overwritten.
        offered = {name: text for name, text in ledger.items() if text and not _typed(state, name)}
        if offered and not state.data.public:
            st.button(
                f"Take the ledger's {' and '.join(offered)}",
                key="said_ledger",
                icon=":material/receipt_long:",
                on_click=state.release.said.update,
                args=(offered,),
                help="The ledger keeps both for you alone; this makes them public.",
            )
        _all(state, {})


def said(state: Project) -> CuratorStatement:
    """What is said before a run.

    Raises:
        BundleError: naming the entry that is not usable.
    """
    return CuratorStatement(**{name: _typed(state, name) for name in LABELS})


def entries(state: Project, folder: Path) -> CuratorStatement:
    """What a copy of the report says beyond its bundle; empty where it says the same.

    Entries begin as the bundle has them; asset and purpose else as the ledger has them.

    Raises:
        BundleError: naming the entry that is not usable.
    """
    own = cached("said_in_bundle", (folder,), lambda: read_said(folder)).to_dict()
    begun = {"asset": state.account.asset[:LONGEST], "purpose": state.account.why[:LONGEST]} | own
    blank = sum(not state.release.said.get(name, begun.get(name, "")).strip() for name in NEEDED)
    with st.expander(TITLE, icon=":material/badge:", key="said_open", on_change="rerun"):
        st.caption(
            "What was entered before the run stands in the bundle. What you change here goes into "
            "this copy and into the next run, not into this bundle, so it is public once you hand "
            "the copy over. Say nothing here that only the rows know."
        )
        _all(state, begun)
    if blank:
        noun = "entry is" if blank == 1 else "entries are"
        st.caption(f":orange[{blank} {noun} blank that a committee will ask for.]")
    shown = {name: state.release.said.get(name, begun.get(name, "")).strip() for name in LABELS}
    return CuratorStatement(**{name: text for name, text in shown.items() if text != own.get(name)})


def _typed(state: Project, name: str) -> str:
    return state.release.said.get(name, "").strip()


def _all(state: Project, begun: Mapping[str, str]) -> None:
    _fields(state, NEEDED, begun)
    st.caption("For a registry of deployments (technical annex):")
    _fields(state, [name for name in LABELS if name not in NEEDED], begun)


def _fields(state: Project, names: list[str] | tuple[str, ...], begun: Mapping[str, str]) -> None:
    for row in range(0, len(names), 2):
        for place, name in zip(st.columns(2, gap="large"), names[row : row + 2], strict=False):
            label, text = LABELS[name]
            value = state.release.said.get(name, begun.get(name, ""))
            # The button above changes the words, too: under one key a field would keep what it
            # showed.
            key = showing(f"said_{name}", value)
            place.text_input(
                label,
                value=value,
                key=key,
                max_chars=LONGEST,
                placeholder=text,
                on_change=_say,
                args=(name, key),
            )


def _say(name: str, key: str) -> None:
    if not replaced(key):
        project().release.said[name] = st.session_state[key]
