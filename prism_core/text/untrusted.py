"""Untrusted files: limits that hold before anything is parsed.

A text of a few hundred bytes can stand for a tree of gigabytes (aliases), for a nesting that no
parser comes out of, or for a key of a hundred thousand parts. So every reader asks here first: how
large the file may be, how many values it may hold and how deep they may lie; YAML has no aliases
and no types but plain ones. Within these limits every parser of the product takes time in
proportion to the text: seconds. Graphs have limits of their own on top (`structure.formats`), and
tables theirs (`data.tables.raw_table`, `data.tables.parquet`).
"""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import yaml

from prism_core.errors import (
    BundleError,
    ConfigError,
    EvaluationError,
    LedgerError,
    PrismError,
    SchemaError,
    StructureError,
    TableError,
)
from prism_core.text.file_or_text import signature

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class ReadLimit:
    """How much of a kind of file is read.

    Attributes:
        what: the file, as the first words of a sentence.
        field: the input a message is about.
        error: what is raised beyond the limit.
        size: most bytes of a file, or characters of a text.
        values: most values: entries of lists and of sections.
        nested: most lists and sections; each costs many times what a number does.
        depth: most values inside each other.
    """

    what: str
    field: str
    error: type[PrismError]
    size: int
    values: int
    nested: int = 500_000
    depth: int = 32

    def refuse(self, why: str) -> PrismError:
        """The error for a file that this limit keeps out; `why` ends the sentence."""
        return self.error(f"{self.what} {why}", field=self.field)

    @property
    def _large(self) -> PrismError:
        return self.refuse(f"is larger than {self.size // 1_000_000} MB, which is not read.")

    @property
    def _many(self) -> PrismError:
        return self.refuse(f"holds more than {self.values:,} values, which are not read.")

    @property
    def _deep(self) -> PrismError:
        return self.refuse(f"has values more than {self.depth} deep inside each other.")


_MB = 1_000_000

SCHEMA = ReadLimit(
    what="The schema", field="schema", error=SchemaError, size=16 * _MB, values=500_000
)
CODEBOOK = ReadLimit(
    what="The codebook", field="codebook", error=SchemaError, size=16 * _MB, values=1_000_000
)
CODES = ReadLimit(
    what="The map of codes", field="groups", error=SchemaError, size=16 * _MB, values=1_000_000
)
CONFIG = ReadLimit(
    what="The configuration", field="config", error=ConfigError, size=2 * _MB, values=200_000
)
SCENARIO = ReadLimit(
    what="The file of scenarios", field="scenario", error=ConfigError, size=2 * _MB, values=200_000
)
SCENARIO_BOOK = ReadLimit(
    what="The workspace's file of scenarios",
    field="workspace",
    error=ConfigError,
    size=8 * _MB,
    values=1_000_000,
)
APPROVAL = ReadLimit(
    what="The protocol or approval",
    field="protocol",
    error=ConfigError,
    size=32 * _MB,
    values=4_000_000,
)
PROJECT = ReadLimit(
    what="The project", field="project", error=ConfigError, size=64 * _MB, values=4_000_000
)
"""A schema, a graph and an approval fit into it as large as they may be by themselves."""
DOCUMENT = ReadLimit(
    what="The document", field="document", error=EvaluationError, size=64 * _MB, values=4_000_000
)
STAND_IN = ReadLimit(
    what="The stand-in", field="stand_in", error=ConfigError, size=64 * _MB, values=4_000_000
)
COMPARATOR = ReadLimit(
    what="The folder of a comparator",
    field="dir",
    error=EvaluationError,
    size=16 * _MB,
    values=1_000_000,
)
BUNDLE = ReadLimit(
    what="A file of the bundle", field="dir", error=BundleError, size=256 * _MB, values=50_000_000
)
"""Noisy counts of thousands of marginals are the largest JSON there is."""
GRAPH = ReadLimit(
    what="The graph", field="dag", error=StructureError, size=20 * _MB, values=2_000_000, depth=100
)
"""10,000 nodes with 100,000 edges fit into it in every format."""

TABLE = ReadLimit(
    what="The table", field="table", error=TableError, size=2_000 * _MB, values=200_000_000
)
"""Of a table in memory; values are its cells. A larger one is read where it stands."""
TABLE_NOTES = ReadLimit(
    what="What the file says of its columns",
    field="table",
    error=TableError,
    size=64 * _MB,
    values=4_000_000,
    nested=4_000_000,
)
"""Names, labels and formats in a file of SPSS, Stata or SAS, or the sheets of a workbook."""
COLUMNS = 10_000
"""Most columns of a table, and of a schema."""
SECONDS = 120
"""How long a table may be read into memory; every other file here takes seconds at most."""
LEDGER = ReadLimit(
    what="The note beside the ledger", field="workspace", error=LedgerError, size=_MB, values=10_000
)
SIGNATURE = ReadLimit(
    what="The signature or its key", field="signature", error=BundleError, size=100_000, values=1
)

