"""Mechanisms: noisy marginals, histograms and sums, and private choices.

Through these private rows leave. All refuse unusable scales, and refuse known noise on private
rows, before a row is touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from prism_core.errors import PrivacyError
from prism_core.privacy.events import L2_SENSITIVITY, GaussianEvent, StableHistogramEvent
from prism_core.privacy.parameters import positive
from prism_core.privacy.private_rows import IntegerQuery, PrivateRows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.privacy.noise import NoiseSource

RowsT = TypeVar("RowsT", bound=PrivateRows)
"""Scores take the very kind of table that the mechanism is given."""

_PUT_ASIDE = 200
"""Public candidates that are found not allowed one by one; then all that are left are looked at."""


def check_noise_of_table(table: PrivateRows, noise: NoiseSource) -> None:
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
    table: PrivateRows,
    clique: Sequence[str],
    sigma: float,
    noise: NoiseSource,
    sensitivity: float = L2_SENSITIVITY,
) -> NDArray[np.int64]:
    """Integer noisy counts of one marginal, in the shape of the declared domain.

    Spends: one Gaussian event of scale sigma with this l2 sensitivity, sqrt(2) for one row a
    person: rho = 1 / sigma^2 then.

    Proof. Under replace-one one cell of the counts falls by 1 and one rises by 1 (or none
    changes), so the counts move by at most sqrt(2) in l2; of several rows a person by at most
    `Contribution.l2` (proof there). Counts and noise are integers, so
    the discrete Gaussian gives sensitivity^2 / (2 sigma^2)-zCDP (Canonne, Kamath, Steinke
    2020, Theorem 4 and its multivariate form) with no floating-point residue.

    Raises:
        PrivacyError: for a sigma that is not a finite number above 0, for a sensitivity below that
            of the table's people, or for known noise on a private table.
    """
    positive(sigma, "sigma")
    # As `not >=`, so that a NaN is refused, too.
    if not sensitivity >= table.contribution.l2:
        raise PrivacyError(
            "The counts move by more than their declared sensitivity; nothing was measured.",
            field="sensitivity",
        )
    check_noise_of_table(table, noise)
    return noise.add_discrete_gaussian(table.counts([clique])[0], sigma)


def noisy_query(
    table: PrivateRows, query: IntegerQuery, sigma: float, sensitivity: float, noise: NoiseSource
) -> NDArray[np.int64]:
    """Integer noisy answers of a linear query of one marginal, in units of 1 / query.grid.

    Spends: one Gaussian event of scale sigma with this l2 sensitivity: rho = sensitivity^2 /
    (2 sigma^2).

    Proof. Q has whole entries, so Q times the counts is a vector of integers; under replace-one
    it moves by at most `query.moved` in l2 (proof there).
    The discrete Gaussian on integers is sensitivity^2 / (2 sigma^2)-zCDP whatever the sensitivity
    (Canonne, Kamath, Steinke 2020, Theorem 4); rounding phi to the grid happened in Q, before.

    Raises:
        PrivacyError: for a sigma or sensitivity that is not a finite number above 0, for a
            sensitivity below that of the query, for numbers too large for 64 bits, or for known
            noise on a private table.
    """
    positive(sigma, "sigma")
    positive(sensitivity, "sensitivity")
    # As `not <=`, so that a NaN is refused, too.
    if not query.moved(table.contribution) <= sensitivity:
        raise PrivacyError(
            "The query moves by more than its declared sensitivity; nothing was measured.",
            field="sensitivity",
        )
    # Half the range of int64, so that the noise has room above the largest answer.
    if not table.contribution.totals(table.people)[1] * query.grid < 2**62:
        raise PrivacyError(
            "The table has too many rows for this query; nothing was measured.", field="n"
        )
    check_noise_of_table(table, noise)
    exact = query.of(table.counts([query.clique])[0])
    return noise.add_discrete_gaussian(exact, sigma)


def private_choice(
    table: RowsT,
    scores: Callable[[RowsT], Sequence[float] | NDArray[np.float64]],
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
    table: RowsT,
    scores: Callable[[RowsT], Sequence[float]],
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
    table: RowsT,
    scores: Callable[[RowsT], Sequence[float] | NDArray[np.float64]],
    sensitivity: float,
    epsilon: float,
    noise: NoiseSource,
) -> NDArray[np.float64]:
    positive(sensitivity, "sensitivity")
    positive(epsilon, "epsilon")
    check_noise_of_table(table, noise)
    values = np.asarray(scores(table), dtype=np.float64)
    # An infinite score, or one that is no number, has no bounded sensitivity.
    if values.size == 0 or not np.isfinite(values).all():
        raise PrivacyError(
            "Every candidate needs a finite score; nothing was chosen.", field="scores"
        )
    return values


def check_noise_of_rows(noise: NoiseSource, *, public: bool) -> None:
    """Refuse known noise on private rows, before a row is read.

    Raises:
        PrivacyError: always in that case.
    """
    if not public and not noise.secure:
        raise PrivacyError(
            "Seeded noise can be subtracted by anyone who knows the seed. A private table is "
            "learned from with secure noise only; mark the table public if it really is.",
            field="noise",
        )


def noisy_cells(
    codes: NDArray[np.integer],
    cells: int,
    event: GaussianEvent,
    noise: NoiseSource,
    *,
    public: bool,
) -> NDArray[np.int64]:
    """Noisy counts over a public grid, missing cells included; shape (cells,).

    Spends: `event`, l2 sensitivity sqrt(2).

    Proof. Every row has exactly one code, by itself. Replacing a row takes 1 from one cell and
    gives 1 to another (or changes nothing), so the counts move by at most sqrt(2) in l2.

    Args:
        codes: one code in 0..cells-1 for every row.
        cells: number of cells; public.
        event: scale of the noise.
        noise: where the noise comes from.
        public: whether the rows are public.

    Raises:
        PrivacyError: for known noise on private rows.
    """
    counts = np.bincount(codes, minlength=cells).astype(np.int64)
    return noisy_counts(counts, event, noise, public=public)


def noisy_counts(
    counts: NDArray[np.int64], event: GaussianEvent, noise: NoiseSource, *, public: bool
) -> NDArray[np.int64]:
    """Counts over a public grid with integer discrete Gaussian noise; of the same shape.

    Spends: `event`, l2 sensitivity sqrt(2); proof in `noisy_cells`.

    Args:
        counts: by cell; every row (person) is in exactly one, by itself.
        event: scale of the noise.
        noise: where the noise comes from.
        public: whether the rows are public.

    Raises:
        PrivacyError: for known noise on private rows.
    """
    positive(event.sigma, "sigma")
    check_noise_of_rows(noise, public=public)
    return noise.add_discrete_gaussian(counts, event.sigma)


def stable_histogram(
    found: Mapping[str, int],
    rows: int,
    event: StableHistogramEvent,
    noise: NoiseSource,
    *,
    public: bool,
) -> dict[str, int]:
    """Names of the categories whose noisy count is above the threshold, with that count.

    Spends: `event`. Names come out sorted, so that neither the order of the rows nor that of a
    hash shows. The noise is asked for n // least cells, which is as many categories as can take
    part, whatever the rows hold: neither the call nor its duration says how many there are.

    Proof of delta-approximate rho-zCDP under replace-one, with m = least, rho = 1 / sigma^2 and
    p = P(m + N > threshold) <= delta. A category takes part in a table that holds it at least m
    times. The replaced row leaves category a and enters b (either may be "none"). All other
    counts are equal, and every category has its own noise. Let c be the counts in the first table
    and c' in the second; c_a' = c_a - 1 and c_b' = c_b + 1.

    - A category that takes part in neither table is never released. One that takes part in both
      has a count that moves by at most 1: a Gaussian mechanism on it costs 1 / (2 sigma^2), on a
      and b together 1 / sigma^2.
    - b takes part in the second table only when c_b' = m: it is released there with probability
      p. Let E' be that it is not. By independence, conditioning on E' leaves the law of all other
      releases as it is, and b is absent in both tables.
    - a takes part in the first table only when c_a = m: likewise with E, of probability 1 - p.

    So there are events of probability at least 1 - p on each side (one category on each side,
    not two on one) given which the two laws differ in the noisy counts of at most two common
    categories: rho-zCDP at 1 / sigma^2. That is Definition 8.1 of Bun and Steinke (2016) with
    delta = p. What is computed from names and noisy counts is post-processing.

    Args:
        found: how many rows each category has; every row is in one at most, by itself. Categories
            that take no part may be left out.
        rows: how many there are; public.
        event: noise, threshold and delta.
        noise: where the noise comes from.
        public: whether the rows are public.

    Raises:
        PrivacyError: for known noise on private rows.
    """
    check_noise_of_rows(noise, public=public)
    names = sorted(name for name, count in found.items() if count >= event.least)
    counts = np.zeros(rows // event.least, dtype=np.int64)
    counts[: len(names)] = [found[name] for name in names]
    noisy = noise.add_discrete_gaussian(counts, event.sigma)
    return {
        name: int(count)
        for name, count in zip(names, noisy[: len(names)], strict=True)
        # Strict: delta covers P(least + noise > threshold) and nothing more.
        if count > event.threshold
    }


def noisy_sum(
    values: NDArray[np.integer],
    most: int,
    event: GaussianEvent,
    noise: NoiseSource,
    *,
    public: bool,
) -> NDArray[np.int64]:
    """The sum of the values and integer discrete Gaussian noise; shape (1,).

    Spends: `event`, l2 sensitivity `most`.

    Proof. Every value is clipped to 0..most and is a function of its own row and of public facts.
    Replacing a row takes one value v out and puts v' in, and all others stay; so the sum, a
    single whole number, moves by |v' - v| <= most. Sum and noise are integers (int64, no float is
    added up), so the discrete Gaussian gives most^2 / (2 sigma^2)-zCDP (Canonne, Kamath and
    Steinke 2020, Theorem 4).

    Args:
        values: a whole number for every row, shape (n,).
        most: the largest value that counts; public.
        event: scale of the noise; declares the sensitivity.
        noise: where the noise comes from.
        public: whether the rows are public.

    Raises:
        PrivacyError: for known noise on private rows, or a declared sensitivity below `most`.
    """
    positive(event.sigma, "sigma")
    positive(most, "most")
    # As `not >=`, so that a NaN is refused, too.
    if not event.sensitivity >= most:
        raise PrivacyError(
            "The declared sensitivity of a sum must not be below the largest value of a row.",
            field="sensitivity",
        )
    check_noise_of_rows(noise, public=public)
    # Clipped here, where the noise is, so that the sensitivity holds whatever a caller hands in.
    total = np.clip(values.astype(np.int64), 0, most).sum(dtype=np.int64)
    return noise.add_discrete_gaussian(np.array([total], dtype=np.int64), event.sigma)
