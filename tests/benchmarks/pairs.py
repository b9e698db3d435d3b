"""The same noisy marginals with the target fitted as measured and drawn together.

    python tests/benchmarks/pairs.py [--seeds 4] [--epsilon 0.2 1 4]

The sample `readmission` in every regime; rows are public, noise is seeded. Prints a Markdown line
for every regime and epsilon: AUC of the default learner and of gradient boosting from S.
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.encoding import EncodedTable, encode
from prism_core.evaluation.tstr import scoring
from prism_core.evaluation.tstr.learners import fit
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.samples import catalogue, readmission
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import draw, fit_model, release

if TYPE_CHECKING:
    from prism_core.planning.wishes.task import Regime

TARGET = readmission.TARGET
REGIMES: tuple[Regime, ...] = ("predictive", "graphical", "causal")
LEARNERS = ("logistic_onehot", "gradient_boosting")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.2, 1.0, 4.0])
    given = parser.parse_args()
    sample = catalogue.load("readmission")
    train, test = (encode(sample.schema, part, public=True) for part in (sample.train, sample.test))
    print("| regime | ε | learner | as measured | drawn together | difference, ± its error |")
    print("|---|---|---|---|---|---|")
    for regime in REGIMES:
        for epsilon in given.epsilon:
            _line(regime, epsilon, given.seeds, train, test)


def _line(
    regime: Regime, epsilon: float, seeds: int, train: EncodedTable, test: EncodedTable
) -> None:
    found: dict[str, list[tuple[float, float]]] = {learner: [] for learner in LEARNERS}
    dag = Dag(nodes=train.schema.names, edges=readmission.edges())
    task = Task(target=TARGET, regime=regime)
    plan = design(Brief(train.schema, task, Budget(epsilon=epsilon), train.n, dag=dag))
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 1])
        made = release(plan, train, ledger=None, noise=SeededNoise(rng), rng=rng)
        plain = replace(made.plan, synthesis=replace(made.plan.synthesis, pairs="measured"))
        again = draw(plain, fit_model(plain, made.measurements), made.seed)[0]
        for learner in LEARNERS:
            found[learner].append(
                (
                    _auc(learner, again, test, made.plan.s),
                    _auc(learner, made.codes, test, made.plan.s),
                )
            )
    for learner, pairs in found.items():
        gains = [after - before for before, after in pairs]
        error = statistics.stdev(gains) / len(gains) ** 0.5
        before, after = (statistics.fmean(column) for column in zip(*pairs, strict=True))
        print(
            f"| {regime} | {epsilon:g} | {learner} | {before:.4f} | {after:.4f} | "
            f"{statistics.fmean(gains):+.4f} ± {error:.4f} |",
            flush=True,
        )


def _auc(learner: str, codes: np.ndarray, test: EncodedTable, features: tuple[str, ...]) -> float:
    rows = EncodedTable(schema=test.schema, codes=codes, public=True)
    model = fit(learner, rows, target=TARGET, features=features)
    return scoring.macro_auc(test.column(TARGET), model.probabilities(test)) or 0.0


if __name__ == "__main__":
    main()
