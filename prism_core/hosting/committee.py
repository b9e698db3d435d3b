"""The committee's room: protocols that wait for a decision, comments, votes and their outcome.

A protocol is kept as it was submitted and never changes. What people do about it is appended, line
by line. Nobody decides on their own: not who submitted it, nor whoever works in its project or has
changed it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from prism_core import files
from prism_core.bundle import project_file
from prism_core.bundle.protocol import approval_file
from prism_core.bundle.protocol.votes import Vote, check_votes, names_of, now
from prism_core.errors import AccessError, ConfigError
from prism_core.hosting import audit_log
from prism_core.hosting.project_store import ProjectStore
from prism_core.hosting.submission import (
    ABOUT,
    FOLDER,
    NUMBER,
    READERS,
    STEPS_FILE,
    StepKind,
    SubmittedProtocol,
    read,
    workers,
)
from prism_core.text import untrusted

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.bundle.project_file import ProjectFile
    from prism_core.bundle.protocol.approval_file import ApprovedPlan
    from prism_core.bundle.protocol.protocol import Protocol
    from prism_core.hosting.audit_log import Deed
    from prism_core.hosting.configuration import Hosting
    from prism_core.hosting.identity import Identity

LONGEST_COMMENT = 4000

_PROTOCOL, _PAGE, _PROJECT = "protocol.json", "protocol.html", "project.json"
_DEEDS: dict[StepKind, Deed] = {
    "comment": "protocol commented",
    "approve": "protocol approved",
    "send back": "protocol sent back",
    "withdraw": "protocol withdrawn",
}
_HINDRANCES = {
    "no reviewer": "Only reviewers decide.",
    "own protocol": "Nobody decides on their own: you submitted it, or you work in its project.",
    "approved before": "You have approved it already.",
}


class Committee:
    """The protocols of a workspace, as one person may see and decide on them."""

    def __init__(self, workspace: Path, person: Identity, hosting: Hosting) -> None:
        self._workspace, self._person, self._hosting = workspace, person, hosting

    def submit(self, protocol: Protocol, project: str, entered: ProjectFile) -> SubmittedProtocol:
        """Put a protocol before the committee.

        Args:
            protocol: what it decides on; without blanks, and with its asset.
            project: id of the project that it comes from.
            entered: what is entered in it, from which the plan follows.

        Raises:
            AccessError: when this person may not work in that project.
            ConfigError: when something is blank, no asset is named, or the same plan waits already.
        """
        record = ProjectStore(self._workspace, self._person).opened(project)
        mine = record is not None and record.role_of(self._person.subject) in ("owner", "editor")
        if not mine or "curator" not in self._person.roles:
            raise AccessError("Submit a protocol of a project of yours.", field="project")
        approval_file.check_complete(protocol.statement)
        if not protocol.asset:
            raise ConfigError("Name the data asset first.", field="asset")
        if any(
            one.plan_sha256 == protocol.plan.hash and one.state == "waiting"
            for one in self.of_project(project)
        ):
            raise ConfigError("This plan waits for the committee already.", field="protocol")
        number = self._make(protocol, entered, project)
        self._note("protocol submitted", number)
        return self.get(number)

    def _make(self, protocol: Protocol, entered: ProjectFile, project: str) -> str:
        start = protocol.plan.hash[:12]
        try:
            root = files.folder(files.folder(self._workspace) / FOLDER)
            # One at a time: the number is counted, and two submissions of a plan must not take the
            # same.
            with files.alone(root):
                number = f"{start}-{len(list(root.glob(f'{start}-*'))) + 1}"
                folder = root / number
                folder.mkdir(mode=files.FOLDER)
                files.put(folder / _PROTOCOL, protocol.to_json())
                files.put(folder / _PAGE, protocol.to_html())
                files.put(folder / _PROJECT, project_file.dumps(entered))
                about = {
                    "project": project,
                    "title": entered.name,
                    "subject": self._person.subject,
                    "name": self._person.name,
                    "at": now(),
                    "plan_sha256": protocol.plan.hash,
                    "asset": protocol.asset,
                    "workers": sorted(workers(self._workspace, project)),
                }
                # Last: without it there is no protocol.
                files.put(folder / ABOUT, json.dumps(about, ensure_ascii=False))
        except OSError:
            raise _unwritten() from None
        return number

    def all(self) -> tuple[SubmittedProtocol, ...]:
        """Every protocol that this person may see, the newest first."""
        seen = [one for one in self._readable()[0] if self._sees(one)]
        return tuple(sorted(seen, key=lambda one: (one.at, one.number), reverse=True))

    def unreadable(self) -> tuple[str, ...]:
        """Numbers of protocols whose files are damaged; they count for nothing."""
        return self._readable()[1]

    def _readable(self) -> tuple[list[SubmittedProtocol], tuple[str, ...]]:
        # By the file that is written last: a submission that was cut short has none.
        names = [path.parent.name for path in (self._workspace / FOLDER).glob(f"*/{ABOUT}")]
        found, damaged = [], []
        for name in filter(NUMBER.fullmatch, sorted(names)):
            try:
                found.append(self._read(name))
            except ConfigError:
                damaged.append(name)
        return found, tuple(damaged)

    def of_project(self, project: str) -> tuple[SubmittedProtocol, ...]:
        """Those of one project, the newest first."""
        return tuple(one for one in self.all() if one.project == project)

    def get(self, number: str) -> SubmittedProtocol:
        """One protocol.

        Raises:
            AccessError: when this person may not see it.
            ConfigError: when there is none.
        """
        # Matched before it becomes part of a path: a number may come from an address.
        if not NUMBER.fullmatch(number) or not self._path(number, ABOUT).is_file():
            raise ConfigError("There is no protocol of this number.", field="protocol")
        found = self._read(number)
        if not self._sees(found):
            self._note("refused", number, "protocol of another")
            raise AccessError(
                "This protocol is for the committee and its curator. Nothing was opened.",
                field="protocol",
            )
        return found

    def page(self, number: str) -> str:
        """The protocol as a page, as it was submitted.

        Raises:
            AccessError, ConfigError: as `get`.
        """
        self.get(number)
        return untrusted.text_of(self._path(number, _PAGE), untrusted.APPROVAL)

    def entered(self, number: str) -> ProjectFile:
        """What was entered in its project when it was submitted.

        Raises:
            AccessError, ConfigError: as `get`.
        """
        self.get(number)
        return project_file.load(self._path(number, _PROJECT))

    def hindrance(self, found: SubmittedProtocol) -> str:
        """Why this person may not approve it or send it back now; empty where they may."""
        if found.state != "waiting":
            return f"This protocol is {found.state}."
        return _HINDRANCES.get(self._hindered(found), "")

    def _hindered(self, found: SubmittedProtocol) -> str:
        if "reviewer" not in self._person.roles:
            return "no reviewer"
        if self._person.subject in found.apart:
            return "own protocol"
        approved = self._person.subject in {vote.subject for vote in found.votes}
        return "approved before" if approved else ""

    def comment(self, number: str, text: str) -> None:
        """Say something about a protocol; whoever sees it may, but for who only reads.

        Raises:
            AccessError: when this person may only read.
            ConfigError: for no words or too many.
        """
        found = self.get(number)
        if "reviewer" not in self._person.roles and self._person.subject not in found.apart:
            raise AccessError("Auditors and administrators only read.", field="role")
        self._append(number, "comment", _comment(text))

    def approve(self, number: str, text: str = "") -> SubmittedProtocol:
        """Approve a protocol, signed with this identity and the time.

        Args:
            number: of the protocol.
            text: what goes with it, if anything.

        Raises:
            AccessError: when this person is no reviewer, it is their own, or they approved before.
            ConfigError: when it is decided already.
        """
        return self._decide(number, "approve", _comment(text, empty=True))

    def send_back(self, number: str, text: str) -> SubmittedProtocol:
        """Send a protocol back, with the reason.

        Raises:
            AccessError, ConfigError: as `approve`; and without a reason.
        """
        return self._decide(number, "send back", _comment(text))

    def withdraw(self, number: str) -> SubmittedProtocol:
        """Take a protocol back that waits.

        Raises:
            AccessError: when this person does not work in its project.
            ConfigError: when it is decided already.
        """
        found = self.get(number)
        if self._person.subject not in found.apart:
            raise AccessError("Only its curators withdraw a protocol.", field="protocol")
        return self._decide(number, "withdraw", "")

    def _decide(self, number: str, kind: StepKind, text: str) -> SubmittedProtocol:
        # Before the lock: whoever may not see the protocol must not hold it up either.
        self.get(number)
        try:
            # One at a time: two decisions at once must not both find that it waits.
            with files.alone(self._workspace / FOLDER / number):
                found = self.get(number)
                self._check_decision(found, kind)
                vote = self._vote(found) if kind == "approve" else None
                self._append(number, kind, text, vote)
        except OSError:
            raise _unwritten() from None
        return self.get(number)

    def _check_decision(self, found: SubmittedProtocol, kind: StepKind) -> None:
        why = self.hindrance(found)
        if found.state != "waiting":
            raise ConfigError(f"{why} Nothing was done.", field="protocol")
        if kind != "withdraw" and why:
            self._note("refused", found.number, self._hindered(found))
            raise AccessError(f"{why} Nothing was done.", field="protocol")

    def _vote(self, found: SubmittedProtocol) -> Vote:
        text = untrusted.text_of(self._path(found.number, _PROTOCOL), untrusted.APPROVAL)
        # Through the reader of protocols, which refuses one that was put together from several.
        plain = approval_file.approve(text, by="-", role="-", date=now()[:10])
        return Vote(
            subject=self._person.subject,
            name=self._person.name,
            at=now(),
            protocol=found.number,
            plan_sha256=plain.approval.plan_sha256,
            asset=plain.approval.asset,
            content_sha256=plain.content_sha256,
        ).signed(self._workspace)

    def approval(self, found: SubmittedProtocol) -> ApprovedPlan | None:
        """The approval that follows from the votes; None while there are too few.

        Raises:
            PlanError: when a vote is not signed, or on another protocol.
            ConfigError: when the protocol contradicts itself.
        """
        if found.state != "approved":
            return None
        text = untrusted.text_of(self._path(found.number, _PROTOCOL), untrusted.APPROVAL)
        made = approval_file.approve(
            text,
            by=names_of(found.votes),
            role=self._hosting.committee,
            # The last vote completed the quorum: after it nobody votes.
            date=found.votes[-1].at[:10],
            number=found.number,
            votes=found.votes,
        )
        check_votes(made, self._workspace, found.quorum, found.apart)
        return made

    def _sees(self, found: SubmittedProtocol) -> bool:
        return bool(self._person.roles & set(READERS)) or self._person.subject in found.apart

    def _read(self, number: str) -> SubmittedProtocol:
        return read(self._workspace, number, self._hosting.quorum)

    def _append(self, number: str, kind: StepKind, text: str, vote: Vote | None = None) -> None:
        step = {
            "kind": kind,
            "subject": self._person.subject,
            "name": self._person.name,
            "at": now() if vote is None else vote.at,
            "text": text,
            "vote": None if vote is None else vote.to_dict(),
        }
        # Logged first: what nobody could find again is not done.
        self._note(_DEEDS[kind], number)
        try:
            content = f"{json.dumps(step, ensure_ascii=False)}\n".encode()
            files.append(self._path(number, STEPS_FILE), content)
        except OSError:
            raise _unwritten() from None

    def _path(self, number: str, name: str) -> Path:
        return self._workspace / FOLDER / number / name

    def _note(self, did: Deed, number: str, why: str = "") -> None:
        audit_log.note(self._workspace, self._person, did, number, why)


def confirm(found: ApprovedPlan, workspace: Path, hosting: Hosting, starter: str) -> None:
    """Refuse an approval at the gate of a run that the committee's room did not give.

    Args:
        found: the approval that comes with the run.
        workspace: whose committee it is.
        hosting: the quorum in force.
        starter: subject of who started the run.

    Raises:
        PlanError: when it does not follow from votes of this workspace, or from too few.
        ConfigError: when there is no such protocol, or it was not approved.
    """
    number = found.approval.protocol
    if not NUMBER.fullmatch(number) or not (workspace / FOLDER / number / ABOUT).is_file():
        raise ConfigError(
            "On this server a release needs the committee's own approval. Submit the protocol on "
            "the page Release. Nothing was run.",
            field="protocol",
        )
    protocol = read(workspace, number, hosting.quorum)
    # Whoever starts the run stands apart as well: their own vote does not count.
    check_votes(found, workspace, hosting.quorum, {*protocol.apart, starter})
    # Votes stay signed when somebody else sends the protocol back.
    if protocol.state != "approved":
        raise ConfigError(
            f"The protocol {number} is {protocol.state}. Nothing was run.", field="protocol"
        )


def _comment(text: str, *, empty: bool = False) -> str:
    kept = "".join(c for c in text if c.isprintable() or c == "\n").strip()
    if not (kept or empty) or len(kept) > LONGEST_COMMENT:
        raise ConfigError(
            f"Write 1 to {LONGEST_COMMENT:,} characters: the others read why.", field="comment"
        )
    return kept


def _unwritten() -> ConfigError:
    return ConfigError(
        "The committee's folder cannot be written. Check the workspace and its disk; nothing was "
        "done.",
        field="workspace",
    )
