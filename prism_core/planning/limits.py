"""What a release does not protect, said for its own plan. Sentences are Markdown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.data.looks import summary
from prism_core.markdown import plain
from prism_core.planning.words import up
from prism_core.privacy.trade_off import loss_bound

if TYPE_CHECKING:
    from prism_core.data.schema import Schema
    from prism_core.planning.plan import Plan
    from prism_core.privacy.trade_off import TradeOff

FAMILY = 3
"""Size of the group that stands for a family."""


@dataclass(frozen=True, kw_only=True)
class Limit:
    """One thing that is not protected: a heading and a sentence or two."""

    title: str
    text: str


def limits(plan: Plan, trade: TradeOff) -> tuple[Limit, ...]:
    """What a plan's epsilon does not cover. Reads no row."""
    return (
        Limit(title="Groups and families", text=_group(plan, trade)),
        Limit(
            title="What holds for people in general",
            text="If the table shows that people of a certain kind have a certain outcome more "
            "often, everybody can apply this to anybody of that kind, in the table or not. "
            f"Showing such relations with {plain(plan.task.target_text)} is the purpose of the "
            "release.",
        ),
        Limit(
            title="What is known already",
            text="Facts about a person that are public or known to others stay known.",
        ),
        Limit(title="People with several rows", text=_rows(plan)),
        Limit(title="The description of the columns", text=_schema(plan)),
        Limit(
            title="The fact of the release",
            text=f"That a table of {plan.n:,} people exists, what its columns are, what is "
            "predicted from what, and epsilon itself are public. Who the people are is protected "
            "only as far as every row is: each could be somebody else's.",
        ),
        Limit(
            title="Numbers shown to the curator",
            text="Comparisons with real rows kept aside are outside epsilon. They are for "
            "the curator's eyes; handing them on, or choosing among releases by them, tells about "
            "the rows.",
        ),
        Limit(
            title="Other releases",
            text="Every further release from the same people adds to the loss, and so did "
            "earlier ones; the ledger bounds the sum. Releases made elsewhere are not in it.",
        ),
    )


def _group(plan: Plan, trade: TradeOff) -> str:
    """Under rho-zCDP a group of k has k^2 rho (Bun and Steinke 2016, Proposition 1.9)."""
    text = "The figures are for one person. For several people together they are larger"
    if trade.failing > 0.0:
        return f"{text}; for families, wards or hospitals nothing is promised."
    factor = math.exp(min(300.0, loss_bound(FAMILY**2 * trade.rho, 0.0, plan.delta)))
    shown = up(factor, 2) if factor < 1e6 else "more than a million"
    return (
        f"{text}: the odds about a family of {FAMILY} may shift by a factor of up to "
        f"{shown}. Wards or hospitals are not protected as groups."
    )


def _rows(plan: Plan) -> str:
    schema = plan.schema
    if schema.person_id is not None:
        return (
            f"One row for every value of {plain(schema.person_id)} is kept, so that a person "
            "counts once. Somebody with two values in the table counts twice and is protected less."
        )
    if schema.one_row_per_person:
        return (
            "It is declared that every person has exactly one row. If somebody has more, she is "
            "protected less, as a group of that many people is; the program cannot check this."
        )
    return "It is not declared yet how rows and people relate; the release needs it."


def _schema(plan: Plan) -> str:
    schema = plan.schema
    if schema.provenance == "private rows":
        return (
            "**The levels and bounds of the columns were taken from the private rows, and no "
            "epsilon covers that:** one person's rare value may show in them, whatever this page "
            f"says.{_opened(schema)}"
        )
    if schema.provenance == "dp":
        return (
            "Bounds or levels were learned with a part of the budget, which is in these figures."
            f"{_opened(schema)}"
        )
    return (
        f"Levels and bounds are public: {plain(schema.provenance_text)}. They are taken to say "
        f"nothing about any one person, which the program cannot check.{_opened(schema)}"
    )


def _opened(schema: Schema) -> str:
    """That the rows were opened before the plan; empty where nothing opened them."""
    return f" **{summary(schema.looks)}**" if schema.looks else ""
