"""A design on stand-in rows, as a line beside what a comparator makes of the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.evaluation.comparing import Candidate
from prism_core.evaluation.subject import Subject
from prism_core.experiments.comparators.methods import NEIGHBOURS
from prism_core.pipeline import release
from prism_core.privacy.noise import SeededNoise
from prism_core.rehearsal.design import plan_on

if TYPE_CHECKING:
    from prism_core.planning.scenario import Scenario
    from prism_core.rehearsal.stand_in import StandIn


def rehearsed(
    scenario: Scenario, stand_in: StandIn, epsilon: float, seed: int, *, name: str
) -> Candidate:
    """One release of a design on stand-in rows, with known noise. Spends nothing.

    Args:
        scenario: the design.
        stand_in: the public rows.
        epsilon: of the run.
        seed: the same seed gives the same rows.
        name: what it is called in the table.

    Raises:
        PrismError: where the design cannot be planned for these rows.
    """
    plan = plan_on(scenario, stand_in, epsilon)
    noise, sampling = (np.random.default_rng([seed, part]) for part in (0, 1))
    made = release(plan, stand_in.train, ledger=None, noise=SeededNoise(noise), rng=sampling)
    return Candidate(
        name=name, synthetic=EncodedTable(schema=plan.schema, codes=made.codes, public=True),
        epsilon=epsilon, stamp=made.stamp, regime=plan.task.regime, neighbours=NEIGHBOURS,
    )  # fmt: skip


def standing_in(stand_in: StandIn) -> Subject:
    """What lines on stand-in rows are scored with: fresh rows of the same world."""
    return Subject(
        synthetic=stand_in.train, holdout=stand_in.holdouts["none"], train=stand_in.train,
        target=stand_in.target, n=stand_in.train.n,
    )  # fmt: skip
