"""Parquet files that somebody else may have made, read where memory and time have an end."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

from prism_core import child_processes
from prism_core.data.tables import parquet_child as child
from prism_core.errors import TableError
from prism_core.text import untrusted

if TYPE_CHECKING:
    import pyarrow as pa

MEMORY = 3 * 2**30
"""Most bytes of the process that unpacks a file, beside the file itself."""
UNPACKED = 4 * 2**30
"""Most bytes of all cells of a table in memory."""
PER_BYTE = 10_000
"""Most cells that a byte of a large file may stand for; a run of equal values takes few bytes."""


def read(content: bytes, name: str) -> pa.Table:
    """The cells of a Parquet file, unpacked by another process; nothing is spent.

    Categories are written out. Lists and records have no text here, and come as missing.

    Args:
        content: the file.
        name: its name, for messages.

    Raises:
        TableError: when it is damaged, or beyond what is read: `untrusted.TABLE`, `UNPACKED`,
            `MEMORY`, `untrusted.SECONDS`. No cell is in it.
    """
    import pyarrow as pa

    limits = (MEMORY + 2 * len(content), untrusted.SECONDS, untrusted.TABLE.values, UNPACKED)
    # The memory limit counts addresses: a pool or threads that reserve many would use it up.
    quiet = {
        **child_processes.environment(),
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "OMP_NUM_THREADS": "1",
    }
    try:
        done = subprocess.run(
            child_processes.python(child.__file__, *limits),
            input=content,
            stdout=subprocess.PIPE,
            # What the child says of an error may quote a cell.
            stderr=subprocess.DEVNULL,
            env=quiet,
            timeout=untrusted.SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        done = None
    if done is None:
        raise untrusted.too_slow(name)
    if done.returncode == 0:
        with pa.ipc.open_stream(done.stdout) as stream:
            return stream.read_all()
    raise TableError(_why(done.returncode, name))


def _why(state: int, name: str) -> str:
    if state == child.MANY:
        return (
            f"The file {name!r} declares more than {untrusted.TABLE.values:,} cells, which are not "
            "read into memory."
        )
    if state == child.LARGE or state < 0:  # ended by the system: out of memory, or of time
        return (
            f"The file {name!r} becomes more than {UNPACKED // 2**30} GB when it is unpacked, "
            "which is not read into memory."
        )
    return f"The file {name!r} is not a readable Parquet file."


def check_declared(metadata: Any, size: int, name: str) -> None:  # noqa: ANN401
    """Refuse a large file that stands for out of all proportion more than it holds.

    Args:
        metadata: of the file, as pyarrow reads it.
        size: bytes of the file.
        name: its name, for the message.

    Raises:
        TableError: when its rows cannot be real.
    """
    if metadata.num_rows * max(1, metadata.num_columns) > PER_BYTE * size:
        raise TableError(
            f"The file {name!r} declares more than {PER_BYTE:,} cells for each of its bytes, so it "
            "is not a table of people. It is not read."
        )
