"""Private choice of the features S, by scores or by a private logistic regression.

And the private look for features that act together on Y beyond what the pairs say.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from prism_core.errors import PrivacyError
from prism_core.planning.interactions import contrasts
from prism_core.planning.regression import regression_of
from prism_core.privacy.contribution import ONE_ROW, Contribution
from prism_core.privacy.events import GaussianEvent
from prism_core.privacy.mechanisms import check_noise_of_table, private_choice, private_top_k
from prism_core.privacy.noisy_gradient import coefficients
from prism_core.privacy.scores import (
    chance_association,
    interaction,
    mutual_information,
    scaled_association,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prism_core.data.source import Rows
    from prism_core.planning.plan import Plan
    from prism_core.planning.queries import SelectionChoice
    from prism_core.planning.tree.junction_tree import Clique
    from prism_core.privacy.noise import NoiseSource
    from prism_core.synthesis.model import Model

CHANCE = 2.0
"""How many times the association that chance alone gives is taken off a feature's own; see
docs/defaults.md."""


def choose_features(
    table: Rows,
    plan: Plan,
    noise: NoiseSource,
    step: Callable[[], None] = lambda: None,
    target: str | None = None,
) -> tuple[str, ...]:
    """S of one target, in schema order, by the plan's rule.

    `greedy`: k rounds of the exponential mechanism without replacement. `one_shot`: the same
    law in one draw. Both score by R, the total variation distance of (X_j, Y) from
    independence, less what its number of levels gives; sensitivity 3 / n. `mutual_information`:
    one draw, scored by I(X_j; Y) in nats.
    `logistic`: the largest coefficients of a private regression (3b).

    Spends: the target's selection event of the plan: k rounds of the same epsilon, or the
    regression. Several targets are chosen for one after the other; their events add up.

    Args:
        table: the private rows.
        plan: holds candidates, rule, sensitivity and budget of the choice.
        noise: where the randomness comes from.
        step: called before each draw; may raise to stop.
        target: whose features; the first target when None.
    """
    if plan.selection is None:
        return plan.s
    target = plan.task.target if target is None else target
    choice = plan.selections[plan.task.target_names.index(target)]
    if choice.rule == "logistic":
        chosen = choose_by_regression(table, choice, target, noise, step)
    elif choice.rule == "greedy":
        chosen = _greedy(table, choice, target, noise, step)
    else:
        chosen = _one_shot(table, choice, target, noise, step)
    return plan.schema.canonical(chosen)


def _greedy(
    table: Rows, choice: SelectionChoice, target: str, noise: NoiseSource, step: Callable[[], None]
) -> list[str]:
    left = list(choice.candidates)
    chosen: list[str] = []
    for _ in range(choice.k):
        step()
        index = private_choice(
            table,
            _scores(left, target, choice),
            sensitivity=choice.sensitivity,
            # Of one round, of which the event counts k.
            epsilon=choice.event.epsilon,
            noise=noise,
        )
        chosen.append(left.pop(index))
    return chosen


def _one_shot(
    table: Rows, choice: SelectionChoice, target: str, noise: NoiseSource, step: Callable[[], None]
) -> list[str]:
    step()
    found = private_top_k(
        table,
        _scores(choice.candidates, target, choice),
        choice.k,
        sensitivity=choice.sensitivity,
        epsilon=choice.event.epsilon,
        noise=noise,
    )
    return [choice.candidates[index] for index in found]


def _scores(
    names: Sequence[str], target: str, choice: SelectionChoice
) -> Callable[[Rows], list[float]]:
    """The score of every name on a table. Reads private rows: for the mechanisms only."""
    # A copy: the caller's list shrinks between rounds.
    kept = tuple(names)

    def scores(rows: Rows) -> list[float]:
        # All at once: behind an engine, one pass over the rows serves every candidate.
        counted = rows.counts([(name, target) for name in kept])
        if choice.rule == "mutual_information":
            return list(map(mutual_information, counted))
        return [net_association(counts, rows.people, rows.contribution) for counts in counted]

    return scores


def net_association(
    counts: NDArray[np.int64], n: int, contribution: Contribution = ONE_ROW
) -> float:
    """R of a feature with Y, less what its levels give it by chance and cost in noise.

    The sensitivity is that of R, as only public numbers are taken off: the shape and n. Of t rows,
    t R / n is by chance sqrt(t / n) times that of n rows, which is m rows of each person at most.
    """
    chance = chance_association(counts.shape, n)
    chance *= math.sqrt(contribution.most / contribution.least)
    return scaled_association(counts, n, contribution) - CHANCE * chance


def choose_by_regression(
    table: Rows,
    choice: SelectionChoice,
    target: str,
    noise: NoiseSource,
    step: Callable[[], None] = lambda: None,
) -> list[str]:
    """The k features that move the prediction most, in a private regression on all of them.

    Spends: the selection events of the plan, one a step of the regression.

    Args:
        table: the private rows.
        choice: holds the candidates and the budget.
        target: Y.
        noise: where the randomness comes from.
        step: called before each step; may raise to stop.
    """
    event = choice.event
    if not isinstance(event, GaussianEvent):
        raise PrivacyError(
            "A regression needs a Gaussian event; nothing was measured.", field="event"
        )
    regression = regression_of(table.schema, choice.candidates, target)
    found = coefficients(table, regression, event, noise, step)
    sizes = [_size(values, found.noise) for values in found.values.values()]
    # Stable: equal coefficients keep the declared order.
    order = np.argsort(np.negative(sizes), kind="stable")
    return [choice.candidates[index] for index in order[: choice.k]]


def _size(values: NDArray[np.float64], noise: float) -> float:
    """Squared length of a feature's coefficients, less what their noise adds to it.

    A constant on a feature's cells is an intercept and says nothing of the feature, so what is
    squared is centred. On average noise adds its variance times the degrees of freedom, and would
    favour features of many cells.
    """
    centred = values - values.mean(axis=0)
    free = (values.shape[0] - 1) * values.shape[1]
    return float((centred**2).sum()) - noise**2 * free


def choose_interaction(table: Rows, plan: Plan, model: Model, noise: NoiseSource) -> Clique | None:
    """A set of features that act together on Y, or None where none is above the bar.

    The exponential mechanism among the candidates, scored by `scores.interaction`, and *nothing*,
    whose score is the bar of the plan.

    Args:
        table: the private rows.
        plan: holds the candidates and the budget of the look.
        model: of noisy pairs with Y only (post-processing).
        noise: where the randomness comes from.

    Spends: the look of the plan, one choice; sensitivity 2 (for one row a person).

    Raises:
        PrivacyError: for known noise on a private table, before a row is read.
    """
    choice = plan.interactions
    assert choice is not None
    check_noise_of_table(table, noise)
    target = plan.task.target
    functions = {name: contrasts(plan.domain[name]) for name in plan.s}
    cliques = [(*names, target) for names in choice.candidates]

    # A function, so that rows are read within the mechanism only.
    def scores(rows: Rows) -> list[float]:
        counted = zip(choice.candidates, cliques, rows.counts(cliques), strict=True)
        return [
            *(
                interaction(
                    counts,
                    np.asarray(model.marginal(clique)),
                    [functions[name] for name in names],
                )
                for names, clique, counts in counted
            ),
            choice.bar,
        ]

    index = private_choice(
        table,
        scores,
        sensitivity=choice.sensitivity,
        epsilon=choice.event.epsilon,
        noise=noise,
    )
    return choice.candidates[index] if index < len(choice.candidates) else None
