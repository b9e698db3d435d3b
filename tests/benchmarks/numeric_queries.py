"""A fine-binned numeric column in full, by moments and by thresholds: TSTR of logistic regression.

    python tests/benchmarks/numeric_queries.py [--seeds 5] [--rows 3000] [--bins 200]

The rows are generated: `x` has 200 equal bins and moves the target by a monotone (or, with --bump,
a hump-shaped) law; three coarse features help. Prints mean and standard deviation of the AUC on
fresh rows, for both logistic learners.
"""

from __future__ import annotations

import argparse
import statistics

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column, equal_edges
from prism_core.data.schema.schema import Schema
from prism_core.evaluation.tstr.predictive import attempt
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import NUMERIC_RULES, Budget, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import release

LEARNERS = ("logistic_onehot", "logistic_standardised")
FEATURES = ("x", "a", "b", "c")


def schema(bins: int) -> Schema:
    coarse = [Column(name=name, kind="ordinal", levels=(0, 1, 2)) for name in "abc"]
    x = Column(
        name="x", kind="numeric", lower=0.0, upper=1.0, edges=equal_edges(0.0, 1.0, bins, None)
    )
    return Schema(columns=(x, *coarse, Column(name="y", kind="boolean")), one_row_per_person=True)


def rows(bins: int, n: int, rng: np.random.Generator, *, bump: bool) -> EncodedTable:
    x = np.clip(rng.normal(0.45, 0.2, n), 0.0, 0.999)
    coarse = rng.integers(0, 3, (n, 3))
    effect = 6.0 * np.exp(-(((x - 0.45) / 0.15) ** 2)) - 3.0 if bump else 9.0 * (x - 0.45)
    logit = effect + (coarse - 1.0) @ [0.6, 0.4, 0.0]
    y = rng.random(n) < 1.0 / (1.0 + np.exp(-logit))
    codes = np.column_stack([(x * bins).astype(int), coarse, y.astype(int)])
    return EncodedTable(schema=schema(bins), codes=codes, public=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=3_000)
    parser.add_argument("--bins", type=int, default=200)
    parser.add_argument("--bump", action="store_true")
    asked = parser.parse_args()
    names = schema(asked.bins).names
    dag = Dag(nodes=names, edges=tuple((name, "y") for name in FEATURES))
    test = rows(asked.bins, 10_000, np.random.default_rng(999), bump=asked.bump)
    for epsilon in (0.2, 1.0):
        for rule in NUMERIC_RULES:
            found: dict[str, list[float]] = {learner: [] for learner in LEARNERS}
            for seed in range(asked.seeds):
                rng = np.random.default_rng(seed)
                train = rows(asked.bins, asked.rows, rng, bump=asked.bump)
                plan = design(
                    Brief(
                        train.schema,
                        Task(target="y", numeric_queries=rule),
                        Budget(epsilon=epsilon),
                        train.n,
                        dag=dag,
                    )
                )
                made = release(plan, train, ledger=None, noise=SeededNoise(rng), rng=rng)
                table = EncodedTable(schema=train.schema, codes=made.codes, public=True)
                for learner in LEARNERS:
                    got = attempt(learner, "synthetic", table, test, "y", FEATURES)
                    found[learner].append(got.values["auc"])
            told = "  ".join(
                f"{learner} {statistics.mean(values):.3f} ± {statistics.pstdev(values):.3f}"
                for learner, values in found.items()
            )
            print(f"epsilon {epsilon:g}  {rule:10}  {told}", flush=True)
    real = rows(asked.bins, asked.rows, np.random.default_rng(0), bump=asked.bump)
    for learner in LEARNERS:
        got = attempt(learner, "real", real, test, "y", FEATURES).values["auc"]
        print(f"trained on the real rows: {learner} {got:.3f}")


if __name__ == "__main__":
    main()
