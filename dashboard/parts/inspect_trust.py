"""Can I trust it? TSTR beside its ceiling and its floor, then every learner in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.parts import inspect_numeric
from dashboard.parts.inspect_figure import figure, table
from dashboard.parts.inspect_work import ask, inspection
from dashboard.widgets import plain
from prism_core.evaluation import LEARNER_LABELS, agreement, predict, sentences
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


def prediction(learner: str | None = None) -> Prediction | None:
    """A learner's scores, by default the target's first; None while they are worked out."""
    subject = inspection().subject
    learner = subject.learners[0] if learner is None else learner
    return ask(f"predict:{learner}", lambda tell: predict(subject, learner, tell))


def section() -> None:
    """The headline, then the detail of a learner."""
    inspect_numeric.choice()
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
    _learners(metric)
    _relied_on(shown)


def _scores(found: Prediction) -> list[str]:
    """The scores that every learner of this target has."""
    return [row.name for row in found.rows if not row.name.endswith("_from_s")]


def _headline(found: Prediction) -> None:
    regime = str(inspection().certificate["task"].get("regime", ""))
    row = sentences.leading(found, regime)
    name = sentences.score_name(row.name)
    st.markdown(f"#### {plain(sentences.trust(found, regime))}")
    first, second, third, fourth = st.columns(4)
    _number(first, f"{name}, trained on synthetic", row.value, "TSTR: train on synthetic, "
            f"test on real rows kept aside; {LEARNER_LABELS[found.learner]}.")  # fmt: skip
    _number(second, f"{name}, trained on real", row.ceiling, "TRTR: the same learner with "
            "the same columns, on the real training rows. No ceiling where the rows kept aside "
            "differ from them, as where the world has shifted.")  # fmt: skip
    if found.numeric:
        inspect_numeric.numbers(found, row, third, fourth)
    else:
        _number(third, "AUC, guessing", row.floor, "The floor: class shares, no column looked at.")
        error = found.row("calibration_error")
        _number(fourth, "Calibration error", error.value, "Mean gap between predicted and "
                "observed shares, with all columns; 0 is best.")  # fmt: skip
    if row.note:
        st.caption(plain(row.note))
    other = sentences.beside(found, regime)
    if other:
        st.markdown(plain(other))


def _number(place: Any, title: str, value: float | None, text: str) -> None:  # noqa: ANN401
    place.metric(title, "–" if value is None else f"{value:z.3f}", border=True, help=text)


def _curves(found: Prediction) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("How well it ranks", anchor=False)
        points = [
            {"trained on": curve.trained_on, "class": curve.class_label,
             "false positive rate": x, "true positive rate": y}
            for curve in found.roc for x, y in zip(curve.fpr, curve.tpr, strict=True)
        ]  # fmt: skip
        drawn = curves_figure(found.roc, found.row("auc").note)
        figure(drawn, "roc", sentences.curves(found), points)
    with right:
        st.subheader("Do its probabilities come true", anchor=False)
        points = [
            {"trained on": curve.trained_on, "predicted": x, "observed": y, "rows": rows}
            for curve in found.calibration
            for x, y, rows in zip(curve.predicted, curve.observed, curve.rows, strict=True)
        ]
        drawn = calibration_figure(found.calibration)
        figure(drawn, "calibration", sentences.calibration(found.calibration), points)
    st.subheader("What is taken for what", anchor=False)
    if not found.confusion:
        st.info(plain(found.row("accuracy").note), icon=":material/info:")
    for place, matrix in zip(st.columns(2, gap="large"), found.confusion, strict=False):
        with place:
            st.markdown(f"**Trained on {matrix.trained_on} rows**")
            rows = [
                {"true": true, "predicted": label, "rows": count}
                for true, counts in zip(matrix.labels, matrix.counts, strict=True)
                for label, count in zip(matrix.labels, counts, strict=True)
            ]
            key = f"confusion_{matrix.trained_on}"
            figure(confusion_figure(matrix), key, sentences.confusion(matrix), rows)


def _learners(metric: str) -> None:
    st.subheader("All learners so far", anchor=False)
    scored = list(inspection().done("predict:").values())
    rows: list[MetricRow] = [row for found in scored for row in found.rows]
    chosen = [row for row in rows if row.name == metric]
    left, right = st.columns([1, 1.2], gap="large")
    with left:
        words = "; ".join(
            f"{LEARNER_LABELS[row.learner or '']}: "
            + ("not defined" if row.value is None else sentences.amount(row.value))
            for row in chosen
        )
        figure(learners_figure(chosen, metric), "learners", words, [row_of(r) for r in chosen])
    with right:
        table([row_of(row) for row in rows], "scores")
        st.caption("Choose another learner above to add it.")


def row_of(row: MetricRow) -> dict[str, Any]:
    """A metric row for a table."""
    return {
        "score": sentences.score_name(row.name),
        "learner": LEARNER_LABELS.get(row.learner or "", ""),
        "floor": row.floor,
        "synthetic (TSTR)": row.value,
        "real (TRTR)": row.ceiling,
        "note": row.note,
    }


def _relied_on(found: Prediction) -> None:
    st.subheader("Would one learn the same from it", anchor=False)
    subject, name = inspection().subject, f"agreement:{found.learner}"
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
