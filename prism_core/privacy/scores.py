"""Scores of the exponential mechanism, each with its sensitivity and the proof beside it.

Mutual information is in nats throughout. n is the public number of persons; neighbours replace
one, with all rows. Scores read private rows: they go into `private_choice` or `private_top_k` and
nowhere else.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from prism_core.privacy.contribution import ONE_ROW, Contribution
from prism_core.privacy.parameters import positive

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def association_sensitivity(n: int, contribution: Contribution = ONE_ROW) -> float:
    """Sensitivity of `association` where one person is replaced: 3 / n for any domain.

    Proof. Replacing a row moves mass 1/n from one cell of p to another, so p moves by at most
    2/n in l1, and so does each margin. The product of margins moves by at most
    |p_x - p'_x|_1 + |p_y - p'_y|_1 <= 4/n in l1. R is half the l1 norm of the difference of the
    two, so it moves by at most (2/n + 4/n) / 2 = 3/n.

    With several rows a person that share one weight the same holds: all have the same weight, so
    replacing a person moves a mass of at most 1/n of p.

    With several rows a person that count one each the score is t R / n, t the private number of
    rows and n that of persons, and moves by at most 3 m / n. Proof: t R is half of |D|_1 with
    D = c - a b' / t, counts c and margins a, b. A row replaced moves t R by at most 3 (above, times
    t). A row put in adds t/(t+1) u v' to D with |u|_1, |v|_1 <= 2 (`conditional_association_
    sensitivity`), so t R moves by less than 2, and so it does where a row is taken out. A person
    has 1 to m rows, before and after: with j and j' of them, replace the smaller number of rows and
    put in or take out the others: 3 min + 2 (max - min) <= 2 max + min <= 3 m.

    Args:
        n: persons; public.
        contribution: what one of them adds.
    """
    return 3.0 / n * (contribution.most / contribution.least)


def scaled_association(counts: NDArray[np.int64], n: int, contribution: Contribution) -> float:
    """What the exponential mechanism scores: t R over what n persons add up to at least.

    R itself where everybody adds the same; else it grows with the private total t of the counts,
    by which nothing may be divided (`association_sensitivity`).
    """
    return association(counts) * (int(counts.sum()) / contribution.totals(n)[0])


def chance_association(shape: tuple[int, ...], n: int) -> float:
    """What `association` is on average where two columns have nothing to do with each other.

    sqrt((I - 1) (J - 1) / (2 pi n)) for I x J cells. Under independence p_xy - p_x p_y is about
    normal with variance p_xy (1 - p_x) (1 - p_y) / n; half the sum of the mean sizes,
    sqrt(2 / pi) a deviation, is this where levels are equally frequent and less where they are
    not. It depends on public numbers alone, so a score less any multiple of it has the
    sensitivity of the score.
    """
    rows, columns = shape
    return math.sqrt((rows - 1) * (columns - 1) / (2.0 * math.pi * n))


def conditional_association(counts: NDArray[np.int64]) -> float:
    """R(X; Y | Z) = 1/2 sum_xyz |p_xyz - p_xz p_yz / p_z|, in [0, 1]; R where Z has one level.

    Args:
        counts: integer table of shape (|X|, |Y|, |Z|) with a positive total n.
    """
    strata = counts.sum(axis=(0, 1), keepdims=True)
    # Divided before multiplied: a product of integer counts could pass the range of int64.
    # An empty stratum has empty cells only: divided by 1 they are the 0 that is meant.
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


def model_error_sensitivity(contribution: Contribution = ONE_ROW) -> float:
    """Sensitivity of `model_error` where one person is replaced, in counts: the l1 of the counts.

    Proof: the counts move by at most `contribution.l1`, 2 for one row; `expected` is
    post-processing and does not move; the l1 norm is 1-Lipschitz in l1. A data-free penalty
    (expected noise) cancels in the difference.
    """
    return contribution.l1


def mutual_information(counts: NDArray[np.int64]) -> float:
    """I(X; Y) in nats of a table of counts, 0 when X and Y are independent in it.

    Args:
        counts: integer table of shape (|X|, |Y|) with a positive total n.
    """
    rows, columns = counts.sum(axis=1, keepdims=True), counts.sum(axis=0, keepdims=True)
    n = counts.sum()
    # 0 ln 0 counts as 0, and its logarithm alone would be infinite.
    seen = counts > 0
    joint = counts[seen] / n
    ratio = joint / ((rows / n) * (columns / n))[seen]
    # Where X and Y are independent the terms cancel, and rounding may end below 0.
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
    # As above: terms that cancel may end a hair below 0.
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


def interaction(
    counts: NDArray[np.int64],
    expected: NDArray[np.float64],
    contrasts: Sequence[NDArray[np.float64]],
) -> float:
    """How far features and Y move together beyond what a model of less says, in counts.

    With D(x, y) = c(x, y) - c(x) q(y | x), q the model's shares of Y given the features, it is the
    largest |sum_x D(x, y) f_1(x_1) ... f_k(x_k)| over the classes y and over the products of one
    contrast f_j of each feature.

    Args:
        counts: integer table of the features, Y last.
        expected: the model's counts, in the same shape; computed from noisy measurements only.
        contrasts: for each feature its contrasts, shape (contrasts, levels), public, none of them
            beyond -1 and 1.
    """
    whole = expected.sum(axis=-1, keepdims=True)
    # Where the model expects nobody its shares of Y are equal: any will do that follow from no row
    # and lie between 0 and 1, as the proof of the sensitivity asks.
    shares = np.where(whole > 0.0, expected, 1.0) / np.where(whole > 0.0, whole, expected.shape[-1])
    found = counts - counts.sum(axis=-1, keepdims=True) * shares
    for values in contrasts:
        # The first axis is used up, and the contrasts come last: the next feature is first then.
        found = np.tensordot(found, values, axes=(0, 1))
    return float(np.abs(found).max())


def interaction_sensitivity(contribution: Contribution = ONE_ROW) -> float:
    """Sensitivity of `interaction` where one person is replaced, in counts: 2 for one row.

    Proof: q and the contrasts do not move. A row (x, y') adds (1{y' = y} - q(y | x)) f_1(x_1) ...
    f_k(x_k) to the sum of a class y and of a product, which lies in [-1, 1], as q is a share and no
    contrast is beyond -1 and 1. What a person adds weighs at most `most` together, so it lies in
    [-most, most]. Replacing her takes one such number out and puts another in, so every sum moves
    by at most 2 `most`, and so does the largest of their absolute values. The bar that finding
    nothing scores is public and stays.
    """
    return 2.0 * contribution.most


def _g(t: float) -> float:
    """(t + 1) ln(t + 1) - t ln t for t > 0, without cancellation."""
    return math.log1p(t) + t * math.log1p(1.0 / t)
