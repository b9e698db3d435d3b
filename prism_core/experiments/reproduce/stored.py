"""The file of results that comes with the package: `docs/results.json` itself, by a link."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from prism_core.errors import EvaluationError
from prism_core.experiments.reproduce.book import Book

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prism_core.experiments.reproduce.book import Made
    from prism_core.experiments.reproduce.outcomes import Row

FILE = "results.json"


@dataclass(frozen=True, kw_only=True)
class Stored:
    """Rows of one benchmark.

    Attributes:
        rows: in the order in which they are shown.
        made: how each came about.
    """

    rows: tuple[Row, ...] = field(repr=False)
    made: tuple[Made, ...]

    def only(self, shown: Callable[[Sequence[Row]], Sequence[Row]]) -> Stored:
        """The rows that `shown` keeps, in its order."""
        known = dict(zip((row.key for row in self.rows), self.made, strict=True))
        kept = tuple(shown(self.rows))
        return Stored(rows=kept, made=tuple(known[row.key] for row in kept))

    @property
    def runs(self) -> tuple[Made, ...]:
        """The commands behind the rows, each once."""
        return tuple(dict.fromkeys(self.made))

    @property
    def seeds(self) -> tuple[int, int]:
        """Fewest and most seeds of a row; 0 and 0 without rows."""
        counts = [len(row.seeds) for row in self.rows] or [0]
        return min(counts), max(counts)


@cache
def packaged() -> Book:
    """The results that this version came with.

    Raises:
        EvaluationError: when the file is not there or not usable.
    """
    try:
        text = files("prism_core.experiments.reproduce").joinpath(FILE).read_text(encoding="utf-8")
    except OSError:
        raise EvaluationError(
            "The stored results did not come with this installation. Make them with "
            "`prism reproduce`, or install the package again.",
            field="results",
        ) from None
    return Book.from_text(text)


def stored(benchmark: str, book: Book | None = None) -> Stored:
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
