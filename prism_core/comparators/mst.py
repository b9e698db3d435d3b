"""MST: a private maximum spanning tree of pairs over all columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from networkx.utils import UnionFind

from prism_core.comparators.comparator_plan import exponential, gaussian
from prism_core.comparators.independent import columns

if TYPE_CHECKING:
    from prism_core.comparators.adaptive_run import AdaptiveRun


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
