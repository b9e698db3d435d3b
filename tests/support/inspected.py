"""A small release beside the real rows it stands for, as the tests of an inspection use it."""

from __future__ import annotations

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.evaluation import Measured, Subject

N = 2_000


def schema_of(classes: int = 2, *, nullable: bool = False) -> Schema:
    return Schema(
        columns=(
            Column(name="a", kind="categorical", levels=(0, 1, 2)),
            Column(name="b", kind="boolean"),
            Column(name="c", kind="ordinal", levels=(0, 1, 2, 3), nullable=nullable),
            Column(name="flat", kind="categorical", levels=("x", "y")),
            Column(name="Y", kind="categorical", levels=tuple(range(classes))),
        ),
        one_row_per_person=True,
    )


def rows(n: int = N, seed: int = 0, classes: int = 2, *, spread: float = 0.6) -> EncodedTable:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, n)
    b = (rng.random(n) < 0.2 + 0.3 * a).astype(int)
    c = np.minimum(3, a + rng.integers(0, 2, n))
    y = (rng.random(n) < 0.1 + spread * a / 2).astype(int) * rng.integers(1, classes, n)
    codes = np.stack([a, b, c, np.zeros(n, dtype=int), y], axis=1)
    return EncodedTable(schema=schema_of(classes), codes=codes)


def subject(classes: int = 2, *, train: bool | EncodedTable = True, **changes) -> Subject:
    """A subject; `train` is a table, True for the usual one, or False for none."""
    entries = {
        "synthetic": rows(seed=1, classes=classes, spread=0.4),
        "holdout": rows(600, seed=2, classes=classes),
        "train": rows(seed=3, classes=classes) if train is True else train or None,
        "target": "Y",
        "s": ("a",),
        "n": N,
        "measured": (Measured(clique=("a", "Y"), sigma=4.0),),
    }
    return Subject(**entries | changes)
