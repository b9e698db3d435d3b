"""Ways of choosing features: what a learner reaches on real rows with the columns each one chose.

    python tests/benchmarks/selection.py [--seeds 15] [--epsilon 1 4] [--k 5]

The sample `readmission`, its 23 features; the selection pool is a tenth of the budget, as by
default. Score: ROC-AUC of logistic regression (one indicator a level), trained on the real training
rows with the chosen columns alone. All noise is seeded: the rows are generated.
"""

from __future__ import annotations

import argparse

import numpy as np

from prism_core.data.encoding import EncodedTable, encode
from prism_core.evaluation.tstr.learners import fit
from prism_core.evaluation.tstr.scoring import macro_auc
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import SELECTIONS, Budget, Synthesis, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.samples.catalogue import load
from prism_core.synthesis.select import choose_features


def reached(train: EncodedTable, test: EncodedTable, target: str, s: tuple[str, ...]) -> float:
    """AUC on the test rows."""
    found = fit("logistic_onehot", train, target=target, features=s)
    auc = macro_auc(test.column(target), found.probabilities(test))
    assert auc is not None  # both classes are among the test rows
    return auc


def main() -> None:
    """Print mean and standard deviation by rule and epsilon."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=15)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 4.0])
    parser.add_argument("--k", type=int, default=5)
    given = parser.parse_args()
    sample = load("readmission")
    train, test = (encode(sample.schema, rows, public=True) for rows in (sample.train, sample.test))
    features = [name for name in sample.schema.names if name != sample.target]

    def show(name: str, epsilon: float | str, scores: list[float]) -> None:
        print(f"{name:20} {epsilon:>5} {np.mean(scores):.4f} ({np.std(scores, ddof=1):.4f})")

    drawn = [
        np.random.default_rng(seed).choice(features, given.k, replace=False)
        for seed in range(given.seeds)
    ]
    show("random", "-", [reached(train, test, sample.target, tuple(s)) for s in drawn])
    for epsilon in given.epsilon:
        for rule in SELECTIONS:
            task = Task(target=sample.target, regime="predictive", k=given.k, selection=rule)
            plan = design(
                Brief(sample.schema, task, Budget(epsilon=epsilon), train.n, synthesis=Synthesis())
            )
            scores = []
            for seed in range(given.seeds):
                noise = SeededNoise(np.random.default_rng(seed))
                chosen = choose_features(train, plan, noise)
                scores.append(reached(train, test, sample.target, chosen))
            show(rule, epsilon, scores)


if __name__ == "__main__":
    main()
