"""Two sources of noise behind one protocol.

`SecureNoise` (OpenDP, entropy of the operating system) is for private tables.
`SeededNoise` (a numpy Generator) is for public tables only: rehearsals, tests, benchmarks.
Known noise could be subtracted, so a private table is never measured with it.
"""

from __future__ import annotations

import math
from functools import lru_cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from prism_core.errors import PrivacyError
from prism_core.privacy.events import L2_SENSITIVITY

if TYPE_CHECKING:
    from numpy.typing import NDArray


class NoiseSource(Protocol):
    """Draws the noise of the mechanisms this product uses."""

    @property
    def secure(self) -> bool:
        """Whether nobody can know the noise."""
        ...

    def add_discrete_gaussian(self, counts: NDArray[np.int64], sigma: float) -> NDArray[np.int64]:
        """Integer counts plus independent discrete Gaussian noise of scale sigma."""
        ...

    def add_discrete_laplace(self, counts: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
        """Integer counts plus independent discrete Laplace noise: P(k) ~ exp(-|k| / scale)."""
        ...

    def exponential_choice(
        self, scores: NDArray[np.float64], epsilon: float, sensitivity: float
    ) -> int:
        """An index drawn with probability proportional to exp(epsilon score / (2 sensitivity))."""
        ...

    def top_k(
        self, scores: NDArray[np.float64], k: int, epsilon: float, sensitivity: float
    ) -> tuple[int, ...]:
        """Indices of k candidates: the law of k rounds of `exponential_choice` on what is left."""
        ...


class SecureNoise:
    """OpenDP mechanisms on entropy from the operating system."""

    secure = True

    def add_discrete_gaussian(self, counts: NDArray[np.int64], sigma: float) -> NDArray[np.int64]:
        """Counts plus discrete Gaussian noise (Canonne, Kamath, Steinke 2020) by OpenDP.

        OpenDP's own privacy map is asked for the loss at l2 distance sqrt(2) and must not
        exceed 1 / sigma^2 (but for its rounding up in the last digits).
        """
        noisy = _discrete_gaussian(sigma)([int(count) for count in counts.ravel()])
        return np.array(noisy, dtype=np.int64).reshape(counts.shape)

    def add_discrete_laplace(self, counts: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
        """Counts plus discrete Laplace noise (Ghosh, Roughgarden, Sundararajan 2009) by OpenDP.

        OpenDP's own privacy map is asked for the loss at l1 distance 1 and must not exceed
        1 / scale.
        """
        dp = _opendp()
        # An l1 distance of counts is whole: an integer type rounds nothing.
        space = dp.vector_domain(dp.atom_domain(T=dp.i64)), dp.l1_distance(T=dp.i64)
        # The loss is linear in the distance, so one distance tells all others.
        mechanism = dp.m.make_laplace(*space, scale=scale)
        _confirm(mechanism.map(1), 1.0 / scale)
        noisy = mechanism([int(count) for count in counts.ravel()])
        return np.array(noisy, dtype=np.int64).reshape(counts.shape)

    def exponential_choice(
        self, scores: NDArray[np.float64], epsilon: float, sensitivity: float
    ) -> int:
        """The exponential mechanism by OpenDP's Gumbel noisy max (its zCDP variant)."""
        return int(_noisy_max(epsilon, sensitivity)(_array(scores)))

    def top_k(
        self, scores: NDArray[np.float64], k: int, epsilon: float, sensitivity: float
    ) -> tuple[int, ...]:
        """OpenDP's noisy top k in its zCDP variant: Gumbel noise, exact comparisons."""
        dp = _opendp()
        # The variant for pure DP adds exponential noise, for which k epsilon^2/8 does not hold.
        mechanism = dp.m.make_noisy_top_k(
            *_score_space(dp),
            dp.zero_concentrated_divergence(),
            k=k,
            scale=2.0 * sensitivity / epsilon,
        )
        _confirm(mechanism.map(sensitivity), k * epsilon**2 / 8.0)
        return tuple(int(index) for index in mechanism(_array(scores)))


@lru_cache(maxsize=8)  # the pairs of a wide table share one sigma
def _discrete_gaussian(sigma: float) -> Any:  # noqa: ANN401  (OpenDP's names)
    dp = _opendp()
    # 64 bits: OpenDP's own int has 32, where wide noise would pile up at the ends.
    # The distance is a float: sqrt(2) is no integer, and rounded up to 2 it would double rho.
    space = dp.vector_domain(dp.atom_domain(T=dp.i64)), dp.l2_distance(T=float)
    mechanism = dp.m.make_gaussian(*space, scale=sigma)
    _confirm(mechanism.map(L2_SENSITIVITY), (L2_SENSITIVITY / sigma) ** 2 / 2.0)
    return mechanism


@lru_cache(maxsize=8)  # and their choice one epsilon
def _noisy_max(epsilon: float, sensitivity: float) -> Any:  # noqa: ANN401
    dp = _opendp()
    mechanism = dp.m.make_noisy_max(
        *_score_space(dp), dp.zero_concentrated_divergence(), scale=2.0 * sensitivity / epsilon
    )
    _confirm(mechanism.map(sensitivity), epsilon**2 / 8.0)
    return mechanism


def _array(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores as OpenDP takes them at once: a list is looked at number by number, in Python."""
    return np.ascontiguousarray(scores, dtype=np.float64)


def _score_space(dp: Any) -> tuple[Any, Any]:  # noqa: ANN401  (OpenDP's names)
    # Scores are finite when they come here (`mechanisms._scores`), so NaN is left out.
    return dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)


def _confirm(loss: float, declared: float) -> None:
    # OpenDP rounds its maps up, by far less than this. As `not <=`, so that NaN is refused, too.
    if not loss <= declared * (1.0 + 1e-9):
        raise PrivacyError(
            "The noise library states a larger loss than the plan declares; nothing was measured.",
            field="noise",
        )


def _opendp() -> Any:  # noqa: ANN401  (modules of generated functions)
    """OpenDP's own names. Its prelude is not imported: that brings scikit-learn and scipy.stats."""
    from opendp import domains, measurements, measures, metrics
    from opendp.mod import enable_features
    from opendp.typing import i64

    # Without this feature OpenDP refuses to make these mechanisms.
    enable_features("contrib")
    return SimpleNamespace(
        i64=i64,
        m=measurements,
        atom_domain=domains.atom_domain,
        vector_domain=domains.vector_domain,
        l1_distance=metrics.l1_distance,
        l2_distance=metrics.l2_distance,
        linf_distance=metrics.linf_distance,
        zero_concentrated_divergence=measures.zero_concentrated_divergence,
    )


class SeededNoise:
    """The same laws from a numpy Generator; for public tables only."""

    secure = False

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def add_discrete_gaussian(self, counts: NDArray[np.int64], sigma: float) -> NDArray[np.int64]:
        """Rejection from a discrete Laplace (Canonne, Kamath, Steinke 2020, Algorithm 3)."""
        # The scale of Algorithm 3: with it a draw is kept with a chance bounded from below for
        # every sigma.
        scale = math.floor(sigma) + 1
        noise = np.zeros(counts.size, dtype=np.int64)
        open_cells = np.arange(counts.size)
        while open_cells.size:
            # expm1: 1 - exp(-1 / scale) would cancel for wide noise.
            stop = -math.expm1(-1.0 / scale)
            draw = self._rng.geometric(stop, open_cells.size) - self._rng.geometric(
                stop, open_cells.size
            )
            excess = (np.abs(draw) - sigma**2 / scale) ** 2 / (2.0 * sigma**2)
            kept = self._rng.random(open_cells.size) < np.exp(-excess)
            noise[open_cells[kept]] = draw[kept]
            open_cells = open_cells[~kept]
        return counts + noise.reshape(counts.shape)

    def add_discrete_laplace(self, counts: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
        """The difference of two geometric numbers has the law of the discrete Laplace."""
        stop = -math.expm1(-1.0 / scale)
        draw = self._rng.geometric(stop, counts.size) - self._rng.geometric(stop, counts.size)
        return counts + draw.astype(np.int64).reshape(counts.shape)

    def exponential_choice(
        self, scores: NDArray[np.float64], epsilon: float, sensitivity: float
    ) -> int:
        """A draw from the exponential mechanism's law, computed directly."""
        logits = epsilon * scores / (2.0 * sensitivity)
        # The largest is 0 then: exp does not overflow, and the sum is at least 1.
        weights = np.exp(logits - logits.max())
        return int(self._rng.choice(len(scores), p=weights / weights.sum()))

    def top_k(
        self, scores: NDArray[np.float64], k: int, epsilon: float, sensitivity: float
    ) -> tuple[int, ...]:
        """Round by round: the law that one shot of Gumbel noise has (Durfee and Rogers 2019)."""
        left = list(range(len(scores)))
        return tuple(
            left.pop(self.exponential_choice(scores[left], epsilon, sensitivity)) for _ in range(k)
        )
