"""Parquet copies of files that DuckDB cannot be trusted to read as they are read in memory.

A CSV, because one cell can decide how DuckDB cuts all of it; a file of SPSS, Stata, SAS or a
spreadsheet, which DuckDB does not read; and a Parquet file with a type of
which some value makes DuckDB fail, or has another text there. Which files are copied depends on
their kind and on the types of their columns, never on their rows. A copy stands in the private
folder of its table, mode 0600, and is removed with it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from prism_core import files
from prism_core.data.engines.engine import run_redacted
from prism_core.data.tables import parquet
from prism_core.data.tables.delimited import CHUNK
from prism_core.data.tables.raw_table import arrow_texts
from prism_core.data.tables.text_frames import text_frames
from prism_core.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import pyarrow as pa


def texts_as_parquet(
    path: Path, target: Path, *, separator: str, encoding: str, sheet: str = ""
) -> Path:
    """Copy a file that is no Parquet, all cells as text, cut by the one reader; returns the copy.

    Spends nothing: the copy is as private as the rows.

    Args:
        path: the file.
        target: the new file.
        separator: the separator of a CSV.
        encoding: its text encoding.
        sheet: of a workbook.

    Raises:
        TableError: see `text_frames`; when it cannot be read or written.
    """
    import pyarrow as pa

    def texts() -> Iterable[pa.Table]:
        for cells in text_frames(
            file, path.name, separator=separator, encoding=encoding, sheet=sheet
        ):
            _check_case(list(cells.columns), path.name)
            # Declared and not inferred: all parts of a file must have one type, whatever their
            # cells.
            kinds = pa.schema([(title, pa.string()) for title in cells.columns])
            yield pa.Table.from_pandas(cells, schema=kinds, preserve_index=False)

    def work() -> None:
        nonlocal file
        with file:
            _write(texts(), target)

    file = run_redacted(lambda: path.open("rb"), path.name)
    run_redacted(work, path.name)
    return target


def readable_parquet(path: Path, target: Path) -> Path:
    """The file itself, or a copy in which columns of types that do not travel are texts.

    Spends nothing: the copy is as private as the rows.

    Args:
        path: a Parquet file.
        target: where the copy would stand.

    Raises:
        TableError: when it cannot be read or written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    def work() -> Path:
        with pq.ParquetFile(path) as file:
            parquet.check_declared(file.metadata, path.stat().st_size, path.name)
            _check_case(file.schema_arrow.names, path.name)
            if not file.metadata.num_rows:
                raise TableError(f"The file {path.name!r} has columns but no rows.")
            exotic = [not _travels(kind) for kind in file.schema_arrow.types]
            if not any(exotic):
                return path

            def copied() -> Iterable[pa.Table]:
                for batch in file.iter_batches(CHUNK):
                    arrays = [
                        pa.array(arrow_texts(cells), pa.string()) if away else cells
                        for cells, away in zip(batch.columns, exotic, strict=True)
                    ]
                    yield pa.Table.from_arrays(arrays, names=batch.schema.names)

            _write(copied(), target)
        return target

    return run_redacted(work, path.name)


def _check_case(header: Sequence[str], name: str) -> None:
    """Refuse names that differ in case alone: DuckDB would rename the second one in silence.

    It takes a and A for one letter, but not letters beyond ASCII.
    """
    folded = [re.sub("[A-Z]+", lambda letters: letters[0].lower(), title) for title in header]
    alike = [title for title, times in Counter(folded).items() if times > 1]
    if alike:
        found = [str(i) for i, low in enumerate(folded, start=1) if low == alike[0]]
        raise TableError(
            f"The header of {name!r} has names in positions {' and '.join(found)} that differ in "
            "upper and lower case alone. In a table that is not read into memory they are one "
            "name: rename one of them.",
            field="header",
        )


def _travels(kind: pa.DataType) -> bool:
    """Types that DuckDB reads without a conversion that could fail."""
    import pyarrow as pa

    is_ = pa.types
    if is_.is_dictionary(kind):
        return is_.is_string(kind.value_type) or is_.is_large_string(kind.value_type)
    if is_.is_timestamp(kind):
        # Milliseconds become microseconds there, which fails for a far moment; and one with a time
        # zone is shown in that of the session.
        return kind.tz is None and kind.unit in ("us", "ns")
    return (
        is_.is_boolean(kind)
        or is_.is_integer(kind)
        or is_.is_float32(kind)
        or is_.is_float64(kind)
        or is_.is_string(kind)
        or is_.is_large_string(kind)
        or is_.is_date32(kind)
        or is_.is_decimal128(kind)
    )


def _write(tables: Iterable[pa.Table], target: Path) -> None:
    import pyarrow.parquet as pq

    writer = None
    with files.new(target) as file:
        try:
            for table in tables:
                # Made with the first part, which is the first to know the columns.
                writer = writer or pq.ParquetWriter(file, table.schema)
                writer.write_table(table)
        finally:
            if writer is not None:
                writer.close()
