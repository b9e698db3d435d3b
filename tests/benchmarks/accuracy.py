"""Accuracy on the paper's benchmarks, from the command line: means over seeds.

    python tests/benchmarks/accuracy.py [--seeds 5] [--only scm_spurious] [--adult FILE]

Every run is `prism release ... --seed N --json` followed by `prism evaluate ... --json`.
Adult needs the numeric-encoded file, by --adult or PRISM_ADULT_CSV.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CASES = (
    ("scm_spurious", "causal", "logistic_onehot", ">= .725"),
    ("scm_spurious", "graphical", "logistic_onehot", "<= .57"),
    ("scm_marginal", "graphical", "logistic_onehot", ">= .995"),
    ("adult", "predictive", "logistic_onehot", ">= .882"),
    ("adult", "predictive", "logistic_standardised", ">= .870"),
)


def prism(*arguments: object) -> dict[str, object]:
    command = [sys.executable, "-m", "prism_core.cli.main", *map(str, arguments), "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def prepare(sample: str, regime: str, folder: Path, adult: str | None) -> Path:
    if sample == "adult":
        from prism_core.reproduction import adult_table as adult_data

        adult_data.write(Path(adult or os.environ["PRISM_ADULT_CSV"]), folder, seed=0)
    else:
        prism("sample-data", sample, "--out", folder)
    config = folder / "config.toml"
    text = config.read_text()
    config.write_text(text.replace('regime = "causal"', f'regime = "{regime}"'))
    return config


def runs(sample: str, regime: str, seeds: int, adult: str | None) -> list[dict[str, float]]:
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = prepare(sample, regime, folder, adult)
        for seed in range(seeds):
            out = folder / f"run-{seed}"
            prism("release", config, "--out", out, "--seed", seed)
            report = prism("evaluate", out, "--holdout", folder / "test.csv")
            found.append(
                {
                    row["learner"]: row["value"]
                    for row in report["metrics"]
                    if row["name"] == "auc" and row["learner"]
                }
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only")
    parser.add_argument("--adult")
    arguments = parser.parse_args()
    kept: dict[tuple[str, str], list[dict[str, float]]] = {}
    for sample, regime, learner, wanted in CASES:
        if arguments.only and arguments.only != sample:
            continue
        key = (sample, regime)
        if key not in kept:
            kept[key] = runs(sample, regime, arguments.seeds, arguments.adult)
        values = [run[learner] for run in kept[key]]
        spread = statistics.stdev(values) if len(values) > 1 else 0.0
        print(
            f"{sample:13} {regime:10} {learner:22} mean {statistics.mean(values):.4f} "
            f"sd {spread:.4f}  wanted {wanted}",
            flush=True,
        )


if __name__ == "__main__":
    main()
