"""The convex fit of one connected part: damped Newton steps on the measured potentials.

Minimises L(P) = sum_q ||n M_q(P) - y_q||^2 / (2 sigma_q^2) over the distributions of the
exponential family spanned by the measured cliques, which is where the maximum-entropy optimum
lies. A step of the potentials by d moves the measured probabilities by C d, C their covariance.
Every step is the proximal step of the quadratic model

    <g, C d> + ||C d||^2_W / 2 + tau <d, C d> / 2,    g = W (mean - wanted),

so d solves (C + tau / W) d = wanted - mean, by conjugate gradients. tau falls as the model proves
right. Mirror descent is the same step without the second term, and needs thousands of them where
this needs some twenty.

Where sigmas differ by orders of magnitude the loss is a narrow bent valley in the potentials, and
straight steps must be short. Then the whole proximal problem is solved instead,

    min L(P) + tau KL(P || P_now),    by its dual, convex and smooth in the move of the potentials,

which may go round any bend and never raises the loss.

With a prior and its weight tau given, that problem is solved once, from the prior: what was
measured is then followed as far as it speaks against tau people of the prior.

Where linear queries are measured, mean and d are those of rows (see `rows`), and C is Q C Q'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.synthesis.engine.answer_map import Moved, QueryAgreement, direction

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from prism_core.synthesis.engine.answer_map import AnswerMap
    from prism_core.synthesis.engine.flat_tree import FlatTree, Overlap

_CONJUGATE_STEPS = 150  # in one Newton step; 10 to 30 are used
_GROWTH = 3.0  # no measured probability may grow by more than this share in the linear model
_SHRINK = 20.0  # ... or shrink: e^-20 is as good as 0, and near enough to come back from
_NEGLIGIBLE = 1e-9  # share of the loss below which a cell that shrinks does not hold up the rest
_LINE = 8  # tries of the line search, each 0.4 of the one before
_CLEAR = 1e-3  # share of the loss below which the gap leaves no doubt about a stop for little gain
_GAINED = 0.1  # of the fall of the loss so far; what the tolerance is a share of, if less
_BENT = 2  # steps cut short by the line search, after which the proximal problem is solved whole
_FEW = 20  # Newton steps, with which a fit from zeros may not come far enough to be worth it
_INNER = 40  # Newton steps in one proximal problem
_NEAR = 1e-2  # relative residual of the conjugate gradients where a prior is given
_NEAR_STEPS = 200  # at most, where a prior is given; 5 to 10 are used
_WARM = 1e-3  # part of the greatest precision that the proximal weight begins at near the optimum
_ROUNDING = 1e-12  # of a loss, or of one: below it, what is left is rounding
_FINEST = 1e-9  # relative residual of the conjugate gradients where rounding takes over


@dataclass(frozen=True, kw_only=True)
class Solved:
    """The fit of one connected part.

    Attributes:
        potential: log potentials of the measured cells, or of the rows where there are any.
        belief: probabilities of the cells of all cliques.
        loss: at the end.
        gap: duality gap: an upper bound on how far `loss` is above the least possible; with a
            prior, how far loss and the prior's share are together.
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
    start: NDArray[np.float64] | None = None,
    rows: AnswerMap | None = None,
    prior: tuple[NDArray[np.float64], float] | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> Solved:
    """Fit one connected part; deterministic.

    Args:
        flat: its junction tree and measured sets.
        overlap: of the measured sets; with `rows`, of those that are measured as tables.
        wanted: y / n for every measured cell, or every row.
        precision: (n / sigma)^2 for every measured cell, or every row.
        iterations: at most so many Newton steps.
        tolerance: stop when the duality gap is below this share of the loss, or of a tenth of
            what the fit has gained over the uniform model where that is less (under noise
            larger than n every model's loss is nearly the same, and a share of it says little);
            or when two undamped steps in a row lower it, by prediction and in fact, by less
            than a tenth of that (five, while the gap is large: a cell near 0 may yet have to
            come back). With a prior: when the gap is below this share of what the fit lowers the
            loss by.
        start: potentials of the measured cells to begin at, where they are better than zeros:
            those of a fit to fewer measurements, less the prior's. The optimum is the same from
            wherever; a fit that finds no way on while its gap leaves a doubt begins anew at
            zeros, and the better end is taken.
        rows: what is measured of the cells, where linear queries are.
        prior: log potentials of the cells of all sets, whatever is measured of them, and as how
            many people they count: weight KL(P || prior) is added to what is minimised, and the
            potential of the result is what is to be added to the prior's.
        progress: called before every step with the share done; may raise to stop.
    """
    if prior is not None:
        near = _State(flat, overlap, wanted, precision, rows, prior[0])
        return _near(near, prior[1], iterations, tolerance, start, progress)
    found = _descended(
        _State(flat, overlap, wanted, precision, rows), start, iterations, tolerance, progress
    )
    sure = found.stopped in ("gap", "iterations") or found.gap <= _CLEAR * found.loss
    left = iterations - found.steps
    if start is None or sure or left < _FEW:
        return found
    # It may have been led astray from there: a start may hold cells near 0 that do not come back,
    # and linear queries take it over only in part.
    anew = _descended(
        _State(flat, overlap, wanted, precision, rows), None, left, tolerance, progress
    )
    best = anew if anew.loss < found.loss else found
    return replace(best, steps=found.steps + anew.steps)


