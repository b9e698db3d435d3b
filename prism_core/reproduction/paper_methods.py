"""Methods of the paper's tables, the comparators beside them, and the two settings they run in.

The settings: as the paper runs them, and as this product does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from prism_core.comparators.external import EXTERNAL
from prism_core.errors import ConfigError

if TYPE_CHECKING:
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
