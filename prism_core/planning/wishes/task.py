"""Task, budget and synthesis: what the curator asks for. All public."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeGuard, get_args

from prism_core.errors import BudgetError, PlanError, TaskError
from prism_core.planning.wishes.locks import Lock, check_together
from prism_core.planning.wishes.options import Option, check, choice, option, options_of
from prism_core.planning.wishes.targets import Target, check_targets
from prism_core.privacy.parameters import delta_value, epsilon_value
from prism_core.scalars import plain, plain_fields
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prism_core.privacy.accountants.accountant import AccountantName

Regime: TypeAlias = Literal["causal", "graphical", "predictive"]
AllocationRule: TypeAlias = Literal["balanced", "closed_form", "uniform", "tilted"]
ModelName: TypeAlias = Literal["pgm", "naive_bayes"]
EngineName: TypeAlias = Literal["auto", "fast", "mbi"]
SamplingRule: TypeAlias = Literal["rounded", "iid"]
PairRule: TypeAlias = Literal["shrunk", "measured"]
SelectionRule: TypeAlias = Literal["greedy", "one_shot", "mutual_information", "logistic"]
JointRule: TypeAlias = Literal["auto", "never"]
CoarsenRule: TypeAlias = Literal["open", "auto", "never"]
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
JOINTS: tuple[JointRule, ...] = get_args(JointRule)
NUMERIC_RULES: tuple[NumericRule, ...] = get_args(NumericRule)


def _is_predictive(task: Task) -> bool:
    return task.regime == "predictive"


def _has_numeric(task: Task) -> bool:
    """Whether any numeric column may be measured otherwise than cell by cell."""
    return task.numeric_queries != "full" or bool(task.numeric_columns)


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is to be predicted, and under which assumption.

    Attributes:
        target: the column Y.
        regime: causal (S = parents), graphical (S = Markov blanket) or predictive (S chosen
            privately).
        k: number of features chosen in the predictive regime; None leaves it to the plan: all of
            them where the budget carries that, else 8 (`feature_count.settled`). With all of them
            nothing is chosen and nothing is spent on choosing.
        weights: public importance of features in S, by name; 1 where absent.
        joint: whether causes are measured with the target at once where the noise allows it
            (`planning.joint`), or never.
        together: columns of S that act together, as the curator knows: they are measured with the
            target at once, whatever the noise.
        coarsen: which columns get bins or groups of levels that are found privately, by what they
            say of the target, where the noise allows it (`planning.coarsening`): those whose bins
            are left `open`, any (`auto`), or none.
        max_joint_cells: the joint of the target and columns of S has at most so many cells.
        selection: how the k features are chosen: `greedy` (rounds of the exponential mechanism),
            `one_shot` (the same guarantee in one draw), `mutual_information` (one draw, scored
            by mutual information as in the paper's Adult setting), `logistic` (the largest
            coefficients of a private logistic regression on all of them).
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
            the 1 of `target`; see `planning.regimes`. Not with `three_way`.
    """

    target: str = field(metadata=option("text", "Target", in_plan=True))
    regime: Regime = field(
        default="causal",
        metadata=choice(
            "Regime",
            {
                "causal": "Causal: the parents of the target",
                "graphical": "Graphical: its Markov blanket",
                "predictive": "Predictive: chosen privately",
            },
            in_plan=True,
        ),
    )
    k: int | None = field(
        default=None,
        metadata=option("whole", "Number of features, k", low=1, listed=_is_predictive),
    )
    max_joint_cells: int = field(
        default=5_000, metadata=option("whole", "Joint of S and the target: most cells")
    )
    joint: JointRule = field(
        default="auto",
        metadata=choice(
            "Joint of causes and the target",
            {"auto": "Where its noise is tolerable (recommended)", "never": "Never"},
            listed=lambda task: task.joint != "auto",
            written=lambda task: task.joint != "auto",
        ),
    )
    coarsen: CoarsenRule = field(
        default="open",
        metadata=choice(
            "Bins and groups of levels",
            {
                "open": "Bins found privately where none are declared (recommended)",
                "auto": "Bins and groups found privately wherever the noise allows it",
                "never": "As declared",
            },
            listed=lambda task: task.coarsen != "open",
            written=lambda task: task.coarsen != "open",
        ),
    )
    together: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "texts",
            "Causes that act together",
            listed=lambda task: bool(task.together),
            written=lambda task: bool(task.together),
        ),
    )
    selection: SelectionRule = field(
        default="greedy",
        metadata=choice(
            "How features are chosen",
            {
                "greedy": "One after another, by association with Y",
                "one_shot": "All at once, by association with Y (faster)",
                "mutual_information": "All at once, by mutual information with Y (the paper)",
                "logistic": "Together, by a private logistic regression on all of them",
            },
            listed=_is_predictive,
        ),
    )
    three_way: ThreeWayRule = field(
        default="auto",
        metadata=choice(
            "3-way marginals",
            {
                "auto": "Where they pay (recommended)",
                "none": "None",
                "cmi": "Features that go together (CMI)",
                "model_error": "Largest error of the model",
                "adaptive": "Round by round",
            },
        ),
    )
    max_three_way: int = field(
        default=40,
        metadata=option(
            "whole", "Most 3-way marginals", low=1, listed=lambda task: task.three_way != "none"
        ),
    )
    weights: Mapping[str, float] = field(
        default_factory=lambda: MappingProxyType({}), metadata=option("section", "Weight of")
    )
    numeric_queries: NumericRule = field(
        default="full",
        metadata=choice(
            "Numeric columns with the target",
            {
                "full": "Cell by cell",
                "moments": "By moments (1, x, x²)",
                "thresholds": "By counts between thresholds",
                "second_moments": "By moments, and products of two columns",
            },
            listed=lambda task: task.numeric_queries != "full",
            written=_has_numeric,
        ),
    )
    numeric_bins: int = field(
        default=32,
        metadata=option(
            "whole",
            "... from so many bins on",
            low=1,
            listed=lambda task: task.numeric_queries != "full",
            written=_has_numeric,
        ),
    )
    thresholds: int = field(
        default=15,
        metadata=option(
            "whole",
            "Thresholds",
            low=1,
            listed=lambda task: (
                "thresholds" in (task.numeric_queries, *task.numeric_columns.values())
            ),
            written=_has_numeric,
        ),
    )
    numeric_columns: Mapping[str, NumericRule] = field(
        default_factory=lambda: MappingProxyType({}),
        metadata=option("section", "With the target:", listed=lambda task: task.numeric_columns),
    )
    further: tuple[Target, ...] = field(
        default=(),
        metadata=option(
            "sections", "Weight of the further target", parts=Target, entry=("name", "weight")
        ),
    )

    def __post_init__(self) -> None:
        plain_fields(self)
        weights = {name: plain(weight) for name, weight in self.weights.items()}
        # A copy nobody can write to: the plan's hash covers it, and the caller may still hold the
        # dict.
        object.__setattr__(self, "weights", MappingProxyType(weights))
        object.__setattr__(self, "further", tuple(self.further))
        if not isinstance(self.target, str) or not self.target:
            raise TaskError("target must name the column to be predicted.", field="target")
        check(self, TaskError)
        for name, weight in self.weights.items():
            if not _finite_positive(weight):
                raise TaskError(
                    f"The weight of {name!r} must be a number above 0.", field="weights"
                )
        check_targets(self.target, self.further, self.three_way)
        self._check_together()
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

    def most_ties(self, features: int) -> int:
        """Ties between so many features at most: one costs what a pair with the target does."""
        return min(self.max_three_way, features)

    def _check_together(self) -> None:
        names = tuple(self.together)
        object.__setattr__(self, "together", names)
        if not names:
            return
        wrong = not all(isinstance(name, str) and name for name in names)
        if wrong or len(names) < 2 or len(set(names)) < len(names) or self.target in names:
            raise TaskError(
                "together must name two or more different columns, and not the target.",
                field="together",
            )
        if self.joint == "never":
            raise TaskError(
                "together asks for a joint, and joint = never forbids it. Remove one of the two.",
                field="joint",
            )

    def _check_numeric(self) -> None:
        object.__setattr__(self, "numeric_columns", MappingProxyType(dict(self.numeric_columns)))
        for name, rule in self.numeric_columns.items():
            if rule not in NUMERIC_RULES:
                raise TaskError(
                    f"The rule of {name!r} must be one of {', '.join(NUMERIC_RULES)}."
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

    selection: float = field(default=0.10, metadata=option("number"))
    choice: float = field(default=0.05, metadata=option("number"))
    task: float = field(default=0.65, metadata=option("number"))
    background: float = field(default=0.20, metadata=option("number"))

    def __post_init__(self) -> None:
        plain_fields(self)
        values = (self.selection, self.choice, self.task, self.background)
        if not all(_finite(value) and 0.0 <= value <= 1.0 for value in values):
            raise BudgetError("Every share must be a number between 0 and 1.", field="shares")
        # Decimals such as .1 and .05 need not add up to 1 in floats. A sum a hair above 1 is not
        # overspent: `Frame.pools` gives task what the other pools leave.
        if not abs(math.fsum(values) - 1.0) <= 1e-9:
            raise BudgetError("The shares of the pools must add up to 1.", field="shares")
        # The others may be 0, where nothing needs them; every plan measures task marginals.
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
        allocation: `balanced` (least expected error, with the fourth root of the curator's weights
            of features), `closed_form` (with the weights as they are: the paper), `uniform`, or
            `tilted`: between these two.
        tilt: of `tilted`: the exponent of the closed form is multiplied with it, so that 0 is
            `uniform` and 1 the closed form.
        shares: of the pools.
        locks: marginals whose share is fixed by hand; the others of their pool share the rest.
        above_limit: the workspace's maximum of epsilon that the curator chose to exceed; None
            where she did not. The plan says it, and so does every paper that follows from it.
    """

    epsilon: float = field(default=1.0, metadata=option("number", "Epsilon", in_plan=True))
    delta: float | None = field(default=None, metadata=option("number", "Delta", in_plan=True))
    accountant: AccountantName = field(
        default="zcdp",
        metadata=choice(
            "Accountant",
            {
                "zcdp": "zCDP (composes over releases)",
                "basic": "Basic composition (the paper)",
                "pld": "Privacy loss distributions (less noise)",
            },
            in_plan=True,
        ),
    )
    allocation: AllocationRule = field(
        default="balanced",
        metadata=choice(
            "Within a pool",
            {
                "balanced": "Balanced (recommended)",
                "closed_form": "Closed form (least expected error)",
                "uniform": "Uniform (all marginals alike)",
                "tilted": "In between",
            },
            in_plan=True,
        ),
    )
    tilt: float = field(
        default=1.0,
        metadata=option(
            "number",
            "Between uniform (0) and closed form (1)",
            low=0.0,
            high=1.0,
            range_text="a number between 0 (uniform) and 1 (closed form)",
            listed=lambda budget: budget.allocation == "tilted",
            written=lambda budget: budget.tilt != 1.0,
            in_plan=True,
        ),
    )
    above_limit: float | None = field(
        default=None,
        metadata=option(
            "number",
            "Workspace's maximum of epsilon, exceeded",
            listed=lambda budget: budget.above_limit is not None,
            in_plan=True,
        ),
    )
    shares: Shares = field(
        default_factory=Shares, metadata=option("section", "Share of", parts=Shares)
    )
    locks: tuple[Lock, ...] = field(
        default=(),
        metadata=option("sections", "Locked share of", parts=Lock, entry=("label", "share")),
    )

    def __post_init__(self) -> None:
        plain_fields(self)
        epsilon_value(self.epsilon)
        if self.delta is not None:
            delta_value(self.delta)
        if self.above_limit is not None:
            epsilon_value(self.above_limit, "above_limit")
        check(self, BudgetError)
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
            move it as little as they must (`synthesis.empirical_bayes`, `synthesis.prior_fit`);
            `measured`: to all of them as they are.
        engine: what fits `pgm`: `auto` and `fast` are our own engine, `mbi` is the reference, to
            compare with. Same optimum of marginals as measured, to what mbi's iterations reach;
            only ours pulls marginals of several features together.
    """

    model: ModelName = field(
        default="pgm",
        metadata=choice(
            "Model",
            {"pgm": "Graphical model (Private-PGM)", "naive_bayes": "Naive Bayes (the paper)"},
            in_plan=True,
        ),
    )
    sampling: SamplingRule = field(
        default="rounded",
        metadata=choice(
            "Sampling",
            {"rounded": "Rounded (less variance)", "iid": "Independent draws"},
            in_plan=True,
        ),
    )
    rows: int | None = field(
        default=None, metadata=option("whole", "Synthetic rows", low=1, high=100_000_000)
    )
    iterations: int = field(
        default=1_000, metadata=option("whole", "Iterations", low=1, high=100_000, in_plan=True)
    )
    pairs: PairRule = field(
        default="shrunk",
        metadata=choice(
            "Noisy marginals",
            {"shrunk": "Drawn together (less noise)", "measured": "As measured"},
            in_plan=True,
        ),
    )
    engine: EngineName = field(
        default="auto",
        metadata=choice(
            "Engine",
            {"auto": "PRISM's own", "fast": "PRISM's own", "mbi": "mbi, the reference"},
            help="what fits the model, instead of the configuration's; same optimum",
        ),
    )

    def __post_init__(self) -> None:
        plain_fields(self)
        check(self, PlanError)


WISHES: Mapping[str, type[Task | Budget | Synthesis]] = MappingProxyType(
    {"task": Task, "budget": Budget, "synthesis": Synthesis}
)
"""What the curator asks for, by section of the configuration."""

OPTIONS: Mapping[str, Option] = MappingProxyType(
    {
        f"{section}.{name}": one
        for section, record in WISHES.items()
        for name, one in options_of(record).items()
    }
)
"""The one table of options, by section and name: "task.k"."""


def _finite(value: object) -> TypeGuard[float]:
    try:
        return (
            # True is an int to Python, and would count as the number 1.
            isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        )
    except OverflowError:  # an integer beyond the range of floats
        return False


def _finite_positive(value: object) -> bool:
    return _finite(value) and value > 0.0
