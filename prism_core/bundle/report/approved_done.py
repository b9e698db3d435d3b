"""Approved against done: every item that a committee decided on, beside what the run did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.planning.search.comparison import figures

if TYPE_CHECKING:
    from prism_core.bundle.certificate import Facts
    from prism_core.planning.choices import Stages
    from prism_core.planning.plan import Plan


@dataclass(frozen=True, kw_only=True)
class UsedColumns:
    """The columns that predict the target.

    Attributes:
        names: those that are settled.
        picked: how many the run picks, 0 where the budget decides; None where nothing is picked.
    """

    names: frozenset[str]
    picked: int | None = None


@dataclass(frozen=True, kw_only=True)
class Item:
    """One line of the comparison.

    Attributes:
        what: is compared; a key of the template's words.
        approved: in the plan before the run: a number, a text, or `UsedColumns`.
        done: in the certificate.
        agrees: whether the run kept to it; None where it differs on the safe side:
            more noise than planned.
    """

    what: str
    approved: object
    done: object
    agrees: bool | None


def approved_done(stages: Stages, facts: Facts) -> tuple[Item, ...]:
    """The comparison. It follows from the plan and the certificate alone; reads no row.

    The plan before its private choices is what a committee approves. Epsilon and delta agree where
    the run has no more of them than was planned. More noise is no breach: it may follow from what
    the run chose, and nobody is less protected by it.

    Args:
        stages: the plan on its way.
        facts: what the certificate says beyond it.
    """
    planned, final = stages.planned, stages.final
    asked, made = figures(planned), figures(final)
    approved = facts.planned_sha256 if facts.approval is None else facts.approval.plan_sha256
    return (
        Item(
            what="plan",
            approved=approved[:12],
            done=facts.planned_sha256[:12],
            agrees=approved == facts.planned_sha256,
        ),
        _same("people", planned.n, final.n),
        _same("rows", planned.rows, final.rows),
        _same("columns", len(planned.schema.columns), len(final.schema.columns)),
        _same("target", planned.task.target_names, final.task.target_names),
        Item(
            what="used",
            approved=_used(planned),
            done=_used(final),
            # Where S was to be chosen by the run, any choice is as approved.
            agrees=not planned.s_is_final or set(planned.s) == set(final.s),
        ),
        Item(
            what="epsilon",
            # With what learning before the plan cost, as the certificate has it.
            approved=planned.guarantee.epsilon,
            done=made.epsilon,
            # The last query of a plan uses up what is left, to the last digit of a float.
            agrees=made.epsilon <= planned.budget.epsilon * (1.0 + 1e-9),
        ),
        Item(
            what="delta",
            approved=asked.delta,
            done=made.delta,
            agrees=made.delta <= asked.delta * (1.0 + 1e-9),
        ),
        Item(
            what="noise",
            approved=asked.largest_sigma,
            done=made.largest_sigma,
            agrees=True if made.largest_sigma <= asked.largest_sigma * (1.0 + 1e-9) else None,
        ),
    )


def _same(what: str, approved: object, done: object) -> Item:
    return Item(what=what, approved=approved, done=done, agrees=approved == done)


def _used(plan: Plan) -> UsedColumns:
    if plan.s_is_final:
        return UsedColumns(names=frozenset(plan.s))
    return UsedColumns(names=frozenset(), picked=plan.task.k or 0)
