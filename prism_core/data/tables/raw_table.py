"""Raw table: the cells of a file, an Arrow table or a data frame as text.

Every cell stays the text that stands in the file. Types come from the declared schema
alone: a type guessed from rows would be the first thing to leak.
"""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pandas as pd

from prism_core.data.schema.level import level_text
from prism_core.data.tables.address import sheet_digest, split_sheet
from prism_core.data.tables.header import check_header
from prism_core.data.tables.text_frames import HEAD, check_sheet, kind_of, text_frames
from prism_core.errors import TableError
from prism_core.text import untrusted
from prism_core.text.file_or_text import TABLE, Source, located

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray


@dataclass(frozen=True)
class RawTable:
    """Rows as text, exactly as they stand in a file.

    Attributes:
        frame: one text column per header; missing values are empty texts.
        name: the file's name, for messages.
        sha256: of the file's bytes, "" where the rows are not those of one file. It depends on
            private rows: for comparing on the curator's own machine, see `data.table_identity`.
    """

    frame: pd.DataFrame = field(repr=False)
    name: str = "table"
    sha256: str = field(default="", repr=False, compare=False)

    @property
    def rows(self) -> int:
        """Number of rows; a public fact."""
        return len(self.frame)

    @property
    def header(self) -> tuple[str, ...]:
        """Column names."""
        return tuple(self.frame.columns)

    def column(self, name: str) -> pd.Series:
        """The cells of one column."""
        return self.frame.loc[:, name]

    def take(self, positions: Sequence[int]) -> RawTable:
        """The rows at these positions."""
        return RawTable(self.frame.iloc[positions].reset_index(drop=True), self.name)


def read_table(
    source: Source | BinaryIO,
    *,
    name: str | None = None,
    separator: str = ",",
    encoding: str = "utf-8",
    sheet: str = "",
) -> RawTable:
    """Read a table's file; nothing is spent, no type is guessed.

    CSV, Parquet, SPSS (.sav, .zsav), Stata (.dta), SAS (.sas7bdat, .xpt), Excel (.xlsx, .xls,
    .xlsb) and ODS. The kind is recognised by the content.

    Args:
        source: a path, the file's bytes or text, or an open binary file; see `sources`. Behind the
            path of a workbook, `#` and the name of a sheet.
        name: the file's name when `source` is not a path.
        separator: the CSV separator.
        encoding: the text encoding of a CSV; see `text_frames`.
        sheet: the sheet of a workbook, where the path does not name it.

    Raises:
        TableError: with a suggested separator or encoding where one would help; for a file beyond
            `untrusted.TABLE`, or one that takes longer than `untrusted.SECONDS`.
    """
    content, name, named = _content(source, name)
    sheet = sheet or named
    if len(content) > untrusted.TABLE.size:
        raise TableError(
            f"The file {name!r} is larger than {untrusted.TABLE.size // 10**9} GB, which is not "
            "read into memory. Open it by its path."
        )
    kind = kind_of(content[:HEAD])
    check_sheet(kind, sheet, name)
    if kind == "parquet":
        found = _parquet(content, name)
    else:
        if kind == "csv":
            _check_cells(content, name, separator)
        found = _in_memory(
            text_frames(content, name, separator=separator, encoding=encoding, sheet=sheet), name
        )
    return replace(found, sha256=sheet_digest(hashlib.sha256(content).hexdigest(), sheet))


def _content(source: Source | BinaryIO, name: str | None) -> tuple[bytes, str, str]:
    if not isinstance(source, str | bytes | os.PathLike):
        # One byte more than is allowed tells a longer file.
        return source.read(untrusted.TABLE.size + 1), name or "table", ""
    found = located(source, TABLE)
    if isinstance(found, Path):
        path, sheet = split_sheet(found)
        return untrusted.read_bytes(path, untrusted.TABLE), name or path.name, sheet
    content = found if isinstance(found, bytes) else found.encode("utf-8", "replace")
    return content, name or "table", ""


def _check_cells(content: bytes, name: str, separator: str) -> None:
    # An empty cell takes one byte here and many in memory.
    if content.count(separator.encode()) + content.count(b"\n") > untrusted.TABLE.values:
        raise TableError(
            f"The file {name!r} holds more than {untrusted.TABLE.values:,} cells, which are not "
            "read into memory."
        )


