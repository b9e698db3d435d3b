"""Approved against done: every item that a committee decided on, beside what the run did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.planning.search.comparison import figures
from prism_core.text.numbers import count_text, delta_text, eps_text, sigma_text

if TYPE_CHECKING:
    from prism_core.bundle.certificate import Facts
    from prism_core.planning.choices import Stages
    from prism_core.planning.plan import Plan


@dataclass(frozen=True, kw_only=True)
class Item:
    """One line of the comparison.

    Attributes:
        what: is compared; a key of the template's words.
        approved: as the plan before the run says it.
        done: as the certificate says it.
        agrees: whether the run kept to it; None where it differs on the safe side:
            more noise than planned.
    """

    what: str
    approved: str
    done: str
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
        _same("people", f"{planned.n:,}", f"{final.n:,}"),
        _same("rows", f"{planned.rows:,}", f"{final.rows:,}"),
        _same("columns", f"{len(planned.schema.columns):,}", f"{len(final.schema.columns):,}"),
        _same("target", planned.task.target_text, final.task.target_text),
        Item(
            what="used",
            approved=_used(planned),
            done=_used(final),
            agrees=not planned.s_is_final or set(planned.s) == set(final.s),
        ),
        Item(
            what="epsilon",
            # With what learning before the plan cost, as the certificate has it.
            approved=eps_text(planned.guarantee.epsilon),
            done=eps_text(made.epsilon),
            agrees=made.epsilon <= planned.budget.epsilon * (1.0 + 1e-9),
        ),
        Item(
            what="delta",
            approved=delta_text(asked.delta),
            done=delta_text(made.delta),
            agrees=made.delta <= asked.delta * (1.0 + 1e-9),
        ),
        Item(
            what="noise",
            approved=sigma_text(asked.largest_sigma),
            done=sigma_text(made.largest_sigma),
            agrees=True if made.largest_sigma <= asked.largest_sigma * (1.0 + 1e-9) else None,
        ),
    )


def _same(what: str, approved: str, done: str) -> Item:
    return Item(what=what, approved=approved, done=done, agrees=approved == done)


def _used(plan: Plan) -> str:
    if plan.s_is_final:
        return count_text(len(plan.s), "column")
    return "chosen by the run" if plan.task.k is None else f"{plan.task.k:,}, chosen by the run"
