"""Values that the protocol and the report print alike, so that one number reads one way.

They follow from a plan and from what the curator says. No row is read for them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.errors import ConfigError
from prism_core.explain.column_use import ColumnUse, column_uses, named
from prism_core.explain.meaning import FAMILY, Guess, Meaning
from prism_core.text.numbers import out_of
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.curator_statement import CuratorStatement
    from prism_core.rehearsal.estimates import Estimate

EXAMPLE = 10
"""The guess of the worked example: right 1 time in so many before."""

_MOST_ODDS = 1_000


@dataclass(frozen=True, kw_only=True)
class WorkedExample:
    """How many of 100 guesses are right before and, at most, after.

    Attributes:
        before_of_100: right guesses before.
        after_of_100: right guesses after, at most.
        odds_after: so many right guesses to those that were wrong before are the odds after; None
            where the factor is so large that they say nothing.
    """

    before_of_100: int
    after_of_100: int
    odds_after: float | None

    @property
    def wrong_of_100(self) -> int:
        """Wrong guesses before; right to wrong are the odds."""
        return 100 - self.before_of_100


@dataclass(frozen=True, kw_only=True)
class PaperValues:
    """What both papers print before their annex.

    Attributes:
        target: its name, or those of several.
        target_means: the description of a single one, "" where there is none.
        targets, used, open, context: names of columns by use.
        picked: how many of the open ones the run picks; None where the budget decides.
        uses: every column.
        sensitive: those that the curator named.
        knowledge: whether descriptions or a graph come from people, not from rows.
        drawn: whether a graph does.
        guess: the worked example.
        factor: by how much the odds about one person may shift.
        two, family: the same for two and for `FAMILY` people; None where nothing is promised.
        cube: `factor` as often as a family has people, where that is less than `family`.
    """

    target: str
    target_means: str
    targets: list[str]
    used: list[str]
    open: list[str]
    context: list[str]
    picked: int | None
    uses: tuple[ColumnUse, ...]
    sensitive: tuple[ColumnUse, ...]
    knowledge: bool
    drawn: bool
    guess: WorkedExample
    factor: float
    two: float | None
    family: float | None
    cube: float | None


def paper_values(plan: Plan, meant: Meaning, said: CuratorStatement) -> PaperValues:
    """The values of a plan.

    Args:
        plan: before or after its choices.
        meant: its `meaning`.
        said: by the curator.
    """
    uses = column_uses(plan)
    guess = meant.guess(EXAMPLE)
    family = meant.group(FAMILY)
    # Of a very large epsilon the power has no number of its own; the factor itself ends there, too.
    cube = math.exp(min(700.0, FAMILY * math.log(meant.factor)))
    drawn = plan.dag is not None and not plan.dag.learned
    return PaperValues(
        target=plan.task.target_text,
        # One description could not stand for several targets.
        target_means="" if plan.several else plan.schema[plan.task.target].description.rstrip("."),
        targets=named(uses, "target"),
        used=named(uses, "used"),
        open=named(uses, "open"),
        context=named(uses, "context"),
        picked=plan.task.k,
        uses=uses,
        sensitive=sensitive_columns(uses, said),
        knowledge=drawn or any(column.description for column in plan.schema.columns),
        drawn=drawn,
        guess=_example(guess, meant.factor),
        factor=meant.factor,
        two=meant.group(2),
        family=family,
        cube=cube if family is not None and cube < family < 1e6 else None,
    )


def _example(guess: Guess, factor: float) -> WorkedExample:
    before = out_of(guess.before, 100)
    after = before * factor
    return WorkedExample(
        before_of_100=before,
        after_of_100=out_of(guess.after, 100),
        odds_after=after if after < _MOST_ODDS else None,
    )


def sensitive_columns(uses: Iterable[ColumnUse], said: CuratorStatement) -> tuple[ColumnUse, ...]:
    """The columns that the curator calls sensitive, in their order.

    Raises:
        ConfigError: when one is no column.
    """
    by_name = {one.name: one for one in uses}
    for name in said.sensitive_names:
        if name not in by_name:
            raise ConfigError(
                f"Sensitive columns: {name!r} is no column. Write names of columns with commas "
                f"between, or none.{suggestion(name, by_name)}",
                field="statement.sensitive",
            )
    return tuple(by_name[name] for name in said.sensitive_names)


def headline(rehearsal: Iterable[Estimate], epsilon: float) -> Estimate | None:
    """The rehearsed score of the plan itself; None where its epsilon was not rehearsed.

    The plan is the first design of a rehearsal; the score is that without a shift.
    """
    return next(
        (
            one
            for one in rehearsal
            # Nearly equal: one of the two may have been typed, and the other computed.
            if one.shift == "none" and abs(one.epsilon - epsilon) < 1e-9 * epsilon
        ),
        None,
    )
