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


def xls(name: str, rows: Sequence[Sequence[Any]], merged: Sequence[int] = ()) -> bytes:
    """An .xls of one sheet of texts, numbers and errors; an error may be a formula's.

    Args:
        name: of the sheet.
        rows: its cells.
        merged: first and last row, first and last column of merged cells.
    """
    sheet = _old(0x0809, struct.pack("<HHHHII", 0x0600, 0x0010, 0, 1997, 0, 0))
    sheet += _old(0x0200, struct.pack("<IIHHH", 0, len(rows), 0, max(map(len, rows)), 0))
    for number, row in enumerate(rows):
        for place, cell in enumerate(row):
            at = struct.pack("<HHH", number, place, 0)
            if isinstance(cell, BrokenFormula):
                sheet += _old(0x0006, at + b"\x02\0\x07\0\0\0\xff\xff" + bytes(8))
            elif isinstance(cell, Broken):
                sheet += _old(0x0205, at + b"\x2a\x01")
            elif isinstance(cell, str):
                text = struct.pack("<HB", len(cell), 1) + cell.encode("utf-16-le")
                sheet += _old(0x0204, at + text)
            else:
                sheet += _old(0x0203, at + struct.pack("<d", cell))
    if merged:
        sheet += _old(0x00E5, struct.pack("<5H", 1, *merged))
    sheet += _old(0x000A)
    head = _old(0x0809, struct.pack("<HHHHII", 0x0600, 0x0005, 0, 1997, 0, 0))
    told = bytes([0, 0, len(name), 1]) + name.encode("utf-16-le")
    start = len(head) + 4 + 4 + len(told) + 4
    head += _old(0x0085, struct.pack("<I", start) + told) + _old(0x000A)
    return _compound("Workbook", head + sheet)


class BrokenFormula(Broken):
    """A cell of an .xls whose formula has an error as its result."""


def _old(kind: int, content: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(content)) + content


def _compound(name: str, content: bytes) -> bytes:
    """A compound file of one stream, which stands in small sectors below 4096 bytes."""
    free, end, table = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    small = len(content) < 4096
    sectors: list[bytes] = []
    chains: list[int] = []

    def put(part: bytes) -> int:
        first, count = len(sectors), -(-len(part) // 512)
        for place in range(count):
            sectors.append(part[place * 512 : place * 512 + 512].ljust(512, b"\0"))
            chains.append(first + place + 1 if place + 1 < count else end)
        return first

    data = put(content)
    within = end
    if small:
        pieces = -(-len(content) // 64)
        links = [*range(1, pieces), end]
        within = put(struct.pack(f"<{pieces}I", *links).ljust(512, b"\xff"))

    def entry(title: str, kind: int, child: int, start: int, size: int) -> bytes:
        text = title.encode("utf-16-le")
        found = text.ljust(64, b"\0") + struct.pack("<HBB", len(text) + 2, kind, 1)
        found += struct.pack("<III", free, free, child) + bytes(36)
        return found + struct.pack("<IQ", start, size)

    root = entry("Root Entry", 5, 1, data if small else end, len(content) if small else 0)
    stream = entry(name, 2, free, 0 if small else data, len(content))
    directory = put(root + stream + bytes(2 * 128))
    here = len(sectors)
    tables = -(-here // 127)  # each says what follows 128 sectors, itself among them
    links = [*chains, *[table] * tables]
    links += [free] * (128 * tables - len(links))
    sectors.append(struct.pack(f"<{len(links)}I", *links))
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    head += struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<IIIII", 0, tables, directory, 0, 4096)
    head += struct.pack("<IIII", within, int(small), end, 0)
    places = [here + at for at in range(tables)]
    head += struct.pack("<109I", *places, *[free] * (109 - tables))
    return head + b"".join(sectors)


def _record(kind: int, content: bytes = b"") -> bytes:
    def varying(number: int) -> bytes:
        low, high = number & 0x7F, number >> 7
        return bytes([low | 0x80, high]) if high else bytes([low])

    return varying(kind) + varying(len(content)) + content


def _wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")
