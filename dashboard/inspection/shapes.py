"""Shapes and errors: noise or structure, what is not preserved, columns and pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.inspection.figure import figure, score_card, table
from dashboard.inspection.results import ask, inspection
from prism_core.evaluation import (
    Lost,
    PairStatistics,
    TaskMarginalError,
    discriminate,
    joint_shares,
    lost_pairs,
    lost_triples,
    not_measured,
    pair_statistics,
    sentences,
    task_marginal,
)
from prism_core.evaluation.fidelity import distances
from prism_core.evaluation.fidelity.task_error import error_split
from prism_core.evaluation.score_text import ends
from prism_core.figures import (
    association_figure,
    column_figure,
    error_split_figure,
    joint_figure,
    task_marginal_figure,
)
from prism_core.runs.inputs import fresh_rng
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Sequence


def error_section() -> None:
    """The split, one marginal in full, and what is lost."""
    subject = inspection().subject
    errors = ask("errors", lambda _tell: error_split(subject))
    if errors is not None:
        _split(errors)
        st.divider()
        _marginal(errors)
    st.divider()
    _not_preserved()


def _split(errors: Sequence[TaskMarginalError]) -> None:
    target = inspection().subject.target
    st.subheader(f"Error of each pair with {plain(target)}", anchor=False)
    rows = [
        {
            "column": e.name,
            "error": e.total,
            "explained by noise": e.from_noise,
            "beyond noise": e.rest,
            "expected from noise": e.noise,
            "noise stays below": e.limit,
            "sigma of a cell (rows)": e.sigma,
            "note": e.note,
        }
        for e in errors
    ]
    figure(error_split_figure(errors, target), "error_split", sentences.error_split(errors), rows)
    st.caption(
        "What lies outside S is left out on purpose in the causal and graphical regimes; measure "
        "more marginals, or choose another S, to keep it."
    )


def _marginal(errors: Sequence[TaskMarginalError]) -> None:
    subject = inspection().subject
    st.subheader("One pair, cell by cell", anchor=False)
    left, right = st.columns(2)
    names = [error.name for error in errors]
    name = left.selectbox("Column (largest error first)", names, key="marginal_column")
    labels = subject.schema[subject.target].labels()
    last = subject.schema[subject.target].level_count - 1
    code = right.selectbox(
        f"{plain(subject.target)} is",
        range(len(labels)),
        index=last,
        format_func=labels.__getitem__,
        key="marginal_class",
    )
    # By the column alone: one result holds every class of the target.
    found = ask(f"marginal:{name}", lambda _tell: task_marginal(subject, name))
    if found is None:
        return
    rows = [
        {
            "level": level,
            "class": label,
            "real": found.real[i][k],
            "synthetic": found.synthetic[i][k],
            "noise band ±": None if found.band is None else found.band[i][k],
        }
        for i, level in enumerate(found.levels)
        for k, label in enumerate(found.classes)
    ]
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
        st.markdown("**Unmeasured pairs farthest off**")
        found = statistics()
        if found is not None:
            table(_rows(lost_pairs(subject, found)), "lost_pairs")
    with right:
        st.markdown("**Unmeasured 3-way marginals with the target**")
        triples = ask("triples", lambda tell: lost_triples(subject, progress=tell))
        if triples is not None:
            table(_rows(triples), "lost_triples")
            st.caption("Among the protected columns and those whose pair is farthest off.")


def statistics() -> PairStatistics | None:
    """All pairs of columns; None while they are counted, or without rows."""
    subject = inspection().subject
    # In a tuple: None means to `ask` that work goes on, and here also that there are no rows.
    found = ask("pairs", lambda tell: (pair_statistics(subject, tell),))
    if found is not None and found[0] is None:
        st.info("There are no rows to compare on one of the sides.", icon=":material/info:")
    return None if found is None else found[0]


def _rows(lost: Sequence[Lost]) -> list[dict[str, object]]:
    return [
        {
            "columns": item.label,
            "distance (TV)": item.distance,
            "by chance": item.by_chance,
            "tied together by": "other marginals" if item.tied else "nothing: independent",
        }
        for item in lost
    ]


SHOWN = 30
"""Columns in the heatmaps at first: those in the pairs that are farthest apart."""


def shapes_section() -> None:
    """Columns, pairs, one pair, and the discriminator."""
    _columns()
    st.divider()
    _pairs()
    st.divider()
    _discriminator()


def _columns() -> None:
    subject = inspection().subject
    st.subheader("Single columns", anchor=False)
    shapes = ask("columns", lambda _tell: distances.column_shapes(subject.comparison))
    if shapes is None:
        return
    left, right = st.columns([1, 1.8], gap="large")
    # Not by the distance alone: columns of many levels are farther apart by chance.
    ranked = sorted(shapes, key=lambda shape: (shape.by_chance or 0.0) - (shape.l1 or 0.0))
    with left:
        rows = [
            {"column": shape.name, "distance (l1)": shape.l1, "by chance": shape.by_chance}
            for shape in ranked
        ]
        table(rows, "column_distances")
    with right:
        names = [shape.name for shape in ranked]
        chosen = st.selectbox("Column (farthest beyond chance first)", names, key="column_choice")
        shape = ranked[names.index(chosen)]
        rows = [
            {"level": label, "real": real, "synthetic": made}
            for label, real, made in zip(shape.labels, shape.real, shape.synthetic, strict=True)
        ]
        figure(column_figure(shape), "column", sentences.column(shape), rows)


def _pairs() -> None:
    st.subheader("Pairs of columns", anchor=False)
    found = statistics()
    if found is None:
        return
    names = list(found.names)
    if len(names) > SHOWN:
        st.caption(
            f"{len(names):,} columns: the {SHOWN} in the pairs that are farthest apart are shown "
            "at first. Choose others below."
        )
    shown = st.multiselect(
        "Columns in the heatmaps", names, default=list(found.worst(SHOWN)), key="pair_columns"
    )
    # In the order of the table, however they were clicked.
    part = found.take(tuple(name for name in names if name in set(shown)))
    pairs = [(i, j) for i in range(len(part.names)) for j in range(i)]
    pairs.sort(key=lambda pair: -part.beyond[pair])
    rows = [_pair(part, i, j) for i, j in pairs]
    st.caption(
        "V has the bias of few rows taken off (Bergsma 2013). A dot lies on pairs that go together "
        "no more than chance gives, and on differences that the rows do not tell from 0."
    )
    figure(association_figure(part), "pair", sentences.associations(part), rows)
    _one_pair(names)


def _pair(part: PairStatistics, i: int, j: int) -> dict[str, object]:
    """One pair as a line of the table."""
    real, made = part.real, part.synthetic
    return {
        "a": part.names[i],
        "b": part.names[j],
        "Cramér's V real": real.v[i, j],
        "95% interval, real": ends((real.low[i, j], real.high[i, j])),
        "by chance up to, real": real.chance[i, j],
        "Cramér's V synthetic": made.v[i, j],
        "95% interval, synthetic": ends((made.low[i, j], made.high[i, j])),
        "by chance up to, synthetic": made.chance[i, j],
        "distance (TV)": part.distance[i, j],
        "distance by chance": part.by_chance[i, j],
    }


def _one_pair(names: list[str]) -> None:
    subject = inspection().subject
    left, right = st.columns(2)
    target = names.index(subject.target)
    # Not the target, with which the second box begins.
    a = left.selectbox("One pair: column", names, index=0 if target else 1, key="joint_a")
    b = right.selectbox("and column", names, index=target, key="joint_b")
    if a == b:
        st.info("Choose two different columns.", icon=":material/info:")
        return
    found = ask(f"joint:{a}\n{b}", lambda _tell: joint_shares(subject, a, b))
    if found is None:
        return
    rows = [
        {
            a: first,
            b: second,
            "real share": found.real[i, j],
            "synthetic share": found.synthetic[i, j],
        }
        for i, first in enumerate(found.labels_a)
        for j, second in enumerate(found.labels_b)
    ]
    figure(joint_figure(found), "joint", sentences.joint(found), rows)


def _discriminator() -> None:
    subject = inspection().subject
    st.subheader("Can a classifier tell the rows apart", anchor=False)
    if "discriminator" not in inspection().works:
        st.caption("Trains a classifier on synthetic against real holdout rows; takes seconds.")
        if not st.button("Run this test", key="discriminator_run", icon=":material/balance:"):
            return
    row = ask("discriminator", lambda tell: discriminate(subject, fresh_rng(), progress=tell))
    if row is None:
        return
    left, right = st.columns([1, 3], vertical_alignment="center")
    score_card(left, "AUC, synthetic or real", row.value, row.interval, "0.5 is chance.")
    right.markdown(sentences.discriminator(row))
