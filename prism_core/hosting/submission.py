"""Submitted protocol: what was put before the committee, and what people did about it since."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from prism_core.bundle.protocol.votes import Vote, votes_from
from prism_core.errors import ConfigError
from prism_core.hosting.project_store import ProjectStore
from prism_core.text import untrusted

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from prism_core.hosting.configuration import Role

FOLDER = "committee"
ABOUT, STEPS_FILE = "about.json", "steps.jsonl"
READERS: tuple[Role, ...] = ("reviewer", "auditor", "administrator")
"""Roles that see every protocol."""
NUMBER = re.compile(r"[0-9a-f]{12}-[1-9][0-9]{0,4}")
"""The beginning of the plan's hash, and which submission of that plan it is."""

StepKind: TypeAlias = Literal["comment", "approve", "send back", "withdraw"]
STEPS: tuple[StepKind, ...] = get_args(StepKind)
ProtocolState: TypeAlias = Literal["waiting", "approved", "sent back", "withdrawn"]


@dataclass(frozen=True, kw_only=True)
class CommitteeStep:
    """What somebody did about a protocol.

    Attributes:
        kind: of the step.
        subject, name: of who did it.
        at: UTC time.
        text: what they wrote.
        vote: of an approval; signed.
    """

    kind: StepKind
    subject: str
    name: str
    at: str
    text: str = ""
    vote: Vote | None = None


@dataclass(frozen=True, kw_only=True)
class SubmittedProtocol:
    """A protocol that was put before the committee.

    Attributes:
        number: the beginning of its plan's hash, and which submission of that plan it is.
        project, title: id of the project, and its name.
        subject, name: of the curator who submitted it.
        apart: subjects whose own work it is.
        at: UTC time.
        plan_sha256, asset: what would be run, and what charged.
        steps: what was done since, in order.
        quorum: how many approvals it takes.
    """

    number: str
    project: str
    title: str
    subject: str
    name: str
    apart: frozenset[str]
    at: str
    plan_sha256: str
    asset: str
    steps: tuple[CommitteeStep, ...]
    quorum: int

    @property
    def votes(self) -> tuple[Vote, ...]:
        """Approvals, in order."""
        return tuple(step.vote for step in self.steps if step.vote is not None)

    @property
    def state(self) -> ProtocolState:
        """Where it stands."""
        kinds = {step.kind for step in self.steps}
        # Votes stay when a protocol is withdrawn or sent back, and count for nothing then.
        if "withdraw" in kinds:
            return "withdrawn"
        if "send back" in kinds:
            return "sent back"
        return "approved" if len(self.votes) >= self.quorum else "waiting"


def read(workspace: Path, number: str, quorum: int) -> SubmittedProtocol:
    """A submitted protocol, whoever asks: `committee.Committee` asks who it is.

    Args:
        workspace: whose committee it is.
        number: of the protocol.
        quorum: in force.

    Raises:
        ConfigError: when it cannot be read.
    """
    folder = workspace / FOLDER / number
    try:
        text = untrusted.text_of(folder / ABOUT, untrusted.CONFIG)
        about = untrusted.from_json(text, untrusted.CONFIG)
        path = folder / STEPS_FILE
        lines = untrusted.text_of(path, untrusted.APPROVAL) if path.is_file() else ""
        steps = tuple(
            _step(untrusted.from_json(line, untrusted.APPROVAL)) for line in lines.splitlines()
        )
        # Then and now: whoever is no longer an editor has worked in it all the same.
        apart = {about["subject"], *about.pop("workers"), *workers(workspace, about["project"])}
        return SubmittedProtocol(
            number=number, steps=steps, quorum=quorum, apart=frozenset(apart), **about
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        raise ConfigError(
            f"The protocol {number} in the workspace is not readable.", field="protocol"
        ) from None


def workers(workspace: Path, project: str) -> Collection[str]:
    """Who works in a project: its owner, its editors, and whoever has changed it before."""
    record = ProjectStore.record_in(workspace, project)
    if record is None:
        return ()
    editors = (who for who, (_, role) in record.shared.items() if role == "editor")
    return {record.owner, *record.authors, *editors}


def _step(entry: dict[str, Any]) -> CommitteeStep:
    if entry["kind"] not in STEPS:
        raise ValueError("kind")
    vote = None if entry["vote"] is None else votes_from([entry["vote"]])[0]
    words = {name: str(entry[name]) for name in ("subject", "name", "at", "text")}
    return CommitteeStep(kind=entry["kind"], vote=vote, **words)
