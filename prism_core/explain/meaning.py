"""Meaning of a plan's epsilon, for people who decide and need not know the theory.

Three questions: how far may a release shift somebody's guess about one person, how well can a test
tell whether a person's row is in the table, and what is not protected. Everything follows from the
plan's events, composed with what learning before it cost; no row is read. Sentences on what is not
protected are Markdown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from prism_core.data.schema.looks import summary
from prism_core.errors import BudgetError
from prism_core.explain.deployments import DEPLOYMENTS, NOT_COMPARABLE
from prism_core.privacy.accountants.trade_off_bound import (
    TradeOff,
    loss_bound,
    only_counts,
    trade_off,
)
from prism_core.text import documents
from prism_core.text.markdown import plain
from prism_core.text.numbers import (
    delta_text,
    eps_text,
    factor_text,
    one_in,
    out_of,
    rho_text,
    seldom,
)

if TYPE_CHECKING:
    from prism_core.data.schema.schema import Schema
    from prism_core.planning.plan import Plan

FAMILY = 3
"""Size of the group that stands for a family."""


@dataclass(frozen=True, kw_only=True)
class NotProtected:
    """One thing that is not protected: a heading and a sentence or two."""

    title: str
    text: str


def not_protected(plan: Plan, trade: TradeOff) -> tuple[NotProtected, ...]:
    """What a plan's epsilon does not cover. Reads no row."""
    return (
        NotProtected(title="Groups and families", text=_group(plan, trade)),
        NotProtected(
            title="What holds for people in general",
            text="If the table shows that people of a certain kind have a certain outcome more "
            "often, everybody can apply this to anybody of that kind, in the table or not. "
            f"Showing such relations with {plain(plan.task.target_text)} is the purpose of the "
            "release.",
        ),
        NotProtected(
            title="What is known already",
            text="Facts about a person that are public or known to others stay known.",
        ),
        NotProtected(title="People with several rows", text=_rows(plan)),
        NotProtected(title="The description of the columns", text=_schema(plan)),
        NotProtected(
            title="The fact of the release",
            text=f"That a table of {plan.n:,} people exists, what its columns are, what is "
            "predicted from what, and epsilon itself are public. Who the people are is protected "
            "only as far as every row is: each could be somebody else's.",
        ),
        NotProtected(
            title="Numbers shown to the curator",
            text="Comparisons with real rows kept aside are outside epsilon. They are for "
            "the curator's eyes; handing them on, or choosing among releases by them, tells about "
            "the rows.",
        ),
        NotProtected(
            title="Other releases",
            text="Every further release from the same people adds to the loss, and so did "
            "earlier ones; the ledger bounds the sum. Releases made elsewhere are not in it.",
        ),
    )


def _group(plan: Plan, trade: TradeOff) -> str:
    text = "The figures are for one person. For several people together they are larger"
    factor = group_factor(trade, FAMILY, plan.delta)
    if factor is None:
        return f"{text}; for families, wards or hospitals nothing is promised."
    return (
        f"{text}: the odds about a family of {FAMILY} may shift by a factor of up to "
        f"{factor_text(factor)}. Wards or hospitals are not protected as groups."
    )


def group_factor(trade: TradeOff, people: int, delta: float) -> float | None:
    """By how much the odds about a group may shift at most; None where nothing is promised.

    Under rho-zCDP a group of k has k^2 rho (Bun and Steinke 2016, Proposition 1.9). The chance of
    failure stays delta for the whole group, so the factor is more than the k-th power of one
    person's: k^2 rho + 2 k sqrt(rho ln(1/delta)) > k (rho + 2 sqrt(rho ln(1/delta))).
    """
    # rho bounds all but this chance, and how that grows with a group is not proven here.
    if trade.failing > 0.0:
        return None
    # exp overflows from 710 on.
    return math.exp(min(700.0, loss_bound(people**2 * trade.rho, 0.0, delta))) * (1.0 + 1e-12)


def _rows(plan: Plan) -> str:
    schema = plan.schema
    return f"{_kept_rows(schema)}{rows_learned_text(schema)}"


def rows_learned_text(schema: Schema) -> str:
    """That rows per person were learned, as a sentence that follows another; else nothing."""
    if not schema.rows_learned:
        return ""
    return " How many rows persons have was counted with noise, for a part of the budget."


def _kept_rows(schema: Schema) -> str:
    if not schema.contribution.single:
        return (
            f"Up to {schema.max_rows} rows for every value of {plain(schema.person_id or '')} are "
            "used, and all of a person's rows are protected together, those that are not used, "
            f"too. {weighting_text(schema)} Synthetic rows are not linked into persons. Somebody "
            "with two values in the table counts twice and is protected less."
        )
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


