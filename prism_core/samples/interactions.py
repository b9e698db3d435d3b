"""Generated tables in which causes act together: parities, and a dose by weight and age."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.samples.scm import TARGET, bernoulli

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 10_000  # of the training and of the test table alike
COLUMNS = 10
FLIPPED = 0.05
DOSE_CAUSES = ("dose", "weight", "age")
_LEVELS = 4
_HARM, _NO_HARM = 0.85, 0.10  # chance of harm outside the window and inside


def parity_causes(causes: int) -> tuple[str, ...]:
    """Names of the causes of a parity: the first columns."""
    return tuple(f"X{place}" for place in range(1, causes + 1))


def parity(rng: np.random.Generator, causes: int, rows: int = ROWS) -> EncodedTable:
    """Ten fair binary columns, and Y the parity of the first `causes`, 5% flipped.

    No marginal of Y with fewer than all causes tells anything of Y.
    """
    codes = bernoulli(rng, 0.5, rows * COLUMNS).reshape(rows, COLUMNS)
    target = codes[:, :causes].sum(axis=1) % 2 ^ bernoulli(rng, FLIPPED, rows)
    columns = [
        Column(name=name, kind="categorical", levels=(0, 1)) for name in parity_causes(COLUMNS)
    ]
    return _table(columns, np.column_stack([codes, target]))


def dose_by_weight_by_age(rng: np.random.Generator, rows: int = ROWS) -> EncodedTable:
    """A drug that harms where the dose does not fit the weight; what fits is less for the old.

    Dose and weight have four levels; the dose fits where it is at the level of the weight, for
    those of the two upper levels of age one below. Five columns of three levels tell nothing.
    """
    # By `random` alone, whose stream numpy keeps stable.
    draw = rng.random((rows, 8))
    dose, weight, age = (np.floor(draw[:, place] * _LEVELS).astype(int) for place in range(3))
    other = np.floor(draw[:, 3:] * 3).astype(int)
    fitting = np.where(age >= _LEVELS // 2, np.maximum(weight - 1, 0), weight)
    harm = bernoulli(rng, np.where(dose == fitting, _NO_HARM, _HARM), rows)
    columns = [
        *(Column(name=name, kind="ordinal", levels=tuple(range(_LEVELS))) for name in DOSE_CAUSES),
        *(Column(name=f"other{i}", kind="categorical", levels=(0, 1, 2)) for i in range(1, 6)),
    ]
    return _table(columns, np.column_stack([dose, weight, age, other, harm]))


def _table(columns: list[Column], codes: NDArray[np.int64]) -> EncodedTable:
    target = Column(name=TARGET, kind="categorical", levels=(0, 1))
    schema = Schema(columns=(*columns, target), one_row_per_person=True)
    return EncodedTable(schema=schema, codes=codes.astype(np.int32), public=True)
