"""The methods of the paper's tables, and the comparators that run beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from prism_core.errors import ConfigError
from prism_core.experiments.comparators.external import EXTERNAL

if TYPE_CHECKING:
    from prism_core.experiments.reproduce.settings import SettingName

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
    """

    name: str
    title: str
    family: Family
    share: Share = "closed_form"
    settings: tuple[SettingName, ...] = ("paper", "ours")
    private: bool = True


_ALL = (
    Method(name="causal-opt", title="PRISM-Causal (Opt)", family="causal"),
    Method(name="causal-unif", title="PRISM-Causal (Unif)", family="causal", share="uniform"),
    Method(name="graphical-opt", title="PRISM-Graphical (Opt)", family="graphical"),
    Method(
        name="graphical-unif", title="PRISM-Graphical (Unif)", family="graphical", share="uniform"
    ),
    Method(
        name="graphical-auto", title="PRISM-Graphical (Auto)", family="graphical",
        share="rehearsed", settings=("ours",),
    ),
    Method(name="predictive-opt", title="PRISM-Predictive (Opt)", family="predictive"),
    Method(
        name="predictive-unif", title="PRISM-Predictive (Unif)", family="predictive",
        share="uniform",
    ),
    Method(name="all-features", title="All Features (Unif)", family="all", share="uniform"),
    Method(name="independence", title="Independence Only", family="independence", share="uniform"),
    Method(
        name="corr-top-k", title="Corr Top-k (oracle, not private)", family="correlation",
        private=False,
    ),
    Method(name="mst", title="MST (own engine)", family="mst", settings=("ours",)),
    Method(name="aim", title="AIM (own engine)", family="aim", settings=("ours",)),
    *(
        Method(name=name, title=about.title, family="external", settings=("ours",))
        for name, about in EXTERNAL.items()
    ),
)  # fmt: skip

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
