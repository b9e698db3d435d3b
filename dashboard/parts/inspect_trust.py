"""Can I trust it? TSTR beside its ceiling and its floor, then every learner in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.parts import inspect_columns, inspect_numeric
from dashboard.parts.inspect_columns import prediction
from dashboard.parts.inspect_figure import figure, score_card, table
from dashboard.parts.inspect_work import ask, inspection
from dashboard.widgets import plain
from prism_core.evaluation import LEARNER_LABELS, agreement, sentences
from prism_core.evaluation.number_words import amount, ends, score_name, scored
from prism_core.evaluation.records import FROM_S
from prism_core.figures import (
    METRIC_TITLES,
    agreement_figure,
    calibration_figure,
    confusion_figure,
    curves_figure,
    learners_figure,
)
from prism_core.workspace import fresh_rng

if TYPE_CHECKING:
    from prism_core.evaluation import MetricRow, Prediction

ABOUT = (
    "95% intervals are over the test rows: where the score could lie for very many persons of the "
    "same kind. The fitted models are held fixed; another run's noise would move the score, too."
)
"""What every interval on the page means."""


def section() -> None:
    """The headline, then the detail of a learner."""
    inspect_numeric.choice()
    inspect_columns.choice()
    found = prediction()
    if found is None:
        return
    _headline(found)
    st.divider()
    left, right = st.columns([1, 1], gap="large", vertical_alignment="bottom")
    learners = inspection().subject.learners
    learner = left.selectbox(
        "Learner", learners, format_func=LEARNER_LABELS.__getitem__,
        key=inspect_numeric.key("trust_learner"),
    )  # fmt: skip
    shown = found if learner == learners[0] else prediction(learner)
    if shown is None:
        return
    with right:
        metric = st.selectbox(
            "Score of all learners so far", _scores(found), format_func=METRIC_TITLES.__getitem__,
            key=inspect_numeric.key("metric_choice"),
        )  # fmt: skip
    (inspect_numeric.curves if shown.numeric else _curves)(shown)
    _learners(metric, shown)
    _relied_on(shown)


def _scores(found: Prediction) -> list[str]:
    """The scores that every learner of this target has."""
    return [row.name.removesuffix(FROM_S) for row in found.rows]


def _headline(found: Prediction) -> None:
    row = found.row(found.score)
    name = score_name(row.name)
    st.markdown(f"#### {plain(sentences.trust(found))}")
    first, second, third, fourth = st.columns(4)
    score_card(first, f"{name}, trained on synthetic", row.value, row.interval, "TSTR: train on "
               f"synthetic, test on real rows kept aside; {LEARNER_LABELS[found.learner]}, from "
               f"{found.learned_from}.")  # fmt: skip
    score_card(second, f"{name}, trained on real", row.ceiling, row.ceiling_interval, "TRTR: the "
               "same learner with the same columns, on the real training rows. No ceiling where "
               "the rows kept aside differ from them, as where the world has shifted.")  # fmt: skip
    if found.numeric:
        inspect_numeric.numbers(found, row, third, fourth)
    else:
        score_card(third, "AUC, guessing", row.floor, row.floor_interval,
                   "The floor: class shares, no column looked at.")  # fmt: skip
        error = found.row("calibration_error")
        title = score_name(error.name).replace("calibration", "Calibration")
        score_card(fourth, title, error.value, error.interval,
                   "Mean gap between predicted and observed shares of the model trained on "
                   f"synthetic rows, from {found.learned_from}; 0 is best.")  # fmt: skip
    for words in (sentences.difference(row), row.note if row.value is not None else "", ABOUT):
        if words:
            st.caption(plain(words))
    beside = sentences.beside(inspect_columns.other(), inspect_columns.regime())
    if beside:
        st.markdown(plain(beside))


def _curves(found: Prediction) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("How well it ranks", anchor=False)
        points = [
            {"trained on": curve.trained_on, "class": curve.class_label,
             "false positive rate": x, "true positive rate": y}
            for curve in found.roc for x, y in zip(curve.fpr, curve.tpr, strict=True)
        ]  # fmt: skip
        drawn = curves_figure(found.roc, found.row("auc").note, found.learned_from)
        figure(drawn, "roc", sentences.curves(found), points)
    with right:
        st.subheader("Do its probabilities come true", anchor=False)
        points = [
            {"trained on": curve.trained_on, "predicted": x, "observed": y, "95% from": low,
             "95% to": high, "rows": rows}
            for curve in found.calibration
            for x, y, low, high, rows in zip(
                curve.predicted, curve.observed, curve.low, curve.high, curve.rows, strict=True
            )
        ]  # fmt: skip
        note = found.row("calibration_error").note
        drawn = calibration_figure(found.calibration, note, found.learned_from)
        words = sentences.calibration(found.calibration, found.learned_from, note)
        figure(drawn, "calibration", words, points)
    st.subheader("What is taken for what", anchor=False)
    if not found.confusion:
        st.info(plain(found.row("accuracy").note), icon=":material/info:")
    for place, matrix in zip(st.columns(2, gap="large"), found.confusion, strict=False):
        with place:
            st.markdown(f"**Trained on {matrix.trained_on} rows, from {found.learned_from}**")
            rows = [
                {"true": true, "predicted": label, "rows": count}
                for true, counts in zip(matrix.labels, matrix.counts, strict=True)
                for label, count in zip(matrix.labels, counts, strict=True)
            ]
            key = f"confusion_{matrix.trained_on}"
            figure(confusion_figure(matrix), key, sentences.confusion(matrix), rows)


def _learners(metric: str, shown: Prediction) -> None:
    st.subheader("All learners so far", anchor=False)
    done: list[Prediction] = list(inspection().done("predict:").values())
    chosen = [found.row(metric) for found in done if found.s_alone == shown.s_alone]
    left, right = st.columns([1, 1.2], gap="large")
    with left:
        words = "; ".join(
            f"{LEARNER_LABELS[row.learner or '']}: "
            + ("not defined" if row.value is None else scored(row.value, row.interval, amount))
            for row in chosen
        )
        words = f"Trained on synthetic rows, from {shown.learned_from}. {words}"
        title = metric + FROM_S * shown.s_alone
        figure(learners_figure(chosen, title), "learners", words, [row_of(r) for r in chosen])
    with right:
        table([row_of(row) for found in done for row in found.rows], "scores")
        st.caption("Choose another learner above to add it.")


def row_of(row: MetricRow) -> dict[str, Any]:
    """A metric row for a table."""
    return {
        "score": score_name(row.name),
        "synthetic (TSTR)": row.value,
        "95% interval, synthetic": ends(row.interval, amount),
        "real (TRTR)": row.ceiling,
        "95% interval, real": ends(row.ceiling_interval, amount),
        "floor": row.floor,
        "95% interval, floor": ends(row.floor_interval, amount),
        "learner": LEARNER_LABELS.get(row.learner or "", ""),
        "note": row.note,
    }


def _relied_on(found: Prediction) -> None:
    st.subheader("Would one learn the same from it", anchor=False)
    subject = inspect_columns.chosen()
    name = f"agreement:{inspect_columns.name(found.learner, s_alone=found.s_alone)}"
    slow = found.learner == "gradient_boosting"
    if slow and name not in inspection().works:
        st.caption("Shuffles every column in turn: seconds for 20 columns, minutes for 200.")
        if not st.button("Measure importances", key="agreement_run", icon=":material/shuffle:"):
            return
    result = ask(name, lambda tell: agreement(subject, found, fresh_rng(), tell))
    if result is None:
        return
    rows = [
        {"column": w.column, "level": w.term, "class": w.class_label, "real": w.real,
         "synthetic": w.synthetic, "difference": w.synthetic - w.real, "real rows": w.rows}
        for w in sorted(result.weights, key=lambda w: -abs(w.synthetic - w.real))
    ]  # fmt: skip
    figure(agreement_figure(result), "agreement", sentences.agreement(result), rows)
