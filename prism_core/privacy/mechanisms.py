"""The mechanisms through which private rows leave: noisy marginals and private choices.

Both refuse unusable scales, and refuse known noise on private rows, before a row is touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.counts import marginal_counts
from prism_core.errors import PrivacyError
from prism_core.privacy.checks import positive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prism_core.data.linear import LinearQuery
    from prism_core.data.source import Rows
    from prism_core.privacy.noise import NoiseSource

_PUT_ASIDE = 200
"""Public candidates that are found not allowed one by one; then all that are left are looked at."""


def guard(table: Rows, noise: NoiseSource) -> None:
    """Refuse to measure a private table with noise that somebody could know. Spends nothing.

    Raises:
        PrivacyError: always in that case, before any row is read.
    """
    if not table.public and not noise.secure:
        raise PrivacyError(
            "Seeded noise can be subtracted by anyone who knows the seed. Private tables are "
            "measured with secure noise only; mark the table public if it really is.",
            field="noise",
        )


def noisy_marginal(
    table: Rows, clique: Sequence[str], sigma: float, noise: NoiseSource
) -> NDArray[np.int64]:
    """Integer noisy counts of one marginal, in the shape of the declared domain.

    Spends: one Gaussian event of scale sigma with l2 sensitivity sqrt(2): rho = 1 / sigma^2.

    Proof. Under replace-one one cell of the counts falls by 1 and one rises by 1 (or none
    changes), so the counts move by at most sqrt(2) in l2. Counts and noise are integers, so
    the discrete Gaussian gives sensitivity^2 / (2 sigma^2)-zCDP (Canonne, Kamath, Steinke
    2020, Theorem 4 and its multivariate form) with no floating-point residue.

    Raises:
        PrivacyError: for a sigma that is not a finite number above 0, or for known noise on
            a private table.
    """
    positive(sigma, "sigma")
    guard(table, noise)
    return noise.add_discrete_gaussian(marginal_counts(table, clique), sigma)


def noisy_query(
    table: Rows, query: LinearQuery, sigma: float, sensitivity: float, noise: NoiseSource
) -> NDArray[np.int64]:
    """Integer noisy answers of a linear query of one marginal, in units of 1 / query.grid.

    Spends: one Gaussian event of scale sigma with this l2 sensitivity: rho = sensitivity^2 /
    (2 sigma^2).

    Proof. Q has whole entries, so Q times the counts is a vector of integers; under replace-one
    it moves by a difference of two columns of Q, at most `query.sensitivity` in l2 (proof there).
    The discrete Gaussian on integers is sensitivity^2 / (2 sigma^2)-zCDP whatever the sensitivity
    (Canonne, Kamath, Steinke 2020, Theorem 4); rounding phi to the grid happened in Q, before.

    Raises:
        PrivacyError: for a sigma or sensitivity that is not a finite number above 0, for a
            sensitivity below that of the query, for numbers too large for 64 bits, or for known
            noise on a private table.
    """
    positive(sigma, "sigma")
    positive(sensitivity, "sensitivity")
    if not query.sensitivity <= sensitivity:
        raise PrivacyError(
            "The query moves by more than its declared sensitivity; nothing was measured.",
            field="sensitivity",
        )
    if not table.n * query.grid < 2**62:
        raise PrivacyError(
            "The table has too many rows for this query; nothing was measured.", field="n"
        )
    guard(table, noise)
    exact = query.of(marginal_counts(table, query.clique))
    return noise.add_discrete_gaussian(exact, sigma)


def private_choice(
    table: Rows,
    scores: Callable[[Rows], Sequence[float] | NDArray[np.float64]],
    *,
    sensitivity: float,
    epsilon: float,
    noise: NoiseSource,
    allowed: Callable[[int], bool] = lambda _: True,
) -> int:
    """The index of a candidate with a high score, by the exponential mechanism.

    Spends: one exponential event: epsilon-DP and epsilon^2/8-zCDP.

    Proof. Changing one row moves every score by at most `sensitivity`, so every probability
    ratio exp(epsilon u / (2 sensitivity)) / normaliser moves by a factor of at most e^epsilon
    (McSherry and Talwar 2007), and the loss has range epsilon, hence epsilon^2/8-zCDP
    (Cesar and Rogers 2021). Only the index leaves; scores do not.

    Where some candidates are not allowed it is the mechanism among those that are, though drawn
    among all: one that is not allowed is put aside, and among the others is drawn anew. For a
    draw, given that it is allowed, has the law of the mechanism among the allowed; and given that
    it is not, so has what is drawn among the others, by induction over how many are not allowed.
    How many are put aside depends on the rows, and so would the time it takes: of a private table
    all candidates are looked at first, and one is drawn.

    Args:
        table: the rows.
        scores: the score of every candidate on a table; bounded change per replaced row.
        sensitivity: the largest change of any score when one row is replaced.
        epsilon: of this one choice.
        noise: where the randomness comes from.
        allowed: whether a candidate may be chosen; must not depend on the rows, nor raise. Of
            public rows few are asked about, for where it takes long.

    Raises:
        PrivacyError: for unusable epsilon or sensitivity, for no (allowed) candidates, for a score
            that is not a number, or for known noise on a private table.
    """
    values = _scores(table, scores, sensitivity, epsilon, noise)
    left = np.arange(len(values))
    for _ in range(_PUT_ASIDE if table.public else 0):
        at = noise.exponential_choice(values[left], epsilon, sensitivity)
        index = int(left[at])
        if allowed(index):
            return index
        left = np.delete(left, at)
        if not len(left):
            break
    left = left[[allowed(int(index)) for index in left]] if len(left) else left
    if not len(left):
        raise PrivacyError("There is no candidate to choose from.", field="candidates")
    return int(left[noise.exponential_choice(values[left], epsilon, sensitivity)])


def private_top_k(
    table: Rows,
    scores: Callable[[Rows], Sequence[float]],
    k: int,
    *,
    sensitivity: float,
    epsilon: float,
    noise: NoiseSource,
) -> tuple[int, ...]:
    """The indices of k candidates with high scores, best first, in one shot.

    Spends: one exponential event of count k: k epsilon-DP and k epsilon^2/8-zCDP.

    Proof. Adding Gumbel noise of scale 2 sensitivity / epsilon to every score once and taking
    the k largest, in order, has the law of k rounds of the exponential mechanism without
    replacement, each with this epsilon (Durfee and Rogers 2019, Lemma 4.2: given the first
    winners, the order of the rest is again that of independent Gumbel noise). So it is their
    composition, and the candidates left after each round do not depend on the rows once the
    earlier winners are released.

    Args:
        table: the rows.
        scores: the score of every candidate on a table; bounded change per replaced row.
        k: how many.
        sensitivity: the largest change of any score when one row is replaced.
        epsilon: of each of the k rounds.
        noise: where the randomness comes from.

    Raises:
        PrivacyError: as `private_choice`, and for a k that is not between 1 and the candidates.
    """
    values = _scores(table, scores, sensitivity, epsilon, noise)
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= values.size:
        raise PrivacyError(
            "k must be a whole number between 1 and the number of candidates; nothing was chosen.",
            field="k",
        )
    return noise.top_k(values, k, epsilon, sensitivity)


def _scores(
    table: Rows,
    scores: Callable[[Rows], Sequence[float] | NDArray[np.float64]],
    sensitivity: float,
    epsilon: float,
    noise: NoiseSource,
) -> NDArray[np.float64]:
    positive(sensitivity, "sensitivity")
    positive(epsilon, "epsilon")
    guard(table, noise)
    values = np.asarray(scores(table), dtype=np.float64)
    if values.size == 0 or not np.isfinite(values).all():
        raise PrivacyError(
            "Every candidate needs a finite score; nothing was chosen.", field="scores"
        )
    return values
