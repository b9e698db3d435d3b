"""The kind of a file by its first bytes, and what to do with one that is no text and no table."""

from __future__ import annotations

_SAVE = "save the sheet as CSV"
_EXPORT = "export the table as CSV or Parquet"
_UNPACK = "unpack it first, and take the table that is in it"
_ARROW = "write the table as Parquet"
_ZIP = b"PK\x03\x04"
_SHEETS = (b"xl/", b"application/vnd.oasis.opendocument.spreadsheet")

_SIGNATURES: tuple[tuple[bytes, str, str], ...] = (
    (b"\x1f\x8b", "a gzip file", _UNPACK),
    (_ZIP, "a ZIP archive, as Excel and Word write", "unpack it first, or save the sheet as CSV"),
    (b"BZh91AY&SY", "a bzip2 archive", _UNPACK),
    (b"\xfd7zXZ", "an xz archive", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", _UNPACK),
    (b"7z\xbc\xaf", "a 7-Zip archive", _UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (b"\xd0\xcf\x11\xe0", "a file of an old Excel or Word", _SAVE),
    (b"{\\rtf", "a file of a text editor", "save the table as CSV"),
    (b"SQLite format 3\0", "a SQLite database", _EXPORT),
    (b"$FL2@(#)", "a file of SPSS", _EXPORT),
    (b"$FL3@(#)", "a file of SPSS", _EXPORT),
    (b"<stata_dta>", "a file of Stata", _EXPORT),
    (b"\0" * 12 + b"\xc2\xea\x81\x60", "a file of SAS", _EXPORT),
    (b"RDX3\n", "a workspace of R", _EXPORT),
    (b"\x80\x04\x95", "a pickle of Python", _EXPORT),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", _EXPORT),
    (b"ARROW1\0\0", "an Arrow file", _ARROW),
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
    if head.startswith(_ZIP) and any(part in head for part in _SHEETS):
        return "an Excel workbook", _SAVE
    found = ((what, mend) for mark, what, mend in _SIGNATURES if head.startswith(mark))
    return next(found, ("", ""))


def no_table(head: bytes, name: str) -> str:
    """The sentence that refuses a file of another kind than CSV and Parquet; "" for others.

    Args:
        head: the first bytes of the file.
        name: the file's name.
    """
    what, mend = signature(head)
    if not mend:
        return ""
    return f"The file {name!r} is not a CSV: it is a binary file, {what}: {mend}."
