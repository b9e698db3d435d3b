"""Speed of our engine against mbi, and of a whole `prism release`, each in a fresh process."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from prism_core.bench.process import child
from prism_core.synthesis.engine.cache import compile_kernels

_CHILD = "prism_core.bench.fit_child"

FIT_HEAD = (
    f"{'columns':>7} {'fast cold':>10} {'mbi cold':>10} {'ratio':>6} {'fast warm':>10} "
    f"{'mbi warm':>10} {'ratio':>6} {'fast MB':>8} {'mbi MB':>8} {'loss gap':>9} "
    f"{'sample':>8} {'mbi':>8}"
)


def measure_fit(columns: int, *, sample: bool = False, mbi: bool = True) -> dict[str, Any]:
    """Seconds and MiB of both engines on one table, within one run.

    Returns:
        fast_cold_s, mbi_cold_s: from the start of a new process to the fitted model (numba's
        cache filled, mbi as installed); fast_warm_s, mbi_warm_s: the same fit again in that
        process; fast_peak_mb, mbi_peak_mb: the most memory the process had; loss_gap: how far
        mbi's final loss is above ours, relative. With `sample` also fast_sample_s, mbi_sample_s:
        50,000 rows.
    """
    # Compiling happens once on a machine, and is no part of a fit.
    compile_kernels()
    found: dict[str, Any] = {"columns": columns}
    losses = {}
    for engine in ("fast", "mbi") if mbi else ("fast",):
        # Each in a process of its own: the second engine would find libraries loaded.
        made = child(_CHILD, engine, columns, *(["sample"] if sample else []))
        losses[engine] = made["loss"]
        for key in ("cold_s", "warm_s", "peak_mb", "sample_s"):
            if key in made:
                found[f"{engine}_{key}"] = round(made[key], 4)
    if mbi:
        found["loss_gap"] = (losses["mbi"] - losses["fast"]) / losses["fast"]
    return found


def fit_row(found: dict[str, Any]) -> str:
    """One line of the table below `FIT_HEAD`."""
    fast, mbi = (
        {key.removeprefix(f"{engine}_"): value for key, value in found.items()}
        for engine in ("fast", "mbi")
    )

    def number(value: float | None, width: int, digits: int) -> str:
        return f"{'-':>{width}}" if value is None else f"{value:{width}.{digits}f}"

    def ratio(key: str) -> str:
        return number(mbi[key] / fast[key] if key in mbi else None, 6, 1)

    gap = found.get("loss_gap")
    return (
        f"{found['columns']:7} {fast['cold_s']:10.2f} {number(mbi.get('cold_s'), 10, 2)} "
        f"{ratio('cold_s')} {fast['warm_s']:10.3f} {number(mbi.get('warm_s'), 10, 3)} "
        f"{ratio('warm_s')} {fast['peak_mb']:8.0f} {number(mbi.get('peak_mb'), 8, 0)} "
        f"{'-' if gap is None else format(gap, '.1e'):>9} {number(fast.get('sample_s'), 8, 2)} "
        f"{number(mbi.get('sample_s'), 8, 2)}"
    )


def measure_release(adult: Path | None) -> dict[str, Any]:
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
            from prism_core.samples import catalogue

            catalogue.write("readmission", folder)
        else:
            from prism_core.reproduction import adult_table as adult_data

            adult_data.write(adult, folder, seed=0)
        config = folder / "config.toml"
        whole = child(
            "prism_core.cli.main", "release", config, "--out", folder / "run", "--seed", 0, "--json"
        )
        # Apart: what takes the stages' times would be part of the whole.
        stages = child("prism_core.bench.release_child", config)
    return {
        "table": "readmission" if adult is None else "adult",
        "release_s": round(whole["process_s"], 3),
        **{key: round(stages[key], 4) for key in ("fit_s", "sample_s", "peak_mb")},
    }
