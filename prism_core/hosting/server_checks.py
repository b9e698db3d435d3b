"""Checks of a server beside those of a machine: where the ledger is, the clock, the provider.

They read no row, change nothing, and are shown by `prism doctor`.
"""

from __future__ import annotations

import ctypes
import datetime as dt
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from prism_core.errors import PrismError
from prism_core.hosting import configuration
from prism_core.privacy.ledger import Ledger, chain_head, network_drive, store_choice
from prism_core.privacy.ledger.postgres_store import PostgresStore
from prism_core.privacy.ledger.rules import HOSTING_VARIABLE
from prism_core.runs.doctor import MachineCheck
from prism_core.text import untrusted

if TYPE_CHECKING:
    from collections.abc import Callable

_AHEAD = dt.timedelta(minutes=5)  # a charge may come from another server, whose clock differs
_UNSYNCHRONISED = 5  # TIME_ERROR of adjtimex
_WAITS = 5.0  # seconds for the provider
_LONGEST = 1_000_000  # bytes of its description


def server_checks(workspace: Path) -> dict[str, Callable[[], MachineCheck]]:
    """The checks by name, for `doctor.examine`."""
    return {
        "ledger's place": lambda: _ledger_place(workspace),
        "clock": lambda: _clock(workspace),
        "provider": _provider,
    }


def _ledger_place(workspace: Path) -> MachineCheck:
    """The drive of the file, or what the database lets the program's login do."""
    name = "ledger's place"
    if store_choice.address(workspace):
        return _database(workspace, name)
    drive = network_drive.kind(workspace)
    if not drive:
        return MachineCheck(name=name, state="ok", found="a file on a disk of this machine")
    return MachineCheck(
        name=name,
        state="problem",
        found=f"a file on a network drive ({drive}), where locks do not hold",
        advice="Nothing is charged there. Name a workspace on a disk of this machine, or keep the "
        "ledger in PostgreSQL (docs/hosting.md).",
    )


def _database(workspace: Path, name: str) -> MachineCheck:
    database = store_choice.open_store(workspace)
    assert isinstance(database, PostgresStore)
    if database.unsynced():
        return MachineCheck(
            name=name,
            state="problem",
            found=f"{database.place}: the server does not sync its commits (fsync is off)",
            advice="Set fsync = on in postgresql.conf: a charge has to outlive a power cut.",
        )
    rights = database.excess_rights()
    if rights:
        return MachineCheck(
            name=name,
            state="warning",
            found=f"{database.place}: the login may {', '.join(rights)}",
            advice="Log in as the role of `prism ledger init`, which may add rows only.",
        )
    return MachineCheck(name=name, state="ok", found=f"{database.place}, which may add rows only")


def _clock(workspace: Path) -> MachineCheck:
    """Against the newest charge, and whether the system says that it is kept right."""
    now = dt.datetime.now(dt.UTC)
    newest = _newest_charge(workspace)
    if newest is not None and newest > now + _AHEAD:
        return MachineCheck(
            name="clock",
            state="problem",
            found=f"{now:%Y-%m-%d %H:%M} UTC, before the ledger's newest charge "
            f"({newest:%Y-%m-%d %H:%M})",
            advice="Set the clock: times of charges and approvals would be wrong, and logins fail.",
        )
    # Not `not`: None says that the kernel does not tell, which is no fault.
    if _kept_right() is False:
        return MachineCheck(
            name="clock",
            state="warning",
            found=f"{now:%Y-%m-%d %H:%M} UTC; nothing keeps it right",
            advice="Install a time service (systemd-timesyncd, chrony). In a container ask the "
            "machine that it runs on.",
        )
    return MachineCheck(name="clock", state="ok", found=f"{now:%Y-%m-%d %H:%M} UTC")


def _newest_charge(workspace: Path) -> dt.datetime | None:
    """When the newest charge was made; None where that cannot be told, which `ledger` says."""
    if store_choice.address(workspace):
        try:
            times = [charge.created for charge in Ledger(workspace).charges()]
            return max(map(dt.datetime.fromisoformat, times), default=None)
        except (PrismError, ValueError, TypeError):
            return None
    # Not by opening the file, which would write beside it: the note is written with every charge.
    try:
        seconds = (workspace / chain_head.FILE).stat().st_mtime
    except OSError:
        return None
    return dt.datetime.fromtimestamp(seconds, dt.UTC)


def _kept_right() -> bool | None:
    """Whether the kernel says that a time service keeps the clock; None where it does not say."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        # Zeros ask and set nothing; the structure is 208 bytes long.
        return ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(512)) != _UNSYNCHRONISED
    except (OSError, AttributeError):
        return None


def _provider() -> MachineCheck:
    """The hosting file, and whether the provider that it names answers as one."""
    named = os.environ.get(HOSTING_VARIABLE, "").strip()
    if not named:
        return MachineCheck(
            name="provider", state="ok", found="no hosting file: one user, with the key"
        )
    try:
        path = Path(named)
        address = configuration.load(path).address
        document = untrusted.from_toml(untrusted.text_of(path, untrusted.CONFIG), untrusted.CONFIG)
    except (PrismError, OSError, ValueError) as error:
        said = str(error) if isinstance(error, PrismError) else type(error).__name__
        return MachineCheck(
            name="provider", state="problem", found=said, advice="Until then nobody is let in."
        )
    wrong = _metadata(document["auth"]["server_metadata_url"])
    if wrong:
        return MachineCheck(
            name="provider",
            state="problem",
            found=f"the provider of {address} {wrong}",
            advice="Nobody can log in. Check server_metadata_url, the provider and the way to it.",
        )
    return MachineCheck(name="provider", state="ok", found=f"answers; the app is at {address}")


def _metadata(url: str) -> str:
    """What is wrong with a provider's description of itself, "" for nothing."""
    try:
        with urllib.request.urlopen(url, timeout=_WAITS) as answer:
            # An address that is wrong may lead anywhere, also to an endless answer.
            text = answer.read(_LONGEST).decode("utf-8", "replace")
        document = untrusted.from_json(text, untrusted.DOCUMENT)
    except (PrismError, urllib.error.URLError, OSError, ValueError) as error:
        return f"does not answer ({type(error).__name__})"
    wanted = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
    if not isinstance(document, dict) or not all(name in document for name in wanted):
        return "answers with something else than OpenID Connect's description"
    return ""
