"""Synthetic rows of every method, on public rows with known noise. Nothing is charged."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.errors import ConfigError
from prism_core.experiments.comparators import design_comparator
from prism_core.experiments.comparators import run as run_comparator
from prism_core.experiments.comparators.external import design_external, run_external
from prism_core.experiments.reproduce.paid import SELECTION_SHARE, paid_scores
from prism_core.pipeline import draw, release
from prism_core.planning.design import design
from prism_core.planning.scenario import Scenario
from prism_core.planning.task import Budget, Synthesis, Task
from prism_core.privacy.accountants import accountant
from prism_core.privacy.mechanisms import noisy_marginal
from prism_core.privacy.noise import SeededNoise
from prism_core.structure.dag import Dag
from prism_core.synthesis.measure import Measurement
from prism_core.synthesis.pgm import fit_pgm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.experiments.reproduce.benchmark import Benchmark, Case
    from prism_core.experiments.reproduce.methods import Method
    from prism_core.experiments.reproduce.settings import Setting
    from prism_core.planning.task import AllocationRule, Regime

STAND_IN_SEED, TRIALS = 10_000, 20
"""A rehearsed allocation is chosen on the rows of this seed, by so many runs of every candidate."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One run: everything that it depends on."""

    benchmark: Benchmark
    method: Method
    setting: Setting
    epsilon: float
    seed: int
    sizes: tuple[int | None, ...]


@dataclass(frozen=True, kw_only=True)
class Made:
    """Synthetic rows of one run.

    Attributes:
        tables: one for every size that was asked for.
        protected: the features S where they were known before the run, else None.
        seconds: from the plan to the first table.
    """

    tables: tuple[EncodedTable, ...] = field(repr=False)
    protected: tuple[str, ...] | None
    seconds: float


def make(asked: Asked, case: Case) -> Made:
    """The method's synthetic rows.

    Spends: epsilon at delta 1/n^2 of rows that are public; the oracle by correlation more.

    Raises:
        PrismError: where the method cannot run on these rows.
    """
    if asked.method.family in ("mst", "aim"):
        return _comparator(asked, case, asked.method.family)
    if asked.method.family == "external":
        return _external(asked, case)
    if asked.method.family == "independence":
        return _independent(asked, case)
    return _release(asked, case)


def _streams(seed: int) -> tuple[np.random.Generator, np.random.Generator]:
    """One stream for the noise and one for the rows, the same for every method."""
    noise, sampling = (np.random.default_rng([seed, part]) for part in (0, 1))
    return noise, sampling


def _release(asked: Asked, case: Case) -> Made:
    started = time.monotonic()
    plan_case, scenario = _wishes(asked, case)
    first, *others = asked.sizes
    plan = design(
        case.schema, scenario.task, scenario.budget, case.train.n, dag=plan_case,
        synthesis=replace(scenario.synthesis, rows=first),
    )  # fmt: skip
    noise, sampling = _streams(asked.seed)
    made = release(plan, case.train, ledger=None, noise=SeededNoise(noise), rng=sampling)
    seconds = time.monotonic() - started
    codes = [made.codes]
    for size in others:  # post-processing of the same model
        again = replace(made.plan, synthesis=replace(made.plan.synthesis, rows=size))
        codes.append(draw(again, made.model, made.seed)[0])
    return Made(
        tables=tuple(EncodedTable(schema=case.schema, codes=one, public=True) for one in codes),
        protected=plan.s if plan.s_is_final else None, seconds=seconds,
    )  # fmt: skip


def _wishes(asked: Asked, case: Case) -> tuple[Dag, Scenario]:
    """The graph that the plan gets, and what is asked of it."""
    method, bench = asked.method, asked.benchmark
    count = len(case.schema.names) - 1
    if method.family == "predictive" and asked.setting.paid_scores:
        return _paid(asked, case)
    if method.family == "all":
        features = tuple(name for name in case.schema.names if name != bench.target)
        return star(case, bench.target, features), _scenario(asked, "graphical", count)
    if method.family == "correlation":
        chosen = most_correlated_not_private(case.train, bench.target, bench.top_k)
        return star(case, bench.target, chosen), _scenario(asked, "graphical", count)
    regimes: dict[str, Regime] = {
        "causal": "causal", "graphical": "graphical", "predictive": "predictive",
    }  # fmt: skip
    scenario = _scenario(asked, regimes[method.family], count)
    if method.share == "rehearsed":
        scenario = _rehearsed(asked.benchmark, scenario, asked.epsilon)
    return case.dag, scenario


def _scenario(
    asked: Asked, regime: Regime, features: int, *, epsilon: float | None = None,
    weights: dict[str, float] | None = None,
) -> Scenario:  # fmt: skip
    setting, bench = asked.setting, asked.benchmark
    allocation: AllocationRule = "uniform" if asked.method.share == "uniform" else "closed_form"
    k = bench.features(setting.name, features)
    return Scenario(
        name=asked.method.name,
        task=Task(
            target=bench.target, regime=regime, k=k, three_way=setting.three_way,
            weights=dict(bench.weights) if weights is None else weights,
            max_joint_cells=setting.joint_cells,
        ),
        budget=Budget(
            epsilon=asked.epsilon if epsilon is None else epsilon,
            accountant=setting.accountant, allocation=allocation,
        ),
        synthesis=Synthesis(model=setting.model, sampling=setting.sampling),
    )  # fmt: skip


def star(case: Case, target: str, features: Sequence[str]) -> Dag:
    """A graph that makes S these features, whatever the truth: for methods that know none."""
    return Dag(nodes=case.schema.names, edges=tuple((target, name) for name in features))


