"""Votes on a protocol: who approved it when, signed by the workspace in which they logged in.

A vote is for one protocol, one plan, one asset and the words that stood in it. So it counts nowhere
else: copied beside another protocol, or under changed words, it is refused.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from prism_core.bundle import signing
from prism_core.bundle.bundle_files import json_text
from prism_core.bundle.signing import Signed
from prism_core.errors import BundleError, ConfigError, PlanError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from prism_core.bundle.protocol.approval_file import ApprovedPlan
    from prism_core.planning.wishes.curator_statement import CuratorStatement

MOST = 100
_LONGEST = 400
_MARK = b"prism vote\n"  # the workspace's key signs other things, too


@dataclass(frozen=True, kw_only=True)
class Vote:
    """One person's approval of one protocol.

    Attributes:
        subject, name: of the identity that was logged in.
        at: UTC time.
        protocol: number of the protocol.
        plan_sha256, asset: what it is about.
        content_sha256: digest of the settings and the statement in it.
        signature: of all this, by the workspace's key; hexadecimal digits.
    """

    subject: str
    name: str
    at: str
    protocol: str
    plan_sha256: str
    asset: str
    content_sha256: str
    signature: str = ""

    @property
    def who(self) -> str:
        """Subject and name."""
        return person_text(self.subject, self.name)

    @property
    def content(self) -> bytes:
        """What is signed."""
        entries = {name: text for name, text in vars(self).items() if name != "signature"}
        # Sorted: the signed bytes must not hang on the order of the fields.
        return _MARK + json.dumps(entries, sort_keys=True).encode()

    def signed(self, workspace: Path) -> Vote:
        """The same with the workspace's signature.

        Raises:
            BundleError: when the workspace cannot sign.
        """
        return replace(self, signature=signing.sign(self.content, workspace).signature.hex())

    def is_signed(self, workspace: Path) -> bool:
        """Whether this workspace signed exactly this."""
        try:
            pem = signing.public_pem(workspace)
            if pem is None:
                return False
            signing.confirm(self.content, Signed(signature=bytes.fromhex(self.signature), pem=pem))
        # What is no hexadecimal text was not signed here either.
        except (BundleError, ValueError):
            return False
        return True

    def to_dict(self) -> dict[str, str]:
        """Plain values for JSON."""
        return dict(vars(self))


def person_text(subject: str, name: str) -> str:
    """A person in one line: for votes, the ledger and the audit log."""
    return subject if name == subject else f"{subject} ({name})"


def votes_from(value: object) -> tuple[Vote, ...]:
    """Votes from what `Vote.to_dict` gave.

    Raises:
        ConfigError: when they are not usable.
    """
    names = set(Vote.__dataclass_fields__)
    if not isinstance(value, list) or len(value) > MOST:
        raise ConfigError(f"votes must be a list of at most {MOST} votes.", field="votes")
    for one in value:
        if not isinstance(one, dict) or set(one) != names or not all(map(_text, one.values())):
            raise ConfigError(
                f"A vote has the entries {', '.join(sorted(names))}: lines of text.", field="votes"
            )
    return tuple(Vote(**one) for one in value)


def content_digest(settings: dict[str, Any], statement: CuratorStatement) -> str:
    """Digest of the settings and the statement of a protocol."""
    text = json_text({"settings": settings, "statement": statement.to_dict()})
    return hashlib.sha256(text.encode()).hexdigest()


def now() -> str:
    """UTC time, as votes have it."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def names_of(votes: Collection[Vote]) -> str:
    """All who voted, in one line, in the order of their votes."""
    return "; ".join(vote.who for vote in votes)


def check_votes(found: ApprovedPlan, workspace: Path, quorum: int, apart: Collection[str]) -> None:
    """Refuse an approval that does not follow from enough votes of this workspace.

    Args:
        found: the approval with its votes.
        workspace: in which people logged in and voted.
        quorum: how many are enough.
        apart: subjects whose own work it is; none of them approves it.

    Raises:
        PlanError: saying what is missing.
    """
    approval = found.approval
    subjects = {vote.subject for vote in found.votes}
    about = (approval.protocol, approval.plan_sha256, approval.asset, found.content_sha256)
    # Each person once: two votes of one are no quorum.
    if len(subjects) < quorum or len(subjects) != len(found.votes):
        raise _refused(f"it takes {quorum} {'person' if quorum == 1 else 'people'} who approve")
    for vote in found.votes:
        if (vote.protocol, vote.plan_sha256, vote.asset, vote.content_sha256) != about:
            raise _refused("a vote is on another protocol")
        if not vote.is_signed(workspace):
            raise _refused("a vote is not signed by this workspace")
    if subjects & set(apart):
        raise _refused("nobody approves their own")
    # Names and date tell one approval from another in the ledger: they follow from the votes.
    if (approval.by, approval.date) != (names_of(found.votes), found.votes[-1].at[:10]):
        raise _refused("its names or its date are not those of the votes")


def _refused(why: str) -> PlanError:
    return PlanError(
        f"The approval does not count: {why}. Have the committee decide on the protocol. Nothing "
        "was run.",
        field="protocol",
    )


def _text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST and value.isprintable()
