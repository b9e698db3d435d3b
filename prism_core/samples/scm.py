"""The paper's generated benchmarks: two structural shifts and heterogeneous importance.

Every value comes from `Generator.random`, whose stream numpy keeps stable, so a seed gives
the same rows under every supported version. Notation: A and B are the causes of the target
Y, S1..S10 its spurious children, N1..N10 noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

TARGET = "Y"
CAUSES = ("A", "B")
CHILDREN = tuple(f"S{i}" for i in range(1, 11))
NOISE = tuple(f"N{i}" for i in range(1, 11))
NAMES = (*CAUSES, *CHILDREN, *NOISE, TARGET)

# Notation of the paper: the log-odds of Y are SLOPE (A-1) + SLOPE (B-1) + eta.
SLOPE = 0.9
ETA_VARIANCE = 0.5

ROWS = 5000  # of the training and of the test table alike
UNIFORM = (1 / 3, 1 / 3, 1 / 3)
SPURIOUS_FLIPS = (0.10, 0.50)  # training, test
MARGINAL_FLIP = 0.15
MARGINAL_TEST_MARGINS = (0.1, 0.3, 0.6)

STRONG_FEATURES = tuple(f"X{i}" for i in range(1, 5))
WEAK_FEATURES = tuple(f"X{i}" for i in range(5, 21))
STRONG = (0.9, 0.1)  # P(X=1 | Y=1), P(X=1 | Y=0)
WEAK = (0.55, 0.45)
ALLOCATION_ROWS = (400, 2000)  # training, test


def bernoulli(rng: np.random.Generator, chance: ArrayLike, rows: int) -> NDArray[np.int64]:
    """0 or 1 a row, with P(1) = `chance` (one number, or one for every row)."""
    # `<`, as draws are at least 0 and below 1: a chance of 0 never happens, and 1 always.
    return (rng.random(rows) < np.asarray(chance)).astype(np.int64)


def levels(rng: np.random.Generator, chances: ArrayLike, rows: int) -> NDArray[np.int64]:
    """A level 0..L-1 a row; `chances` has shape (L,) or (rows, L), rows summing to 1."""
    cumulative = np.cumsum(np.asarray(chances, dtype=float), axis=-1)
    # The last bound is 1 by definition; leaving it out keeps float error from adding a level.
    return (rng.random(rows)[:, None] >= np.atleast_2d(cumulative)[:, :-1]).sum(axis=1)


def normal(rng: np.random.Generator, rows: int) -> NDArray[np.float64]:
    """Standard normal draws by inversion of uniform ones."""
    # Not `standard_normal`, whose stream numpy may change.
    return ndtri(rng.random(rows))


def scm(
    rng: np.random.Generator, rows: int, *, flip: float, margins: Sequence[float] = UNIFORM
) -> pd.DataFrame:
    """Rows of the benchmark's structural model.

    Args:
        rng: the source of every draw.
        rows: number of rows.
        flip: chance that a spurious child differs from Y.
        margins: distribution of A and of B over 0, 1, 2.

    Returns:
        Integer columns A, B, S1..S10, N1..N10, Y.
    """
    columns = {name: levels(rng, margins, rows) for name in CAUSES}
    # Variance 0.5, as in the paper; a deviation of 0.5 would move the ceiling of AUC from .731 to
    # .736.
    eta = np.sqrt(ETA_VARIANCE) * normal(rng, rows)
    centred = columns["A"] + columns["B"] - 2
    target = bernoulli(rng, expit(SLOPE * centred + eta), rows)
    columns |= {name: target ^ bernoulli(rng, flip, rows) for name in CHILDREN}
    columns |= {name: levels(rng, (0.25,) * 4, rows) for name in NOISE}
    return pd.DataFrame({**columns, TARGET: target})


def scm_spurious(
    rng: np.random.Generator, rows: int = ROWS, flip: float = SPURIOUS_FLIPS[0]
) -> pd.DataFrame:
    """Rows of the spurious shift: training has flip .10; at .50 the children say nothing."""
    return scm(rng, rows, flip=flip)


def scm_marginal(
    rng: np.random.Generator, rows: int = ROWS, margins: Sequence[float] = UNIFORM
) -> pd.DataFrame:
    """Rows of the marginal shift: only the margins of A and B move, the mechanisms stay."""
    return scm(rng, rows, flip=MARGINAL_FLIP, margins=margins)


def spurious_tables(rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and test table of the paper's spurious shift."""
    train, test = SPURIOUS_FLIPS
    return scm_spurious(rng, ROWS, train), scm_spurious(rng, ROWS, test)


def marginal_tables(rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and test table of the paper's marginal shift."""
    return scm_marginal(rng, ROWS), scm_marginal(rng, ROWS, MARGINAL_TEST_MARGINS)


def scm_schema() -> Schema:
    """The declared domain of both shifts."""
    columns = [
        _column(name, 3, f"Cause {name} of the outcome; higher means more likely.", ordinal=True)
        for name in CAUSES
    ]
    columns += [
        _column(name, 2, "Effect of the outcome: a copy of it with some values flipped.")
        for name in CHILDREN
    ]
    columns += [_column(name, 4, "Unrelated to everything else.") for name in NOISE]
    columns.append(_column(TARGET, 2, "The outcome to predict."))
    return Schema(columns=tuple(columns), one_row_per_person=True)


def scm_edges() -> tuple[tuple[str, str], ...]:
    """The true graph: A and B cause Y, Y causes S1..S10."""
    causes = tuple((name, TARGET) for name in CAUSES)
    return causes + tuple((TARGET, name) for name in CHILDREN)


def allocation_wins(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """Rows of the heterogeneous-importance benchmark: X1..X20 independent given Y.

    X1..X4 are strong (P(X=1|Y) = .9 and .1), X5..X20 weak (.55 and .45), Y is a fair coin.
    """
    target = bernoulli(rng, 0.5, rows)
    columns: dict[str, NDArray[np.int64]] = {}
    for names, (positive, negative) in ((STRONG_FEATURES, STRONG), (WEAK_FEATURES, WEAK)):
        chance = np.where(target == 1, positive, negative)
        columns |= {name: bernoulli(rng, chance, rows) for name in names}
    return pd.DataFrame({**columns, TARGET: target})


def allocation_tables(rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and test table of the paper's allocation benchmark."""
    train, test = ALLOCATION_ROWS
    return allocation_wins(rng, train), allocation_wins(rng, test)


def allocation_weights() -> dict[str, float]:
    """The paper's oracle weights, (P(X=1|Y=1) - P(X=1|Y=0))^2 for every feature."""
    pairs = ((STRONG_FEATURES, STRONG), (WEAK_FEATURES, WEAK))
    return {
        name: (positive - negative) ** 2 for names, (positive, negative) in pairs for name in names
    }


def allocation_schema() -> Schema:
    """The declared domain of the allocation benchmark."""
    columns = [_column(name, 2, "Tells much about the outcome.") for name in STRONG_FEATURES]
    columns += [_column(name, 2, "Tells little about the outcome.") for name in WEAK_FEATURES]
    columns.append(_column(TARGET, 2, "The outcome to predict."))
    return Schema(columns=tuple(columns), one_row_per_person=True)


def allocation_edges() -> tuple[tuple[str, str], ...]:
    """The true graph: Y causes every feature."""
    return tuple((TARGET, name) for name in (*STRONG_FEATURES, *WEAK_FEATURES))


def _column(name: str, count: int, description: str, *, ordinal: bool = False) -> Column:
    kind = "ordinal" if ordinal else "categorical"
    return Column(name=name, kind=kind, levels=tuple(range(count)), description=description)
