"""How good are the synthetic rows? TSTR beside its ceiling and floor, and distances.

Everything here reads private rows without noise. It spends nothing and gives no guarantee:
outside epsilon, for the curator only.
"""

from prism_core.evaluation.evaluate import evaluate
from prism_core.evaluation.learners import LEARNER_LABELS, LEARNERS, Fitted, fit
from prism_core.evaluation.records import (
    OUTSIDE_EPSILON,
    ColumnShape,
    Evaluation,
    MetricRow,
    PairTv,
    RocCurve,
)

__all__ = [
    "LEARNERS",
    "LEARNER_LABELS",
    "OUTSIDE_EPSILON",
    "ColumnShape",
    "Evaluation",
    "Fitted",
    "MetricRow",
    "PairTv",
    "RocCurve",
    "evaluate",
    "fit",
]
