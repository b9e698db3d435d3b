"""Implications of the graph, before any row: independences, and why the blanket is enough."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common.widgets import mistakes
from dashboard.session.shelf import project
from prism_core.explain.features_statement import statement_without
from prism_core.structure.independence import (
    Independence,
    blanket_sufficiency,
    d_separated,
    local_basis,
    missing_edges,
)
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prism_core.structure.dag import Dag

_LISTED = 25
_NAMED = 6
_NEAR = "Pairs with Y"
_PAIRS = "All pairs"
_BASIS = "One a column"
_HELP = {
    _NEAR: "Each column without an edge to Y, and what must be known to make the two independent.",
    _PAIRS: "Each two columns without an edge between them, and what makes them independent.",
    _BASIS: "Given its causes, a column has nothing to do with what it does not cause. These "
    "statements imply all others.",
}
_BASIS_TIED = (
    "Each column, and what makes it independent of the others that it does not cause. Unmeasured "
    "nodes are in no statement: nobody can know them."
)


def section() -> None:
    """A question, the statements, and why the blanket is enough."""
    dag, target = project().dag, project().structure.target
    if dag is None or target is None:
        st.caption("Draw or upload a graph first.")
        return
    st.caption(
        "Independent means: knowing one says nothing about the other. All of this follows from "
        "the arrows alone; no row is read and nothing is spent. Where the codebook or an expert "
        "says otherwise, an arrow is missing."
    )
    question, statements = st.columns([1, 1.3], gap="large")
    with question, mistakes():
        _question(dag, target)
        if project().designs.plan.regime == "graphical" and dag.markov_blanket(target):
            st.markdown("**Why the Markov blanket is enough**")
            st.markdown(plain(blanket_sufficiency(dag, target)))
        _unmeasured(dag)
    with statements, mistakes():
        _statements(dag, target)


def _unmeasured(dag: Dag) -> None:
    """What would be protected, and against what, if one column were not in the table."""
    state = project()
    target = state.structure.target
    st.markdown("**What if a cause were not measured?**")
    name = st.selectbox(
        "Column to leave out",
        [name for name in dag.measured if name != target],
        key="without_column",
        index=None,
        placeholder="Choose",
    )
    if name is not None:
        st.markdown(plain(statement_without(state.settled_task(), dag, name)))


def _question(dag: Dag, target: str) -> None:
    st.markdown("**Ask about two columns**")
    one = st.selectbox("First column", dag.nodes, key="ask_left", index=None, placeholder="Choose")
    rest = [name for name in dag.nodes if name != one]
    other = st.selectbox(
        "Second column",
        rest,
        key="ask_right",
        placeholder="Choose",
        index=rest.index(target) if target in rest else None,
    )
    given = st.multiselect(
        "When these are known",
        [name for name in rest if name != other],
        key="ask_given",
        placeholder="Nothing else is known",
    )
    hidden = [name for name in dag.unmeasured if name in {one, other, *given}]
    if hidden:
        st.caption(f"Not in the table: {plain(_listed(hidden))}.")
    if one is None or other is None:
        return
    known = (
        f" once {plain(_listed(given))} {'is' if len(given) == 1 else 'are'} known" if given else ""
    )
    if d_separated(dag, one, other, given):
        st.success(
            f"**Independent**{known}: the graph says that {plain(one)} then tells nothing about "
            f"{plain(other)}.",
            icon=":material/link_off:",
        )
        return
    st.info(
        f"**Possibly dependent**{known}: a path between {plain(one)} and {plain(other)} is open.",
        icon=":material/link:",
    )
    _way_out(dag, one, other)


def _way_out(dag: Dag, one: str, other: str) -> None:
    """What would separate the two, if anything does."""
    if (one, other) in dag.edges or (other, one) in dag.edges:
        st.caption("An arrow joins them, so nothing that is known makes them independent.")
        return
    # Both count as measured: the question is about them, whatever the table holds.
    facts = missing_edges(dag, of=one, measured={*dag.measured, one, other})
    found = next((fact for fact in facts if {*fact.left, *fact.right} == {one, other}), None)
    if found is not None:
        known = plain(_listed(found.given)) if found.given else "nothing else"
        st.caption(f"They are independent when {known} is known.")
    elif dag.unmeasured:
        st.caption("No columns make them independent: what joins them is not in the table.")


def _statements(dag: Dag, target: str) -> None:
    st.markdown("**Independences that the graph implies**")
    which = st.segmented_control(
        "Statements",
        list(_HELP),
        default=_NEAR,
        required=True,
        key="implied_which",
        label_visibility="collapsed",
    )
    tied = which == _BASIS and dag.unmeasured
    st.caption(_BASIS_TIED if tied else _HELP[which or _NEAR])
    facts: Iterable[Independence]
    if which == _BASIS:
        facts = local_basis(dag)
    else:
        facts = missing_edges(dag, of=None if which == _PAIRS else target)
    # Taken lazily: 200 columns have up to 19,900 pairs.
    # One more than is shown says whether there are more.
    found = list(islice(facts, _LISTED + 1))
    if not found:
        st.caption("None: every two columns that are asked about are joined by an arrow.")
        return
    st.dataframe(
        [
            {
                "column": _listed(fact.left),
                "is independent of": _listed(fact.right),
                "when these are known": _listed(fact.given) or "(nothing)",
            }
            for fact in found[:_LISTED]
        ],
        hide_index=True,
        width="stretch",
        height=300,
        key="implied_list",
    )
    if len(found) > _LISTED:
        st.caption(f"The first {_LISTED}; there are more.")


def _listed(names: Iterable[str]) -> str:
    given = tuple(names)
    more = len(given) - _NAMED
    return ", ".join(given[:_NAMED]) + (f" and {more} more" if more > 0 else "")
