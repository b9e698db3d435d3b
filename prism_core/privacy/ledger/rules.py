"""The kinds of charged steps, their stamps, and what a workspace's own rules ask of each."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from prism_core.errors import BudgetError, ConfigError, PrivacyError
from prism_core.privacy.parameters import epsilon_value
from prism_core.text import untrusted
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from pathlib import Path

Step: TypeAlias = Literal["release", "domain", "graph", "evaluation", "holdout", "comparator"]

SETTINGS = "settings.toml"
"""A workspace's own rules, written by hand."""

HOSTING_VARIABLE = "PRISM_HOSTING"
"""Names the hosting file, where people log in and a committee decides. Runs inherit it."""

MAX_EPSILON = 20.0
"""Largest epsilon of one budget where the workspace sets no `max_epsilon` under [limits]."""

_ENTRIES = {
    "release": ("approval_required",),
    "limits": ("max_epsilon",),
    "ledger": ("address",),
}
_CLOSE = 1.0 + 1e-9  # an epsilon that is computed back from its rho may end a hair above


@dataclass(frozen=True, kw_only=True)
class ChargedStep:
    """One kind of charged step.

    Attributes:
        charged, uncharged, rehearsed: its stamp with a ledger, without one, and on public rows
            with known noise.
        refusal: why it is refused without an approval where the workspace asks for one; ""
            where it needs none.
        approvable: whether an approval can be given for it.
    """

    charged: str
    uncharged: str
    rehearsed: str
    refusal: str = ""
    approvable: bool = False


CHARGED_STEPS: dict[Step, ChargedStep] = {
    "release": ChargedStep(
        charged="release",
        uncharged="release without a ledger",
        rehearsed="rehearsal, not a release",
        refusal="This workspace releases nothing of a private table without an approval. Have "
        "the plan approved and give the approval with the release; nothing was charged.",
        approvable=True,
    ),
    "comparator": ChargedStep(
        charged="comparator",
        uncharged="comparator without a ledger",
        rehearsed="rehearsal of a comparator",
        refusal="This workspace makes synthetic rows of private tables with an approval only, "
        "and a comparator cannot be approved. Rehearse it on public rows; nothing was charged.",
    ),
    # Steps that publish no rows: what they tell is approved with the release that uses it, or is
    # for the committee itself. They are charged all the same.
    "domain": ChargedStep(
        charged="learned", uncharged="learned without a ledger", rehearsed="rehearsal, not learned"
    ),
    "graph": ChargedStep(
        charged="learned", uncharged="learned without a ledger", rehearsed="rehearsal, not learned"
    ),
    "evaluation": ChargedStep(
        charged="private evaluation",
        uncharged="private evaluation without a ledger",
        rehearsed="rehearsal, not a private evaluation",
    ),
    "holdout": ChargedStep(
        charged="reusable holdout",
        uncharged="reusable holdout without a ledger",
        rehearsed="rehearsal on public rows, not charged",
    ),
}


def approval_required(workspace: Path) -> bool:
    """Whether private tables are released from this workspace with an approval only.

    That is `approval_required` under `[release]` in its settings.toml; without, true in the hosted
    form, which has a committee, and false in the laptop form.

    Raises:
        ConfigError: when that file is not usable; a rule that cannot be read is not passed over.
    """
    hosted = bool(os.environ.get(HOSTING_VARIABLE, "").strip())
    return bool(_settings(workspace).get("release", {}).get("approval_required", hosted))


def max_epsilon(workspace: Path) -> float:
    """The largest epsilon that may be spent on private rows without saying so.

    That is `max_epsilon` under `[limits]` in the workspace's settings.toml, `MAX_EPSILON` without.

    Raises:
        ConfigError: when that file is not usable.
    """
    return float(_settings(workspace).get("limits", {}).get("max_epsilon", MAX_EPSILON))


def ledger_address(workspace: Path) -> str:
    """The address of the database that keeps the ledger, "" where the workspace names none.

    That is `address` under `[ledger]` in the workspace's settings.toml.

    Raises:
        ConfigError: when that file is not usable.
    """
    return str(_settings(workspace).get("ledger", {}).get("address", ""))


