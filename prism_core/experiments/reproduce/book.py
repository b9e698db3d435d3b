"""The file of results: rows, the commands that made them, versions, the date. No path, no host."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from prism_core import foreign
from prism_core.errors import EvaluationError
from prism_core.experiments.reproduce.outcomes import Row

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_FORMAT = 1
_PACKAGES = ("prism-dashboard", "numpy", "scipy", "scikit-learn", "numba", "opendp", "pgmpy")


@dataclass(frozen=True, kw_only=True)
class Made:
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
class Book:
    """Rows, each with how it came about.

    Attributes:
        rows: one for every key.
        made: the runs of commands, oldest first.
        origin: for every row the place of its command in `made`.
    """

    rows: tuple[Row, ...] = ()
    made: tuple[Made, ...] = ()
    origin: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("rows", "made", "origin"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        known = all(0 <= place < len(self.made) for place in self.origin)
        if len(self.rows) != len(self.origin) or not known:
            raise EvaluationError("Every row needs the command that made it.", field="origin")
        if len({row.key for row in self.rows}) != len(self.rows):
            raise EvaluationError("A line appears twice.", field="rows")

    def merged(self, rows: Iterable[Row], made: Made) -> Book:
        """With what is new: a new row takes the place of an old one that has no more seeds."""
        found = {row.key: (row, place) for row, place in zip(self.rows, self.origin, strict=True)}
        for row in rows:
            old = found.get(row.key)
            if old is None or len(row.seeds) >= len(old[0].seeds):
                found[row.key] = (row, len(self.made))
        everyone = (*self.made, made)
        used = sorted({place for _, place in found.values()})
        new = {place: index for index, place in enumerate(used)}
        ordered = sorted(found.values(), key=lambda pair: pair[0].key)
        return Book(
            rows=tuple(row for row, _ in ordered), made=tuple(everyone[place] for place in used),
            origin=tuple(new[place] for _, place in ordered),
        )  # fmt: skip

    def to_text(self) -> str:
        """As it stands in the file: one row a line, so that changes can be read."""
        head = {"format": _FORMAT, "made": [made.to_dict() for made in self.made]}
        opened = json.dumps(head, ensure_ascii=False, indent=1).removesuffix("\n}")
        lines = ",\n".join(
            "  " + json.dumps(row.to_dict() | {"made": place}, allow_nan=False)
            for row, place in zip(self.rows, self.origin, strict=True)
        )
        return f'{opened},\n "rows": [\n{lines}\n ]\n}}\n'

    @classmethod
    def from_text(cls, text: str) -> Book:
        """From what `to_text` gave.

        Raises:
            EvaluationError: when it is no file of results.
        """
        try:
            document = foreign.from_json(text, foreign.DOCUMENT)
            if document["format"] != _FORMAT:
                raise EvaluationError("This file of results has another format.", field="format")
            return cls(
                rows=tuple(Row.from_dict(row) for row in document["rows"]),
                origin=tuple(int(row["made"]) for row in document["rows"]),
                made=tuple(
                    Made(
                        command=one["command"], date=one["date"],
                        versions=tuple(one["versions"].items()),
                    )
                    for one in document["made"]
                ),
            )  # fmt: skip
        except (ValueError, KeyError, TypeError, AttributeError):
            raise EvaluationError("This is no file of results.", field="results") from None


def load(path: Path) -> Book:
    """The book in a file; an empty one where there is none yet.

    Raises:
        EvaluationError: when it is no file of results.
    """
    return Book.from_text(foreign.text_of(path, foreign.DOCUMENT)) if path.exists() else Book()


def here(command: str) -> Made:
    """Now, on this machine, of which only versions are told."""
    return Made(
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
