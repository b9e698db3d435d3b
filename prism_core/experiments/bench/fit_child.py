"""One engine, one table, one process: `python -m ... ENGINE COLUMNS [sample]`."""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

from prism_core.experiments.bench.process import peak_megabytes, since_start

if TYPE_CHECKING:
    from prism_core.planning.task import EngineName

SAMPLED = 50_000
"""Rows that are drawn when sampling is timed, too."""

ITERATIONS: dict[EngineName, int] = {"fast": 1_000, "mbi": 10_000}
"""At most; mirror descent needs thousands to come within 1e-4 of the loss that ours stops at."""


def main(engine: EngineName, columns: int, *, sample: bool) -> dict[str, float]:
    """Seconds to the first fitted model since the process began, seconds of a second fit."""
    import numpy as np

    from prism_core.experiments.bench.workload import ROWS, TARGET, workload
    from prism_core.synthesis.pgm import fit_pgm

    begun = time.perf_counter()
    sizes, measurements = workload(columns)
    prepared = time.perf_counter() - begun  # making the input is not the engine's work
    fit = partial(
        fit_pgm, sizes, TARGET, ROWS, measurements, engine=engine, iterations=ITERATIONS[engine]
    )
    made = fit()
    found = {"cold_s": since_start() - prepared, "loss": made.loss}
    again = []
    for _ in range(3 if engine == "fast" else 1):
        begun = time.perf_counter()
        fit()
        again.append(time.perf_counter() - begun)
    found |= {"warm_s": min(again), "peak_mb": peak_megabytes()}
    if sample:
        field = made.markov_random_field() if engine == "mbi" else None
        begun = time.perf_counter()
        if field is None:
            made.sample(SAMPLED, np.random.default_rng(0))
        else:
            field.synthetic_data(SAMPLED)
        found["sample_s"] = time.perf_counter() - begun
    return found


if __name__ == "__main__":
    engine: EngineName = "mbi" if sys.argv[1] == "mbi" else "fast"
    print(json.dumps(main(engine, int(sys.argv[2]), sample="sample" in sys.argv[3:])))
