"""Does it work for everybody? One column's levels, small groups suppressed."""

from __future__ import annotations

import streamlit as st

from dashboard.parts import inspect_columns, inspect_numeric
from dashboard.parts.inspect_columns import prediction
from dashboard.parts.inspect_figure import figure
from dashboard.parts.inspect_work import ask, inspection
from dashboard.widgets import plain
from prism_core.evaluation import LEARNER_LABELS, LEAST, sentences, subgroups
from prism_core.evaluation.number_words import amount, ends, three
from prism_core.figures import subgroup_figure


def section() -> None:
    """Scores of the model trained on synthetic rows by level of a chosen column."""
    inspect_columns.choice()
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
    asked = inspect_columns.name(learner, s_alone=found.s_alone)
    groups = ask(
        f"subgroups:{asked}:{int(least)}:{column}",
        lambda _tell: subgroups(found, column, int(least)),
    )
    if groups is None:
        return
    score = "RMSE" if found.numeric else "AUC"
    form = amount if found.numeric else three
    rows: list[dict[str, object]] = []
    for g in groups:
        row: dict[str, object] = {
            "level": g.label, "holdout rows": g.rows,
            f"{score}, trained on synthetic": g.synthetic,
            "95% interval, synthetic": ends(g.synthetic_interval, form),
            f"{score}, trained on real": g.real,
            "95% interval, real": ends(g.real_interval, form),
        }  # fmt: skip
        if not found.numeric:
            row |= {
                "accuracy": g.accuracy, "95% interval, accuracy": ends(g.accuracy_interval),
                "calibration error": g.calibration_error,
                "95% interval, calibration": ends(g.calibration_interval),
            }  # fmt: skip
        rows.append(row | {"note": g.note})
    drawn = subgroup_figure(groups, column, found.learned_from, numeric=found.numeric)
    words = sentences.subgroups(groups, column, found.learned_from, numeric=found.numeric)
    figure(drawn, "subgroups", words, rows)
    few = sorted({g.note for g in groups if g.note and g.rows is not None})
    for note in few:
        names = ", ".join(g.label for g in groups if g.note == note)
        st.caption(plain(f"{column} = {names}: {note}"))
    st.caption(
        "Many groups are looked at together: of twenty whose scores are the same, one interval is "
        "expected to miss."
    )
