"""Head of a file of SPSS, Stata or SAS: what it declares, read before anything is parsed.

Run in the child process that reads such a file; it imports nothing of this program. The parser
makes an object of every column that a file declares, which takes a file of a megabyte half a
minute: so the columns are counted first.
"""

from __future__ import annotations

import struct
from typing import BinaryIO

_HEADERS = 2**24
"""Bytes at the beginning of a file in which its declared encoding is looked for."""
_MAP = b"<map>"
_VARIABLE, _SEGMENT = 2, 255
_NAMESTR = (b"HEADER RECORD*******NAMESTR HEADER", b"HEADER RECORD*******NAMSTV8 HEADER")


def more_columns(file: BinaryIO, program: str, most: int) -> bool:
    """Whether a file declares more columns than so many, as far as its beginning says it.

    Args:
        file: the file.
        program: "sav", "dta", "sas7bdat" or "xport".
        most: so many.
    """
    file.seek(0)
    try:
        if program == "sav":
            return _sav_columns(file, most) > most
        count = {"dta": _dta_columns, "xport": _xport_columns}.get(program)
        return count is not None and count(file) > most
    except (struct.error, ValueError):
        return False  # cut short, or damaged: the parser says so


def _sav_columns(file: BinaryIO, most: int) -> int:
    """Records of the type 2, but for those that go on with a text.

    A text beyond 255 bytes stands as several variables of that width and a last one: those of the
    full width are not counted.
    """
    # The layout code there is 2 or 3: where its byte stands tells the order of all.
    order = ">" if file.read(176)[64:68] in (b"\0\0\0\2", b"\0\0\0\3") else "<"
    found = 0
    while found <= most:
        kind, width, labelled, missing = struct.unpack(f"{order}4i", file.read(16))
        if kind != _VARIABLE:
            return found
        file.seek(16, 1)
        if labelled:
            (length,) = struct.unpack(f"{order}i", file.read(4))
            # A label is padded to a multiple of four bytes.
            file.seek(max(0, length) + 3 & ~3, 1)
        # Below 0 it is a range of two ends, and perhaps a single value: 2 or 3 numbers as well.
        file.seek(8 * min(abs(missing), 3), 1)
        found += 0 <= width < _SEGMENT
    return found


def _dta_columns(file: BinaryIO) -> int:
    head = file.read(200)
    if not head.startswith(b"<stata_dta>"):
        return struct.unpack_from("<H" if head[1] == 2 else ">H", head, 4)[0]
    order = "<" if b"<byteorder>LSF" in head else ">"
    # Two bytes for the number of columns up to version 118; from 119 on there may be more.
    place = head.index(b"<K>") + 3
    return struct.unpack_from(f"{order}{'I' if stata_version(head) > 118 else 'H'}", head, place)[0]


def _xport_columns(file: BinaryIO) -> int:
    head = file.read(2_000)
    place = max(map(head.find, _NAMESTR))
    if place < 0:
        return 0
    return _xport_count(head, place)


def _xport_count(head: bytes, place: int) -> int:
    digits = head[place + 48 : place + 58]  # six digits, and the number behind them
    return int(digits[6:].strip() or b"0") if digits.isdigit() else 0


_PAGES = 2**31  # more than any file has
_ROWS = (b"HEADER RECORD*******OBS ", b"HEADER RECORD*******OBSV8")
_MEMBER = (b"HEADER RECORD*******MEMBER", b"HEADER RECORD*******MEMBV8")
_CARD = 80
"""Bytes of a record of a transport file, all of which are full."""


def is_cut(file: BinaryIO, program: str) -> bool:
    """Whether a file of SAS ends before its rows do, as far as its head says so.

    Its parser takes the rows that are there for all of them. A file of SPSS or Stata says how many
    there are. A transport file does not: one that is cut between two rows is a shorter one.
    """
    length = file.seek(0, 2)
    file.seek(0)
    try:
        if program == "sas7bdat":
            return length < _sas_length(file.read(512))
        return program == "xport" and (length % _CARD != 0 or _ends_in_a_row(file, length))
    except (struct.error, IndexError, ValueError):
        return False  # damaged: the parser says so


def _sas_length(head: bytes) -> int:
    """Bytes of the head and of the pages that it announces."""
    order = "<" if head[37] == 1 else ">"
    # 0x33 stands for 64 bits, and for a head whose fields stand four bytes further on.
    wide, shift = head[32] == 0x33, 4 if head[35] == 0x33 else 0
    first, page = struct.unpack_from(f"{order}2I", head, 196 + shift)
    (pages,) = struct.unpack_from(f"{order}{'Q' if wide else 'I'}", head, 204 + shift)
    return first + page * pages if pages < _PAGES else 0


def _ends_in_a_row(file: BinaryIO, length: int) -> bool:
    """Whether behind the last whole row something stands that is no blank."""
    head = file.read(_HEADERS)
    if max(map(head.count, _MEMBER)) > 1:
        return False  # the rows of the first table end where the next one begins
    names, rows = max(map(head.find, _NAMESTR)), max(map(head.find, _ROWS))
    if not 0 <= names < rows:
        return False
    size = 140  # of each description; shorter on VAX alone
    width = sum(
        struct.unpack_from(">H", head, names + _CARD + size * at + 4)[0]
        for at in range(_xport_count(head, names))
    )
    start = rows + _CARD
    if width < 1 or start > length:
        return False
    rest = (length - start) % width
    file.seek(length - rest)
    return bool(file.read(rest).strip(b" "))


def stata_version(head: bytes) -> int:
    """The version of a file of Stata by its first bytes; 0 where they do not say it."""
    if not head.startswith(b"<stata_dta>"):
        return head[0] if head else 0
    digits = head.partition(b"<release>")[2][:3]
    return int(digits) if digits.isdigit() else 0


def sav_encoding(file: BinaryIO) -> str | None:
    """The encoding that a file of SPSS declares: an extension record of the number 20."""
    file.seek(0)
    head = file.read(_HEADERS)
    for order in "<>":
        start = head.find(struct.pack(f"{order}3i", 7, 20, 1))
        if start >= 0 and len(head) >= start + 16:
            (length,) = struct.unpack_from(f"{order}i", head, start + 12)
            if 0 < length < 64:
                return head[start + 16 : start + 16 + length].decode("ascii", "replace")
    return None


def last_parts(file: BinaryIO, program: str) -> dict[int, bytes]:
    """The last parts of a newer file of Stata as if they were empty, by the places in its map."""
    file.seek(0)
    head = file.read(2_000)
    place = head.find(_MAP) + len(_MAP)
    if program != "dta" or place < len(_MAP) or len(head) < place + 8 * 14:
        return {}
    order = "<" if b"<byteorder>LSF" in head else ">"
    places = struct.unpack_from(f"{order}14Q", head, place)
    return {
        places[10]: b"<strls></strls>",
        places[11]: b"<value_labels></value_labels></stata_dta>",
    }
