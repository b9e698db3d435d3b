"""The file that says who approved which plan, and what has changed since.

It holds the approval and the settings of the approved plan, all public, so that a plan that is
another one can be compared with it entry by entry.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from prism_core import foreign
from prism_core.bundle.layout import json_text
from prism_core.bundle.own_settings import check_own
from prism_core.data import schema_io
from prism_core.errors import ConfigError, PlanError
from prism_core.planning.approval import Approval, approval_from
from prism_core.planning.scenario import entries

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.planning.plan import Plan

KIND = "prism approval"
PROTOCOL_KIND = "prism protocol"


@dataclass(frozen=True, kw_only=True)
class Change:
    """One entry in which a plan differs from an earlier one; None where there is no such entry.

    Attributes:
        what: the entry, as `settings` names it.
        approved: its value in the earlier plan: the approved one, or that of a finished release.
        now: its value now.
    """

    what: str
    approved: Any
    now: Any


@dataclass(frozen=True, kw_only=True)
class Approved:
    """An approval, and the settings that were approved.

    Attributes:
        approval: who, when, which plan.
        settings: of that plan, as `settings` gives them.
    """

    approval: Approval
    settings: dict[str, Any] = field(repr=False)

    def changes(self, plan: Plan) -> tuple[Change, ...]:
        """Entries in which a plan differs from the approved one. Reads no row."""
        return changes(self.settings, plan)

    def covers(self, plan: Plan, asset: str = "") -> bool:
        """Whether exactly this plan was approved, by hash and by settings, for this asset."""
        return self.approval.covers(plan, asset) and not self.changes(plan)

    def check(self, plan: Plan, asset: str = "") -> None:
        """Refuse another plan, other settings, or another asset. All releases go through here.

        The hash covers what is measured; the settings are what the people read who approved. Both
        must be of this plan.

        Raises:
            PlanError: saying which.
        """
        self.approval.check(plan.hash, asset)
        changes = self.changes(plan)
        if changes:
            raise PlanError(
                f"The settings that were {self.approval.sentence} are not those of this plan: "
                f"{changes[0].what} differs. Go back to the approved ones, or have this plan "
                "approved. Nothing was run.",
                field="protocol",
            )

    def dumps(self) -> str:
        """The file's text."""
        return json_text(
            {"kind": KIND, "approval": self.approval.to_dict(), "settings": self.settings}
        )


def changes(before: dict[str, Any], plan: Plan) -> tuple[Change, ...]:
    """Entries in which a plan differs from the settings of an earlier one. Reads no row.

    Args:
        before: as `settings` gave them.
        plan: the plan as it is now.
    """
    now = settings(plan)
    names = [*before, *(name for name in now if name not in before)]
    return tuple(
        Change(what=name, approved=before.get(name), now=now.get(name))
        for name in names
        if before.get(name) != now.get(name)
    )


def settings(plan: Plan) -> dict[str, Any]:
    """The entries that a plan follows from, one a line; all public."""
    found: dict[str, Any] = {"people": plan.n, **entries(plan)}
    schema = schema_io.to_dict(plan.schema)
    for column in schema.pop("columns"):
        found[f"column.{column['name']}"] = column
    found |= {f"schema.{name}": value for name, value in schema.items()}
    if plan.dag is not None:
        found |= {f"edge.{cause} → {effect}": True for cause, effect in sorted(plan.dag.edges)}
        found |= {f"unmeasured.{name}": True for name in sorted(plan.dag.unmeasured)}
        found["graph.provenance"] = plan.dag.provenance
    # As a file gives it back, so that both sides of a comparison are of one kind.
    return json.loads(json_text(found))


def load(path: str | Path) -> Approved:
    """Read the file of an approval.

    Raises:
        ConfigError: when it is not one, or only a protocol that nobody has approved yet.
    """
    return loads(foreign.read_text(path, foreign.APPROVAL))


def loads(text: str) -> Approved:
    """An approval from its file's text.

    Raises:
        ConfigError: see `load`.
    """
    document = _document(text)
    if document.get("kind") == PROTOCOL_KIND:
        raise ConfigError(
            "This is a protocol that nobody has approved yet. Record the approval with "
            "`prism approve`, or on the page Release.",
            field="protocol",
        )
    if document.get("kind") != KIND or not isinstance(document.get("settings"), dict):
        raise ConfigError("This is not the file of an approval.", field="protocol")
    return Approved(approval=approval_from(document.get("approval")), settings=document["settings"])


def approve(protocol: str, *, by: str, role: str, date: str) -> Approved:
    """The approval of a protocol.

    Args:
        protocol: the text of its JSON file.
        by: names of those who approved.
        role: in which they did.
        date: YYYY-MM-DD.

    Raises:
        ConfigError: when that is not a protocol, its settings are not those of its plan, or an
            entry is not usable.
    """
    document = _document(protocol)
    known = document.get("kind") == PROTOCOL_KIND and isinstance(document.get("settings"), dict)
    if not known:
        raise ConfigError(
            "This is not a protocol in JSON, as `prism protocol --out FILE.json` writes it.",
            field="protocol",
        )
    check_own(document)
    approval = Approval(
        by=by, role=role, date=date, plan_sha256=document.get("plan_sha256", ""),
        asset=document.get("asset", ""),
    )  # fmt: skip
    return Approved(approval=approval, settings=document["settings"])


def _document(text: str) -> dict[str, Any]:
    try:
        document = foreign.from_json(text, foreign.APPROVAL)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise ConfigError("The file is not readable as JSON.", field="protocol")
    return document
