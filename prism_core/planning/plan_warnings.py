"""Warnings of a plan for the curator and the committee: the one place that makes them.

They follow from public facts and are part of the plan (`Plan.warnings`), so every door shows the
same ones, before anything is charged, and so do protocol, certificate, report and data sheet.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from prism_core.planning.adaptive_rounds import NOISE_LIMIT
from prism_core.planning.large_columns import crowded, drowning
from prism_core.planning.search.comparison import figures
from prism_core.planning.wishes.locks import lock_warnings, unused_warning
from prism_core.privacy.parameters import about_budget
from prism_core.text.numbers import count_text, error_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prism_core.planning.numeric_queries import Products
    from prism_core.planning.plan import Plan
    from prism_core.planning.queries import Pool


def cautions(plan: Plan, shares: Mapping[Pool, float], squares: Products) -> tuple[str, ...]:
    """Every sentence, the most general first. Spends nothing and reads no row.

    Args:
        plan: without warnings.
        shares: of the pools whose marginals are all known.
        squares: products of two features, and how many are left out.
    """
    return (
        *about_budget(plan.budget.epsilon, plan.delta, plan.n, above_limit=plan.budget.above_limit),
        *_idle_locks(plan, shares),
        *_not_followed(plan),
        *squares.warnings,
        *crowded(plan.domain, plan.queries),
        *_loud(plan),
        *_rare(plan),
    )


def _idle_locks(plan: Plan, shares: Mapping[Pool, float]) -> tuple[str, ...]:
    """What locks do not do."""
    locks = plan.budget.locks
    if not locks:
        return ()
    idle = lock_warnings(locks, plan.cliques, final=plan.s_is_final)
    for pool, share in shares.items():
        idle += unused_warning(pool, share, plan.queries)
    return idle


def _not_followed(plan: Plan) -> tuple[str, ...]:
    """Where marginals beyond the pairs were asked for by name, and none is measured."""
    rule = plan.task.three_way
    if rule in ("auto", "none") or plan.three_way_event is not None:
        return ()
    what = "adaptive round" if rule == "adaptive" else "3-way marginal"
    if plan.measures_all_at_once:
        why = "S is measured with the target at once, and there is nothing to add to that"
    elif len(plan.s) < 2:
        why = "S has one column, and it takes two"
    elif rule == "adaptive":
        why = (
            "at this budget the noise of one more marginal would exceed "
            f"{NOISE_LIMIT:.0%} of the rows, and do more harm than good"
        )
    else:
        why = "no two features of S are small enough to be measured together with the target"
    return (f"No {what} fits, although {_asked(rule)}: {why}. {_instead(plan)}",)


def _asked(rule: str) -> str:
    return f"three_way = {rule} asks for {'them' if rule != 'adaptive' else 'rounds'}"


def _instead(plan: Plan) -> str:
    """What is measured of S and of the rest, since no round is."""
    if plan.measures_all_at_once:
        return ""
    kept = "Of S the pairs with the target are measured"
    pairs = 0 if plan.tree is None else plan.tree.rounds
    if not pairs:
        return f"{kept}, and nothing else."
    return (
        f"{kept}; beside them {count_text(pairs, 'background pair')} without the target, chosen "
        "privately."
    )


def _loud(plan: Plan) -> tuple[str, ...]:
    """Noise above the counts of the task marginals, unless the columns to blame are named."""
    # Their own warnings say more: which column is to blame and what makes it smaller.
    named = drowning(plan.domain, plan.queries).keys()
    task = [query.clique for query in plan.queries if query.pool == "task"]
    if all(named & set(clique) for clique in task):
        return ()
    large = large_error(plan)
    return (large,) if large else ()


RARE = 0.02
"""Part of the rows: where classes of more than that are lost in noise, it is said."""


def _rare(plan: Plan) -> tuple[str, ...]:
    """From how few rows on a class of several has less of them than noise; from public numbers.

    A pair's noise is spread evenly over the classes. Measured on generated tables (8,000 rows, 8 of
    30 columns, a class of 3%): where this part is 1% the AUC is .84, at 2% .73, at 6% that of a
    coin.
    """
    target = plan.schema[plan.task.target]
    pairs = [query for query in plan.queries if query.kind in ("pair", "joint")]
    # Where the noise of all classes is large that is said, and a rare class need not be.
    if target.is_number or target.level_count < 3 or not pairs or large_error(plan):
        return ()
    part = math.fsum(query.relative_error for query in pairs) / len(pairs) / target.size
    if not part > RARE:
        return ()
    rows = count_text(round(part * plan.n), "row")
    return (
        f"Of {target.name!r}, a class of fewer than about {rows} ({part:.0%}) has fewer rows than "
        "noise in a marginal with it, and a model learned from the synthetic rows will hardly find "
        "it. Whether there is such a class is not known before. A larger epsilon, fewer features "
        "or bins, or classes put together make the limit smaller.",
    )


LARGE_ERROR = 1.0
"""Mean expected l1 error of the task marginals, over n, above which the curator is told.

The noise then comes to more than there are rows.
"""


def large_error(plan: Plan) -> str:
    """What a large task error means and what lowers it; "" where it is not large.

    It says what follows from the plan alone: how much noise is drawn. How much of it fitting the
    model takes out again, and how much a prediction suffers, depends on rows not yet read.
    """
    error = figures(plan).mean_error
    if not error > LARGE_ERROR:
        return ""
    which = "" if plan.s_is_final else ", for the columns with most levels that may be chosen"
    return (
        f"The task error is large: added up over all that is measured of it, the noise in a "
        f"marginal with {plan.task.target_text} comes to {error_text(error)} of the number of rows "
        f"on average{which}. Relations may drown in it, weak ones first; what the synthetic rows "
        "still say about the target is not known before. It gets smaller with a larger epsilon, "
        "fewer features, fewer bins or levels, or more rows. A rehearsal on stand-in rows shows "
        "what may be left."
    )
