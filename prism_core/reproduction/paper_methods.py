"""Methods of the paper's tables, the comparators beside them, and the two settings they run in.

The settings: as the paper runs them, and as this product does. With the choice of features that the
paper makes by mutual information with the target, paid for once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from prism_core.comparators.external import EXTERNAL
from prism_core.errors import ConfigError, PrivacyError
from prism_core.privacy.parameters import epsilon_value
from prism_core.privacy.scores import mutual_information, mutual_information_sensitivity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from prism_core.data.encoding import EncodedTable
    from prism_core.planning.wishes.task import (
        AllocationRule,
        ModelName,
        SamplingRule,
        ThreeWayRule,
    )
    from prism_core.privacy.accountants.accountant import AccountantName

SettingName: TypeAlias = Literal["paper", "ours"]
SETTING_NAMES: tuple[SettingName, ...] = get_args(SettingName)

ROUNDS: ThreeWayRule = "auto"
"""How `ours` chooses marginals beyond the pairs with the target."""
SELECTION_SHARE = 0.10
"""Part of epsilon that the paper gives to choosing features."""

_LEAST = 0.01  # weight of a score that noise made useless, as a part of the largest


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What the methods of one setting have in common.

    Attributes:
        name: in rows and commands.
        accountant: `basic` with the paper's classic Gaussian, or zCDP.
        model: naive Bayes, or the graphical model.
        sampling: of the synthetic rows.
        three_way: marginals beyond the pairs with the target.
        joint_cells: the full joint (S, Y) is considered up to this many cells.
        allocation: how the methods that are not uniform share out a pool.
        paid_scores: whether features and weights come from DP mutual information that is paid for
            apart, as in the paper's Adult run.
    """

    name: SettingName
    accountant: AccountantName
    model: ModelName
    sampling: SamplingRule
    three_way: ThreeWayRule
    joint_cells: int
    allocation: AllocationRule
    paid_scores: bool


SETTINGS: dict[SettingName, Setting] = {
    "paper": Setting(
        name="paper",
        accountant="basic",
        model="naive_bayes",
        sampling="iid",
        three_way="none",
        joint_cells=0,
        allocation="closed_form",
        paid_scores=True,
    ),
    "ours": Setting(
        name="ours",
        accountant="zcdp",
        model="pgm",
        sampling="rounded",
        three_way=ROUNDS,
        joint_cells=5_000,
        allocation="balanced",
        paid_scores=False,
    ),
}


def setting(name: str) -> Setting:
    """The setting of that name.

    Raises:
        ConfigError: when there is none.
    """
    # A loop and not a look-up: the type checker then knows which name it is.
    for known in SETTING_NAMES:
        if name == known:
            return SETTINGS[known]
    raise ConfigError(f"setting must be one of {', '.join(SETTING_NAMES)}.", field="setting")


Family: TypeAlias = Literal[
    "causal",
    "graphical",
    "predictive",
    "all",
    "independence",
    "correlation",
    "mst",
    "aim",
    "external",
]
Share: TypeAlias = Literal["closed_form", "uniform", "rehearsed"]


@dataclass(frozen=True, kw_only=True)
class Method:
    """One line of a table.

    Attributes:
        name: in rows and commands.
        title: as the paper calls it.
        family: how S is found, or which comparator it is.
        share: how the budget is shared out; `rehearsed`: chosen on other public rows.
        settings: in which it runs.
        private: False where features are chosen from the rows without noise: an oracle, for the
            experiment only.
        one_row: whether one row of each person is used, however many the table's schema allows.
    """

    name: str
    title: str
    family: Family
    share: Share = "closed_form"
    settings: tuple[SettingName, ...] = ("paper", "ours")
    private: bool = True
    one_row: bool = False


