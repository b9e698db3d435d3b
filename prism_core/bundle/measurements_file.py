"""The file of the measurements: the noisy counts of a bundle, as JSON and back."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.bundle.bundle_files import MEASUREMENTS, read_json
from prism_core.data.linear_queries import LinearQuery, linear_query
from prism_core.data.schema.fine_grid import fine_schema
from prism_core.errors import BundleError, PlanError
from prism_core.synthesis.measure import Measurement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from prism_core.data.schema.schema import Schema

_KEYS = {"clique", "shape", "sigma", "counts"}
_QUERY_KEYS = {"query", "grid"}
_FINE = "fine"
NOTE = (
    "Noisy counts, row by row in the order of the clique's columns and of their declared levels "
    "(schema.yaml; a missing value comes last). They may be negative. An entry with a query holds "
    "noisy sums instead, in units of one part in `grid`: moments (1, x, x² of the bin's place from "
    "-1 to 1) or counts between thresholds. An entry that is fine holds counts of a column on its "
    "fine grid, from which its parts were found; all others count parts. Nothing else of the "
    "private rows is in this folder."
)


def measurements_text(measurements: Sequence[Measurement]) -> str:
    """The file: one measurement a line."""
    lines = [
        json.dumps(
            {
                "clique": list(m.clique),
                "shape": list(m.values.shape),
                "sigma": m.sigma,
                "counts": m.values.ravel().tolist(),
                **({_FINE: True} if m.fine else {}),
                **({} if m.query is None else {"query": m.query.spec(), "grid": m.query.grid}),
            },
            ensure_ascii=False,
            allow_nan=False,
        )
        for m in measurements
    ]
    note = json.dumps(NOTE)
    body = ",\n".join(lines)
    # By hand: with `json_text` every count would take a line of its own.
    return f'{{"note": {note},\n"measurements": [\n{body}\n]}}\n'


def read_measurements(
    folder: Path, schema: Schema, domain: Schema | None = None
) -> tuple[Measurement, ...]:
    """The measurements of a bundle, in the order in which they were taken.

    Args:
        folder: of the bundle.
        schema: the declared one; fine counts are on its fine grid.
        domain: the one that all others were measured in; None for the declared one.

    Raises:
        BundleError: when they are not whole numbers in the shape of the schema.
    """
    entries = read_json(folder / MEASUREMENTS).get("measurements")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BundleError("measurements.json lists no measurements.", field=MEASUREMENTS)
    fine = fine_schema(schema)
    others = schema if domain is None else domain
    return tuple(_measurement(entry, fine if _FINE in entry else others) for entry in entries)


def _measurement(entry: dict[str, Any], schema: Schema) -> Measurement:
    fine = _FINE in entry
    if (
        set(entry) - ({_FINE} if fine else _QUERY_KEYS) != _KEYS
        or entry.get(_FINE, True) is not True
    ):
        raise BundleError(
            "A measurement needs clique, shape, sigma and counts, and nothing else but a query "
            "and its grid, or that it is fine.",
            field=MEASUREMENTS,
        )
    clique, counts, sigma = entry["clique"], entry["counts"], entry["sigma"]
    known = isinstance(clique, list) and all(
        isinstance(name, str) and name in schema for name in clique
    )
    # One order and no repetition: else one marginal could be listed in two ways.
    if not known or not clique or schema.canonical(clique) != tuple(clique):
        raise BundleError(
            "A measured clique does not name columns of the schema, once each and in their order.",
            field=MEASUREMENTS,
        )
    label = " × ".join(clique)
    query = _query(entry, schema, label)
    shape = schema.shape(clique) if query is None else query.shape
    if entry["shape"] != list(shape):
        raise BundleError(
            f"The measurement {label} has another shape than the schema gives it.",
            field=MEASUREMENTS,
        )
    if not _whole(counts, math.prod(shape)):
        raise BundleError(
            f"The measurement {label} does not hold a whole number for each of its cells.",
            field=MEASUREMENTS,
        )
    if not isinstance(sigma, float) or not 0.0 < sigma < float("inf"):
        raise BundleError(f"The measurement {label} has no usable sigma.", field=MEASUREMENTS)
    # Whole numbers below 2^62 were checked, so int64 holds them.
    values = np.array(counts, dtype=np.int64).reshape(shape)
    return Measurement(clique=tuple(clique), values=values, sigma=sigma, query=query, fine=fine)


def _query(entry: dict[str, Any], schema: Schema, label: str) -> LinearQuery | None:
    """The linear query that an entry names, made again from the schema."""
    if not _QUERY_KEYS & set(entry):
        return None
    spec = entry.get("query")
    if not isinstance(spec, list) or not all(isinstance(text, str) for text in spec):
        raise BundleError(
            f"The measurement {label} has a query that is no list of texts.", field=MEASUREMENTS
        )
    try:
        found = linear_query(schema, entry["clique"], spec)
    except PlanError as error:
        raise BundleError(f"The measurement {label}: {error}", field=MEASUREMENTS) from None
    if found.spec() != spec or entry.get("grid") != found.grid:
        raise BundleError(
            f"The measurement {label} has another query or grid than the schema gives it.",
            field=MEASUREMENTS,
        )
    return found


def _whole(counts: object, cells: int) -> bool:
    return (
        isinstance(counts, list)
        and len(counts) == cells
        # isinstance would take `true` for 1.
        and all(type(count) is int and -(2**62) < count < 2**62 for count in counts)
    )
