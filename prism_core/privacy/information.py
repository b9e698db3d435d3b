"""Mutual information as scores of the exponential mechanism. One unit throughout: nats.

n is fixed and public; neighbours replace one row. Scores read private rows: they go into
`private_choice` or `private_top_k` and nowhere else.

Notation of the proofs: f(t) = t ln t with f(0) = 0, and g(t) = f(t + 1) - f(t) for real t >= 0.
g(0) = 0; g is increasing, as g'(t) = ln((t + 1) / t) > 0, and concave, as g''(t) < 0. A replaced
row is a row taken out, which leaves a table of m = n - 1 rows with counts b, and one put in.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from prism_core.privacy.checks import positive

if TYPE_CHECKING:
    from numpy.typing import NDArray


def mutual_information(counts: NDArray[np.int64]) -> float:
    """I(X; Y) in nats of a table of counts, 0 when X and Y are independent in it.

    Args:
        counts: integer table of shape (|X|, |Y|) with a positive total n.
    """
    rows, columns = counts.sum(axis=1, keepdims=True), counts.sum(axis=0, keepdims=True)
    n = counts.sum()
    seen = counts > 0
    joint = counts[seen] / n
    ratio = joint / ((rows / n) * (columns / n))[seen]
    return float(max(0.0, np.sum(joint * np.log(ratio))))


def mutual_information_sensitivity(n: int, *, binary: bool) -> float:
    """Sensitivity of `mutual_information` under replace-one, in nats.

    With n I = sum f(c_xy) - sum f(c_x) - sum f(c_y) + f(n), putting a row into cell (x, y) of
    the table b adds h(x, y) = g(b_xy) - g(b_x) - g(b_y) and a constant. So n I moves by at most
    max h - min h.

    General domains: 2 g(m/2) / n = (2/n) ln((n+1)/2) + ((n-1)/n) ln((n+1)/(n-1)).
    Proof. As b_xy <= min(b_x, b_y), h <= -g(max(b_x, b_y)) <= 0. Below, write a = b_x, b = b_y;
    b_xy >= max(0, a + b - m). Where a + b >= m, g(a + b - m) - g(a) - g(b) rises with a (g' falls
    and a + b - m <= a), so its least value has a + b = m. Where a + b <= m,
    h >= -g(a) - g(b) >= -2 g((a + b) / 2) >= -2 g(m/2) as g is concave and increasing.

    X or Y binary: g(m) / n = (1/n) ln n + ((n-1)/n) ln(n/(n-1)).
    Proof. Let X be binary and consider h(x, y) - h(x', y'). If x' = x it is
    [g(b_xy) - g(b_y)] + [g(b_y') - g(b_xy')] <= 0 + g(m). Else b_x' = m - b_x, all of column y'
    outside row x' is in row x, so b_x'y' >= b_y' - b_x, and g(b_y') - g(b_x'y') <= g(b_x) as g
    is concave with g(0) = 0 (subadditive). With h(x, y) <= -g(b_x) the difference is at most
    -g(b_x) + g(m - b_x) + g(b_x) <= g(m).

    Args:
        n: number of rows, public.
        binary: whether X or Y has at most two levels, by the declared domain.

    Raises:
        PrivacyError: unless n is a number above 1; with one row information is always 0.

    Source: the constants are those of PrivBayes (Zhang et al. 2017, Lemma 4.1), there in bits.
    """
    m = positive(positive(n, "n") - 1.0, "n - 1")
    return _g(m) / n if binary else 2.0 * _g(m / 2.0) / n


def conditional_information(counts: NDArray[np.int64]) -> float:
    """I(X; X' | Y) in nats of a table of counts.

    Args:
        counts: integer table of shape (|X|, |X'|, |Y|) with a positive total n.
    """
    seen = counts > 0
    joint = counts[seen] / counts.sum()
    slices = counts.sum(axis=(0, 1), keepdims=True)
    rows = counts.sum(axis=1, keepdims=True)
    columns = counts.sum(axis=0, keepdims=True)
    # Divided before multiplied: a product of integer counts could pass the range of int64.
    upper = np.broadcast_to(slices / np.maximum(rows, 1), counts.shape)[seen]
    lower = np.broadcast_to(columns, counts.shape)[seen] / counts[seen]
    return float(max(0.0, np.sum(joint * np.log(upper / lower))))


def conditional_information_sensitivity(n: int) -> float:
    """Sensitivity of `conditional_information` under replace-one, in nats: 2 g(m/2) / n.

    The general constant of mutual information, whatever the domains: with binary ones the
    smaller constant is violated (n = 20: .3828 bits true against .2864).

    Proof. Putting a row into cell (x, x') of stratum y adds h_y = k + g(m_y) to n I, where m_y
    is the stratum's size in b and k is the h of mutual information within the stratum, which
    lies in [-2 g(m_y/2), 0]. Within one stratum h moves by at most 2 g(m_y/2) <= 2 g(m/2).
    Between strata of sizes s and t, s + t <= m, the difference is at most
    g(s) + 2 g(t/2) - g(t) = [g(s) + g(t/2)] + [g(t/2) - g(t)]. The second bracket is <= 0 and the
    first at most 2 g((s + t/2) / 2) <= 2 g(m/2), by concavity.

    Raises:
        PrivacyError: unless n is a number above 1.
    """
    return mutual_information_sensitivity(n, binary=False)


def _g(t: float) -> float:
    """(t + 1) ln(t + 1) - t ln t for t > 0, without cancellation."""
    return math.log1p(t) + t * math.log1p(1.0 / t)