def _paid(asked: Asked, case: Case) -> tuple[Dag, Scenario]:
    """The paper's Adult run: a tenth of epsilon for noisy scores, which choose and weigh.

    Spends: `SELECTION_SHARE` of epsilon here, the rest in the plan; basic composition.
    """
    target, count = asked.benchmark.target, len(case.schema.names) - 1
    rng = np.random.default_rng([asked.seed, 3])
    scores = paid_scores(case.train, target, SELECTION_SHARE * asked.epsilon, rng)
    chosen = scores.top(min(asked.benchmark.k, count))
    scenario = _scenario(
        asked, "graphical", count, epsilon=(1.0 - SELECTION_SHARE) * asked.epsilon,
        weights=scores.weights(chosen),
    )  # fmt: skip
    return star(case, target, chosen), scenario


def most_correlated_not_private(table: EncodedTable, target: str, k: int) -> tuple[str, ...]:
    """The k features with the largest absolute correlation of codes with the target. NOT PRIVATE.

    The paper's oracle: it reads rows without noise, so it is for public benchmark rows only, where
    it spends nothing.

    Raises:
        ConfigError: for rows that are not public; nothing was read.
    """
    if not table.public:
        raise ConfigError("The oracle is for public benchmark rows only.", field="methods")
    y = table.column(target).astype(float)
    found: dict[str, float] = {}
    for name in table.schema.names:
        x = table.column(name).astype(float)
        if name != target and x.std() > 0.0 and y.std() > 0.0:
            found[name] = abs(float(np.corrcoef(x, y)[0, 1]))
    return tuple(sorted(found, key=lambda name: -found[name])[:k])


_chosen: dict[tuple[str, float], Scenario] = {}  # of this process: a choice takes many runs


def _rehearsed(bench: Benchmark, scenario: Scenario, epsilon: float) -> Scenario:
    """The wishes with the allocation that rehearsals on other generated rows chose.

    The choice depends on benchmark and epsilon alone, so it is the same in every process.
    """
    from prism_core.rehearsal import StandIn
    from prism_core.rehearsal.auto import choose

    key = (bench.name, epsilon)
    if key not in _chosen:
        case = bench.draw(STAND_IN_SEED)
        stand_in = StandIn(
            title=bench.title, target=bench.target, dag=case.dag, train=case.train,
            holdouts={"none": case.test},
        )  # fmt: skip
        sized = replace(scenario, synthesis=replace(scenario.synthesis, rows=bench.sizes[0]))
        _chosen[key] = choose(sized, stand_in, epsilon, seeds=TRIALS, jobs=1).scenario
    found = _chosen[key]
    budget = replace(scenario.budget, allocation=found.budget.allocation, tilt=found.budget.tilt)
    return replace(
        scenario, budget=budget, task=replace(scenario.task, three_way=found.task.three_way)
    )


def _comparator(asked: Asked, case: Case, name: str) -> Made:
    """MST or AIM at the same (epsilon, delta) and the same neighbours; a run for every size."""
    codes, seconds = [], []
    for size in asked.sizes:
        noise, sampling = _streams(asked.seed)
        plan = design_comparator(name, case.schema, case.train.n, asked.epsilon, rows=size)
        made = run_comparator(plan, case.train, ledger=None, noise=SeededNoise(noise), rng=sampling)
        codes.append(made.codes)
        seconds.append(made.seconds)
    return Made(
        tables=tuple(EncodedTable(schema=case.schema, codes=one, public=True) for one in codes),
        protected=None, seconds=seconds[0],
    )  # fmt: skip


def _external(asked: Asked, case: Case) -> Made:
    """Another package at the same (epsilon, delta), converted; a run for every size.

    Only where the package fixes its noise by a seed is the outcome the same again.
    """
    codes, seconds = [], []
    for size in asked.sizes:
        plan = design_external(
            asked.method.name, case.schema, case.train.n, asked.epsilon, rows=size
        )
        made = run_external(plan, case.train, rng=_streams(asked.seed)[0])
        codes.append(made.codes)
        seconds.append(made.seconds)
    return Made(
        tables=tuple(EncodedTable(schema=case.schema, codes=one, public=True) for one in codes),
        protected=None, seconds=seconds[0],
    )  # fmt: skip


def _independent(asked: Asked, case: Case) -> Made:
    """Every column by itself, under the setting's accountant.

    Spends: d Gaussian events of equal parts of (epsilon, 1/n^2), d columns.
    """
    started = time.monotonic()
    schema, n = case.schema, case.train.n
    delta, count = 1.0 / n**2, len(schema.names)
    account = accountant(asked.setting.accountant)
    part = account.amount(asked.epsilon, delta) / count
    event = account.gaussian(part, delta * (1.0 - 1e-12) / count, "column")
    noise, sampling = _streams(asked.seed)
    source = SeededNoise(noise)
    measured = [
        Measurement(
            clique=(name,), sigma=event.sigma,
            values=noisy_marginal(case.train, (name,), event.sigma, source),
        )
        for name in schema.names
    ]  # fmt: skip
    sizes = {name: schema.size(name) for name in schema.names}
    model = fit_pgm(sizes, asked.benchmark.target, n, measured, engine="fast")
    codes = [model.sample(size or n, sampling, asked.setting.sampling) for size in asked.sizes]
    return Made(
        tables=tuple(EncodedTable(schema=schema, codes=one, public=True) for one in codes),
        protected=None, seconds=time.monotonic() - started,
    )  # fmt: skip
