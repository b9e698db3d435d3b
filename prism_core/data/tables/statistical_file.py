"""Files of SPSS, Stata and SAS: their rows as texts, and what they say of themselves.

A cell is the code as it is stored: value labels are never applied, and a value that the file calls
missing stays the code that it is. Extended missing values of Stata and SAS are the texts .a to .z
(and ._ in SAS). Dates and times are ISO texts by the display format of their column.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias

import pandas as pd

from prism_core.data.tables import statistical_child
from prism_core.data.tables.header import check_header, many_columns
from prism_core.data.tables.reader_process import Job, tables, whole
from prism_core.data.tables.statistical_texts import number_texts
from prism_core.errors import TableError
from prism_core.text import untrusted

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    import pyarrow as pa
    from pyreadstat import metadata_container

Program: TypeAlias = Literal["sav", "dta", "sas7bdat", "xport"]

_WHAT: dict[Program, str] = {
    "sav": "file of SPSS",
    "dta": "file of Stata",
    "sas7bdat": "file of SAS",
    "xport": "transport file of SAS",
}
_HEAD = 200
# Bytes a second. Of a packed file of a hundred times its size the cells take less, and what it says
# of itself takes no more than a column of some eighty bytes does.
_SPEED = {"cells": 50_000, "metadata": 250_000, "labels": 250_000}
_SAS = re.compile(rb"\0{12}\xc2\xea\x81[\x60\x63]\xb3\x14\x11\xcf")
_TRANSPORT = b"HEADER RECORD*******LIB"
_OLD_STATA = frozenset({104, 105, 108, 110, 111, 112, 113, 114, 115})


def program_of(head: bytes) -> Program | None:
    """The program that wrote a file which begins so, None for another kind of file."""
    if head.startswith((b"$FL2@(#)", b"$FL3@(#)")):
        return "sav"
    if head.startswith(b"<stata_dta>"):
        return "dta"
    # Its version, the order of bytes, and a 1: no text begins with control characters.
    if len(head) > 3 and head[0] in _OLD_STATA and head[1] in (1, 2) and head[2:4] == b"\x01\x00":
        return "dta"
    if _SAS.match(head):  # a catalog of formats begins so, too
        return "sas7bdat"
    return "xport" if head.startswith(_TRANSPORT) else None


def metadata(source: str | bytes | os.PathLike[str], name: str = "") -> metadata_container:
    """What a file says of itself, as pyreadstat has it; no row is read. Spends nothing.

    Names, labels, value labels, display formats, missing values and measures. The rows may be
    damaged or missing.

    Args:
        source: a path, or the file's content.
        name: the file's name, for messages, where `source` is its content.

    Raises:
        TableError: when it is no file of SPSS, Stata or SAS, or damaged in what comes before the
            rows.
    """
    from pyreadstat import metadata_container

    if isinstance(source, bytes):
        found = _said(_job(source, name or "file", "metadata", ""))
    else:
        with untrusted.open_bytes(source, untrusted.TABLE) as file:
            found = _said(_job(file, Path(source).name, "metadata", ""))
    about = metadata_container()
    # Only entries that pyreadstat has: what the child says came out of a file of somebody else.
    for one in fields(about):
        if one.name in found:
            setattr(about, one.name, found[one.name])
    return about


def catalog_labels(content: bytes, name: str) -> dict[str, dict[Any, str]]:
    """Value labels by the name of their format, in a catalog of SAS (.sas7bcat). Spends nothing.

    Args:
        content: of the file, which holds formats and no rows.
        name: its name, for messages.

    Raises:
        TableError: when it is no such file, or damaged.
    """
    if not is_catalog(content[:_HEAD]):
        raise TableError(f"The file {name!r} is not a catalog of SAS (.sas7bcat).", field="catalog")
    found = _said(
        Job(
            script=statistical_child.__file__,
            source=content,
            name=name,
            what="catalog of SAS",
            arguments=("labels", "sas7bcat", "utf-8"),
            speed=_SPEED["labels"],
        )
    )
    return {
        str(title): {code: str(words) for code, words in labels.items()}
        for title, labels in found.items()
        if isinstance(labels, dict)
    }


def is_catalog(head: bytes) -> bool:
    """Whether a file that begins so is a catalog of SAS."""
    return program_of(head) == "sas7bdat" and b"CATALOG" in head[150:170]


def read_statistical(
    source: bytes | BinaryIO, name: str, *, encoding: str = ""
) -> Iterator[pd.DataFrame]:
    """The rows as frames of texts, a part at a time; the first one has no rows.

    Spends nothing: the cells are as private as the file.

    Args:
        source: the file's bytes, or the open file where it is not loaded.
        name: its name, for messages.
        encoding: of a file that does not say its own; "" for the usual one of its program.

    Raises:
        TableError: when it is damaged, or beyond what is read. No cell is in it.
    """
    job = _job(source, name, "cells", encoding)
    header: list[str] | None = None
    displays: list[str | None] = []
    for table in tables(job):
        if header is None:
            header, displays = _columns(table, job)
            check_header([title.strip() for title in header], name)
        yield _frame(table, [title.strip() for title in header], displays, job)


def _said(job: Job) -> dict[str, Any]:
    try:
        found = _values(untrusted.from_json(whole(job).decode(), untrusted.TABLE_NOTES))
    except (ValueError, TypeError):
        found = None
    if not isinstance(found, dict):
        raise _damaged(job)
    return found


def _job(source: bytes | BinaryIO, name: str, what: str, encoding: str) -> Job:
    if isinstance(source, bytes):
        head = source[:_HEAD]
    else:
        source.seek(0)
        head = source.read(_HEAD)
    program = program_of(head)
    if is_catalog(head):
        raise TableError(
            f"The file {name!r} is a catalog of SAS: it holds formats and no rows. Name the file "
            "that ends in .sas7bdat."
        )
    if program is None:
        raise TableError(f"The file {name!r} is not a file of SPSS, Stata or SAS.")
    return Job(
        script=statistical_child.__file__,
        source=source,
        name=name,
        what=_WHAT[program],
        arguments=(what, program, encoding),
        speed=_SPEED[what],
        refusal=lambda why: _refusal(why, name),
    )


def _refusal(why: dict[str, Any], name: str) -> TableError:
    if why.get("why") == "columns":
        return many_columns(name)
    if why.get("why") == "cut":
        return TableError(
            f"The file {name!r} is cut short: it ends before the rows that its head announces, or "
            "within a row. Copy it anew from where it was made."
        )
    return TableError(
        f"The file {name!r} declares the encoding {str(why.get('encoding'))!r}, which is not known "
        "here. Save it as UTF-8 in the program that wrote it.",
        field="encoding",
    )


def _damaged(job: Job) -> TableError:
    return TableError(f"The file {job.name!r} is not a readable {job.what}.")


def _values(value: Any) -> Any:  # noqa: ANN401
    """Plain values as the child wrote them, dictionaries and moments among them."""
    if isinstance(value, list):
        return [_values(one) for one in value]
    if not isinstance(value, dict):
        return value
    # Codes of value labels are numbers, and JSON takes texts alone for keys.
    if isinstance(value.get("pairs"), list):
        return {_values(key): _values(one) for key, one in value["pairs"]}
    return dt.datetime.fromisoformat(value["moment"]) if "moment" in value else {}


def _columns(table: pa.Table, job: Job) -> tuple[list[str], list[str | None]]:
    """Names and display formats; what the child says is checked, as it parsed the file."""
    try:
        notes = (table.schema.metadata or {})[b"about"].decode()
        about = _values(untrusted.from_json(notes, untrusted.TABLE_NOTES))
        names = [str(title) for title in about["column_names"]]
        formats = about["original_variable_types"]
        return names, [formats[title] for title in names]
    except (ValueError, KeyError, TypeError):
        pass
    # Outside of the handler, so that nothing of the file is the context of the error.
    raise _damaged(job)


def _frame(
    table: pa.Table, header: list[str], displays: list[str | None], job: Job
) -> pd.DataFrame:
    if not table.num_rows:
        return pd.DataFrame(columns=pd.Index(header, dtype=object), dtype=str)
    program = job.arguments[1]
    texts: dict[str, Any] = {}
    parts = frozenset(table.column_names)
    for place, (title, display) in enumerate(zip(header, displays, strict=True)):
        cells = table.column(f"{place}")
        # By place, as names may be anything. A number has a second column, of letters for missing.
        if f"{place}." not in parts:
            texts[title] = cells.to_pandas().fillna("")
            continue
        letters = table.column(f"{place}.")
        texts[title] = number_texts(cells, letters, program, display)
    return pd.DataFrame(texts, index=range(table.num_rows), dtype=str)