def above_limit(
    epsilon: float, workspace: Path, *, allowed: bool = False, said: float | None = None
) -> float | None:
    """The workspace's maximum where an epsilon exceeds it on purpose, None where it does not.

    Every door asks here before it plans with private rows, and the gate once more before it
    charges. What is allowed is allowed above this maximum: above another one it is said anew.

    Args:
        epsilon: of the whole budget.
        workspace: whose rules hold.
        allowed: whether the curator says now that it may be exceeded.
        said: the maximum that she said so of before, in a configuration or a plan.

    Raises:
        BudgetError: when it is exceeded and that was not said.
        ConfigError: when the rules cannot be read.
    """
    most = max_epsilon(workspace)
    if not epsilon > most * _CLOSE:
        return None
    if allowed or said == most:
        return most
    raise BudgetError(
        f"epsilon = {epsilon:g} is above the maximum of this workspace, {most:g}. Lower it; or "
        "exceed the maximum on purpose (--epsilon-above-limit, above_limit under [budget], or "
        "the tick on the page), which every paper then says. Nothing was charged.",
        field="epsilon",
    )


def _settings(workspace: Path) -> dict[str, dict[str, Any]]:
    """The workspace's rules by section; nothing where it has none of its own."""
    try:
        text = untrusted.text_of(workspace / SETTINGS, untrusted.CONFIG)
        document = untrusted.from_toml(text, untrusted.CONFIG)
    except (FileNotFoundError, NotADirectoryError):
        if _stands(workspace):  # it is meant to be there
            raise _unusable("It cannot be opened under this name.") from None
        return {}
    except (OSError, ValueError):
        raise _unusable() from None
    if not document:
        raise _unusable()
    _check_settings(document)
    return document


def _check_settings(document: dict[str, Any]) -> None:
    """No entry that is not known, and every value of its kind: no rule is passed over."""
    for section, entries in document.items():
        if section not in _ENTRIES:
            raise _unusable(f"{section!r} is none of its sections.{suggestion(section, _ENTRIES)}")
        if not isinstance(entries, dict):
            raise _unusable(f"[{section}] must be a section.")
        for name in entries:
            if name not in _ENTRIES[section]:
                close = suggestion(name, _ENTRIES[section])
                raise _unusable(f"{name!r} is no entry of [{section}].{close}")
    if not isinstance(document.get("release", {}).get("approval_required", False), bool):
        raise _unusable("approval_required must be true or false.")
    if not isinstance(document.get("ledger", {}).get("address", ""), str):
        raise _unusable("address must be a text.")
    try:
        epsilon_value(document.get("limits", {}).get("max_epsilon", MAX_EPSILON))
    except BudgetError:
        raise _unusable("max_epsilon must be a number above 0.") from None


def _unusable(why: str = "") -> ConfigError:
    return ConfigError(
        f"The workspace's {SETTINGS} is not usable.{f' {why}' if why else ''} It must be a file of "
        "this name and may hold [release] with approval_required = true or false, [limits] with "
        "max_epsilon = a number, and [ledger] with address = a text, and nothing else.",
        field="workspace",
    )


def _stands(workspace: Path) -> bool:
    """Whether rules that could not be opened stand there all the same.

    A link that leads nowhere (to a drive that is not mounted), or a name in other letters, which
    only some systems open.
    """
    return workspace.is_dir() and any(p.name.casefold() == SETTINGS for p in workspace.iterdir())


def check_rules(step: Step, workspace: Path, *, approved: bool = False) -> None:
    """Refuse a step on private rows that the workspace's rules do not allow.

    Args:
        step: its kind.
        workspace: whose ledger is to be charged.
        approved: whether an approval comes with it; whether that is of this plan is checked
            where the charge is written.

    Raises:
        PrivacyError: when an approval is needed and there is none, or none can be given.
        ConfigError: when the rules cannot be read, or an approval comes with another step.
    """
    kind = CHARGED_STEPS[step]
    if approved and not kind.approvable:
        raise ConfigError("Only the plan of a release can be approved.", field="approval")
    if kind.refusal and not approved and approval_required(workspace):
        raise PrivacyError(kind.refusal, field="approval_required")
