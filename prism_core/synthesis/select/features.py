"""Private choice of the features S, by scores or by a private logistic regression."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.errors import PlanError, PrivacyError
from prism_core.privacy.events import ApproximateEvent
from prism_core.privacy.mechanisms import check_noise_of_table, private_choice, private_top_k
from prism_core.privacy.objective_perturbation import calibrate, private_coefficients
from prism_core.privacy.scores import association, mutual_information

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    from prism_core.data.source import Rows
    from prism_core.planning.plan import Plan
    from prism_core.planning.queries import SelectionChoice
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
    score = mutual_information if choice.rule == "mutual_information" else association
    kept = tuple(names)
    # All at once: behind an engine, one pass over the rows serves every candidate.
    return lambda rows: list(map(score, rows.counts([(name, target) for name in kept])))


def needs_rows(table: Rows) -> EncodedTable:
    """The table, when it is in memory: a regression goes through the rows many times.

    Spends nothing.

    Raises:
        PlanError: when it is not; nothing is charged or measured.
    """
    if not isinstance(table, EncodedTable):
        raise PlanError(
            "A private regression needs the rows in memory, and this table is too large for that. "
            "Choose the features in another way: greedy, one_shot or mutual_information.",
            field="selection",
        )
    return table


def choose_by_regression(
    table: Rows,
    choice: SelectionChoice,
    target: str,
    noise: NoiseSource,
    step: Callable[[], None] = lambda: None,
) -> list[str]:
    """The k features with the largest coefficients, over the features' one-hot blocks.

    One regression of Y's second level for a binary Y, else one per level against the rest, with
    equal parts of epsilon and delta (basic composition). A block's coefficients are centred: a
    constant on a block is an intercept and says nothing of the feature.

    Spends: the selection event of the plan, (epsilon, delta).

    Args:
        table: the private rows.
        choice: holds the candidates and the budget.
        target: Y.
        noise: where the randomness comes from.
        step: called before each regression; may raise to stop.
    """
    check_noise_of_table(table, noise)
    held = needs_rows(table)
    event = choice.event
    if not isinstance(event, ApproximateEvent):
        raise PrivacyError(
            "A regression needs an event with its own delta; nothing was measured.", field="event"
        )
    levels = table.schema.size(target)
    # Of two levels, the coefficients of one are those of the other with the sign turned.
    positives = [1] if levels == 2 else list(range(levels))
    # A hair below equal parts, so that the float sum stays below the whole.
    part = (1.0 - 1e-12) / len(positives)
    calibration = calibrate(event.epsilon * part, event.delta * part)
    sizes = [table.schema.size(name) for name in choice.candidates]
    squared = np.zeros(len(sizes))
    rows: csr_matrix | None = None
    for level in positives:
        step()
        # Made once, and after the first `step`, which may stop the run.
        rows = _one_hot(held, choice.candidates, sizes) if rows is None else rows
        labels = (held.column(target) == level).astype(np.float64)
        squared += _block_norms(private_coefficients(rows, labels, calibration, noise), sizes)
    # Stable: equal coefficients keep the declared order.
    order = np.argsort(-squared, kind="stable")
    return [choice.candidates[index] for index in order[: choice.k]]


def _one_hot(table: EncodedTable, names: tuple[str, ...], sizes: list[int]) -> csr_matrix:
    """Indicators over 1 / sqrt(d): every row has norm 1, by the declared domain alone."""
    from scipy.sparse import csr_matrix

    starts = np.concatenate([[0], np.cumsum(sizes)])
    columns = np.column_stack(
        [table.column(name) + start for name, start in zip(names, starts[:-1], strict=True)]
    )
    values = np.full(columns.size, 1.0 / math.sqrt(len(names)))
    ends = np.arange(table.n + 1) * len(names)
    return csr_matrix((values, columns.ravel(), ends), shape=(table.n, int(starts[-1])))


def _block_norms(theta: NDArray[np.float64], sizes: list[int]) -> NDArray[np.float64]:
    blocks = np.split(theta, np.cumsum(sizes)[:-1])
    return np.array([float(((block - block.mean()) ** 2).sum()) for block in blocks])
