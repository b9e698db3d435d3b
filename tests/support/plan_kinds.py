"""A plan of every kind: task, budget, graph and synthesis, for the small table."""

from __future__ import annotations

from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.events import ExponentialEvent
from prism_core.privacy.learning_charge import LearningCharge
from prism_core.structure.dag import Dag
from tests.support.bundles import DAG

QUICK = Synthesis(model="naive_bayes", sampling="iid", rows=90)
LEARNED = Dag(
    nodes=("age", "readmitted"),
    edges=(("age", "readmitted"),),
    provenance="dp",
    prior=LearningCharge(
        events=(ExponentialEvent(epsilon=0.05, count=3, label="learning"),), delta=1e-5
    ),
)
PLANS = {
    "joint": (Task(target="readmitted"), Budget(epsilon=20), DAG, QUICK),
    "graphical": (Task(target="readmitted", regime="graphical"), Budget(), DAG, QUICK),
    "learned graph": (Task(target="readmitted", regime="graphical"), Budget(), LEARNED, QUICK),
    "weights and delta": (
        Task(target="readmitted", weights={"age": 2.0}),
        Budget(epsilon=1, delta=1e-7),
        DAG,
        QUICK,
    ),
    "locks": (
        Task(target="readmitted", max_joint_cells=0),
        Budget(
            allocation="tilted", tilt=0.5, locks=(Lock(columns=("age", "readmitted"), share=0.1),)
        ),
        DAG,
        QUICK,
    ),
    "regression": (
        Task(target="readmitted", regime="predictive", k=2, selection="logistic"),
        Budget(epsilon=4),
        None,
        QUICK,
    ),
    "one shot": (
        Task(target="readmitted", regime="predictive", k=2, selection="one_shot"),
        Budget(),
        None,
        QUICK,
    ),
    "model error": (
        Task(target="readmitted", max_joint_cells=0, three_way="model_error"),
        Budget(),
        DAG,
        Synthesis(),
    ),
    "adaptive": (
        Task(target="readmitted", max_joint_cells=0, three_way="adaptive"),
        Budget(epsilon=90),
        DAG,
        Synthesis(),
    ),
}
