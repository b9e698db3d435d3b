"""The plan for learning a blanket: with what noise. No row is read, nothing is spent."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from prism_core.data.schema import schema_file
from prism_core.errors import BudgetError, TaskError
from prism_core.planning.step_plan import (
    ZcdpPlan,
    check_declared,
    check_people,
    check_persons,
    check_rows,
    delta_in_force,
)
from prism_core.privacy.accountants.accountant import HEADROOM, accountant
from prism_core.privacy.accountants.conversions import rho_to_epsilon
from prism_core.privacy.events import ExponentialEvent, event_dict
from prism_core.privacy.learning_charge import (
    LEARNING_LABEL,
    LearningCharge,
    amount_left,
    combined_charge,
)
from prism_core.privacy.parameters import about_budget, delta_value, epsilon_value
from prism_core.privacy.scores import conditional_association_sensitivity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.data.schema.schema import Schema

SHARE = 0.20
MEMBERS = 8
LEAST = 0.005
"""Least association beyond chance that is worth a member, however little noise there is."""
MAX_CELLS = 1_000_000
"""Cells of the largest table (X, Y, Z) that is counted."""
_POOR = 0.1


@dataclass(frozen=True, kw_only=True)
class GraphPlan(ZcdpPlan):
    """A plan for learning the blanket of a target; epsilon and delta are of the whole release.

    Attributes:
        schema: the declared domain.
        target: the column Y.
        share: of what is left of rho, for learning.
        members: most columns in the blanket; as many rounds are paid for.
        event: the rounds of the exponential mechanism.
        warnings: sentences for the curator.
    """

    schema: Schema
    target: str
    share: float
    members: int
    event: ExponentialEvent
    warnings: tuple[str, ...] = ()

    @property
    def candidates(self) -> tuple[str, ...]:
        """Every column but the target, in schema order."""
        return tuple(name for name in self.schema.names if name != self.target)

    @property
    def sensitivity(self) -> float:
        """Of every score, in units of R; see `privacy.scores.conditional_association`."""
        return conditional_association_sensitivity(self.n)

    @property
    def threshold(self) -> float:
        """The score of "nobody else": what the noise alone reaches among the candidates.

        The largest of m Gumbel variables of scale b = 2 sensitivity / epsilon lies around b ln m.
        So of m candidates without any association one is chosen with odds of about 1 to 1 a
        round at most, and a real one above the bar has odds in its favour.
        """
        scale = 2.0 * self.sensitivity / self.event.epsilon
        # By public facts alone, so "nobody else" costs no budget and moves with no row.
        return max(LEAST, scale * math.log(len(self.candidates)))

    def by_chance(self, name: str, given: Sequence[str]) -> float:
        """A bound on the expected R(X; Y | Z) of n independent rows. Data-free.

        For cell (x, y, z) the deviation from independence has a standard deviation of about
        sqrt(p_z p_x (1 - p_x) p_y (1 - p_y) / n) given z, and a mean size sqrt(2 / pi) of it. As
        sum_x sqrt(p_x (1 - p_x)) <= sqrt(|X| - 1) and sum_z sqrt(p_z) <= sqrt(|Z|), half the sum
        is at most sqrt((|X| - 1) (|Y| - 1) |Z| / (2 pi n)), whatever the margins.
        """
        size = self.schema.size
        strata = math.prod(size(z) for z in given)
        free = (size(name) - 1) * (size(self.target) - 1) * strata
        return math.sqrt(free / (2.0 * math.pi * self.n))

    @property
    def events(self) -> tuple[ExponentialEvent, ...]:
        """What the step spends."""
        return (self.event,)

    def prior(self, charge: int | None = None, receipt: str = "") -> LearningCharge:
        """What travels with the graph; a later plan deducts it.

        Args:
            charge: number of this step's charge in the ledger.
            receipt: of that charge.
        """
        return LearningCharge(
            events=self.events,
            delta=self.delta,
            plan=self.hash,
            charge=charge,
            # The cost holds for this declaration of people only; `design` compares it.
            person_id=self.schema.person_id,
            receipts=(receipt,) * len(self.events) if receipt else (),
        )

    @cached_property
    def left_epsilon(self) -> float:
        """Epsilon, at delta, of what a release planned with the graph may spend by itself."""
        prior = combined_charge(self.schema.prior, self.prior())
        rho = amount_left(accountant("zcdp"), self.epsilon, self.delta, prior)
        return rho_to_epsilon(rho, self.delta) if rho > 0.0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; holds no fact about the rows but their number."""
        return {
            "target": self.target,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "n": self.n,
            "share": self.share,
            "members": self.members,
            "sensitivity": self.sensitivity,
            "threshold": self.threshold,
            "events": [event_dict(event) for event in self.events],
            "warnings": list(self.warnings),
            **self.above_limit_entry,
        }

    def document(self) -> dict[str, Any]:
        """See `StepPlan.document`."""
        return {"plan": self.to_dict(), "schema": schema_file.to_dict(self.schema)}


