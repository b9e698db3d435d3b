"""Checks of this machine and a workspace before a run, as values; changes nothing.

Each check says what it found and what to do about it. A problem stops a run, or leaves something
undone that was paid for; a warning does not. No row is read.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import stat
import webbrowser
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Literal, TypeAlias

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from prism_core import files
from prism_core.data.engines import scratch
from prism_core.errors import PrismError
from prism_core.privacy.ledger import (
    Ledger,
    chain_head,
    fingerprint,
    rules,
    sqlite_store,
    store_choice,
)
from prism_core.privacy.ledger.sqlite_store import FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

State: TypeAlias = Literal["ok", "warning", "problem"]

PROJECT = "prism-dashboard"
PORT = 8501
"""Of the dashboard, unless another one is named."""

_LITTLE, _FEW = 2 * 10**9, 200 * 10**6
"""Free bytes below which a large table may not find room, and below which a run does not."""
_FOR_DEVELOPERS = ("test", "dev")


@dataclass(frozen=True, kw_only=True)
class MachineCheck:
    """What was looked at, and how it is.

    Attributes:
        name: what was looked at, in a few words.
        state: "ok", "warning" or "problem".
        found: what was found, one line.
        advice: what to do; "" where there is nothing to do.
    """

    name: str
    state: State
    found: str
    advice: str = ""

    def to_dict(self) -> dict[str, str]:
        """Plain values for JSON."""
        return asdict(self)


def examine(
    workspace: Path,
    *,
    port: int = PORT,
    further: Mapping[str, Callable[[], MachineCheck]] | None = None,
) -> tuple[MachineCheck, ...]:
    """All checks, in the order in which a run would meet them.

    Args:
        workspace: the folder of the ledger; it need not be there.
        port: of the dashboard.
        further: checks by name that are made at the end.
    """
    checks: tuple[tuple[str, Callable[[], MachineCheck]], ...] = (
        ("workspace", lambda: _workspace(workspace)),
        ("rights", lambda: _rights(workspace)),
        ("settings", lambda: _settings(workspace)),
        ("ledger", lambda: _ledger(workspace)),
        ("signing key", lambda: _signing_key(workspace)),
        ("fingerprint key", lambda: _fingerprint_key(workspace)),
        ("kept results", lambda: _kept(workspace)),
        ("leftovers", lambda: _leftovers(workspace)),
        ("free space", lambda: _space(workspace)),
        ("Python", _python),
        ("packages", _packages),
        ("extras", _extras),
        ("DuckDB", _duckdb),
        ("browser", _browser),
        ("printing", _printing),
        ("port", lambda: _port(port)),
    )
    more = tuple((further or {}).items())
    return tuple(_safely(name, check) for name, check in (*checks, *more))


def _safely(name: str, check: Callable[[], MachineCheck]) -> MachineCheck:
    """One check that cannot be made leaves the others."""
    try:
        return check()
    except metadata.PackageNotFoundError:
        return MachineCheck(
            name=name,
            state="warning",
            found="the program is not installed as a package",
            advice=f"`pip install {PROJECT}`, or `pip install -e .` in its folder.",
        )
    except (PrismError, OSError, ImportError) as error:
        # Our own messages hold no private value; those of others may, so their type has to do.
        words = str(error) if isinstance(error, PrismError) else type(error).__name__
        return MachineCheck(name=name, state="problem", found=f"cannot be looked at: {words}")


# --- the workspace ---------------------------------------------------------------------------


def _workspace(workspace: Path) -> MachineCheck:
    name = "workspace"
    if not workspace.exists():
        return MachineCheck(
            name=name,
            state="ok",
            found=f"{workspace} is not there yet",
            advice="The first charged step makes it.",
        )
    if not workspace.is_dir():
        return MachineCheck(
            name=name,
            state="problem",
            found=f"{workspace} is no folder",
            advice="Name a folder with --workspace or in PRISM_WORKSPACE.",
        )
    if not os.access(workspace, os.R_OK | os.W_OK | os.X_OK):
        return MachineCheck(
            name=name,
            state="problem",
            found=f"{workspace} may not be written",
            advice="It can be audited, and nothing can be charged. Check its "
            "permissions, or name another folder with --workspace.",
        )
    return MachineCheck(name=name, state="ok", found=f"{workspace}")


def _rights(workspace: Path) -> MachineCheck:
    """Files that others may read or write. The folder may be one that holds other things, too."""
    wide = sorted(
        str(path.relative_to(workspace)) for path in _private_files(workspace) if _is_wide(path)
    )
    if not wide:
        return MachineCheck(
            name="rights", state="ok", found="only you may read the workspace's files"
        )
    return MachineCheck(
        name="rights",
        state="warning",
        found=f"others may read or write {_few(wide)}",
        advice=f"chmod go-rwx on them, or `chmod -R go-rwx` on the folder {workspace}.",
    )


def _private_files(workspace: Path) -> Iterator[Path]:
    names = (
        FILE,
        f"{FILE}-wal",
        f"{FILE}-shm",
        chain_head.FILE,
        fingerprint.KEY,
        fingerprint.MEMORY,
        "signing.key",
        rules.SETTINGS,
    )
    yield from (workspace / name for name in names)
    for folder in ("paid", "holdouts", "scenarios", scratch.FOLDER, scratch.RUNS):
        yield from (path for path in workspace.joinpath(folder).rglob("*") if path.is_file())


def _is_wide(path: Path) -> bool:
    """Whether others reach a file: by its own mode and those of the folders above it."""
    try:
        own, above = path.lstat().st_mode, path.parent.stat().st_mode
    except OSError:
        return False
    # Without the right to enter its folder nobody reaches a file, whatever its own mode.
    return stat.S_ISREG(own) and bool(own & 0o077) and bool(above & 0o011)


def _settings(workspace: Path) -> MachineCheck:
    try:
        asked = rules.approval_required(workspace)
    except PrismError as error:
        return MachineCheck(
            name="settings",
            state="problem",
            found=str(error),
            advice="Mend it: until then no private table is released.",
        )
    found = f"releases {'need' if asked else 'need no'} approval"
    if not (workspace / rules.SETTINGS).exists():
        found = f"no {rules.SETTINGS}, the usual rules: {found}"
    return MachineCheck(name="settings", state="ok", found=found)


def _ledger(workspace: Path) -> MachineCheck:
    """A file is verified on a copy: even reading it where it stands would write beside it."""
    path = workspace / FILE
    if not store_choice.present(workspace):
        return MachineCheck(
            name="ledger",
            state="ok",
            found="no ledger yet",
            advice="The first charged step makes it.",
        )
    try:
        if store_choice.address(workspace):
            ledger = Ledger(workspace)
            told, charges, assets = ledger.verify(), ledger.charges(), len(ledger.assets())
        else:
            with sqlite_store.copied(path) as copy:
                with suppress(FileNotFoundError):
                    shutil.copyfile(workspace / chain_head.FILE, copy.with_name(chain_head.FILE))
                ledger = Ledger(copy.parent, store=sqlite_store.SqliteStore(copy))
                told, charges, assets = ledger.verify(), ledger.charges(), len(ledger.assets())
    except PrismError as error:
        return MachineCheck(
            name="ledger",
            state="problem",
            found=str(error),
            advice="Keep what is there. `prism ledger restore` puts a backup in an empty place.",
        )
    begun = [str(one.id) for one in charges if one.state == "reserved"]
    if not told.ok:
        return MachineCheck(
            name="ledger",
            state="problem",
            found=told.findings[0],
            advice="Release nothing; `prism ledger verify` lists all that is wrong.",
        )
    found = f"whole: {assets} assets, {len(charges)} charges, last digest {told.head[:12] or '-'}"
    if begun:
        return MachineCheck(
            name="ledger",
            state="warning",
            found=f"{found}; begun and not ended: charge {_few(begun)}",
            advice="They count as spent. A run that is under way ends its own charge.",
        )
    return MachineCheck(name="ledger", state="ok", found=found)


def _signing_key(workspace: Path) -> MachineCheck:
    from prism_core.bundle import signing

    pem = signing.public_pem(workspace)
    if pem is None:
        return MachineCheck(
            name="signing key", state="ok", found="no key yet", advice="The first release makes it."
        )
    return MachineCheck(
        name="signing key", state="ok", found=f"signs as {signing.fingerprint(pem)[:16]}…"
    )


def _fingerprint_key(workspace: Path) -> MachineCheck:
    path = workspace / fingerprint.KEY
    if not path.exists():
        return MachineCheck(name="fingerprint key", state="ok", found="no key yet")
    if len(path.read_bytes()) == files.SECRET_BYTES:
        return MachineCheck(name="fingerprint key", state="ok", found="whole")
    return MachineCheck(
        name="fingerprint key",
        state="problem",
        found=f"{fingerprint.KEY} is not whole",
        advice="Put it back from a backup. Without it tables are no longer recognised "
        "as charged before.",
    )


def _kept(workspace: Path) -> MachineCheck:
    from prism_core.runs import recovery_file

    kept = [str(number) for number in recovery_file.unwritten_charges(workspace)]
    if not kept:
        return MachineCheck(
            name="kept results", state="ok", found="all that was paid for is written"
        )
    return MachineCheck(
        name="kept results",
        state="problem",
        found=f"paid for and not written: charge {_few(kept)}",
        advice=f"`prism recover {kept[0]} --out PATH` writes it and spends nothing.",
    )


def _leftovers(workspace: Path) -> MachineCheck:
    left = scratch.left(workspace)
    if not left:
        return MachineCheck(name="leftovers", state="ok", found="no crash left private rows")
    return MachineCheck(
        name="leftovers",
        state="warning",
        found=f"private rows of a crash in {_few([str(p.relative_to(workspace)) for p in left])}",
        advice="The next start of prism-dashboard removes them; or delete these folders.",
    )


def _space(workspace: Path) -> MachineCheck:
    # The workspace may not be there yet: the disk that it will be made on is asked.
    there = next(path for path in (workspace, *workspace.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    found = f"{free / 10**9:,.1f} GB free"
    if free < _FEW:
        return MachineCheck(
            name="free space",
            state="problem",
            found=found,
            advice="Free some: a run takes its room before it is charged.",
        )
    if free < _LITTLE:
        return MachineCheck(
            name="free space",
            state="warning",
            found=found,
            advice="Large tables need more for a while.",
        )
    return MachineCheck(name="free space", state="ok", found=found)


# --- the machine -----------------------------------------------------------------------------


def _python() -> MachineCheck:
    here, wanted = platform.python_version(), metadata.metadata(PROJECT)["Requires-Python"]
    # prereleases, as pip does: a release candidate of a fitting Python installs, too.
    if SpecifierSet(wanted).contains(here, prereleases=True):
        return MachineCheck(name="Python", state="ok", found=f"{here} ({wanted})")
    return MachineCheck(
        name="Python",
        state="problem",
        found=f"{here}; {wanted} is needed",
        advice="Install it in an environment of another Python.",
    )


def _packages() -> MachineCheck:
    """Versions against the least that the package asks for."""
    wanted = [one for one in _requirements() if _applies(one)]
    wrong = [text for one in wanted if (text := _unfit(one))]
    if not wrong:
        return MachineCheck(name="packages", state="ok", found=f"{len(wanted)} as they should be")
    return MachineCheck(
        name="packages",
        state="problem",
        found=_few(wrong),
        advice=f"`pip install --upgrade {PROJECT}` in this environment.",
    )


def _requirements() -> list[Requirement]:
    return [Requirement(line) for line in metadata.requires(PROJECT) or ()]


def _applies(one: Requirement, extra: str = "") -> bool:
    return one.marker is None or one.marker.evaluate({"extra": extra})


def _unfit(one: Requirement) -> str:
    """Why an installed package is not as required, "" where it is."""
    try:
        here = metadata.version(one.name)
    except metadata.PackageNotFoundError:
        return f"{one.name} is missing"
    fits = one.specifier.contains(here, prereleases=True)
    return "" if fits else f"{one.name} {here} ({one.specifier} is needed)"


def _extras() -> MachineCheck:
    """Packages that are asked for by name alone."""
    names = [
        name
        for name in metadata.metadata(PROJECT).get_all("Provides-Extra") or ()
        if name not in _FOR_DEVELOPERS
    ]
    parts = {
        name: [one for one in _requirements() if not _applies(one) and _applies(one, name)]
        for name in names
    }
    there = [name for name, part in parts.items() if not any(map(_unfit, part))]
    others = [name for name in names if name not in there]
    return MachineCheck(
        name="extras",
        state="ok",
        found=f"installed: {_few(there) or 'none'}",
        advice=f"On request: {', '.join(others)}." if others else "",
    )


def _duckdb() -> MachineCheck:
    from prism_core.data.engines.duckdb_engine import check_optimizer

    try:
        check_optimizer()
    except PrismError as error:
        return MachineCheck(
            name="DuckDB",
            state="problem",
            found=str(error),
            advice="Until then no table is read where it stands.",
        )
    return MachineCheck(name="DuckDB", state="ok", found="its optimizer stays off")


def _browser() -> MachineCheck:
    try:
        name = getattr(webbrowser.get(), "name", "") or "yes"
    except webbrowser.Error:
        return MachineCheck(
            name="browser",
            state="warning",
            found="none that can be opened from here",
            advice="Start prism-dashboard with --no-browser and open the address that it shows.",
        )
    return MachineCheck(name="browser", state="ok", found=str(name))


def _printing() -> MachineCheck:
    from prism_core.bundle.report.report_copy import MISSING, chromium

    path = chromium()
    if path is None:
        return MachineCheck(
            name="printing", state="warning", found="no Chromium for reports as PDF", advice=MISSING
        )
    return MachineCheck(name="printing", state="ok", found=path)


def _port(port: int) -> MachineCheck:
    with socket.socket() as listening:
        # Else a port would seem taken for a while after a dashboard was closed (TIME_WAIT).
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", port))
        except OSError:
            return MachineCheck(
                name="port",
                state="warning",
                found=f"{port} is taken",
                advice="A dashboard may be open already. Another one: "
                f"`prism-dashboard --port {port + 1}`.",
            )
    return MachineCheck(name="port", state="ok", found=f"{port} is free")


def _few(names: list[str]) -> str:
    """The first names of a list, on one line."""
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
