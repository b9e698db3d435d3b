"""The file of an approval: who approved which plan, and what has changed since.

`check_own` says whether a protocol's hash belongs to the settings that people read in it. No row is
needed.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from prism_core.bundle.bundle_files import json_text
from prism_core.bundle.protocol.votes import Vote, content_digest, votes_from
from prism_core.data.schema import schema_file
from prism_core.errors import ConfigError, PlanError
from prism_core.planning.approval import Approval, approval_from
from prism_core.planning.plan import Plan, plain_digest
from prism_core.planning.search.comparison import entries
from prism_core.planning.wishes.curator_statement import (
    LABELS,
    CuratorStatement,
    blank_text,
    statement_from,
)
from prism_core.planning.wishes.task import OPTIONS
from prism_core.text import untrusted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


KIND = "prism approval"
PROTOCOL_KIND = "prism protocol"


@dataclass(frozen=True, kw_only=True)
class SettingChange:
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
class ApprovedPlan:
    """An approval, and the settings that were approved.

    Attributes:
        approval: who, when, which plan.
        settings: of that plan, as `settings` gives them.
        statement: purpose, recipients and the rest, as they were approved.
        votes: signed, that it follows from; none where the curator typed it.
    """

    approval: Approval
    settings: dict[str, Any] = field(repr=False)
    statement: CuratorStatement = field(default_factory=CuratorStatement)
    votes: tuple[Vote, ...] = field(default=(), repr=False)

    @property
    def content_sha256(self) -> str:
        """Digest of what was put before the people: settings and statement."""
        return content_digest(self.settings, self.statement)

    def changes(self, plan: Plan) -> tuple[SettingChange, ...]:
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

    def stated(self, said: CuratorStatement) -> CuratorStatement:
        """What is said of the release: what was approved, and what was left open then.

        Args:
            said: what the curator says now.

        Raises:
            PlanError: when an entry says something else than the approved one.
        """
        approved = self.statement.to_dict()
        for name, text in said.to_dict().items():
            if approved.get(name, text) != text:
                raise PlanError(
                    f"{LABELS[name][0]} is not what was {self.approval.sentence}. Say what was "
                    "approved, or have the new words approved. Nothing was run.",
                    field=name,
                )
        # Entries that both have are equal by now, so what is said now only fills gaps.
        return said.over(self.statement)

    def dumps(self) -> str:
        """The file's text."""
        document = {"kind": KIND, "approval": self.approval.to_dict(), "settings": self.settings}
        said = {"statement": self.statement.to_dict()} if self.statement.some else {}
        votes = {"votes": [vote.to_dict() for vote in self.votes]} if self.votes else {}
        return json_text(document | said | votes)


def changes(before: dict[str, Any], plan: Plan) -> tuple[SettingChange, ...]:
    """Entries in which a plan differs from the settings of an earlier one. Reads no row.

    Args:
        before: as `settings` gave them.
        plan: the plan as it is now.
    """
    now = settings(plan)
    # What one side alone has is a change, too: a column taken out, an edge added.
    names = [*before, *(name for name in now if name not in before)]
    return tuple(
        SettingChange(what=name, approved=before.get(name), now=now.get(name))
        for name in names
        if before.get(name) != now.get(name)
    )


def settings(plan: Plan) -> dict[str, Any]:
    """The entries that a plan follows from, one a line; all public."""
    found: dict[str, Any] = {"people": plan.n, **entries(plan)}
    schema = schema_file.to_dict(plan.schema)
    # An entry a column: one that differs is named by itself.
    for column in schema.pop("columns"):
        found[f"column.{column['name']}"] = column
    found |= {f"schema.{name}": value for name, value in schema.items()}
    if plan.dag is not None:
        # Sorted: the order in which a graph was drawn is no change.
        found |= {f"edge.{cause} → {effect}": True for cause, effect in sorted(plan.dag.edges)}
        found |= {f"unmeasured.{name}": True for name in sorted(plan.dag.unmeasured)}
        found["graph.provenance"] = plan.dag.provenance
    # As a file gives it back, so that both sides of a comparison are of one kind.
    return json.loads(json_text(found))


def load(path: str | Path) -> ApprovedPlan:
    """Read the file of an approval.

    Raises:
        ConfigError: when it is not one, or only a protocol that nobody has approved yet.
    """
    return loads(untrusted.read_text(path, untrusted.APPROVAL))


def loads(text: str) -> ApprovedPlan:
    """An approval from its file's text.

    Raises:
        ConfigError: see `load`.
    """
    document = _document(text)
    # The likeliest wrong file has its own answer, which names the missing step.
    if document.get("kind") == PROTOCOL_KIND:
        raise ConfigError(
            "This is a protocol that nobody has approved yet. Record the approval with "
            "`prism approve`, or on the page Release.",
            field="protocol",
        )
    if document.get("kind") != KIND or not isinstance(document.get("settings"), dict):
        raise ConfigError("This is not the file of an approval.", field="protocol")
    return ApprovedPlan(
        approval=approval_from(document.get("approval")),
        settings=document["settings"],
        statement=statement_from(document.get("statement", {})),
        votes=votes_from(document.get("votes", [])),
    )


