"""Where the error comes from: noise or structure; and what is not preserved, named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.parts.inspect_figure import figure, table
from dashboard.parts.inspect_work import ask, inspection
from dashboard.widgets import plain
from prism_core.evaluation import (
    error_split,
    lost_pairs,
    lost_triples,
    not_measured,
    pair_statistics,
    sentences,
    task_marginal,
)
from prism_core.figures import error_split_figure, task_marginal_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.evaluation import Lost, PairStatistics, TaskError


def section() -> None:
    """The split, one marginal in full, and what is lost."""
    subject = inspection().subject
    errors = ask("errors", lambda _tell: error_split(subject))
    if errors is not None:
        _split(errors)
        st.divider()
        _marginal(errors)
    st.divider()
    _not_preserved()


def _split(errors: Sequence[TaskError]) -> None:
    target = inspection().subject.target
    st.subheader(f"Error of each pair with {plain(target)}", anchor=False)
    rows = [
        {"column": e.name, "error": e.total, "explained by noise": e.from_noise,
         "beyond noise": e.rest, "expected from noise": e.noise, "noise stays below": e.limit,
         "sigma of a cell (rows)": e.sigma, "note": e.note}
        for e in errors
    ]  # fmt: skip
    figure(error_split_figure(errors, target), "error_split", sentences.error_split(errors), rows)
    st.caption(
        "What lies outside S is left out on purpose in the causal and graphical regimes; measure "
        "more marginals, or choose another S, to keep it."
    )


def _marginal(errors: Sequence[TaskError]) -> None:
    subject = inspection().subject
    st.subheader("One pair, cell by cell", anchor=False)
    left, right = st.columns(2)
    names = [error.name for error in errors]
    name = left.selectbox("Column (largest error first)", names, key="marginal_column")
    labels = subject.schema[subject.target].labels()
    last = subject.schema[subject.target].level_count - 1
    code = right.selectbox(
        f"{plain(subject.target)} is", range(len(labels)), index=last,
        format_func=labels.__getitem__, key="marginal_class",
    )  # fmt: skip
    found = ask(f"marginal:{name}", lambda _tell: task_marginal(subject, name))
    if found is None:
        return
    rows = [
        {"level": level, "class": label, "real": found.real[i][k],
         "synthetic": found.synthetic[i][k],
         "noise band ±": None if found.band is None else found.band[i][k]}
        for i, level in enumerate(found.levels) for k, label in enumerate(found.classes)
    ]  # fmt: skip
    words = sentences.task_marginal(found, code)
    figure(task_marginal_figure(found, code), "task_marginal", words, rows)


def _not_preserved() -> None:
    subject = inspection().subject
    st.subheader("What this release does not preserve", anchor=False)
    if not subject.measured:
        st.info("The folder of this run does not say what was measured.", icon=":material/info:")
        return
    known = not_measured(subject)
    st.markdown(f":blue-badge[by the plan alone: public] {plain(sentences.not_preserved(known))}")
    if known.without_target:
        with st.expander(f"{len(known.without_target):,} columns not measured with the target"):
            st.markdown(plain(", ".join(known.without_target)))
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(":red-badge[outside epsilon] **Unmeasured pairs farthest off**")
        found = statistics()
        if found is not None:
            table(_rows(lost_pairs(subject, found)), "lost_pairs")
    with right:
        st.markdown(":red-badge[outside epsilon] **Unmeasured 3-way marginals with the target**")
        triples = ask("triples", lambda tell: lost_triples(subject, progress=tell))
        if triples is not None:
            table(_rows(triples), "lost_triples")
            st.caption("Among the protected columns and those whose pair is farthest off.")


def statistics() -> PairStatistics | None:
    """All pairs of columns; None while they are counted, or without rows."""
    subject = inspection().subject
    found = ask("pairs", lambda tell: (pair_statistics(subject, tell),))
    if found is not None and found[0] is None:
        st.info("There are no rows to compare on one of the sides.", icon=":material/info:")
    return None if found is None else found[0]


def _rows(lost: Sequence[Lost]) -> list[dict[str, object]]:
    return [
        {"columns": item.label, "distance (TV)": item.distance, "by chance": item.by_chance,
         "tied together by": "other marginals" if item.tied else "nothing: independent"}
        for item in lost
    ]  # fmt: skip
