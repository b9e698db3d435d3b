"""Learned blankets against the true ones, and what they are worth against predictive 3a.

    python tests/benchmarks/learned_blanket.py [--seeds 10] [--only child] [--share 0.2]

Rows are drawn from networks that pgmpy ships. At equal total (epsilon, 1/n^2): the graphical regime
with a blanket learned with a share of the budget, the predictive regime (greedy 3a), and for
orientation the graphical regime with the true blanket given for nothing. TSTR: macro AUC and
accuracy of a logistic regression on one-hot levels, on fresh rows of the network.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.evaluation import fit
from prism_core.evaluation.tstr.scoring import accuracy, macro_auc
from prism_core.learning.graph.graph_plan import MEMBERS, SHARE, design_graph
from prism_core.learning.graph.learned_graph import learn_graph
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import release

CASES = (("child", "Disease"), ("alarm", "LVFAILURE"))
N, HOLDOUT = 20_000, 20_000


def network(name: str) -> Any:
    from pgmpy.readwrite import BIFReader

    spec = find_spec("pgmpy")
    path = Path((spec and spec.origin) or "").parent / "utils" / "example_models" / f"{name}.bif.gz"
    return BIFReader(string=gzip.decompress(path.read_bytes()).decode()).get_model()


def rows(model: Any, schema: Schema, n: int, rng: np.random.Generator) -> EncodedTable:
    """Forward sampling: every node given its parents."""
    import networkx as nx

    codes: dict[str, np.ndarray] = {}
    for node in nx.topological_sort(model):
        table = model.get_cpds(node)
        given = table.variables[1:]
        chances = np.moveaxis(table.values, 0, -1)
        chances = chances[tuple(codes[p] for p in given)] if given else np.tile(chances, (n, 1))
        codes[node] = (rng.random(n)[:, None] > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)
    columns = np.column_stack([codes[name] for name in schema.names])
    return EncodedTable(schema=schema, codes=columns, public=True)


def schema_of(model: Any) -> Schema:
    return Schema(
        columns=tuple(
            Column(name=node, kind="categorical", levels=tuple(range(model.get_cardinality(node))))
            for node in sorted(model.nodes)
        ),
        one_row_per_person=True,
    )


def scores(table: EncodedTable, codes: np.ndarray, holdout: EncodedTable, target: str) -> Any:
    made = EncodedTable(schema=table.schema, codes=codes, public=True)
    learner = fit("logistic_onehot", made, target=target)
    truth = holdout.codes[:, table.schema.names.index(target)]
    chances = learner.probabilities(holdout)
    return macro_auc(truth, chances), accuracy(truth, chances)


def run(name: str, target: str, epsilon: float, seeds: int, share: float, members: int) -> None:
    model = network(name)
    schema = schema_of(model)
    true = {str(node) for node in model.get_markov_blanket(target)}
    given = Dag(nodes=schema.names, edges=tuple((m, target) for m in sorted(true)))
    plan = design_graph(schema, target, epsilon, None, N, share=share, members=members)
    found: dict[str, list[Any]] = {"precision": [], "recall": [], "size": []}
    started = time.monotonic()
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        table, holdout = rows(model, schema, N, rng), rows(model, schema, HOLDOUT, rng)
        learned = learn_graph(plan, table, ledger=None, noise=SeededNoise(rng))
        hits = len(true & set(learned.members))
        found["recall"].append(hits / len(true))
        found["size"].append(len(learned.members))
        if learned.members:
            found["precision"].append(hits / len(learned.members))
        ways: dict[str, tuple[Task, Dag | None]] = {
            "learned": (Task(target=target, regime="graphical"), learned.dag),
            "3a, k=8": (Task(target=target, regime="predictive", k=8), None),
            "3a, k=4": (Task(target=target, regime="predictive", k=4), None),
            "true blanket": (Task(target=target, regime="graphical"), given),
        }
        if not learned.members:
            del ways["learned"]
        for way, (task, dag) in ways.items():
            wanted = design(Brief(schema, task, Budget(epsilon=epsilon), N, dag=dag))
            made = release(wanted, table, ledger=None, noise=SeededNoise(rng), rng=rng)
            found.setdefault(way, []).append(scores(table, made.codes, holdout, target))
        found.setdefault("real rows", []).append(scores(table, table.codes, holdout, target))
    report(name, target, epsilon, found, time.monotonic() - started)


def report(name: str, target: str, epsilon: float, found: dict[str, list], seconds: float) -> None:
    def mean(values: Any) -> str:
        values = [float(v) for v in values]
        spread = statistics.stdev(values) if len(values) > 1 else 0.0
        return f"{statistics.fmean(values):.3f} ± {spread:.3f}"

    print(f"\n{name} {target}, epsilon {epsilon:g} ({seconds:.0f} s)")
    for key in ("precision", "recall", "size"):
        print(f"  {key:14} {mean(found.pop(key) or [0.0])}")
    for way, values in found.items():
        aucs, hits = zip(*values, strict=True)
        print(
            f"  {way:14} AUC {mean(aucs)}   accuracy {mean(hits)}   ({len(values)} runs)",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only")
    parser.add_argument("--share", type=float, default=SHARE)
    parser.add_argument("--members", type=int, default=MEMBERS)
    parser.add_argument("--epsilon", type=float, nargs="*", default=[1.0, 4.0])
    chosen = parser.parse_args()
    for name, target in CASES:
        if chosen.only in (None, name, target):
            for epsilon in chosen.epsilon:
                run(name, target, epsilon, chosen.seeds, chosen.share, chosen.members)


if __name__ == "__main__":
    main()
