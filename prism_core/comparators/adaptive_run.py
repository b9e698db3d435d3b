"""A run of a comparator's mechanisms: each is paid for, announced and then run, in this order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prism_core.data.source import BatchedRows, Rows
from prism_core.privacy.contribution import ONE_ROW, Contribution
from prism_core.privacy.mechanisms import noisy_marginal, private_choice
from prism_core.privacy.scores import model_error, model_error_sensitivity
from prism_core.synthesis.engine.fit import fit
from prism_core.synthesis.measure import Measurement
from prism_core.synthesis.pgm import Pgm
from prism_core.synthesis.totals import total_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from prism_core.comparators.comparator_plan import ComparatorPlan, RhoFilter
    from prism_core.planning.tree.junction_tree import Clique
    from prism_core.privacy.events import ExponentialEvent, GaussianEvent
    from prism_core.privacy.noise import NoiseSource

STEPS_ANEW, STEPS_ON = 18, 10
"""Newton steps of a fit that starts anew, and of one that goes on from the fit before.

Measured on Adult (47 marginals, 81,280 cells): 12 steps anew end 1% above the least loss and 16 end
0.1% above it; the engine's own rule takes four times as long to be sure. With one marginal more, 5
steps on end within 0.05% of it. Cells near 0 come back with difficulty, so now and then a fit must
start anew."""


@dataclass
class AdaptiveRun:
    """What a method works with. Rows are read by `measure` and `choose` only.

    Attributes:
        plan: public.
        rows: the training rows, which count the candidates together.
        noise: where the noise comes from.
        purse: what is left to spend.
        step: called before each mechanism with the share of rho that is spent; may raise to stop.
        measurements: noisy marginals so far.
        model: fitted to them, None before the first fit.
    """

    plan: ComparatorPlan
    rows: BatchedRows
    noise: NoiseSource
    purse: RhoFilter
    step: Callable[[float], None]
    measurements: list[Measurement] = field(default_factory=list)
    model: Pgm | None = None

    @classmethod
    def of(
        cls,
        plan: ComparatorPlan,
        table: Rows,
        noise: NoiseSource,
        purse: RhoFilter,
        step: Callable[[float], None],
    ) -> AdaptiveRun:
        """A run at its beginning. Spends nothing: no row is read yet."""
        # All that may ever be asked for, so that the rows are gone through once.
        wanted = dict.fromkeys([*((name,) for name in plan.schema.names), *plan.candidates])
        return cls(
            plan=plan,
            rows=BatchedRows(rows=table, planned=list(wanted)),
            noise=noise,
            purse=purse,
            step=step,
        )

    @property
    def sizes(self) -> Mapping[str, int]:
        """Codes per column, in schema order."""
        return {name: self.plan.schema.size(name) for name in self.plan.schema.names}

    def measure(self, clique: Clique, event: GaussianEvent) -> None:
        """Measure one marginal.

        Spends: the event; its l2 sensitivity is that of the counts, see
        `privacy.mechanisms.noisy_marginal`.
        """
        # Before the noise is drawn: whatever goes wrong after it, it is spent.
        self.purse.pay(event)
        self.step(min(1.0, self.purse.spent / self.purse.total))
        values = noisy_marginal(self.rows, clique, event.sigma, self.noise, event.sensitivity)
        self.measurements.append(Measurement(clique=clique, values=values, sigma=event.sigma))

    def choose(
        self,
        candidates: Sequence[Clique],
        expected: Mapping[Clique, NDArray[np.float64]],
        event: ExponentialEvent,
        *,
        weights: Mapping[Clique, float] | None = None,
        penalties: Mapping[Clique, float] | None = None,
        allowed: Callable[[Clique], bool] = lambda _: True,
        paid: bool = False,
    ) -> Clique:
        """A candidate that the model gets wrong, by one draw of the exponential mechanism.

        The score is w_r (|M_r(D) - M_r(model)|_1 - penalty_r), in counts.

        Spends: one round of the event.

        Proof. Under replace-one a marginal's counts move by at most 2 in l1 (of several rows a
        person that many times as much, `Contribution.l1`); expected counts,
        penalties and weights are data-free or follow from what was released, and do not move.
        So no score moves by more than l1 w_r, nor by more than l1 max w (`weighted_sensitivity`).

        Args:
            candidates: what is chosen among; data-free, or post-processing.
            expected: counts of each by the current model.
            event: of the draw; with a count above 1 of all draws that belong together.
            weights: by candidate; 1 where None.
            penalties: in counts; 0 where None.
            allowed: which of them may be chosen; data-free, or post-processing. See
                `private_choice`.
            paid: whether the event was paid for with an earlier draw of it.
        """
        # Rounds that share one event are paid for together, with the first of them.
        if not paid:
            self.purse.pay(event)
        self.step(min(1.0, self.purse.spent / self.purse.total))
        index = private_choice(
            self.rows,
            lambda rows: scores(rows, candidates, expected, weights or {}, penalties or {}),
            sensitivity=weighted_sensitivity(candidates, weights or {}, self.rows.contribution),
            epsilon=event.epsilon,
            noise=self.noise,
            allowed=lambda index: allowed(candidates[index]),
        )
        return candidates[index]

    def fit(self, *, anew: bool = True) -> Pgm:
        """Fit the model to all measurements; post-processing, spends nothing.

        Args:
            anew: whether to start from the uniform model, or from where the fit before ended.
        """
        start = None if anew or self.model is None else self.model.potentials
        total = total_of(self.rows.contribution, self.plan.n, self.measurements)
        made = fit(
            self.sizes,
            total,
            self.measurements,
            start=start,
            iterations=STEPS_ANEW if start is None else STEPS_ON,
        )
        self.model = Pgm.of(self.sizes, total, made)
        return self.model


def scores(
    rows: Rows,
    candidates: Sequence[Clique],
    expected: Mapping[Clique, NDArray[np.float64]],
    weights: Mapping[Clique, float],
    penalties: Mapping[Clique, float],
) -> list[float]:
    """The score of every candidate. Spends nothing by itself: for `private_choice` only."""
    return [
        weights.get(clique, 1.0)
        * (model_error(counts, expected[clique]) - penalties.get(clique, 0.0))
        for clique, counts in zip(candidates, rows.counts(candidates), strict=True)
    ]


def weighted_sensitivity(
    candidates: Iterable[Clique],
    weights: Mapping[Clique, float],
    contribution: Contribution = ONE_ROW,
) -> float:
    """Sensitivity of `scores`: l1 max w; the proof stands in `AdaptiveRun.choose`."""
    return model_error_sensitivity(contribution) * max(
        weights.get(clique, 1.0) for clique in candidates
    )
