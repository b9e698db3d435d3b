"""Parquet files that somebody else may have made, read where memory and time have an end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prism_core.data.tables import parquet_child, reader_process
from prism_core.errors import TableError

if TYPE_CHECKING:
    import pyarrow as pa

PER_BYTE = 10_000
"""Most cells that a byte of a large file may stand for; a run of equal values takes few bytes."""


def read(content: bytes, name: str) -> pa.Table:
    """The cells of a Parquet file, unpacked by another process; nothing is spent.

    Categories are written out. Lists and records have no text here, and come as missing.

    Args:
        content: the file.
        name: its name, for messages.

    Raises:
        TableError: when it is damaged, or beyond what is read: see
            `reader_process`. No cell is in it.
    """
    import pyarrow as pa

    job = reader_process.Job(
        script=parquet_child.__file__, source=content, name=name, what="Parquet file"
    )
    return pa.concat_tables(reader_process.tables(job))


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
