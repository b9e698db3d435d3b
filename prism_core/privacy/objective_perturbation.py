"""Objective perturbation: private logistic regression in its approximate-minima form.

After Iyengar et al. 2019, "Towards practical differentially private convex optimization"
(Algorithm 1, AMP). The constants here have their own proof, see `Calibration`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.errors import PrivacyError
from prism_core.privacy.accountants.conversions import epsilon_to_rho
from prism_core.privacy.parameters import delta_value, positive

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    from prism_core.privacy.noise import NoiseSource

GRADIENT_SENSITIVITY = 2.0
"""l2 sensitivity of the gradient of the summed loss under replace-one, for rows of norm at most 1.

Proof. One row's gradient is (s(theta x) - y) x with |s - y| < 1 and norm(x) <= 1; two rows, the
one taken out and the one put in, differ by less than 2."""

GRADIENT_TOLERANCE = 1e-5
"""gamma: a solution is used only when the norm of its gradient is at most this. Public."""

_CURVATURE = 0.25  # largest eigenvalue of one row's Hessian s (1 - s) x x', for norm(x) <= 1
_NEWTON_STEPS = 100


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Noise and regularisation of one binary regression that is (epsilon, delta)-DP.

    The objective is J(theta) = sum_i loss(theta; x_i, y_i) + (ridge / 2) |theta|^2 + b theta with
    b ~ N(0, sigma^2 I). Released is theta~ + N(0, sigma_out^2 I), where |grad J(theta~)| <= gamma.

    Proof. (1) The exact minimum theta* is ((epsilon_det + epsilon_noise), delta/2)-DP. J is
    strictly convex and smooth, so b and theta* determine each other: b = -(sum grad loss(theta*) +
    ridge theta*), and theta* has density N(b(theta); 0, sigma^2) det(H(theta) + ridge I). For
    neighbours that differ in (x, y) and (x', y'):
    - Determinants. With A = ridge I + the Hessian of the n - 1 common rows, and rank-one
      Hessians E, E' of the others with eigenvalue at most 1/4, det(A + E) / det(A + E') <=
      det(A + E) / det(A) <= 1 + 1 / (4 ridge) = e^epsilon_det.
    - Densities. b' = b + v with v = g x - g' x', |v| <= 2. v depends on b, but it always lies in
      the plane P of x and x', which does not. So (|b'|^2 - |b|^2) / (2 sigma^2) <=
      (2 * 2 |P b| + 4) / (2 sigma^2), and |P b| exceeds sigma a, a = sqrt(2 ln(2 / delta)),
      with probability at most delta/2 (two Gaussian coordinates: a Rayleigh tail, exactly). With
      c = 2 / sigma the loss is at most a c + c^2 / 2, which is epsilon_noise for
      c = sqrt(a^2 + 2 epsilon_noise) - a.
    A privacy loss above epsilon with probability at most delta/2 gives (epsilon, delta/2)-DP.
    The plane is what the proof of Kifer et al. 2012 lacks; see Redberg, Koskela and Wang 2023.
    (2) J is ridge-strongly convex, so |theta~ - theta*| <= gamma / ridge. Given theta* (hence
    b), theta~ - theta* moves by at most 2 gamma / ridge between neighbours, so adding
    N(0, sigma_out^2) is (epsilon_out, delta/2)-DP, by zCDP. (3) Both compose, adaptively, and
    theta~ + noise is post-processing of the two: epsilon_det + epsilon_noise + epsilon_out.

    Attributes:
        ridge: of the squared norm.
        sigma: of the linear term b.
        sigma_out: of the noise on the solution.
    """

    ridge: float
    sigma: float
    sigma_out: float

    def __post_init__(self) -> None:
        for name in ("ridge", "sigma", "sigma_out"):
            positive(getattr(self, name), name)


