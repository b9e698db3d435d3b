"""Adult: the star, the adaptive marginals and AIM at equal (epsilon, delta) and equal neighbours.

    PRISM_ADULT_CSV=... python tests/benchmarks/adaptive.py [--seeds 5] [--epsilon 0.2 1 4]
        [--methods uniform closed_form adaptive aim mst]

Every seed has its own 80/20 split, its own noise and its own rows; all methods protect one replaced
row. Scores are ROC-AUC of logistic regression (one indicator a level) on the real test rows, from
5,000 synthetic rows and, of ours, from as many as there were; ceilings are the same learner on the
real rows.
One line of JSON a run, then a table.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import roc_auc_score

from prism_core.comparators import design_comparator, run_comparator
from prism_core.data.encoding import EncodedTable, encode
from prism_core.evaluation import fit
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.reproduction import adult_table
from prism_core.synthesis.release import draw, release

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FEW = 5_000
OURS = {
    "uniform": ("none", "uniform"),
    "closed_form": ("none", "closed_form"),
    "adaptive": ("auto", "closed_form"),
}


class Bench:
    """One split of Adult."""

    def __init__(self, path: str | None, seed: int) -> None:
        data = adult_table.load(path, seed=seed)
        self.seed, self.schema = seed, adult_table.schema(data.train)
        self.train, self.test = (
            encode(self.schema, rows, public=True) for rows in (data.train, data.test)
        )

    def score(self, codes: NDArray[np.int32]) -> float:
        rows = EncodedTable(schema=self.schema, codes=codes, public=True)
        learner = fit("logistic_onehot", rows, target=adult_table.TARGET)
        chances = learner.probabilities(self.test)[:, 1]
        return float(roc_auc_score(self.test.column(adult_table.TARGET), chances))

    def ceilings(self) -> tuple[float, float]:
        rng = np.random.default_rng(self.seed)
        some = rng.choice(self.train.n, FEW, replace=False)
        return self.score(self.train.codes[some]), self.score(self.train.codes)

    def ours(self, method: str, epsilon: float) -> tuple[float, Sequence[NDArray[np.int32]]]:
        three_way, allocation = OURS[method]
        started = time.monotonic()
        plan = design(
            Brief(
                self.schema,
                Task(target=adult_table.TARGET, regime="predictive", k=11, three_way=three_way),
                Budget(epsilon=epsilon, allocation=allocation),
                self.train.n,
                synthesis=Synthesis(rows=FEW),
            )
        )
        noise = SeededNoise(np.random.default_rng(self.seed))
        made = release(
            plan, self.train, ledger=None, noise=noise, rng=np.random.default_rng(self.seed)
        )
        seconds = time.monotonic() - started
        whole = replace(made.plan, synthesis=Synthesis(rows=self.train.n))
        return seconds, (made.codes, draw(whole, made.model, made.seed)[0])

    def theirs(self, method: str, epsilon: float) -> tuple[float, Sequence[NDArray[np.int32]]]:
        started = time.monotonic()
        plan = design_comparator(method, self.schema, self.train.n, epsilon, rows=FEW)
        noise = SeededNoise(np.random.default_rng(self.seed))
        made = run_comparator(
            plan, self.train, ledger=None, noise=noise, rng=np.random.default_rng(self.seed)
        )
        seconds = time.monotonic() - started
        return seconds, (made.codes,)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--adult")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.2, 1.0, 4.0])
    parser.add_argument("--methods", nargs="+", default=[*OURS, "aim"])
    arguments = parser.parse_args()
    found: dict[tuple[str, float], list[tuple[float, ...]]] = defaultdict(list)
    for seed in range(arguments.seeds):
        bench = Bench(arguments.adult, seed)
        found["real rows", 0.0].append((*bench.ceilings(), 0.0))
        for epsilon in arguments.epsilon:
            for method in arguments.methods:
                run = bench.ours if method in OURS else bench.theirs
                seconds, tables = run(method, epsilon)
                few, *whole = (bench.score(table) for table in tables)
                scores = (few, whole[0] if whole else math.nan, seconds)
                found[method, epsilon].append(scores)
                said = dict(zip(("auc_5000", "auc_n", "seconds"), scores, strict=True))
                print(
                    json.dumps({"method": method, "epsilon": epsilon, "seed": seed, **said}),
                    flush=True,
                )
    print("| epsilon | method | AUC, 5,000 rows | AUC, n rows | seconds | runs |\n|" + "---|" * 6)
    for (method, epsilon), runs in sorted(found.items(), key=lambda item: item[0][1]):
        few, whole, seconds = zip(*runs, strict=True)
        print(
            f"| {epsilon:g} | {method} | {_mean(few)} | {_mean(whole)} | "
            f"{statistics.median(seconds):.1f} | {len(runs)} |"
        )


def _mean(values: Sequence[float]) -> str:
    if any(map(math.isnan, values)):  # comparators are asked for one number of rows
        return "-"
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.fmean(values):.4f} ({spread:.4f})"


if __name__ == "__main__":
    main()
