"""The plan of a comparator's run and its budget filter. No row is read, nothing is spent.

With the workload that AIM is asked to get right, and the zCDP filter beyond which nothing can be
taken.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from prism_core.comparators.methods import NEIGHBOURS, Comparator, MethodName, comparator
from prism_core.data.schema import schema_file
from prism_core.errors import BudgetError, PlanError, PrivacyError
from prism_core.planning.plan_warnings import LARGE_ERROR
from prism_core.planning.queries import expected_relative_error
from prism_core.planning.step_plan import ZcdpPlan, check_counts, check_people, delta_in_force
from prism_core.privacy.accountants.accountant import HEADROOM, Spent, accountant
from prism_core.privacy.accountants.conversions import rho_to_epsilon
from prism_core.privacy.contribution import ONE_ROW, Contribution
from prism_core.privacy.learning_charge import LearningCharge, amount_left
from prism_core.privacy.parameters import delta_value, epsilon_value, positive

if TYPE_CHECKING:
    from prism_core.data.schema.schema import Schema
    from prism_core.planning.tree.junction_tree import Clique
    from prism_core.privacy.events import Event, ExponentialEvent, GaussianEvent


@dataclass
class RhoFilter:
    """A zCDP filter: mechanisms are paid for before they run, and refused beyond the total.

    Amounts and the moment to stop may depend on what was released before: the composition of
    adaptively chosen mechanisms is rho-zCDP as long as the sum of their rho never exceeds rho
    (Feldman and Zrnic 2021: at every order the Rényi losses fill a filter of their own).

    Attributes:
        total: rho.
        events: what was paid for, in order.
    """

    total: float
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        positive(self.total, "rho")

    @property
    def spent(self) -> float:
        """Sum of rho of the events."""
        return math.fsum(event.rho for event in self.events)

    @property
    def left(self) -> float:
        """What may still be taken; rounded down."""
        rest = self.total - self.spent
        # The sum may have been rounded down by half a digit.
        return max(0.0, math.nextafter(rest, 0.0)) if rest > 0.0 else 0.0

    def pay(self, event: Event) -> None:
        """Write down a mechanism that is about to run.

        Raises:
            PrivacyError: when it does not fit; the mechanism must not run.
        """
        # Added up anew each time: a running sum of floats could creep past the total.
        if not math.fsum([*(known.rho for known in self.events), event.rho]) <= self.total:
            raise PrivacyError(
                "This step would spend more than the comparator was given; it was stopped.",
                field="rho",
            )
        self.events.append(event)


def gaussian(rho: float, label: str = "", contribution: Contribution = ONE_ROW) -> GaussianEvent:
    """The event that measures a marginal for at most rho, l2 sensitivity sqrt(2) for one row."""
    return accountant("zcdp", contribution).gaussian(rho, 0.0, label)


def exponential(rho: float, count: int, label: str = "") -> ExponentialEvent:
    """The event of `count` private choices for at most rho together."""
    return accountant("zcdp").exponential(rho, count, label)


def weighted_closure(schema: Schema, degree: int, max_cells: int) -> dict[Clique, float]:
    """AIM's candidates with their weights; a fact of the declared domain, no row is looked at.

    The workload W is all marginals of `degree` columns and at most `max_cells` cells; candidates
    are its downward closure, and w_r = sum over s in W of |r intersect s|. Every column is a
    candidate, also where no larger marginal with it is small enough.

    Source: AIM (arXiv 2201.12677), section 4.

    Args:
        schema: the declared domain.
        degree: columns of a marginal of the workload.
        max_cells: larger marginals are left out.
    """
    names = schema.names
    asked = [
        clique
        for clique in itertools.combinations(names, min(degree, len(names)))
        if schema.cells(clique) <= max_cells
    ]
    # The sum counts, for every column of r, the marginals of W that hold it.
    held = Counter(name for clique in asked for name in clique)
    closed: dict[Clique, None] = {(name,): None for name in names}
    for clique in asked:
        for size in range(2, len(clique) + 1):
            closed |= dict.fromkeys(itertools.combinations(clique, size))
    # At least 1: with 0 the score of a column that stands in no small marginal would always be 0.
    return {r: float(max(1, sum(held[name] for name in r))) for r in closed}


DEGREES = (2, 3)
"""Columns of a marginal of AIM's workload; the paper takes 3."""

