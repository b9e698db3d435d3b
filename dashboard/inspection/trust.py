"""Trust: TSTR beside its ceiling and floor, every learner in full, and subgroups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.inspection import prediction_choice
from dashboard.inspection.figure import figure, score_card, table
from dashboard.inspection.prediction_choice import prediction
from dashboard.inspection.results import ask, inspection
from prism_core.evaluation import LEARNER_LABELS, LEAST, sentences
from prism_core.evaluation.results import FROM_S
from prism_core.evaluation.score_text import amount, ends, score_name, scored, three
from prism_core.evaluation.tstr.model_agreement import agreement
from prism_core.evaluation.tstr.subgroup_scores import subgroups
from prism_core.figures import (
    METRIC_TITLES,
    agreement_figure,
    calibration_figure,
    confusion_figure,
    curves_figure,
    learners_figure,
    subgroup_figure,
)
from prism_core.runs.inputs import fresh_rng
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from prism_core.evaluation import MetricRow, Prediction

ABOUT = (
    "95% intervals are over the test rows: where the score could lie for very many persons of the "
    "same kind. The fitted models are held fixed; another run's noise would move the score, too."
)
"""What every interval on the page means."""


def section() -> None:
    """The headline, then the detail of a learner."""
    prediction_choice.target_kind_choice()
    prediction_choice.columns_choice()
    found = prediction()
    if found is None:
        return
    _headline(found)
    st.divider()
    left, right = st.columns([1, 1], gap="large", vertical_alignment="bottom")
    learners = inspection().subject.learners
    learner = left.selectbox(
        "Learner",
        learners,
        format_func=LEARNER_LABELS.__getitem__,
        key=prediction_choice.kind_key("trust_learner"),
    )
    shown = found if learner == learners[0] else prediction(learner)
    if shown is None:
        return
    with right:
        metric = st.selectbox(
            "Score of all learners so far",
            _scores(found),
            format_func=METRIC_TITLES.__getitem__,
            key=prediction_choice.kind_key("metric_choice"),
        )
    (prediction_choice.numeric_curves if shown.numeric else _curves)(shown)
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
    score_card(
        first,
        f"{name}, trained on synthetic",
        row.value,
        row.interval,
        "TSTR: train on "
        f"synthetic, test on real rows kept aside; {LEARNER_LABELS[found.learner]}, from "
        f"{found.learned_from}.",
    )
    score_card(
        second,
        f"{name}, trained on real",
        row.ceiling,
        row.ceiling_interval,
        "TRTR: the "
        "same learner with the same columns, on the real training rows. No ceiling where "
        "the rows kept aside differ from them, as where the world has shifted.",
    )
    if found.numeric:
        prediction_choice.numeric_scores(found, row, third, fourth)
    else:
        score_card(
            third,
            "AUC, guessing",
            row.floor,
            row.floor_interval,
            "The floor: class shares, no column looked at.",
        )
        error = found.row("calibration_error")
        title = score_name(error.name).replace("calibration", "Calibration")
        score_card(
            fourth,
            title,
            error.value,
            error.interval,
            "Mean gap between predicted and observed shares of the model trained on "
            f"synthetic rows, from {found.learned_from}; 0 is best.",
        )
    for words in (sentences.difference(row), row.note if row.value is not None else "", ABOUT):
        if words:
            st.caption(plain(words))
    beside = sentences.beside(
        prediction_choice.other_prediction(), prediction_choice.release_regime()
    )
    if beside:
        st.markdown(plain(beside))


def _curves(found: Prediction) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("How well it ranks", anchor=False)
        points = [
            {
                "trained on": curve.trained_on,
                "class": curve.class_label,
                "false positive rate": x,
                "true positive rate": y,
            }
            for curve in found.roc
            for x, y in zip(curve.fpr, curve.tpr, strict=True)
        ]
        drawn = curves_figure(found.roc, found.row("auc").note, found.learned_from)
        figure(drawn, "roc", sentences.curves(found), points)
    with right:
        st.subheader("Do its probabilities come true", anchor=False)
        points = [
            {
                "trained on": curve.trained_on,
                "predicted": x,
                "observed": y,
                "95% from": low,
                "95% to": high,
                "rows": rows,
            }
            for curve in found.calibration
            for x, y, low, high, rows in zip(
                curve.predicted, curve.observed, curve.low, curve.high, curve.rows, strict=True
            )
        ]
        note = found.row("calibration_error").note
        drawn = calibration_figure(found.calibration, note, found.learned_from)
        words = sentences.calibration(found.calibration, found.learned_from, note)
        figure(drawn, "calibration", words, points)
    st.subheader("Which classes are mistaken for each other", anchor=False)
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
    subject = prediction_choice.chosen_subject()
    name = f"agreement:{prediction_choice.result_name(found.learner, s_alone=found.s_alone)}"
    slow = found.learner == "gradient_boosting"
    if slow and name not in inspection().works:
        st.caption("Shuffles every column in turn: seconds for 20 columns, minutes for 200.")
        if not st.button("Measure importances", key="agreement_run", icon=":material/shuffle:"):
            return
    result = ask(name, lambda tell: agreement(subject, found, fresh_rng(), tell))
    if result is None:
        return
    rows = [
        {
            "column": w.column,
            "level": w.term,
            "class": w.class_label,
            "real": w.real,
            "synthetic": w.synthetic,
            "difference": w.synthetic - w.real,
            "real rows": w.rows,
        }
        for w in sorted(result.weights, key=lambda w: -abs(w.synthetic - w.real))
    ]
    figure(agreement_figure(result), "agreement", sentences.agreement(result), rows)


def subgroups_section() -> None:
    """Scores of the model trained on synthetic rows by level of a chosen column."""
    prediction_choice.columns_choice()
    subject = inspection().subject
    first, second, third = st.columns([2, 2, 1])
    column = first.selectbox("By column", subject.features, key="subgroup_column")
    learner = second.selectbox(
        "Learner",
        subject.learners,
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
    asked = prediction_choice.result_name(learner, s_alone=found.s_alone)
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
    st.caption(
        "Many groups are looked at together: of twenty whose scores are the same, one interval is "
        "expected to miss."
    )