def _in_memory(frames: Iterator[pd.DataFrame], name: str) -> RawTable:
    ends, chunks = time.monotonic() + untrusted.SECONDS, []
    for chunk in frames:
        chunks.append(chunk)
        if time.monotonic() > ends:
            raise untrusted.too_slow(name)
    frame = pd.concat(chunks, ignore_index=True)
    if len(frame) == 0:
        raise TableError(f"The file {name!r} has a header but no rows.")
    return RawTable(frame, name)


def _parquet(content: bytes, name: str) -> RawTable:
    from prism_core.data.tables import parquet

    try:
        raw = from_arrow(parquet.read(content, name), name)
    except TableError:
        raise
    except Exception:  # noqa: BLE001  (whatever it is, its text may quote a cell)
        raw = None
    if raw is None:  # outside of the handler, so that nothing is the new error's context
        raise TableError(f"The file {name!r} is not a readable Parquet file.")
    if raw.rows == 0:
        raise TableError(f"The file {name!r} has columns but no rows.")
    return raw


def from_arrow(table: pa.Table, name: str = "table") -> RawTable:
    """Rows of an Arrow table in their text form; see `arrow_texts`."""
    header = [title.strip() for title in table.column_names]
    check_header(header, name)
    columns = {title: arrow_texts(table.column(i)) for i, title in enumerate(header)}
    return RawTable(pd.DataFrame(columns, index=range(table.num_rows)), name)


def arrow_texts(cells: pa.Array | pa.ChunkedArray) -> pd.Series:
    """The text form of Arrow cells; total: no value of any cell makes it fail.

    A date outside the years 1 to 9999, and a cell that is a list or a record, is missing. Where
    a table stands must not change a text, so this is the only way from Arrow to text.
    """
    import pyarrow as pa

    kind = cells.type
    if pa.types.is_dictionary(kind):
        return arrow_texts(cells.cast(kind.value_type))
    if pa.types.is_nested(kind):
        return as_texts(pd.Series([""] * len(cells), dtype=object))
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _arrow_days(cells)
    if pa.types.is_time(kind):
        return _arrow_times(cells)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        cells = _unicode_strings(cells)
    # Without the second option one missing cell would turn all integers to floats.
    frame = pa.table({"cell": cells}).to_pandas(ignore_metadata=True, integer_object_nulls=True)
    return _texts(frame["cell"])


def _unicode_strings(cells: Any) -> Any:  # noqa: ANN401
    """Texts; bytes that are no UTF-8 become the mark for it, in the cell that holds them."""
    import pyarrow as pa

    try:
        cells.validate(full=True)
    except pa.ArrowInvalid:
        raw = cells.cast(pa.large_binary()).to_pylist()
        return pa.array([None if one is None else one.decode("utf-8", "replace") for one in raw])
    return cells


_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31, from 1970-01-01


def _arrow_days(cells: Any) -> pd.Series:  # noqa: ANN401
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = cells.type
    narrow = pa.int32() if pa.types.is_date32(kind) else pa.int64()
    missing = np.asarray(cells.is_null())
    values = np.asarray(cells.cast(narrow).fill_null(0)).astype(np.int64)
    # Rounded down, as a moment before 1970 belongs to the day that it lies in.
    days = values // (1 if pa.types.is_date32(kind) else _PER_DAY[getattr(kind, "unit", "ms")])
    zone = getattr(kind, "tz", None)
    if zone is None:
        return iso_days(days, missing)
    # The date on the clock of its zone, which is at most a day away.
    missing |= (days <= _FIRST_DAY) | (days >= _LAST_DAY)
    safe = pa.array(np.where(missing, 0, values)).cast(kind)
    there = np.asarray(pc.call_function("local_timestamp", [safe]).cast(pa.int64()))
    return iso_days(there // _PER_DAY[kind.unit], missing)


def iso_days(days: NDArray[np.int64], missing: NDArray[np.bool_]) -> pd.Series:
    """Days since 1970-01-01 as ISO dates; nothing for a day that has none."""
    inside = ~missing & (days >= _FIRST_DAY) & (days <= _LAST_DAY)
    texts = np.datetime_as_string(np.where(inside, days, 0).astype("datetime64[D]"))
    return as_texts(pd.Series(np.where(inside, texts, ""), dtype=object))


def _arrow_times(cells: Any) -> pd.Series:  # noqa: ANN401
    """Times of day as text, 24:00:00 and beyond, too."""
    import pyarrow as pa

    narrow = pa.int32() if pa.types.is_time32(cells.type) else pa.int64()
    second = _PER_DAY[cells.type.unit] // 86_400
    texts = []
    for value in cells.cast(narrow).to_pylist():
        whole, rest = divmod(value or 0, second)
        part = f".{rest * 10**6 // second:06}" if rest * 10**6 // second else ""
        text = f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}{part}"
        texts.append("" if value is None else text)
    return as_texts(pd.Series(texts, dtype=object))


