"""Metadata of SPSS, Stata and SAS files: labels, measures, display formats and missing values."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from prism_core.data.codebooks.code_list import (
    MissingCodes,
    coded,
    level_of,
    missing_codes,
    plain_text,
)
from prism_core.data.codebooks.codebook_column import CodebookColumn
from prism_core.data.codebooks.usual_bounds import UsualBounds, by_storage, by_width
from prism_core.data.schema.level import level_text
from prism_core.data.tables.statistical_texts import display

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyreadstat import metadata_container

    from prism_core.data.schema.codebook_source import CodebookFormat
    from prism_core.data.schema.column_rules import Kind
    from prism_core.data.tables.statistical_file import Program

FORMATS: dict[Program, CodebookFormat] = {
    "sav": "spss",
    "dta": "stata",
    "sas7bdat": "sas",
    "xport": "sas",
}
_UNDERSTOOD = [
    ("variable label", "description"),
    ("value labels", "levels and their labels"),
    ("measurement level", "ordinal or categorical"),
    ("display format", "dates and decimals"),
    ("missing values", "special values"),
]
_WHOLE = frozenset({"int8", "int16", "int32"})
# Width and decimals behind the name: F8.2, COMMA10.2, %16.2f, 8.2, and a width alone in SAS.
_FIXED = re.compile(r"(?:F|COMMA|DOT|DOLLAR|PCT|PERCENT|N|Z|RESTRICTED|CC[A-E])?(\d+)(?:\.(\d+))?")
_STATA_FIXED = re.compile(r"%-?0?\d+[.,](\d+)fc?")
_LETTER = re.compile(r"[a-z_]")
_TIME = "a time of day or a duration"
_MANY = 2  # labelled codes from which a column is taken as a list of levels


def read(about: metadata_container, program: Program) -> tuple[list[CodebookColumn], Any]:
    """The columns of a file by what it says of itself; no row is looked at.

    Args:
        about: as `data.tables.statistical_file.metadata` gives it.
        program: the kind of file.
    """
    columns = [_Variable(about, program, name).column() for name in about.column_names]
    return columns, list(_UNDERSTOOD)


def digest(about: metadata_container) -> str:
    """SHA-256 of what is read here, in small hexadecimal letters.

    Of the metadata alone: the file holds the rows, and a digest of those is no public fact.
    """
    parts = [
        [
            name,
            (about.column_names_to_labels or {}).get(name),
            (about.original_variable_types or {}).get(name),
            (about.readstat_variable_types or {}).get(name),
            (about.variable_measure or {}).get(name),
            [[str(c), w] for c, w in ((about.variable_value_labels or {}).get(name) or {}).items()],
            [[str(low), str(high)] for low, high in _ranges(about, name)],
        ]
        for name in about.column_names
    ]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()


class _Variable:
    """A variable of the file."""

    def __init__(self, about: metadata_container, program: Program, name: str) -> None:
        self.name = name
        self.program = program
        self.label = plain_text((about.column_names_to_labels or {}).get(name) or "")
        self.format = str((about.original_variable_types or {}).get(name) or "")
        self.storage = str((about.readstat_variable_types or {}).get(name) or "")
        self.measure = str((about.variable_measure or {}).get(name) or "unknown")
        labels = (about.variable_value_labels or {}).get(name) or {}
        self.labels = [(self._code(code), plain_text(words)) for code, words in labels.items()]
        self.ranges = _ranges(about, name)

    def column(self) -> CodebookColumn:
        missing, beyond = self._missing()
        gone = {level_text(code) for code in missing.codes}
        valid = [(code, words) for code, words in self.labels if level_text(code) not in gone]
        kind, remark = self._kind(valid)
        found: dict[str, Any] = {
            "name": self.name,
            "source": f"variable {self.name}",
            "kind": kind,
            "description": self.label,
            # Every cell of these files may be missing, and nothing says which are not.
            "nullable": True,
            "remark": "; ".join(part for part in (remark, beyond) if part),
        }
        if remark == _TIME:  # neither a number nor a date, and of few equal cells
            found["only"] = ("leave out", "type", "learn")
        if kind in ("numeric", "date"):
            found |= {"special": missing.codes, "labels": missing.labels}
        if kind == "numeric":
            found["decimals"] = self._decimals()
            found["limits"] = self._limits()
        if kind in ("categorical", "ordinal") and valid:
            # Missing codes are levels like the others there, and stand last: they have no order.
            words = dict(missing.labels)
            pairs = sorted(valid, key=lambda pair: (isinstance(pair[0], str), pair[0]))
            pairs += [(code, words.get(level_text(code), "")) for code in missing.codes]
            found["levels"], found["labels"] = coded(pairs, f"Variable {self.name!r}")
        return CodebookColumn(**found)

    def _code(self, code: object) -> Any:  # noqa: ANN401  (a level)
        """A code as the cells have it; extended missing values of a number are .a to .z there."""
        if self.storage != "string" and isinstance(code, str):
            letter = code.strip().lstrip(".").lower()
            return f".{letter}" if _LETTER.fullmatch(letter) else letter
        return code if isinstance(code, str) else level_of(code)

    def _kind(self, valid: Sequence[tuple[Any, str]]) -> tuple[Kind | None, str]:
        if self.storage == "string":
            if valid:
                return ("ordinal" if self.measure == "ordinal" else "categorical"), ""
            return None, "text without labels"
        shown = display(self.program, self.format)
        if shown is not None:
            return (None, _TIME) if shown.shows == "time" else ("date", "")
        # A scale may have words at its ends alone; without gaps they are the levels of a list.
        listed = len(valid) >= _MANY and (self.measure != "scale" or _gapless(valid))
        if self.measure in ("nominal", "ordinal") or listed:
            return ("ordinal" if self.measure == "ordinal" else "categorical"), ""
        words = "; ".join(f"{level_text(code)} {text}" for code, text in valid[:5])
        return "numeric", f"has labels for single numbers: {words[:200]}" if words else ""

    def _missing(self) -> tuple[MissingCodes, str]:
        """Codes that the file calls missing, and in words the ranges that no label fills."""
        words = {level_text(code): text for code, text in self.labels}
        codes: list[tuple[Any, str]] = []
        bare: list[str] = []
        for low, high in self.ranges:
            if low == high:
                codes.append((level_of(low), words.get(level_text(level_of(low)), "")))
                continue
            inside = [(c, w) for c, w in self.labels if _between(c, low, high)]
            codes += inside
            bare.append(f"missing from {_end(low, 'the lowest')} to {_end(high, 'the highest')}")
        # .a to .z are missing by themselves, whatever ranges the file declares.
        if self.storage != "string":
            codes += [(code, w) for code, w in self.labels if isinstance(code, str)]
        return missing_codes(codes, f"Variable {self.name!r}"), "; ".join(bare)

    def _decimals(self) -> int | None:
        if self.storage in _WHOLE:
            return 0
        if self.program == "dta":
            stata = _STATA_FIXED.fullmatch(self.format)
            return min(int(stata.group(1)), 12) if stata else None
        fixed = _FIXED.fullmatch(self.format.upper())
        return min(int(fixed.group(2) or 0), 12) if fixed else None

    def _limits(self) -> UsualBounds | None:
        """All that a cell holds by its type, or shows by its display format."""
        if self.program == "dta":
            return by_storage(self.storage)
        fixed = _FIXED.fullmatch(self.format.upper())
        if fixed is None:
            return None
        width, decimals = int(fixed.group(1)), int(fixed.group(2) or 0)
        told = f"all that the display format {self.format} shows"
        return by_width(width, decimals, told, point=True)


def _ranges(about: metadata_container, name: str) -> list[tuple[Any, Any]]:
    """The lower and upper end of each range of missing values; alike for a single one."""
    ranges = (about.missing_ranges or {}).get(name) or []
    return [(one["lo"], one["hi"]) for one in ranges if isinstance(one, dict)]


def _gapless(valid: Sequence[tuple[Any, str]]) -> bool:
    """Whether the labelled codes are whole numbers in a row, as those of a list are."""
    numbers = sorted(code for code, _ in valid if isinstance(code, int))
    return len(numbers) == len(valid) and numbers[-1] - numbers[0] == len(numbers) - 1


def _between(code: object, low: object, high: object) -> bool:
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return False
    return isinstance(code, int | float) and low <= code <= high


def _end(value: object, far: str) -> str:
    number = value if isinstance(value, int | float) else 0.0
    # SPSS writes LOWEST and HIGHEST as the largest floats there are.
    return far if abs(number) > 1e300 else level_text(level_of(number))
