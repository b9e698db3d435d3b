"""How long a rehearsal takes: 5 epsilons x 10 seeds x 2 designs on the sample `readmission`.

    python tests/benchmarks/rehearsal.py [--seeds 10] [--jobs 2] [--regimes] [--json]

The target is 60 seconds on two idle cores, with starting the processes. The kernels' cache is
filled before the clock starts, as the dashboard does when it starts.
"""

from __future__ import annotations

import argparse
import json
import os
import time

from prism_core.planning.wishes.scenario import Scenario
from prism_core.planning.wishes.task import Budget, Task
from prism_core.rehearsal import Rehearsal, estimates, from_sample, run_rehearsal, verdict
from prism_core.synthesis.engine.cache import compile_kernels


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--regimes", action="store_true", help="causal against graphical instead")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    compile_kernels()
    started = time.perf_counter()
    rows = from_sample("readmission")
    rehearsal = Rehearsal(
        variants=_variants(rows.target, regimes=arguments.regimes), seeds=arguments.seeds
    )
    points = []
    for point in run_rehearsal(rehearsal, rows, jobs=arguments.jobs):
        if not points:
            first = time.perf_counter() - started
        points.append(point)
    seconds = time.perf_counter() - started
    work = sum(point.seconds for point in points)
    found = {
        "runs": rehearsal.runs,
        "jobs": arguments.jobs,
        "seconds": round(seconds, 2),
        "first_point_s": round(first, 2),
        "seconds_a_run": round(work / len(points), 3),
    }
    if arguments.json:
        print(json.dumps(found | {"curves": [e.to_dict() for e in estimates(points)]}))
        return
    print(found)
    for one in estimates(points):
        print(f"{one.variant:14} epsilon {one.epsilon:4g}: {one.mean:.4f} ± {one.half:.4f}")
    print(verdict(points, "none"))


def _variants(target: str, *, regimes: bool) -> tuple[Scenario, ...]:
    if regimes:
        return (
            Scenario(name="causal", task=Task(target=target, regime="causal")),
            Scenario(name="graphical", task=Task(target=target, regime="graphical")),
        )
    task = Task(target=target, regime="graphical")
    return (
        Scenario(name="closed form", task=task, budget=Budget(allocation="closed_form")),
        Scenario(name="uniform", task=task, budget=Budget(allocation="uniform")),
    )


if __name__ == "__main__":
    main()
