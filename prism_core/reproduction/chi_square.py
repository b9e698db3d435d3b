"""The paper's selection score, kept so that its tables can be reproduced. NOT PRIVATE.

No release can reach this module; `tests/reproduction/test_chi_square.py` walks every import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def chi_square_not_private(counts: NDArray[np.int64]) -> float:
    """min(chi2 / n, 1), which the paper says has sensitivity O(1/n). It has 1, for every n.

    Witness: counts [[n-1, 0], [0, 1]] score 1; moving the lone row to cell (0, 0) gives 0.
    Noise scaled to O(1/n) would protect nobody, so this is for public benchmark rows only.

    Spends: everything. It reads rows without noise and has no usable sensitivity.

    Args:
        counts: integer table of shape (|X|, |Y|) with a positive total n.
    """
    n = counts.sum()
    expected = counts.sum(axis=1, keepdims=True) * (counts.sum(axis=0, keepdims=True) / n)
    terms = np.divide(
        (counts - expected) ** 2, expected, where=expected > 0, out=np.zeros_like(expected)
    )
    return min(float(terms.sum()) / float(n), 1.0)
