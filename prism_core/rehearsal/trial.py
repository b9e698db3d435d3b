"""Trials: one release of a design on stand-in rows, and what all of them share."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from prism_core.comparators.methods import NEIGHBOURS
from prism_core.data.encoding import EncodedTable
from prism_core.data.source import RowsView
from prism_core.evaluation.candidates import Candidate
from prism_core.evaluation.subject import Subject
from prism_core.evaluation.tstr.learners import fit, labelled
from prism_core.evaluation.tstr.regressors import (
    REGRESSORS,
    by_squared_loss,
    fit_numeric,
    representatives,
)
from prism_core.evaluation.tstr.scoring import macro_auc, r_squared
from prism_core.privacy.noise import SeededNoise
from prism_core.rehearsal.points import GUESS, Metric
from prism_core.rehearsal.variants import Rehearsal, RehearsalRun, plan_on
from prism_core.synthesis.release import release

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.rehearsal.stand_in_rows import StandIn
    from prism_core.samples.additive_scm import Shift


@dataclass(frozen=True, kw_only=True)
class TrialResult:
    """What one run reached.

    Attributes:
        metric: what is scored.
        scores: by shift.
        ceilings: the same without noise.
        seconds: the run took, without the ceilings.
    """

    metric: Metric
    scores: Mapping[Shift, float]
    ceilings: Mapping[Shift, float]
    seconds: float


@dataclass
class CountedRows(RowsView):
    """Public rows whose counts are taken once; satisfies `data.source.Rows`."""

    _known: dict[tuple[str, ...], NDArray[np.int64]] = field(default_factory=dict, repr=False)

    def counts(self, cliques: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        """See `data.source.Rows`. Spends nothing: the rows are public."""
        wanted = [tuple(clique) for clique in cliques]
        new = [clique for clique in dict.fromkeys(wanted) if clique not in self._known]
        if new:
            self._known.update(zip(new, self.rows.counts(new), strict=True))
        # Copies: a run that writes into its counts must not change those of the next.
        return [self._known[clique].copy() for clique in wanted]


@dataclass
class SharedRows:
    """The stand-in rows with what every run on them shares.

    Attributes:
        stand_in: the public rows.
        rehearsal: the designs, and the learner trained on what comes of them.
    """

    stand_in: StandIn
    rehearsal: Rehearsal

    def __post_init__(self) -> None:
        self.rows = CountedRows(self.stand_in.train)
        # Many runs protect the same features, whose ceiling is one fit.
        self._ceiling = cache(self._reached)
        self._plans: dict[tuple[str, float], Plan] = {}
        target = self.stand_in.schema[self.stand_in.target]
        self.metric: Metric = "r2" if by_squared_loss(target) else "auc"

    def _plan(self, name: str, epsilon: float) -> Plan:
        if (name, epsilon) not in self._plans:
            variant = self.rehearsal.variant(name)
            self._plans[name, epsilon] = plan_on(variant, self.stand_in, epsilon)
        return self._plans[name, epsilon]

    def _reached(self, features: tuple[str, ...] | None) -> Mapping[Shift, float]:
        return self._scores(self.stand_in.train, features)

    def run(self, run: RehearsalRun) -> TrialResult:
        """One release on the stand-in rows, and what a learner trained on it reaches."""
        name, epsilon, seed = run
        started = time.monotonic()
        plan = self._plan(name, epsilon)
        # One stream for the noise and one for the rows, the same for every variant.
        noise, sampling = (np.random.default_rng([seed, part]) for part in (0, 1))
        made = release(plan, self.rows, ledger=None, noise=SeededNoise(noise), rng=sampling)
        rows = EncodedTable(schema=plan.schema, codes=made.codes, public=True)
        # Before the ceiling, whose time one run would carry for all others.
        scores, seconds = self._scores(rows, None), time.monotonic() - started
        # Without noise, from what the design protects: from all where it is chosen at run time.
        ceilings = self._ceiling(plan.s if plan.s_is_final else None)
        return TrialResult(metric=self.metric, scores=scores, ceilings=ceilings, seconds=seconds)

    def _scores(self, rows: EncodedTable, features: tuple[str, ...] | None) -> dict[Shift, float]:
        target = self.stand_in.target
        known = labelled(rows, target)
        # Rows that are all alike teach to rank everybody alike, or to say one number.
        if len(np.unique(known.column(target))) < 2:
            return dict.fromkeys(self.stand_in.shifts, GUESS[self.metric])
        score = self._learned(known, features)
        found: dict[Shift, float] = {}
        for shift, holdout in self.stand_in.holdouts.items():
            reached = score(labelled(holdout, target))
            assert reached is not None, "a stand-in shows two classes at least"
            found[shift] = reached
        return found

    def _learned(
        self, known: EncodedTable, features: tuple[str, ...] | None
    ) -> Callable[[EncodedTable], float | None]:
        """A learner fitted to rows, as the score it reaches on others.

        A numeric target is learned by the regression of the learner's name, else by ridge.
        """
        target, learner = self.stand_in.target, self.rehearsal.learner
        if self.metric == "auc":
            fitted = fit(learner, known, target=target, features=features)
            return lambda test: macro_auc(test.column(target), fitted.probabilities(test))
        named = learner if learner in REGRESSORS else REGRESSORS[0]
        regressor = fit_numeric(named, known, target=target, features=features)
        # In parts of the declared range: squares of its own unit may be beyond every number.
        values, span = representatives(known.schema[target]), regressor.high - regressor.low
        return lambda test: r_squared(
            values[test.column(target)] / span, regressor.predictions(test) / span
        )


def rehearsed_candidate(
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
        name=name,
        synthetic=EncodedTable(schema=plan.schema, codes=made.codes, public=True),
        epsilon=epsilon,
        stamp=made.stamp,
        regime=plan.task.regime,
        neighbours=NEIGHBOURS,
    )


def stand_in_subject(stand_in: StandIn) -> Subject:
    """What lines on stand-in rows are scored with: fresh rows of the same world."""
    return Subject(
        synthetic=stand_in.train,
        holdout=stand_in.holdouts["none"],
        train=stand_in.train,
        target=stand_in.target,
        n=stand_in.train.people,
    )
