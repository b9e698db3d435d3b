"""How good are the synthetic rows? TSTR beside its ceiling and floor, and distances.

Everything here reads private rows without noise, spends nothing and gives no guarantee: outside
epsilon, for the curator only. There are two exceptions: `evaluate_private` buys a few headline
numbers inside epsilon, and `ask_holdout` answers questions within the charge of `open_holdout`.
"""

from prism_core.evaluation.agreement import Agreement, agreement
from prism_core.evaluation.bin_values import representatives
from prism_core.evaluation.calibration import CalibrationCurve
from prism_core.evaluation.comparing import CHOOSING, Candidate, Standing, compare
from prism_core.evaluation.discriminator import discriminate
from prism_core.evaluation.error_split import TaskError, TaskMarginal, error_split, task_marginal
from prism_core.evaluation.evaluate import evaluate
from prism_core.evaluation.holdout import Answer, ask_holdout, open_holdout
from prism_core.evaluation.holdout_plan import HoldoutPlan, design_holdout
from prism_core.evaluation.holdout_question import Question, question
from prism_core.evaluation.learners import LEARNER_LABELS, LEARNERS, Fitted, fit
from prism_core.evaluation.pairs import JointShares, PairStatistics, joint_shares, pair_statistics
from prism_core.evaluation.prediction import Confusion, Prediction, predict
from prism_core.evaluation.preserved import (
    Lost,
    NotMeasured,
    lost_pairs,
    lost_triples,
    not_measured,
)
from prism_core.evaluation.private import INSIDE_EPSILON, PrivateEvaluation, evaluate_private
from prism_core.evaluation.private_plan import PrivatePlan, design_private
from prism_core.evaluation.records import (
    OUTSIDE_EPSILON,
    ColumnShape,
    Evaluation,
    MetricRow,
    PairTv,
    PredictedCurve,
    RocCurve,
)
from prism_core.evaluation.regressors import REGRESSORS, Regressor, fit_numeric
from prism_core.evaluation.subgroups import LEAST, Subgroup, subgroups
from prism_core.evaluation.subject import Measured, Subject
from prism_core.evaluation.target import by_squared_loss, learners_of
from prism_core.evaluation.weights import Weight

__all__ = [
    "CHOOSING",
    "INSIDE_EPSILON",
    "LEARNERS",
    "LEARNER_LABELS",
    "LEAST",
    "OUTSIDE_EPSILON",
    "REGRESSORS",
    "Agreement",
    "Answer",
    "CalibrationCurve",
    "Candidate",
    "ColumnShape",
    "Confusion",
    "Evaluation",
    "Fitted",
    "HoldoutPlan",
    "JointShares",
    "Lost",
    "Measured",
    "MetricRow",
    "NotMeasured",
    "PairStatistics",
    "PairTv",
    "PredictedCurve",
    "Prediction",
    "PrivateEvaluation",
    "PrivatePlan",
    "Question",
    "Regressor",
    "RocCurve",
    "Standing",
    "Subgroup",
    "Subject",
    "TaskError",
    "TaskMarginal",
    "Weight",
    "agreement",
    "ask_holdout",
    "by_squared_loss",
    "compare",
    "design_holdout",
    "design_private",
    "discriminate",
    "error_split",
    "evaluate",
    "evaluate_private",
    "fit",
    "fit_numeric",
    "joint_shares",
    "learners_of",
    "lost_pairs",
    "lost_triples",
    "not_measured",
    "open_holdout",
    "pair_statistics",
    "predict",
    "question",
    "representatives",
    "subgroups",
    "task_marginal",
]
