"""Reader of SPSS, Stata and SAS files in a child process; see `reader_child`.

It gives cells out as they are stored: texts, numbers, and the letters of extended missing values.
No cell is looked at to decide how another is read. What a number means by its display format is
said by `statistical_texts`.
"""

from __future__ import annotations

import codecs
import datetime as dt
import io
import json
import warnings
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO

CELLS = 1_000_000
"""Cells that are read at a time: each takes some ten bytes as an object of Python."""
ROWS = 50_000
"""Most rows that are read at a time."""
COLUMNS = 10_000
"""Most columns of a file; as many as a table has."""

PLAIN = "ISO-8859-1"
"""The encoding whose characters are the bytes: all texts are read in it, and none can fail."""
_ENDS = 1_000
"""How often the end of a file is read before that is an error."""
_PADDED, _STEP = 2**28, 2**16
"""Bytes that a file which was cut short is given in all, and what each step of that costs."""
UNSAID = "windows-1252"
"""The encoding of a file that does not say its own."""


def read(
    source: BinaryIO,
    output: BinaryIO,
    limits: Any,  # noqa: ANN401  (of a file that this one cannot import)
    what: str,
    program: str,
    encoding: str,
) -> None:
    """Write what a file says of itself as JSON, or its cells as an Arrow stream.

    Args:
        source: the file.
        output: gets the JSON or the stream.
        limits: of `reader_child`.
        what: "metadata", "cells", or "labels" of a catalog.
        program: "sav", "dta", "sas7bdat", "xport" or "sas7bcat".
        encoding: of a file that does not say its own; "" for the usual one.
    """
    warnings.simplefilter("error")  # of two names that are one, pyreadstat says it by a warning
    file: BinaryIO = source if source.seekable() else io.BytesIO(source.read())
    if what == "labels":
        about = _parsed(file, program)[1]
        output.write(json.dumps(_plain(_decoded(about.value_labels, encoding or UNSAID))).encode())
        return
    head = limits.module(Path(__file__).with_name("statistical_head.py"))
    if head.more_columns(file, program, COLUMNS):
        limits.refuse(why="columns")
    about, codec = _metadata(file, program, encoding, head)
    if not about.column_names:
        raise ValueError
    if not codec:
        limits.refuse(why="encoding", encoding=str(about.file_encoding)[:40])
    if what == "metadata":
        output.write(json.dumps(_plain(_described(about, codec))).encode())
        return
    if len(about.column_names) > COLUMNS:
        limits.refuse(why="columns")
    if head.is_cut(file, program):
        limits.refuse(why="cut")
    limits.check_cells((about.number_rows or 0) * len(about.column_names))
    _write_cells(file, output, limits, program, about, codec)


def _parsed(file: Any, program: str, **options: Any) -> tuple[dict[str, list[Any]], Any]:  # noqa: ANN401
    from pyreadstat._readstat_parser import parser_entry_point

    file.seek(0)
    file = _Guarded(file)
    # The one door for all four: `read_xport` takes no `user_missing`.
    return parser_entry_point(
        file,
        parser_format={"sav": "sav/zsav"}.get(program, program),
        user_missing=True,
        # A moment beyond the year 9999 would be an error of its own.
        disable_datetime_conversion=True,
        output_format="dict",
        **options,
    )


# --- what a file says of itself --------------------------------------------------------------


def _metadata(file: BinaryIO, program: str, encoding: str, head: Any) -> tuple[Any, str]:  # noqa: ANN401
    """The metadata in plain bytes, and the codec of the file's texts, "" where Python has none."""
    said, about = _first(file, program, head)
    if program == "dta":
        file.seek(0)
        said = "UTF-8" if head.stata_version(file.read(60)) >= 118 else None
    codec = said or encoding or UNSAID
    try:
        return about, codecs.lookup(codec).name
    except LookupError:
        return about, ""


def _first(file: BinaryIO, program: str, head: Any) -> tuple[str | None, Any]:  # noqa: ANN401
    """The encoding that a file declares, and its metadata; the rows may be damaged."""
    errors: list[Exception] = []
    for one in (file, _Padded(file, _length(file), head.last_parts(file, program))):
        for more in ({}, {"row_limit": 1}):  # of packed rows one is unpacked, at most
            # A label may be no text in the encoding that the file declares.
            read = _tried(errors, one, program, **more)
            about = _tried(errors, one, program, encoding=PLAIN, **more)
            if about is None:
                continue
            if more:
                about.number_rows = None
            said = None if read is None else read.file_encoding
            if said is None and program == "sav":
                said = head.sav_encoding(file)
            about.file_encoding = said
            return said, about
    raise errors[-1]


def _tried(errors: list[Exception], file: Any, program: str, **options: Any) -> Any:  # noqa: ANN401
    """The metadata read in one way; None where it fails, with the error kept."""
    try:
        return _parsed(file, program, metadataonly=True, **options)[1]
    except Exception as error:  # noqa: BLE001  (C code: which one depends on what is damaged)
        errors.append(error)
        return None


