"""Plain data dictionaries: one row a column, under headers in their usual spellings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prism_core.data.codebooks.code_list import (
    Coded,
    MissingCodes,
    coded,
    level_of,
    missing_codes,
    number_of,
    pair_list,
    plain_text,
    range_of,
)
from prism_core.data.codebooks.codebook_column import CodebookColumn, day_of, days_between
from prism_core.data.codebooks.resources import check_count
from prism_core.data.codebooks.sheet import Sheet, SheetRow, folded, folded_headers
from prism_core.data.codebooks.table_schema import FLAG_TEXTS
from prism_core.data.schema.level import level_text
from prism_core.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prism_core.data.schema.column_rules import Kind

_SPELLINGS = {
    "name": "variable, variable name, var, varname, name, field, field name, column, column name, "
    "variable id, item, item name, attribute, element, code name, feature",
    "label": "label, variable label, field label, title, question, question text, prompt, caption",
    "description": "description, variable description, definition, meaning, explanation, notes, "
    "note, comment, comments, details",
    "type": "type, data type, datatype, variable type, field type, kind, class, storage type, "
    "type of variable, measure, measurement, measurement level, level of measurement, scale, "
    "vartype, dtype",
    "format": "format, display format",
    "values": "values, codes, levels, categories, value labels, valid values, permitted values, "
    "permissible values, allowed values, options, choices, code list, codelist, coding, codings, "
    "response options, responses, answer options, domain, enumeration, enum, factor levels, "
    "possible values, value codes, coding scheme, encoding",
    "code": "value, code, level, category, option, answer code, value code",
    "code label": "value label, code label, value description, code description, meaning of value, "
    "level label, category label, value meaning, code meaning, answer",
    "range": "range, valid range, value range, allowed range, bounds, limits",
    "min": "min, minimum, lower, lower bound, min value, minimum value, lower limit, low, from",
    "max": "max, maximum, upper, upper bound, max value, maximum value, upper limit, high, to",
    "missing": "missing, missings, missing values, missing value, missing codes, missing code, "
    "na values, na, null values, null, nulls, nullable, may be missing, can be missing, "
    "allow missing, special values, missing data codes",
    "required": "required, mandatory, not null, required field, obligatory",
    "decimals": "decimals, decimal places, dec, digits, precision, decimal, decimal digits",
    "units": "units, unit, unit of measure, unit of measurement, uom, measurement unit",
}
"""Usual headers of each part."""

HEADERS = {
    folded(spelling): part
    for part, spellings in _SPELLINGS.items()
    for spelling in spellings.split(", ")
}

MEANINGS = {
    "name": "name of the column",
    "label": "description",
    "description": "description",
    "type": "kind of the column",
    "format": "kind of the column, where no other header says it",
    "values": "levels and their labels, or bounds",
    "code": "a level (one row a level), or levels",
    "code label": "label of the level",
    "range": "lower and upper bound",
    "min": "lower bound",
    "max": "upper bound",
    "missing": "may be missing, and special values",
    "required": "may not be missing",
    "decimals": "decimals",
    "units": "unit, for the description",
}

_WORDS: dict[Kind, str] = {
    "numeric": "numeric num number integer int int32 int64 float float64 double decimal real "
    "continuous interval ratio count long short byte quantitative numerical amount percentage "
    "wholenumber smallint bigint year discrete",
    "date": "date datetime timestamp dates day datetime64 datetimeutc",
    "boolean": "boolean bool logical binary flag yesno truefalse dichotomous indicator yn",
    "categorical": "categorical category factor nominal enum coded radio dropdown select "
    "singlechoice choice categoric qualitative selectone",
    "ordinal": "ordinal ordered orderedfactor likert ordinalcategorical rank",
}
_KINDS: dict[str, Kind] = {word: kind for kind, words in _WORDS.items() for word in words.split()}


_FIRST = 20


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TEXTS = _words("string str text char character varchar nvarchar freetext object alphanumeric memo")
_WHOLE = _words("integer int int32 int64 count long short byte wholenumber smallint bigint year")
_YES = _words("y yes true t 1 x allowed possible nullable optional")
_NO = _words("n no false f 0 none never notnull required mandatory notallowed")


def read(sheet: Sheet) -> tuple[list[CodebookColumn], list[tuple[str, str]]]:
    """The columns of a dictionary, and what its headers were taken for.

    A column may take several rows, one a level: its name stands in each, or in the first alone.

    Raises:
        SchemaError: when no header names the column, or no other one is understood.
    """
    places, understood = folded_headers(sheet.header, HEADERS, MEANINGS)
    if "name" not in places or len(places) < 2:
        seen = ", ".join(repr(name[:40]) for name in sheet.header[:12])
        raise SchemaError(
            "Line 1: a dictionary needs a header for the column's name (variable, name, field) "
            f"and one that describes it (label, type, values, min, max, missing). Found {seen}.",
            field="codebook",
        )
    groups: list[list[SheetRow]] = []
    for row in sheet.rows:
        name = row.cells[places["name"]]
        # Only a column of codes makes rows of one name levels; else a second row is a mistake,
        # which `Codebook` refuses.
        if groups and "code" in places and name in ("", groups[-1][0].cells[places["name"]]):
            groups[-1].append(row)
        elif not name:
            raise SchemaError(
                f"Line {row.line}: this row does not say which column it describes. Fill in "
                f"{sheet.header[places['name']]!r}.",
                field="codebook",
            )
        else:
            groups.append([row])
    check_count(len(groups))
    return [_Entry(rows, places).column() for rows in groups], understood


class _Entry:
    """The rows of a column by what their cells mean."""

    def __init__(self, rows: list[SheetRow], places: dict[str, int]) -> None:
        self._rows, self._places = rows, places
        self.where = f"line {rows[0].line}"

    def __getitem__(self, part: str) -> str:
        place = self._places.get(part)
        if place is None:
            return ""
        # What holds for the column stands in one of its first rows.
        return next((row.cells[place] for row in self._rows[:_FIRST] if row.cells[place]), "")

    def column(self) -> CodebookColumn:
        listed, bounds = self._values()
        kind, whole, remark = self._kind(listed)
        codes = missing_codes(*self._missing())
        found: dict[str, Any] = {
            "name": self["name"],
            "source": self.where,
            "kind": kind,
            "description": self._description(),
            "nullable": self._nullable(empty=codes.empty),
            "remark": remark,
        }
        if kind in ("numeric", "date"):
            low, high = self._bounds(kind, bounds)
            special = self._special(listed, low, high) if kind == "numeric" else MissingCodes()
            found |= {
                "lower": low,
                "upper": high,
                "special": tuple(dict.fromkeys((*codes.codes, *special.codes))),
                "labels": tuple((dict(codes.labels) | dict(special.labels)).items()),
            }
        elif kind in ("categorical", "ordinal"):
            texts = {level_text(level) for level in listed[0]}
            more = [level for level in codes.codes if level_text(level) not in texts]
            # Codes for missing alone are not the levels, which are then still open.
            found["levels"] = (*listed[0], *more) if listed[0] else ()
            found["labels"] = tuple((dict(codes.labels) | dict(listed[1])).items())
        if kind == "numeric":
            found["decimals"] = self._decimals(whole=whole)
        return CodebookColumn(**found)

    def _description(self) -> str:
        parts = [plain_text(self[part]) for part in ("label", "description")]
        text = ": ".join(dict.fromkeys(part for part in parts if part))
        unit = plain_text(self["units"])
        return f"{text} [{unit}]".strip() if unit else text

    def _values(self) -> tuple[Coded, tuple[float, float] | None]:
        """Levels with labels, or bounds that stand in their place."""
        if "code" in self._places and (len(self._rows) > 1 or "code label" in self._places):
            code, words = self._places["code"], self._places.get("code label")
            pairs = [(r.cells[code], "" if words is None else r.cells[words]) for r in self._rows]
            return coded(pairs, self.where.capitalize()), None
        text = self["values"] or self["code"]
        bounds = range_of(text)
        if bounds is not None:
            return ((), ()), bounds
        return pair_list(text, self.where.capitalize()), None

    def _kind(self, listed: Coded) -> tuple[Kind | None, bool, str]:
        """The kind, whether numbers are whole, and what it is where no kind is meant."""
        for part in ("type", "format"):
            # A length or precision may stand behind the word: varchar(20), decimal(5,2).
            word = folded(self[part].split("(")[0])
            if word in _KINDS:
                kind: Kind = _KINDS[word]
                # 1=Male, 2=Female under "numeric" are codes, as is a list without any words.
                if kind == "numeric" and len(listed[0]) > 1 and not self._has_bounds():
                    kind = "categorical" if listed[1] else "ordinal"
                # A flag is read from the words of `FLAG_TEXTS` alone; Male and Female are two
                # levels.
                if kind == "boolean" and any(
                    level_text(level).lower() not in FLAG_TEXTS for level in listed[0]
                ):
                    kind = "categorical"
                return kind, word in _WHOLE, ""
            if word in _TEXTS and not listed[0]:
                return None, False, "free text"
        if len(listed[0]) > 1:
            return "categorical", False, ""
        if self._has_bounds():
            dated = day_of(self["min"]) is not None or self._days() is not None
            return ("date" if dated else "numeric"), False, ""
        said = plain_text(self["type"])[:40]
        return None, False, f"the type {said!r}" if said else "no type is given"

    def _days(self) -> tuple[float, float] | None:
        return days_between(self["range"]) or days_between(self["values"])

    def _has_bounds(self) -> bool:
        bounds = (self["min"], self["max"], self["range"])
        return any(bounds) or range_of(self["values"]) is not None or self._days() is not None

    def _bounds(
        self, kind: Kind | None, found: tuple[float, float] | None
    ) -> tuple[float | None, float | None]:
        if kind == "date":
            first, last = self._days() or (None, None)
            lower, upper = day_of(self["min"]), day_of(self["max"])
            return (first if lower is None else lower), (last if upper is None else upper)
        low, high = found or range_of(self["range"]) or (None, None)
        lower, upper = number_of(self["min"]), number_of(self["max"])
        return (low if lower is None else lower), (high if upper is None else upper)

    def _special(self, listed: Coded, low: float | None, high: float | None) -> MissingCodes:
        """Codes of a numeric column that lie outside its bounds: they are no numbers."""
        words = dict(listed[1])
        return missing_codes(
            [
                (level, words.get(level_text(level), ""))
                for level in listed[0]
                if isinstance(level, str)
                # A single code of a number without bounds is no list of levels (`_kind`): it stands
                # for no value.
                or (low is None and high is None)
                or (low is not None and level < low)
                or (high is not None and level > high)
            ],
            self.where.capitalize(),
        )

    def _missing(self) -> tuple[list[Any], str]:
        """The codes under "missing", where it holds some and no yes or no."""
        text = self["missing"]
        if not text or folded(text) in _YES | _NO:
            return [], self.where.capitalize()
        levels, labels = pair_list(text.replace(" ", ", ") if _spaced(text) else text, self.where)
        words = dict(labels)
        return [(level, words.get(level_text(level), "")) for level in levels], self.where

    def _nullable(self, *, empty: bool) -> bool:
        if folded(self["required"]) in _YES:
            return False
        if folded(self["missing"]) in _YES:
            return True
        return empty or folded(self["required"]) in _NO

    def _decimals(self, *, whole: bool) -> int | None:
        said = number_of(self["decimals"])
        if said is not None and said.is_integer() and 0 <= said <= 12:
            return int(said)
        return 0 if whole else None


def _spaced(text: str) -> bool:
    """Whether a list of codes is parted by blanks alone: -9 -8 -7."""
    parts: Iterable[str] = text.split()
    return len(text) < 1_000 and all(isinstance(level_of(part), int) for part in parts)
