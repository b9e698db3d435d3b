"""The hosting file: identities, roles, the committee, sources of rows, and what runs may take.

Whoever runs the server writes it and names it in `PRISM_HOSTING`. Without that variable there is no
hosted form. It holds the client's secret, so nobody else on the machine may read it.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args
from urllib.parse import urlsplit

from prism_core.errors import ConfigError
from prism_core.privacy.ledger.rules import HOSTING_VARIABLE
from prism_core.text import untrusted
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

UPLOAD_MB = 256
"""As much as is read into memory at all."""

MOST_WORKERS = 64

_RUN_RANGES: dict[str, tuple[float, float, str]] = {
    "workers": (1, MOST_WORKERS, f"a whole number from 1 to {MOST_WORKERS}"),
    "memory_gb": (1, 4096, "a number of gigabytes from 1 to 4096"),
    "kept_days": (1, 3650, "a number of days from 1 to 3650"),
    "upload_mb": (1, UPLOAD_MB, f"a whole number of megabytes from 1 to {UPLOAD_MB}"),
}
_WHOLE = ("workers", "upload_mb")


@dataclass(frozen=True, kw_only=True)
class RunLimits:
    """Bounds for the runs of the dashboard.

    Attributes:
        workers: how many runs work at once; the others wait in order. None for no bound.
        memory_gb: memory that one process of a run may take, None for no bound.
        kept_days: how long the folder of a step stays that nobody came back for.
        upload_mb: how large an uploaded file may be; a larger one is refused before it is read.

    Raises:
        ConfigError: naming the entry.
    """

    workers: int | None = None
    memory_gb: float | None = None
    kept_days: float = 7
    upload_mb: int = UPLOAD_MB

    def __post_init__(self) -> None:
        for name, (least, most, allowed) in _RUN_RANGES.items():
            value = getattr(self, name)
            if value is None:
                continue
            kind = int if name in _WHOLE else (int, float)
            right = isinstance(value, kind) and not isinstance(value, bool)
            if not right or not least <= value <= most:
                raise ConfigError(f"{name} in the hosting file must be {allowed}.", field=name)


RUN_ENTRIES = tuple(one.name for one in fields(RunLimits))


def hosted_limits(entries: Mapping[str, object]) -> RunLimits:
    """The limits of a server: one run for each core, where the hosting file says nothing else.

    Args:
        entries: of its section [runs]; their names are known.

    Raises:
        ConfigError: naming the entry that is not usable.
    """
    cores = min(os.cpu_count() or 1, MOST_WORKERS)  # a larger machine is no error of the file
    return replace(RunLimits(workers=cores), **entries)


Role: TypeAlias = Literal["curator", "reviewer", "auditor", "administrator"]

ROLES: tuple[Role, ...] = get_args(Role)

LOGIN_HOURS = 10.0
"""How long a login holds where the file does not say: a working day."""

MOST_REVIEWERS = 5
"""Largest quorum: the names of all who approve stand in one line of the certificate."""

_CALLBACK = "/oauth2callback"
_SECRET = 32  # characters of the secret that signs the browser's cookie
_OTHERS = 0o007

_ENTRIES: dict[str, tuple[str, ...]] = {
    "auth": (
        "redirect_uri",
        "cookie_secret",
        "client_id",
        "client_secret",
        "server_metadata_url",
        "client_kwargs",
    ),
    "identity": ("roles_claim", "roles_file", "claim_values", "login_hours"),
    "committee": ("name", "quorum"),
    "sources": ("file",),
    "runs": RUN_ENTRIES,
}


@dataclass(frozen=True, kw_only=True)
class Hosting:
    """What the hosting file says. The secrets in it are Streamlit's, which reads them itself.

    Attributes:
        address: of the app, as people open it; without a slash at its end.
        roles_claim: the claim that holds roles; dots lead into claims within claims.
        claim_values: what stands for a role in that claim, by role.
        subjects: by role the subjects that have it, None where a claim says so.
        login_hours: how long a login holds.
        committee: how the committee is named in an approval.
        quorum: how many reviewers have to approve.
        sources: the file of sources, None where curators have none but their own files.
        runs: what runs may take.

    Raises:
        ConfigError: naming the entry.
    """

    address: str
    roles_claim: str = "roles"
    claim_values: Mapping[Role, frozenset[str]] = field(default_factory=dict)
    subjects: Mapping[Role, frozenset[str]] | None = None
    login_hours: float = LOGIN_HOURS
    committee: str = "privacy committee"
    quorum: int = 1
    sources: Path | None = None
    runs: RunLimits = field(default_factory=RunLimits)

    def __post_init__(self) -> None:
        hours = self.login_hours
        if isinstance(hours, bool) or not isinstance(hours, int | float) or not 0 < hours <= 24 * 7:
            raise _refused("login_hours", "a number of hours above 0, at most 168")
        quorum = self.quorum
        whole = isinstance(quorum, int) and not isinstance(quorum, bool)
        if not whole or not 1 <= quorum <= MOST_REVIEWERS:
            raise _refused("quorum", f"a whole number from 1 to {MOST_REVIEWERS}")
        for name in ("roles_claim", "committee"):
            text = getattr(self, name)
            if not isinstance(text, str) or not text.strip() or not text.isprintable():
                raise _refused(name, "one line of text")
        if len(self.committee) > 80:
            raise _refused("committee", "a name of at most 80 characters")


def current() -> Hosting | None:
    """The hosting file in force; None in the laptop form. A file that changed is read again.

    Raises:
        ConfigError: when it cannot be read or is not usable: then nobody is let in.
    """
    named = os.environ.get(HOSTING_VARIABLE, "").strip()
    return _current(named, *_stamp(Path(named))) if named else None


def limits() -> RunLimits:
    """What runs may take: as the hosting file says, and without bounds in the laptop form.

    Raises:
        ConfigError: when the hosting file is not usable.
    """
    found = current()
    return RunLimits() if found is None else found.runs


def load(path: Path) -> Hosting:
    """The hosting file at a path.

    Raises:
        ConfigError: when it cannot be read or is not usable.
    """
    if path.is_file() and path.stat().st_mode & _OTHERS:
        raise ConfigError(
            "The hosting file holds secrets, and other users of the machine can read it. Take that "
            "away: chmod o-rwx on it.",
            field="hosting",
        )
    document = _document(path, "The hosting file")
    for section, entries in document.items():
        if section not in _ENTRIES:
            raise _unknown(section, _ENTRIES, "section")
        if not isinstance(entries, dict):
            raise ConfigError(f"[{section}] of the hosting file must be a section.", field=section)
        for name in entries:
            if name not in _ENTRIES[section]:
                raise _unknown(name, _ENTRIES[section], f"entry of [{section}]")
    identity, committee = document.get("identity", {}), document.get("committee", {})
    named = identity.get("roles_file")
    sources = document.get("sources", {}).get("file")
    return Hosting(
        address=_address(document.get("auth", {})),
        roles_claim=identity.get("roles_claim", "roles"),
        claim_values=_by_role(identity.get("claim_values", {}), "claim_values"),
        # Beside the hosting file, wherever the server was started.
        subjects=None if named is None else load_roles(_beside(path, named, "roles_file")),
        login_hours=identity.get("login_hours", LOGIN_HOURS),
        committee=committee.get("name", "privacy committee"),
        quorum=committee.get("quorum", 1),
        sources=None if sources is None else _beside(path, sources, "file"),
        runs=hosted_limits(document.get("runs", {})),
    )


def load_roles(path: Path) -> dict[Role, frozenset[str]]:
    """The file of roles: by role the subjects that have it.

    Raises:
        ConfigError: when it cannot be read, or holds anything else.
    """
    return _by_role(_document(path, "The file of roles"), "roles_file")


# The times are there for the cache: who loses a role loses it without a new start.
@lru_cache(maxsize=4)
def _current(named: str, _changed: int, _roles_changed: int) -> Hosting:
    return load(Path(named))


def _stamp(path: Path) -> tuple[int, int]:
    """When the file, and the file of roles that it names, were written."""
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        return 0, 0
    roles = _roles_file(path, changed)
    try:
        return changed, 0 if roles is None else roles.stat().st_mtime_ns
    except OSError:
        return changed, 0


@lru_cache(maxsize=4)  # asked many times in every run of a page
def _roles_file(path: Path, _changed: int) -> Path | None:
    try:
        text = untrusted.text_of(path, untrusted.CONFIG)
        return path.parent / untrusted.from_toml(text, untrusted.CONFIG)["identity"]["roles_file"]
    except (OSError, ValueError, KeyError, TypeError, ConfigError):
        return None  # `load` says what is wrong


def _address(auth: Mapping[str, Any]) -> str:
    """The app's address, from the entries that Streamlit's login needs; all of them are there."""
    # The last one, client_kwargs, need not be there.
    for name in _ENTRIES["auth"][:-1]:
        if not isinstance(auth.get(name), str) or not auth[name]:
            raise ConfigError(
                f"[auth] of the hosting file needs {name}, a text. docs/hosting.md shows all of "
                "its entries.",
                field=name,
            )
    if len(auth["cookie_secret"]) < _SECRET:
        raise _refused("cookie_secret", f"{_SECRET} random characters or more")
    address = auth["redirect_uri"]
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not address.endswith(_CALLBACK):
        raise _refused("redirect_uri", f"the app's address with {_CALLBACK} at its end")
    # Without TLS a login could be read on its way through the network.
    if parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "localhost"):
        raise _refused("redirect_uri", "an https address, or one of this machine")
    return address.removesuffix(_CALLBACK)


def check_mode(path: Path, what: str) -> None:
    """Refuse a file that decides who may do what and that any user of the machine may rewrite.

    Raises:
        ConfigError: when others may write it.
    """
    if path.is_file() and path.stat().st_mode & stat.S_IWOTH:
        raise ConfigError(
            f"{what} {path.name!r} can be changed by every user of the machine. Take that away: "
            "chmod o-w on it; until then nobody is let in.",
            field="hosting",
        )


def _document(path: Path, what: str) -> dict[str, Any]:
    check_mode(path, what)
    try:
        text = untrusted.text_of(path, untrusted.CONFIG)
        return untrusted.from_toml(text, untrusted.CONFIG)
    except (OSError, ValueError):
        raise ConfigError(
            f"{what} {path.name!r} cannot be read as TOML. Check its place, its mode and its "
            "text; until then nobody is let in.",
            field="hosting",
        ) from None


def _by_role(found: object, name: str) -> dict[Role, frozenset[str]]:
    if not isinstance(found, dict) or not set(found) <= set(ROLES):
        raise _refused(name, f"lists by role: {', '.join(ROLES)}")
    for members in found.values():
        if not isinstance(members, list) or not all(isinstance(one, str) for one in members):
            raise _refused(name, "lists of texts by role")
    # In one order, whatever the file's.
    return {role: frozenset(found[role]) for role in ROLES if role in found}


def _beside(path: Path, named: object, name: str) -> Path:
    if not isinstance(named, str) or not named:
        raise _refused(name, "the path of a file")
    return path.parent / named


def _unknown(name: str, known: Iterable[str], what: str) -> ConfigError:
    return ConfigError(
        f"{name!r} is no {what} of the hosting file.{suggestion(name, tuple(known))}", field=name
    )


def _refused(name: str, allowed: str) -> ConfigError:
    return ConfigError(f"{name} in the hosting file must be {allowed}.", field=name)
