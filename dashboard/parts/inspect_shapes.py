"""Columns and pairs: shapes beside each other, and whether a classifier can tell them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.parts.inspect_error import statistics
from dashboard.parts.inspect_figure import figure, score_card, table
from dashboard.parts.inspect_work import ask, inspection
from prism_core.evaluation import discriminate, fidelity, joint_shares, sentences
from prism_core.evaluation.number_words import ends
from prism_core.figures import association_figure, column_figure, joint_figure
from prism_core.workspace import fresh_rng

if TYPE_CHECKING:
    from prism_core.evaluation import PairStatistics

SHOWN = 30
"""Columns in the heatmaps at first: those in the pairs that are farthest apart."""


def section() -> None:
    """Columns, pairs, one pair, and the discriminator."""
    _columns()
    st.divider()
    _pairs()
    st.divider()
    _discriminator()


def _columns() -> None:
    subject = inspection().subject
    st.subheader("Single columns", anchor=False)
    shapes = ask("columns", lambda _tell: fidelity.column_shapes(subject.comparison))
    if shapes is None:
        return
    left, right = st.columns([1, 1.8], gap="large")
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
        "a": part.names[i], "b": part.names[j],
        "Cramér's V real": real.v[i, j],
        "95% interval, real": ends((real.low[i, j], real.high[i, j])),
        "by chance up to, real": real.chance[i, j],
        "Cramér's V synthetic": made.v[i, j],
        "95% interval, synthetic": ends((made.low[i, j], made.high[i, j])),
        "by chance up to, synthetic": made.chance[i, j],
        "distance (TV)": part.distance[i, j], "distance by chance": part.by_chance[i, j],
    }  # fmt: skip


def _one_pair(names: list[str]) -> None:
    subject = inspection().subject
    left, right = st.columns(2)
    target = names.index(subject.target)
    a = left.selectbox("One pair: column", names, index=0 if target else 1, key="joint_a")
    b = right.selectbox("and column", names, index=target, key="joint_b")
    if a == b:
        st.info("Choose two different columns.", icon=":material/info:")
        return
    found = ask(f"joint:{a}\n{b}", lambda _tell: joint_shares(subject, a, b))
    if found is None:
        return
    rows = [
        {a: first, b: second, "real share": found.real[i, j],
         "synthetic share": found.synthetic[i, j]}
        for i, first in enumerate(found.labels_a) for j, second in enumerate(found.labels_b)
    ]  # fmt: skip
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
