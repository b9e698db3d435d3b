"""Address of a table: a file, a pattern of files, or a table in a database."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from prism_core.errors import TableError
from prism_core.text.file_or_text import SHEETS

Place: TypeAlias = Literal["file", "files", "duckdb", "postgres", "bigquery", "spark"]

URL_FORMS: dict[str, str] = {
    "duckdb": "duckdb:///FILE.db?table=NAME",
    "postgres": "postgres://USER:${PGPASSWORD}@HOST/DATABASE?table=NAME",
    "bigquery": "bigquery://PROJECT/DATASET?table=NAME",
    "spark": "spark:///FOLDER_OR_FILE.parquet",
}
_SCHEMES: dict[str, Place] = {
    "duckdb": "duckdb",
    "postgres": "postgres",
    "postgresql": "postgres",
    "bigquery": "bigquery",
    "spark": "spark",
}
_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")
_PATTERN = re.compile(r"[*?\[]")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET = re.compile(r":.*@", re.DOTALL)  # as in user:password@host
_HIDDEN = "***"
_FILLED = re.compile(r"^(PG|PRISM_)[A-Z0-9_]+$")
_OPEN = ("table", "schema", "master")  # entries of a query that are shown


@dataclass(frozen=True, repr=False)
class Address:
    """Where a table stands. Its text and its repr never hold a password.

    Attributes:
        place: file, files (a pattern), or the kind of database.
    """

    place: Place
    _text: str = field(repr=False)
    _folder: Path = field(default_factory=Path, repr=False, compare=False)

    @property
    def is_url(self) -> bool:
        """Whether it names a database and not files."""
        return self.place not in ("file", "files")

    @property
    def shown(self) -> str:
        """The address without credentials: what may be shown, stored and logged.

        A password that is only named (`${PGPASSWORD}`) stays: the name is no secret.
        """
        if not self.is_url:
            return self._text
        parts = urlsplit(self._text)
        account, at, host = parts.netloc.rpartition("@")
        user, colon, password = account.partition(":")
        account = f"{user}{colon}{_masked(password) if colon else ''}"
        kept = [
            (key, value if key in _OPEN and not _SECRET.search(value) else _masked(value))
            for key, value in parse_qsl(parts.query, keep_blank_values=True)
        ]
        # What was masked, and a variable that is only named, stay readable as they are.
        query = f"?{urlencode(kept, safe='*${}/,.[]')}" if kept else ""
        return f"{parts.scheme}://{account}{at}{host}{parts.path}{query}"

    @property
    def title(self) -> str:
        """A short name for messages: the file's, or the table's."""
        if not self.is_url:
            return _HIDDEN if _SECRET.search(self._text) else Path(self._text).name
        return self.entry("table") or Path(urlsplit(self._text).path).name or self.place

    def entry(self, name: str) -> str:
        """An entry of the query, "" where there is none."""
        return dict(parse_qsl(urlsplit(self._text).query)).get(name, "")

    @property
    def opened(self) -> Path | Address:
        """What a reader opens: the path of a single file, its sheet behind it, or this address."""
        return self._folder / self._text if self.place == "file" else self

    @property
    def sheet(self) -> str:
        """The sheet of a workbook that it names behind a `#`, "" where it names none."""
        return "" if self.is_url else split_sheet(self._folder / self._text)[1]

    def files(self) -> list[Path]:
        """The files it stands for, sorted.

        Raises:
            TableError: when there is none.
        """
        path, _ = split_sheet(self._folder / self._text)
        if self.place == "file":
            found = [path] if path.is_file() else []
        else:
            whole = path.absolute()
            # `glob` takes no absolute pattern, so it starts at the root.
            pattern = str(whole.relative_to(whole.anchor))
            found = sorted(p for p in Path(whole.anchor).glob(pattern) if p.is_file())
        if not found:
            raise TableError(
                f"No file matches {self.title!r}. Check the path and your permissions."
            )
        return found

    def path_part(self) -> Path:
        """The file or folder that a URL names; looked for relative to the configuration, too."""
        whole = Path(unquote(urlsplit(self._text).path))
        local = self._folder / str(whole).lstrip("/")
        return whole if whole.exists() or not local.exists() else local

    def connection(self) -> str:
        """The URL for the database driver, with credentials; never show, store or log it.

        Variables of the environment (`${NAME}`) are filled in here and nowhere else.

        Raises:
            TableError: when a variable is not set, or is not one for addresses (PG*, PRISM_*).
        """
        parts = urlsplit(self._text)
        rest = [(k, v) for k, v in parse_qsl(parts.query) if k not in _OPEN]
        query = f"?{urlencode([(k, _filled(v)) for k, v in rest])}" if rest else ""
        user, at, host = parts.netloc.rpartition("@")
        # safe="": a password may hold / or @, which would end the account or the host.
        filled = _VARIABLE.sub(lambda match: quote(_variable(match[1]), safe=""), user)
        return f"{parts.scheme}://{filled}{at}{host}{parts.path}{query}"

    def __str__(self) -> str:
        return self.shown

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"


def split_sheet(place: Path) -> tuple[Path, str]:
    """A file, and the sheet that is named behind a `#`; "" where none is.

    A file whose own name holds a `#` is itself. Else what stands before one must be a file, or end
    as spreadsheets do.

    Example:
        >>> split_sheet(Path("stays.xlsx#Ward 1"))[1]
        'Ward 1'
    """
    text = str(place)
    if "#" not in text or _exists(place):
        return place, ""
    for mark in re.finditer("#", text):
        before = Path(text[: mark.start()])
        if before.suffix.lower() in SHEETS or (text[: mark.start()] and before.is_file()):
            return before, text[mark.end() :]
    return place, ""


def sheet_digest(digest: str, sheet: str) -> str:
    """The digest by which a sheet is known, from its file's: two sheets are two tables."""
    name = sheet.strip()  # a sheet is found without the spaces around its name
    return hashlib.sha256(f"{digest} {name}".encode()).hexdigest() if name else digest