def _descended(
    state: _State,
    start: NDArray[np.float64] | None,
    iterations: int,
    tolerance: float,
    progress: Callable[[float], None],
) -> Solved:
    """Minimise L(P), from potentials where they are better than none."""
    uniform = state.loss
    warm = start is not None and state.begin(start)
    floor = min(1e-3, 1e-6 * uniform)
    rule = _StepRule(tau=(_WARM if warm else 0.1) * state.greatest)
    stopped = "iterations"
    while rule.steps < iterations:
        progress(min(0.99, rule.steps / 25.0))  # 15 to 30 are usual
        scale = max(min(state.whole, _GAINED * (uniform - state.loss)), floor)
        gap = state.gap()
        if gap <= tolerance * scale:
            stopped = "gap"
            break
        rule.patience = 2 if gap <= _CLEAR * scale else 5
        reason = rule.advance(state, _NEGLIGIBLE * scale, 0.1 * tolerance * scale, progress)
        if reason:
            stopped = reason
            break
    return Solved(
        potential=state.potential,
        belief=state.belief,
        loss=state.whole,
        gap=state.gap(),
        steps=rule.steps,
        stopped=stopped,
    )


def _near(
    state: _State,
    weight: float,
    iterations: int,
    tolerance: float,
    start: NDArray[np.float64] | None,
    progress: Callable[[float], None],
) -> Solved:
    """Minimise L(P) + weight KL(P || prior), the prior being what the state stands at."""
    steps = 0

    def step() -> None:
        nonlocal steps
        progress(min(0.99, steps / 15.0))
        steps += 1

    most = min(iterations, _NEAR_STEPS)
    inner = state.proximal(weight, _NEAR, step, most=most, close=2.0 * tolerance, start=start)
    return Solved(
        potential=state.potential,
        belief=state.belief,
        loss=state.whole,
        gap=state.short,
        steps=inner,
        stopped="gap" if inner < most else "iterations",
    )


