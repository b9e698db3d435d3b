"""Metric that a learner trained on synthetic rows is scored by."""

from __future__ import annotations

from typing import Literal, TypeAlias

Metric: TypeAlias = Literal["auc", "r2"]
"""Area under the ROC curve; of a numeric target 1 less the squared error over the variance."""

METRIC_TEXT: dict[Metric, str] = {"auc": "AUC", "r2": "R²"}

GUESS: dict[Metric, float] = {"auc": 0.5, "r2": 0.0}
"""What knowing nothing scores: ranking everybody alike, saying the mean of everybody."""

GUESS_TEXT: dict[Metric, str] = {"auc": "chance", "r2": "always the mean"}


def possible(metric: Metric, score: float) -> bool:
    """Whether a score can be one: an area, or at most 1 and finite (R² has no lower end)."""
    return 0.0 <= score <= 1.0 if metric == "auc" else -float("inf") < score <= 1.0
