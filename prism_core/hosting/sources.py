"""Sources: tables that an administrator offers by name, each with the data asset it is charged to.

A curator chooses a name. Address, host and credentials stay on the server: a password is named by a
variable of its environment. Two views of the same people's rows name one asset, so they share one
lifetime budget; one address under two assets is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from prism_core.data.tables.address import Address, parse
from prism_core.errors import AccessError, BudgetError, ConfigError, PrismError
from prism_core.hosting.configuration import check_mode
from prism_core.privacy.ledger.records import canonical
from prism_core.privacy.parameters import epsilon_value
from prism_core.text import untrusted
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.hosting.identity import Identity

LONGEST = 120
_ENTRIES = ("name", "address", "asset", "lifetime_epsilon", "curators")
_HIDDEN = "***"
_PORT = 5432  # of PostgreSQL, the one kind that has a port


@dataclass(frozen=True, kw_only=True)
class Source:
    """One table that is offered.

    Attributes:
        name: by which a curator chooses it.
        asset: the data asset that its releases are charged to.
        lifetime_epsilon: of that asset, fixed from its first charge on.
        curators: subjects who may choose it, None for all curators.
        address: where the table stands; errors tell at most a file's or a table's own name.
    """

    name: str
    asset: str
    lifetime_epsilon: float
    curators: frozenset[str] | None = None
    address: Address = field(repr=False)

    @property
    def place(self) -> Path | Address:
        """What `runs.inputs.open_rows` opens.

        Raises:
            TableError: when there is no such file.
        """
        if self.address.place == "file":
            self.address.files()  # a reader's own error would tell the folder
        return self.address.opened

    def offered_to(self, person: Identity) -> bool:
        """Whether somebody may choose it."""
        return "curator" in person.roles and (
            self.curators is None or person.subject in self.curators
        )


def load(path: Path) -> tuple[Source, ...]:
    """The sources in an administrator's file.

    Raises:
        ConfigError: naming the source and the entry that is not usable; no address is in it.
    """
    check_mode(path, "The file of sources")
    try:
        text = untrusted.text_of(path, untrusted.CONFIG)
        document = untrusted.from_toml(text, untrusted.CONFIG)
    except (OSError, ValueError):
        raise ConfigError(
            "The file of sources cannot be read as TOML. Ask who runs this server.", field="sources"
        ) from None
    listed = document.get("source", [])
    if set(document) - {"source"} or not isinstance(listed, list):
        raise ConfigError("The file of sources holds [[source]] sections alone.", field="sources")
    found = tuple(_source(entry, number, path) for number, entry in enumerate(listed, start=1))
    _check_apart(found)
    return found


def offered(path: Path | None, person: Identity) -> tuple[Source, ...]:
    """The sources that somebody may choose; none where no file is named.

    Raises:
        ConfigError: as `load`.
    """
    return () if path is None else tuple(one for one in load(path) if one.offered_to(person))


def chosen(path: Path | None, name: str, person: Identity) -> Source:
    """The source of a name.

    Raises:
        AccessError: when there is none that this person may choose.
        ConfigError: as `load`.
    """
    for one in offered(path, person):
        if one.name == name:
            return one
    raise AccessError(
        "There is no source of this name for you. Choose one of the list, or ask who runs this "
        "server. Nothing was opened.",
        field="source",
    )


def _source(entry: object, number: int, path: Path) -> Source:
    where = f"source {number} of the file of sources"
    if not isinstance(entry, dict):
        raise ConfigError(f"{where} must be a section.", field="source")
    for name in entry:
        if name not in _ENTRIES:
            raise ConfigError(
                f"{where} has an unknown entry {name!r}.{suggestion(name, _ENTRIES)}", field=name
            )
    for name in ("name", "address", "asset"):
        if not _line(entry.get(name), LONGEST if name != "address" else 4000):
            raise ConfigError(f"{where} needs {name}: one line of text.", field=name)
    try:
        lifetime = epsilon_value(entry.get("lifetime_epsilon"), "lifetime_epsilon")
    except BudgetError as error:
        raise ConfigError(f"{where}: {error}", field="lifetime_epsilon") from None
    curators = entry.get("curators")
    if curators is not None and not (
        isinstance(curators, list) and all(isinstance(one, str) for one in curators)
    ):
        raise ConfigError(f"{where}: curators must be a list of subjects.", field="curators")
    # Relative to the file of sources, wherever the server was started.
    address = parse(entry["address"], path.parent.resolve())
    # `shown` puts these marks in the place of a password that is written out.
    if _HIDDEN in address.shown:
        raise ConfigError(
            f"{where} holds a password. Name it by a variable of the server's environment, such as "
            "${PGPASSWORD}.",
            field="address",
        )
    return Source(
        name=entry["name"],
        asset=entry["asset"],
        lifetime_epsilon=lifetime,
        curators=None if curators is None else frozenset(curators),
        address=address,
    )


def _check_apart(found: tuple[Source, ...]) -> None:
    """No two of a name; one table and one asset's budget are told in one way."""
    tables = [(one, _tables(one.address)) for one in found]
    for (one, rows), (other, others) in combinations(tables, 2):
        # By the form in which names are compared: people must be able to tell two apart.
        if canonical(one.name) == canonical(other.name):
            raise ConfigError(f"Two sources are called {one.name!r}.", field="name")
        same_asset = canonical(one.asset) == canonical(other.asset)
        if not (same_asset or rows.isdisjoint(others)):
            raise ConfigError(
                f"The sources {one.name!r} and {other.name!r} are one table under two assets: its "
                "people would have two budgets. Name one asset.",
                field="asset",
            )
        if same_asset and one.lifetime_epsilon != other.lifetime_epsilon:
            raise ConfigError(
                f"The sources {one.name!r} and {other.name!r} are one asset with two lifetimes. "
                "Write one lifetime_epsilon.",
                field="lifetime_epsilon",
            )


def _tables(address: Address) -> frozenset[object]:
    """What tells tables from others, however account and host are written; of files each one."""
    if not address.is_url:
        # Files that are not there yet are told by their address.
        return frozenset(path.resolve() for path in _files(address)) or frozenset({address.shown})
    parts = urlsplit(address.shown)
    # A database in a file is told by the file, however its path is written.
    path = str(address.path_part().resolve()) if parts.hostname is None else parts.path
    where = (address.place, parts.hostname, parts.port or _PORT, path)
    return frozenset({(*where, address.entry("schema"), address.entry("table"))})


def _files(address: Address) -> list[Path]:
    try:
        return address.files()
    except PrismError:
        return []


def _line(text: object, most: int) -> bool:
    return (
        isinstance(text, str)
        and 0 < len(text) <= most
        and text.isprintable()
        and text == text.strip()
    )