def weighting_text(schema: Schema) -> str:
    """Which population synthetic rows speak for, where people have several rows."""
    if schema.contribution.shared:
        return "Every person weighs one, so the synthetic rows speak for people."
    return "Every row that is used weighs one, so the synthetic rows speak for rows."


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


RATES = (0.001, 0.01, 0.05)
"""Rates of false alarms at which a test's gain is shown."""

CURVE = (0.0, *(10.0 ** (step / 10.0) for step in range(-40, 1)))
"""Rates of false alarms at which the curve is drawn, from 1 in 10,000 on."""

GUESSES = (2, 5, 10, 20, 50, 100, 1_000)
"""Guesses before the release, as 1 in N."""

WARNINGS = "Warnings of this plan"
"""Over them on every paper."""


@dataclass(frozen=True, kw_only=True)
class Guess:
    """What somebody thinks about one person, before and after the release.

    Attributes:
        one_in: the guess before is right 1 time in so many.
        after: chance of being right after, at most.
    """

    one_in: int
    after: float

    @property
    def before(self) -> float:
        """Chance of being right before."""
        return 1.0 / self.one_in

    @property
    def people(self) -> int:
        """A round number of people for saying both in."""
        # The hair less keeps 1 in 1,000 at 1,000 people where the logarithm comes out above 3.
        return max(100, 10 ** math.ceil(math.log10(self.one_in) - 1e-9))

    @property
    def before_words(self) -> str:
        """The guess before."""
        return f"1 in {self.one_in:,}"

    @property
    def after_words(self) -> str:
        """The guess after, at most."""
        return one_in(self.after)

    @property
    def sentence(self) -> str:
        """Both, in chances and in people."""
        before = out_of(self.before, self.people)
        return (
            f"If a guess was right {self.before_words} before, it is right at most "
            f"{self.after_words} after: of {self.people:,} such guesses, "
            f"{before:,} {'was' if before == 1 else 'were'} right before, and at most "
            f"{out_of(self.after, self.people):,} are after."
        )


@dataclass(frozen=True, kw_only=True)
class Gain:
    """What a membership test can reach.

    Attributes:
        rate: of false alarms.
        power: true positives, at most.
    """

    rate: float
    power: float

    @property
    def sentence(self) -> str:
        """The same in people."""
        # So many that the false alarms come to ten people or more.
        people = 1_000 if self.rate >= 0.01 else 10_000
        return (
            f"A test that wrongly points at {out_of(self.rate, people):,} of {people:,} people who "
            f"are not in the table points at no more than {out_of(self.power, people):,} of "
            f"{people:,} who are."
        )


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """What a plan's epsilon means.

    Attributes:
        epsilon, delta: the guarantee, with what learning before the plan cost.
        learned: the part of epsilon that was spent on learning, by itself; None without any.
        target: the column to be predicted.
        n: people in the table.
        unit: what is protected.
        loss: the privacy loss that is passed with probability `delta` at most.
        trade: the trade-off of a membership test.
        guesses: odds before and after.
        tests: power at rates of false alarms.
        curve: the same at many rates, for drawing.
        limits: what is not protected.
        warnings: of the plan.
    """

    epsilon: float
    delta: float
    learned: float | None
    target: str
    n: int
    unit: str
    loss: float
    trade: TradeOff
    guesses: tuple[Guess, ...]
    tests: tuple[Gain, ...]
    curve: tuple[Gain, ...]
    limits: tuple[NotProtected, ...]
    warnings: tuple[str, ...] = ()

    @property
    def factor(self) -> float:
        """By how much the odds may shift, at most."""
        # exp overflows from 710 on. Rounded up, as it is an upper bound.
        return math.exp(min(self.loss, 700.0)) * (1.0 + 1e-12)

    def guess(self, one_in: int) -> Guess:
        """The guess that is right 1 time in so many before, and how often it is right after.

        Raises:
            BudgetError: unless `one_in` is a whole number from 2 to a million.
        """
        if isinstance(one_in, bool) or not isinstance(one_in, int) or not 2 <= one_in <= 10**6:
            raise BudgetError("A guess must be 1 in 2 to 1 in 1,000,000.", field="guess")
        return Guess(one_in=one_in, after=after(1.0 / one_in, self.loss))

    def group(self, people: int) -> float | None:
        """By how much the odds about so many people may shift; see `group_factor`."""
        return group_factor(self.trade, people, self.delta)

    @property
    def claim(self) -> str:
        """The guarantee in one sentence."""
        return (
            f"Whatever somebody knows about everybody else, the odds of a guess about one person "
            f"shift by a factor of at most {factor_text(self.factor)}, but for a chance of "
            f"{seldom(self.delta)}."
        )

    @property
    def basis(self) -> str:
        """What the figures were computed from."""
        spent = (
            "from the composed privacy loss distribution of all steps"
            if self.trade.exact
            else "from the zCDP of all steps"
        )
        learned = "" if self.learned is None else ", with what learning before it has cost"
        return (
            f"Computed {spent} of this plan{learned} (ρ = {rho_text(self.trade.rho)}), not from "
            "epsilon alone, and rounded so that the truth is never worse. In the terms of the "
            f"theory: (ε, δ) = ({eps_text(self.epsilon)}, {delta_text(self.delta)}), neighbours "
            "replace one person."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "learned_epsilon": self.learned,
            "rho": self.trade.rho,
            "exact": self.trade.exact,
            "unit": self.unit,
            "odds_factor": self.factor,
            "guesses": [{"before": g.before, "after_at_most": g.after} for g in self.guesses],
            "tests": [
                {"false_alarms": test.rate, "true_positives_at_most": test.power}
                for test in self.tests
            ],
            "not_protected": [{"title": each.title, "text": each.text} for each in self.limits],
            **({"warnings": list(self.warnings)} if self.warnings else {}),
        }

    def to_markdown(self, *, stamp: str = "") -> str:
        """The text for a committee.

        Args:
            stamp: of the run it goes with; a rehearsal says that it protects nobody.
        """
        return documents.render(
            "meaning.md",
            meaning=self,
            rehearsal=stamp.startswith("rehearsal"),
            warnings=WARNINGS,
            deployments=DEPLOYMENTS,
            not_comparable=NOT_COMPARABLE,
        )


