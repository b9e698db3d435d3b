"""Do the two engines reach the same optimum? Random workloads, both run to convergence.

    python tests/benchmarks/same_optimum.py [--workloads 200]

Prints, shape by shape, how far apart the losses are (relative), how far the marginals are (of n),
and the certificate of our engine: its duality gap. mbi compiles for every graph: minutes.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from unit.workloads import SHAPES, workload

from prism_core.synthesis.pgm import fit_pgm


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workloads", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--iterations", type=int, default=20_000)
    arguments = parser.parse_args()
    worst: dict[str, list[float]] = {}
    for seed in range(arguments.first, arguments.first + arguments.workloads):
        shape = SHAPES[seed % len(SHAPES)]
        sizes, n, measured = workload(shape, seed)
        last = list(sizes)[-1]
        start = time.monotonic()
        fast = fit_pgm(sizes, last, n, measured, engine="fast")
        middle = time.monotonic()
        mbi = fit_pgm(sizes, last, n, measured, engine="mbi", iterations=arguments.iterations)
        end = time.monotonic()
        scale = max(abs(mbi.loss), 1e-300)
        difference = (fast.loss - mbi.loss) / scale
        apart = max(
            float(np.abs(fast.marginal(m.clique) - mbi.marginal(m.clique)).max()) / n
            for m in measured
        )
        worst.setdefault(shape, []).append(difference)
        print(
            f"{seed:4} {shape:13} loss {fast.loss:14.8g} mbi {mbi.loss:14.8g} "
            f"relative {difference:+9.1e} gap {fast.gap / scale:8.1e} marginals {apart:8.1e} "
            f"fast {middle - start:6.3f}s mbi {end - middle:6.2f}s",
            flush=True,
        )


if __name__ == "__main__":
    main()
