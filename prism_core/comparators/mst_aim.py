"""MST and AIM, which choose marginals privately, and what both must beat: columns by themselves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from networkx.utils import UnionFind

from prism_core.comparators.comparator_plan import MEASURING, TREE_CELLS, exponential, gaussian
from prism_core.planning.tree.junction_tree import Clique, total_cells, tree_fits
from prism_core.planning.tree.size import enlarged_cells

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from prism_core.comparators.adaptive_run import AdaptiveRun
    from prism_core.synthesis.pgm import Pgm

_EXPECTED = math.sqrt(2.0 / math.pi)
"""Mean absolute value of Gaussian noise, in sigmas."""

_MARGIN = 4.0  # below the limit, where the tree of the fit is not made to see its size


def independent(run: AdaptiveRun) -> None:
    """Measure every column with an equal part of rho.

    Spends: d Gaussian events of rho / d, d columns; neighbours replace one person.
    """
    columns(run)


def columns(run: AdaptiveRun) -> None:
    """Every column by itself, as the plan says.

    Spends: `plan.first`.
    """
    for name, event in zip(run.plan.schema.names, run.plan.first, strict=True):
        run.measure((name,), event)


def mst(run: AdaptiveRun) -> None:
    """Columns, a tree of pairs, the chosen pairs: a third of rho each.

    The tree is grown as in Kruskal's algorithm: each of d - 1 draws takes, among the pairs that
    join two components, one that the model of the columns gets most wrong (l1 error in counts).

    Source: McKenna, Miklau, Sheldon 2021 (arXiv 2108.04978), Algorithm 3 and section 4. Two
    things differ. Neighbours replace one person here and are added or removed there: the l2
    sensitivity of a marginal is sqrt(2) instead of 1, and that of the score 2 instead of 1, so at
    the same (epsilon, delta) there is sqrt(2) times the noise and half the epsilon in a choice.
    And the domain is the declared one: its rare levels are not merged after the first step, as
    the published program does. It knows no target.

    Spends: d Gaussian events of rho / (3 d), an exponential event of d - 1 rounds for rho / 3,
    d - 1 Gaussian events of rho / (3 (d - 1)).
    """
    columns(run)
    plan = run.plan
    if not plan.joins:
        return
    expected = run.fit().marginals(plan.pairs)
    choice = exponential(plan.parts / 3.0, plan.joins, "choice of pairs")
    joined = UnionFind(plan.schema.names)
    chosen = []
    for place in range(plan.joins):
        pairs = [pair for pair in plan.pairs if joined[pair[0]] != joined[pair[1]]]
        # The event is of all draws together, and is paid for with the first.
        chosen.append(run.choose(pairs, expected, choice, paid=place > 0))
        joined.union(*chosen[-1])
    part = plan.parts / 3.0 / plan.joins
    for pair in chosen:
        run.measure(pair, gaussian(part, " × ".join(pair), plan.schema.contribution))


def aim(run: AdaptiveRun) -> None:
    """Columns first; then rounds that choose a marginal, measure it and fit again.

    A round's noise is kept as long as the marginal it measured changes the model by more than
    the noise alone would; else sigma is halved and the epsilon of the choice doubled (annealing).
    The round that could leave less than another one takes all that is left.

    Source: McKenna, Mullins, Sheldon, Miklau 2022 (arXiv 2201.12677), Algorithms 2 and 4: T = 16 d
    rounds, alpha = 0.9, quality w_r (|M_r(D) - M_r(p)|_1 - sqrt(2 / pi) sigma n_r), candidates
    whose junction tree stays within a size that grows with the budget used. Neighbours replace
    one person here and are added or removed there: the l2 sensitivity of a marginal is sqrt(2)
    instead of 1 and that of the quality 2 max w instead of max w, so at the same (epsilon, delta)
    there is sqrt(2) times the noise and half the epsilon in a choice. It knows no target.

    Spends: at most rho, whatever is chosen: every event is paid for from the purse before it
    runs, in the last round as well.
    """
    plan, purse = run.plan, run.purse
    columns(run)
    # Of one of T rounds: alpha for the measurement, the rest for the choice.
    measuring, choosing = plan.one_way, (1.0 - MEASURING) * plan.parts / plan.rounds
    model = run.fit()
    anew = False
    while True:
        left = purse.left
        last = not left > 2.0 * (measuring + choosing)
        if last:
            left *= 1.0 - 1e-12  # so that the two parts fit, to the last digit
            measuring, choosing = MEASURING * left, (1.0 - MEASURING) * left
        event = gaussian(measuring, contribution=plan.schema.contribution)
        clique, before = _choose(run, model, choosing, event.sigma)
        run.measure(clique, replace(event, label=" × ".join(clique)))
        if last:
            return
        model = run.fit(anew=anew)
        moved = float(np.abs(model.marginal(clique) - before).sum())  # a clique holds it now
        anew = moved <= _EXPECTED * event.sigma * plan.schema.cells(clique)
        if anew:
            measuring, choosing = 4.0 * measuring, 4.0 * choosing  # sigma / 2, epsilon * 2


def _choose(
    run: AdaptiveRun, model: Pgm, choosing: float, sigma: float
) -> tuple[Clique, NDArray[np.float64]]:
    """A marginal, and what the model expects of it."""
    plan = run.plan
    expected = model.marginals(plan.weights)
    # Where the expectation needs too large a table there is none; sizes alone decide where.
    candidates = [clique for clique in plan.weights if clique in expected]
    penalties = {clique: _EXPECTED * sigma * plan.schema.cells(clique) for clique in candidates}
    chosen = run.choose(
        candidates,
        expected,
        exponential(choosing, 1, "choice of a marginal"),
        weights=plan.weights,
        penalties=penalties,
        allowed=_allowed(run, model),
    )
    return chosen, expected[chosen]


def _allowed(run: AdaptiveRun, model: Pgm) -> Callable[[Clique], bool]:
    """Whether the junction tree stays small enough with a candidate; follows from what is out.

    It does where the present tree, widened, is far below the limit: the tree of the fit is another
    one, and was up to four times as large. Else the fit's own tree is made, which takes long.
    What a clique of the tree holds already is always allowed, as single columns are, so there is a
    candidate.
    """
    # By the budget that is used: early rounds must not fill the tree that later ones need.
    limit = TREE_CELLS * run.purse.spent / run.purse.total
    candidates = list(run.plan.weights)
    widened = enlarged_cells(model.tree, run.sizes, candidates)
    small = widened <= max(limit / _MARGIN, total_cells(run.sizes, model.tree.cliques))
    known = {c for c, yes in zip(candidates, small, strict=True) if yes or len(c) == 1}
    measured = [m.clique for m in run.measurements]
    # A function: on public rows the slow look is taken only at candidates that are drawn.
    return lambda clique: clique in known or tree_fits(run.sizes, [*measured, clique], limit)
