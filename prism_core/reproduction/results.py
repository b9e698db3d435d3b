"""Results in a file: rows, the commands that made them, versions, the date. No path, no host.

`packaged` reads the file that comes with the package: `docs/results.json` itself, by a link.
"""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from prism_core.errors import EvaluationError
from prism_core.reproduction.outcomes import ResultRow
from prism_core.text import untrusted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

_FORMAT = 1
_PACKAGES = ("prism-dashboard", "numpy", "scipy", "scikit-learn", "numba", "opendp", "pgmpy")


@dataclass(frozen=True, kw_only=True)
class ResultCommand:
    """How rows came about.

    Attributes:
        command: that made them, without places of a machine.
        date: ISO, UTC.
        versions: of Python and the packages that matter.
    """

    command: str
    date: str
    versions: tuple[tuple[str, str], ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"command": self.command, "date": self.date, "versions": dict(self.versions)}


@dataclass(frozen=True, kw_only=True)
class Results:
    """Rows, each with how it came about.

    Attributes:
        rows: one for every key.
        made: the runs of commands, oldest first.
        origin: for every row the place of its command in `made`.
    """

    rows: tuple[ResultRow, ...] = ()
    made: tuple[ResultCommand, ...] = ()
    origin: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("rows", "made", "origin"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        known = all(0 <= place < len(self.made) for place in self.origin)
        if len(self.rows) != len(self.origin) or not known:
            raise EvaluationError("Every row needs the command that made it.", field="origin")
        if len({row.key for row in self.rows}) != len(self.rows):
            raise EvaluationError("A line appears twice.", field="rows")

    def merged(self, rows: Iterable[ResultRow], made: ResultCommand) -> Results:
        """With what is new: a new row takes the place of an old one that has no more seeds."""
        found = {row.key: (row, place) for row, place in zip(self.rows, self.origin, strict=True)}
        for row in rows:
            old = found.get(row.key)
            if old is None or len(row.seeds) >= len(old[0].seeds):
                found[row.key] = (row, len(self.made))
        everyone = (*self.made, made)
        # A command that no row stands for is dropped, so places move up.
        used = sorted({place for _, place in found.values()})
        new = {place: index for index, place in enumerate(used)}
        # By key, so that the same rows are the same text, whatever order they came in.
        ordered = sorted(found.values(), key=lambda pair: pair[0].key)
        return Results(
            rows=tuple(row for row, _ in ordered),
            made=tuple(everyone[place] for place in used),
            origin=tuple(new[place] for _, place in ordered),
        )

    def to_text(self) -> str:
        """As it stands in the file: one row a line, so that changes can be read."""
        head = {"format": _FORMAT, "made": [made.to_dict() for made in self.made]}
        # The rows are put in by hand: `json` would spread each over many lines.
        opened = json.dumps(head, ensure_ascii=False, indent=1).removesuffix("\n}")
        lines = ",\n".join(
            "  " + json.dumps(row.to_dict() | {"made": place}, allow_nan=False)
            for row, place in zip(self.rows, self.origin, strict=True)
        )
        return f'{opened},\n "rows": [\n{lines}\n ]\n}}\n'

    @classmethod
    def from_text(cls, text: str) -> Results:
        """From what `to_text` gave.

        Raises:
            EvaluationError: when it is no file of results.
        """
        try:
            document = untrusted.from_json(text, untrusted.DOCUMENT)
            if document["format"] != _FORMAT:
                raise EvaluationError("This file of results has another format.", field="format")
            return cls(
                rows=tuple(ResultRow.from_dict(row) for row in document["rows"]),
                origin=tuple(int(row["made"]) for row in document["rows"]),
                made=tuple(
                    ResultCommand(
                        command=one["command"],
                        date=one["date"],
                        versions=tuple(one["versions"].items()),
                    )
                    for one in document["made"]
                ),
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            raise EvaluationError("This is no file of results.", field="results") from None


def load_results(path: Path) -> Results:
    """The book in a file; an empty one where there is none yet.

    Raises:
        EvaluationError: when it is no file of results.
    """
    return (
        Results.from_text(untrusted.text_of(path, untrusted.DOCUMENT))
        if path.exists()
        else Results()
    )


def this_command(command: str) -> ResultCommand:
    """Now, on this machine, of which only versions are told."""
    return ResultCommand(
        command=command,
        date=datetime.now(UTC).date().isoformat(),
        versions=(("python", platform.python_version()), *_versions()),
    )


def _versions() -> list[tuple[str, str]]:
    found = []
    for name in _PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return found


FILE = "results.json"


@dataclass(frozen=True, kw_only=True)
class Stored:
    """Rows of one benchmark.

    Attributes:
        rows: in the order in which they are shown.
        made: how each came about.
    """

    rows: tuple[ResultRow, ...] = field(repr=False)
    made: tuple[ResultCommand, ...]

    def only(self, shown: Callable[[Sequence[ResultRow]], Sequence[ResultRow]]) -> Stored:
        """The rows that `shown` keeps, in its order."""
        # By key, as what is shown may come in another order.
        known = dict(zip((row.key for row in self.rows), self.made, strict=True))
        kept = tuple(shown(self.rows))
        return Stored(rows=kept, made=tuple(known[row.key] for row in kept))

    @property
    def runs(self) -> tuple[ResultCommand, ...]:
        """The commands behind the rows, each once."""
        return tuple(dict.fromkeys(self.made))

    @property
    def seeds(self) -> tuple[int, int]:
        """Fewest and most seeds of a row; 0 and 0 without rows."""
        counts = [len(row.seeds) for row in self.rows] or [0]
        return min(counts), max(counts)


@cache
def packaged() -> Results:
    """The results that this version came with.

    Raises:
        EvaluationError: when the file is not there or not usable.
    """
    try:
        text = files("prism_core.reproduction").joinpath(FILE).read_text(encoding="utf-8")
    except OSError:
        raise EvaluationError(
            "The stored results did not come with this installation. Make them with "
            "`prism reproduce`, or install the package again.",
            field="results",
        ) from None
    return Results.from_text(text)


def stored(benchmark: str, book: Results | None = None) -> Stored:
    """The rows of a benchmark with how they came about.

    Args:
        benchmark: its name.
        book: instead of the file that comes with the package.

    Raises:
        EvaluationError: when the file is not usable.
    """
    book = packaged() if book is None else book
    own = [
        (row, book.made[place])
        for row, place in zip(book.rows, book.origin, strict=True)
        if row.benchmark == benchmark
    ]
    return Stored(rows=tuple(row for row, _ in own), made=tuple(made for _, made in own))
