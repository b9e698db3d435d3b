"""Does it work for everybody? One column's levels, small groups suppressed."""

from __future__ import annotations

import streamlit as st

from dashboard.parts import inspect_numeric
from dashboard.parts.inspect_figure import figure
from dashboard.parts.inspect_trust import prediction
from dashboard.parts.inspect_work import inspection
from prism_core.evaluation import LEARNER_LABELS, LEAST, sentences, subgroups
from prism_core.figures import subgroup_figure


def section() -> None:
    """Scores of the model trained on synthetic rows by level of a chosen column."""
    subject = inspection().subject
    first, second, third = st.columns([2, 2, 1])
    column = first.selectbox("By column", subject.features, key="subgroup_column")
    learner = second.selectbox(
        "Learner", subject.learners, format_func=LEARNER_LABELS.__getitem__,
        key=inspect_numeric.key("subgroup_learner"),
    )  # fmt: skip
    least = third.number_input(
        "Fewest rows", 2, 100_000, LEAST, key="subgroup_least",
        help="Groups of fewer holdout rows are suppressed: their scores are mostly chance, and "
        "close to single people.",
    )  # fmt: skip
    found = prediction(learner)
    if found is None:
        return
    groups = subgroups(found, column, int(least))
    score = "RMSE" if found.numeric else "AUC"
    rows: list[dict[str, object]] = []
    for g in groups:
        row: dict[str, object] = {
            "level": g.label, "holdout rows": g.rows, f"{score}, trained on synthetic": g.synthetic,
            f"{score}, trained on real": g.real,
        }  # fmt: skip
        if not found.numeric:
            row |= {"accuracy": g.accuracy, "calibration error": g.calibration_error}
        rows.append(row | {"note": g.note})
    drawn = subgroup_figure(groups, column, numeric=found.numeric)
    words = sentences.subgroups(groups, column, numeric=found.numeric)
    figure(drawn, "subgroups", words, rows)
