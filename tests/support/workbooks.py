"""Workbooks for tests: Excel by openpyxl, and the smallest ODS and XLSB that there are."""

from __future__ import annotations

import io
import struct
import zipfile
from typing import TYPE_CHECKING, Any

import openpyxl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def xlsx(sheets: Mapping[str, Sequence[Sequence[Any]]], *merged: str, hide: str = "") -> bytes:
    """Sheets by their names; ranges are merged in the first one."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
        if name == hide:
            sheet.sheet_state = "hidden"
    for cells in merged:
        book.worksheets[0].merge_cells(cells)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


_SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "table", "text")
)


def ods_cell(value: object, more: str = "") -> str:
    """A cell of an ODS; `more` are its other attributes."""
    kind, written = ("float", str(value)) if isinstance(value, int | float) else ("string", value)
    said = f'office:value-type="{kind}"' + (f' office:value="{value}"' if kind == "float" else "")
    return f"<table:table-cell {said} {more}><text:p>{written}</text:p></table:table-cell>"


def ods(sheets: Mapping[str, Sequence[Sequence[str]]]) -> bytes:
    """Sheets by their names; every cell is XML, see `ods_cell`."""
    tables = "".join(
        f'<table:table table:name="{name}">'
        + "".join(f"<table:table-row>{''.join(row)}</table:table-row>" for row in rows)
        + "</table:table>"
        for name, rows in sheets.items()
    )
    mime = "application/vnd.oasis.opendocument.spreadsheet"
    content = (
        f'<?xml version="1.0"?><office:document-content {_SPACES} '
        'xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0">'
        f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    manifest = (
        '<?xml version="1.0"?><manifest:manifest '
        'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{mime}"/>'
        "</manifest:manifest>"
    )
    return _zip({"mimetype": mime, "META-INF/manifest.xml": manifest, "content.xml": content})


def _zip(parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


class Broken:
    """A cell of an XLSB that is an error."""


def xlsb(name: str, rows: Sequence[Sequence[Any]], merged: Sequence[int] = ()) -> bytes:
    """One sheet of texts, numbers and errors.

    Args:
        name: of the sheet.
        rows: its cells.
        merged: first and last row, first and last column of merged cells.
    """
    width = max(map(len, rows))
    sheet = _record(129) + _record(148, struct.pack("<4I", 0, len(rows) - 1, 0, width - 1))
    sheet += _record(145)
    for number, row in enumerate(rows):
        sheet += _record(0, struct.pack("<I", number) + bytes(21))
        for place, cell in enumerate(row):
            at = struct.pack("<II", place, 0)
            if isinstance(cell, Broken):
                sheet += _record(3, at + b"\x2a")
            elif isinstance(cell, str):
                sheet += _record(6, at + _wide(cell))
            else:
                sheet += _record(5, at + struct.pack("<d", cell))
    sheet += _record(146)
    if merged:
        sheet += _record(176, struct.pack("<4I", *merged))
    sheet += _record(130)
    book = _record(131) + _record(143)
    book += _record(156, struct.pack("<II", 0, 1) + _wide("rId1") + _wide(name))
    book += _record(144) + _record(132)
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"
    related = (
        '<?xml version="1.0"?><Relationships '
        'xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="rId1" Type="{relation}" Target="worksheets/sheet1.bin"/>'
        "</Relationships>"
    )
    return _zip(
        {
            "[Content_Types].xml": "<Types/>",
            "xl/_rels/workbook.bin.rels": related,
            "xl/workbook.bin": book,
            "xl/worksheets/sheet1.bin": sheet,
        }
    )


def _record(kind: int, content: bytes = b"") -> bytes:
    def varying(number: int) -> bytes:
        low, high = number & 0x7F, number >> 7
        return bytes([low | 0x80, high]) if high else bytes([low])

    return varying(kind) + varying(len(content)) + content


def _wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")
