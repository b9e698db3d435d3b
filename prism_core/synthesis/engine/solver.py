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

Where linear queries are measured, mean and d are those of rows (see `answer_map`), and C is Q C Q'.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from prism_core.synthesis.engine.newton import INNER_STEPS, FitState, LineSearch

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from prism_core.synthesis.engine.answer_map import AnswerMap
    from prism_core.synthesis.engine.flat_tree import FlatTree, Overlap

_NEGLIGIBLE = 1e-9  # share of the loss below which a cell that shrinks does not hold up the rest
_CLEAR = 1e-3  # share of the loss below which the gap leaves no doubt about a stop for little gain
_GAINED = 0.1  # of the fall of the loss so far; what the tolerance is a share of, if less
_BENT = 2  # steps cut short by the line search, after which the proximal problem is solved whole
_FEW = 20  # Newton steps, with which a fit from zeros may not come far enough to be worth it
_NEAR = 1e-2  # relative residual of the conjugate gradients where a prior is given
_NEAR_STEPS = 200  # at most, where a prior is given; 5 to 10 are used
_WARM = 1e-3  # part of the greatest precision that the proximal weight begins at near the optimum
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
        near = FitState(flat, overlap, wanted, precision, rows, prior[0])
        return _near(near, prior[1], iterations, tolerance, start, progress)
    found = _descended(
        FitState(flat, overlap, wanted, precision, rows), start, iterations, tolerance, progress
    )
    sure = found.stopped in ("gap", "iterations") or found.gap <= _CLEAR * found.loss
    left = iterations - found.steps
    if start is None or sure or left < _FEW:
        return found
    # It may have been led astray from there: a start may hold cells near 0 that do not come back,
    # and linear queries take it over only in part.
    anew = _descended(
        FitState(flat, overlap, wanted, precision, rows), None, left, tolerance, progress
    )
    best = anew if anew.loss < found.loss else found
    return replace(best, steps=found.steps + anew.steps)


def _descended(
    state: FitState,
    start: NDArray[np.float64] | None,
    iterations: int,
    tolerance: float,
    progress: Callable[[float], None],
) -> Solved:
    """Minimise L(P), from potentials where they are better than none."""
    uniform = state.loss
    warm = start is not None and state.begin(start)
    # Where a model fits perfectly the loss goes to 0, and no gap is below a share of that.
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
    state: FitState,
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
    # Twice, as `proximal` stops at half of `close`.
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
        self, state: FitState, negligible: float, little: float, progress: Callable[[float], None]
    ) -> str:
        """One step; returns why to stop, or ""."""
        if self.bent >= _BENT:
            return self._whole(state, little, progress)
        self.steps += 1
        step = state.newton(self.tau, self.finesse)
        # No way down that the inner solve can see: a finer one is tried before giving up.
        if not step.slope < 0.0:
            if self.finesse <= _FINEST:
                return "rounding"
            self.finesse *= 0.01
            return ""
        limit = state.limit(step.cells, negligible)
        taken = state.search(step, limit)
        # A step may be cut short because its direction was rough: solve the next one more finely.
        if taken.share < limit:
            self.finesse = max(0.1 * self.finesse, _FINEST)
        self.bent += taken.share < 0.3 * limit
        small = max(taken.predicted, taken.gained) <= little
        # A damped step gains little by its length alone, which says nothing of the optimum.
        self.quiet = self.quiet + 1 if limit > 0.9 and taken.share > 0.0 and small else 0
        self.tau *= _change(taken)
        return "gain" if self.quiet >= self.patience else ""

    def _whole(self, state: FitState, little: float, progress: Callable[[float], None]) -> str:
        before = state.loss
        inner = state.proximal(
            self.tau, self.finesse, lambda: progress(min(0.99, self.steps / 25.0))
        )
        # One at least, so that an empty proximal problem counts towards the limit of steps.
        self.steps += max(1, inner)
        gained = before - state.loss
        self.quiet = self.quiet + 1 if gained <= little else 0
        # Few inner steps: the problem was easy, the next may reach further. All used up: too far.
        self.tau *= 0.2 if inner <= 8 else 1.0 if inner < INNER_STEPS else 4.0
        return "gain" if self.quiet >= self.patience else ""


def _change(taken: LineSearch) -> float:
    """Factor for tau: down where the model was right and the step whole, else up."""
    if not taken.share > 0.0:
        return 4.0
    if taken.share > 0.9 and taken.gained > 0.5 * taken.predicted:
        return 0.2
    if taken.share > 0.3:
        return 0.7
    return 2.0 if taken.share < 0.1 else 1.0
