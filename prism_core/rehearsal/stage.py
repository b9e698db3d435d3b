"""What the runs of a rehearsal share: the rows, their counts, the ceilings."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.batch import Over
from prism_core.data.encoding import EncodedTable
from prism_core.evaluation.learners import fit, labelled
from prism_core.evaluation.scoring import macro_auc
from prism_core.pipeline import release
from prism_core.privacy.noise import SeededNoise
from prism_core.rehearsal.design import plan_on

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.planning.plan import Plan
    from prism_core.planning.stand_in import Shift
    from prism_core.rehearsal.design import Rehearsal, Run
    from prism_core.rehearsal.stand_in import StandIn


@dataclass(frozen=True, kw_only=True)
class Made:
    """What one run reached.

    Attributes:
        areas: AUC by shift.
        ceilings: the same without noise.
        seconds: the run took, without the ceilings.
    """

    areas: Mapping[Shift, float]
    ceilings: Mapping[Shift, float]
    seconds: float


@dataclass
class Counted(Over):
    """Public rows whose counts are taken once; satisfies `data.source.Rows`."""

    _known: dict[tuple[str, ...], NDArray[np.int64]] = field(default_factory=dict, repr=False)

    def counts(self, cliques: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        """See `data.source.Rows`. Spends nothing: the rows are public."""
        wanted = [tuple(clique) for clique in cliques]
        new = [clique for clique in dict.fromkeys(wanted) if clique not in self._known]
        if new:
            self._known.update(zip(new, self.rows.counts(new), strict=True))
        return [self._known[clique].copy() for clique in wanted]


@dataclass
class Stage:
    """The stand-in rows with what every run on them shares.

    Attributes:
        stand_in: the public rows.
        rehearsal: the designs, and the learner trained on what comes of them.
    """

    stand_in: StandIn
    rehearsal: Rehearsal

    def __post_init__(self) -> None:
        self.rows = Counted(self.stand_in.train)
        self._ceiling = cache(self._reached)
        self._plans: dict[tuple[str, float], Plan] = {}

    def _plan(self, name: str, epsilon: float) -> Plan:
        if (name, epsilon) not in self._plans:
            variant = self.rehearsal.variant(name)
            self._plans[name, epsilon] = plan_on(variant, self.stand_in, epsilon)
        return self._plans[name, epsilon]

    def _reached(self, features: tuple[str, ...] | None) -> Mapping[Shift, float]:
        return self._scores(self.stand_in.train, features)

    def run(self, run: Run) -> Made:
        """One release on the stand-in rows, and what a learner trained on it reaches."""
        name, epsilon, seed = run
        started = time.monotonic()
        plan = self._plan(name, epsilon)
        # One stream for the noise and one for the rows, the same for every variant.
        noise, sampling = (np.random.default_rng([seed, part]) for part in (0, 1))
        made = release(plan, self.rows, ledger=None, noise=SeededNoise(noise), rng=sampling)
        rows = EncodedTable(schema=plan.schema, codes=made.codes, public=True)
        areas, seconds = self._scores(rows, None), time.monotonic() - started
        # Without noise, from what the design protects: from all where it is chosen at run time.
        ceilings = self._ceiling(plan.s if plan.s_is_final else None)
        return Made(areas=areas, ceilings=ceilings, seconds=seconds)

    def _scores(self, rows: EncodedTable, features: tuple[str, ...] | None) -> dict[Shift, float]:
        target = self.stand_in.target
        known = labelled(rows, target)
        # Rows of one class teach to rank everybody alike, which is an AUC of one half.
        if len(np.unique(known.column(target))) < 2:
            return dict.fromkeys(self.stand_in.shifts, 0.5)
        fitted = fit(self.rehearsal.learner, known, target=target, features=features)
        found: dict[Shift, float] = {}
        for shift, holdout in self.stand_in.holdouts.items():
            test = labelled(holdout, target)
            area = macro_auc(test.column(target), fitted.probabilities(test))
            assert area is not None, "a stand-in shows two classes at least"
            found[shift] = area
        return found
