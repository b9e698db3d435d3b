"""Do our engine, mbi and an exact solver reach the same optimum? Random workloads of all shapes.

    python tests/benchmarks/same_optimum.py [--workloads 200] [--mbi 22]

The exact solver is non-negative least squares over every cell of the joint: it knows nothing of
graphs. Prints, workload by workload, how far our loss is above its (relative), how far the
measured marginals are apart (of n) and our duality gap; then the worst. With --mbi the first so
many are fitted by mbi, too, which compiles for every graph (some ten seconds each) and needs
thousands of iterations: how far its loss is above ours.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from prism_core.synthesis.pgm import fit_pgm
from tests.support.exact import exact, indicator
from tests.support.workloads import SHAPES, workload


def compare(seed: int, *, mbi: bool, iterations: int) -> tuple[str, float, float, float]:
    shape = SHAPES[seed % len(SHAPES)]
    sizes, n, measured = workload(shape, seed)
    last = list(sizes)[-1]
    found = fit_pgm(sizes, last, n, measured, engine="fast")
    loss, joint = exact(sizes, n, measured)
    scale = max(loss, 1e-9)  # a perfect fit has loss 0, and no relative difference
    above = (found.loss - loss) / scale
    apart = max(
        float(np.abs(found.marginal(m.clique).ravel() / n - marginal).max())
        for m in measured
        for marginal in (indicator(sizes, m.clique) @ joint,)
    )
    theirs = np.nan
    if mbi:
        other = fit_pgm(sizes, last, n, measured, engine="mbi", iterations=iterations)
        theirs = (other.loss - found.loss) / scale
    print(
        f"{seed:4} {shape:13} loss {found.loss:14.8g} above exact {above:+8.1e} marginals "
        f"{apart:8.1e} gap {found.gap / scale:8.1e} mbi above ours {theirs:+8.1e}",
        flush=True,
    )
    return shape, above, apart, theirs


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workloads", type=int, default=200)
    parser.add_argument("--mbi", type=int, default=0)
    parser.add_argument("--iterations", type=int, default=20_000)
    asked = parser.parse_args()
    found = [
        compare(seed, mbi=seed < asked.mbi, iterations=asked.iterations)
        for seed in range(asked.workloads)
    ]
    above = np.array([row[1] for row in found])
    apart = np.array([row[2] for row in found])
    print(
        f"{len(found)} workloads: loss above the exact optimum at most {above.max():.1e} "
        f"(relative), within 1e-6: {int((np.abs(above) <= 1e-6).sum())}; marginals within 1e-4 of "
        f"n: {int((apart <= 1e-4).sum())}, at most {apart.max():.1e} apart"
    )
    theirs = np.array([row[3] for row in found[: asked.mbi]])
    if len(theirs):
        print(
            f"mbi, {asked.iterations:,} iterations, {len(theirs)} workloads: within 1e-6 of our "
            f"loss: {int((np.abs(theirs) <= 1e-6).sum())}, below it by at most "
            f"{max(0.0, -theirs.min()):.1e}, above by at most {theirs.max():.1e}"
        )


if __name__ == "__main__":
    main()