_PLAIN = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "seq", "map")
)
_KEY_PARTS = 16
"""Most names of a dotted key in TOML; the parser takes time with their square."""


def too_slow(name: str) -> TableError:
    """The error for a table that takes longer to read than a person waits."""
    return TableError(
        f"The file {name!r} took more than {SECONDS} seconds to read and was left. Load fewer rows "
        "or columns, or open it by its path, where it is counted without being loaded."
    )


def content_of(path: str | Path, limit: ReadLimit) -> bytes:
    """The bytes of a file, no more than the limit.

    Raises:
        OSError: when it cannot be read.
        PrismError: of the limit's kind, when it is larger, or no plain file (a pipe never ends).
    """
    with _plain_file(path, limit) as file:
        # One byte more tells a file that is too large; a size that is asked for may change.
        content = file.read(limit.size + 1)
    if len(content) > limit.size:
        raise limit._large
    return content


def read_bytes(path: str | Path, limit: ReadLimit) -> bytes:
    """As `content_of`, and says in a sentence why a file cannot be read.

    Raises:
        PrismError: of the limit's kind.
    """
    try:
        return content_of(path, limit)
    except (OSError, ValueError) as error:  # a path with a NUL is a ValueError
        why = _unread(path, error)
    raise limit.refuse(why)


def open_bytes(path: str | os.PathLike[str], limit: ReadLimit) -> BinaryIO:
    """An open file of any size; says in a sentence why it cannot be opened.

    Raises:
        PrismError: of the limit's kind.
    """
    try:
        return _plain_file(path, limit)
    except (OSError, ValueError) as error:
        why = _unread(path, error)
    raise limit.refuse(why)


def _plain_file(path: str | os.PathLike[str], limit: ReadLimit) -> BinaryIO:
    file = open(path, "rb", opener=_without_waiting)  # noqa: SIM115  (the caller closes it)
    # Of the open file: what stands at the path may be another one by now.
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise limit.refuse("is not a plain file.")
    return file


def _unread(path: str | os.PathLike[str], error: Exception) -> str:
    name = Path(path).name
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return f"{name!r} does not exist: there is no such file. Check the path."
    if isinstance(error, IsADirectoryError):
        return f"{name!r} is a folder, not a file. Check the path."
    return f"{name!r} cannot be read. Check the path and your permissions."


def read_text(path: str | Path, limit: ReadLimit) -> str:
    """The UTF-8 text of a file; says in a sentence why it cannot be read.

    Raises:
        PrismError: of the limit's kind.
    """
    content, name = read_bytes(path, limit), Path(path).name
    try:
        return _lines(decoded(content, limit))
    except UnicodeDecodeError:
        pass
    # Outside of the handler: the decoding error holds the bytes.
    raise limit.refuse(f"{name!r} is not UTF-8 text. Save it as UTF-8.")


MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),  # before those they begin with
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
)
"""Byte-order marks, and the encoding that each stands for."""


def mark_of(head: bytes) -> str:
    """The encoding that a byte-order mark at the start names, "" without one."""
    return next((name for mark, name in MARKS if head.startswith(mark)), "")


def kind_of(head: bytes) -> str:
    """What a file is that begins so, as "a PDF file"; "" for what may be a text."""
    return signature(head)[0]


def decoded(content: bytes, limit: ReadLimit) -> str:
    """The text of UTF-8 bytes, without its mark; another kind of file is named.

    Raises:
        UnicodeDecodeError: when it is no such text.
        PrismError: of the limit's kind, for a file that says by its first bytes what it is.
    """
    kind, mark = kind_of(content), mark_of(content)
    if kind:
        raise limit.refuse(f"is {kind}, which is no text. Name the right file.")
    if mark in ("utf-16", "utf-32"):
        raise limit.refuse(f"is {mark.upper()} text, not UTF-8 text. Save it as UTF-8.")
    return content.decode("utf-8-sig")


def _lines(text: str) -> str:
    return re.sub("\r\n?", "\n", text)


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # a pipe that nobody writes to would keep us


def text_of(path: str | Path, limit: ReadLimit) -> str:
    """The UTF-8 text of a file, no more than the limit; line ends as Python reads them.

    Raises:
        OSError, UnicodeDecodeError: when it cannot be read, or is no such text.
        PrismError: as `content_of`.
    """
    return _lines(decoded(content_of(path, limit), limit))


