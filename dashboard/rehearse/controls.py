"""Controls of a rehearsal: stand-in rows, designs, values of epsilon; and its start."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.common import public_claim, rehearsal_run, uploads
from dashboard.common.fields import keeping
from dashboard.common.widgets import mistakes
from dashboard.session.shelf import project
from prism_core.data.tables.address import sheet_digest
from prism_core.data.tables.header import check_columns
from prism_core.data.tables.raw_table import read_table
from prism_core.errors import PrismError
from prism_core.rehearsal.variants import MOST_SEEDS
from prism_core.samples import catalogue
from prism_core.samples.additive_scm import ODDS, STRENGTHS
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from dashboard.session.rehearsals import Comparison, RehearsalEntries, Source

_SOURCES: dict[Source, str] = {"graph": "The graph", "sample": "A sample", "file": "A public file"}
_COMPARISONS: dict[Comparison, str] = {
    "regime": "What to protect (regimes)",
    "allocation": "The plan against other splits",
    "designs": "Designs A and B",
}
_COMPARED: dict[Comparison, str] = {
    "regime": "Causal, graphical and predictive, as far as the graph allows: what each protects "
    "decides what stands after a shift.",
    "allocation": "How each pool is split over its tables.",
    "designs": "as they are on the page Budget.",
}
MOST_EDGES = 400
"""Most edges that are listed for a strength of their own."""


def _kept(entries: RehearsalEntries, attribute: str) -> dict[str, Any]:
    return keeping(entries, attribute, f"rehearse_{attribute}", getattr(entries, attribute))


def section() -> None:
    """What is run on which rows, and two buttons."""
    entries = project().rehearsing
    st.markdown("**Rows to try it on**")
    _rows(entries)
    st.markdown("**Compare**")
    _designs(entries)
    _runs(entries)
    _buttons(entries)


def _rows(entries: RehearsalEntries) -> None:
    st.segmented_control(
        "Rows",
        list(_SOURCES),
        format_func=_SOURCES.__getitem__,
        required=True,
        default=entries.source,
        label_visibility="collapsed",
        **_kept(entries, "source"),
        width="stretch",
    )
    if entries.source == "sample":
        names = {name: catalogue.title(name) for name in catalogue.SAMPLES}
        st.selectbox(
            "Sample",
            list(names),
            format_func=names.__getitem__,
            index=list(names).index(entries.sample),
            **_kept(entries, "sample"),
        )
        st.caption("With its own columns, graph and target; the regime and the budget are yours.")
    elif entries.source == "file":
        _file(entries)
    else:
        _drawn(entries)


def _drawn(entries: RehearsalEntries) -> None:
    known = project().dag is not None
    st.select_slider(
        "Strength of the effects",
        STRENGTHS,
        value=entries.strength,
        **_kept(entries, "strength"),
        help="; ".join(f"{name}: odds times {odds:g}" for name, odds in ODDS.items())
        + " when the cause moves from one standard deviation below its mean to one above.",
    )
    if not known:
        st.caption(
            "No graph is known, so a random sparse one stands in: up to 8 columns related to the "
            "target."
        )
    with st.popover("More about these rows", icon=":material/tune:", width="stretch"):
        st.number_input(
            "Seed",
            0,
            2**31 - 1,
            value=entries.world,
            **_kept(entries, "world"),
            help="Base rates and directions that nobody stated are drawn from it.",
        )
        if known:
            _edges(entries)


def _edges(entries: RehearsalEntries) -> None:
    dag = project().dag
    assert dag is not None
    # The stand-in rows are known by all strengths: one of an edge that is gone would make others of
    # them.
    entries.strengths = {e: s for e, s in entries.strengths.items() if e in set(dag.edges)}
    shown = dag.edges[:MOST_EDGES]
    frame = pd.DataFrame(
        {
            "cause": [cause for cause, _ in shown],
            "effect": [effect for _, effect in shown],
            "strength": [entries.strengths.get(edge) for edge in shown],
        }
    )
    st.caption("An empty strength is that of the slider.")
    edited = st.data_editor(
        frame,
        hide_index=True,
        # Edits are kept by the number of a row: other edges need another widget.
        key=f"rehearse_edges_{hash(shown)}",
        disabled=["cause", "effect"],
        column_config={"strength": st.column_config.SelectboxColumn(options=list(STRENGTHS))},
    )
    strengths = zip(shown, edited["strength"], strict=True)
    entries.strengths.update({edge: s for edge, s in strengths if s in STRENGTHS})
    for edge, strength in zip(shown, edited["strength"], strict=True):
        if strength not in STRENGTHS:
            entries.strengths.pop(edge, None)


def _file(entries: RehearsalEntries) -> None:
    file = uploads.table(
        "A public file with the same columns",
        "rehearse_upload",
        "For example a synthetic release, or an open survey.",
    )
    if file is not None:
        with mistakes():
            sheet = uploads.sheet(file, "rehearse_upload")
            # Read at once, unless there is a sheet to choose before.
            if not sheet or st.button("Use this sheet", key="rehearse_sheet"):
                _take(entries, file.name, file.getvalue(), sheet)
                uploads.let_go(file, "rehearse_upload")
                st.rerun()
    if entries.public is None:
        st.caption("Upload it only if everybody may see it: it is measured with known noise.")
    else:
        st.caption(f"In use: {plain(entries.public.name)}, {entries.public.rows:,} public rows.")


def _take(entries: RehearsalEntries, name: str, content: bytes, sheet: str) -> None:
    """Read an upload once; rows that are known as private are refused.

    Raises:
        KnownPrivateError: for those; no rows are in use then.
        TableError: for what cannot be read.
    """
    digest = sheet_digest(hashlib.sha256(content).hexdigest(), sheet)
    if digest == entries.public_sha256:
        return
    # First: where the new file is refused, the rows of the old one must not stay in use.
    entries.public, entries.public_sha256 = None, ""
    raw = read_table(content, name=name, sheet=sheet)
    schema = project().data.schema
    check_columns(() if schema is None else schema.names, raw.header, raw.name)
    public_claim.check(raw)
    entries.public, entries.public_sha256 = raw, digest


def _designs(entries: RehearsalEntries) -> None:
    options: dict[Comparison, str] = dict(_COMPARISONS)
    if not project().designs.others:
        del options["designs"]
    # The last design beside the plan may have been removed on the page Budget.
    if entries.comparison not in options:
        entries.comparison = "regime"
    st.radio(
        "Compare",
        list(options),
        format_func=options.__getitem__,
        help=" ".join(f"**{options[option]}**: {_COMPARED[option]}" for option in options),
        index=list(options).index(entries.comparison),
        label_visibility="collapsed",
        **_kept(entries, "comparison"),
    )


def _runs(entries: RehearsalEntries) -> None:
    left, right = st.columns(2, gap="small")
    left.text_input(
        "Values of epsilon",
        value=entries.epsilons,
        **_kept(entries, "epsilons"),
        help="With commas between; with decimal commas, semicolons between: 0,5; 1.",
    )
    right.number_input(
        "Runs of each",
        1,
        MOST_SEEDS,
        value=entries.seeds,
        **_kept(entries, "seeds"),
        help="Each with noise of its own; the same noise for every design. Ten give useful "
        "intervals.",
    )
    st.toggle(
        "Also after a shift (another place, later)",
        value=entries.shifted,
        **_kept(entries, "shifted"),
        help="Scored a second time on rows where the target's consequences no longer follow it, "
        "and a third time where its causes have moved. Costs no further runs.",
    )


def _buttons(entries: RehearsalEntries) -> None:
    busy = entries.job is not None
    wanted = st.button(
        "Run the rehearsal",
        type="primary",
        icon=":material/play_arrow:",
        key="rehearse_run",
        disabled=busy,
        width="stretch",
    )
    chosen = st.button(
        "Choose the split for me",
        icon=":material/auto_awesome:",
        key="rehearse_auto",
        disabled=busy,
        width="stretch",
        help="Tries five splits (allocations) between equal shares and the closed form, with and "
        "without 3-way tables, at the plan's epsilon and with as many runs as above, and says "
        "which one and why.",
    )
    st.caption(_estimate(entries))
    if wanted or chosen:
        with mistakes(), st.spinner("Preparing the stand-in rows …"):
            rehearsal_run.start(choosing=chosen)
            st.rerun()


def _estimate(entries: RehearsalEntries) -> str:
    try:
        return rehearsal_run.estimate(entries)
    except PrismError as error:
        return plain(str(error))
