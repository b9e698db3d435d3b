"""Who approved a plan before anything was spent on it.

An approval names people and the hash of one plan. It holds for exactly that plan: another epsilon,
column, edge or number of people is another hash. Data-free; nothing here proves that a person gave
it. The curator types it in, or in the hosted form it follows from signed votes on a protocol
(`bundle.protocol.votes`).
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prism_core.errors import ConfigError, PlanError
from prism_core.privacy.ledger.records import canonical

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan

LONGEST = 200
"""Characters of the role, and of the asset's name."""
LONGEST_NAMES = 1000
"""Characters of all names together: each may be a subject and a name."""

_HASH = re.compile(r"[0-9a-f]{64}")
_PROTOCOL = re.compile(r"[0-9a-f]{12}-[1-9][0-9]{0,4}")


@dataclass(frozen=True, kw_only=True)
class Approval:
    """The approval of one plan.

    Attributes:
        by: the people who approved, as they are to be named.
        role: in which they did, for example "privacy committee".
        date: of the decision, as YYYY-MM-DD.
        plan_sha256: hash of the plan before its private choices.
        asset: the data asset it was approved for; "" when the protocol named none.
        protocol: number of the protocol that people voted on, each with their own login; "" where
            the curator typed the names.

    Raises:
        ConfigError: naming the entry.
    """

    by: str
    role: str
    date: str
    plan_sha256: str
    asset: str = ""
    protocol: str = ""

    def __post_init__(self) -> None:
        _line(self.by, "by", "the names of those who approved", LONGEST_NAMES)
        _line(self.role, "role", "the role in which they approved")
        if self.asset:
            _line(self.asset, "asset", "the data asset")
        if not isinstance(self.protocol, str) or (
            self.protocol and not _PROTOCOL.fullmatch(self.protocol)
        ):
            raise ConfigError("protocol must be the number of a protocol.", field="protocol")
        if not isinstance(self.date, str) or not _is_date(self.date):
            raise ConfigError("date must be a day, written YYYY-MM-DD.", field="date")
        if not isinstance(self.plan_sha256, str) or not _HASH.fullmatch(self.plan_sha256):
            raise ConfigError(
                "plan_sha256 must be the hash of a plan: 64 digits from 0 to f.",
                field="plan_sha256",
            )

    @property
    def sentence(self) -> str:
        """Who approved, and when."""
        return f"approved by {self.by} ({self.role}) on {self.date}"

    @property
    def marks(self) -> tuple[str, ...]:
        """What tells it from other approvals; the ledger keeps the first, as one holds for one run.

        Of votes on a protocol the first is of the protocol alone: its decision is one, whatever the
        committee is called by now and whoever has voted since. The next is the same under every
        spelling of the asset's name. Ledgers of versions before 0.2 hold the last, of the name as
        it was typed.
        """
        decided = {"plan_sha256": self.plan_sha256, "protocol": self.protocol}
        # Ledgers hold the digests of these very texts: written in another way a used approval would
        # pass for a new one.
        documents = (
            *([decided] if self.protocol else []),
            self.to_dict() | {"asset": canonical(self.asset)},
            self.to_dict(),
        )
        return tuple(
            f"approval {hashlib.sha256(text.encode()).hexdigest()[:16]}"
            for text in (json.dumps(d, sort_keys=True, ensure_ascii=False) for d in documents)
        )

    @property
    def note(self) -> str:
        """What the ledger writes beside the charge of its run."""
        # Not `capitalize`, which would lower the letters of names.
        return f"A{self.sentence[1:]} ({self.marks[0]})"

    def covers(self, plan: Plan, asset: str = "") -> bool:
        """Whether it is an approval of exactly this plan, for this asset where one is given."""
        return self.plan_sha256 == plan.hash and self.fits(asset)

    def fits(self, asset: str) -> bool:
        """Whether it was given for this asset; where either names none, it was."""
        return not (self.asset and asset) or same_asset(self.asset, asset)

    def check(self, plan: str, asset: str = "") -> None:
        """Refuse another plan, or another asset.

        Args:
            plan: SHA-256 of the plan that is to run.
            asset: that is to be charged.

        Raises:
            PlanError: saying which.
        """
        if self.plan_sha256 != plan:
            raise PlanError(
                f"This plan is not the one that was {self.sentence}: its hash is "
                f"{plan[:12]}…, and the approved one's is {self.plan_sha256[:12]}…. Go back "
                "to the approved plan, or have this one approved. Nothing was run.",
                field="protocol",
            )
        if not self.fits(asset):
            raise PlanError(
                f"The plan was approved for the asset {self.asset!r}, and {asset!r} is to be "
                "charged. Charge the approved one, or have this one approved. Nothing was run.",
                field="asset",
            )

    def to_dict(self) -> dict[str, str]:
        """Plain values for JSON."""
        entries = dict(vars(self))
        if not self.protocol:
            del entries["protocol"]  # as ledgers and files have it since before there was one
        return entries

    def certified(self) -> dict[str, str]:
        """What a certificate says of it; the asset's name stays in the ledger."""
        return {
            "by": self.by,
            "role": self.role,
            "date": self.date,
            "plan_sha256": self.plan_sha256,
            **({"protocol": self.protocol} if self.protocol else {}),
        }


def approval_from(document: object) -> Approval:
    """An approval from what `to_dict` or `certified` gave.

    Raises:
        ConfigError: naming the entry that is missing or not usable.
    """
    needed = {"by", "role", "date", "plan_sha256"}
    if not isinstance(document, dict) or not needed <= set(document) <= {
        *needed,
        "asset",
        "protocol",
    }:
        raise ConfigError(
            "An approval has the entries by, role, date and plan_sha256, and perhaps asset and "
            "protocol.",
            field="approval",
        )
    entries: dict[str, Any] = document
    return Approval(**entries)


def same_asset(a: str, b: str) -> bool:
    """Whether two names are of one asset, as the ledger tells them apart: not by case or spaces."""
    return canonical(a) == canonical(b)


def _line(text: object, field: str, what: str, most: int = LONGEST) -> None:
    # Printable, as it goes into the one line of a ledger's note.
    one = isinstance(text, str) and text.isprintable() and text == text.strip()
    if not one or not 1 <= len(str(text)) <= most:
        raise ConfigError(
            f"{field} must be {what}: one line of 1 to {most} characters.", field=field
        )


def _is_date(text: str) -> bool:
    try:
        # There and back: from Python 3.11 on it also reads 20260105 and week dates.
        return dt.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