def meaning(plan: Plan, *, exact: bool | None = None) -> Meaning:
    """What the epsilon of a plan means. Reads no row, spends nothing.

    Args:
        plan: the plan, before or after its choices were made.
        exact: compose privacy loss distributions for the membership test, where the plan's noise
            is fixed beforehand; else zCDP bounds it. Default: where the plan's accountant did so
            anyway.

    Raises:
        BudgetError: when `exact` needs the package dp-accounting and it is not installed.
    """
    sharp = plan.accountant.fixed_only if exact is None else exact
    prior = plan.prior
    # What learning cost is of the same people, so it counts against a guess, too.
    events = plan.events if prior is None else (*prior.events, *plan.events)
    trade = trade_off(events, exact=sharp and fixed(plan))
    loss = loss_bound(trade.rho, trade.failing, plan.delta)
    rates = (*RATES, *CURVE)
    gains = tuple(
        Gain(rate=rate, power=power)
        for rate, power in zip(rates, trade.powers(rates).tolist(), strict=True)
    )
    found = Meaning(
        epsilon=plan.guarantee.epsilon,
        delta=plan.delta,
        n=plan.n,
        unit=_unit(plan),
        learned=None if prior is None else prior.spent.epsilon,
        target=plan.task.target_text,
        loss=loss,
        trade=trade,
        guesses=(),
        limits=not_protected(plan, trade),
        tests=gains[: len(RATES)],
        curve=gains[len(RATES) :],
        warnings=plan.warnings,
    )
    return replace(found, guesses=tuple(found.guess(many) for many in GUESSES))


def fixed(plan: Plan) -> bool:
    """Whether all noise is fixed beforehand, so that loss distributions may be composed.

    What follows from noisy answers (choices, a learned domain or graph) sets later noise, and
    composing distributions is proven here for noise that does not depend on them.
    """
    return plan.prior is None and only_counts(plan.events)


def after(before: float, loss: float) -> float:
    """Chance of a guess after a release whose privacy loss is at most `loss`; rounded up.

    Bayes: the odds are multiplied by P(release | guess true) / P(release | guess false), at
    most e^loss. It holds for guesses between sets of rows, too: divergences are quasi-convex, so
    mixtures of neighbours are no further apart than the worst pair.
    """
    # From such a loss on the chance is 1 to the last digit; exp of more overflows.
    odds = before / (1.0 - before) * math.exp(min(loss, 700.0))
    return min(1.0, odds / (1.0 + odds) * (1.0 + 1e-12))


def _unit(plan: Plan) -> str:
    if not plan.contribution.single:
        return "one person, by the person ID, with all rows: whatever they say"
    if plan.schema.person_id is not None:
        return "one person, by the person ID: whatever the person's row says"
    return "one person, who has one row: whatever it says"
