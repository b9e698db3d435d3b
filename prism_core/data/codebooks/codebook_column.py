"""Codebook column: what a codebook says of a column, and what it leaves open."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from prism_core.data.codebooks.usual_bounds import UsualBounds, by_words
from prism_core.data.schema import column_form, level_lines, schema_file, special_values
from prism_core.data.schema.column import Column
from prism_core.data.schema.column_rules import KINDS, Kind
from prism_core.data.schema.level import Level, day_text, level_text
from prism_core.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prism_core.data.schema.column_form import FormRow

Cure: TypeAlias = Literal["type", "learn", "leave out", "person"]
CURES: tuple[Cure, ...] = get_args(Cure)

CURE_TEXT: dict[Cure, str] = {
    "type": "type it",
    "learn": "learn it with a part of the budget",
    "leave out": "leave the column out",
    "person": "say that it names the person",
}
_DATE_ORDERS = {"ymd": (0, 1, 2), "dmy": (2, 1, 0), "mdy": (2, 0, 1)}
_DATE_PARTS = re.compile(r"([0-9]{1,4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,4})(?:[ T][0-9:.]{1,20}Z?)?")
_BETWEEN_DAYS = re.compile(r"\s+(?:to|through|thru|-)\s+|\s*(?:\u2013|\.\.+)\s*", re.IGNORECASE)
_EPOCH = dt.date(1970, 1, 1)


@dataclass(frozen=True, kw_only=True)
class OpenColumn:
    """A column that the codebook does not settle.

    Attributes:
        column: its name.
        missing: what is missing, as words that follow "missing: ".
        cures: what can be done about it.
    """

    column: str
    missing: str
    cures: tuple[Cure, ...]

    @property
    def sentence(self) -> str:
        """What is missing and what to do, for a person."""
        return f"{self.missing}. Cure: {', or '.join(CURE_TEXT[cure] for cure in self.cures)}"


@dataclass(frozen=True, kw_only=True)
class CodebookColumn:
    """A column as a codebook describes it.

    Attributes:
        name: the header in the table.
        source: where in the codebook it stands, as "line 12" or "variable AGE".
        kind: of the column; None where the codebook does not say.
        levels: the values it may hold, in order.
        labels: words for values, by the value's text.
        lower: smallest value (dates: days since 1970-01-01); None where it is not said.
        upper: largest value.
        decimals: of a numeric value; None for any precision.
        nullable: whether a cell may be empty.
        special: values of a numeric or date column that are no numbers or dates.
        description: what the column means.
        remark: what else the codebook says that a declaration cannot: "a calculated field".
        unread: how the cells are written, where this program does not read them so.
        only: where given, the cures that apply; the others would mend nothing.
        learn: whether it is to be learned with budget; a number or date needs wide bounds for it.
        limits: all that a cell can hold by the file's own format, where that bounds it.
        further: entries of a schema file that hold beside these, or instead; None takes one away.
    """

    name: str
    source: str
    kind: Kind | None = None
    levels: tuple[Level, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    lower: float | None = None
    upper: float | None = None
    decimals: int | None = None
    nullable: bool = False
    special: tuple[Level, ...] = ()
    description: str = ""
    remark: str = ""
    unread: str = ""
    only: tuple[Cure, ...] = ()
    learn: bool = False
    limits: UsualBounds | None = None
    further: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise SchemaError(
                f"The codebook has a column without a name ({self.source}). Give it a name.",
                field="codebook",
            )
        if self.kind is not None and self.kind not in KINDS:
            raise SchemaError(
                f"The codebook's column {self.name!r} has the kind {self.kind!r}, which there is "
                "not.",
                field="codebook",
            )

    @property
    def binned(self) -> bool:
        """Whether it has bounds instead of levels."""
        return self.kind in ("numeric", "date")

    @cached_property
    def _settled(self) -> Column | str:
        """The declared column, or what is missing for one."""
        if missing := self._missing():
            return missing
        try:
            return schema_file.column_from_dict(self._known, 1)
        except SchemaError as error:
            # One variable of thousands must not keep the others out.
            return f"what the codebook says cannot be used as it is. {error}".rstrip(".")

    def _missing(self) -> str:
        if self.unread:
            return f"cells in another writing ({self.unread})"
        if self.kind is None:
            return f"kind ({self.remark})" if self.remark else "kind"
        if self.binned:
            parts = [part for part in ("lower", "upper") if getattr(self, part) is None]
            if not parts:
                return ""
            named = f"{' and '.join(parts)} {'bound' if len(parts) == 1 else 'bounds'}"
            return f"{named} ({self.remark})" if self.remark else named
        if self.kind == "boolean" or self.levels or "groups" in self.further:
            return ""
        return "levels"

    @property
    def column(self) -> Column | None:
        """The declared column, or None while something is open."""
        return self._settled if isinstance(self._settled, Column) else None

    @property
    def open(self) -> OpenColumn | None:
        """What is missing and how it can be had; None where nothing is."""
        if isinstance(self._settled, Column):
            return None
        if self.learn:
            wide = "wide bounds that no value leaves, for learning (lower and upper)"
            there = not self.binned or (self.lower is not None and self.upper is not None)
            return None if there else OpenColumn(column=self.name, missing=wide, cures=("type",))
        return OpenColumn(column=self.name, missing=self._settled, cures=self.only or self._cures())

    @cached_property
    def suggested(self) -> UsualBounds | None:
        """Bounds for a number that is open for the want of them, by what is public; else None.

        A bound that the codebook gives stays.
        """
        if self.kind != "numeric" or self.unread or None not in (self.lower, self.upper):
            return None
        for found in (by_words(self.name, self.description), self.limits):
            if found is None:
                continue
            lower = found.lower if self.lower is None else self.lower
            upper = found.upper if self.upper is None else self.upper
            if found.lower <= lower < upper <= found.upper:  # else it is another thing
                return replace(found, lower=lower, upper=upper)
        return None

    def _cures(self) -> tuple[Cure, ...]:
        # The order of an ordinal column cannot be learned, nor a cell that cannot be read.
        if self.kind in ("ordinal", "boolean") or self.unread:
            return ("type", "leave out")
        return ("type", "learn", "leave out")

    @property
    def row(self) -> FormRow:
        """The column as a row of the form, blank in what is open."""
        if self.column is not None:
            return column_form.to_rows([self.column])[0]
        (row,) = column_form.blank_rows([self.name])
        entry = self.entry
        row["kind"] = self.kind or ""
        row["nullable"] = self.nullable
        row["description"] = self.description
        row["levels"] = level_lines.write_levels(entry.get("levels", ()))
        row["special"] = level_lines.write_levels(self.special if self.binned else ())
        row["labels"] = level_lines.write_labels(entry.get("labels", {}).items())
        row["lower"] = str(entry.get("lower", ""))
        row["upper"] = str(entry.get("upper", ""))
        row["decimals"] = self.decimals if self.kind == "numeric" else None
        return row

    @property
    def entry(self) -> dict[str, Any]:
        """What is known, as the plain values of a schema's column; or of one to be learned."""
        if not self.learn or self.column is not None:
            return self._known
        # Words are for declared values, and a column that is to be learned has none yet.
        asked = {"kind": self.kind or "categorical", "learn": {}}
        return {part: value for part, value in self._known.items() if part != "labels"} | asked

    @property
    def _known(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "name": self.name,
            "kind": self.kind,
            "levels": self._declared_levels() or None,
            **(self._declared_bins() if self.binned else {}),
            "labels": self._declared_labels() or None,
            "nullable": self.nullable or None,
            "description": self.description or None,
            **self.further,
        }
        return {part: value for part, value in found.items() if value is not None}

    def _declared_levels(self) -> list[Level]:
        fixed = self.kind == "boolean" or self.binned or "groups" in self.further
        return [] if fixed else list(self.levels)

    def _declared_bins(self) -> dict[str, Any]:
        def plain(value: float | None) -> str | int | float | None:
            if value is None or self.kind != "date":
                return int(value) if value is not None and value.is_integer() else value
            return day_text(value)

        found: dict[str, Any] = {"lower": plain(self.lower), "upper": plain(self.upper)}
        if self.kind == "numeric" and self.decimals is not None:
            found |= {"integer": True} if self.decimals == 0 else {"decimals": self.decimals}
        return found | {"special": list(self.special) or None}

    def _declared_labels(self) -> dict[str, str]:
        """Words of the levels and special values; a codebook may have some for other numbers."""
        declared = {level_text(value) for value in (*self.levels, *self.special)}
        return {
            value: special_values.label_text(words)
            for value, words in self.labels
            if value in declared and words
        }


