"""Automatic allocation on the paper's allocation benchmark: never worse than the better of both.

    python tests/benchmarks/allocation_auto.py [--seeds 10] [--trials 20] [--model naive_bayes]

For every epsilon the allocation is chosen on stand-in rows: one table of the benchmark's generator
(`--rows graph`: drawn from the graph with stated strengths instead) that no later run sees. Then
closed form, uniform and the chosen one are run on fresh tables, one a seed, and their AUC is
compared seed by seed: the loss against the better of both must not exceed the 95% interval.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

import numpy as np

from prism_core.data.encoding import encode
from prism_core.data.tables.raw_table import from_frame
from prism_core.planning.wishes.scenario import Scenario
from prism_core.planning.wishes.task import Synthesis, Task
from prism_core.rehearsal import Rehearsal, StandIn, from_graph
from prism_core.rehearsal.allocation_choice import choose
from prism_core.rehearsal.estimates import half_width
from prism_core.samples import scm
from prism_core.structure.dag import Dag

EPSILONS = (0.2, 0.5, 1.0, 2.0, 4.0)
SCHEMA = scm.allocation_schema()
DAG = Dag(nodes=SCHEMA.names, edges=scm.allocation_edges())
TRAIN, TEST = scm.ALLOCATION_ROWS


def table(seed: int) -> StandIn:
    rng = np.random.default_rng([77, seed])
    train, test = scm.allocation_tables(rng)
    return StandIn(
        title="allocation wins",
        target=scm.TARGET,
        dag=DAG,
        train=encode(SCHEMA, from_frame(train), public=True),
        holdouts={"none": encode(SCHEMA, from_frame(test), public=True)},
    )


def drawn() -> StandIn:
    strong = {(scm.TARGET, name): "strong" for name in scm.STRONG_FEATURES}
    return from_graph(
        SCHEMA, scm.TARGET, TRAIN, DAG, strength="weak", strengths=strong, seed=5, holdout=TEST
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--model", choices=("naive_bayes", "pgm"), default="naive_bayes")
    parser.add_argument("--rows", choices=("generator", "graph"), default="generator")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    scenario = Scenario(
        name="auto",
        task=Task(target=scm.TARGET, regime="graphical", weights=scm.allocation_weights()),
        synthesis=Synthesis(model=arguments.model, rows=5_000),
    )
    rows = table(10_000) if arguments.rows == "generator" else drawn()
    fresh = [table(seed) for seed in range(arguments.seeds)]
    print(
        f"{'epsilon':>7} {'closed form':>16} {'uniform':>16} {'auto':>16}  loss ± interval  chosen"
    )
    for epsilon in EPSILONS:
        choice = choose(scenario, rows, epsilon, seeds=arguments.trials, jobs=1)
        areas = [
            evaluated(scenario, choice.scenario, epsilon, one, seed)
            for seed, one in enumerate(fresh)
        ]
        report(epsilon, choice, areas, as_json=arguments.json)


def evaluated(plain: Scenario, chosen: Scenario, epsilon: float, rows: StandIn, seed: int):
    """AUC of closed form, uniform and the chosen allocation on one table, with one seed's noise."""
    named = {
        "closed form": plain,
        "uniform": replace(plain, budget=replace(plain.budget, allocation="uniform")),
        "auto": chosen,
    }
    variants = tuple(replace(one, name=name) for name, one in named.items())
    # Run `seed` of the rehearsal, so that noise differs from table to table.
    rehearsal = Rehearsal(variants=variants, epsilons=(epsilon,), seeds=seed + 1)
    stage_points = run_last(rehearsal, rows, seed)
    return [stage_points[name] for name in named]


def run_last(rehearsal: Rehearsal, rows: StandIn, seed: int) -> dict[str, float]:
    from prism_core.rehearsal.trial import SharedRows

    stage = SharedRows(rows, rehearsal)
    return {
        v.name: stage.run((v.name, rehearsal.epsilons[0], seed)).areas["none"]
        for v in rehearsal.variants
    }


def report(epsilon, choice, areas, *, as_json: bool) -> None:
    columns = np.array(areas).T
    means = columns.mean(axis=1)
    halves = [half_width(list(column)) for column in columns]
    better = int(means[:2].argmax())
    gaps = list(columns[better] - columns[2])
    loss, half = float(np.mean(gaps)), half_width(gaps)
    if as_json:
        found = {"epsilon": epsilon, "means": means.tolist(), "halves": halves, "loss": loss}
        print(json.dumps(found | {"loss_half": half, "choice": choice.to_dict()}), flush=True)
        return
    both = zip(means, halves, strict=True)
    shown = "  ".join(f"{mean:.4f} ± {spread:.4f}" for mean, spread in both)
    ok = "ok" if loss <= half else "WORSE"
    print(f"{epsilon:7g}  {shown}  {loss:+.4f} ± {half:.4f} {ok:5} {choice.chosen}", flush=True)


if __name__ == "__main__":
    main()