def from_frame(frame: pd.DataFrame, name: str = "table") -> RawTable:
    """Rows of a typed frame in their text form (true/false, 3 for 3.0, ISO dates).

    A cell's text depends on the cell and its column's type. Where pandas guessed that type from
    the rows (`read_csv` without `dtype=str`), one row may have decided how another is read before
    it gets here: read files with `read_table`.
    """
    header = [str(column).strip() for column in frame.columns]
    check_header(header, name)
    columns = {title: _texts(frame.iloc[:, position]) for position, title in enumerate(header)}
    return RawTable(pd.DataFrame(columns, index=range(len(frame))), name)


def as_texts(cells: pd.Series) -> pd.Series:
    """Cells as texts whatever they hold: nothing for missing, ? for what is not Unicode."""
    try:
        return cells.astype(str).fillna("")
    except UnicodeEncodeError:
        texts = [_unicode(str(value)) for value in cells.where(cells.notna(), "")]
        return pd.Series(texts, index=cells.index, dtype=str)


def _text(value: object) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    # As in a column of floats, so that one text among them changes no other cell.
    return _unicode(level_text(value) if isinstance(value, float) else str(value))


def _unicode(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _texts(series: pd.Series) -> pd.Series:
    kept = series.reset_index(drop=True)
    if isinstance(kept.dtype, pd.ArrowDtype):
        import pyarrow as pa

        return arrow_texts(pa.chunked_array(pa.array(kept)))
    if not _equal_means_same(kept.dtype):
        return _different_texts(kept)
    places, texts = different_texts(kept)
    return as_texts(pd.Series(texts[places], dtype=object))


def different_texts(series: pd.Series) -> tuple[NDArray[np.intp], NDArray[np.object_]]:
    """The text form of cells as places in a list of texts; a text may stand in it twice."""
    if _equal_means_same(series.dtype):
        # Each different value becomes a text once; a missing one has the place -1.
        if series.dtype == np.float64:  # without pandas for each column: a file has thousands
            places, different = pd.factorize(series.to_numpy())
            texts = [level_text(value) for value in different.tolist()]
            return places, np.array([*texts, ""], dtype=object)
        places, different = pd.factorize(series)
        texts = _different_texts(pd.Series(different)).to_numpy(dtype=object)
        return places, np.append(texts, "")
    places, different = pd.factorize(_different_texts(series.reset_index(drop=True)))
    return places, np.asarray(different, dtype=object)


def _equal_means_same(dtype: object) -> bool:
    """Whether equal cells of this type have one text whatever stands in the other cells.

    Not so for objects: 1, 1.0 and True are equal, and so are a text and a subclass's that prints
    as another one. One person's cell would then decide on the texts of all equal ones.
    """
    if isinstance(dtype, pd.StringDtype):
        return dtype.storage == "pyarrow"  # the other storage may hold subclasses
    return isinstance(dtype, np.dtype) and dtype.kind in "biufM"


def _different_texts(kept: pd.Series) -> pd.Series:
    missing = kept.isna()
    if pd.api.types.is_bool_dtype(kept.dtype):
        texts = kept.astype(object).map({True: "true", False: "false"})
    elif pd.api.types.is_integer_dtype(kept.dtype):
        texts = kept.astype(str)
    elif pd.api.types.is_float_dtype(kept.dtype):
        texts = kept.astype(float).map(level_text)
    elif pd.api.types.is_datetime64_any_dtype(kept.dtype):
        # The date on the clock of its zone, as from Arrow.
        wall = kept.dt.tz_localize(None) if isinstance(kept.dtype, pd.DatetimeTZDtype) else kept
        days = wall.to_numpy().astype("datetime64[D]").astype(np.int64)
        return iso_days(days, missing.to_numpy())
    else:
        texts = pd.Series([_text(value) for value in kept], index=kept.index, dtype=object)
    return as_texts(texts.astype(object).where(~missing, ""))
