"""Parquet reader of a child process: from standard input to cells on its output.

A few hundred bytes of Parquet can stand for terabytes: runs of one value, pages that unpack to a
thousand times their size, texts that repeat the ones before. What a file declares about itself may
be untrue, so nothing short of reading tells; it is read where memory and time have an end. Run as a
script by `data.tables.parquet`; it imports nothing of this program.
"""

from __future__ import annotations

import contextlib
import resource
import sys
from pathlib import Path
from typing import Any

MANY, LARGE, DAMAGED = 3, 4, 5
"""Exit states: too many cells, too much when unpacked, not readable."""
BATCH = 4_096
"""Rows that are unpacked before their size is looked at."""
LONGEST = 1_000_000
"""Most bytes of a cell whose type has one length for all."""


def main(memory: int, seconds: int, cells: int, unpacked: int) -> int:
    """Read and write; returns the exit state.

    Args:
        memory: most bytes of this process.
        seconds: most seconds of processor time, should nobody wait for it any more.
        cells: most cells that are read.
        unpacked: most bytes of all cells together.
    """
    with contextlib.suppress(OSError):  # where memory runs out, this process goes first
        Path("/proc/self/oom_score_adj").write_text("1000")
    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        # A core file would hold cells.
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(OSError, ValueError):  # not every system has every one
            resource.setrlimit(kind, (most, most))
    try:
        return _copy(sys.stdin.buffer.read(), cells, unpacked)
    except MemoryError:
        return LARGE
    except Exception:  # noqa: BLE001  (whatever it is, its text may quote a cell)
        return DAMAGED


def _copy(content: bytes, cells: int, unpacked: int) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(pa.BufferReader(content), pre_buffer=False) as file:
        about = file.metadata
        # What is declared may be untrue, but where it is true this refuses before the work.
        if about.num_rows * max(1, about.num_columns) > cells:
            return MANY
        if sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups)) > unpacked:
            return LARGE
        if any(file.schema.column(i).length > LONGEST for i in range(about.num_columns)):
            return LARGE
        kinds = [_kind(kind) for kind in file.schema_arrow.types]
        shape = pa.schema(
            pa.field(field.name, kind, metadata=field.metadata)
            for field, kind in zip(file.schema_arrow, kinds, strict=True)
        )
        written = 0
        with pa.ipc.new_stream(sys.stdout.buffer, shape) as out:
            for batch in file.iter_batches(BATCH, use_threads=False):
                arrays = [
                    pa.nulls(len(batch)) if pa.types.is_null(kind) else column.cast(kind)
                    for column, kind in zip(batch.columns, kinds, strict=True)
                ]
                written += sum(array.nbytes for array in arrays)
                if written > unpacked:
                    return LARGE
                out.write_batch(pa.record_batch(arrays, schema=shape))
    return 0


def _kind(kind: Any) -> Any:  # noqa: ANN401  (pyarrow is not there before the limits hold)
    """The type that is handed on: lists and records have no text, categories are written out."""
    import pyarrow as pa

    if pa.types.is_nested(kind):
        return pa.null()
    return kind.value_type if pa.types.is_dictionary(kind) else kind


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
