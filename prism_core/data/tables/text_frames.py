"""Rows of a file of any kind as frames of texts: the one place where a file's kind is recognised.

By its first bytes: the name of a file may end in anything. A file that is read into memory and one
that is not go through here, so both are cut into the same cells.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO, Literal, TypeAlias

from prism_core.data.tables.delimited import read_delimited
from prism_core.errors import TableError
from prism_core.text import untrusted
from prism_core.text.file_or_text import is_workbook

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

Kind: TypeAlias = Literal["csv", "parquet", "statistics", "workbook"]

KINDS: dict[Kind, str] = {
    "csv": "CSV",
    "parquet": "Parquet",
    "statistics": "SPSS, Stata or SAS",
    "workbook": "Excel or ODS",
}
HEAD = 65_536
"""Bytes that tell a file's kind; of a ZIP archive they hold the names of some parts."""


def kind_of(head: bytes) -> Kind:
    """The kind of a file that begins so; what is not known is taken for a CSV, and refused there.

    Args:
        head: its first `HEAD` bytes.
    """
    from prism_core.data.tables.statistical_file import program_of

    if head.startswith(b"PAR1"):
        return "parquet"
    if program_of(head) is not None:
        return "statistics"
    return "workbook" if is_workbook(head) else "csv"


def text_frames(
    source: bytes | BinaryIO,
    name: str,
    *,
    separator: str = ",",
    encoding: str = "utf-8",
    sheet: str = "",
) -> Iterator[pd.DataFrame]:
    """The rows of any file but Parquet as frames of texts, which has types of its own.

    Spends nothing: the cells are as private as the file.

    Args:
        source: the file's bytes, or the open file where it is not loaded.
        name: its name, for messages.
        separator: of a CSV.
        encoding: of a CSV; other than UTF-8 also of a file of SPSS, Stata or SAS that does not say
            its own.
        sheet: of a workbook; "" where it has one only.

    Raises:
        TableError: when it cannot be read. No cell is in it.
    """
    head = source[:HEAD] if isinstance(source, bytes) else _head(source)
    kind = kind_of(head)
    if kind == "workbook":
        from prism_core.data.tables.workbook_file import read_workbook

        return read_workbook(_in_memory(source), name, sheet=sheet)
    check_sheet(kind, sheet, name)
    if kind == "statistics":
        from prism_core.data.tables.statistical_file import read_statistical

        # UTF-8 is what every door gives where nobody chose: it must not overrule what the file
        # declares.
        other = "" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
        return read_statistical(source, name, encoding=other)
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    return read_delimited(stream, name, separator=separator, encoding=encoding)


def check_sheet(kind: Kind, sheet: str, name: str) -> None:
    """Refuse the name of a sheet for a file that has none.

    Raises:
        TableError: when it is no workbook.
    """
    if sheet and kind != "workbook":
        raise TableError(
            f"The file {name!r} is no spreadsheet, so it has no sheets. Leave out what follows "
            "the # in its address.",
            field="sheet",
        )


def _head(file: BinaryIO) -> bytes:
    file.seek(0)
    head = file.read(HEAD)
    file.seek(0)
    return head


def _in_memory(source: bytes | BinaryIO) -> bytes:
    """Calamine reads a workbook as a whole, whatever its size."""
    if isinstance(source, bytes):
        return source
    # One byte more than is allowed tells a longer file.
    content = source.read(untrusted.TABLE.size + 1)
    if len(content) > untrusted.TABLE.size:
        raise untrusted.TABLE.refuse(
            f"is a spreadsheet of more than {untrusted.TABLE.size // 10**9} GB, which is not read. "
            "Export the sheet as CSV."
        )
    return content
