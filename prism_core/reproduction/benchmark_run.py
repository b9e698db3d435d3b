"""One run of a benchmark: synthetic rows of a method, and its scores beside the ceilings.

On public rows with known noise; nothing is charged. Learners are trained on synthetic rows and
tested on real ones.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.comparators import design_comparator, run_comparator
from prism_core.comparators.external import design_external, run_external
from prism_core.data.encoding import EncodedTable
from prism_core.errors import ConfigError, EvaluationError
from prism_core.evaluation.tstr import scoring
from prism_core.evaluation.tstr.learners import fit, labelled
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.scenario import Scenario
from prism_core.planning.wishes.task import AllocationRule, Budget, Regime, Synthesis, Task
from prism_core.privacy.accountants.accountant import accountant
from prism_core.privacy.mechanisms import noisy_marginal
from prism_core.privacy.noise import SeededNoise
from prism_core.reproduction.outcomes import RunOutcome, Scored
from prism_core.reproduction.paper_methods import SELECTION_SHARE, information_scores
from prism_core.structure.dag import Dag
from prism_core.synthesis.measure import Measurement
from prism_core.synthesis.pgm import fit_pgm
from prism_core.synthesis.release import draw, release

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.reproduction.benchmarks import Benchmark, Case
    from prism_core.reproduction.paper_methods import Method, Setting

STAND_IN_SEED, TRIALS = 10_000, 20
"""A rehearsed allocation is chosen on rows drawn by this seed, in so many runs a candidate."""


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """One run: everything that it depends on."""

    benchmark: Benchmark
    method: Method
    setting: Setting
    epsilon: float
    seed: int
    sizes: tuple[int | None, ...]


@dataclass(frozen=True, kw_only=True)
class SyntheticTables:
    """Synthetic rows of one run.

    Attributes:
        tables: one for every size that was asked for.
        protected: the features S where they were known before the run, else None.
        seconds: from the plan to the first table.
    """

    tables: tuple[EncodedTable, ...] = field(repr=False)
    protected: tuple[str, ...] | None
    seconds: float


_SEVERAL_ROWS = ("causal", "graphical", "predictive", "mst", "aim")
"""Families whose noise is for all rows that are used of a person."""


def make(asked: RunRequest, case: Case) -> SyntheticTables:
    """The method's synthetic rows.

    Spends: epsilon at delta 1/n^2 of rows that are public; the oracle by correlation more.

    Raises:
        PrismError: where the method cannot run on these rows.
    """
    if asked.method.one_row:
        # Test rows stay as they are, so both ways are scored on the same ones.
        case = replace(case, train=case.train.one_row_each)
    if case.train.person is not None and asked.method.family not in _SEVERAL_ROWS:
        raise ConfigError(
            f"{asked.method.name} is for tables with one row of each person.", field="methods"
        )
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


def _release(asked: RunRequest, case: Case) -> SyntheticTables:
    started = time.monotonic()
    plan_case, scenario = _wishes(asked, case)
    first, *others = asked.sizes
    plan = design(
        Brief(
            case.schema,
            scenario.task,
            scenario.budget,
            case.train.people,
            dag=plan_case,
            synthesis=replace(scenario.synthesis, rows=first),
        )
    )
    noise, sampling = _streams(asked.seed)
    made = release(plan, case.train, ledger=None, noise=SeededNoise(noise), rng=sampling)
    seconds = time.monotonic() - started
    codes = [made.codes]
    for size in others:  # post-processing of the same model
        again = replace(made.plan, synthesis=replace(made.plan.synthesis, rows=size))
        codes.append(draw(again, made.model, made.seed, made.measurements)[0])
    return SyntheticTables(
        tables=tuple(EncodedTable(schema=case.schema, codes=one, public=True) for one in codes),
        protected=plan.s if plan.s_is_final else None,
        seconds=seconds,
    )


def _wishes(asked: RunRequest, case: Case) -> tuple[Dag, Scenario]:
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
        "causal": "causal",
        "graphical": "graphical",
        "predictive": "predictive",
    }
    scenario = _scenario(asked, regimes[method.family], count)
    if method.share == "rehearsed":
        scenario = _rehearsed(asked.benchmark, scenario, asked.epsilon)
    return case.dag, scenario


def _scenario(
    asked: RunRequest,
    regime: Regime,
    features: int,
    *,
    epsilon: float | None = None,
    weights: dict[str, float] | None = None,
) -> Scenario:
    setting, bench = asked.setting, asked.benchmark
    allocation: AllocationRule = (
        "uniform" if asked.method.share == "uniform" else setting.allocation
    )
    k = bench.features(setting.name, features)
    return Scenario(
        name=asked.method.name,
        task=Task(
            target=bench.target,
            regime=regime,
            k=k,
            three_way=setting.three_way,
            weights=dict(bench.weights) if weights is None else weights,
            max_joint_cells=setting.joint_cells,
        ),
        budget=Budget(
            epsilon=asked.epsilon if epsilon is None else epsilon,
            accountant=setting.accountant,
            allocation=allocation,
        ),
        synthesis=Synthesis(model=setting.model, sampling=setting.sampling),
    )


def star(case: Case, target: str, features: Sequence[str]) -> Dag:
    """A graph that makes S these features, whatever the truth: for methods that know none."""
    return Dag(nodes=case.schema.names, edges=tuple((target, name) for name in features))


def _paid(asked: RunRequest, case: Case) -> tuple[Dag, Scenario]:
    """The paper's Adult run: a tenth of epsilon for noisy scores, which choose and weigh.

    Spends: `SELECTION_SHARE` of epsilon here, the rest in the plan; basic composition.
    """
    target, count = asked.benchmark.target, len(case.schema.names) - 1
    # A stream of its own: 0, 1 and 2 are those of noise, rows and tables.
    rng = np.random.default_rng([asked.seed, 3])
    scores = information_scores(case.train, target, SELECTION_SHARE * asked.epsilon, rng)
    chosen = scores.top(min(asked.benchmark.k, count))
    scenario = _scenario(
        asked,
        "graphical",
        count,
        epsilon=(1.0 - SELECTION_SHARE) * asked.epsilon,
        weights=scores.weights(chosen),
    )
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
        # A constant column has no correlation: 0 / 0.
        x = table.column(name).astype(float)
        if name != target and x.std() > 0.0 and y.std() > 0.0:
            found[name] = abs(float(np.corrcoef(x, y)[0, 1]))
    # Stable: features that are equally correlated keep the schema's order.
    return tuple(sorted(found, key=lambda name: -found[name])[:k])


_chosen: dict[tuple[str, float], Scenario] = {}  # of this process: a choice takes many runs


def _rehearsed(bench: Benchmark, scenario: Scenario, epsilon: float) -> Scenario:
    """The wishes with the allocation that rehearsals on rows drawn from the graph chose.

    The choice depends on benchmark and epsilon alone, so it is the same in every process.
    """
    from prism_core.rehearsal.allocation_choice import choose
    from prism_core.rehearsal.stand_in_rows import from_graph

    key = (bench.name, epsilon)
    if key not in _chosen:
        case = bench.draw(STAND_IN_SEED)
        # What a curator has: the graph, the domain and n. The rows that made the benchmark are not
        # looked at.
        stand_in = from_graph(case.schema, bench.target, case.train.n, case.dag, seed=STAND_IN_SEED)
        sized = replace(scenario, synthesis=replace(scenario.synthesis, rows=bench.sizes[0]))
        _chosen[key] = choose(sized, stand_in, epsilon, seeds=TRIALS, jobs=1).scenario
    found = _chosen[key]
    # Only what was chosen: the rehearsal's number of rows is not this run's.
    budget = replace(scenario.budget, allocation=found.budget.allocation, tilt=found.budget.tilt)
    return replace(
        scenario, budget=budget, task=replace(scenario.task, three_way=found.task.three_way)
    )


def _comparator(asked: RunRequest, case: Case, name: str) -> SyntheticTables:
    """MST or AIM at the same (epsilon, delta) and the same neighbours; a run for every size."""
    codes, seconds = [], []
    for size in asked.sizes:
        # The same streams for every size: runs then differ by the number of rows alone.
        noise, sampling = _streams(asked.seed)
        plan = design_comparator(name, case.schema, case.train.people, asked.epsilon, rows=size)
        made = run_comparator(plan, case.train, ledger=None, noise=SeededNoise(noise), rng=sampling)
        codes.append(made.codes)
        seconds.append(made.seconds)
    return SyntheticTables(
        tables=tuple(EncodedTable(schema=case.schema, codes=one, public=True) for one in codes),
        protected=None,
        # To the first table, as for the other methods.
        seconds=seconds[0],
    )


def _external(asked: RunRequest, case: Case) -> SyntheticTables:
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
    return SyntheticTables(
        tables=tuple(EncodedTable(schema=case.schema, codes=one, public=True) for one in codes),
        protected=None,
        seconds=seconds[0],
    )


def _independent(asked: RunRequest, case: Case) -> SyntheticTables:
    """Every column by itself, under the setting's accountant.

    Spends: d Gaussian events of equal parts of (epsilon, 1/n^2), d columns.
    """
    started = time.monotonic()
    schema, n = case.schema, case.train.n
    delta, count = 1.0 / n**2, len(schema.names)
    account = accountant(asked.setting.accountant)
    # Parts of what the accountant adds up: rho, or epsilon itself under basic composition.
    part = account.amount(asked.epsilon, delta) / count
    # A hair less, so that the float sum of the parts stays within delta.
    event = account.gaussian(part, delta * (1.0 - 1e-12) / count, "column")
    noise, sampling = _streams(asked.seed)
    source = SeededNoise(noise)
    measured = [
        Measurement(
            clique=(name,),
            sigma=event.sigma,
            values=noisy_marginal(case.train, (name,), event.sigma, source),
        )
        for name in schema.names
    ]
    sizes = {name: schema.size(name) for name in schema.names}
    model = fit_pgm(sizes, asked.benchmark.target, n, measured, engine="fast")
    codes = [model.sample(size or n, sampling, asked.setting.sampling) for size in asked.sizes]
    return SyntheticTables(
        tables=tuple(EncodedTable(schema=schema, codes=one, public=True) for one in codes),
        protected=None,
        seconds=time.monotonic() - started,
    )


ONEHOT, STANDARDISED = "logistic_onehot", "logistic_standardised"

_CASES = 4  # of this process, the last ones used


@dataclass
class RunScorer:
    """The tables of a process with their ceilings, which runs share; all public."""

    _cases: dict[tuple[str, int], Case] = field(default_factory=dict)
    _known: dict[tuple[str, int, str, tuple[str, ...] | None], float] = field(default_factory=dict)

    def run(self, asked: RunRequest) -> tuple[RunOutcome, ...]:
        """One outcome for every number of synthetic rows. Spends nothing: the rows are public.

        The same whatever ran before, and in whichever process.
        """
        case = self._case(asked)
        made = make(asked, case)
        return tuple(
            RunOutcome(
                benchmark=asked.benchmark.name,
                method=asked.method.name,
                setting=asked.setting.name,
                epsilon=asked.epsilon,
                rows=table.n,
                seed=asked.seed,
                onehot=self._scored(asked, case, table, made.protected, ONEHOT),
                standardised=self._scored(asked, case, table, made.protected, STANDARDISED),
                l1=mean_l1(table, case.train),
                seconds=made.seconds,
            )
            for table in made.tables
        )

    def _case(self, asked: RunRequest) -> Case:
        key = _place(asked)
        if key not in self._cases:
            # Runs come seed by seed, so the oldest table is the one that nobody asks for again.
            while len(self._cases) >= _CASES:
                self._cases.pop(next(iter(self._cases)))
            self._cases[key] = asked.benchmark.draw(key[1])
        return self._cases[key]

    def _scored(
        self,
        asked: RunRequest,
        case: Case,
        table: EncodedTable,
        s: tuple[str, ...] | None,
        learner: str,
    ) -> Scored:
        target = asked.benchmark.target
        auc, accuracy = reached(learner, table, case.test, target, None)
        every = self._ceiling(asked, case, learner, None)
        return Scored(
            auc=auc,
            accuracy=accuracy,
            ceiling_all=every,
            # Features that were chosen from the rows have no ceiling of their own.
            ceiling=every if s is None else self._ceiling(asked, case, learner, s),
        )

    def _ceiling(
        self, asked: RunRequest, case: Case, learner: str, s: tuple[str, ...] | None
    ) -> float:
        key = (*_place(asked), learner, s)
        if key not in self._known:
            target = asked.benchmark.target
            self._known[key] = reached(learner, case.train, case.test, target, s)[0]
        return self._known[key]


def _place(asked: RunRequest) -> tuple[str, int]:
    return asked.benchmark.name, asked.seed


def reached(
    learner: str,
    table: EncodedTable,
    test: EncodedTable,
    target: str,
    features: tuple[str, ...] | None,
) -> tuple[float, float]:
    """AUC and accuracy on the test rows of a learner trained on a table.

    Rows of one class teach to rank everybody alike, which is an AUC of one half. For public
    benchmark rows; spends nothing.

    Raises:
        EvaluationError: when the test rows show a single class.
    """
    known, rows = labelled(table, target), labelled(test, target)
    y = rows.column(target)
    shown = np.unique(known.column(target))
    if len(shown) < 2:
        # Everybody is predicted to be of the only class that was learned.
        share = float(np.mean(y == shown[0])) if len(shown) else 0.0
        return 0.5, share
    proba = fit(learner, known, target=target, features=features).probabilities(rows)
    auc, accuracy = scoring.macro_auc(y, proba), scoring.accuracy(y, proba)
    if auc is None or accuracy is None:
        raise EvaluationError("The test rows must show at least two classes.", field="target")
    return auc, accuracy


def mean_l1(synthetic: EncodedTable, real: EncodedTable) -> float:
    """Mean over the columns of the l1 distance of their shares, 0 to 2.

    For public benchmark rows; spends nothing.
    """
    names = [(name,) for name in real.schema.names]
    pairs = zip(synthetic.counts(names), real.counts(names), strict=True)
    return float(np.mean([np.abs(a / synthetic.n - b / real.n).sum() for a, b in pairs]))