def calibrate(epsilon: float, delta: float) -> Calibration:
    """The calibration of one regression: a quarter of epsilon to the determinants, 5% to gamma.

    Raises:
        PrivacyError, BudgetError: for an unusable epsilon or delta.
    """
    positive(epsilon, "epsilon")
    delta_value(delta)
    # A hair below the whole, so that the float sum of the parts stays below epsilon.
    whole = epsilon * (1.0 - 1e-9)
    determinant, outside = 0.25 * whole, 0.05 * whole
    noise = whole - determinant - outside
    a = math.sqrt(2.0 * math.log(2.0 / delta))
    c = 2.0 * noise / (math.sqrt(a * a + 2.0 * noise) + a)  # without cancellation
    # Solves 1 + 1 / (4 ridge) = e^determinant of the proof.
    ridge = _CURVATURE / math.expm1(determinant)
    # Half of delta: the exact minimum takes the other half.
    rho = epsilon_to_rho(outside, delta / 2.0)
    # The hairs are upwards: rounding must not take noise away.
    return Calibration(
        ridge=ridge,
        sigma=GRADIENT_SENSITIVITY / c * (1.0 + 1e-9),
        sigma_out=2.0 * GRADIENT_TOLERANCE / ridge / math.sqrt(2.0 * rho) * (1.0 + 1e-9),
    )


def private_coefficients(
    rows: csr_matrix, labels: NDArray[np.float64], calibration: Calibration, noise: NoiseSource
) -> NDArray[np.float64]:
    """Coefficients of one private logistic regression without intercept.

    Spends: (epsilon, delta) of `calibrate`. The caller has checked, with
    `privacy.mechanisms.guard`, that this noise may be used on these rows.

    Args:
        rows: one per person, each of norm at most 1 by the declared domain alone.
        labels: 0 or 1.
        calibration: noise and regularisation.
        noise: where the randomness comes from.

    Raises:
        PrivacyError: for a row that is too long, or when no solution is exact enough.
    """
    lengths = np.asarray(rows.multiply(rows).sum(axis=1))
    # The squared norm of a unit row may end a hair above 1; the hair on sigma covers that.
    if not bool((lengths <= 1.0 + 1e-9).all()):
        raise PrivacyError("Rows must have norm at most 1; nothing was measured.", field="rows")
    assert rows.shape is not None  # scipy's stubs allow it
    size = int(rows.shape[1])
    problem = _Problem(
        rows=rows,
        labels=labels,
        ridge=calibration.ridge,
        linear=noise.gaussian(size, calibration.sigma),
    )
    theta = _solve(problem, np.zeros(size))
    # Looked at anew, whatever the solver said of itself: the guarantee rests on this bound alone.
    if not float(np.linalg.norm(problem.gradient(theta))) <= GRADIENT_TOLERANCE:
        raise PrivacyError(
            "The regression was not solved exactly enough for its guarantee; nothing was "
            "released. Choose the features in another way.",
            field="selection",
        )
    return theta + noise.gaussian(size, calibration.sigma_out)


@dataclass(frozen=True, kw_only=True)
class _Problem:
    rows: csr_matrix
    labels: NDArray[np.float64]
    ridge: float
    linear: NDArray[np.float64]

    def value(self, theta: NDArray[np.float64]) -> float:
        margin = self.rows @ theta
        # logaddexp: log(1 + exp(margin)) without overflow.
        loss = np.logaddexp(0.0, margin) - self.labels * margin
        return float(loss.sum() + 0.5 * self.ridge * theta @ theta + self.linear @ theta)

    def gradient(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.special import expit

        residual = expit(self.rows @ theta) - self.labels
        return self.rows.T @ residual + self.ridge * theta + self.linear

    def hessian(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.special import expit

        share = expit(self.rows @ theta)
        weighted = self.rows.multiply((share * (1.0 - share))[:, None]).tocsr()
        return (self.rows.T @ weighted).toarray() + self.ridge * np.eye(theta.size)


def _solve(problem: _Problem, start: NDArray[np.float64]) -> NDArray[np.float64]:
    """L-BFGS of scipy, then Newton steps, halved until the gradient gets shorter.

    L-BFGS alone stops where the value no longer changes in its last digit, which is too early
    for the gradient.
    """
    from scipy.optimize import minimize

    found = minimize(problem.value, start, jac=problem.gradient, method="L-BFGS-B")
    theta = np.asarray(found.x, dtype=np.float64)
    gradient = problem.gradient(theta)
    for _ in range(_NEWTON_STEPS):
        length = float(np.linalg.norm(gradient))
        # Well below the bound, so that the check before the release does not fail by rounding.
        if not length > GRADIENT_TOLERANCE / 10.0:
            break
        step = np.linalg.solve(problem.hessian(theta), gradient)
        # After 40 halvings a step is 1e-12 of itself: what is left is rounding.
        for halvings in range(40):
            there = theta - step * 0.5**halvings
            gradient = problem.gradient(there)
            if float(np.linalg.norm(gradient)) < length:
                break
        else:
            break
        theta = there
    return theta
