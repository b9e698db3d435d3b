"""Task, budget and synthesis: what the curator asks for. All public."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from prism_core.errors import BudgetError, PlanError, TaskError
from prism_core.planning.wishes.locks import check_together
from prism_core.privacy.accountants.accountant import ACCOUNTANTS, AccountantName
from prism_core.privacy.parameters import delta_value, epsilon_value
from prism_core.scalars import plain, plain_fields
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prism_core.planning.wishes.locks import Lock

MOST_TARGETS = 8
"""Most columns to be predicted: a clique of the model may hold all of them at once."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A column to be predicted, and what it counts.

    Attributes:
        name: the column.
        weight: beside the 1 of the first target; only the ratios matter.

    Raises:
        TaskError: when it names no column or the weight is no number above 0.
    """

    name: str
    weight: float = 1.0

    def __post_init__(self) -> None:
        plain_fields(self)
        if not isinstance(self.name, str) or not self.name:
            raise TaskError("A further target must name a column.", field="further")
        number = isinstance(self.weight, (int, float)) and not isinstance(self.weight, bool)
        if not number or not 0.0 < self.weight < math.inf:
            raise TaskError(
                f"The weight of the target {self.name!r} must be a number above 0; the first "
                "target counts 1.",
                field="further",
            )


def check_targets(first: str, further: Sequence[Target], three_way: str) -> None:
    """What can be said of several targets without a schema.

    Raises:
        TaskError: when a target is named twice, there are too many, or marginals of two features
            are asked for.
    """
    if not all(isinstance(target, Target) for target in further):
        raise TaskError("further must list further targets with weights.", field="further")
    names = [first, *(target.name for target in further)]
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice:
        raise TaskError(
            f"The target {twice[0]!r} is named twice. Name it once; the first target counts 1.",
            field="further",
        )
    if len(names) > MOST_TARGETS:
        raise TaskError(
            f"There are {len(names)} targets, and at most {MOST_TARGETS} are planned together. "
            "Leave some out.",
            field="further",
        )
    if further and three_way not in ("auto", "none"):
        raise TaskError(
            "With several targets there are no marginals of two features chosen at run time: whose "
            "target they serve would be ambiguous. Choose none, or one target.",
            field="three_way",
        )


Regime: TypeAlias = Literal["causal", "graphical", "predictive"]
AllocationRule: TypeAlias = Literal["closed_form", "uniform", "tilted"]
ModelName: TypeAlias = Literal["pgm", "naive_bayes"]
EngineName: TypeAlias = Literal["auto", "fast", "mbi"]
SamplingRule: TypeAlias = Literal["rounded", "iid"]
PairRule: TypeAlias = Literal["shrunk", "measured"]
SelectionRule: TypeAlias = Literal["greedy", "one_shot", "mutual_information", "logistic"]
ThreeWayRule: TypeAlias = Literal["auto", "none", "cmi", "model_error", "adaptive"]

NumericRule: TypeAlias = Literal["full", "moments", "thresholds", "second_moments"]

REGIMES: tuple[Regime, ...] = get_args(Regime)
ALLOCATIONS: tuple[AllocationRule, ...] = get_args(AllocationRule)
MODELS: tuple[ModelName, ...] = get_args(ModelName)
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
SAMPLINGS: tuple[SamplingRule, ...] = get_args(SamplingRule)
PAIR_RULES: tuple[PairRule, ...] = get_args(PairRule)
SELECTIONS: tuple[SelectionRule, ...] = get_args(SelectionRule)
THREE_WAYS: tuple[ThreeWayRule, ...] = get_args(ThreeWayRule)
NUMERIC_RULES: tuple[NumericRule, ...] = get_args(NumericRule)


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is to be predicted, and under which assumption.

    Attributes:
        target: the column Y.
        regime: causal (S = parents), graphical (S = Markov blanket) or predictive (S chosen
            privately).
        k: number of features chosen in the predictive regime; None leaves it to the plan: all of
            them where the budget carries that, else 8 (`automatic.settled`). With all of them
            nothing is chosen and nothing is spent on choosing.
        weights: public importance of features in S, by name; 1 where absent.
        max_joint_cells: the full joint (S, Y) is considered up to this many cells.
        selection: how the k features are chosen: `greedy` (rounds of the exponential mechanism),
            `one_shot` (the same guarantee in one draw), `mutual_information` (one draw, scored
            by mutual information as in the paper's Adult setting), `logistic` (the largest
            coefficients of a private logistic regression; takes a tenth of delta).
        three_way: how marginals (X_i, X_j, Y) within S are chosen privately: not at all, by
            conditional mutual information (the paper), or by the error of the model so far;
            `adaptive`: also marginals (X_i, X_j), one by one, with a fit of the model between;
            `auto`: adaptive where model and accountant allow it, else none.
        max_three_way: at most so many of them.
        numeric_queries: how numeric (and date) features with many bins are measured with the
            target: in `full`, cell by cell; by the `moments` 1, x, x^2 for each level of Y; or by
            counts between public `thresholds` for each level of Y; `second_moments`: moments, and
            the products x x' of two such features of S (the paper's case of squared loss).
        numeric_bins: from so many bins on.
        thresholds: how many thresholds, spread evenly over the bins.
        numeric_columns: columns with a rule of their own, however many bins they have.
        further: more columns to be predicted with the same release, each with a weight beside
            the 1 of `target`; see `planning.targets`. Not with `three_way`.
    """

    target: str
    regime: Regime = "causal"
    k: int | None = None
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    max_joint_cells: int = 5_000
    selection: SelectionRule = "greedy"
    three_way: ThreeWayRule = "auto"
    max_three_way: int = 40
    numeric_queries: NumericRule = "full"
    numeric_bins: int = 32
    thresholds: int = 15
    numeric_columns: Mapping[str, NumericRule] = field(default_factory=lambda: MappingProxyType({}))
    further: tuple[Target, ...] = ()

    def __post_init__(self) -> None:
        plain_fields(self)
        weights = {name: plain(weight) for name, weight in self.weights.items()}
        object.__setattr__(self, "weights", MappingProxyType(weights))
        object.__setattr__(self, "further", tuple(self.further))
        if not isinstance(self.target, str) or not self.target:
            raise TaskError("target must name the column to be predicted.", field="target")
        _one_of("regime", self.regime, REGIMES)
        _one_of("selection", self.selection, SELECTIONS)
        _one_of("three_way", self.three_way, THREE_WAYS)
        if self.k is not None:
            _whole("k", self.k)
        for name in ("max_three_way", "numeric_bins", "thresholds"):
            _whole(name, getattr(self, name))
        if isinstance(self.max_joint_cells, bool) or not isinstance(self.max_joint_cells, int):
            raise TaskError("max_joint_cells must be a whole number.", field="max_joint_cells")
        for name, weight in self.weights.items():
            if not _finite_positive(weight):
                raise TaskError(
                    f"The weight of {name!r} must be a number above 0.", field="weights"
                )
        check_targets(self.target, self.further, self.three_way)
        self._check_numeric()

    @property
    def targets(self) -> tuple[Target, ...]:
        """All columns to be predicted, with weights; the first one counts 1."""
        return (Target(name=self.target), *self.further)

    @property
    def target_names(self) -> tuple[str, ...]:
        """Names of all columns to be predicted."""
        return (self.target, *(target.name for target in self.further))

    @property
    def target_text(self) -> str:
        """The columns to be predicted, in words: "a", "a and b", "a, b and c"."""
        *first, last = self.target_names
        return f"{', '.join(first)} and {last}" if first else last

    @property
    def count(self) -> int:
        """K of a settled task in the predictive regime.

        Raises:
            TaskError: while it is left to the plan.
        """
        if self.k is None:
            raise TaskError("The number of features k is not settled yet.", field="k")
        return self.k

    def _check_numeric(self) -> None:
        object.__setattr__(self, "numeric_columns", MappingProxyType(dict(self.numeric_columns)))
        allowed = ", ".join(NUMERIC_RULES)
        if self.numeric_queries not in NUMERIC_RULES:
            close = suggestion(self.numeric_queries, NUMERIC_RULES)
            raise TaskError(
                f"numeric_queries must be one of {allowed}.{close}", field="numeric_queries"
            )
        for name, rule in self.numeric_columns.items():
            if rule not in NUMERIC_RULES:
                raise TaskError(
                    f"The rule of {name!r} must be one of {allowed}."
                    f"{suggestion(rule, NUMERIC_RULES)}",
                    field="numeric_columns",
                )
            if name in self.target_names:
                raise TaskError(
                    "A target is measured level by level; leave it out of numeric_columns.",
                    field="numeric_columns",
                )


