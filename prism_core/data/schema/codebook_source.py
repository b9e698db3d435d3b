"""Codebook source: the document that a schema was read from, without a row."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from prism_core.errors import SchemaError
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prism_core.data.schema.column import Column
    from prism_core.data.schema.schema import Schema

CodebookFormat: TypeAlias = Literal[
    "redcap", "spss", "stata", "sas", "table-schema", "csvw", "ddi", "dictionary"
]
CODEBOOK_FORMATS: tuple[CodebookFormat, ...] = get_args(CodebookFormat)

FORMAT_TEXT: dict[CodebookFormat, str] = {
    "redcap": "REDCap data dictionary",
    "spss": "metadata of an SPSS file",
    "stata": "metadata of a Stata file",
    "sas": "metadata of a SAS file",
    "table-schema": "Frictionless Table Schema",
    "csvw": "CSV on the Web",
    "ddi": "DDI Codebook",
    "dictionary": "data dictionary",
}

WITHOUT_CODEBOOK = ("declared", "public twin")
"""Provenances of a schema that was read from no codebook."""

LONGEST = 300
"""Characters of a file's name."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_SHOWN = 12
_KEYS = {"name", "sha256", "format", "by_hand"}


@dataclass(frozen=True, kw_only=True)
class CodebookSource:
    """The codebook that columns were read from, and what was declared by hand beside it.

    Attributes:
        name: of the file, without the folder it stands in.
        sha256: of what was read, in small hexadecimal letters: the file's bytes, or the metadata
            alone where the file holds rows as well.
        format: how it was read.
        by_hand: names of columns that the curator completed or changed herself.

    Raises:
        SchemaError: naming the entry.
    """

    name: str
    sha256: str
    format: CodebookFormat
    by_hand: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        good = isinstance(self.name, str) and self.name.isprintable()
        if not good or self.name != self.name.strip() or not 1 <= len(self.name) <= LONGEST:
            raise SchemaError(
                f"The name of the codebook must be one line of 1 to {LONGEST} characters.",
                field="codebook.name",
            )
        if "/" in self.name or "\\" in self.name:
            raise SchemaError(
                "The name of the codebook must be that of the file alone, without a folder.",
                field="codebook.name",
            )
        if not isinstance(self.sha256, str) or not _SHA256.fullmatch(self.sha256):
            raise SchemaError(
                "The sha256 of the codebook must be 64 hexadecimal digits in small letters.",
                field="codebook.sha256",
            )
        if self.format not in CODEBOOK_FORMATS:
            raise SchemaError(
                f"The format of the codebook must be one of {', '.join(CODEBOOK_FORMATS)}."
                f"{suggestion(self.format, CODEBOOK_FORMATS)}",
                field="codebook.format",
            )
        named = isinstance(self.by_hand, tuple) and all(
            isinstance(name, str) and name for name in self.by_hand
        )
        if not named or len(set(self.by_hand)) != len(self.by_hand):
            raise SchemaError(
                "by_hand must list names of columns, each once.", field="codebook.by_hand"
            )

    @property
    def text(self) -> str:
        """The codebook in words, with what was done by hand; follows "read from"."""
        found = f"the codebook “{self.name}” ({FORMAT_TEXT[self.format]}, SHA-256 {self.sha256})"
        if not self.by_hand:
            return found
        more = len(self.by_hand) - _SHOWN
        names = ", ".join(self.by_hand[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
        return f"{found}; completed or changed by hand by the curator: {names}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values that `from_dict` reads back."""
        by_hand = {"by_hand": list(self.by_hand)} if self.by_hand else {}
        return {"name": self.name, "sha256": self.sha256, "format": self.format, **by_hand}

    @staticmethod
    def from_dict(entry: object) -> CodebookSource:
        """A source from plain values.

        Raises:
            SchemaError: when they are not those of one.
        """
        by_hand = entry.get("by_hand", []) if isinstance(entry, dict) else None
        if (
            not isinstance(entry, dict)
            or not _KEYS - {"by_hand"} <= set(entry) <= _KEYS
            or not isinstance(by_hand, list | tuple)
        ):
            raise SchemaError(
                "codebook has name, sha256 and format, and perhaps a list by_hand.",
                field="codebook",
            )
        return CodebookSource(
            name=entry["name"],
            sha256=entry["sha256"],
            format=entry["format"],
            by_hand=tuple(by_hand),
        )


@dataclass(frozen=True, kw_only=True)
class CodebookReading:
    """Columns as a codebook alone gives them, to tell later what was done by hand.

    Attributes:
        source: the codebook.
        columns: those that it says in full; one that it leaves open is not among them.
    """

    source: CodebookSource
    columns: tuple[Column, ...]

    @staticmethod
    def of(schema: Schema) -> CodebookReading | None:
        """What the codebook of a schema gave, as the schema itself says; None without one."""
        if schema.codebook is None:
            return None
        by_hand = schema.codebook.by_hand
        return CodebookReading(
            source=schema.codebook,
            columns=tuple(each for each in schema.columns if each.name not in by_hand),
        )

    def source_of(self, columns: Iterable[Column]) -> CodebookSource:
        """The codebook once these columns are declared, with the names of those done by hand."""
        known = {column.name: column for column in self.columns}
        return replace(
            self.source,
            # Other words are no change: columns are compared without descriptions and labels.
            by_hand=tuple(each.name for each in columns if known.get(each.name) != each),
        )


def check_codebook(provenance: str, codebook: CodebookSource | None) -> None:
    """A schema that was read from a codebook names it, and one that was not names none.

    A learned schema and one that was changed after a look keep the codebook that the other columns
    come from.

    Raises:
        SchemaError: where the two do not belong together.
    """
    if provenance == "codebook" and codebook is None:
        raise SchemaError(
            "The provenance 'codebook' needs the codebook's name, sha256 and format under "
            "codebook. Use the schema as it was written, or declare its provenance 'declared'.",
            field="codebook",
        )
    if codebook is not None and provenance in WITHOUT_CODEBOOK:
        raise SchemaError(
            f"A schema with the provenance {provenance!r} names no codebook. Remove the entry "
            "codebook, or give the schema the provenance 'codebook'.",
            field="codebook",
        )
