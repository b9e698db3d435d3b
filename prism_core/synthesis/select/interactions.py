"""The private look for features that act together on Y beyond what the pairs say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prism_core.planning.interactions import contrasts
from prism_core.privacy.mechanisms import check_noise_of_table, private_choice
from prism_core.privacy.scores import interaction

if TYPE_CHECKING:
    from prism_core.data.source import Rows
    from prism_core.planning.plan import Plan
    from prism_core.planning.tree.junction_tree import Clique
    from prism_core.privacy.noise import NoiseSource
    from prism_core.synthesis.model import Model


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