@dataclass(frozen=True, kw_only=True)
class Shares:
    """Shares of the budget by pool (paper, section 4.3); they add up to 1.

    Attributes:
        selection: choosing S; used in the predictive regime only.
        choice: choosing 3-way marginals; given to task when none are asked for.
        task: marginals with the target.
        background: everything else.
    """

    selection: float = 0.10
    choice: float = 0.05
    task: float = 0.65
    background: float = 0.20

    def __post_init__(self) -> None:
        plain_fields(self)
        values = (self.selection, self.choice, self.task, self.background)
        if not all(_finite(value) and 0.0 <= value <= 1.0 for value in values):
            raise BudgetError("Every share must be a number between 0 and 1.", field="shares")
        if not abs(math.fsum(values) - 1.0) <= 1e-9:
            raise BudgetError("The shares of the pools must add up to 1.", field="shares")
        if not self.task > 0.0:
            raise BudgetError("The task pool needs a share above 0.", field="shares")


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How much privacy is spent and how it is shared out.

    Attributes:
        epsilon: privacy loss bound.
        delta: probability that the bound fails; 1/n^2 when None.
        accountant: `zcdp` (releases), `pld` (releases whose noise is all fixed beforehand) or
            `basic` (the paper's tables).
        allocation: `closed_form` (least expected error), `uniform`, or `tilted`: in between.
        tilt: of `tilted`: the exponent of the closed form is multiplied with it, so that 0 is
            `uniform` and 1 the closed form.
        shares: of the pools.
        locks: marginals whose share is fixed by hand; the others of their pool share the rest.
        above_limit: the workspace's maximum of epsilon that the curator chose to exceed; None
            where she did not. The plan says it, and so does every paper that follows from it.
    """

    epsilon: float = 1.0
    delta: float | None = None
    accountant: AccountantName = "zcdp"
    allocation: AllocationRule = "closed_form"
    shares: Shares = field(default_factory=Shares)
    tilt: float = 1.0
    locks: tuple[Lock, ...] = ()
    above_limit: float | None = None

    def __post_init__(self) -> None:
        plain_fields(self)
        epsilon_value(self.epsilon)
        if self.delta is not None:
            delta_value(self.delta)
        if self.above_limit is not None:
            epsilon_value(self.above_limit, "above_limit")
        if self.accountant not in ACCOUNTANTS:
            raise BudgetError(
                f"accountant must be one of {', '.join(ACCOUNTANTS)}."
                f"{suggestion(self.accountant, ACCOUNTANTS)}",
                field="accountant",
            )
        if self.allocation not in ALLOCATIONS:
            raise BudgetError(
                f"allocation must be one of {', '.join(ALLOCATIONS)}."
                f"{suggestion(self.allocation, ALLOCATIONS)}",
                field="allocation",
            )
        if not (_finite(self.tilt) and 0.0 <= self.tilt <= 1.0):
            raise BudgetError(
                "tilt must be a number between 0 (uniform) and 1 (closed form).", field="tilt"
            )
        object.__setattr__(self, "locks", tuple(self.locks))
        check_together(self.locks)


@dataclass(frozen=True, kw_only=True)
class Synthesis:
    """How the model is made and sampled; post-processing, spends nothing.

    Attributes:
        model: `pgm` (Private-PGM) or `naive_bayes` (the paper's experiments).
        sampling: `rounded` (less variance) or `iid` (as the ERM bound assumes).
        rows: number of synthetic rows; as many as training rows when None.
        iterations: of the fit.
        pairs: `shrunk`: `pgm` is fitted to noisy pairs with the target that are drawn towards what
            their levels and the other marginals have in common, and counts of several features
            move it as little as they must (`synthesis.shrink`, `synthesis.drawn`); `measured`: to
            all of them as they are.
        engine: what fits `pgm`: `fast`, `mbi` (the reference, compiles for each graph), or
            `auto`: fast unless a clique is so large that mbi is quicker. Same optimum of marginals
            as measured; only `fast` draws counts of several features.
    """

    model: ModelName = "pgm"
    sampling: SamplingRule = "rounded"
    rows: int | None = None
    iterations: int = 1_000
    pairs: PairRule = "shrunk"
    engine: EngineName = "auto"

    def __post_init__(self) -> None:
        plain_fields(self)
        for name, allowed in (
            ("model", MODELS),
            ("sampling", SAMPLINGS),
            ("pairs", PAIR_RULES),
            ("engine", ENGINES),
        ):
            value = getattr(self, name)
            if value not in allowed:
                raise PlanError(
                    f"{name} must be one of {', '.join(allowed)}.{suggestion(value, allowed)}",
                    field=name,
                )
        if self.rows is not None and not _between(self.rows, 100_000_000):
            raise PlanError("rows must be between 1 and 100,000,000.", field="rows")
        if not _between(self.iterations, 100_000):
            raise PlanError("iterations must be between 1 and 100,000.", field="iterations")


def _one_of(name: str, value: object, allowed: Sequence[str]) -> None:
    if value not in allowed:
        close = suggestion(value, allowed)
        raise TaskError(f"{name} must be one of {', '.join(allowed)}.{close}", field=name)


def _whole(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise TaskError(f"{name} must be a whole number above 0.", field=name)


def _between(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _finite(value: object) -> bool:
    try:
        return (
            isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        )
    except OverflowError:  # an integer beyond the range of floats
        return False


def _finite_positive(value: object) -> bool:
    return _finite(value) and float(value) > 0.0  # type: ignore[arg-type]
