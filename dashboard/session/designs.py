"""Designs as they are typed: the plan's entries, and those of designs beside it."""

from __future__ import annotations

import copy
import itertools
import math
import re
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from prism_core.errors import BudgetError, PrismError
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.options import options_of
from prism_core.planning.wishes.targets import Target
from prism_core.planning.wishes.task import (
    AllocationRule,
    Budget,
    CoarsenRule,
    NumericRule,
    Regime,
    SelectionRule,
    Shares,
    Synthesis,
    Task,
    ThreeWayRule,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from prism_core.planning.brief import Brief
    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.privacy.accountants.accountant import AccountantName

# Not float() alone, which also reads inf, nan and 1_000.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")


def read_number(text: str) -> float:
    """The number that is typed, with a comma or a point; NaN for everything else.

    Two marks, as in 1.000,5 or 1,000.5, are refused: which of them is the decimal one differs
    from country to country.
    """
    found = text.strip()
    return float(found.replace(",", ".")) if _NUMBER.fullmatch(found) else math.nan


def number_text(value: float, typed: str) -> str:
    """The text for a number: as it was typed, as long as that still says this number."""
    said = read_number(typed)
    # A mistake stays on screen as it was typed, so that it can be corrected.
    if said == value or (math.isnan(said) and math.isnan(value)):
        return typed
    return "" if math.isnan(value) else f"{value:.10g}"


POOLS = ("selection", "choice", "task", "background")
"""Pools of the budget, from left to right on the bar of shares."""

NO_CHOICE: tuple[ThreeWayRule, ...] = ("auto", "none", "adaptive")
"""Rules whose choice is not paid from a pool of its own: adaptive rounds are paid from task."""

_revisions = itertools.count(1)


@dataclass
class BudgetEntries:
    """The budget as it is typed.

    Attributes:
        epsilon: as entered; may be unusable, and NaN where what was typed is no number.
        epsilon_typed: the text that was typed for it last; another epsilon may be set since.
        delta: text; empty means 1/n².
        tilt: of the allocation `tilted`, 0 to 1.
        background, selection, choice: shares of these pools; the task pool gets the rest, and
            what a pool that is not needed has.
        locks: shares of the whole budget that marginals are held at, by their columns.
        shares_rev: revision of the shares that Python made last; the bar answers to it. Drawn
            from one count for all designs, so that no two designs answer to the same one.
    """

    epsilon: float = 1.0
    delta: str = ""
    accountant: AccountantName = "zcdp"
    allocation: AllocationRule = "balanced"
    tilt: float = 0.5
    background: float = 0.20
    selection: float = 0.10
    choice: float = 0.05
    locks: dict[tuple[str, ...], float] = field(default_factory=dict)
    # Not compared, like the revision: 0.5 and 0,5 are one budget, and a copy equals what it copies.
    epsilon_typed: str = field(default="", compare=False)
    shares_rev: int = field(default_factory=_revisions.__next__, compare=False)

    @property
    def epsilon_text(self) -> str:
        """Epsilon as its text field shows it."""
        return number_text(self.epsilon, self.epsilon_typed)

    def type_epsilon(self, text: str) -> None:
        """Take what is typed into the text field of epsilon."""
        self.epsilon, self.epsilon_typed = read_number(text), text

    def budget(self, pools: Collection[str] = POOLS) -> Budget:
        """The entries as a budget.

        Args:
            pools: those that are in use; the task pool takes what the others have.

        Raises:
            BudgetError: naming the entry to correct.
        """
        if math.isnan(self.epsilon):
            raise BudgetError(
                "epsilon must be a number above 0, written as 0.5 or 0,5.", field="epsilon"
            )
        delta = None
        if self.delta.strip():
            try:
                delta = float(self.delta)
            except ValueError:
                raise BudgetError(
                    "delta must be a number such as 1e-9, or empty for 1/n².", field="delta"
                ) from None
        given = {name: getattr(self, name) for name in pools if name != "task"}
        if not all(0.0 <= share <= 1.0 for share in given.values()):
            raise BudgetError(
                "Every share of the budget must be a percentage from 0 to 100, such as 2.5 or 2,5.",
                field="shares",
            )
        if not sum(given.values()) < 1.0:
            raise BudgetError(
                "The pools together take the whole budget and leave nothing for the task. Lower "
                "one of them.",
                field="shares",
            )
        shares = Shares(**{**dict.fromkeys(POOLS, 0.0), **given, "task": 1.0 - sum(given.values())})
        return Budget(
            epsilon=self.epsilon,
            delta=delta,
            accountant=self.accountant,
            allocation=self.allocation,
            tilt=self.tilt,
            shares=shares,
            locks=tuple(
                Lock(columns=columns, share=share) for columns, share in self.locks.items()
            ),
        )

    def for_any_regime(self, pools: Collection[str]) -> Budget:
        """The entries as a budget that other regimes may use, too.

        Args:
            pools: those in use. A share of another one that is not usable, and cannot be seen, is
                the usual one.

        Raises:
            BudgetError: naming the entry to correct.
        """
        # What cannot be seen cannot be corrected, so it must not stand in the way.
        usual = {
            name: getattr(BudgetEntries, name)
            for name in POOLS
            if name not in pools and name != "task" and not 0.0 <= getattr(self, name) <= 1.0
        }
        return replace(self, **usual).budget()

    def share_out(self, **shares: float) -> None:
        """Take other shares of pools, so that the bar must show them."""
        for name, share in shares.items():
            setattr(self, name, share)
        self.shares_rev = next(_revisions)


@dataclass
class Entries:
    """One design as it is typed: everything but the data, the graph and the target.

    Attributes:
        coarsen: whether bins and groups of levels are found privately.
        joint: whether causes may be measured at once with the target where the noise allows it.
        together: causes said to act together; one alone counts for nothing yet.
        numeric_columns: numeric columns with a rule of their own; taken over from a file.
        weights: public importance of features, by name; 1 where absent. May be unusable.
        further: weights of the further targets, by name; the first target counts 1.
        rev: revision of the entries that are typed into tables. Drawn from one count, too: a
            table keeps what was typed for as long as its revision stays.
        planned: the brief of last time, and the plan or the mistake that came of it.
    """

    regime: Regime = "causal"
    k: int | None = None
    selection: SelectionRule = "greedy"
    three_way: ThreeWayRule = "auto"
    max_three_way: int = 40
    numeric_queries: NumericRule = "full"
    numeric_bins: int = Task.numeric_bins
    thresholds: int = Task.thresholds
    numeric_columns: dict[str, NumericRule] = field(default_factory=dict)
    coarsen: CoarsenRule = Task.coarsen
    joint: bool = True
    together: tuple[str, ...] = ()
    weights: dict[str, float] = field(default_factory=dict)
    further: dict[str, float] = field(default_factory=dict)
    budget: BudgetEntries = field(default_factory=BudgetEntries)
    synthesis: Synthesis = field(default_factory=Synthesis)
    rev: int = field(default_factory=_revisions.__next__, compare=False)
    # Kept with the entries and not in a cache: each design has a plan of its own, which goes with
    # it.
    planned: tuple[Brief, Plan | PrismError] | None = field(default=None, repr=False, compare=False)

    @property
    def pools(self) -> tuple[str, ...]:
        """Pools that are in use, in the order of `POOLS`."""
        unused = set()
        if self.regime != "predictive":
            unused.add("selection")
        if self.three_way in NO_CHOICE:
            unused.add("choice")
        return tuple(pool for pool in POOLS if pool not in unused)

    def task_for(self, target: str) -> Task:
        """The task as it is entered."""
        same: dict[str, Any] = {name: getattr(self, name) for name in _SAME}
        return Task(
            target=target,
            **same,
            joint="auto" if self.joint else "never",
            together=self.together if len(self.together) > 1 else (),
            numeric_columns={
                name: rule for name, rule in self.numeric_columns.items() if name != target
            },
            weights={
                name: weight
                for name, weight in self.weights.items()
                # Left out where it is 1, so that a weight that is typed and taken back leaves the
                # same task.
                if weight != 1.0 and (name != target or self.further)
            },
            further=tuple(
                Target(name=name, weight=weight)
                for name, weight in self.further.items()
                if name != target
            ),
        )

    def typed(self) -> dict[str, Any]:
        """All that is set here, to compare with later; not how it came about."""
        values = {item.name: getattr(self, item.name) for item in fields(Entries) if item.compare}
        # Deep, because dictionaries among the entries are changed in place later.
        return copy.deepcopy(values)

    def used_budget(self) -> Budget:
        """The budget as it is entered, for the pools in use."""
        return self.budget.budget(self.pools)

    def renew(self) -> None:
        """Forget what tables show as typed; they show the entries again."""
        self.rev = next(_revisions)

    def copy(self) -> Entries:
        """The same entries once more, free to be changed."""
        return Entries(**_fresh(self))

    def take(self, other: Entries) -> None:
        """Take over another design's entries."""
        for name, value in _fresh(other).items():
            setattr(self, name, value)


_SAME = tuple(
    item.name
    for item in fields(Entries)
    if (option := options_of(Task).get(item.name))
    and option.kind not in ("section", "sections", "texts")
    and item.name != "joint"  # a switch here, two words there
)
"""Options of the task that stand in both as they are."""


def from_values(task: Task, budget: Budget, synthesis: Synthesis) -> Entries:
    """Entries that say what these values say."""
    entries = BudgetEntries(
        epsilon=budget.epsilon,
        delta="" if budget.delta is None else f"{budget.delta:.12g}",
        accountant=budget.accountant,
        allocation=budget.allocation,
        tilt=budget.tilt,
        background=budget.shares.background,
        locks={lock.columns: lock.share for lock in budget.locks},
    )
    # A pool that was not in use keeps its default for when it is.
    if task.regime == "predictive":
        entries.selection = budget.shares.selection
    if task.three_way not in NO_CHOICE:
        entries.choice = budget.shares.choice
    return Entries(
        **{name: getattr(task, name) for name in _SAME},
        # A file may switch it off by either option; the page has one switch.
        joint=task.joint == "auto" and task.max_joint_cells > 0,
        together=task.together,
        numeric_columns=dict(task.numeric_columns),
        weights=dict(task.weights),
        budget=entries,
        synthesis=synthesis,
        further={target.name: target.weight for target in task.further},
    )


def _fresh(entries: Entries) -> dict[str, Any]:
    """Every entry, with mutable ones copied; another revision, so that a late message is lost."""
    values = {item.name: getattr(entries, item.name) for item in fields(Entries)}
    return values | {
        "rev": next(_revisions),
        "weights": dict(entries.weights),
        "numeric_columns": dict(entries.numeric_columns),
        "further": dict(entries.further),
        "budget": replace(
            entries.budget, locks=dict(entries.budget.locks), shares_rev=next(_revisions)
        ),
    }


PLAN = "A"
"""The letter of the plan."""

LETTERS = ("B", "C", "D", "E")
"""Letters of the designs beside it."""


@dataclass
class Designs:
    """The plan and designs beside it, as they are typed. They belong to one person's session.

    Attributes:
        plan: entries of the plan.
        others: of designs beside it, by letter.
        edited: letter of the design that the controls change.
        beside: letter of the design that the plan is compared with.
        name: typed to save the edited design by.
        saved: by name, in this session.
        shared: whether saved designs stand in a folder that others can use; on purpose only.
        folder: that folder, as typed.
        wish: error of the task marginals that is wished for, over n; as typed.
        answers: by letter: the last question about a wish, what it was asked of, value, words.
        allowed_above: the maximum of epsilon that she ticked may be exceeded.
        beta: chance that a bound fails.
        p_min: declared smallest share of a level.
        guess: somebody's guess before the release, 1 in so many.
    """

    plan: Entries = field(default_factory=Entries)
    others: dict[str, Entries] = field(default_factory=dict)
    edited: str = PLAN
    beside: str = LETTERS[0]
    name: str = ""
    saved: dict[str, Scenario] = field(default_factory=dict)
    shared: bool = False
    folder: str = ""
    wish: float = 0.02
    answers: dict[str, tuple[str, tuple[object, ...], Any, str]] = field(default_factory=dict)
    allowed_above: float | None = None
    beta: float = 0.05
    p_min: float | None = None
    guess: int = 20

    def entries(self, letter: str) -> Entries:
        """Entries of the plan, or of a design beside it."""
        return self.plan if letter == PLAN else self.others[letter]

    @property
    def edited_entries(self) -> Entries:
        """Entries of the design that the page Budget changes."""
        return self.entries(self.edited)

    @property
    def letters(self) -> tuple[str, ...]:
        """Letters in use, the plan's first."""
        return (PLAN, *sorted(self.others))

    @property
    def compared(self) -> str | None:
        """Letter of the design shown beside the edited one; None where the plan stands alone."""
        if not self.others:
            return None
        return self.beside if self.edited == PLAN else PLAN

    @property
    def next_letter(self) -> str | None:
        """The first letter that is free, or None when there are enough."""
        return next((letter for letter in LETTERS if letter not in self.others), None)

    def keep(self, entries: Entries) -> str:
        """Put a copy of some entries beside the plan; gives its letter.

        Raises:
            ValueError: when no letter is free.
        """
        letter = self.next_letter
        if letter is None:
            raise ValueError("There is no letter left for another design.")
        self.others[letter] = entries.copy()
        self.beside = letter
        return letter

    def drop(self, letter: str) -> None:
        """Forget a design."""
        del self.others[letter]
        # The letter will be another design's.
        self.answers.pop(letter, None)
        self.edited = PLAN
        self.beside = min(self.others, default=LETTERS[0])

    def swap(self, letter: str) -> None:
        """Make a design the plan; what was the plan takes its letter, so that nothing is lost."""
        before = self.plan.copy()
        self.plan.take(self.others[letter])
        self.others[letter] = before
        # An answer belongs to the entries that it was asked of, not to their letter.
        self.answers = {
            {PLAN: letter, letter: PLAN}.get(key, key): answer
            for key, answer in self.answers.items()
        }
        self.edited = PLAN


def design_name(letter: str) -> str:
    """A design as people read it."""
    return "A, the plan" if letter == PLAN else letter
