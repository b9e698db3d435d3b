"""The private choice of the features S (predictive regime)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.privacy.information import mutual_information
from prism_core.privacy.mechanisms import private_choice, private_top_k
from prism_core.privacy.scores import association
from prism_core.synthesis.select.logistic import choose_by_regression

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prism_core.data.source import Rows
    from prism_core.planning.plan import Plan, SelectionChoice
    from prism_core.privacy.noise import NoiseSource


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
    independence, sensitivity 3 / n. `mutual_information`: one draw, scored by I(X_j; Y) in nats.
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
    table: Rows, choice: SelectionChoice, target: str, noise: NoiseSource,
    step: Callable[[], None],
) -> list[str]:  # fmt: skip
    left = list(choice.candidates)
    chosen: list[str] = []
    for _ in range(choice.k):
        step()
        index = private_choice(
            table, _scores(left, target, choice), sensitivity=choice.sensitivity,
            epsilon=choice.event.epsilon, noise=noise,
        )  # fmt: skip
        chosen.append(left.pop(index))
    return chosen


def _one_shot(
    table: Rows, choice: SelectionChoice, target: str, noise: NoiseSource,
    step: Callable[[], None],
) -> list[str]:  # fmt: skip
    step()
    found = private_top_k(
        table, _scores(choice.candidates, target, choice), choice.k,
        sensitivity=choice.sensitivity, epsilon=choice.event.epsilon, noise=noise,
    )  # fmt: skip
    return [choice.candidates[index] for index in found]


def _scores(
    names: Sequence[str], target: str, choice: SelectionChoice
) -> Callable[[Rows], list[float]]:
    """The score of every name on a table. Reads private rows: for the mechanisms only."""
    score = mutual_information if choice.rule == "mutual_information" else association
    kept = tuple(names)
    return lambda rows: list(map(score, rows.counts([(name, target) for name in kept])))
