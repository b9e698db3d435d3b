"""Parquet reader of a child process: from a file to cells on the output; see `reader_child`.

A few hundred bytes of Parquet can stand for terabytes: runs of one value, pages that unpack to a
thousand times their size, texts that repeat the ones before. What a file declares about itself may
be untrue, so nothing short of reading tells.
"""

from __future__ import annotations

from typing import Any, BinaryIO

BATCH = 4_096
"""Rows that are unpacked before their size is looked at."""
LONGEST = 1_000_000
"""Most bytes of a cell whose type has one length for all."""


def read(source: BinaryIO, output: BinaryIO, limits: Any) -> None:  # noqa: ANN401
    """Write the cells of a file as an Arrow stream.

    Args:
        source: the file.
        output: gets the stream.
        limits: of `reader_child`, which this file cannot import.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(pa.BufferReader(source.read()), pre_buffer=False) as file:
        about = file.metadata
        # What is declared may be untrue, but where it is true this refuses before the work.
        limits.check_cells(about.num_rows * max(1, about.num_columns))
        limits.check_size(
            sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        )
        if any(file.schema.column(i).length > LONGEST for i in range(about.num_columns)):
            raise MemoryError
        kinds = [_kind(kind) for kind in file.schema_arrow.types]
        shape = pa.schema(
            pa.field(field.name, kind, metadata=field.metadata)
            for field, kind in zip(file.schema_arrow, kinds, strict=True)
        )
        with pa.ipc.new_stream(output, shape) as out:
            for batch in file.iter_batches(BATCH, use_threads=False):
                arrays = [
                    pa.nulls(len(batch)) if pa.types.is_null(kind) else column.cast(kind)
                    for column, kind in zip(batch.columns, kinds, strict=True)
                ]
                limits.count(sum(array.nbytes for array in arrays))
                out.write_batch(pa.record_batch(arrays, schema=shape))


def _kind(kind: Any) -> Any:  # noqa: ANN401  (pyarrow is not there before the limits hold)
    """The type that is handed on: lists and records have no text, categories are written out."""
    import pyarrow as pa

    if pa.types.is_nested(kind):
        return pa.null()
    return kind.value_type if pa.types.is_dictionary(kind) else kind
