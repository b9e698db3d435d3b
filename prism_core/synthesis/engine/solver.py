"""The convex fit of one connected part: damped Newton steps on the measured potentials.

Minimises L(P) = sum_q ||n M_q(P) - y_q||^2 / (2 sigma_q^2) over the distributions of the
exponential family spanned by the measured cliques, which is where the maximum-entropy optimum
lies. A step of the potentials by d moves the measured probabilities by C d, C their covariance.
Every step is the proximal step of the quadratic model

    <g, C d> + ||C d||^2_W / 2 + tau <d, C d> / 2,    g = W (mean - wanted),

so d solves (C + tau / W) d = wanted - mean, by conjugate gradients. tau falls as the model proves
right. Mirror descent is the same step without the second term, and needs thousands of them where
this needs some twenty.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from prism_core.synthesis.engine.flat import FlatTree
    from prism_core.synthesis.engine.overlap import Overlap

_CONJUGATE_STEPS = 150  # in one Newton step; 10 to 30 are used
_GROWTH = 3.0  # no measured probability may grow by more than this share in the linear model
_SHRINK = 20.0  # ... or shrink: e^-20 is as good as 0, and near enough to come back from
_NEGLIGIBLE = 1e-9  # share of the loss below which a cell that shrinks does not hold up the rest
_LINE = 8  # tries of the line search, each 0.4 of the one before
_FINEST = 1e-9  # relative residual of the conjugate gradients where rounding takes over


@dataclass(frozen=True, kw_only=True)
class Solved:
    """The fit of one connected part.

    Attributes:
        potential: log potentials of the measured cells.
        belief: probabilities of the cells of all cliques.
        loss: at the end.
        gap: duality gap: an upper bound on how far `loss` is above the least possible.
        steps: Newton steps.
        stopped: why: `gap`, `gain` (no step lowers the loss by more than the tolerance),
            `rounding` or `iterations`.
    """

    potential: NDArray[np.float64] = field(repr=False)
    belief: NDArray[np.float64] = field(repr=False)
    loss: float
    gap: float
    steps: int
    stopped: str


def solve(
    flat: FlatTree,
    overlap: Overlap,
    wanted: NDArray[np.float64],
    precision: NDArray[np.float64],
    *,
    iterations: int,
    tolerance: float,
    progress: Callable[[float], None] = lambda _: None,
) -> Solved:
    """Fit one connected part; deterministic.

    Args:
        flat: its junction tree and measured sets.
        overlap: of the measured sets.
        wanted: y / n for every measured cell.
        precision: (n / sigma)^2 for every measured cell.
        iterations: at most so many Newton steps.
        tolerance: stop when the duality gap is below this share of the loss, or when two
            undamped steps in a row lower it, by prediction and in fact, by less than a tenth of
            that.
        progress: called before every step with the share done; may raise to stop.
    """
    state = _State(flat, overlap, wanted, precision)
    floor = min(1e-3, 1e-6 * state.loss)
    tau, finesse, quiet = 0.1 * float(precision.max()), 0.01, 0
    steps, stopped = 0, "iterations"
    while steps < iterations:
        scale = max(state.whole, floor)
        progress(min(0.99, steps / 25.0))  # 15 to 30 are usual
        if state.gap() <= tolerance * scale:
            stopped = "gap"
            break
        steps += 1
        step = state.newton(tau, finesse)
        if not step.slope < 0.0:
            if finesse <= _FINEST:
                stopped = "rounding"
                break
            finesse *= 0.01
            continue
        limit = state.limit(step, _NEGLIGIBLE * scale)
        taken = state.search(step, limit)
        if taken.share < limit:
            finesse = max(0.1 * finesse, _FINEST)
        small = max(taken.predicted, taken.gained) <= 0.1 * tolerance * scale
        quiet = quiet + 1 if limit > 0.9 and taken.share > 0.0 and small else 0
        if quiet == 2:
            stopped = "gain"
            break
        tau *= _change(taken)
    return Solved(
        potential=state.potential, belief=state.belief, loss=state.whole, gap=state.gap(),
        steps=steps, stopped=stopped,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _Step:
    """A direction, what it does to the measured probabilities, and the model's slope and bend."""

    move: NDArray[np.float64]
    moved: NDArray[np.float64]
    slope: float
    bend: float


@dataclass(frozen=True, kw_only=True)
class _Taken:
    """What the line search did: share of the step (0 where none was good), gains."""

    share: float
    predicted: float
    gained: float