WORKLOAD_CELLS = 10_000
"""Marginals with more cells are not in AIM's workload, as in its published program."""

TREE_CELLS = 2_000_000
"""Cells of the junction tree when the whole budget is used; a share of it before.

AIM's published program takes 80 MB of float64, ten million cells. On Adult at epsilon 1 trees ended
at about 85,000 cells in the runs looked at; how often the share binds before was not counted."""

MOST_CELLS = 20_000_000
"""Cells of all candidates together that are counted; they are held in memory."""

ROUNDS = 16
"""AIM is given 16 rounds a column, and takes fewer."""

MEASURING = 0.9
"""Part of a round of AIM for its measurement (alpha); the rest is for its choice."""


@dataclass(frozen=True, kw_only=True)
class ComparatorPlan(ZcdpPlan):
    """A run of a comparator: epsilon and delta are of the run, with what learning the domain cost.

    Neighbours replace one person.

    Attributes:
        method: which one.
        schema: the declared domain.
        degree: columns of AIM's workload; the others do not look at it.
        rows: synthetic rows to draw.

    Raises:
        BudgetError, PlanError, PrivacyError: naming what is allowed.
    """

    method: MethodName
    schema: Schema
    degree: int
    rows: int

    def __post_init__(self) -> None:
        comparator(self.method)
        epsilon_value(self.epsilon)
        delta_value(self.delta)
        check_counts(self.n, self.rows)
        if self.degree not in DEGREES:
            raise PlanError("degree must be 2 or 3.", field="degree")
        check_people(self.schema)
        if not self.rho > 0.0:
            raise BudgetError(
                "Learning the domain has used up this epsilon and delta; nothing is left for a "
                "comparator. Raise epsilon.",
                field="epsilon",
            )
        cells = sum(self.schema.cells(clique) for clique in self.candidates)
        if not cells <= MOST_CELLS:
            raise PlanError(
                f"The marginals that {self.about.title} chooses among have {cells:,} cells "
                f"together and at most {MOST_CELLS:,} are counted. Take degree 2, another method, "
                "or fewer columns or bins.",
                field="degree",
            )

    @property
    def about(self) -> Comparator:
        """The method in words."""
        return comparator(self.method)

    @cached_property
    def rho(self) -> float:
        """What may be spent under zCDP: (epsilon, delta) less what learning the domain cost."""
        return amount_left(accountant("zcdp"), self.epsilon, self.delta, self.schema.prior)

    @property
    def spent(self) -> Spent:
        """What is charged: all of rho, with epsilon stated at delta."""
        # All of rho, though a run may take less: how much is known only at its end.
        return Spent(epsilon=rho_to_epsilon(self.rho, self.delta), delta=self.delta, rho=self.rho)

    @property
    def owing(self) -> LearningCharge | None:
        """Learning the domain, which its epsilon holds."""
        return self.schema.prior

    @cached_property
    def weights(self) -> dict[Clique, float]:
        """What AIM chooses among, with the weights; data-free."""
        return weighted_closure(self.schema, self.degree, WORKLOAD_CELLS)

    @property
    def pairs(self) -> tuple[Clique, ...]:
        """What MST chooses among, in schema order; data-free."""
        names = self.schema.names
        pairs = ((u, v) for place, u in enumerate(names) for v in names[place + 1 :])
        # A larger one would fit no tree, whatever was chosen beside it.
        return tuple(pair for pair in pairs if self.schema.cells(pair) <= TREE_CELLS)

    @property
    def candidates(self) -> tuple[Clique, ...]:
        """All marginals that may be looked at beyond single columns."""
        if self.method == "aim":
            return tuple(self.weights)
        return self.pairs if self.method == "mst" else ()

    @cached_property
    def joins(self) -> int:
        """Pairs in MST's tree: columns less components of the graph of candidates; data-free."""
        from networkx.utils import UnionFind

        # Too large pairs may leave the columns in pieces, and each piece has a tree of its own.
        joined = UnionFind(self.schema.names)
        for pair in self.pairs:
            joined.union(*pair)
        return len(self.schema.names) - len(list(joined.to_sets()))

    @property
    def rounds(self) -> int:
        """T of AIM: rounds its first noise is made for."""
        return ROUNDS * len(self.schema.names)

    @property
    def parts(self) -> float:
        """What is shared out: rho, less a hair so that float sums of parts stay below it."""
        return self.rho * HEADROOM

    @property
    def one_way(self) -> float:
        """Rho of one column's measurement at the beginning."""
        columns = len(self.schema.names)
        if self.method == "aim":
            # What the first of AIM's rounds measures with, too.
            return MEASURING * self.parts / self.rounds
        # As published, MST gives a third each to columns, to the choice of pairs and to the pairs.
        return self.parts / (3.0 if self.method == "mst" else 1.0) / columns

    @property
    def events(self) -> tuple[Event, ...]:
        """Mechanisms that are known beforehand; the ledger keeps the rest of rho as a reserve."""
        found: list[Event] = list(self.first)
        if self.method == "mst" and self.joins:
            part = self.parts / 3.0
            found.append(exponential(part, self.joins, "choice of pairs"))
            label = "a pair, chosen at run time"
            pair = gaussian(part / self.joins, label, self.schema.contribution)
            # Which ones is not known yet; what each costs is.
            found += [pair] * self.joins
        return tuple(found)

    @property
    def first(self) -> tuple[GaussianEvent, ...]:
        """Every column by itself."""
        given = self.schema.contribution
        return tuple(gaussian(self.one_way, name, given) for name in self.schema.names)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; no fact about the rows but their number."""
        return {
            "method": self.method,
            "neighbours": NEIGHBOURS,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "rho": self.rho,
            "n": self.n,
            "degree": self.degree,
            "rows": self.rows,
            **self.above_limit_entry,
        }

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the curator; they follow from the plan alone."""
        found = self.about_budget
        # The fewest rows that these persons can have: beside them the noise weighs most.
        mass = self.schema.contribution.totals(self.n)[0]
        errors = [
            expected_relative_error(self.schema.size(name), event.sigma, mass)
            for name, event in zip(self.schema.names, self.first, strict=True)
        ]
        mean = math.fsum(errors) / len(errors)
        if mean > LARGE_ERROR:
            found += (
                f"The noise on a single column comes to {mean:.0%} of the number of rows on "
                "average, in the first round already. Raise epsilon, or declare fewer bins and "
                "levels.",
            )
        return found

    def document(self) -> dict[str, Any]:
        """See `StepPlan.document`."""
        return {"comparator": self.to_dict(), "schema": schema_file.to_dict(self.schema)}


def design_comparator(
    method: str,
    schema: Schema,
    n: int,
    epsilon: float,
    delta: float | None = None,
    *,
    degree: int = 3,
    rows: int | None = None,
    above_limit: float | None = None,
) -> ComparatorPlan:
    """The plan for a run of a comparator. Spends nothing and reads no row.

    Args:
        method: one of `COMPARATORS`.
        schema: the declared domain.
        n: training rows (persons); public.
        epsilon: of the run; replace-one neighbours, like a release.
        delta: likewise; 1/n^2 when None.
        degree: columns of AIM's workload, 2 or 3.
        rows: synthetic rows; n when None.
        above_limit: the workspace's maximum of epsilon that is exceeded on purpose, if one is.

    Raises:
        BudgetError, PlanError, PrivacyError: naming what is allowed.
    """
    return ComparatorPlan(
        method=comparator(method).name,
        schema=schema,
        n=n,
        epsilon=epsilon,
        delta=delta_in_force(delta, n),
        degree=degree,
        rows=n if rows is None else rows,
        above_limit=above_limit,
    )