_ALL = (
    Method(name="causal-opt", title="PRISM-Causal (Opt)", family="causal"),
    Method(name="causal-unif", title="PRISM-Causal (Unif)", family="causal", share="uniform"),
    Method(name="graphical-opt", title="PRISM-Graphical (Opt)", family="graphical"),
    Method(
        name="graphical-unif", title="PRISM-Graphical (Unif)", family="graphical", share="uniform"
    ),
    Method(
        name="graphical-one-row",
        title="PRISM-Graphical (Opt), one row of each person",
        family="graphical",
        settings=("ours",),
        one_row=True,
    ),
    Method(
        name="graphical-auto",
        title="PRISM-Graphical (Auto)",
        family="graphical",
        share="rehearsed",
        settings=("ours",),
    ),
    Method(name="predictive-opt", title="PRISM-Predictive (Opt)", family="predictive"),
    Method(
        name="predictive-unif",
        title="PRISM-Predictive (Unif)",
        family="predictive",
        share="uniform",
    ),
    Method(name="all-features", title="All Features (Unif)", family="all", share="uniform"),
    Method(name="independence", title="Independence Only", family="independence", share="uniform"),
    Method(
        name="corr-top-k",
        title="Corr Top-k (oracle, not private)",
        family="correlation",
        private=False,
    ),
    Method(name="mst", title="MST (own engine)", family="mst", settings=("ours",)),
    Method(name="aim", title="AIM (own engine)", family="aim", settings=("ours",)),
    *(
        Method(name=name, title=about.title, family="external", settings=("ours",))
        for name, about in EXTERNAL.items()
    ),
)

METHODS: dict[str, Method] = {method.name: method for method in _ALL}


def method(name: str) -> Method:
    """The method of that name.

    Raises:
        ConfigError: when there is none.
    """
    if name not in METHODS:
        raise ConfigError(
            f"The method {name!r} is unknown; choose among {', '.join(METHODS)}.", field="methods"
        )
    return METHODS[name]


@dataclass(frozen=True, kw_only=True)
class InformationScores:
    """Noisy mutual information of every feature with the target, in nats.

    Attributes:
        scores: by feature, in schema order.
        scale: of the Laplace noise in each.
    """

    scores: Mapping[str, float]
    scale: float

    def top(self, k: int) -> tuple[str, ...]:
        """The k features with the highest noisy scores; post-processing."""
        return tuple(sorted(self.scores, key=lambda name: -self.scores[name])[:k])

    def weights(self, names: Sequence[str]) -> dict[str, float]:
        """Weights in proportion to the noisy scores, all above 0; post-processing."""
        # Where noise has left all scores at 0 or below, all weigh the same.
        largest = max(0.0, *(self.scores[name] for name in names)) or 1.0
        return {name: max(self.scores[name], _LEAST * largest) for name in names}


def information_scores(
    table: EncodedTable, target: str, epsilon: float, rng: np.random.Generator
) -> InformationScores:
    """The scores of all features with Laplace noise. For public benchmark rows only.

    Spends: epsilon, pure; neighbours replace one person.

    Proof. I(X_j; Y) moves by at most Delta_j (`mutual_information_sensitivity`), so the vector of
    all scores moves by at most sum_j Delta_j in l1, and Laplace noise of that scale over epsilon
    is epsilon-DP. The noise is made of floats, whose low bits would tell rows apart: no release
    may use it, and private rows are refused.

    Raises:
        PrivacyError: for rows that are not public; nothing was read.
    """
    if not table.public:
        raise PrivacyError(
            "Scores with floating-point noise are for public benchmark rows only; a release "
            "chooses features by the exponential mechanism.",
            field="table",
        )
    schema = table.schema
    names = [name for name in schema.names if name != target]
    scale = l1_sensitivity(
        table.n, [schema.size(name) for name in names], schema.size(target)
    ) / epsilon_value(epsilon)
    exact = [
        mutual_information(counts) for counts in table.counts([(name, target) for name in names])
    ]
    noise = rng.laplace(0.0, scale, len(names))
    scores = {name: e + float(z) for name, e, z in zip(names, exact, noise, strict=True)}
    return InformationScores(scores=scores, scale=scale)


def l1_sensitivity(n: int, sizes: Sequence[int], target: int) -> float:
    """The sum over features of the sensitivity of their mutual information with the target.

    Args:
        n: rows, public.
        sizes: codes of every feature.
        target: codes of Y.
    """
    return math.fsum(
        mutual_information_sensitivity(n, binary=target <= 2 or size <= 2) for size in sizes
    )