def _change(taken: _Taken) -> float:
    """Factor for tau: down where the model was right and the step whole, else up."""
    if not taken.share > 0.0:
        return 4.0
    if taken.share > 0.9 and taken.gained > 0.5 * taken.predicted:
        return 0.2
    if taken.share > 0.3:
        return 0.7
    return 2.0 if taken.share < 0.1 else 1.0


class _State:
    """Potentials with everything that follows from them, and room to compute in."""

    def __init__(
        self,
        flat: FlatTree,
        overlap: Overlap,
        wanted: NDArray[np.float64],
        precision: NDArray[np.float64],
    ) -> None:
        from prism_core.synthesis.engine import kernels

        self._kernels = kernels
        self._tree = flat.layout
        self._overlap = overlap
        self._precision = precision
        cells, states = int(flat.layout.cells[-1]), int(flat.layout.states[-1])
        shared = int(overlap.sizes.max(initial=1))
        self._given, self.belief, self._room = (np.zeros(cells) for _ in range(3))
        self._message, self._top, self._total = (np.zeros(states) for _ in range(3))
        self._shared, self._own = np.zeros(shared), np.zeros(shared)
        # What the noisy tables say differently on shared columns no model can follow: it is a
        # constant of the loss, taken out first.
        lengths = np.diff(flat.starts)
        even = np.repeat(1.0 / lengths, lengths)
        self._wanted = wanted - even
        kernels.agree(overlap, self._wanted, self._shared, self._own)
        self._wanted += even
        self.constant = 0.5 * float(precision @ (wanted - self._wanted) ** 2)
        self.potential = np.zeros(len(wanted))
        self._mean = self._infer(self.potential)
        self.loss = self._loss(self._mean)

    @property
    def whole(self) -> float:
        """The loss with its constant."""
        return self.loss + self.constant

    def gap(self) -> float:
        """<g, P> less the least <g, row>: the Frank-Wolfe gap, which is the duality gap here."""
        gradient = self._precision * (self._mean - self._wanted)
        least = self._kernels.lowest(
            self._tree, gradient, self._room, self._message, self._top
        )
        return max(0.0, float(gradient @ self._mean) - least)

    def newton(self, tau: float, finesse: float) -> _Step:
        """The proximal Newton step, by conjugate gradients to a relative residual `finesse`."""
        move, moved = np.empty_like(self._mean), np.empty_like(self._mean)
        self._kernels.direction(
            self._tree, self._overlap, self._precision, self._mean, self._wanted - self._mean,
            self._given, self.belief, tau, finesse, _CONJUGATE_STEPS, move, moved,
            self._room, self._message, self._top, self._shared, self._own,
        )  # fmt: skip
        gradient = self._precision * (self._mean - self._wanted)
        return _Step(
            move=move, moved=moved, slope=float(gradient @ moved),
            bend=float(self._precision @ moved**2),
        )  # fmt: skip

    def limit(self, step: _Step, negligible: float) -> float:
        """The largest share of a step that the linear model can be trusted with.

        A cell that may become 0 must not get there at once: nothing brings it back.
        """
        known = self._mean > 0.0
        mean = self._mean[known]
        ratio = step.moved[known] / mean
        weighty = mean * self._precision[known] * np.abs(mean - self._wanted[known]) > negligible
        grows = float(ratio.max(initial=0.0))
        shrinks = float(-ratio[weighty].min(initial=0.0))
        return 1.0 / max(1.0, grows / _GROWTH, shrinks / _SHRINK)

    def search(self, step: _Step, share: float) -> _Taken:
        """Move along a step, less and less far until the loss falls as it should."""
        for _ in range(_LINE):
            potential = self.potential + share * step.move
            mean = self._infer(potential)
            loss = self._loss(mean)
            if loss <= self.loss + 0.01 * share * step.slope:
                gained = self.loss - loss
                self.potential, self._mean, self.loss = potential, mean, loss
                predicted = -share * step.slope - 0.5 * share**2 * step.bend
                return _Taken(share=share, predicted=predicted, gained=gained)
            share *= 0.4
        self._infer(self.potential)
        return _Taken(share=0.0, predicted=0.0, gained=0.0)

    def _infer(self, potential: NDArray[np.float64]) -> NDArray[np.float64]:
        mean = np.empty(len(potential))
        self._kernels.infer(
            self._tree, potential, self._given, self.belief, self._message, self._top,
            self._total, mean,
        )  # fmt: skip
        return mean

    def _loss(self, mean: NDArray[np.float64]) -> float:
        return 0.5 * float(self._precision @ (mean - self._wanted) ** 2)
