"""Cells of a workbook that hold no value: errors, formulas without a result, merged cells.

Calamine gives the first two as empty cells and knows the third of some kinds of files. Run in the
child process that reads a workbook; it imports nothing of this program.
"""

from __future__ import annotations

import io
import posixpath
import re
import struct
import zipfile
from typing import IO, TYPE_CHECKING
from xml.parsers import expat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PIECE = 2**20
_OVERLAP = 64
_XLSX = re.compile(rb"[<:]f[\s>/]|t\s*=\s*[\"']e[\"']")
_ODS = re.compile(rb"formula=|value-type=[\"']error|-spanned=")
_WIDE = (b"\xff\xfe", b"\xfe\xff")  # XML in UTF-16, in which no pattern of bytes is found

Mark = tuple[str, int, int]
"""Why a cell has no value, its row and its column, counted from 0."""


def first(content: bytes, sheet: str) -> Mark | None:
    """The first such cell of a sheet; None where every cell has a value or is empty.

    Args:
        content: the workbook.
        sheet: the sheet's name.
    """
    if not content.startswith(b"PK"):
        return None
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = set(archive.namelist())
        if "xl/workbook.xml" in names:
            return _of_xlsx(archive, sheet)
        if "xl/workbook.bin" in names:
            return _of_xlsb(archive, sheet)
        return _of_ods(archive, sheet) if "content.xml" in names else None


# --- XML -------------------------------------------------------------------------------------


def _elements(
    file: IO[bytes],
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None] | None = None,
    text: Callable[[str], None] | None = None,
) -> None:
    """Call for every element, by its name without a prefix, as for the names of attributes."""
    parser = expat.ParserCreate()

    def refused(*_: object) -> None:
        raise ValueError  # entities can stand for any amount of text

    def begun(name: str, entries: dict[str, str]) -> None:
        plain: dict[str, str] = {}
        for key, value in entries.items():
            # An error of an ODS is a text to one standard and an error to the other.
            if plain.get(_plain(key)) != "error":
                plain[_plain(key)] = value
        start(_plain(name), plain)

    parser.EntityDeclHandler = refused
    parser.StartElementHandler = begun
    if end is not None:
        parser.EndElementHandler = lambda name: end(_plain(name))
    if text is not None:
        parser.CharacterDataHandler = text
    parser.ParseFile(file)


def _plain(name: str) -> str:
    return name.rpartition(":")[2]


def _holds(archive: zipfile.ZipFile, name: str, pattern: re.Pattern[bytes]) -> bool:
    """Whether a part may hold such cells: most hold none, and need not be parsed."""
    before = b""
    with archive.open(name) as file:
        while piece := file.read(_PIECE):
            if (not before and piece.startswith(_WIDE)) or pattern.search(before + piece):
                return True
            # What is looked for may lie across two pieces.
            before = piece[-_OVERLAP:]
    return False


def _of_xlsx(archive: zipfile.ZipFile, sheet: str) -> Mark | None:
    parts: dict[str, str] = {}

    def entry(name: str, entries: dict[str, str]) -> None:
        if name == "sheet" and "name" in entries:
            parts[entries["name"]] = entries.get("id", "")

    with archive.open("xl/workbook.xml") as file:
        _elements(file, entry)
    part = _related(archive, "xl/_rels/workbook.xml.rels").get(parts.get(sheet, ""))
    if part is None or not _holds(archive, part, _XLSX):
        return None
    cells = _XlsxCells()
    with archive.open(part) as file:
        _elements(file, cells.start, cells.end, cells.text)
    return cells.found


def _related(archive: zipfile.ZipFile, name: str) -> dict[str, str]:
    found: dict[str, str] = {}

    def entry(element: str, entries: dict[str, str]) -> None:
        if element == "Relationship":
            target = entries.get("Target", "")
            place = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
            found[entries.get("Id", "")] = posixpath.normpath(place)

    with archive.open(name) as file:
        _elements(file, entry)
    there = set(archive.namelist())
    return {key: part for key, part in found.items() if part in there}


