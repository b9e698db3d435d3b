"""Codebook files: the one function that reads a codebook, of whatever format."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from prism_core.data.codebooks import csvw, ddi, dictionary, redcap, statistical, table_schema
from prism_core.data.codebooks.codebook import Codebook
from prism_core.data.codebooks.recognition import WORKBOOK_HEAD, recognised, text_of, values_of
from prism_core.data.codebooks.resources import chosen
from prism_core.data.codebooks.sheet import Sheet, csv_rows, sheet_of
from prism_core.data.schema.codebook_source import CODEBOOK_FORMATS, CodebookFormat, CodebookSource
from prism_core.data.schema.looks import file_name
from prism_core.data.tables.statistical_file import Program, catalog_labels, metadata, program_of
from prism_core.data.tables.workbook_file import read_workbook
from prism_core.errors import SchemaError, TableError
from prism_core.text import file_or_text, untrusted
from prism_core.text.file_or_text import is_workbook
from prism_core.text.suggestions import suggestion

_HEAD = 64


def read_codebook(
    source: file_or_text.Source,
    *,
    format: CodebookFormat | str | None = None,
    name: str = "",
    resource: str | None = None,
    catalog: file_or_text.Source | None = None,
) -> Codebook:
    """The codebook in a file, without a row of any table.

    Args:
        source: the file; or its content, as bytes or a text of several lines.
        format: one of `CODEBOOK_FORMATS`; recognised where it is None.
        name: the file's name where its content is given.
        resource: which table is meant where the codebook describes several: the name of a resource
            (Data Package), address (CSVW), file (DDI) or sheet (workbook).
        catalog: of a file of SAS, the file with the labels of its values (.sas7bcat).

    Raises:
        SchemaError: when it cannot be read as that format; the message names line or field.
    """
    if format is not None and format not in CODEBOOK_FORMATS:
        raise SchemaError(
            f"The format of a codebook is one of {', '.join(CODEBOOK_FORMATS)}."
            f"{suggestion(format, CODEBOOK_FORMATS)}",
            field="format",
        )
    found = file_or_text.located(source, file_or_text.CODEBOOK)
    if isinstance(found, Path):
        name = found.name
        content = _file_content(found)
    else:
        # A text that was typed may hold half of a surrogate pair, which has no bytes in UTF-8.
        content = found.encode("utf-8", "replace") if isinstance(found, str) else found
    name = file_name(name) if name else "codebook"
    program = program_of(content[:_HEAD])
    if catalog is not None and (program is None or statistical.FORMATS[program] != "sas"):
        raise SchemaError("A catalog belongs to a file of SAS.", field="catalog")
    if program is not None:
        return _of_statistical_file(content, name, program, format, catalog)
    # After the statistical programs: their files hold rows, too, and may be as large as a table.
    if len(content) > untrusted.CODEBOOK.size:
        raise untrusted.CODEBOOK.refuse(
            f"is larger than {untrusted.CODEBOOK.size // 1_000_000} MB, which is not read."
        )
    kind = format or recognised(content)
    columns, understood = _columns(content, kind, name, resource)
    source_of = CodebookSource(
        name=name, sha256=hashlib.sha256(content).hexdigest(), format=_checked(kind)
    )
    return Codebook(columns=tuple(columns), source=source_of, understood=tuple(understood))


def _file_content(path: Path) -> bytes:
    """The bytes of a file; one of SPSS, Stata or SAS may be as large as a table."""
    with untrusted.open_bytes(path, untrusted.CODEBOOK) as file:
        head = file.read(_HEAD)
    if program_of(head) is None:
        return untrusted.read_bytes(path, untrusted.CODEBOOK)
    try:
        return untrusted.read_bytes(path, untrusted.TABLE)
    except TableError as error:
        wrong = str(error)
    # Outside of the handler: the context of an error would hold what the reader said of the file.
    raise SchemaError(wrong, field="codebook")


def _of_statistical_file(
    content: bytes,
    name: str,
    program: Program,
    format: str | None,
    catalog: file_or_text.Source | None,
) -> Codebook:
    kind = statistical.FORMATS[program]
    if format not in (None, kind):
        raise SchemaError(
            f"The file {name!r} is of the format {kind}, not {format}. Leave the format out.",
            field="format",
        )
    about, labels, wrong = None, None, ""
    try:
        labels = None if catalog is None else _catalog(catalog)
        about = metadata(content, name)
    except TableError as error:
        wrong = str(error)
    if about is None:
        raise SchemaError(wrong, field="codebook")
    if labels is not None:
        # A file of SAS names the set of labels of each variable; the sets stand in the catalog.
        about.variable_value_labels = {
            variable: labels[title]
            for variable, title in (about.variable_to_label or {}).items()
            if title in labels
        }
    columns, understood = statistical.read(about, program)
    source = CodebookSource(name=name, sha256=statistical.digest(about), format=kind)
    return Codebook(columns=tuple(columns), source=source, understood=tuple(understood))


def _catalog(source: file_or_text.Source) -> dict[str, dict[Any, str]]:
    found = file_or_text.located(source, file_or_text.CODEBOOK)
    if isinstance(found, Path):
        return catalog_labels(untrusted.read_bytes(found, untrusted.CODEBOOK), found.name)
    return catalog_labels(found if isinstance(found, bytes) else found.encode(), "catalog")


def _checked(kind: str) -> CodebookFormat:
    # For the type alone: a text that is none of them was refused before.
    return next(known for known in CODEBOOK_FORMATS if known == kind)


def _columns(
    content: bytes, kind: str, name: str, resource: str | None
) -> tuple[list[Any], list[Any]]:
    if kind in ("spss", "stata", "sas"):
        raise SchemaError(
            f"The file {name!r} is no file of SPSS, Stata or SAS. Leave the format out, or name "
            "the right one.",
            field="format",
        )
    if kind in ("redcap", "dictionary"):
        sheet = _sheet(content, name, resource)
        return redcap.read(sheet) if kind == "redcap" else dictionary.read(sheet)
    text = text_of(content)
    untrusted.check_size(text, untrusted.CODEBOOK)
    if kind == "ddi":
        return ddi.read(text, resource)
    values = values_of(text)
    return csvw.read(values, resource) if kind == "csvw" else table_schema.read(values, resource)


def _sheet(content: bytes, name: str, resource: str | None) -> Sheet:
    if is_workbook(content[:WORKBOOK_HEAD]):
        return sheet_of(_workbook_rows(content, name, resource))
    return sheet_of(csv_rows(text_of(content)))


def _workbook_rows(content: bytes, name: str, sheet: str | None) -> list[tuple[int, list[str]]]:
    """The rows of a workbook's sheet, each with its number there."""
    refused: TableError | None = None
    rows: list[tuple[int, list[str]]] = []
    try:
        for frame in read_workbook(content, name, sheet=sheet or ""):
            if not rows:
                rows.append((1, [str(title) for title in frame.columns]))
            first = rows[-1][0] + 1
            rows += [
                (first + at, list(cells)) for at, cells in enumerate(frame.to_numpy().tolist())
            ]
    except TableError as error:
        refused = error
    if refused is None:
        return rows
    # First, as it names the sheets to choose from.
    if refused.sheets:
        chosen(refused.sheets, sheet, "the workbook has several sheets")
    raise SchemaError(str(refused), field="codebook")
