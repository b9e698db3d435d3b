"""Our engine against mbi, each in a fresh process."""

from __future__ import annotations

from typing import Any

from prism_core.experiments.bench.process import child
from prism_core.synthesis.engine.cache import compile_kernels

_CHILD = "prism_core.experiments.bench.fit_child"

HEAD = (
    f"{'columns':>7} {'fast cold':>10} {'mbi cold':>10} {'ratio':>6} {'fast warm':>10} "
    f"{'mbi warm':>10} {'ratio':>6} {'fast MB':>8} {'mbi MB':>8} {'loss gap':>9} "
    f"{'sample':>8} {'mbi':>8}"
)


def measure(columns: int, *, sample: bool = False, mbi: bool = True) -> dict[str, Any]:
    """Seconds and MiB of both engines on one table, within one run.

    Returns:
        fast_cold_s, mbi_cold_s: from the start of a new process to the fitted model (numba's
        cache filled, mbi as installed); fast_warm_s, mbi_warm_s: the same fit again in that
        process; fast_peak_mb, mbi_peak_mb: the most memory the process had; loss_gap: how far
        mbi's final loss is above ours, relative. With `sample` also fast_sample_s, mbi_sample_s:
        50,000 rows.
    """
    compile_kernels()
    found: dict[str, Any] = {"columns": columns}
    losses = {}
    for engine in ("fast", "mbi") if mbi else ("fast",):
        made = child(_CHILD, engine, columns, *(["sample"] if sample else []))
        losses[engine] = made["loss"]
        for key in ("cold_s", "warm_s", "peak_mb", "sample_s"):
            if key in made:
                found[f"{engine}_{key}"] = round(made[key], 4)
    if mbi:
        found["loss_gap"] = (losses["mbi"] - losses["fast"]) / losses["fast"]
    return found


def row(found: dict[str, Any]) -> str:
    """One line of the table below `HEAD`."""
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
