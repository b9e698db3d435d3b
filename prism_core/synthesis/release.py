"""The release: private rows measured once, a model fitted, synthetic rows drawn."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import numpy as np

from prism_core.data.source import MappedRows, Rows, check_fits
from prism_core.errors import PrivacyError
from prism_core.planning.choices import (
    Stages,
    picked,
    with_adaptive,
    with_forest,
    with_interaction,
    with_three_way,
)
from prism_core.planning.design import with_features, with_parts
from prism_core.planning.step_plan import check_people
from prism_core.privacy.ledger.charging import ChargeProgress, OpenCharge, charging
from prism_core.privacy.mechanisms import check_noise_of_table
from prism_core.privacy.noise import NoiseSource, SecureNoise
from prism_core.synthesis.empirical_bayes import shrunk
from prism_core.synthesis.fine_counts import column_maps, known_marginals, parts_of, values_of
from prism_core.synthesis.measure import Measurement, measure
from prism_core.synthesis.naive_bayes import fit_naive_bayes
from prism_core.synthesis.pgm import Pgm, fit_pgm
from prism_core.synthesis.prior_fit import Sketches, fit_with_prior
from prism_core.synthesis.sample import publishable_seed
from prism_core.synthesis.select import (
    AdaptiveChooser,
    choose_features,
    choose_forest,
    choose_interaction,
    choose_three_way,
)
from prism_core.synthesis.totals import total_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

    from prism_core.planning.approval import Approval
    from prism_core.planning.coarsening import Coarsening
    from prism_core.planning.plan import Plan
    from prism_core.planning.queries import Query, ThreeWayChoice
    from prism_core.privacy.ledger import Ledger
    from prism_core.synthesis.model import Model

ReleaseStage: TypeAlias = Literal[
    "charge",
    "coarsen",
    "select",
    "task",
    "background",
    "interactions",
    "three_way",
    "forest",
    "fit",
    "sample",
]
STAGES: dict[ReleaseStage, str] = {
    "charge": "Writing the charge to the ledger",
    "coarsen": "Counting columns on fine grids to find their bins",
    "select": "Choosing features privately",
    "task": "Measuring marginals with the target",
    "background": "Measuring one-way marginals",
    "interactions": "Looking for features that act together",
    "three_way": "Choosing and measuring further marginals with the target",
    "forest": "Choosing and measuring background pairs",
    "fit": "Fitting the graphical model",
    "sample": "Drawing synthetic rows",
}


# Between adaptive rounds a fit goes on from the last one; these steps show what is still wrong.
# Adult, 20 rounds, steps and tolerance / seconds: 8 and .01 / 7, to the end and .001 / 42; the same
# marginals were picked.
_SKETCH = 1e-2
_SKETCH_STEPS = 8

# Share of the loss that may be missing at the end, by the duality gap, which is far above what is.
# Adult, epsilon 1, 37 marginals, 1e-6 and 1e-3: 95 and 63 steps, 14 and 9 seconds, the loss 4e-8
# apart, AUC .0001.
_FINAL = 1e-3


class Progress(Protocol):
    """Told before every step; may raise CancelledError to stop the run."""

    def __call__(self, stage: ReleaseStage, share: float) -> None:
        """`share` is the part of the stage that is done, 0 to 1."""
        ...


@dataclass(frozen=True, kw_only=True)
class ReleasedMeasurements:
    """What a run holds after its last mechanism; all the rest follows from it.

    Attributes:
        stages: the plan before the run, once S was known, and with every private choice filled in.
        measurements: the noisy marginals.
        stamp: what kind of run it was, see `privacy.ledger.rules.CHARGED_STEPS`.
        charge: number of the ledger's charge, None where there was none.
        seed: what the synthetic rows are drawn with; drawn after the last mechanism and no part
            of any noise, so it may be published, and the rows can be drawn again.
        entry: digest of the charge's entry in the ledger's chain, "" where there was none.
        workspace: where that ledger stands, None where there was none; not for export.
        approval: who approved the plan beforehand, None where nobody was asked.
    """

    stages: Stages = field(repr=False)
    measurements: tuple[Measurement, ...] = field(repr=False)
    stamp: str
    charge: int | None
    seed: int
    entry: str = ""
    workspace: Path | None = field(default=None, repr=False)
    approval: Approval | None = None

    @property
    def plan(self) -> Plan:
        """The plan with every private choice filled in."""
        return self.stages.final


@dataclass(frozen=True, kw_only=True)
class Release(ReleasedMeasurements):
    """What a run gives out. Everything here but `seconds` is differentially private.

    Attributes:
        table: synthetic rows with the declared labels, dtypes and column order.
        codes: the same rows as codes, shape (rows, columns).
        model: the fitted model.
        seconds: wall time; not for export beside private tables.
    """

    table: pd.DataFrame = field(repr=False)
    codes: NDArray[np.int32] = field(repr=False)
    model: Model = field(repr=False)
    seconds: float


def release(
    plan: Plan,
    table: Rows,
    *,
    ledger: Ledger | None,
    asset: str = "",
    why: str = "",
    noise: NoiseSource | None = None,
    rng: np.random.Generator,
    progress: Progress | None = None,
    approval: Approval | None = None,
    keep: Callable[[ReleasedMeasurements], None] = lambda _: None,
) -> Release:
    """Measure the private rows once, fit, and sample. The only function that does.

    Spends: `plan.spent`. With a ledger the charge is written and synced before the first
    mechanism; whatever happens later, it stands (unless no mechanism ran).

    Args:
        plan: from `design`.
        table: the training rows, encoded in the plan's schema, in memory or behind their counts.
        ledger: the workspace's ledger. None has to be written out and is stamped on the result.
        asset: the data asset's name in the ledger.
        why: purpose, for the ledger.
        noise: secure by default. A seeded source is for public tables only and makes the run a
            rehearsal, which is not charged.
        rng: gives the seed of the synthetic rows (post-processing).
        progress: told before each step; may raise to cancel.
        approval: of this plan, where one was asked for; recorded with the release.
        keep: told what was paid for, after the last mechanism and before the fit.

    Raises:
        PlanError: when the table does not fit the plan, or another plan was approved.
        PrivacyError: for seeded noise on a private table, or undeclared persons.
        OverspentError: when the asset's lifetime budget is too small; nothing was measured.
        LedgerError: when the approval was used before: it is for one run. Nothing was measured.
    """
    source = noise or SecureNoise()
    progress = progress or _silent
    # Before the charge: a run that is refused must cost nothing.
    _check(plan, table, source)
    started = time.monotonic()
    progress("charge", 0.0)
    with charging(
        "release",
        plan.price,
        ledger,
        asset,
        public=table.public,
        noise=source,
        why=why,
        approval=approval,
    ) as charge:
        run = _ReleaseRun(plan=plan, table=table, noise=source, progress=progress, charge=charge)
        run.measure_all()
        paid = ReleasedMeasurements(
            stages=Stages(planned=plan, opened=run.opened, final=run.plan),
            measurements=tuple(run.measurements),
            stamp=charge.stamp,
            charge=charge.number,
            seed=publishable_seed(rng),
            entry=charge.entry,
            workspace=charge.workspace,
            approval=approval,
        )
        # Before the fit: what was paid for has to outlive whatever goes wrong there.
        keep(paid)
        model = run.fit()
        progress("sample", 0.0)
        codes, frame = draw(run.plan, model, paid.seed, paid.measurements)
    progress("sample", 1.0)
    return Release(
        table=frame, codes=codes, model=model, seconds=time.monotonic() - started, **vars(paid)
    )


def fit_model(
    plan: Plan,
    measurements: Sequence[Measurement],
    progress: Callable[[float], None] = lambda _: None,
) -> Model:
    """The plan's model, fitted to noisy marginals. Post-processing, spends nothing.

    Args:
        plan: with every private choice filled in.
        measurements: in the plan's order.
        progress: called with the share done; may raise to stop.
    """
    measurements = known_marginals(plan, measurements)
    if plan.synthesis.model == "naive_bayes":
        return _naive_bayes(plan, measurements)
    engine, shrinks = plan.synthesis.engine, plan.synthesis.pairs == "shrunk"
    # mbi knows no prior: by it pairs are only drawn towards the shares of all rows.
    if shrinks and engine != "mbi":
        return fit_with_prior(plan, measurements, progress)
    total = total_of(plan.contribution, plan.n, measurements)
    if shrinks:
        measurements = shrunk(measurements, plan.domain, plan.task.target_names, total)
    return fit_pgm(
        plan.sizes,
        _targets(plan),
        total,
        measurements,
        iterations=plan.synthesis.iterations,
        tolerance=_FINAL,
        engine=engine,
        progress=progress,
    )


def _targets(plan: Plan) -> str | tuple[str, ...]:
    return plan.task.target_names if plan.several else plan.task.target


def draw(
    plan: Plan, model: Model, seed: int, measurements: Sequence[Measurement] = ()
) -> tuple[NDArray[np.int32], pd.DataFrame]:
    """The plan's synthetic rows, as declared codes and as values. Post-processing, spends nothing.

    Args:
        plan: says how many rows and by which rule.
        model: the fitted model.
        seed: the same seed gives the same rows.
        measurements: those of the run; what is needed are the fine counts of coarsened columns.
    """
    # A generator of its own: the rows must follow from the published seed alone, or `verify` could
    # not draw them again.
    rng = np.random.default_rng(seed)
    codes = model.sample(plan.rows, rng, plan.synthesis.sampling)
    return values_of(plan, codes, measurements, rng)


def _naive_bayes(plan: Plan, measurements: Sequence[Measurement]) -> Model:
    """From combined pairs, joint and one-ways; blocks must not overlap, so no 3-way marginal."""
    overlapping = {
        query.clique
        for query in plan.queries
        if query.kind in ("interaction", "three-way", "adaptive", "product")
        or (query.kind == "joint" and plan.joint is not None and not plan.joint.alone)
    }
    used = [m for m in measurements if m.clique not in overlapping]
    total = total_of(plan.contribution, plan.n, measurements)
    return fit_naive_bayes(plan.sizes, plan.task.target, total, used)


def _silent(stage: ReleaseStage, share: float) -> None:
    """Progress nobody asked for."""


def _check(plan: Plan, table: Rows, noise: NoiseSource) -> None:
    check_noise_of_table(table, noise)
    check_fits(table, plan.schema, plan.n)
    check_people(plan.schema)
    _check_spend(plan)


def _check_spend(plan: Plan) -> None:
    whole = plan.guarantee  # with what learning the domain and the graph cost
    # `not <=`, so that a NaN is refused, too.
    if not whole.epsilon <= plan.budget.epsilon or not whole.delta <= plan.delta:
        raise PrivacyError("The plan spends more than it declares; it was stopped.", field="plan")


@dataclass
class _ReleaseRun:
    """A release on its way.

    Attributes:
        plan: with the private choices that were made so far.
        opened: once S is known; still lists every other choice.
    """

    plan: Plan
    table: Rows
    noise: NoiseSource
    progress: Progress
    charge: OpenCharge
    measurements: list[Measurement] = field(default_factory=list)
    opened: Plan = field(init=False)

    @property
    def combined(self) -> tuple[Measurement, ...]:
        """What was measured so far, as a model takes it."""
        return known_marginals(self.plan, self.measurements)

    def _stage(self, stage: ReleaseStage, steps: int) -> ChargeProgress:
        return ChargeProgress(self.charge, max(1, steps), lambda share: self.progress(stage, share))

    def measure_all(self) -> None:
        """Every mechanism of the run, in the order of the plan."""
        # First: the parts that a column is cut into are the cells of everything that is counted
        # later.
        if self.plan.coarsening is not None:
            self._coarsen(self.plan.coarsening)
        if self.plan.selection is not None:
            step = self._stage("select", sum(one.steps for one in self.plan.selections))
            chosen, *further = (
                choose_features(self.table, self.plan, self.noise, step, aim.target)
                for aim in self.plan.aims
            )
            self.plan = with_features(self.plan, chosen, further)
            # S has changed the plan: it is checked before anything of it is measured.
            _check_spend(self.plan)
        self.opened = self.plan
        task = [query for query in self.plan.queries if query.pool == "task"]
        background = [query for query in self.plan.queries if query.pool == "background"]
        self._measure("task", task)
        self._measure("background", background)
        if self.plan.interactions is not None:
            step = self._stage("interactions", len(task) + 2)
            step()
            together = choose_interaction(self.table, self.plan, self._naive_bayes(), self.noise)
            self._measure_chosen(with_interaction(self.plan, together), step)
        if self.plan.three_way is not None and self.plan.three_way.rule == "adaptive":
            self._adaptive_rounds(self.plan.three_way)
        elif self.plan.three_way is not None:
            step = self._stage("three_way", 2 * self.plan.three_way.rounds)
            found = choose_three_way(self.table, self.plan, self._naive_bayes(), self.noise, step)
            self._measure_chosen(with_three_way(self.plan, found), step)
        if self.plan.tree is not None:
            step = self._stage("forest", 2 * self.plan.tree.rounds + 1)
            # Naive Bayes has one target, and needs no iteration.
            sketch = self._sketch(None) if self.plan.several else self._naive_bayes()
            pairs = choose_forest(self.table, self.plan, sketch, self.noise, step)
            self._measure_chosen(with_forest(self.plan, pairs), step)

    def _coarsen(self, coarsening: Coarsening) -> None:
        """Count columns on their fine grids, and find the parts that the rest is measured by."""
        rows = self.table.on_fine_grid()
        step = self._stage("coarsen", len(coarsening.queries))
        self.measurements += measure(rows, coarsening.queries, self.noise, step)
        self.plan = with_parts(self.plan, parts_of(self.plan, self.measurements))
        _check_spend(self.plan)
        maps = column_maps(self.plan)
        self.table = MappedRows(rows=rows, schema=self.plan.domain, maps=maps)

    def _adaptive_rounds(self, choice: ThreeWayChoice) -> None:
        """Pick what the model gets most wrong, measure it, fit again; until nothing pays."""
        # With a bar, what the ties leave over measures the pairs with the target once more.
        further = 0 if choice.bar is None else len(self.plan.queries)
        step = self._stage("three_way", 2 * choice.rounds + further)
        step()
        chooser = AdaptiveChooser(self.table, self.plan, self.noise, self.combined)
        planned, model, sketches = self.plan, None, Sketches(self.plan)
        while chooser.left:
            step()
            if planned.synthesis.pairs == "shrunk":
                model = sketches.of(self.combined)
            else:
                model = self._sketch(model)
            if chooser.pick(model) is not None:
                queries = [picked(planned, chooser.picks[-1])]
                self.measurements += measure(self.table, queries, self.noise, step)
        self.plan = with_adaptive(planned, chooser.picks)
        _check_spend(self.plan)
        again = self.plan.queries[len(planned.queries) + len(chooser.picks) :]
        self.measurements += measure(self.table, again, self.noise, step)

    def _sketch(self, start: Pgm | None) -> Pgm:
        """The graphical model of what was measured so far, good enough to see what is wrong."""
        plan, known = self.plan, self.combined
        return fit_pgm(
            plan.sizes,
            _targets(plan),
            total_of(plan.contribution, plan.n, known),
            known,
            tolerance=_SKETCH,
            iterations=plan.synthesis.iterations if start is None else _SKETCH_STEPS,
            start=start,
            # Always our own engine: mbi compiles for every new graph, and each round makes one.
            engine="fast",
        )

    def _measure(self, stage: ReleaseStage, queries: list[Query]) -> None:
        step = self._stage(stage, len(queries))
        self.measurements += measure(self.table, queries, self.noise, step)

    def _measure_chosen(self, plan: Plan, step: ChargeProgress) -> None:
        """Measure what the plan has more than before."""
        # Choices append their queries and leave the others where they were.
        queries = plan.queries[len(self.plan.queries) :]
        self.plan = plan
        _check_spend(plan)
        self.measurements += measure(self.table, queries, self.noise, step)

    def _naive_bayes(self) -> Model:
        return _naive_bayes(self.plan, self.combined)

    def fit(self) -> Model:
        """Post-processing from here on."""
        self.progress("fit", 0.0)
        return fit_model(self.plan, self.measurements, lambda share: self.progress("fit", share))