@dataclass
class _StepRule:
    """How far to go next: the proximal weight, the precision of the inner solves, and patience."""

    tau: float
    finesse: float = 0.01
    steps: int = 0
    quiet: int = 0
    bent: int = 0
    patience: int = 2

    def advance(
        self, state: _State, negligible: float, little: float, progress: Callable[[float], None]
    ) -> str:
        """One step; returns why to stop, or ""."""
        if self.bent >= _BENT:
            return self._whole(state, little, progress)
        self.steps += 1
        step = state.newton(self.tau, self.finesse)
        if not step.slope < 0.0:
            if self.finesse <= _FINEST:
                return "rounding"
            self.finesse *= 0.01
            return ""
        limit = state.limit(step.cells, negligible)
        taken = state.search(step, limit)
        if taken.share < limit:
            self.finesse = max(0.1 * self.finesse, _FINEST)
        self.bent += taken.share < 0.3 * limit
        small = max(taken.predicted, taken.gained) <= little
        self.quiet = self.quiet + 1 if limit > 0.9 and taken.share > 0.0 and small else 0
        self.tau *= _change(taken)
        return "gain" if self.quiet >= self.patience else ""

    def _whole(self, state: _State, little: float, progress: Callable[[float], None]) -> str:
        before = state.loss
        inner = state.proximal(
            self.tau, self.finesse, lambda: progress(min(0.99, self.steps / 25.0))
        )
        self.steps += max(1, inner)
        gained = before - state.loss
        self.quiet = self.quiet + 1 if gained <= little else 0
        self.tau *= 0.2 if inner <= 8 else 1.0 if inner < _INNER else 4.0
        return "gain" if self.quiet >= self.patience else ""


@dataclass(frozen=True, kw_only=True)
class _NewtonStep:
    """A direction, what it does to rows and measured cells, and the model's slope and bend."""

    move: NDArray[np.float64]
    moved: NDArray[np.float64]
    cells: NDArray[np.float64]
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
        rows: AnswerMap | None,
        prior: NDArray[np.float64] | None = None,
    ) -> None:
        from prism_core.synthesis.engine import kernels

        self._kernels = kernels
        self._tree = flat.layout
        self._overlap = overlap
        self._precision = precision
        self._rows = rows
        self._prior = prior
        cells, states = int(flat.layout.cells[-1]), int(flat.layout.states[-1])
        shared = int(overlap.sizes.max(initial=1))
        self._given, self.belief, self._room = (np.zeros(cells) for _ in range(3))
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
        self._wanted = wanted - even
        self._agree(self._wanted)
        self._wanted += even
        self.constant = 0.5 * float(precision @ (wanted - self._wanted) ** 2)
        self.short = math.inf  # duality gap of the last proximal problem
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

    def newton(self, tau: float, finesse: float) -> _NewtonStep:
        """The proximal Newton step, by conjugate gradients to a relative residual `finesse`."""
        found = self._direction(self._mean, self._wanted - self._mean, tau, finesse)
        moved = found.rows
        gradient = self._precision * (self._mean - self._wanted)
        return _NewtonStep(
            move=found.move,
            moved=moved,
            cells=found.cells,
            slope=float(gradient @ moved),
            bend=float(self._precision @ moved**2),
        )

    def limit(self, moved: NDArray[np.float64], negligible: float) -> float:
        """The largest share of a step that the linear model can be trusted with.

        A cell that may become 0 must not get there at once: nothing brings it back.
        """
        gradient = self._to_cells(self._precision * (self._mean - self._wanted))
        weight = self._cells * np.abs(gradient)
        return self._trusted(moved, self._cells, weight > negligible)

    @staticmethod
    def _trusted(
        moved: NDArray[np.float64], mean: NDArray[np.float64], weighty: NDArray[np.bool_]
    ) -> float:
        known = mean > 0.0
        ratio = moved[known] / mean[known]
        grows = float(ratio.max(initial=0.0))
        shrinks = float(-ratio[weighty[known]].min(initial=0.0))
        return 1.0 / max(1.0, grows / _GROWTH, shrinks / _SHRINK)

    def search(self, step: _NewtonStep, share: float) -> _Taken:
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

    def proximal(
        self,
        tau: float,
        finesse: float,
        step: Callable[[], None],
        *,
        most: int = _INNER,
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
            step_there = self._direction(mean, residual.copy(), tau, finesse)
            onward = step_there.move
            slope = float(residual @ onward)
            if not slope > 0.0:
                break
            share = self._trusted(step_there.cells, self._cells, self._cells > 0.0)
            there, found = move, value
            for _ in range(2 * _LINE):
                there = move + share * onward
                mean = self._infer(center + there)
                found = self._dual(there, ridge)
                if found <= value - 1e-4 * share * slope + 1e-13 * abs(value):
                    break
                share *= 0.5
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
