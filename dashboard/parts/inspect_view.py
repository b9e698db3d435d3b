"""What the comparison found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.widgets import PLOTLY
from prism_core.evaluation import LEARNER_LABELS, LEARNERS, OUTSIDE_EPSILON
from prism_core.figures import (
    METRIC_TITLES,
    column_figure,
    metric_figure,
    pair_heatmap,
    roc_figure,
    task_tv_figure,
)

if TYPE_CHECKING:
    from prism_core.evaluation import Evaluation, MetricRow

_PREDICTION = ("auc", "accuracy", "log_loss", "brier")


def section(found: Evaluation) -> None:
    """Prediction, columns and pairs."""
    st.markdown(f":red-badge[outside epsilon] {OUTSIDE_EPSILON}")
    _headline(found)
    predict, columns, pairs = st.tabs(["Prediction", "Columns", "Pairs"])
    with predict:
        _prediction(found)
    with columns:
        _columns(found)
    with pairs:
        _pairs(found)


def _headline(found: Evaluation) -> None:
    mean = next((r for r in found.rows if r.name == "l1_1way" and r.subject == "all columns"), None)
    task = next((r for r in found.rows if r.name == "task_tv_mean"), None)
    first, second, third, fourth = st.columns(4)
    _number(
        first, "AUC, trained on synthetic", found.tstr_auc, "TSTR: logistic regression, all columns"
    )
    _number(
        second,
        "AUC, trained on real",
        found.trtr_auc,
        "TRTR, the ceiling: the same learner on the real training rows, all columns",
    )
    _number(
        third,
        "Distance of single columns",
        mean.value if mean else None,
        "Mean l1 distance over columns, 0 to 2; 0 is equal.",
    )
    _number(
        fourth,
        "Distance of pairs with target",
        task.value if task else None,
        "Mean total variation distance, 0 to 1; 0 is equal.",
    )
    _from_s(found)


def _from_s(found: Evaluation) -> None:
    """The ceiling that counts when predictive columns are left out on purpose."""
    row = next(iter(found.find("auc_from_s")), None)
    if row is None or row.value is None or row.ceiling is None:
        return
    st.markdown(
        f"From the protected features S alone: **{row.value:.3f}** trained on synthetic rows, "
        f"**{row.ceiling:.3f}** trained on real rows. Columns outside S carry no extra "
        "information on the target in the synthetic table; in the causal regime that is what "
        "keeps it robust."
    )


def _number(place, title: str, value: float | None, text: str) -> None:  # noqa: ANN001
    place.metric(title, "–" if value is None else f"{value:.3f}", border=True, help=text)


def _prediction(found: Evaluation) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        learner = st.selectbox(
            "Learner", LEARNERS, format_func=LEARNER_LABELS.__getitem__, key="roc_learner"
        )
        st.plotly_chart(roc_figure(found, learner), config=PLOTLY, key="roc_chart")
    with right:
        metric = st.selectbox(
            "Metric", _PREDICTION, format_func=METRIC_TITLES.__getitem__,
            key="metric_choice",
        )  # fmt: skip
        st.plotly_chart(metric_figure(found, metric), config=PLOTLY, key="metric_chart")
    _table([row for row in found.rows if row.name in _PREDICTION])


def _table(rows: list[MetricRow]) -> None:
    frame = pd.DataFrame(
        {
            "metric": [METRIC_TITLES.get(row.name, row.name) for row in rows],
            "learner": [LEARNER_LABELS.get(row.learner or "", "") for row in rows],
            "floor": [row.floor for row in rows],
            "trained on synthetic": [row.value for row in rows],
            "trained on real (ceiling)": [row.ceiling for row in rows],
            "note": [row.note for row in rows],
        }
    )
    if not any(frame["note"]):
        frame = frame.drop(columns="note")
    numbers = {
        name: st.column_config.NumberColumn(format="%.3f")
        for name in ("floor", "trained on synthetic", "trained on real (ceiling)")
    }
    st.dataframe(frame, hide_index=True, width="stretch", column_config=numbers)


def _columns(found: Evaluation) -> None:
    left, right = st.columns([1, 1.8], gap="large")
    with left:
        frame = pd.DataFrame(
            {
                "column": [shape.name for shape in found.columns],
                "l1 distance": [shape.l1 for shape in found.columns],
            }
        ).sort_values("l1 distance", ascending=False)
        st.dataframe(
            frame, hide_index=True, width="stretch",
            column_config={"l1 distance": st.column_config.NumberColumn(format="%.3f")},
        )  # fmt: skip
    with right:
        names = [shape.name for shape in found.columns]
        chosen = st.selectbox("Column", names, index=names.index(found.target), key="column_choice")
        shape = next(shape for shape in found.columns if shape.name == chosen)
        st.plotly_chart(column_figure(shape), config=PLOTLY, key="column_chart")


def _pairs(found: Evaluation) -> None:
    st.markdown("Total variation distance of every pair of columns, real against synthetic.")
    st.plotly_chart(pair_heatmap(found), config=PLOTLY, key="pair_chart")
    st.markdown("Distance of every pair with the target.")
    st.plotly_chart(task_tv_figure(found), config=PLOTLY, key="task_chart")
