"""The error of the task marginals, split: noise that was added, or structure left out.

The scale of the noise is a public fact of the plan; which part of the error it explains is read
off the real rows, so the result is outside epsilon and for the curator only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.counts import marginal_counts
from prism_core.evaluation.tstr.intervals import Z95

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.data.schema.schema import Schema
    from prism_core.evaluation.subject import Measured, Subject

_Z_ONE_SIDED = 1.6448536269514722
_SPREAD = 1.0 - 2.0 / math.pi
"""Variance of |N(0, 1)|."""


@dataclass(frozen=True, kw_only=True)
class TaskMarginalError:
    """The error of one task marginal (X_j, Y), split. Outside epsilon.

    Shares, not counts: distances are l1 between shares, 0 to 2.

    Attributes:
        name: X_j.
        total: l1 distance between synthetic and real shares; None without rows.
        noise: what the noise of the measurement alone would be expected to give; where (X_j, Y)
            lies in no measured marginal, what the noise of X_j by itself gives; None when that
            is not measured either. Drawing rows at random is counted in.
        limit: with noise alone the error stays below this in about 19 of 20 cases; None when
            (X_j, Y) lies in no measured marginal.
        sigma: scale of the noise of one cell of (X_j, Y), in rows; None when not measured.
        note: what a reader must know.
        outside_epsilon: True: read from private rows without noise.
    """

    name: str
    total: float | None
    noise: float | None
    limit: float | None
    sigma: float | None
    note: str = ""
    outside_epsilon: bool = True

    @property
    def from_noise(self) -> float:
        """The part of the error that noise explains."""
        return min(self.total or 0.0, self.noise or 0.0)

    @property
    def rest(self) -> float:
        """The part beyond it: relations that were not measured, or what the model cannot hold."""
        return (self.total or 0.0) - self.from_noise

    @property
    def beyond_noise(self) -> bool:
        """Whether noise alone is not a likely cause."""
        return self.total is not None and (self.limit is None or self.total > self.limit)


@dataclass(frozen=True, kw_only=True)
class TaskMarginal:
    """One task marginal cell by cell. Outside epsilon.

    Attributes:
        name: X_j.
        target: Y.
        levels: labels of X_j.
        classes: labels of Y, missing included where it is declared.
        real, synthetic: shares of all rows, shape (levels, classes).
        band: half-width of the 95% noise band of every cell, in the same shape; None when the
            marginal was not measured.
        outside_epsilon: True: read from private rows without noise.
    """

    name: str
    target: str
    levels: tuple[str, ...]
    classes: tuple[str, ...]
    real: tuple[tuple[float, ...], ...]
    synthetic: tuple[tuple[float, ...], ...]
    band: tuple[tuple[float, ...], ...] | None
    outside_epsilon: bool = True


def cell_sigma(schema: Schema, clique: Sequence[str], measured: Sequence[Measured]) -> float | None:
    """Noise of one cell of a marginal as the measurements know it, in rows; None if unmeasured.

    A measured marginal that holds the clique gives each of its cells as a sum of
    cells(measured) / cells(clique) noisy cells; several are weighed by their precision. This is
    a public fact of the plan.
    """
    cells = schema.cells(clique)
    precision = [
        cells / (schema.cells(query.clique) * query.sigma**2)
        for query in measured
        if set(clique) <= set(query.clique)
    ]
    return 1.0 / math.sqrt(math.fsum(precision)) if precision else None


def error_split(subject: Subject) -> tuple[TaskMarginalError, ...]:
    """The error of every (X_j, Y), the largest first.

    Noise alone gives a cell of share p an expected error of E|max(0, p + Z) - p|, because
    negative counts become 0; Z is normal with the deviation of that cell. Spends nothing and
    gives no guarantee: outside epsilon, for the curator only.
    """
    found = [_split(subject, name) for name in subject.features]
    return tuple(sorted(found, key=lambda error: -(error.total or 0.0)))


def task_marginal(subject: Subject, name: str) -> TaskMarginal:
    """(X_j, Y) cell by cell with its noise band. Spends nothing; outside epsilon.

    Args:
        subject: what is inspected.
        name: X_j.
    """
    clique = (name, subject.target)
    real, made, sigma = _marginals(subject, clique)
    band = None
    if sigma is not None:
        half = Z95 * _deviation(subject, real, made, sigma)
        band = tuple(tuple(row) for row in half.tolist())
    schema = subject.schema
    return TaskMarginal(
        name=name,
        target=subject.target,
        levels=schema[name].labels(),
        classes=schema[subject.target].labels(),
        real=tuple(tuple(row) for row in real.tolist()),
        synthetic=tuple(tuple(row) for row in made.tolist()),
        band=band,
    )


def _marginals(
    subject: Subject, clique: tuple[str, str]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float | None]:
    real, made = (
        marginal_counts(table, clique) / max(1, table.mass)
        for table in (subject.real, subject.synthetic)
    )
    return real, made, cell_sigma(subject.schema, clique, subject.measured)


def _deviation(
    subject: Subject, real: NDArray[np.float64], made: NDArray[np.float64], sigma: float
) -> NDArray[np.float64]:
    """Standard deviation of every cell, as a share: noise, and rows drawn at random."""
    # Over the least that the counts can have added up to, where noise weighs most.
    variance = np.full(real.shape, (sigma / subject.mass) ** 2)
    # Rounded rows follow the model up to a row; only independent draws add a variance of their own.
    if subject.sampling == "iid" and subject.synthetic.n:
        variance = variance + made * (1.0 - made) / subject.synthetic.n
    if subject.real.n != subject.n and subject.real.n:
        # The rows at hand are a sample of those that were measured, or others of their kind.
        variance = variance + real * (1.0 - real) / subject.real.n
    return np.sqrt(variance)


def _split(subject: Subject, name: str) -> TaskMarginalError:
    obstacle = subject.comparison.obstacle
    if obstacle:
        return TaskMarginalError(
            name=name, total=None, noise=None, limit=None, sigma=None, note=obstacle
        )
    real, made, sigma = _marginals(subject, (name, subject.target))
    total = float(np.abs(made - real).sum())
    if sigma is None:
        return _unmeasured(subject, name, total, real.sum(axis=1), made.sum(axis=1))
    deviation = _deviation(subject, real, made, sigma)
    # By the real shares: what noise does to a cell depends on how near it is to 0.
    expected = float(expected_error(real, deviation).sum())
    # The cells' errors are taken as absolute values of independent normal noise.
    spread = math.sqrt(float((deviation**2).sum()) * _SPREAD)
    return TaskMarginalError(
        name=name, total=total, noise=expected, limit=expected + _Z_ONE_SIDED * spread, sigma=sigma
    )


def _unmeasured(
    subject: Subject, name: str, total: float, real: NDArray[np.float64], made: NDArray[np.float64]
) -> TaskMarginalError:
    """A pair is at least as far off as its column alone, so the noise of that explains a part."""
    known = "This pair was not measured: the synthetic rows hold what other marginals imply."
    note = known if subject.measured else "It is not known what was measured."
    sigma = cell_sigma(subject.schema, (name,), subject.measured)
    noise = None
    if sigma is not None:
        noise = float(expected_error(real, _deviation(subject, real, made, sigma)).sum())
    return TaskMarginalError(name=name, total=total, noise=noise, limit=None, sigma=None, note=note)


def expected_error(
    share: NDArray[np.float64], deviation: NDArray[np.float64]
) -> NDArray[np.float64]:
    """E|max(0, p + Z) - p| for Z ~ N(0, s^2): s (2 phi(0) - phi(p/s)) + p Phi(-p/s).

    Splitting the integral of max(Z, -p) at 0: the positive side gives s phi(0); the negative one
    s (phi(0) - phi(p/s)) down to -p, and p below it.
    """
    from scipy.stats import norm

    z = share / deviation
    return deviation * (2.0 * norm.pdf(0.0) - norm.pdf(z)) + share * norm.cdf(-z)
