"""The kinds of charged steps, their stamps, and what a workspace's own rules ask of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from prism_core import foreign
from prism_core.errors import ConfigError, PrivacyError

if TYPE_CHECKING:
    from pathlib import Path

Step: TypeAlias = Literal["release", "domain", "graph", "evaluation", "holdout", "comparator"]

SETTINGS = "settings.toml"
"""A workspace's own rules, written by hand."""

_RULE = "approval_required"


@dataclass(frozen=True, kw_only=True)
class Kind:
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


KINDS: dict[Step, Kind] = {
    "release": Kind(
        charged="release",
        uncharged="release without a ledger",
        rehearsed="rehearsal, not a release",
        refusal="This workspace releases nothing of a private table without an approval. Have "
        "the plan approved and give the approval with the release; nothing was charged.",
        approvable=True,
    ),
    "comparator": Kind(
        charged="comparator",
        uncharged="comparator without a ledger",
        rehearsed="rehearsal of a comparator",
        refusal="This workspace makes synthetic rows of private tables with an approval only, "
        "and a comparator cannot be approved. Rehearse it on public rows; nothing was charged.",
    ),
    # Steps that publish no rows: what they tell is approved with the release that uses it, or is
    # for the committee itself. They are charged all the same.
    "domain": Kind(
        charged="learned", uncharged="learned without a ledger", rehearsed="rehearsal, not learned"
    ),
    "graph": Kind(
        charged="learned", uncharged="learned without a ledger", rehearsed="rehearsal, not learned"
    ),
    "evaluation": Kind(
        charged="private evaluation",
        uncharged="private evaluation without a ledger",
        rehearsed="rehearsal, not a private evaluation",
    ),
    "holdout": Kind(
        charged="reusable holdout",
        uncharged="reusable holdout without a ledger",
        rehearsed="rehearsal on public rows, not charged",
    ),
}


def approval_required(workspace: Path) -> bool:
    """Whether private tables are released from this workspace with an approval only.

    That is `approval_required = true` under `[release]` in its settings.toml.

    Raises:
        ConfigError: when that file is not usable; a rule that cannot be read is not passed over.
    """
    try:
        text = foreign.text_of(workspace / SETTINGS, foreign.CONFIG)
        document = foreign.from_toml(text, foreign.CONFIG)
    except FileNotFoundError:
        if not _stands(workspace):
            return False
        document = {}  # it is meant to be there
    except (OSError, ValueError):
        document = {}
    section = document.get("release")
    # An entry that nobody reads would be a rule that somebody believes to hold.
    if set(document) != {"release"} or not isinstance(section, dict) or set(section) - {_RULE}:
        wanted = None
    else:
        wanted = section.get(_RULE, False)
    if not isinstance(wanted, bool):
        raise ConfigError(
            f"The workspace's {SETTINGS} is not usable. It must be a file of this name and may "
            "hold [release] with approval_required = true or false, and nothing else.",
            field="workspace",
        )
    return wanted


def _stands(workspace: Path) -> bool:
    """Whether rules that could not be opened stand there all the same.

    A link that leads nowhere (to a drive that is not mounted), or a name in other letters, which
    only some systems open.
    """
    return workspace.is_dir() and any(p.name.casefold() == SETTINGS for p in workspace.iterdir())


def check(step: Step, workspace: Path, *, approved: bool = False) -> None:
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
    kind = KINDS[step]
    if approved and not kind.approvable:
        raise ConfigError("Only the plan of a release can be approved.", field="approval")
    if kind.refusal and not approved and approval_required(workspace):
        raise PrivacyError(kind.refusal, field="approval_required")
