"""Subgroups: who is served worse, by level of a chosen column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common.fields import keep
from dashboard.inspection import prediction_choice
from dashboard.inspection.figure import figure
from dashboard.inspection.prediction_choice import prediction
from dashboard.inspection.results import ask, inspection
from prism_core.evaluation import (
    LEARNER_LABELS,
    LEAST,
    Prediction,
    Subgroup,
    SubgroupGap,
    sentences,
    subgroup_gaps,
    subgroups,
)
from prism_core.evaluation.score_text import amount, ends, three
from prism_core.evaluation.tstr.subgroup_gaps import gap_words
from prism_core.figures import gaps_figure, subgroup_figure
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Sequence


def section() -> None:
    """Gaps and scores by level, on a figure from the start."""
    now = inspection()
    prediction_choice.columns_choice()
    features = now.subject.features
    first, second, third = st.columns([2, 2, 1])
    column = first.selectbox(
        "By column",
        features,
        # From S alone the column that was chosen may not be among them.
        index=features.index(now.subgroup if now.subgroup in features else _fewest(features)),
        key="subgroup_column",
        on_change=keep,
        args=(now, "subgroup", "subgroup_column"),
    )
    learner = second.selectbox(
        "Learner",
        now.subject.learners,
        format_func=LEARNER_LABELS.__getitem__,
        key=prediction_choice.kind_key("subgroup_learner"),
    )
    least = third.number_input(
        "Fewest rows",
        2,
        100_000,
        LEAST,
        key="subgroup_least",
        help="Groups of fewer holdout rows are suppressed: their scores are mostly chance, and "
        "close to single people.",
    )
    found = prediction(learner)
    if found is None:
        return
    # By everything that the numbers depend on, so that none is shown for another question.
    asked = f"{prediction_choice.result_name(learner, s_alone=found.s_alone)}:{int(least)}:{column}"
    gaps = ask(f"subgroups:gaps:{asked}", lambda _tell: subgroup_gaps(found, column, int(least)))
    groups = ask(f"subgroups:{asked}", lambda _tell: subgroups(found, column, int(least)))
    if gaps:
        _gaps(gaps, column)
    if groups is not None:
        _scores(groups, found, column)
    st.caption(
        "Many groups are looked at together: of twenty whose scores are the same, one interval is "
        "expected to miss."
    )


def _fewest(features: Sequence[str]) -> str:
    """The column of fewest declared levels: its groups are the largest, whatever the rows are."""
    schema = inspection().subject.schema
    return min(features, key=lambda name: max(2, schema[name].level_count))


def _gaps(gaps: Sequence[SubgroupGap], column: str) -> None:
    st.subheader("Are cases found alike, and do probabilities come true", anchor=False)
    rows = [
        {
            "level": gap.label,
            "trained on": gap.trained_on,
            "holdout rows": gap.rows,
            "cases found": gap.found,
            "less all other levels": gap.found_gap,
            "95% interval, found": ends(gap.found_interval),
            "observed less predicted": gap.off,
            "95% interval, predicted": ends(gap.off_interval),
            "note": gap.note,
        }
        for gap in gaps
    ]
    figure(gaps_figure(gaps, column), "gaps", gap_words(gaps, column), rows)
    st.caption(
        "Cases found is the true positive rate: the model flags as many people as have the "
        "outcome. Right of 0, the model says too little."
    )


def _scores(groups: Sequence[Subgroup], found: Prediction, column: str) -> None:
    score = "RMSE" if found.numeric else "AUC"
    form = amount if found.numeric else three
    rows: list[dict[str, object]] = []
    for g in groups:
        row: dict[str, object] = {
            "level": g.label,
            "holdout rows": g.rows,
            f"{score}, trained on synthetic": g.synthetic,
            "95% interval, synthetic": ends(g.synthetic_interval, form),
            f"{score}, trained on real": g.real,
            "95% interval, real": ends(g.real_interval, form),
        }
        if not found.numeric:
            row |= {
                "accuracy": g.accuracy,
                "95% interval, accuracy": ends(g.accuracy_interval),
                "calibration error": g.calibration_error,
                "95% interval, calibration": ends(g.calibration_interval),
            }
        rows.append(row | {"note": g.note})
    drawn = subgroup_figure(groups, column, found.learned_from, numeric=found.numeric)
    words = sentences.subgroups(groups, column, found.learned_from, numeric=found.numeric)
    figure(drawn, "subgroups", words, rows)
    few = sorted({g.note for g in groups if g.note and g.rows is not None})
    for note in few:
        names = ", ".join(g.label for g in groups if g.note == note)
        st.caption(plain(f"{column} = {names}: {note}"))
