"""Scores of the exponential mechanism, each with its sensitivity and the proof beside it.

n is fixed and public; neighbours replace one row. Scores read private rows: they go into
`private_choice` and nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def association(counts: NDArray[np.int64]) -> float:
    """R = 1/2 sum_xy |p_xy - p_x p_y|: total variation distance from independence, in [0, 1].

    Args:
        counts: integer table of shape (|X|, |Y|) with a positive total n.

    Source: method note, section 3; PrivBayes (Zhang et al. 2017) uses the same score.
    """
    joint = counts / counts.sum()
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    return float(0.5 * np.abs(joint - product).sum())


def association_sensitivity(n: int) -> float:
    """Sensitivity of `association` under replace-one: 3 / n for any domain.

    Proof. Replacing a row moves mass 1/n from one cell of p to another, so p moves by at most
    2/n in l1, and so does each margin. The product of margins moves by at most
    |p_x - p'_x|_1 + |p_y - p'_y|_1 <= 4/n in l1. R is half the l1 norm of the difference of the
    two, so it moves by at most (2/n + 4/n) / 2 = 3/n.
    """
    return 3.0 / n


def conditional_association(counts: NDArray[np.int64]) -> float:
    """R(X; Y | Z) = 1/2 sum_xyz |p_xyz - p_xz p_yz / p_z|, in [0, 1]; R where Z has one level.

    Args:
        counts: integer table of shape (|X|, |Y|, |Z|) with a positive total n.
    """
    strata = counts.sum(axis=(0, 1), keepdims=True)
    # Divided before multiplied: a product of integer counts could pass the range of int64.
    shares = counts.sum(axis=1, keepdims=True) / np.maximum(strata, 1)
    expected = shares * counts.sum(axis=0, keepdims=True)
    return float(0.5 * np.abs(counts - expected).sum() / counts.sum())


def conditional_association_sensitivity(n: int) -> float:
    """Sensitivity of `conditional_association` under replace-one: 4 / n for any domain.

    Proof. n R is half the sum over strata of |D|_1, with D = c - a b' / m for a stratum of m
    rows, counts c and margins a, b (D = 0 for m = 0). Put a row into cell (x, y) of a stratum of
    m >= 1 rows, and write u = e_x - a/m, v = e_y - b/m. Multiplied out, the new matrix is
    D + m/(m+1) u v'. As |u|_1 <= 2 and |v|_1 <= 2, the l1 norm moves by at most 4 m/(m+1) < 4; in
    an empty stratum by 0. Taking a row out is the same backwards. A replaced row is one taken out
    and one put in, whether in one stratum or in two, so n R moves by less than (4 + 4) / 2 = 4.

    The constant cannot be 3, as it is without Z: with s^2 = m, take the lone row of cell (1, 1)
    out of the stratum [[m, 0], [0, 1]] and put it into cell (0, 0) of [[0, s], [s, m - 2s]]:
    both halves of the norms fall by nearly 2.
    """
    return 4.0 / n


def model_error(counts: NDArray[np.int64], expected: NDArray[np.float64]) -> float:
    """l1 distance, in counts, between a marginal and what the current model expects of it.

    Args:
        counts: the marginal's true counts.
        expected: the model's counts; computed from noisy measurements only.
    """
    return float(np.abs(counts - expected).sum())


MODEL_ERROR_SENSITIVITY = 2.0
"""Sensitivity of `model_error` under replace-one, in counts. Proof: the counts move by at most 2
in l1, `expected` is post-processing and does not move, and the l1 norm is 1-Lipschitz in l1. A
data-free penalty (expected noise) cancels in the difference."""
