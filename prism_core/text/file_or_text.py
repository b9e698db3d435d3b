"""File or text: what is given as a graph, schema or table, and a file's kind by its first bytes.

A `Path` is a file, and bytes are content. A `str` of several lines is text. One of one line is a
file where there is one of that name, or where it looks like a path: it ends as files of its kind
do and holds no arrow. So `read_dag("dag.json")` reads the file, and says that there is none where
it is missing; `read_dag("A -> Y")` reads the text. A schema of one line is text where it begins
with a brace, and a table is never one line.

What comes from a browser or from inside another file never goes through `located`: no text of
somebody else's may become a path. It is content, see `formats.parse` and `schema_file.loads`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Source: TypeAlias = str | bytes | os.PathLike[str]


@dataclass(frozen=True)
class SourceKind:
    """What one line of text of a kind looks like.

    Attributes:
        endings: of files of that kind, in lower case; a line that ends so is a path.
        sign: what a text of one line bears, where it does not end so; None where a text has
            several lines.
    """

    endings: frozenset[str]
    sign: re.Pattern[str] | None = None


GRAPH = SourceKind(
    frozenset({".json", ".csv", ".dag", ".txt", ".dot", ".gv", ".gml", ".graphml", ".bif", ".gz"}),
    re.compile(r"->|<-|--|[\[\]{}<>]|^[^/\\]*$"),
)
SCHEMA = SourceKind(frozenset({".yaml", ".yml", ".json"}), re.compile(r"^\s*\{"))
SHEETS = frozenset({".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"})
"""Endings of spreadsheets: what follows a # behind one is the name of a sheet."""
_TABLES = frozenset({".csv", ".txt", ".tsv", ".sav", ".zsav", ".dta", ".sas7bdat", ".xpt"}) | SHEETS
TABLE = SourceKind(_TABLES | {".parquet"})
CODEBOOK = SourceKind(_TABLES | {".json", ".yaml", ".yml", ".xml"}, re.compile(r"^\s*[{<]"))

_LONGEST = 4_096  # a path has no more signs
_ARROW = re.compile(r"->|<-")


def located(source: Source, kind: SourceKind) -> Path | str | bytes:
    """A path for a file, whether it is there or not; text and bytes for content.

    Nothing is read.
    """
    if isinstance(source, bytes):
        return source
    if not isinstance(source, str):
        return Path(source)
    if "\n" in source or "\r" in source or len(source) > _LONGEST or not source.strip():
        return source
    path = Path(source)
    if _is_there(path):
        return path
    if path.suffix.lower() in kind.endings and not _ARROW.search(source):
        return path
    return source if kind.sign is not None and kind.sign.search(source) else path


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # no name of a file: too long, or a null character
        return False


_EXPORT = "export the table as CSV or Parquet"
_UNPACK = "unpack it first, and take the table that is in it"
_WRITE_PARQUET = "write the table as Parquet"
_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0"
_SHEETS = (b"xl/", b"application/vnd.oasis.opendocument.spreadsheet")

_SIGNATURES: tuple[tuple[bytes, str, str], ...] = (
    (b"\x1f\x8b", "a gzip file", _UNPACK),
    (_ZIP, "a ZIP archive, as Excel and Word write", "unpack it first, or save the sheet as CSV"),
    (b"BZh91AY&SY", "a bzip2 archive", _UNPACK),
    (b"\xfd7zXZ", "an xz archive", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", _UNPACK),
    (b"7z\xbc\xaf", "a 7-Zip archive", _UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (_OLE, "a file of an old Excel or Word", ""),
    (b"{\\rtf", "a file of a text editor", "save the table as CSV"),
    (b"SQLite format 3\0", "a SQLite database", _EXPORT),
    (b"$FL2@(#)", "a file of SPSS", ""),
    (b"$FL3@(#)", "a file of SPSS", ""),
    (b"<stata_dta>", "a file of Stata", ""),
    (b"\0" * 12 + b"\xc2\xea\x81\x60", "a file of SAS", ""),
    (b"RDX3\n", "a workspace of R", _EXPORT),
    (b"\x80\x04\x95", "a pickle of Python", _EXPORT),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", _EXPORT),
    (b"ARROW1\0\0", "an Arrow file", _WRITE_PARQUET),
    (b"PAR1", "a Parquet file", ""),
    (b"%PDF-", "a PDF file", "take the table from where the PDF was made"),
    (b"\x89PNG", "a picture (PNG)", _EXPORT),
    (b"\xff\xd8\xff", "a picture (JPEG)", _EXPORT),
)


def signature(head: bytes) -> tuple[str, str]:
    """What a file is that begins so, and what to do with it; ("", "") for what may be a text.

    Args:
        head: the first bytes of the file; of a ZIP archive some thousand, to tell a workbook.
    """
    # Before the list, where a workbook would be an archive like any other.
    if head.startswith(_ZIP) and is_workbook(head):
        return "an Excel workbook", ""
    found = ((what, mend) for mark, what, mend in _SIGNATURES if head.startswith(mark))
    return next(found, ("", ""))


def is_workbook(head: bytes) -> bool:
    """Whether a file that begins so is a spreadsheet; an old one of Excel may be of Word, too."""
    return head.startswith(_OLE) or (
        head.startswith(_ZIP) and any(part in head for part in _SHEETS)
    )


def no_table(head: bytes, name: str) -> str:
    """The sentence that refuses a file that is no table of any kind; "" for others.

    Args:
        head: the first bytes of the file.
        name: the file's name.
    """
    what, mend = signature(head)
    if not mend:
        return ""
    return f"The file {name!r} is not a CSV: it is a binary file, {what}: {mend}."