class _Guarded:
    """A file whose end is said a few times, and then by every call: some loops ask for ever."""

    def __init__(self, file: Any) -> None:  # noqa: ANN401
        self._file, self._ends = file, _ENDS
        self.tell = file.tell

    def read(self, size: int = -1) -> bytes:
        found = b"" if self._ends < 0 else self._file.read(size)
        if not found and size:
            self._ends -= 1
        self._check()
        return found

    def seek(self, offset: int, whence: int = 0) -> int:
        self._check()
        return self._file.seek(offset, whence)

    def _check(self) -> None:
        if self._ends < 0:
            raise EOFError


def _length(file: BinaryIO) -> int:
    length = file.seek(0, 2)
    file.seek(0)
    return length


class _Padded:
    """A file that was cut short: behind its end stand zeros, and the marks of empty parts."""

    def __init__(self, file: BinaryIO, length: int, marks: dict[int, bytes]) -> None:
        self._file, self._length, self._marks, self._place = file, length, marks, 0
        self._left = _PADDED

    def read(self, size: int = -1) -> bytes:
        self._file.seek(self._place)
        found = bytearray(self._file.read(size) if self._place < self._length else b"")
        had = len(found)
        missing = max(0, size - had)
        if missing:
            # Zeros without an end would be read without one; a step counts, too.
            self._left -= missing + _STEP
            if self._left < 0:
                return b""
        found += bytes(missing)
        for start, mark in self._marks.items():
            for at, byte in enumerate(mark, start=start - self._place):
                if had <= at < len(found):
                    found[at] = byte
        self._place += len(found)
        return bytes(found)

    def seek(self, offset: int, whence: int = 0) -> int:
        self._place = offset + (0, self._place, self._length)[whence]
        return self._place

    def tell(self) -> int:
        return self._place


def _described(about: Any, codec: str) -> dict[str, Any]:  # noqa: ANN401
    """The metadata's parts by name, every text in the file's encoding."""
    plain = {one.name: getattr(about, one.name) for one in fields(about)}
    said = plain.pop("file_encoding")
    found = _decoded(plain, codec)
    return {**found, "file_encoding": said}


def _decoded(value: Any, codec: str) -> Any:  # noqa: ANN401
    if isinstance(value, str):
        return _text(value, codec)
    if isinstance(value, dict):
        return {_decoded(key, codec): _decoded(one, codec) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_decoded(one, codec) for one in value]
    return value


def _text(plain: str, codec: str) -> str:
    # A character that is no byte can only be pyreadstat's own.
    return plain.encode(PLAIN, "replace").decode(codec, "replace").rstrip(" ")


def _plain(value: Any) -> Any:  # noqa: ANN401
    """Values as JSON has them: a dictionary as a list of pairs, as its keys may be numbers."""
    if isinstance(value, dict):
        return {"pairs": [[_plain(key), _plain(one)] for key, one in value.items()]}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dt.datetime):
        return {"moment": value.isoformat()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


# --- cells -----------------------------------------------------------------------------------


def _write_cells(
    file: BinaryIO,
    output: BinaryIO,
    limits: Any,  # noqa: ANN401
    program: str,
    about: Any,  # noqa: ANN401
    codec: str,
) -> None:
    """The stream: a column of texts for a text, one of numbers and one of letters for a number."""
    import pyarrow as pa

    names = list(about.column_names)
    texts = [about.readstat_variable_types[name] == "string" for name in names]
    shape = pa.schema(
        [
            pa.field(f"{place}{part}", kind)
            for place, text in enumerate(texts)
            for part, kind in (
                [("", pa.string())] if text else [("", pa.float64()), (".", pa.string())]
            )
        ],
        metadata={"about": json.dumps(_plain(_described(about, codec)))},
    )
    rows = max(1, min(ROWS, CELLS // max(1, len(names))))
    total, start = about.number_rows, 0
    with pa.ipc.new_stream(output, shape) as out:
        while total is None or start < total:
            cells, _ = _parsed(file, program, encoding=PLAIN, row_limit=rows, row_offset=start)
            if list(cells) != names:
                raise ValueError
            arrays = [
                array
                for name, text in zip(names, texts, strict=True)
                for array in (_texts(cells[name], codec) if text else _numbers(cells[name]))
            ]
            count = len(arrays[0])
            if total is not None and count != min(rows, total - start):
                raise ValueError
            limits.count(sum(array.nbytes for array in arrays))
            if count:
                out.write_batch(pa.record_batch(arrays, schema=shape))
            start += count
            if count < rows:
                break


def _texts(cells: list[Any], codec: str) -> list[Any]:
    import pyarrow as pa

    known: dict[str, str] = {}  # most columns have few different texts
    found = []
    for cell in cells:
        plain = cell or ""
        text = known.get(plain)
        if text is None:
            text = known[plain] = _text(plain, codec)
        found.append(text)
    return [pa.array(found, pa.string())]


def _numbers(cells: list[Any]) -> list[Any]:
    """Numbers, and beside them the letter of an extended missing value, which is no number."""
    import pyarrow as pa

    letters = [cell if isinstance(cell, str) else None for cell in cells]
    numbers = [None if isinstance(cell, str) else cell for cell in cells]
    return [pa.array(numbers, pa.float64()), pa.array(letters, pa.string())]
