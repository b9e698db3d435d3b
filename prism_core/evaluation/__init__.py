"""How good are the synthetic rows? TSTR beside its ceiling and floor, and distances.

Everything here reads private rows without noise, spends nothing and gives no guarantee: outside
epsilon, for the curator only. There are two exceptions: `evaluate_private` buys a few headline
numbers inside epsilon, and `ask_holdout` answers questions within the charge of `open_holdout`.
"""

from prism_core.evaluation.candidates import (
    CHOOSING,
    Candidate,
    CandidateScores,
    compare_candidates,
)
from prism_core.evaluation.evaluate import evaluate
from prism_core.evaluation.fidelity.discriminator import discriminate
from prism_core.evaluation.fidelity.memorisation import Memorisation, memorisation
from prism_core.evaluation.fidelity.pair_statistics import (
    JointShares,
    PairStatistics,
    joint_shares,
    pair_statistics,
)
from prism_core.evaluation.fidelity.preserved import (
    Lost,
    NotMeasured,
    lost_pairs,
    lost_triples,
    not_measured,
)
from prism_core.evaluation.fidelity.task_error import (
    TaskMarginal,
    TaskMarginalError,
    error_split,
    task_marginal,
)
from prism_core.evaluation.inside_epsilon.holdout import Answer, ask_holdout, open_holdout
from prism_core.evaluation.inside_epsilon.holdout_plan import HoldoutPlan, design_holdout
from prism_core.evaluation.inside_epsilon.holdout_question import Question, question
from prism_core.evaluation.inside_epsilon.private_numbers import (
    INSIDE_EPSILON,
    PrivateEvaluation,
    evaluate_private,
)
from prism_core.evaluation.inside_epsilon.private_plan import PrivatePlan, design_private
from prism_core.evaluation.results import (
    OUTSIDE_EPSILON,
    ColumnShape,
    Evaluation,
    MetricRow,
    PairTv,
    PredictedCurve,
    RocCurve,
)
from prism_core.evaluation.subject import Measured, Subject
from prism_core.evaluation.tstr.calibration_curve import CalibrationCurve
from prism_core.evaluation.tstr.learners import LEARNER_LABELS, LEARNERS, FittedLearner, fit
from prism_core.evaluation.tstr.model_agreement import ModelAgreement, Weight, agreement
from prism_core.evaluation.tstr.prediction import Confusion, Prediction, predict
from prism_core.evaluation.tstr.regressors import (
    REGRESSORS,
    Regressor,
    by_squared_loss,
    fit_numeric,
    learners_of,
    representatives,
)
from prism_core.evaluation.tstr.subgroup_gaps import SubgroupGap, subgroup_gaps
from prism_core.evaluation.tstr.subgroup_scores import LEAST, Subgroup, subgroups

__all__ = [
    "CHOOSING",
    "INSIDE_EPSILON",
    "LEARNERS",
    "LEARNER_LABELS",
    "LEAST",
    "OUTSIDE_EPSILON",
    "REGRESSORS",
    "Answer",
    "CalibrationCurve",
    "Candidate",
    "CandidateScores",
    "ColumnShape",
    "Confusion",
    "Evaluation",
    "FittedLearner",
    "HoldoutPlan",
    "JointShares",
    "Lost",
    "Measured",
    "Memorisation",
    "MetricRow",
    "ModelAgreement",
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
    "Subgroup",
    "SubgroupGap",
    "Subject",
    "TaskMarginal",
    "TaskMarginalError",
    "Weight",
    "agreement",
    "ask_holdout",
    "by_squared_loss",
    "compare_candidates",
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
    "memorisation",
    "not_measured",
    "open_holdout",
    "pair_statistics",
    "predict",
    "question",
    "representatives",
    "subgroup_gaps",
    "subgroups",
    "task_marginal",
]