def design_graph(
    schema: Schema,
    target: str,
    epsilon: float,
    delta: float | None,
    n: int,
    *,
    share: float = SHARE,
    members: int = MEMBERS,
    above_limit: float | None = None,
) -> GraphPlan:
    """The plan for learning the blanket of a target. Spends nothing and reads no row.

    Of the rho that (epsilon, delta) buys, less what learning the domain cost, `share` goes in
    equal parts to the rounds. `design` with the graph that comes out plans with the rest.

    Args:
        schema: the declared domain; may have been learned itself.
        target: the column whose blanket is wanted.
        epsilon: of the whole release, all learning included.
        delta: likewise; 1/n^2 when None.
        n: number of training rows (persons); public.
        share: of what is left of rho; above 0 and below 1.
        members: most columns in the blanket. Fewer candidates make fewer rounds.
        above_limit: the workspace's maximum of epsilon that is exceeded on purpose, if one is.

    Raises:
        BudgetError, TaskError, PrivacyError: naming the field and what is allowed.
    """
    _check(schema, target, epsilon, n, share, members)
    schema = schema.with_one_row()  # the score's proof is of one row a person
    # A delta that follows from n is checked, too: `delta_in_force` gives NaN where none does.
    delta = delta_value(delta_in_force(delta, n))
    total = amount_left(accountant("zcdp"), epsilon, delta, schema.prior)
    if not total > 0.0:
        raise BudgetError(
            "Learning the domain has used up the declared budget. Raise epsilon, or draw the "
            "graph from knowledge.",
            field="epsilon",
        )
    # More rounds than candidates could find nothing, and would make each noisier.
    rounds = min(members, len(schema.columns) - 1)
    event = accountant("zcdp").exponential(
        total * share * HEADROOM, rounds, f"{LEARNING_LABEL}the blanket of {target}"
    )
    plan = GraphPlan(
        schema=schema,
        target=target,
        epsilon=epsilon,
        delta=delta,
        n=n,
        share=share,
        members=rounds,
        event=event,
        above_limit=above_limit,
        warnings=about_budget(epsilon, delta, n, above_limit=above_limit),
    )
    if plan.threshold < _POOR:
        return plan
    warning = (
        f"Only columns whose association with {target} is above {plan.threshold:.2f} (of 1) stand "
        "out of the noise. Raise epsilon or the share, ask for fewer members, or draw the graph."
    )
    return replace(plan, warnings=(*plan.warnings, warning))


def _check(schema: Schema, target: str, epsilon: float, n: int, share: float, members: int) -> None:
    epsilon_value(epsilon)
    check_rows(n)
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0.0 < share < 1.0:
        raise BudgetError(
            "share must be a number above 0 and below 1, for example 0.2.", field="graph.share"
        )
    if isinstance(members, bool) or not isinstance(members, int) or members < 1:
        raise BudgetError("members must be a whole number above 0.", field="graph.members")
    check_declared(target, schema)
    if schema.size(target) < 2 or len(schema.columns) < 2:
        raise TaskError(
            f"The target {target!r} needs at least two levels, and another column.", field="target"
        )
    check_people(schema)
    check_persons(schema, n)
