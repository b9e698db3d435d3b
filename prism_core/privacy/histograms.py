"""The two mechanisms of domain learning: counts over a public grid, and a stable histogram."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from prism_core.errors import PrivacyError
from prism_core.privacy.checks import positive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.privacy.events import GaussianEvent, StableHistogramEvent
    from prism_core.privacy.noise import NoiseSource


def guard_rows(noise: NoiseSource, *, public: bool) -> None:
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
    positive(event.sigma, "sigma")
    guard_rows(noise, public=public)
    counts = np.bincount(codes, minlength=cells).astype(np.int64)
    return noise.add_discrete_gaussian(counts, event.sigma)


def stable_histogram(
    categories: Sequence[str | None],
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
        categories: of every row, None where it has none; a function of that row alone.
        event: noise, threshold and delta.
        noise: where the noise comes from.
        public: whether the rows are public.

    Raises:
        PrivacyError: for known noise on private rows.
    """
    guard_rows(noise, public=public)
    found = Counter(category for category in categories if category is not None)
    names = sorted(name for name, count in found.items() if count >= event.least)
    counts = np.zeros(len(categories) // event.least, dtype=np.int64)
    counts[: len(names)] = [found[name] for name in names]
    noisy = noise.add_discrete_gaussian(counts, event.sigma)
    return {
        name: int(count)
        for name, count in zip(names, noisy[: len(names)], strict=True)
        if count > event.threshold
    }
