"""Two targets in one release beside a release for each: TSTR on the sample `readmission`.

    python tests/benchmarks/two_targets.py [--seeds N] [--epsilon E] [--weight W] [--json]

Rows are public, noise is seeded. For each regime a plan for readmitted_30d and heart_failure
together, and one for each alone with the whole epsilon to itself: what one would pay twice for.
Every target is predicted by the default learner from its own S, and from all columns but the other
target; the ceiling is the same learner on the same columns of the real training rows.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.encoding import EncodedTable, encode
from prism_core.evaluation.tstr.learners import LEARNERS
from prism_core.evaluation.tstr.predictive import predictive_rows
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.regimes import features_for
from prism_core.planning.wishes.targets import Target
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.samples import catalogue, readmission
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import release

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan
    from prism_core.planning.regimes import Aim
    from prism_core.planning.wishes.task import Regime

FIRST, SECOND = readmission.TARGET, "heart_failure"
REGIMES: tuple[Regime, ...] = ("causal", "graphical")


@dataclass(frozen=True, kw_only=True)
class Reached:
    """AUC of one target under one plan, over seeds.

    Attributes:
        regime, target, plan: which.
        columns: "S" or "all".
        mean, deviation: of the AUC trained on synthetic rows.
        ceiling: the same learner on real rows.
    """

    regime: str
    target: str
    plan: str
    columns: str
    mean: float
    deviation: float
    ceiling: float


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--weight", type=float, default=1.0, help="of the second target")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    sample = catalogue.load("readmission")
    train, test = (encode(sample.schema, raw, public=True) for raw in (sample.train, sample.test))
    found: list[Reached] = []
    for regime in REGIMES:
        both = _plan(regime, (FIRST, SECOND), train.n, asked.epsilon, asked.weight)
        for plan in (both, *(_plan(regime, (t,), train.n, asked.epsilon) for t in (FIRST, SECOND))):
            found += _reached(plan, both.aims, train, test, asked.seeds)
    if asked.json:
        print(json.dumps([vars(each) for each in found]))
        return
    print("| regime | target | columns | plan | TSTR AUC | TRTR AUC |\n|---|---|---|---|---|---|")
    order = {name: place for place, name in enumerate((*REGIMES, FIRST, SECOND, "S", "all"))}
    for each in sorted(found, key=lambda e: (order[e.regime], order[e.target], order[e.columns])):
        print(
            f"| {each.regime} | {each.target} | {each.columns} | {each.plan} | "
            f"{each.mean:.3f} ± {each.deviation:.3f} | {each.ceiling:.3f} |"
        )


def _plan(
    regime: Regime, targets: tuple[str, ...], n: int, epsilon: float, weight: float = 1.0
) -> Plan:
    schema = readmission.schema()
    task = Task(
        target=targets[0],
        regime=regime,
        further=tuple(Target(name=name, weight=weight) for name in targets[1:]),
    )
    dag = Dag(nodes=schema.names, edges=readmission.edges())
    return design(Brief(schema, task, Budget(epsilon=epsilon), n, dag=dag, synthesis=Synthesis()))


def _reached(
    plan: Plan, aims: tuple[Aim, ...], train: EncodedTable, test: EncodedTable, seeds: int
) -> list[Reached]:
    own = [aim for aim in aims if aim.target in plan.task.target_names]
    columns = {
        (aim.target, kind): features
        for aim in own
        for kind, features in (("S", aim.s), ("all", features_for(plan.schema, aims, aim.target)))
    }
    scores: dict[tuple[str, str], list[float]] = {key: [] for key in columns}
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        made = release(plan, train, ledger=None, noise=SeededNoise(rng), rng=rng)
        rows = EncodedTable(schema=plan.schema, codes=made.codes, public=True)
        for (target, kind), features in columns.items():
            scores[target, kind].append(_auc(rows, test, target, features))
    return [
        Reached(
            regime=plan.task.regime,
            target=target,
            columns=kind,
            plan="both targets" if plan.several else "this target alone",
            mean=float(np.mean(values)),
            deviation=float(np.std(values, ddof=seeds > 1)),
            ceiling=_auc(train, test, target, columns[target, kind]),
        )
        for (target, kind), values in scores.items()
    ]


def _auc(rows: EncodedTable, test: EncodedTable, target: str, features: tuple[str, ...]) -> float:
    found, _ = predictive_rows(rows, test, target=target, features=features, learners=LEARNERS[:1])
    value = next(row.value for row in found if row.name == "auc")
    return float("nan") if value is None else value


if __name__ == "__main__":
    main()
