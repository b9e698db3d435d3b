"""Engine of a database, and its errors redacted: their text may quote a cell or a password."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from prism_core.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa

    from prism_core.data.engines.grouping import CountQuery

T = TypeVar("T")

BATCH = 500_000
"""Rows of a batch on their way home."""


class Engine(Protocol):
    """A database that holds one table.

    Attributes:
        tables: the parts of the table as Ibis expressions, with the same columns. The types of
            a part's columns are those of its own files: what stands in one file must not change
            how another is read.
        name: short name for messages.
    """

    tables: tuple[Any, ...]
    name: str

    def batches(self, query: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401
        """The rows of an Ibis expression, a batch at a time, in no order that means anything."""
        ...

    def number(self, query: Any) -> int:  # noqa: ANN401
        """The value of an Ibis scalar."""
        ...

    def close(self) -> None:
        """Let go of the database."""
        ...


@runtime_checkable
class CountingEngine(Engine, Protocol):
    """A database that counts marginals where the rows are."""

    def tallied(self, query: Any, names: Sequence[str]) -> Iterator[pa.RecordBatch]:  # noqa: ANN401
        """How often each different cell of these columns is there, in one pass, in batches.

        Of a row of the answer all but one of the columns are null, and `grouping.TALLY` is a
        number of rows. A cell may come more than once: its numbers add up. Nulls are not counted.
        """
        ...

    def grouped(self, query: CountQuery) -> Iterator[pa.RecordBatch]:
        """The counts of all marginals in one pass; see `grouping.count_sql`."""
        ...


ADVICE = {
    "login": "The server refused user and password. Check both.",
    "host": "The server cannot be reached. Check host, port and network.",
    "permission": "You may not read it. Ask for the right to read this table.",
    "missing": "There is no such table, file or database. Check the names in the address.",
    "memory": "It ran out of memory or disk. Give the database more, or name fewer columns.",
    "": (
        "Check that the table is whole, that its columns have the declared names, and that you may "
        "read it."
    ),
}
"""What to do, by what went wrong; "" where that is not known."""

_SIGNS = (
    ("login", ("password", "authentication", "no pg_hba.conf entry", 'role "')),
    ("host", ("refused", "resolve", "host name", "not known", "timeout", "timed out", "no route")),
    ("permission", ("permission denied", "access denied")),
    ("missing", ("not exist", "not found", "not_found", "not_exist", "tablenotfound")),
)
_KINDS = {
    "InsufficientPrivilege": "permission",
    **dict.fromkeys(("MemoryError", "OutOfMemoryException", "OutOfMemory", "DiskFull"), "memory"),
}


def _reason(error: Exception, *, opening: bool) -> str:
    """What went wrong: a key of `ADVICE`. The text of an error is looked at only before rows."""
    kind = type(error).__name__
    if kind in _KINDS:
        return _KINDS[kind]
    # Once rows are read its text may quote a cell, and what is told must not depend on that.
    told = f"{kind} {error}".lower() if opening else ""
    return next((why for why, signs in _SIGNS if any(sign in told for sign in signs)), "")


def run_redacted(work: Callable[[], T], name: str, *, opening: bool = False) -> T:
    """Run a step of a database; any failure becomes an error without the database's words.

    Args:
        work: the step.
        name: the table's short name.
        opening: whether no row is read yet, so that the error may tell more.

    Raises:
        TableError: instead of whatever was raised; the original is not attached.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # not ours to mend, and may quote
            return work()
    except (TableError, GeneratorExit):
        raise
    except Exception as error:  # noqa: BLE001  (its text may quote a cell or a password)
        kind, reason = type(error).__name__, _reason(error, opening=opening)
    # Outside of the handler, so that the original is not even the new error's context.
    raise TableError(f"The database could not read {name!r} ({kind}). {ADVICE[reason]}")


def iterate_redacted(start: Callable[[], Iterable[T]], name: str) -> Iterator[T]:
    """What an iterable of a database gives, every step of it redacted; no item is None."""
    reader = run_redacted(lambda: iter(start()), name)
    while (item := run_redacted(lambda: next(reader, None), name)) is not None:
        yield item
