"""Cells of an .xls file that hold no value: errors and merged cells, by its binary records.

Such a file is a compound file, which holds streams as a disk holds files; the stream of the
workbook is a sequence of records (Microsoft, [MS-CFB] and [MS-XLS]). Calamine gives an error as an
empty cell, or not at all. Run in the child process that reads a workbook; it imports nothing of
this program.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

Mark = tuple[str, int, int]
"""Why a cell has no value, its row and its column, counted from 0; as in `workbook_marks`."""

_FREE = 0xFFFFFFFA  # from here on no number of a sector
_ENTRY = 128
_STREAM, _ROOT = 2, 5


def first(content: bytes, sheet: str) -> Mark | None:
    """The first such cell of a sheet; None where every cell has a value or is empty.

    Args:
        content: the workbook.
        sheet: the sheet's name.

    Raises:
        ValueError, struct.error or IndexError: when the file is damaged.
    """
    stream = _stream(content)
    start = _sheet_start(stream, sheet)
    return None if start is None else _of_sheet(stream, start)


# --- the compound file -----------------------------------------------------------------------


def _stream(content: bytes) -> bytes:
    """The stream that holds the workbook."""
    if not content.startswith(SIGNATURE):
        raise ValueError
    wide, small = struct.unpack_from("<HH", content, 30)
    if not 7 <= wide <= 16 or not 2 <= small < wide:
        raise ValueError
    size = 1 << wide
    directory, _, cutoff, small_table = struct.unpack_from("<IIII", content, 48)
    table = _table(content, size)
    entries = _chain(content, size, size, table, directory)
    places: dict[str, tuple[int, int]] = {}
    root = (_FREE, 0)
    for start in range(0, len(entries) - _ENTRY + 1, _ENTRY):
        entry = entries[start : start + _ENTRY]
        (length,) = struct.unpack_from("<H", entry, 64)
        name = entry[: max(0, min(length, 64) - 2)].decode("utf-16-le", "replace")
        place = struct.unpack_from("<II", entry, 116)
        if entry[66] == _ROOT:
            root = place
        elif entry[66] == _STREAM:
            places.setdefault(name.lower(), place)
    found = places.get("workbook") or places.get("book")
    if found is None:
        raise ValueError
    at, bytes_of = found
    # Shorter streams stand in small sectors, inside a stream that the root entry leads to.
    if bytes_of >= cutoff:
        return _chain(content, size, size, table, at)[:bytes_of]
    inner = _chain(content, size, size, table, root[0])
    inner_table = _numbers(_chain(content, size, size, table, small_table))
    return _chain(inner, 1 << small, 0, inner_table, at)[:bytes_of]


def _table(content: bytes, size: int) -> tuple[int, ...]:
    """Of each sector the one that follows it."""
    # The head has room for 109 numbers; further ones stand in sectors whose last number leads on.
    parts = list(struct.unpack_from("<109I", content, 76))
    following, count = struct.unpack_from("<II", content, 68)
    for _ in range(min(count, len(content) // size)):
        if following >= _FREE:
            break
        more = _numbers(_sector(content, size, size, following))
        parts += more[:-1]
        following = more[-1]
    used = [part for part in parts if part < _FREE]
    if len(used) > len(content) // size:
        raise ValueError
    return tuple(n for part in used for n in _numbers(_sector(content, size, size, part)))


def _numbers(content: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(content) // 4}I", content[: len(content) // 4 * 4])


def _sector(content: bytes, size: int, before: int, number: int) -> bytes:
    start = before + number * size
    return content[start : start + size]


def _chain(content: bytes, size: int, before: int, table: tuple[int, ...], number: int) -> bytes:
    """The sectors from one on, put together; `before` are the bytes before the first sector."""
    found: list[bytes] = []
    while number < _FREE:
        if len(found) > len(content) // size:
            raise ValueError  # a ring
        found.append(_sector(content, size, before, number))
        number = table[number]
    return b"".join(found)


# --- records ---------------------------------------------------------------------------------

_BEGIN, _END, _SHEET = 0x0809, 0x000A, 0x0085
_ERROR, _MERGED = 0x0205, 0x00E5
_FORMULAS = (0x0006, 0x0206, 0x0406)
_NEWEST = 0x0600  # the version of Excel 97 and later, whose texts are Unicode


def _records(stream: bytes, place: int) -> Iterator[tuple[int, bytes]]:
    """The records from a place on, up to the end of its part, which may hold parts itself."""
    depth = 0
    while place + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, place)
        yield kind, stream[place + 4 : place + 4 + size]
        depth += (kind == _BEGIN) - (kind == _END)
        if depth <= 0:
            return
        place += 4 + size


def _sheet_start(stream: bytes, sheet: str) -> int | None:
    newest = True
    for kind, record in _records(stream, 0):
        if kind == _BEGIN:
            newest = struct.unpack_from("<H", record)[0] >= _NEWEST
        elif kind == _SHEET:
            (start,) = struct.unpack_from("<I", record)
            if _name(record, newest=newest) == sheet:
                return start
    return None


def _name(record: bytes, *, newest: bool) -> str:
    length = record[6]
    if not newest:
        return record[7 : 7 + length].decode("windows-1252", "replace")
    # The lowest bit says whether a letter has two bytes or one.
    if record[7] & 1:
        return record[8 : 8 + 2 * length].decode("utf-16-le", "replace")
    return record[8 : 8 + length].decode("latin-1")


def _of_sheet(stream: bytes, start: int) -> Mark | None:
    for kind, record in _records(stream, start):
        if kind == _MERGED:
            (count,) = struct.unpack_from("<H", record)
            for at in range(count):
                top, bottom, left, right = struct.unpack_from("<4H", record, 2 + 8 * at)
                if (top, left) != (bottom, right):
                    return "merged", top, left
        elif _is_error(kind, record):
            row, column = struct.unpack_from("<HH", record)
            return "error", row, column
    return None


def _is_error(kind: int, record: bytes) -> bool:
    if kind in _FORMULAS:  # its result is no number, and of the kind 2
        return record[12:14] == b"\xff\xff" and record[6] == 2
    return kind == _ERROR and record[7] == 1
