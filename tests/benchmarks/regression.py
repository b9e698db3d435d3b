"""R² and RMSE of TSTR for numeric targets beside their ceilings: diabetes and generated houses.

    python tests/benchmarks/regression.py [--seeds 5] [--only diabetes] [--epsilon 1 4]

Every seed draws its own split (a fifth is kept aside), its own noise and its own rows. The
rows are public: noise is seeded and nothing is charged. Prints one Markdown line a learner, and
what both learners reach on the values before binning.
"""

from __future__ import annotations

import argparse
import statistics
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.data.encoding import EncodedTable, encode
from prism_core.evaluation import evaluate
from prism_core.evaluation.tstr.learners import one_thread
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.synthesis.release import release
from tests.support import public_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

# Table, target, and tasks that were fixed before the rows were looked at.
_DIABETES = (public_tables.diabetes, public_tables.diabetes_schema, public_tables.DIABETES_TARGET)
_HOUSING = (public_tables.housing, public_tables.housing_schema, public_tables.HOUSING_TARGET)
CASES: dict[str, tuple[Any, Any, str, dict[str, Any]]] = {
    "diabetes": (*_DIABETES, {"k": 3}),
    "housing": (*_HOUSING, {"k": 6}),
}


def runs(name: str, epsilon: float, seeds: int) -> dict[str, list[dict[str, tuple[float, ...]]]]:
    """Scores by learner: for every seed and metric floor, value and ceiling."""
    table, schema_of, target, entries = CASES[name]
    schema = schema_of()
    rows = encode(schema, table(), public=True)
    found: dict[str, list[dict[str, tuple[float, ...]]]] = {}
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 8])
        order = rng.permutation(rows.n)
        test, train = rows.take(order[: rows.n // 5]), rows.take(order[rows.n // 5 :])
        task = Task(target=target, regime="predictive", **entries)
        plan = design(Brief(schema, task, Budget(epsilon=epsilon), train.n))
        made = release(plan, train, ledger=None, noise=SeededNoise(rng), rng=rng)
        synthetic = EncodedTable(schema=schema, codes=made.codes, public=True)
        scored = evaluate(synthetic, test, target=target, train=train)
        for learner in scored.learners:
            each = {
                row.name: (row.floor or 0.0, row.value or 0.0, row.ceiling or 0.0)
                for row in scored.rows
                if row.learner == learner
            }
            found.setdefault(learner, []).append(each)
    return found


def unbinned(name: str, seeds: int) -> str:
    """R² of both learners on the values as they are, before binning, on the same splits."""
    import pandas as pd
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    table, schema_of, target, _ = CASES[name]
    frame, schema = table().frame, schema_of()
    numeric = [column.name for column in schema.columns if column.binned]
    y = frame[target].astype(float).to_numpy()
    x = pd.get_dummies(
        frame.drop(columns=target).astype(
            {column: float for column in numeric if column != target}
        ),
        dtype=float,
    ).to_numpy()
    never: Any = False  # scikit-learn carries no types
    models = {
        "ridge": make_pipeline(StandardScaler(), Ridge(alpha=1.0)),
        "gradient_boosting": HistGradientBoostingRegressor(random_state=0, early_stopping=never),
    }
    cells = []
    for learner, model in models.items():
        scores = []
        for seed in range(seeds):
            order = np.random.default_rng([seed, 8]).permutation(len(y))
            test, train = order[: len(y) // 5], order[len(y) // 5 :]
            with one_thread():
                scores.append(model.fit(x[train], y[train]).score(x[test], y[test]))
        cells.append(f"{learner} {statistics.mean(scores):.3f}")
    return f"{name}, real rows and values before binning: R² of {', '.join(cells)}"


def line(name: str, epsilon: float, learner: str, found: Sequence[dict[str, Any]]) -> str:
    """Mean (standard deviation) over the seeds, as a row of a Markdown table."""
    cells = [name, f"{epsilon:g}", learner]
    for metric in ("r2", "rmse"):
        parts = list(zip(*(each[metric] for each in found), strict=True))
        value = statistics.mean(parts[1])
        spread = statistics.stdev(parts[1]) if len(parts[1]) > 1 else 0.0
        cells += [
            f"{value:.3f} ({spread:.3f})" if metric == "r2" else f"{value:.4g} ({spread:.2g})",
            f"{statistics.mean(parts[2]):.3f}"
            if metric == "r2"
            else f"{statistics.mean(parts[2]):.4g}",
            f"{statistics.mean(parts[0]):.3f}"
            if metric == "r2"
            else f"{statistics.mean(parts[0]):.4g}",
        ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", choices=list(CASES))
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 4.0])
    arguments = parser.parse_args()
    print("| table | ε | learner | R² | ceiling | mean | RMSE | ceiling | mean |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in CASES:
        if arguments.only not in (None, name):
            continue
        for epsilon in arguments.epsilon:
            for learner, found in runs(name, epsilon, arguments.seeds).items():
                print(line(name, epsilon, learner, found), flush=True)
        print(unbinned(name, arguments.seeds), flush=True)


if __name__ == "__main__":
    main()