def days_between(text: str) -> tuple[float, float] | None:
    """The days that a text such as `2019-08-01 to 2023-07-31` gives; None for others.

    Example:
        >>> days_between("1970-01-02 to 1970-01-04"), days_between("1970-01-02")
        ((1.0, 3.0), None)
    """
    # A dash without spaces stands within a date, too.
    parts = _BETWEEN_DAYS.split(text.strip()[:60])
    if len(parts) != 2:
        return None
    first, last = (day_of(part) for part in parts)
    return None if first is None or last is None or not first < last else (first, last)


def day_of(text: object, order: str = "ymd") -> float | None:
    """The day number of a date, whatever time stands behind it; None for any other text.

    Args:
        text: as the codebook has it.
        order: ymd, dmy or mdy: of the parts where the year does not come first.

    Example:
        >>> day_of("1970-01-02"), day_of("02/01/1970 10:00", "dmy"), day_of("today")
        (1.0, 1.0, None)
    """
    match = _DATE_PARTS.fullmatch(str(text).strip()[:40])
    if match is None:
        return None
    parts = match.groups()
    places = (
        _DATE_ORDERS["ymd"] if len(parts[0]) == 4 else _DATE_ORDERS.get(order, _DATE_ORDERS["dmy"])
    )
    year, month, day = (parts[place] for place in places)
    # 01/02/03 may be any of six days.
    if len(year) != 4:
        return None
    try:
        return float((dt.date(int(year), int(month), int(day)) - _EPOCH).days)
    except ValueError:
        return None
