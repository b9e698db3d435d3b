"""Recognition of a codebook by its first signs, and its content as its format wants it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import yaml

from prism_core.data.codebooks.csvw import CONTEXT
from prism_core.data.codebooks.redcap import HEADERS
from prism_core.data.codebooks.sheet import folded
from prism_core.data.codebooks.statistical import FORMATS
from prism_core.data.schema import schema_file
from prism_core.data.tables.statistical_file import program_of
from prism_core.errors import SchemaError
from prism_core.text import untrusted
from prism_core.text.file_or_text import is_workbook

if TYPE_CHECKING:
    from prism_core.data.schema.codebook_source import CodebookFormat

WORKBOOK_HEAD = 8_000
"""Bytes of a ZIP archive that tell a workbook."""
_YAML = replace(untrusted.CODEBOOK, values=50_000)
"""Of YAML, whose parser takes forty times as long as that of JSON."""

_KEY = re.compile(r"^(fields|resources|schema|\$schema|profile)\s*:", re.MULTILINE)


_OWN = re.compile(r"^columns\s*:", re.MULTILINE)
_OWN_JSON = re.compile(r'"columns"\s*:\s*\[\s*\{[^{}\[\]]{0,2000}"kind"\s*:')


def is_schema(content: bytes) -> bool:
    """Whether it is a schema file of this program, by its first signs; no codebook, but better."""
    if program_of(content[:64]) is not None or is_workbook(content[:WORKBOOK_HEAD]):
        return False
    text = content[:100_000].decode("utf-8", "replace").replace("\r\n", "\n")
    if text.lstrip("\ufeff \n\t").startswith("{"):
        return _OWN_JSON.search(text) is not None and not _is_csvw(text)
    return _OWN.search(text) is not None and _KEY.search(text) is None


def recognised(content: bytes) -> CodebookFormat:
    """The format of a codebook.

    Raises:
        SchemaError: when it has the signs of none.
    """
    # First: its YAML and JSON look like those of a codebook.
    if is_schema(content):
        raise SchemaError(
            "This is a schema of this program, which says all that a codebook does and more. Use "
            "it as it is: as the schema of a run, or on the page Data.",
            field="codebook",
        )
    program = program_of(content[:64])
    if program is not None:
        return FORMATS[program]
    if is_workbook(content[:WORKBOOK_HEAD]):
        return "dictionary"
    text = text_of(content)
    start = text[:4_000].lstrip()
    if start.startswith("<"):
        return "ddi"
    if start.startswith("{"):
        return "csvw" if _is_csvw(text) else "table-schema"
    header = {folded(cell) for cell in re.split(r"[,;\t]", start.split("\n", 1)[0])}
    if "fieldtype" in header and header & {
        name for name, part in HEADERS.items() if part == "name"
    }:
        return "redcap"
    if _KEY.search(text[:100_000]):
        return "table-schema"
    if len(header) < 2:
        raise SchemaError(
            "This is no codebook that is recognised: REDCap data dictionary, SPSS, Stata or SAS "
            "file, Table Schema or Data Package, CSVW, DDI Codebook, or a table with one row a "
            "column. Name its format.",
            field="codebook",
        )
    return "dictionary"


def _is_csvw(text: str) -> bool:
    # In the context, or where the first keys stand: a description may name it anywhere.
    return CONTEXT in text[:20_000] or '"tableSchema"' in text


def text_of(content: bytes) -> str:
    """The UTF-8 text of a codebook, line ends as Python reads them.

    Raises:
        SchemaError: when it is no such text.
    """
    try:
        text = untrusted.decoded(content, untrusted.CODEBOOK)
    except UnicodeDecodeError:
        text = None
    # Outside of the handler: the decoding error holds the bytes.
    if text is None:
        raise SchemaError("The codebook is not UTF-8 text. Save it as UTF-8.", field="codebook")
    return re.sub("\r\n?", "\n", text)


def values_of(text: str) -> Any:  # noqa: ANN401  (any plain value)
    """The plain values of a JSON or YAML text.

    Raises:
        SchemaError: when it is neither, or beyond `untrusted.CODEBOOK`.
    """
    limit = untrusted.CODEBOOK if text.lstrip().startswith("{") else _YAML
    try:
        return schema_file.plain_values(text, limit)
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" near line {mark.line + 1}" if mark else ""
    raise SchemaError(f"The codebook is not readable as JSON or YAML{place}.", field="codebook")
