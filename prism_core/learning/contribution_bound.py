"""Contribution bound: how many rows of a person to use, from noisy numbers of people.

Post-processing: everything here is computed from a noisy histogram and public facts. Of people of
whom H(k) have k rows or more, N(m) = H(1) + ... + H(m) rows are kept where at most m of each are
used. The m is taken for which a table of the release has the least expected error
(`rows_per_person.table_error`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from prism_core.planning.search.rows_per_person import table_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

CLASSES = 2
"""Of a target that nobody has named yet."""


def chosen_bound(noisy: NDArray[np.int64], people: int, sizes: Sequence[int], rho: float) -> int:
    """The number of rows of a person with the least expected error.

    The release is taken to measure each column with a target of two classes, all with equal noise.

    Args:
        noisy: people by the number of their rows, from 1 on, with noise; the last cell holds those
            with more, too.
        people: how many there are; public, and the true counts add up to it.
        sizes: of the columns, in cells.
        rho: what is left for the release.

    Returns:
        From 1 to the number of cells; the smallest where several are as good.
    """
    kept = rows_kept(noisy, people).tolist()
    # Of equal shares rho_q of the rho, one for each column but the target: sigma = 1 / sqrt(rho_q).
    noise = math.sqrt(max(1, len(sizes) - 1) / rho)
    cells = CLASSES * math.fsum(sizes) / len(sizes)
    errors = [table_error(cells, rows, m * noise) for m, rows in enumerate(kept, start=1)]
    return errors.index(min(errors)) + 1


def rows_kept(noisy: NDArray[np.int64], people: int) -> NDArray[np.float64]:
    """How many rows are kept of up to 1, 2, ... rows of a person, about; shape (cells,).

    All cells add up to the people, which is public: the excess is spread evenly, the least-squares
    estimate under that constraint. Then nobody is counted below 0, and no number of rows has more
    people than a smaller one.
    """
    counts = noisy.astype(np.float64)
    counts += (people - counts.sum()) / len(counts)
    or_more = np.cumsum(counts[::-1])[::-1]
    # Everybody has a row at least, which is public: no noise is left in this number.
    or_more[0] = people
    return np.cumsum(np.minimum.accumulate(np.clip(or_more, 0.0, people)))
