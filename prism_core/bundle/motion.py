"""The motion: the half page on which a committee decides, and the words of both papers.

What is asked, what yes and no lead to, one worked example of the risk, the benefit, what is not
protected. It follows from the plan, public rehearsals and the ledger; no row is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.privacy.events import failure
from prism_core.text.markdown import plain
from prism_core.text.numbers import eps_text, left_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.explain.meaning import Guess, Meaning
    from prism_core.planning.plan import Plan
    from prism_core.privacy.ledger import Balance
    from prism_core.privacy.ledger.charging import Owed
    from prism_core.rehearsal.estimates import Estimate

EXAMPLE = 10
"""The belief of the worked example: 1 in so many."""

DRAWN = (2, 5, 10, 20, 100)
"""The beliefs in the chart: 1 in so many."""

TERMS: tuple[tuple[str, str], ...] = (
    (
        "Privacy budget (epsilon, ε)",
        "how far a release may shift what anybody believes about one person; smaller protects more",
    ),
    ("Delta (δ)", "the chance that this bound fails; here far below one in the number of people"),
    ("Target (Y)", "the column that models learn to predict from the synthetic rows"),
    ("Protected columns (S)", "the columns whose relation to the target is kept"),
    (
        "Direct causes (parents)",
        "the columns with an arrow into the target in the graph",
    ),
    (
        "Causes, effects and co-causes (Markov blanket)",
        "the columns that leave the others nothing to add about the target",
    ),
    ("Table of counts (marginal)", "how many people have each combination of a few columns"),
    ("Noise (sigma, σ)", "the usual size of the chance number that is added to a count, in people"),
    (
        "Privacy loss added up (rho, zCDP)",
        "the unit in which the losses of several steps are added before they become epsilon",
    ),
    (
        "Model of the counts (Private-PGM)",
        "the distribution that agrees best with the noisy counts",
    ),
    (
        "Columns modelled together (clique, junction tree)",
        "groups of columns that the model holds jointly, and how the groups hang together",
    ),
    (
        "Links between other columns (spanning forest)",
        "pairs of columns that are counted so that the rest of the table stays plausible",
    ),
    ("Ledger", "the record of everything that was ever spent on the same people's data"),
    ("Ranking score (AUC)", "0.5 is guessing, 1 is perfect"),
)
"""Words that only an expert knows, the plain name first."""


@dataclass(frozen=True, kw_only=True)
class Motion:
    """What a committee is asked.

    Attributes:
        asked: what is put to the vote.
        yes, no: what either leads to.
        risk: one worked example.
        benefit: what rehearsals on public rows say of the use.
        uncovered: what no epsilon covers, a few words each.
        guesses: beliefs about one person for the chart.
    """

    asked: str
    yes: str
    no: str
    risk: str
    benefit: str
    uncovered: tuple[str, ...]
    guesses: tuple[Guess, ...]


def motion(
    plan: Plan,
    found: Meaning,
    *,
    purpose: str = "",
    balance: Balance | None = None,
    owed: Owed | None = None,
    rehearsed: Sequence[Estimate] = (),
) -> Motion:
    """The motion on a plan. Reads no row, spends nothing.

    Args:
        plan: what would be run.
        found: what its epsilon means.
        purpose: in the curator's words.
        balance: of the asset now, None where it has none yet.
        owed: learning that is charged with the release.
        rehearsed: figures of rehearsals on public rows.
    """
    why = f" Purpose: {plain(purpose)}." if purpose else " **The purpose is not given yet.**"
    return Motion(
        asked=f"To publish {plan.rows:,} invented rows with {len(plan.schema.columns)} columns. "
        f"They are made from the data of {plan.n:,} people, for predicting "
        f"{plain(plan.task.target_text)}.{why.rstrip('.')}.".replace("**.", "**"),
        yes=_yes(plan, balance, owed),
        no="Nothing is spent. No row has been read for this paper.",
        risk=example(found, plan),
        benefit=usefulness(rehearsed, plan.budget.epsilon),
        uncovered=tuple(limit.title for limit in found.limits),
        guesses=drawn(found),
    )


def _yes(plan: Plan, balance: Balance | None, owed: Owed | None) -> str:
    price = plan.price.with_owed(owed)
    text = f"Epsilon {eps_text(price.spent.epsilon)} is spent before the first count is made"
    if balance is None:
        text += ", of a data asset that is not named yet"
    else:
        after = balance.after(price.spent.rho, failure(price.events))
        text += (
            f". Of the lifetime budget of {balance.asset.epsilon:g}, room for one more release of "
            f"{left_text(after.left_epsilon)} stays"
        )
    return f"{text}. What is published cannot be called back."


def example(found: Meaning, plan: Plan) -> str:
    """One person, what somebody believed before, what they may believe after."""
    guess = found.guess(EXAMPLE)
    target = plain(plan.task.target_text)
    return (
        "Somebody knows one person in the table and thinks, with a chance of "
        f"{guess.before_words}, that a certain value of {target} is that person's. With the "
        f"published rows that belief can be right at most {guess.after_words}."
    )


def drawn(found: Meaning) -> tuple[Guess, ...]:
    """The beliefs of the chart."""
    return tuple(found.guess(many) for many in DRAWN)


def usefulness(rehearsed: Sequence[Estimate], epsilon: float) -> str:
    """What rehearsals at this epsilon say, with the interval; that there are none, else."""
    known = [one for one in rehearsed if one.shift == "none"]
    if not known:
        return (
            "Not rehearsed: how well the rows would serve is not known. A rehearsal on invented "
            "or public rows costs nothing."
        )
    one = min(known, key=lambda each: abs(each.epsilon - epsilon))
    half = "" if one.half is None else f" ({one.mean - one.half:.3f} to {one.mean + one.half:.3f})"
    return (
        f"In {one.runs} rehearsals on rows to try it on, at epsilon {one.epsilon:g}, a model that "
        f"learned from the synthetic rows would reach an {one.unit} of {one.mean:.3f}{half}. "
        f"Without noise it would reach {one.ceiling:.3f}."
    )
