"""State of a fit: potentials with all that follows from them, and the Newton steps they take.

What is minimised, and why by these steps, is said in `solver`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.synthesis.engine.answer_map import AnswerMap, Moved, QueryAgreement, direction

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from prism_core.synthesis.engine.flat_tree import FlatTree, Overlap

_CONJUGATE_STEPS = 150  # in one Newton step; 10 to 30 are used
_GROWTH = 3.0  # no measured probability may grow by more than this share in the linear model
_SHRINK = 20.0  # ... or shrink: e^-20 is as good as 0, and near enough to come back from
_LINE = 8  # tries of the line search, each 0.4 of the one before
INNER_STEPS = 40  # Newton steps in one proximal problem
_ROUNDING = 1e-12  # of a loss, or of one: below it, what is left is rounding


@dataclass(frozen=True, kw_only=True)
class NewtonStep:
    """A direction, what it does to rows and measured cells, and the model's slope and bend."""

    move: NDArray[np.float64]
    moved: NDArray[np.float64]
    cells: NDArray[np.float64]
    slope: float
    bend: float


@dataclass(frozen=True, kw_only=True)
class LineSearch:
    """What the line search did: share of the step (0 where none was good), gains."""

    share: float
    predicted: float
    gained: float


class FitState:
    """Potentials with everything that follows from them, and room to compute in."""

    def __init__(
        self,
        flat: FlatTree,
        overlap: Overlap,
        wanted: NDArray[np.float64],
        precision: NDArray[np.float64],
        rows: AnswerMap | None,
        prior: NDArray[np.float64] | None = None,
    ) -> None:
        # Late: numba takes about a second to load, and `cache.prepare` has to come before it.
        from prism_core.synthesis.engine import kernels

        self._kernels = kernels
        self._tree = flat.layout
        self._overlap = overlap
        self._precision = precision
        self._rows = rows
        self._prior = prior
        cells, states = int(flat.layout.cells[-1]), int(flat.layout.states[-1])
        shared = int(overlap.sizes.max(initial=1))
        # One entry for every cell of the tree's cliques; `_room` is scratch.
        self._given, self.belief, self._room = (np.zeros(cells) for _ in range(3))
        # One entry for every state of the separators; `_top` and `_total` are scratch.
        self._message, self._top, self._total = (np.zeros(states) for _ in range(3))
        self._shared, self._own = np.zeros(shared), np.zeros(shared)
        # What noisy answers say differently on shared columns no model can follow: it is a
        # constant of the loss, taken out first.
        lengths = np.diff(flat.starts)
        even = np.repeat(1.0 / lengths, lengths)
        self._agree = self._tables_agree
        if rows is not None:
            even = rows.to_rows(even)
            self._agree = QueryAgreement(rows, precision, self._tables_agree)
        # Shares sum to 1 and `agree` makes sums of 0, so the uniform table is taken off and put
        # back.
        self._wanted = wanted - even
        self._agree(self._wanted)
        self._wanted += even
        self.constant = 0.5 * float(precision @ (wanted - self._wanted) ** 2)
        self.short = math.inf  # duality gap of the last proximal problem
        # From zeros the potentials move along measured cells only. The regime guard rests on that.
        self.potential = np.zeros(len(wanted))
        self._mean = self._infer(self.potential)
        self.loss = self._loss(self._mean)

    @property
    def greatest(self) -> float:
        """The greatest precision."""
        return float(self._precision.max())

    @property
    def whole(self) -> float:
        """The loss with its constant."""
        return self.loss + self.constant

    def begin(self, potential: NDArray[np.float64]) -> bool:
        """Move to other potentials if that lowers the loss."""
        mean = self._infer(potential)
        loss = self._loss(mean)
        if not loss < self.loss:  # NaN as well
            # The arrays of beliefs hold the refused point; bring back the one that stands.
            self._infer(self.potential)
            return False
        self.potential, self._mean, self.loss = potential, mean, loss
        return True

    def gap(self) -> float:
        """<g, P> less the least <g, row>: the Frank-Wolfe gap, which is the duality gap here."""
        gradient = self._precision * (self._mean - self._wanted)
        cost = self._to_cells(gradient)
        least = self._kernels.lowest(self._tree, cost, self._room, self._message, self._top)
        return max(0.0, float(gradient @ self._mean) - least)

    def newton(self, tau: float, finesse: float) -> NewtonStep:
        """The proximal Newton step, by conjugate gradients to a relative residual `finesse`."""
        found = self._direction(self._mean, self._wanted - self._mean, tau, finesse)
        moved = found.rows
        gradient = self._precision * (self._mean - self._wanted)
        return NewtonStep(
            move=found.move,
            moved=moved,
            cells=found.cells,
            # First and second order of the loss along the step, were all means to move by it.
            slope=float(gradient @ moved),
            bend=float(self._precision @ moved**2),
        )

    def limit(self, moved: NDArray[np.float64], negligible: float) -> float:
        """The largest share of a step that the linear model can be trusted with.

        A cell that may become 0 must not get there at once: nothing brings it back.
        """
        gradient = self._to_cells(self._precision * (self._mean - self._wanted))
        # What a cell can still change the loss by, at first order: one that cannot matter may
        # vanish.
        weight = self._cells * np.abs(gradient)
        return self._trusted(moved, self._cells, weight > negligible)

    @staticmethod
    def _trusted(
        moved: NDArray[np.float64], mean: NDArray[np.float64], weighty: NDArray[np.bool_]
    ) -> float:
        # A cell that has underflowed to 0 has no ratio.
        known = mean > 0.0
        ratio = moved[known] / mean[known]
        grows = float(ratio.max(initial=0.0))
        shrinks = float(-ratio[weighty[known]].min(initial=0.0))
        return 1.0 / max(1.0, grows / _GROWTH, shrinks / _SHRINK)

    def search(self, step: NewtonStep, share: float) -> LineSearch:
        """Move along a step, less and less far until the loss falls as it should."""
        for _ in range(_LINE):
            potential = self.potential + share * step.move
            mean = self._infer(potential)
            loss = self._loss(mean)
            # Armijo's rule: merely falling could stall short of the optimum.
            if loss <= self.loss + 0.01 * share * step.slope:
                gained = self.loss - loss
                self.potential, self._mean, self.loss = potential, mean, loss
                # What the quadratic model promised, had the means moved in proportion to the share.
                predicted = -share * step.slope - 0.5 * share**2 * step.bend
                return LineSearch(share=share, predicted=predicted, gained=gained)
            share *= 0.4
        # The arrays of beliefs hold the last try; bring back the point that stands.
        self._infer(self.potential)
        return LineSearch(share=0.0, predicted=0.0, gained=0.0)

    def proximal(
        self,
        tau: float,
        finesse: float,
        step: Callable[[], None],
        *,
        most: int = INNER_STEPS,
        close: float = 1e-4,
        start: NDArray[np.float64] | None = None,
    ) -> int:
        """Minimise L(P) + tau KL(P || P_now); returns the number of Newton steps.

        Its dual, in the move d of the potentials, is log Z(now + d) - <d, wanted> +
        tau ||d||^2 / 2 in the metric of 1 / precision, and half of what is left of its gradient,
        squared in the metric of precision, is the duality gap. `step` is called before every one
        of at most `most` steps; the gap may be half of `close` times what the loss fell.
        """
        ridge = tau / self._precision
        center, best = self.potential, self.loss
        move, mean, value = self._first(start, ridge)
        count = 0
        for count in range(most):  # noqa: B007  (its last value is returned)
            step()
            residual = self._wanted - mean - ridge * move
            left = float(self._precision @ residual**2)
            self.short = 0.5 * left
            if left <= max(close * (best - self._loss(mean)), _ROUNDING * (1.0 + best)):
                break
            # A copy: the kernel overwrites its right-hand side, and the slope below needs it.
            step_there = self._direction(mean, residual.copy(), tau, finesse)
            onward = step_there.move
            # The residual is minus the dual's gradient, so this is how fast the dual falls at
            # first.
            slope = float(residual @ onward)
            if not slope > 0.0:
                break
            share = self._trusted(step_there.cells, self._cells, self._cells > 0.0)
            there, found = move, value
            for _ in range(2 * _LINE):
                there = move + share * onward
                mean = self._infer(center + there)
                found = self._dual(there, ridge)
                # Near the optimum the fall is smaller than the dual's rounding, which must not
                # refuse a step.
                if found <= value - 1e-4 * share * slope + 1e-13 * abs(value):
                    break
                share *= 0.5
            # The shortest try is taken even where none was good: the loss below has the last word.
            move, value = there, found
        else:
            count = most
        loss = self._loss(mean)
        if not loss <= best + _ROUNDING * (1.0 + best):  # NaN as well
            self._infer(center)
            return most
        self.potential, self._mean, self.loss = center + move, mean, loss
        return count

    def _first(
        self, start: NDArray[np.float64] | None, ridge: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Move, mean and dual value to begin a proximal problem with; leaves them inferred."""
        none = np.zeros_like(self.potential)
        if start is not None:
            value = self._log_z
            # What potentials of several sets say of shared columns can be shifted between them
            # without a change of the model; the nearest such move is meant.
            even = ridge * (start - self.potential)
            self._agree(even)
            move = even / ridge
            mean = self._infer(self.potential + move)
            found = self._dual(move, ridge)
            if found < value:  # not for NaN
                return move, mean, found
        # Anew: a start that was refused has left its own beliefs behind.
        mean = self._infer(self.potential)
        return none, mean, self._log_z

    def _dual(self, move: NDArray[np.float64], ridge: NDArray[np.float64]) -> float:
        """At the potentials that were inferred last, `move` away from the center."""
        return self._log_z - float(move @ self._wanted) + 0.5 * float(ridge @ move**2)

    def _direction(
        self, mean: NDArray[np.float64], residual: NDArray[np.float64], tau: float, finesse: float
    ) -> Moved:
        """At the point that was inferred last."""
        if self._rows is not None:
            return direction(
                self._rows,
                self._precision,
                self._rows.variance(self._cells),
                residual,
                tau,
                finesse,
                _CONJUGATE_STEPS,
                self._differentiate,
                self._agree,
            )
        move, moved = np.empty_like(mean), np.empty_like(mean)
        self._kernels.direction(
            self._tree,
            self._overlap,
            self._precision,
            mean,
            residual,
            self._given,
            self.belief,
            tau,
            finesse,
            _CONJUGATE_STEPS,
            move,
            moved,
            self._room,
            self._message,
            self._top,
            self._shared,
            self._own,
        )
        return Moved(move=move, rows=moved, cells=moved)

    def _differentiate(self, move: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.empty(len(move))
        self._kernels.differentiate(
            self._tree, move, self._given, self.belief, self._room, self._message, self._top, found
        )
        return found

    def _tables_agree(self, tables: NDArray[np.float64]) -> None:
        self._kernels.agree(self._overlap, tables, self._shared, self._own)

    def _to_cells(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return rows if self._rows is None else self._rows.to_cells(rows)

    def _infer(self, potential: NDArray[np.float64]) -> NDArray[np.float64]:
        given = self._to_cells(potential)
        if self._prior is not None:
            given = given + self._prior
        # A new array each time: where there are no rows it is the mean that the caller keeps.
        self._cells = np.empty(len(given))
        self._log_z = self._kernels.infer(
            self._tree,
            given,
            self._given,
            self.belief,
            self._message,
            self._top,
            self._total,
            self._cells,
        )
        return self._cells if self._rows is None else self._rows.to_rows(self._cells)

    def _loss(self, mean: NDArray[np.float64]) -> float:
        return 0.5 * float(self._precision @ (mean - self._wanted) ** 2)
