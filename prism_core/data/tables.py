"""Files as tables of raw text.

Every cell stays the text that stands in the file. Types come from the declared schema
alone: a type guessed from rows would be the first thing to leak.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import pandas as pd

from prism_core.data.column import level_text
from prism_core.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Sequence

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
LATIN1 = "latin-1"
_BINARY = (
    "The file {name!r} is not a CSV: it is a binary file. Export the table as CSV or Parquet and "
    "load that."
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x19]")  # bytes that no text holds


@dataclass(frozen=True)
class RawTable:
    """Rows as text, exactly as they stand in a file.

    Attributes:
        frame: one text column per header; missing values are empty texts.
        name: the file's name, for messages.
    """

    frame: pd.DataFrame = field(repr=False)
    name: str = "table"

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
    source: str | Path | bytes | BinaryIO,
    *,
    name: str | None = None,
    separator: str = ",",
    encoding: str = "utf-8",
) -> RawTable:
    """Read a CSV or Parquet file; nothing is spent, no type is guessed.

    Args:
        source: a path, the file's bytes, or an open binary file.
        name: the file's name when `source` is not a path.
        separator: the CSV separator.
        encoding: the text encoding of a CSV.

    Raises:
        TableError: with a suggested separator or encoding where one would help.
    """
    content, name = _content(source, name)
    if content[:4] == b"PAR1":
        return _parquet(content, name)
    return _csv(content, name, separator, encoding)


def _content(source: str | Path | bytes | BinaryIO, name: str | None) -> tuple[bytes, str]:
    if isinstance(source, bytes):
        return source, name or "table"
    if isinstance(source, (str, Path)):
        path = Path(source)
        try:
            return path.read_bytes(), name or path.name
        except OSError:
            raise TableError(
                f"The file {path.name!r} cannot be read. Check the path and your permissions."
            ) from None
    return source.read(), name or "table"


def _csv(content: bytes, name: str, separator: str, encoding: str) -> RawTable:
    if separator not in SEPARATORS:
        raise TableError(
            f"separator must be one of {', '.join(SEPARATORS.values())}.", field="separator"
        )
    text = _decode(content, name, encoding)
    _check_separator(text, name, separator)
    try:
        cells = pd.read_csv(
            io.StringIO(text),
            sep=separator,
            dtype=str,
            keep_default_na=False,
            na_filter=False,
            header=None,  # the header is read as a line, so that it sets the number of cells
            on_bad_lines="error",
            skip_blank_lines=True,
            engine="c",
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError):
        raise TableError(
            f"The file {name!r} is not a regular CSV: some line has more cells than the header "
            "has names, or a quotation mark is not closed. Export it again from the source system."
        ) from None
    # A line with too few cells is read as missing.
    cells = cells.fillna("")
    header = tuple(cell.strip() for cell in cells.iloc[0])
    check_header(header, name)
    frame = cells.iloc[1:].reset_index(drop=True)
    frame.columns = list(header)
    if len(frame) == 0:
        raise TableError(f"The file {name!r} has a header but no rows.")
    return RawTable(frame, name)


def _decode(content: bytes, name: str, encoding: str) -> str:
    if not content.strip():
        raise TableError(f"The file {name!r} is empty.")
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    elif b"\x00" in content[:65536]:
        raise TableError(_BINARY.format(name=name))
    try:
        return content.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except LookupError:
        raise TableError(
            f"encoding {encoding!r} is not known. Use utf-8 or latin-1.", field="encoding"
        ) from None
    except UnicodeError:
        if _CONTROL.search(content):
            raise TableError(_BINARY.format(name=name)) from None
        raise TableError(
            f"The file {name!r} is not {encoding.upper()} text. It may be written in latin-1 "
            "(Western European): read it with that encoding, or export it as UTF-8.",
            field="encoding",
            encoding=LATIN1,
        ) from None


def _check_separator(text: str, name: str, separator: str) -> None:
    first = next((line for line in io.StringIO(text) if line.strip()), "")
    if separator not in first:
        other = max(SEPARATORS, key=first.count)
        if first.count(other):
            raise TableError(
                f"The header of {name!r} is separated by {SEPARATORS[other]}, not by "
                f"{SEPARATORS[separator]}. Read it with the separator {SEPARATORS[other]}.",
                field="separator",
                separator=other,
            )


def check_header(header: Sequence[str], name: str) -> None:
    """Refuse empty and repeated names.

    Raises:
        TableError: naming the positions (empty) or the name (repeated).
    """
    empty = [str(i) for i, cell in enumerate(header, start=1) if not cell]
    if empty:
        raise TableError(
            f"The header of {name!r} has no name in position {', '.join(empty)}. Name every "
            "column, or remove an unnamed index column.",
            field="header",
        )
    repeated = sorted({cell for cell in header if list(header).count(cell) > 1})
    if repeated:
        raise TableError(
            f"The header of {name!r} names {', '.join(map(repr, repeated))} more than once. "
            "Names must be unique.",
            field="header",
        )


def _parquet(content: bytes, name: str) -> RawTable:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # Without the second option one missing cell would turn all integers to floats.
        frame = pq.read_table(io.BytesIO(content)).to_pandas(
            ignore_metadata=True, integer_object_nulls=True
        )
    except (pa.ArrowException, OSError, ValueError):
        raise TableError(f"The file {name!r} is not a readable Parquet file.") from None
    raw = from_frame(frame, name)
    if raw.rows == 0:
        raise TableError(f"The file {name!r} has columns but no rows.")
    return raw


def from_frame(frame: pd.DataFrame, name: str = "table") -> RawTable:
    """Rows of a typed frame in their text form (true/false, 3 for 3.0, ISO dates)."""
    header = [str(column).strip() for column in frame.columns]
    check_header(header, name)
    columns = {title: _texts(frame.iloc[:, position]) for position, title in enumerate(header)}
    return RawTable(pd.DataFrame(columns, index=range(len(frame))), name)


def as_texts(cells: pd.Series) -> pd.Series:
    """Cells as texts whatever they hold: nothing for missing, ? for what is not Unicode."""
    try:
        return cells.astype(str).fillna("")
    except UnicodeEncodeError:
        texts = [_text(value) for value in cells.where(cells.notna(), "")]
        return pd.Series(texts, index=cells.index, dtype=str)


def _text(value: object) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    # As in a column of floats, so that one text among them changes no other cell.
    text = level_text(value) if isinstance(value, float) else str(value)
    return text.encode("utf-8", "replace").decode()


def _texts(series: pd.Series) -> pd.Series:
    kept = series.reset_index(drop=True)
    missing = kept.isna()
    if pd.api.types.is_bool_dtype(kept.dtype):
        texts = kept.astype(object).map({True: "true", False: "false"})
    elif pd.api.types.is_integer_dtype(kept.dtype):
        texts = kept.astype(str)
    elif pd.api.types.is_float_dtype(kept.dtype):
        values = kept.astype(float)
        whole = values.abs().lt(2**53) & values.eq(values.round())
        texts = values.map(repr).where(~whole, values.where(whole, 0.0).astype("int64").astype(str))
    elif pd.api.types.is_datetime64_any_dtype(kept.dtype):
        texts = kept.dt.strftime("%Y-%m-%d")
    else:
        texts = pd.Series([_text(value) for value in kept], index=kept.index, dtype=object)
    return as_texts(texts.astype(object).where(~missing, ""))
