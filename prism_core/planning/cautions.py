"""What the curator and the committee should know about a plan: the one place that makes them.

They follow from public facts and are part of the plan (`Plan.warnings`), so every door shows the
same ones, before anything is charged, and so do protocol, certificate, report and data sheet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.planning.adaptive import NOISE_LIMIT
from prism_core.planning.advice import large_error
from prism_core.planning.locks import lock_warnings, unused_warning
from prism_core.planning.wide import crowded, drowning
from prism_core.planning.words import count_text
from prism_core.privacy.cautions import about_budget

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prism_core.planning.numeric import Products
    from prism_core.planning.plan import Plan, Pool


def cautions(plan: Plan, shares: Mapping[Pool, float], squares: Products) -> tuple[str, ...]:
    """Every sentence, the most general first. Spends nothing and reads no row.

    Args:
        plan: without warnings.
        shares: of the pools whose marginals are all known.
        squares: products of two features, and how many are left out.
    """
    return (
        *about_budget(
            plan.budget.epsilon, plan.delta, plan.n, above_limit=plan.budget.above_limit
        ),
        *_idle_locks(plan, shares), *_not_followed(plan), *squares.warnings,
        *crowded(plan.schema, plan.queries), *_loud(plan),
    )  # fmt: skip


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
    if any(query.kind == "joint" for query in plan.queries):
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
    if any(query.kind == "joint" for query in plan.queries):
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
    named = drowning(plan.schema, plan.queries).keys()
    task = [query.clique for query in plan.queries if query.pool == "task"]
    if all(named & set(clique) for clique in task):
        return ()
    large = large_error(plan)
    return (large,) if large else ()