def approve(
    protocol: str,
    *,
    by: str,
    role: str,
    date: str,
    number: str = "",
    votes: tuple[Vote, ...] = (),
) -> ApprovedPlan:
    """The approval of a protocol.

    Args:
        protocol: the text of its JSON file.
        by: names of those who approved.
        role: in which they did.
        date: YYYY-MM-DD.
        number: of the protocol, where people voted on it.
        votes: theirs.

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
    # Before anything is taken from it: what the people read must be what the hash is of.
    check_own(document)
    statement = statement_from(document.get("statement", {}))
    check_complete(statement)
    approval = Approval(
        by=by,
        role=role,
        date=date,
        plan_sha256=document.get("plan_sha256", ""),
        asset=document.get("asset", ""),
        protocol=number,
    )
    return ApprovedPlan(
        approval=approval, settings=document["settings"], statement=statement, votes=votes
    )


def check_complete(statement: CuratorStatement) -> None:
    """Refuse to put a protocol with blanks before a committee, or to take its approval.

    Raises:
        ConfigError: naming what is blank.
    """
    if statement.blank:
        raise ConfigError(
            f"No committee can decide on blanks. Say in [statement], or on the page Release: "
            f"{blank_text(statement.blank)}. Or write a draft, which is stamped as one.",
            field=f"statement.{statement.blank[0]}",
        )


def _document(text: str) -> dict[str, Any]:
    try:
        document = untrusted.from_json(text, untrusted.APPROVAL)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise ConfigError("The file is not readable as JSON.", field="protocol")
    return document


_SAME = {"people": "n"} | {what: one.name for what, one in OPTIONS.items() if one.in_plan}
"""Entries of the settings, and the same ones of the plan."""


def check_own(protocol: Mapping[str, Any]) -> None:
    """Refuse a protocol whose parts were put together from several.

    The hash is computed again from the protocol's own plan, columns and edges, to the digit on any
    machine, as no number is; and the plan must hold the settings' own entries. Settings that the
    plan does not list, such as the pools' shares, are compared when it is released.

    Args:
        protocol: the document, with a dictionary of settings.

    Raises:
        ConfigError: naming the entry that does not belong to the others.
    """
    plan, settings = protocol.get("plan"), protocol["settings"]
    if not isinstance(plan, dict):
        raise ConfigError("The protocol does not hold its plan.", field="protocol")
    # Where no number of rows is asked for, a plan makes as many as there are people.
    rows = settings.get("synthesis.rows") or settings.get("people")
    pairs = [(name, settings.get(name), plan.get(key)) for name, key in _SAME.items()]
    for name, here, there in [*pairs, ("synthesis.rows", rows, plan.get("rows"))]:
        if not _equal(here, there):
            _refuse(f"its plan has another {name} than its settings")
    if _further(settings) != _listed(plan.get("targets", [])):
        _refuse("its plan has other further targets than its settings")
    edges = _edges(settings)
    # With edges that cannot be told the hash is not checked here; the release compares it anyway.
    # No edge is not the same as no graph, and only the provenance tells them apart.
    if edges is not None and protocol.get("plan_sha256") != plain_digest(
        plan, _schema(settings), edges if "graph.provenance" in settings else None
    ):
        _refuse("plan_sha256 is not the hash of its plan, columns and edges")


def _equal(here: object, there: object) -> bool:
    if isinstance(here, float) and isinstance(there, float):
        return math.isfinite(here) and here == there
    # In Python True == 1 and 1 == 1.0; an entry of another type is another entry.
    return type(here) is type(there) and here == there


def _further(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Weights of the further targets, by name."""
    start = "task.further."
    return {name[len(start) :]: value for name, value in settings.items() if name.startswith(start)}


def _listed(targets: object) -> dict[str, Any] | None:
    """The same as a plan lists them after its first target; None for anything else."""
    # The file came from outside, so anything may stand in the place of the targets.
    if not isinstance(targets, list) or not all(isinstance(each, dict) for each in targets):
        return None
    return {str(each.get("name")): each.get("weight") for each in targets[1:]}


def _schema(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as plain values, from its entries in the settings."""
    found = {name[7:]: value for name, value in settings.items() if name.startswith("schema.")}
    return found | {
        "columns": [value for name, value in settings.items() if name.startswith("column.")]
    }


def _edges(settings: Mapping[str, Any]) -> list[tuple[str, str]] | None:
    """The graph's edges; None where a name holds an arrow, so that they cannot be told."""
    found: list[tuple[str, str]] = []
    for name in settings:
        if name.startswith("edge."):
            ends = name[5:].split(" → ")
            if len(ends) != 2:
                return None
            found.append((ends[0], ends[1]))
    return found


def _refuse(why: str) -> None:
    raise ConfigError(
        f"The protocol contradicts itself: {why}. Write it again with `prism protocol`; nothing "
        "was approved.",
        field="protocol",
    )