def from_json(text: str, limit: ReadLimit, **hooks: Any) -> Any:  # noqa: ANN401  (any JSON value)
    """The values of a JSON text.

    Args:
        text: the text.
        limit: what it may hold at most.
        hooks: of `json.loads`.

    Raises:
        PrismError: of the limit's kind, beyond it.
        ValueError: when it is no JSON, or holds half of a surrogate pair, which is no text.
    """
    check_size(text, limit)
    if not text.isascii():
        text.encode("utf-8")
    # Every value but the first follows one of these marks; those inside texts count, too.
    nested = text.count("[") + text.count("{")
    if nested + text.count(",") > limit.values or nested > limit.nested:
        raise limit._many
    try:
        value = json.loads(text, **hooks)
    except RecursionError:
        value = limit._deep
    if isinstance(value, PrismError):  # outside of the handler: a thousand frames hang on it
        raise value
    _check_depth(value, limit)
    if "\\ud" in text or "\\uD" in text:  # the escapes of halves; a whole pair is a character
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def from_toml(text: str, limit: ReadLimit) -> dict[str, Any]:
    """The values of a TOML text.

    Raises:
        PrismError: of the limit's kind, beyond it.
        ValueError: when it is no TOML.
    """
    check_size(text, limit)
    _scan_toml(text, limit)
    value = tomllib.loads(text)
    _check_depth(value, limit)
    return value


def from_yaml(text: str, limit: ReadLimit, loader: Any) -> Any:  # noqa: ANN401  (any plain value)
    """The plain values of a YAML text, which may hold no anchor, no alias and no other type.

    Args:
        text: the text.
        limit: what it may hold at most.
        loader: PyYAML's, which makes plain values alone.

    Raises:
        PrismError: of the limit's kind, beyond it.
        yaml.YAMLError, ValueError: when it is no YAML.
    """
    check_size(text, limit)
    # The parser tells its events one by one, so that nothing is built before it is counted.
    _check_events(yaml.parse(text, Loader=loader), limit)
    return yaml.load(text, Loader=loader)


def _check_events(events: Iterable[Any], limit: ReadLimit) -> None:
    depth = values = 0
    for event in events:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise limit.refuse(
                f"has an anchor or an alias (& or *) in line {event.start_mark.line + 1}, which "
                "can stand for any amount of text. Write every entry out."
            )
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.NodeEvent):
            tag = getattr(event, "tag", None)
            # A lone ! says that the value is a text, which is plain.
            if tag not in (None, "!") and tag not in _PLAIN:
                raise limit.refuse(
                    f"has an entry with a type of its own (!) in line {event.start_mark.line + 1}. "
                    "Write plain texts and numbers."
                )
            values += 1
            depth += isinstance(event, yaml.CollectionStartEvent)
        if values > limit.values:
            raise limit._many
        if depth > limit.depth:
            raise limit._deep


def check_size(text: str, limit: ReadLimit) -> None:
    """Refuse a text beyond the limit, before anybody looks into it.

    Raises:
        PrismError: of the limit's kind.
    """
    if len(text) > limit.size:
        raise limit._large


def _check_depth(value: object, limit: ReadLimit) -> None:
    """Level by level, so that depth costs no recursion."""
    level: list[Any] = [value]
    for _ in range(limit.depth + 1):
        level = (
            [
                inner
                for outer in level
                for inner in (outer.values() if isinstance(outer, dict) else outer)
                if isinstance(inner, dict | list)
            ]
            if all(isinstance(outer, dict | list) for outer in level)
            else []
        )
        if not level:
            return
    raise limit._deep


# Possessive (`++`, `*+`): nothing is tried twice, so time grows with the text and no faster.
_TOML = re.compile(
    r'(?P<text>"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+"{3,5}'
    r"|'''[^']*+(?:'(?!'')[^']*+)*+'{3,5}"
    r'|"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"'
    r"|'[^'\n]*+'|[A-Za-z0-9_+-]++)"
    r"|(?P<blank>[ \t]++|\#[^\n]*+)|(?P<dot>\.)|(?P<open>[\[{])|(?P<close>[\]}])|(?P<other>.)",
    re.DOTALL,
)


def _scan_toml(text: str, limit: ReadLimit) -> None:
    """Refuse brackets that lie too deep, and keys of too many parts: tomllib goes down with them.

    Ends at a quotation mark that is not closed: tomllib does not come further either.
    """
    depth = parts = values = 0
    for token in _TOML.finditer(text):
        kind = token.lastgroup
        if kind == "dot":
            parts += 1
        elif kind == "other":
            if token.group() in "\"'":
                return
            parts = 0
            values += 1
        elif kind in {"open", "close"}:
            # Not below 0: stray closing brackets must not hide how deep the next ones lie.
            depth, parts = max(0, depth + (1 if kind == "open" else -1)), 0
            values += 1
        if depth > limit.depth:
            raise limit._deep
        if parts >= _KEY_PARTS:
            raise limit.refuse(f"has a key of more than {_KEY_PARTS} parts.")
        if values > 8 * limit.values:  # marks and line ends; the text's size is the other bound
            raise limit._many
