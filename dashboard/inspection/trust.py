"""Trust: one verdict with its interval, and the figures behind it one at a time."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.common.fields import keep
from dashboard.inspection import prediction_choice
from dashboard.inspection.figure import figure, score_card, table
from dashboard.inspection.prediction_choice import prediction
from dashboard.inspection.results import ask, inspection
from prism_core.evaluation import LEARNER_LABELS, MetricRow, Prediction, sentences
from prism_core.evaluation.results import FROM_S
from prism_core.evaluation.score_text import amount, ends, score_name, scored
from prism_core.evaluation.tstr.model_agreement import agreement
from prism_core.figures import (
    METRIC_TITLES,
    agreement_figure,
    calibration_figure,
    confusion_figure,
    curves_figure,
    learners_figure,
)
from prism_core.runs.inputs import fresh_rng
from prism_core.text.markdown import plain

ABOUT = (
    "95% intervals are over the test rows: where the score could lie for very many persons of the "
    "same kind. The fitted models are held fixed; another run's noise would move the score, too."
)
"""What every interval on the page means."""


def section() -> None:
    """The verdict of one model, then one figure of its detail."""
    prediction_choice.target_kind_choice()
    prediction_choice.columns_choice()
    found = prediction()
    if found is None:
        return
    _verdict(found)
    now = inspection()
    views = _NUMERIC_VIEWS if found.numeric else _VIEWS
    key = prediction_choice.kind_key("trust_view")
    view = st.segmented_control(
        "What is behind it",
        list(views),
        # The view may be one that the other kind of target has.
        default=now.view if now.view in views else next(iter(views)),
        key=key,
        required=True,
        on_change=keep,
        args=(now, "view", key),
    )
    shown = _chosen(found)
    if shown is not None:
        views[view or next(iter(views))](shown)


def _chosen(found: Prediction) -> Prediction | None:
    """The scores of the learner that is looked at; None while they are worked out."""
    now = inspection()
    learners = now.subject.learners
    key = prediction_choice.kind_key("trust_learner")
    learner = st.selectbox(
        "Learner",
        learners,
        # Numbers have other learners than classes.
        index=learners.index(now.learner) if now.learner in learners else 0,
        format_func=LEARNER_LABELS.__getitem__,
        key=key,
        on_change=keep,
        args=(now, "learner", key),
        help="The verdict above is always the first one's.",
    )
    return found if learner == learners[0] else prediction(learner)


def _verdict(found: Prediction) -> None:
    """One sentence with its interval, and the three numbers behind it."""
    row = found.row(found.score)
    name = score_name(row.name)
    st.markdown(f"#### {plain(sentences.trust(found))}")
    first, second, third = st.columns(3)
    score_card(
        first,
        f"{name}, trained on synthetic",
        row.value,
        row.interval,
        f"Train on synthetic rows, test on real ones (TSTR). {LEARNER_LABELS[found.learner]}, "
        f"from {found.learned_from}. {ABOUT}",
    )
    score_card(
        second,
        f"{name}, trained on real",
        row.ceiling,
        row.ceiling_interval,
        "The same learner with the same columns, on the real training rows (TRTR). It is no "
        "ceiling where the rows kept aside differ from them, as where the world has shifted.",
    )
    if found.numeric:
        prediction_choice.numeric_scores(found, row, third)
    else:
        score_card(
            third,
            "AUC, guessing",
            row.floor,
            row.floor_interval,
            "The floor: class shares, no column looked at.",
        )
    for words in (sentences.difference(row), row.note if row.value is not None else ""):
        if words:
            st.caption(plain(words))


def _ranking(found: Prediction) -> None:
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


def _probabilities(found: Prediction) -> None:
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


def _mistaken(found: Prediction) -> None:
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


def _learners(shown: Prediction) -> None:
    """Every learner so far, and what the other columns give."""
    key = prediction_choice.kind_key("metric_choice")
    metric = st.selectbox(
        "Score",
        [row.name.removesuffix(FROM_S) for row in shown.rows],
        format_func=METRIC_TITLES.__getitem__,
        key=key,
    )
    # Only those that are there: a table must not begin to train the slow ones.
    done: list[Prediction] = list(inspection().done("predict:").values())
    chosen = [found.row(metric) for found in done if found.s_alone == shown.s_alone]
    words = "; ".join(
        f"{LEARNER_LABELS[row.learner or '']}: "
        + ("not defined" if row.value is None else scored(row.value, row.interval, amount))
        for row in chosen
    )
    words = f"Trained on synthetic rows, from {shown.learned_from}. {words}"
    title = metric + FROM_S * shown.s_alone
    figure(learners_figure(chosen, title), "learners", words, [row_of(r) for r in chosen])
    st.caption("Choose another learner above to add it.")
    beside = sentences.beside(
        prediction_choice.other_prediction(), prediction_choice.release_regime()
    )
    if beside:
        st.markdown(plain(beside))
    with st.expander("All scores", icon=":material/table_view:"):
        table([row_of(row) for found in done for row in found.rows], "scores")


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
    subject = prediction_choice.chosen_subject()
    name = f"agreement:{prediction_choice.result_name(found.learner, s_alone=found.s_alone)}"
    slow = found.learner == "gradient_boosting"
    # Once begun it needs no click any more: its result, or how far it is, is shown.
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


_VIEWS = {
    "Ranking": _ranking,
    "Probabilities": _probabilities,
    "Mistakes": _mistaken,
    "What it relies on": _relied_on,
    "Other learners": _learners,
}
_NUMERIC_VIEWS = {
    "Predicted against actual": prediction_choice.numeric_curves,
    "What it relies on": _relied_on,
    "Other learners": _learners,
}
"""Figures behind the verdict, by name."""
