"""Interactions: a private look for features that act together on Y, where no graph names them.

Of a parity of three columns neither a pair with Y nor three of them tell anything, so rounds that
add one or two columns never find it. A small share of the budget looks through sets of up to four
features for what the pairs get wrong of them all at once. A part of the task pool is kept back: it
measures the set that was found with Y; where none was, it measures the pairs with Y again, which
comes to the same noise as if they had had it from the start.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.planning.queries import expected_relative_error
from prism_core.privacy.scores import interaction_sensitivity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.data.schema.column import Column
    from prism_core.planning.frame import Frame
    from prism_core.planning.tree.junction_tree import Clique
    from prism_core.privacy.events import ExponentialEvent

LOOK_SHARE = 0.02
"""Part of the whole budget for the look."""

KEPT_BACK = 0.5
"""Part of what the pairs with Y have that waits for what the look finds."""

SET_LIMIT = 0.2
"""Largest expected l1 error of a set measured with Y, over n."""

MOST_SETS = 6_000
"""Sets that are looked through: each is counted once. Of more the larger ones are left out."""

ORDERS = (2, 3, 4)
"""Features in a set. Those of two are left to the rounds where there are any."""

FALSE_FINDS = 0.05
"""Chance, at most, that the draw takes a set of which the pairs get nothing wrong."""


@dataclass(frozen=True, kw_only=True)
class InteractionChoice:
    """A set of features to be found privately at run time, or none.

    Attributes:
        candidates: sets of features of S.
        sensitivity: of the score, in counts.
        bar: what a set's score has to come to, in counts: the score of finding nothing.
        choice_share: of the whole budget, for the look.
        measure_share: of the whole budget, for the set found, or the pairs again.
        amount: rho of that measurement.
        sigma: its noise, in counts.
        event: the look.
    """

    candidates: tuple[Clique, ...]
    sensitivity: float
    bar: float
    choice_share: float
    measure_share: float
    amount: float
    sigma: float
    event: ExponentialEvent

    def to_dict(self) -> dict[str, Any]:
        """Plain values for the plan's list of choices."""
        return {
            "name": "features that act together",
            "rounds": 1,
            "candidates": len(self.candidates),
            "epsilon_per_round": self.event.epsilon,
            "sensitivity": self.sensitivity,
            "bar": self.bar,
            "share": self.choice_share,
            "measure_share": self.measure_share,
            "sigma": self.sigma,
        }


def look_for(
    frame: Frame, s: Sequence[str], *, rounds: bool, share: float
) -> InteractionChoice | None:
    """The look of a plan; None where it is not allowed or no set could be measured.

    Args:
        frame: the wishes.
        s: the features S.
        rounds: whether adaptive rounds come after it.
        share: of the whole budget for the pairs with Y, the look and what it finds.
    """
    if not may_look(frame):
        return None
    kept = (share - LOOK_SHARE) * KEPT_BACK
    # A task pool of less than the look's own share has nothing left to keep back.
    if not kept > 0.0:
        return None
    amount = frame.total * kept
    sigma = frame.accountant.gaussian(amount, 0.0, "").sigma
    candidates = _sets(frame, s, sigma, ORDERS[1:] if rounds else ORDERS)
    if not candidates:
        return None
    event = frame.accountant.exponential(
        frame.total * LOOK_SHARE, 1, "looking for features that act together"
    )
    return InteractionChoice(
        candidates=candidates,
        sensitivity=interaction_sensitivity(frame.contribution),
        bar=_bar(frame, candidates, event.epsilon),
        choice_share=LOOK_SHARE,
        measure_share=kept,
        amount=amount,
        sigma=sigma,
        event=event,
    )


def may_look(frame: Frame) -> bool:
    """Whether a plan of these wishes looks: without a graph, and where rounds would be allowed.

    Not where the curator named what acts together.
    """
    task = frame.task
    return (
        task.regime == "predictive"
        and task.joint == "auto"
        and frame.may_keep_back
        # It would find again what the curator names.
        and not task.together
    )


def most_cells(frame: Frame, sigma: float) -> int:
    """Cells of the largest set with Y whose noise is tolerable."""
    # The error is linear in the cells, so one division turns its limit into theirs.
    cells = SET_LIMIT / expected_relative_error(1.0, sigma, frame.mass)
    return min(frame.task.max_joint_cells, math.floor(cells))


def worst_cells(frame: Frame) -> int:
    """The most cells of a set that any S may have; 0 where no plan of these wishes looks."""
    if not may_look(frame):
        return 0
    # The largest task pool there is: less noise lets larger sets in, and this is the worst case.
    amount = frame.total * frame.pools(background=False)["task"] * KEPT_BACK
    return most_cells(frame, frame.accountant.gaussian(amount, 0.0, "").sigma)


def contrasts(column: Column) -> NDArray[np.float64]:
    """Functions of a column's codes between -1 and 1, shape (functions, codes); public.

    Of two levels one against the other; of more the upper half against the lower one, and the
    middle against the ends, by the order of the declaration. What has no value counts 0.
    """
    levels, codes = column.level_count, np.arange(column.size)
    upper = np.where(2 * codes >= levels, 1.0, -1.0)
    # 2 codes + 1 - levels is twice the way to the middle of the scale, without halves.
    middle = np.where(np.abs(2 * codes + 1 - levels) <= levels / 2.0, 1.0, -1.0)
    # Of two levels both are in the middle: a constant, which says nothing.
    found = np.array([upper] if levels == 2 else [upper, middle])
    found[:, levels:] = 0.0
    return found


def _sets(
    frame: Frame, s: Sequence[str], sigma: float, orders: Sequence[int]
) -> tuple[Clique, ...]:
    """Sets of S that are small enough with Y; those of more features as long as there is room."""
    schema = frame.schema
    most = most_cells(frame, sigma) // schema.size(frame.task.target)
    # All functions of one level are constant, so such a column makes a set of fewer look larger.
    sizes = {name: schema.size(name) for name in s if schema[name].level_count > 1}
    found: list[Clique] = []
    for order in orders:
        # The smallest others: a column that is too large with them is in no set.
        least = sorted(sizes.values())[: order - 1]
        names = [name for name in sizes if sizes[name] * math.prod(least) <= most]
        # Counted before they are made: all sets of four of a wide table would fill the memory.
        if len(found) + math.comb(len(names), order) > MOST_SETS:
            break
        found += [
            names_
            for names_ in itertools.combinations(names, order)
            if math.prod(sizes[name] for name in names_) <= most
        ]
    return tuple(found)


def _bar(frame: Frame, candidates: Sequence[Clique], epsilon: float) -> float:
    """The score of finding nothing; it follows from public facts.

    Where the pairs get nothing wrong, the sum of a class and a product over n rows has a standard
    deviation of at most sqrt(n) / 2, and of K of them the largest is at most sqrt(n ln(K) / 2) on
    average. Of a person's rows, that may all be alike, it is that of one row times what they add at
    most. The mechanism then takes one of M such sets in place of nothing with probability at
    most M exp(-epsilon d / (2 sensitivity)), where nothing is d above them.
    """
    schema = frame.schema
    sums = schema.size(frame.task.target) * sum(
        math.prod(len(contrasts(schema[name])) for name in names) for names in candidates
    )
    most = frame.contribution.most
    luck = most * math.sqrt(frame.n * math.log(max(2, sums)) / 2.0)
    draw = (
        2.0
        * interaction_sensitivity(frame.contribution)
        / epsilon
        * math.log(len(candidates) / FALSE_FINDS)
    )
    return luck + draw