def parse(text: str, folder: Path | None = None) -> Address:
    """Read an address as it stands in a configuration or on the page Data.

    Args:
        text: a path, a pattern such as `data/*.parquet`, or a database URL.
        folder: where relative paths start.

    Raises:
        TableError: for a URL of an unknown kind, or one that names no table. The message does
            not repeat the text, which may hold a password.
    """
    here = folder or Path()
    text = text.strip()
    if not _URL.match(text):
        if _SECRET.search(text) and not _exists(here / text):
            raise _unknown()  # a URL with a slip, and perhaps a password in it
        pattern = _PATTERN.search(text) and not _exists(here / text)
        return Address("files" if pattern else "file", text, here)
    try:
        parts = urlsplit(text)
        if parts.netloc and "@" in parts.path + parts.fragment:
            raise _unencoded()  # a mark that ends the host, and a password goes on behind it
        _ = parts.port  # a password before such a mark is no number of a port: ValueError
        place = _SCHEMES.get(parts.scheme.lower())
    except ValueError:
        place = None
    if place is None:
        raise _unknown()
    found = Address(place, text, here)
    if place != "spark" and not found.entry("table"):
        raise TableError(f"The address names no table. Write {URL_FORMS[place]}.")
    return found


def _unencoded() -> TableError:
    return TableError(
        "The user or password of the address holds one of / ? # @. Write it percent-encoded (%2F "
        "%3F %23 %40), or name it by a variable (${PGPASSWORD})."
    )


def _unknown() -> TableError:
    forms = ", ".join(URL_FORMS.values())
    return TableError(f"The address must be a path, a pattern of files, or one of {forms}.")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long, or a null character: no name of a file
        return False


def _masked(secret: str) -> str:
    return secret if _VARIABLE.fullmatch(secret) else _HIDDEN


def _filled(text: str) -> str:
    return _VARIABLE.sub(lambda match: _variable(match[1]), text)


def _variable(name: str) -> str:
    if not _FILLED.match(name):
        # An address may come from somebody else, and its host gets what is filled in.
        raise TableError(
            f"The address names the environment variable {name}. Only variables whose names begin "
            "with PG or PRISM_ are filled in: set one of these.",
            field=name,
        )
    if name not in os.environ:
        raise TableError(
            f"The address needs the environment variable {name}, which is not set.", field=name
        )
    return os.environ[name]
