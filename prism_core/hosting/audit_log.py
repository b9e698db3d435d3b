"""The audit log: who did what when, one JSON line each, only ever appended; no private value.

Every line holds the digest of the line before it, so a line that is changed or taken out is seen.
At the very end it is not: nothing follows there yet.
What may stand in a line is named here. Words that people type, such as comments, are not among it.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from prism_core import files
from prism_core.errors import ConfigError, PrismError
from prism_core.text import untrusted

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.hosting.identity import Identity

FOLDER, FILE = "audit", "log.jsonl"

Deed: TypeAlias = Literal[
    "login",
    "refused",
    "project made",
    "project opened",
    "project shared",
    "project no longer shared",
    "project deleted",
    "protocol submitted",
    "protocol withdrawn",
    "protocol commented",
    "protocol approved",
    "protocol sent back",
    "release started",
    "source opened",
]
DEEDS: tuple[str, ...] = get_args(Deed)

_FIRST = "0" * 64
_TAIL = 64 * 1024  # bytes; a line has far fewer


@dataclass(frozen=True, kw_only=True)
class AuditEntry:
    """One line.

    Attributes:
        at: UTC time.
        who, name: subject and name of the identity; "" where nobody is logged in.
        did: what was done, or refused.
        what: the id of a project or protocol, the name of a source.
        to: the subject that a project is shared with, the hash of a plan, the reason of a refusal.
    """

    at: str
    who: str
    name: str
    did: str
    what: str
    to: str = ""


def note(workspace: Path, person: Identity | None, did: Deed, what: str = "", to: str = "") -> None:
    """Append a line and sync it.

    Args:
        workspace: whose log it is.
        person: who did it.
        did: what was done.
        what: see `AuditEntry`; public.
        to: see `AuditEntry`; public.

    Raises:
        ConfigError: when it cannot be written: what nobody could find again is not done.
    """
    entry = {
        "at": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "who": "" if person is None else person.subject,
        "name": "" if person is None else person.name,
        "did": did,
        "what": what,
        "to": to,
    }
    try:
        folder = files.folder(files.folder(workspace) / FOLDER)
        with files.alone(folder):  # the line before must be the last one
            line = json.dumps(entry | {"before": _digest(_last(folder / FILE))}, ensure_ascii=False)
            files.append(folder / FILE, f"{line}\n".encode())
    except OSError:
        raise ConfigError(
            "The audit log cannot be written. Check the workspace's folder and its disk; nothing "
            "was done.",
            field="workspace",
        ) from None


def entries(workspace: Path, most: int = 1000) -> tuple[AuditEntry, ...]:
    """The newest lines, newest first.

    Args:
        workspace: whose log it is.
        most: how many at most.
    """
    return tuple(map(_entry, reversed(_lines(workspace)[-most:])))


def broken(workspace: Path) -> int | None:
    """The number of the first line that does not follow from the one before it; None if all do."""
    before = b""
    for number, line in enumerate(_lines(workspace), start=1):
        try:
            said = untrusted.from_json(line.decode("utf-8"), untrusted.LEDGER)["before"]
        except (ValueError, TypeError, KeyError, PrismError):
            # It holds no digest, so the chain cannot be followed any further.
            return number
        if said != _digest(before):
            return number
        before = line
    return None


def _entry(line: bytes) -> AuditEntry:
    """What a line says; one that was damaged says that it is."""
    try:
        document = untrusted.from_json(line.decode("utf-8"), untrusted.LEDGER)
        names = ("at", "who", "name", "did", "what", "to")
        return AuditEntry(**{name: str(document[name]) for name in names})
    except (ValueError, TypeError, KeyError, PrismError):
        return AuditEntry(at="", who="", name="", did="a damaged line", what="")


def _lines(workspace: Path) -> list[bytes]:
    path = workspace / FOLDER / FILE
    return path.read_bytes().splitlines() if path.is_file() else []


def _last(path: Path) -> bytes:
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        lines = file.read().splitlines()
    return lines[-1] if lines else b""


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest() if line else _FIRST
