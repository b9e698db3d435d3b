"""The whole of `prism release`, as a person runs it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from prism_core.experiments.bench.process import child
from prism_core.synthesis.engine.cache import compile_kernels


def measure(adult: Path | None) -> dict[str, Any]:
    """Seconds of a rehearsal at epsilon 1, predictive, k = 8 on Adult; numba's cache filled.

    Args:
        adult: the integer-coded adult.csv; the readmission sample when None.

    Returns:
        release_s: whole process of `prism release`; fit_s, sample_s: of a run in another
        process, fit_s with loading the kernels; peak_mb of that process.
    """
    compile_kernels()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if adult is None:
            from prism_core.experiments import samples

            samples.write("readmission", folder)
        else:
            from prism_core.experiments import adult as adult_data

            adult_data.write(adult, folder, seed=0)
        config = folder / "config.toml"
        whole = child(
            "prism_core.cli", "release", config, "--out", folder / "run", "--seed", 0, "--json"
        )
        stages = child("prism_core.experiments.bench.release_child", config)
    return {
        "table": "readmission" if adult is None else "adult",
        "release_s": round(whole["process_s"], 3),
        **{key: round(stages[key], 4) for key in ("fit_s", "sample_s", "peak_mb")},
    }
