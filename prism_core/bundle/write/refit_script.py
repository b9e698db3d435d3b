"""Fit the model of this folder again, from its noisy counts, and draw its rows again.

    python -P refit.py                      # fits, draws, and compares with synthetic.csv
    python -P refit.py --out again.csv      # writes the rows
    python -P refit.py --rows 50000 --seed 7 --out more.csv

Needs the package prism-dashboard, in the version that certificate.json names, and no network.
Nothing is spent: the private rows are not there, and the noisy counts were paid for already.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from prism_core import csv_text, draw, fit_model, read_bundle


def main() -> int:
    """Returns 0, or 1 when the rows are compared and differ."""
    parser = argparse.ArgumentParser(description="Fit and draw again from noisy counts.")
    parser.add_argument("--dir", type=Path, default=Path(__file__).parent, help="the bundle")
    parser.add_argument("--out", type=Path, help="CSV to write; without it, compare")
    parser.add_argument("--rows", type=int, help="how many rows (default: as many as there)")
    parser.add_argument("--seed", type=int, help="another draw than the one in the bundle")
    arguments = parser.parse_args()

    bundle = read_bundle(arguments.dir)
    plan = bundle.stages().final
    model = fit_model(plan, bundle.measurements)
    if arguments.rows is not None:
        plan = replace(plan, synthesis=replace(plan.synthesis, rows=arguments.rows))
    seed = bundle.facts.seed if arguments.seed is None else arguments.seed
    _, table = draw(plan, model, seed, bundle.measurements)
    content = csv_text(table).encode("utf-8")
    if arguments.out is not None:
        arguments.out.write_bytes(content)
        sys.stdout.write(f"{len(table):,} rows in {arguments.out}\n")
        return 0
    same = content == (arguments.dir / "synthetic.csv").read_bytes()
    sys.stdout.write(
        f"{len(table):,} rows drawn again: {'the same' if same else 'NOT the same'} as in "
        "synthetic.csv\n"
    )
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
