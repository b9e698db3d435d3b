"""What a plan says a release takes, beside what it takes: processor seconds on one core.

python tests/benchmarks/seconds.py FOLDER [--tables NAME ...] [--epsilons 0.3 1 3] [--rows N]
        [--repeats 3] [--stages] [--made 262000] [--columns 20] [--config LINES]

FOLDER holds public tables as NAME.csv, NAME.yaml (schema) and NAME.json ({"target": ...}). Each is
released by `prism release` as a person does; seconds are those of its process and of the processes
that it starts, the least of the repeats. `--rows` first draws so many rows of each table with
replacement. `--made` adds a table made here: a chain of columns of 2 to 40 levels and one with the
target, so that adaptive rounds find something in every round. `--stages` prints the stages, too.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

ONE_CORE = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
STAGES = "--of"


def made(folder: Path, rows: int, columns: int) -> str:
    """A table whose columns follow each other and the target; its name."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    cells, declared, before = {}, [], y.astype(float)
    for i in range(columns - 1):
        size = (2, 5, 12, 20, 8, 40)[i % 6]
        value = 0.45 * before + 0.25 * y + 0.5 * rng.random(rows)
        code = np.clip(value / 1.2 * size, 0, size - 1).astype(int)
        before = code / size
        name = f"x{i}"
        if size > 8:
            decimals = i % 3
            cells[name] = np.round(code + rng.random(rows), decimals)
            if not decimals:
                cells[name] = cells[name].astype(int)
            declared.append(
                {"name": name, "kind": "numeric", "lower": 0, "upper": size, "bins": size}
                | ({"decimals": decimals} if decimals else {"integer": True})
            )
        else:
            words = np.array([f"level {level}" for level in range(size)], dtype=object)
            cells[name] = words[code]
            declared.append({"name": name, "kind": "categorical", "levels": [*words]})
    cells["y"] = np.where(y == 1, "true", "false")
    declared.append({"name": "y", "kind": "boolean"})
    pd.DataFrame(cells).to_csv(folder / "made.csv", index=False)
    schema = {"version": 1, "one_row_per_person": True, "columns": declared}
    (folder / "made.yaml").write_text(yaml.safe_dump(schema, sort_keys=False))
    (folder / "made.json").write_text('{"target": "y"}')
    return "made"


def prepare(source: Path, folder: Path, name: str, rows: int | None) -> None:
    """The table in a folder of this run, drawn to another number of rows where one is given."""
    for end in ("yaml", "json"):
        (folder / f"{name}.{end}").write_text((source / f"{name}.{end}").read_text())
    if rows is None:
        (folder / f"{name}.csv").write_bytes((source / f"{name}.csv").read_bytes())
        return
    frame = pd.read_csv(source / f"{name}.csv", dtype=str, keep_default_na=False)
    drawn = np.random.default_rng(1).integers(0, len(frame), rows)
    frame.iloc[drawn].to_csv(folder / f"{name}.csv", index=False)


def configuration(folder: Path, name: str, epsilon: float, lines: str) -> Path:
    target = json.loads((folder / f"{name}.json").read_text())["target"]
    path = folder / f"{name}-{epsilon}.toml"
    task = "" if "regime" in lines else 'regime = "predictive"\n'
    path.write_text(
        f'[table]\ntrain = "{name}.csv"\nschema = "{name}.yaml"\npublic = true\n'
        f'[task]\ntarget = "{target}"\n{task}{lines}\n[budget]\nepsilon = {epsilon}\n'
    )
    return path


def spent(command: list[str]) -> tuple[float, str]:
    """Processor seconds of a command with the processes it starts, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=ONE_CORE
    ).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, text


def stages(config: Path) -> dict[str, float]:
    """Processor seconds of every stage in this process, and what the forecast says of each."""
    from wide import stages as timed

    from prism_core.explain.run_time import parts, slowness
    from prism_core.planning.wishes import config as configs
    from prism_core.runs.inputs import gather, plan_for

    wanted = configs.load(config)
    plan = plan_for(wanted, gather(wanted))
    said = {f"said, {stage}": seconds * slowness() for stage, seconds in parts(plan).items()}
    return timed(config) | said | {"rows": plan.n, "columns": len(plan.schema.columns)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.3, 1.0, 3.0])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--made", type=int)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--config", default="")
    parser.add_argument("--stages", action="store_true")
    wanted = parser.parse_args()
    names = wanted.tables
    if names is None:
        names = sorted(path.stem for path in wanted.folder.glob("*.json"))
    print("| table | rows x columns | epsilon | said | measured | said / measured |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="prism-seconds-") as temporary:
        folder = Path(temporary)
        for name in names:
            prepare(wanted.folder, folder, name, wanted.rows)
        if wanted.made:
            names = [*names, made(folder, wanted.made, wanted.columns)]
        for name in names:
            for epsilon in wanted.epsilons:
                one(folder, name, epsilon, wanted)


def one(folder: Path, name: str, epsilon: float, wanted: argparse.Namespace) -> None:
    """A line of the table."""
    config = configuration(folder, name, epsilon, wanted.config)
    told = subprocess.check_output([sys.executable, __file__, STAGES, str(config)], text=True)
    found = json.loads(told)
    out = folder / "out"
    times = []
    for repeat in range(wanted.repeats):
        release = [
            sys.executable,
            "-m",
            "prism_core.cli.main",
            "release",
            str(config),
            "--out",
            f"{out}-{name}-{epsilon}-{repeat}",
            "--seed",
            str(repeat),
        ]
        times.append(spent(release)[0])
    least = min(times)
    print(
        f"| {name} | {found.pop('rows'):,.0f} x {found.pop('columns'):.0f} | {epsilon:g} | "
        f"{found['forecast']:.1f} | {least:.1f} | {found['forecast'] / least:.2f} |",
        flush=True,
    )
    if wanted.stages:
        print("    " + json.dumps({k: round(v, 2) for k, v in found.items()}), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == [STAGES]:
        sys.path.insert(0, str(Path(__file__).parent))
        print(json.dumps(stages(Path(sys.argv[2]))))
    else:
        main()