class _XlsxCells:
    """Cells of a sheet's XML, and the first that has no value."""

    def __init__(self) -> None:
        self.found: Mark | None = None
        self._row = self._column = -1
        self._kind, self._formula, self._value, self._inside = "", False, "", False

    def start(self, name: str, entries: dict[str, str]) -> None:
        if name == "row":
            # A file may leave the places out: rows and cells then follow each other.
            self._row = int(entries["r"]) - 1 if "r" in entries else self._row + 1
            self._column = -1
        elif name == "c":
            self._column = _column(entries["r"]) if "r" in entries else self._column + 1
            self._kind, self._formula, self._value = entries.get("t", "n"), False, ""
        elif name == "f":
            self._formula = True
        elif name in ("v", "is"):
            self._inside = True

    def text(self, text: str) -> None:
        if self._inside:
            self._value += text

    def end(self, name: str) -> None:
        if name in ("v", "is"):
            self._inside = False
        elif name == "c" and self.found is None:
            if self._kind == "e":
                self.found = ("error", self._row, self._column)
            # A formula whose result is an empty text says that it is a text.
            elif self._formula and not self._value and self._kind != "str":
                self.found = ("formula", self._row, self._column)


def _column(cell: str) -> int:
    number = 0
    for letter in cell:
        if not letter.isalpha():
            break
        number = 26 * number + ord(letter.upper()) - 64
    return number - 1


def _of_ods(archive: zipfile.ZipFile, sheet: str) -> Mark | None:
    if not _holds(archive, "content.xml", _ODS):
        return None
    cells = _OdsCells(sheet)
    with archive.open("content.xml") as file:
        _elements(file, cells.start, cells.end)
    return cells.found


class _OdsCells:
    """Cells of one sheet of an ODS, and the first that has no value of its own."""

    def __init__(self, sheet: str) -> None:
        self.found: Mark | None = None
        self._sheet, self._here = sheet, False
        self._row = self._column = 0
        self._rows = 1

    def start(self, name: str, entries: dict[str, str]) -> None:
        if name == "table":
            self._here, self._row = entries.get("name") == self._sheet, 0
        elif name == "table-row":
            self._column = 0
            # ODS writes equal rows, and equal cells, once with their number.
            self._rows = int(entries.get("number-rows-repeated", 1))
        elif name in ("table-cell", "covered-table-cell") and self._here:
            why = self._why(entries)
            if why and self.found is None:
                self.found = (why, self._row, self._column)
            self._column += int(entries.get("number-columns-repeated", 1))

    def end(self, name: str) -> None:
        if name == "table-row":
            self._row += self._rows
        elif name == "table":
            self._here = False

    @staticmethod
    def _why(entries: dict[str, str]) -> str:
        if entries.get("value-type") == "error":
            return "error"
        if "formula" in entries and "value-type" not in entries:
            return "formula"
        spanned = (entries.get("number-columns-spanned"), entries.get("number-rows-spanned"))
        return "merged" if any(one not in (None, "1") for one in spanned) else ""


# --- records of xlsb -------------------------------------------------------------------------

_ROW, _ERROR, _ERROR_OF_FORMULA, _SHEET, _MERGED = 0, 3, 11, 156, 176


def _of_xlsb(archive: zipfile.ZipFile, sheet: str) -> Mark | None:
    related = _related(archive, "xl/_rels/workbook.bin.rels")
    part = None
    for kind, record in _records(archive.read("xl/workbook.bin")):
        if kind == _SHEET:
            reference, place = _wide(record, 8)
            name, _ = _wide(record, place)
            if name == sheet:
                part = related.get(reference)
    if part is None:
        return None
    row = 0
    for kind, record in _records(archive.read(part)):
        if kind == _ROW:
            (row,) = struct.unpack_from("<I", record)
        elif kind in (_ERROR, _ERROR_OF_FORMULA):
            return "error", row, struct.unpack_from("<I", record)[0]
        elif kind == _MERGED:
            top, _, left, _ = struct.unpack_from("<4I", record)
            return "merged", top, left
    return None


def _records(content: bytes) -> Iterator[tuple[int, bytes]]:
    place = 0
    while place < len(content):
        kind, place = _varying(content, place, 2)
        size, place = _varying(content, place, 4)
        yield kind, content[place : place + size]
        place += size


def _varying(content: bytes, place: int, most: int) -> tuple[int, int]:
    """A whole number of at most so many bytes, seven bits in each."""
    number = 0
    for step in range(most):
        byte = content[place]
        place += 1
        number |= (byte & 0x7F) << 7 * step
        if byte < 0x80:
            break
    return number, place


def _wide(record: bytes, place: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<I", record, place)
    end = place + 4 + 2 * length
    return record[place + 4 : end].decode("utf-16-le", "replace"), end
