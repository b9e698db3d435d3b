"""The noisy counts of a bundle, as JSON and back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.bundle.layout import MEASUREMENTS, read_json
from prism_core.errors import BundleError
from prism_core.synthesis.measure import Measurement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from prism_core.data.schema import Schema

_KEYS = {"clique", "shape", "sigma", "counts"}
NOTE = (
    "Noisy counts, row by row in the order of the clique's columns and of their declared levels "
    "(schema.yaml; a missing value comes last). They may be negative. Nothing else of the private "
    "rows is in this folder."
)


def text(measurements: Sequence[Measurement]) -> str:
    """The file: one measurement a line."""
    lines = [
        json.dumps(
            {
                "clique": list(m.clique), "shape": list(m.values.shape), "sigma": m.sigma,
                "counts": m.values.ravel().tolist(),
            },
            ensure_ascii=False, allow_nan=False,
        )
        for m in measurements
    ]  # fmt: skip
    note = json.dumps(NOTE)
    body = ",\n".join(lines)
    return f'{{"note": {note},\n"measurements": [\n{body}\n]}}\n'


def read(folder: Path, schema: Schema) -> tuple[Measurement, ...]:
    """The measurements of a bundle, in the order in which they were taken.

    Raises:
        BundleError: when they are not whole numbers in the shape of the schema.
    """
    entries = read_json(folder / MEASUREMENTS).get("measurements")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BundleError("measurements.json lists no measurements.", field=MEASUREMENTS)
    return tuple(_measurement(entry, schema) for entry in entries)


def _measurement(entry: dict[str, Any], schema: Schema) -> Measurement:
    if set(entry) != _KEYS:
        raise BundleError(
            "A measurement needs clique, shape, sigma and counts, and nothing else.",
            field=MEASUREMENTS,
        )
    clique, counts, sigma = entry["clique"], entry["counts"], entry["sigma"]
    known = isinstance(clique, list) and all(
        isinstance(name, str) and name in schema for name in clique
    )
    if not known or not clique or schema.canonical(clique) != tuple(clique):
        raise BundleError(
            "A measured clique does not name columns of the schema, once each and in their order.",
            field=MEASUREMENTS,
        )
    label = " × ".join(clique)
    shape = schema.shape(clique)
    if entry["shape"] != list(shape):
        raise BundleError(
            f"The measurement {label} has another shape than the schema gives it.",
            field=MEASUREMENTS,
        )
    if not _whole(counts, schema.cells(clique)):
        raise BundleError(
            f"The measurement {label} does not hold a whole number for each of its cells.",
            field=MEASUREMENTS,
        )
    if not isinstance(sigma, float) or not 0.0 < sigma < float("inf"):
        raise BundleError(f"The measurement {label} has no usable sigma.", field=MEASUREMENTS)
    values = np.array(counts, dtype=np.int64).reshape(shape)
    return Measurement(clique=tuple(clique), values=values, sigma=sigma)


def _whole(counts: object, cells: int) -> bool:
    return (
        isinstance(counts, list)
        and len(counts) == cells
        and all(type(count) is int and -(2**62) < count < 2**62 for count in counts)
    )
