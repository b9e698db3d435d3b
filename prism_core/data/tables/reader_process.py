"""Process that reads a table which somebody else may have made, where memory and time have an end.

The one way to a parser that is no Python. Its limits are in `text.untrusted` and here; a crash, a
hang and a file that unpacks to terabytes become a `TableError`, which quotes no cell.
"""

from __future__ import annotations

import signal
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, TypeVar

from prism_core import child_processes
from prism_core.data.tables import reader_child
from prism_core.errors import TableError
from prism_core.text import untrusted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    import pyarrow as pa

MEMORY = 3 * 2**30
"""Most bytes of the process that unpacks a file, beside the file itself."""
UNPACKED = 4 * 2**30
"""Most bytes of all cells of a table in memory."""
SLOWEST = 1_000_000
"""Bytes of a file that is not loaded for which it gets a second of processor time at least."""
SHORTEST = 2
"""Seconds of processor time that every file gets, so that a small damaged one has an end soon."""

T = TypeVar("T")

_CRASHED = (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a child is to read, and how.

    Attributes:
        script: the file of its reader; see `reader_child`.
        source: the file's bytes, or the open file where it is not loaded.
        name: the file's name, for messages.
        what: the kind of file, as the last words of a sentence ("Parquet file").
        arguments: of the reader.
        refusal: words for a refusal of the reader.
        speed: bytes of a file in memory for which it gets a second of processor time, beside
            `SHORTEST`; 0 where every file may take as long as any.
    """

    script: str
    source: bytes | BinaryIO
    name: str
    what: str
    arguments: tuple[str, ...] = ()
    refusal: Callable[[dict[str, Any]], TableError] | None = None
    speed: int = 0

    def command(self) -> list[str]:
        """The command of the child; a file that is not loaded may have any number of cells."""
        if isinstance(self.source, bytes):
            cells, unpacked = untrusted.TABLE.values, UNPACKED
            size, seconds = len(self.source), untrusted.SECONDS
            if self.speed:
                seconds = min(seconds, SHORTEST + size // self.speed)
        else:
            # To the end and back, whatever was read before: the child begins where the system has
            # the file, and a seek within Python's buffer does not move that.
            self.source.seek(0, 2)
            length = self.source.tell()
            self.source.seek(0)
            cells, unpacked, size = 0, 0, 0
            seconds = untrusted.SECONDS + length // SLOWEST
        limits = (MEMORY + 2 * size, seconds, cells, unpacked)
        return child_processes.python(reader_child.__file__, self.script, *limits, *self.arguments)


def whole(job: Job) -> bytes:
    """All that a reader writes. Spends nothing.

    Raises:
        TableError: when the file is damaged, or beyond what is read. No cell is in it.
    """
    with _Child(job) as child:
        found = child.attempt(child.output.read)
        child.finish(found)
    return found


def tables(job: Job) -> Iterator[pa.Table]:
    """The Arrow tables that a reader writes, one by one; the first one has no rows.

    Spends nothing: the cells are as private as the file.

    Raises:
        TableError: see `whole`.
    """
    import pyarrow as pa

    def valid(batch: pa.RecordBatch) -> pa.Table:
        batch.validate()
        for column in batch.columns:  # nothing that the child says is believed
            _layout(column).validate(full=True)
        return pa.Table.from_batches([batch])

    with _Child(job) as child:
        # An Arrow stream does not begin so; a refusal does.
        if child.attempt(lambda: child.output.peek(1)[:1] == b"{"):
            child.finish(child.attempt(child.output.read))
        stream = child.attempt(lambda: pa.ipc.open_stream(child.output))
        yield child.attempt(stream.schema.empty_table)
        batches = iter(stream)
        while (batch := child.attempt(lambda: next(batches, None))) is not None:
            yield child.attempt(lambda batch=batch: valid(batch))
        child.finish(b"")


def _layout(cells: pa.Array) -> pa.Array:
    """Cells in a type with the same memory, any value of which is valid.

    A text that is no Unicode and a time of 24:00 are cells like others: no value ends a run.
    """
    import pyarrow as pa

    kind = cells.type
    if pa.types.is_string(kind):
        return cells.view(pa.binary())
    if pa.types.is_large_string(kind):
        return cells.view(pa.large_binary())
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return cells.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    if pa.types.is_decimal(kind):
        return cells.view(pa.binary(kind.byte_width))
    return cells


class _Child:
    """A running reader.

    Attributes:
        output: what it writes.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._late = False
        # The memory limit counts addresses: a pool or threads that reserve many would use it up.
        quiet = {
            **child_processes.environment(),
            "ARROW_DEFAULT_MEMORY_POOL": "system",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self._process = subprocess.Popen(
            job.command(),
            stdin=subprocess.PIPE if isinstance(job.source, bytes) else job.source,
            stdout=subprocess.PIPE,
            # What the child says of an error may quote a cell.
            stderr=subprocess.DEVNULL,
            env=quiet,
        )
        self.output: Any = self._process.stdout
        self._timer = self._watched()
        if isinstance(job.source, bytes):
            self._feed(job.source)

    def __enter__(self) -> _Child:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        self._process.kill()
        self._process.wait()
        self.output.close()

    def attempt(self, work: Callable[[], T]) -> T:
        """A step that reads from the child; whatever fails there is said in our words.

        Raises:
            TableError: instead of what was raised; the original is not attached.
        """
        try:
            found = work()
            if not isinstance(self._job.source, bytes):  # of any size: time for each part
                self._timer.cancel()
                self._timer = self._watched()
            return found
        except Exception:  # noqa: BLE001  (whatever a hostile child causes may quote a cell)
            pass
        self._fail()  # outside of the handler, so that nothing is the new error's context

    def finish(self, written: bytes) -> None:
        """Wait for the end.

        Args:
            written: what it wrote, where that may be a refusal.

        Raises:
            TableError: when it did not end well.
        """
        state = self._process.wait()
        if state == reader_child.REFUSED and self._job.refusal is not None:
            raise self._job.refusal(self.attempt(lambda: _why_not(written)))
        if state or self._late:
            self._fail()

    def _fail(self) -> NoReturn:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)  # its output ends a moment before it does
        if self._late:
            raise untrusted.too_slow(self._job.name)
        raise TableError(_why(self._process.poll(), self._job))

    def _feed(self, content: bytes) -> None:
        assert self._process.stdin is not None
        # One that ended early does not take all; why it did is said when it is read from.
        with suppress(OSError), self._process.stdin as file:
            file.write(content)

    def _watched(self) -> threading.Timer:
        def end() -> None:
            self._late = True
            self._process.kill()

        timer = threading.Timer(untrusted.SECONDS, end)
        timer.daemon = True
        timer.start()
        return timer


def _why_not(written: bytes) -> dict[str, Any]:
    found = untrusted.from_json(written.decode(), untrusted.TABLE_NOTES)
    return found if isinstance(found, dict) else {}


def _why(state: int | None, job: Job) -> str:
    if state == reader_child.MANY:
        return (
            f"The file {job.name!r} declares more than {untrusted.TABLE.values:,} cells, which are "
            "not read into memory."
        )
    if state == -signal.SIGXCPU:
        return (
            f"The file {job.name!r} takes far longer to read than a file of its size does, and was "
            "left. It may be damaged: write it again, or export the table as CSV."
        )
    ended = state is not None and state < 0 and -state not in _CRASHED
    if state == reader_child.LARGE or ended:  # ended by the system: out of memory
        return (
            f"The file {job.name!r} becomes more than {UNPACKED // 2**30} GB when it is unpacked, "
            "which is not read into memory."
        )
    return f"The file {job.name!r} is not a readable {job.what}."
