"""A release of 200 columns, one of them with 2,000 codes in 60 groups: seconds by stage.

python tests/benchmarks/wide.py [--rows 20000 50000] [--columns 200] [--regimes predictive causal]
        [--levels] [--secure]

Wall and processor seconds of `prism release` as a person runs it, in a process of its own, and
then processor seconds of its stages in another. `--levels` declares the codes as 2,000 levels
instead of groups; `--secure` takes the noise of private tables (charged to a ledger in the
temporary folder), so that nothing is timed by stage.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

GROUPS, CODES = 60, 2_000
WORDS = np.array(["alpha", "beta", "gamma", "delta", "other"], dtype=object)
STAGES = "--stages"


def columns(count: int, rows: int) -> tuple[dict[str, Any], list[dict[str, Any]], np.ndarray]:
    """Cells and declarations of `count` columns of four kinds, each depending on the one before."""
    rng = np.random.default_rng(0)
    cells: dict[str, Any] = {}
    declared: list[dict[str, Any]] = []
    before = np.zeros(rows)
    score = np.zeros(rows)
    for i in range(count):
        name, kind = f"x{i}", i % 4
        if kind == 0:
            code = (before.astype(int) + rng.integers(0, 4, rows)) % 5
            cells[name] = WORDS[code]
            entry: dict[str, Any] = {"kind": "categorical", "levels": [*WORDS], "other": "other"}
        elif kind == 1:
            value = np.clip(rng.normal(50 + 5 * before, 15, rows), 0, 100)
            cells[name], code = np.round(value).astype(int), value // 12.5
            entry = {"kind": "numeric", "lower": 0, "upper": 100, "integer": True, "bins": 8}
        elif kind == 2:
            code = rng.random(rows) < 0.2 + 0.1 * np.minimum(before, 5)
            cells[name] = np.where(code, "true", "false")
            entry = {"kind": "boolean"}
        else:
            value = np.clip(rng.gamma(2, 3 + before, rows), 0, 60)
            cells[name], code = np.round(value, 2), value // 10
            entry = {"kind": "numeric", "lower": 0, "upper": 60, "decimals": 2, "bins": 6}
        declared.append({"name": name, **entry})
        before = np.asarray(code, dtype=float)
        score += before * (0.5, 0.2, -1.0, 0.1)[kind] * (i < 4)
    return cells, declared, score


def write(folder: Path, count: int, rows: int, *, levels: bool, public: bool) -> None:
    """Table, schema, map of codes, graph and a configuration for each regime."""
    rng = np.random.default_rng(1)
    cells, declared, score = columns(count - 2, rows)
    groups = np.array([f"{chr(65 + g // 10)}{g % 10:02d}" for g in range(GROUPS)])
    codes = np.array([f"{groups[c % GROUPS]}.{c // GROUPS}" for c in range(CODES)], dtype=object)
    drawn = rng.integers(0, CODES, rows)
    cells["diagnosis"] = codes[drawn]
    (folder / "icd.csv").write_text("code\n" + "\n".join(codes) + "\n")
    entry = {"levels": [*codes, "other"]} if levels else {"codes": "icd.csv", "prefix": 3}
    declared.append({"name": "diagnosis", "kind": "categorical", **entry, "other": "other"})
    latent = score + 0.3 * (drawn % GROUPS % 5) + rng.normal(0, 1, rows)
    cells["y"] = np.where(latent > np.median(latent), "true", "false")
    declared.append({"name": "y", "kind": "boolean"})
    pd.DataFrame(cells).to_csv(folder / "train.csv", index=False)
    schema = {"version": 1, "one_row_per_person": True, "columns": declared}
    (folder / "schema.yaml").write_text(yaml.safe_dump(schema, sort_keys=False))
    edges = [(name, "y") for name in ("x0", "x1", "x2", "diagnosis")]
    (folder / "dag.csv").write_text("from,to\n" + "".join(f"{a},{b}\n" for a, b in edges))
    asset = (
        ""
        if public
        else '[asset]\nname = "wide"\nlifetime_epsilon = 100.0\nlifetime_delta = 1e-5\n'
    )
    for regime in ("predictive", "causal", "graphical"):
        graph = "" if regime == "predictive" else 'dag = "dag.csv"\n'
        (folder / f"{regime}.toml").write_text(
            f'[table]\ntrain = "train.csv"\nschema = "schema.yaml"\n{graph}public = '
            f'{str(public).lower()}\n{asset}[task]\ntarget = "y"\nregime = "{regime}"\n'
        )


def run(folder: Path, regime: str, *, public: bool) -> tuple[float, float, float]:
    """Wall seconds, processor seconds and MiB of one `prism release`."""
    known = ["--seed", "0"] if public else ["--workspace", str(folder / "workspace")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(
        [
            sys.executable,
            "-m",
            "prism_core.cli.main",
            "release",
            str(folder / f"{regime}.toml"),
            "--out",
            str(folder / f"run-{regime}"),
            *known,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return wall, spent, after.ru_maxrss / 1024


def stages(config: Path) -> dict[str, float]:
    """Processor seconds of every step in this process."""
    seen = {"imports": 0.0}
    last = [0.0]

    def done(name: str) -> None:
        now = time.process_time()
        seen[name] = seen.get(name, 0.0) + now - last[0]
        last[0] = now

    from prism_core.bundle.write import bundle_folder
    from prism_core.explain.run_time import run_seconds
    from prism_core.planning.wishes import config as configs
    from prism_core.privacy.noise import SeededNoise
    from prism_core.runs.inputs import gather, plan_for, ready
    from prism_core.synthesis.engine.cache import compile_kernels
    from prism_core.synthesis.release import release

    compile_kernels()
    done("imports")
    wanted = configs.load(config)
    inputs = gather(wanted)
    done("reading")
    rng = np.random.default_rng(0)
    table = ready(inputs.schema, inputs.raw, public=True, rng=rng)
    done("encoding")
    plan = plan_for(wanted, inputs)
    done("planning")
    stage = ["charge"]

    def note(name: str, share: float) -> None:
        if name != stage[0]:
            done(stage[0])
            stage[0] = name

    made = release(plan, table, ledger=None, noise=SeededNoise(rng), rng=rng, progress=note)
    done(stage[0])
    bundle_folder.write(made, config.parent / f"run-stages-{config.stem}")
    done("writing")
    return seen | {
        "forecast": run_seconds(plan),
        "planned cells": plan.forecast.cells,
        "cells": made.plan.forecast.cells,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000, 50_000])
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--regimes", nargs="+", default=["predictive", "causal"])
    parser.add_argument("--levels", action="store_true")
    parser.add_argument("--secure", action="store_true")
    wanted = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for rows in wanted.rows:
        with tempfile.TemporaryDirectory(prefix="prism-wide-") as name:
            folder = Path(name)
            write(folder, wanted.columns, rows, levels=wanted.levels, public=not wanted.secure)
            for regime in wanted.regimes:
                wall, spent, most = run(folder, regime, public=not wanted.secure)
                print(
                    f"{rows:,} rows x {wanted.columns} columns, {regime}: {wall:.1f} s wall, "
                    f"{spent:.1f} s of processor, at most {most:,.0f} MiB so far",
                    flush=True,
                )
                if not wanted.secure:
                    child = [sys.executable, __file__, STAGES, str(folder / f"{regime}.toml")]
                    print("    " + subprocess.check_output(child, text=True).strip(), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == [STAGES]:
        print(
            json.dumps({key: round(value, 2) for key, value in stages(Path(sys.argv[2])).items()})
        )
    else:
        main()
