"""Two ways to run the same methods: as the paper does, and as this product does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from prism_core.errors import ConfigError

if TYPE_CHECKING:
    from prism_core.planning.task import ModelName, SamplingRule, ThreeWayRule
    from prism_core.privacy.accountants import AccountantName

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
        paid_scores: whether features and weights come from DP mutual information that is paid for
            apart, as in the paper's Adult run.
    """

    name: SettingName
    accountant: AccountantName
    model: ModelName
    sampling: SamplingRule
    three_way: ThreeWayRule
    joint_cells: int
    paid_scores: bool


SETTINGS: dict[SettingName, Setting] = {
    "paper": Setting(
        name="paper", accountant="basic", model="naive_bayes", sampling="iid", three_way="none",
        joint_cells=0, paid_scores=True,
    ),
    "ours": Setting(
        name="ours", accountant="zcdp", model="pgm", sampling="rounded", three_way=ROUNDS,
        joint_cells=5_000, paid_scores=False,
    ),
}  # fmt: skip


def setting(name: str) -> Setting:
    """The setting of that name.

    Raises:
        ConfigError: when there is none.
    """
    for known in SETTING_NAMES:
        if name == known:
            return SETTINGS[known]
    raise ConfigError(f"setting must be one of {', '.join(SETTING_NAMES)}.", field="setting")
