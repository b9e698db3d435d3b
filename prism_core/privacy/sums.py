"""A noisy sum of whole numbers, one a row and each within declared bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prism_core.errors import PrivacyError
from prism_core.privacy.checks import positive
from prism_core.privacy.histograms import guard_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prism_core.privacy.events import GaussianEvent
    from prism_core.privacy.noise import NoiseSource


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
    if not event.sensitivity >= most:
        raise PrivacyError(
            "The declared sensitivity of a sum must not be below the largest value of a row.",
            field="sensitivity",
        )
    guard_rows(noise, public=public)
    total = np.clip(values.astype(np.int64), 0, most).sum(dtype=np.int64)
    return noise.add_discrete_gaussian(np.array([total], dtype=np.int64), event.sigma)
