"""DDI Codebook, in XML: variables with categories, ranges and missing flags."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from prism_core.data.codebooks.code_list import (
    coded,
    level_of,
    missing_codes,
    number_of,
    plain_text,
)
from prism_core.data.codebooks.codebook_column import CodebookColumn
from prism_core.data.codebooks.resources import chosen
from prism_core.data.codebooks.usual_bounds import UsualBounds, by_width
from prism_core.data.schema import special_values
from prism_core.data.schema.level import level_text
from prism_core.errors import SchemaError
from prism_core.text import untrusted
from prism_core.text.untrusted_xml import XmlReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.data.schema.column_rules import Kind

_DEEPEST = 50
_RANGES = 100
_LONGEST = 4_000  # characters of a text that are kept; labels are cut at less
_KEPT = frozenset({"labl", "catValu", "universe", "fileName"})
_UNDERSTOOD = [
    ("var name", "name of the column"),
    ("labl", "description, and labels of levels"),
    ("catgry, catValu", "levels, or special values where missing is Y"),
    ("valrng", "lower and upper bound"),
    ("invalrng", "special values"),
    ("varFormat, intrvl, nature", "kind of the column"),
    ("dcml", "decimals"),
]


@dataclass
class _Category:
    value: str = ""
    label: str = ""
    missing: bool = False


@dataclass
class _Variable:
    """A variable as it stands in the file."""

    line: int
    name: str
    attributes: dict[str, str]
    label: str = ""
    type: str = ""
    category: str = ""
    width: str = ""
    categories: list[_Category] = field(default_factory=list)
    valid: list[dict[str, str]] = field(default_factory=list)
    invalid: list[dict[str, str]] = field(default_factory=list)


def read(text: str, resource: str | None) -> tuple[list[CodebookColumn], list[tuple[str, str]]]:
    """The columns of a codebook.

    Args:
        text: the XML.
        resource: the ID or name of the file where the codebook describes several.

    Raises:
        SchemaError: when it is no such XML, or several files are described and none is named.
    """
    reader = _Reader()
    if wrong := reader.parse(text):
        raise SchemaError(wrong, field="codebook")
    variables = _of_file(reader.variables, reader.files, resource)
    return [_column(variable) for variable in variables], list(_UNDERSTOOD)


class _Reader(XmlReader):
    """Handlers of a codebook, and what they saw."""

    def __init__(self) -> None:
        super().__init__()
        self.path: list[str] = []
        self.elements = 0
        self.files: dict[str, str] = {}
        self.file = ""
        self.variables: list[_Variable] = []
        self.variable: _Variable | None = None
        self.entry: _Category | None = None
        self.texts: list[str] | None = None
        self.length = 0

    def refuse(self, what: str) -> SchemaError:
        return SchemaError(f"Line {self.parser.CurrentLineNumber}: {what}", field="codebook")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        # Without its namespace, which differs from one version of DDI to the next.
        name = tag.rpartition(" ")[2]
        self.elements += 1
        if not self.path and name != "codeBook":
            raise self.refuse(
                f"this is XML, but no DDI Codebook: it starts with {name[:80]!r} instead of "
                "'codeBook'."
            )
        if self.elements > untrusted.CODEBOOK.values or len(self.path) >= _DEEPEST:
            raise self.refuse(
                f"more than {untrusted.CODEBOOK.values:,} elements, or elements more than "
                f"{_DEEPEST} deep, are not read."
            )
        self.path.append(name)
        if name == "fileDscr":
            self.file = attributes.get("ID", "")
            self.files[self.file] = self.file
        elif name == "var":
            self.open_variable(attributes)
        elif self.variable is not None:
            self.inside(name, attributes, self.variable)
        if name in _KEPT:
            self.texts, self.length = [], 0

    def open_variable(self, attributes: dict[str, str]) -> None:
        if self.variable is not None:
            raise self.refuse("a variable stands inside a variable.")
        name = attributes.get("name", attributes.get("ID", "")).strip()
        if not name:
            raise self.refuse("this variable has no name.")
        if len(self.variables) >= untrusted.COLUMNS:
            raise self.refuse(f"more than {untrusted.COLUMNS:,} variables are not read.")
        self.variable = _Variable(self.parser.CurrentLineNumber, name, attributes)
        self.variables.append(self.variable)

    def inside(self, name: str, attributes: dict[str, str], variable: _Variable) -> None:
        if name == "catgry":
            self.entry = _Category(missing=attributes.get("missing", "").upper() == "Y")
            variable.categories.append(self.entry)
        elif name == "varFormat":
            variable.type = attributes.get("type", "")
            variable.category = attributes.get("category", "")
        elif name == "location":
            variable.width = variable.width or attributes.get("width", "")
        elif name in ("range", "item"):
            place = variable.invalid if "invalrng" in self.path else variable.valid
            if len(place) >= _RANGES:
                raise self.refuse(f"more than {_RANGES} ranges of a variable are not read.")
            place.append(attributes)

    def characters(self, text: str) -> None:
        # A text may come in pieces; what is beyond is cut anyway.
        if self.texts is not None and self.length < _LONGEST:
            self.texts.append(text)
            self.length += len(text)

    def end(self, _: str) -> None:
        name = self.path.pop()
        if name in _KEPT and self.texts is not None:
            self.keep(name, "".join(self.texts).strip())
            self.texts = None
        elif name == "catgry":
            self.entry = None
        elif name == "var":
            self.variable = None

    def keep(self, name: str, text: str) -> None:
        parent = self.path[-1] if self.path else ""
        if name == "fileName":
            self.files[self.file] = plain_text(text) or self.file
        elif self.variable is None:
            return
        elif name == "catValu" and self.entry is not None:
            self.entry.value = text
        elif name == "labl" and parent == "catgry" and self.entry is not None:
            # The first label stays: further ones are the same in other languages or lengths.
            self.entry.label = self.entry.label or text
        elif name == "labl" and parent == "var":
            self.variable.label = self.variable.label or plain_text(text)


def _of_file(
    variables: Sequence[_Variable], files: dict[str, str], resource: str | None
) -> list[_Variable]:
    """The variables of the file that is meant."""
    used = {one for variable in variables for one in _files(variable)}
    described = [one for one in files if one in used]
    if len(described) < 2 and resource is None:
        return list(variables)
    names = [files[one] for one in described]
    if resource in described:
        wanted = str(resource)
    else:
        wanted = described[chosen(names, resource, "the codebook describes several files")]
    # A variable that names no file may stand in any of them.
    return [one for one in variables if wanted in _files(one) or not _files(one)]


def _files(variable: _Variable) -> list[str]:
    return variable.attributes.get("files", "")[:_LONGEST].split()


def _column(variable: _Variable) -> CodebookColumn:
    where = f"line {variable.line}"
    numeric = variable.type == "numeric"
    kind, remark = _kind(variable)
    valid, flagged = _parted(variable, numeric=numeric)
    codes = missing_codes([*flagged, *_invalid(variable)], f"Variable {variable.name[:80]!r}")
    found: dict[str, Any] = {
        "name": variable.name,
        "source": where,
        "description": variable.label,
        "nullable": codes.empty,
        "remark": remark,
    }
    low, high = _range(variable)
    levels, labels = coded(valid, where.capitalize())
    if kind == "numeric":
        outside = _outside(valid, low, high)
        codes = missing_codes([*flagged, *_invalid(variable), *outside], where.capitalize())
        special = {level_text(code) for code in codes.codes}
        inside = [f"{value} {words}" for value, words in labels if value not in special]
        found |= {"special": codes.codes, "labels": codes.labels, "lower": low, "upper": high}
        found |= {"kind": kind, "decimals": _decimals(variable), "limits": _limits(variable)}
        if inside:
            found["remark"] = f"has labels for single numbers: {'; '.join(inside[:5])[:200]}"
        return CodebookColumn(**found)
    if kind == "date":
        return CodebookColumn(**found, kind="date", special=codes.codes, labels=codes.labels)
    if kind is None:
        return CodebookColumn(**found)
    # Missing codes of a categorical column are levels like any other.
    more, told = coded(
        [(level_text(v), dict(codes.labels).get(level_text(v), "")) for v in codes.codes],
        where.capitalize(),
    )
    texts = {level_text(level) for level in levels}
    found |= {
        "kind": kind,
        "levels": (*levels, *(level for level in more if level_text(level) not in texts)),
        "labels": tuple((dict(told) | dict(labels)).items()),
    }
    return CodebookColumn(**found)


def _kind(variable: _Variable) -> tuple[Kind | None, str]:
    nature = variable.attributes.get("nature", "").lower()
    interval = variable.attributes.get("intrvl", "").lower()
    if variable.category.lower() in ("date", "datetime"):
        return "date", ""
    if variable.category.lower() == "time":
        return None, "a time of day"
    values = [one.value for one in variable.categories if one.value and not one.missing]
    letters = any(number_of(value) is None for value in values)
    if letters or (values and interval != "contin" and nature not in ("interval", "ratio")):
        return ("ordinal" if nature == "ordinal" else "categorical"), ""
    if nature in ("nominal", "ordinal"):
        return ("ordinal" if nature == "ordinal" else "categorical"), ""
    if variable.type == "numeric" or interval == "contin" or variable.valid:
        return "numeric", ""
    return None, "free text" if variable.type == "character" else "neither type nor categories"


Pairs = list[tuple[object, str]]


def _parted(variable: _Variable, *, numeric: bool) -> tuple[Pairs, Pairs]:
    """Pairs of code and words: of the valid categories, and of those flagged as missing."""
    valid: Pairs = []
    flagged: Pairs = []
    for one in variable.categories:
        # In a numeric variable 01 is the number 1, whatever zeros the codebook pads it with.
        number = number_of(one.value) if numeric else None
        code: object = one.value if number is None else level_of(number)
        (flagged if one.missing else valid).append((code, plain_text(one.label)))
    return valid, flagged


def _invalid(variable: _Variable) -> Pairs:
    """Codes of `invalrng`: single ones, and the categories within its ranges."""
    found: Pairs = []
    numbers = [(number_of(one.value), one.label) for one in variable.categories]
    for one in variable.invalid:
        low, high = number_of(one.get("min")), number_of(one.get("max"))
        if "VALUE" in one:
            found.append((one["VALUE"], ""))
        elif low is not None and low == high:
            found.append((level_of(low), ""))
        else:
            found += [
                (level_of(number), label)
                for number, label in numbers
                if number is not None and _within(number, low, high)
            ]
        if len(found) > 2 * special_values.MOST:  # `missing_codes` refuses so many
            break
    return found


def _within(number: float, low: float | None, high: float | None) -> bool:
    return (low is None or low <= number) and (high is None or number <= high)


def _range(variable: _Variable) -> tuple[float | None, float | None]:
    """The outermost bounds of all valid ranges."""
    lows, highs = [], []
    for one in variable.valid:
        if one.get("UNITS", "INT").upper() not in ("INT", "REAL"):
            continue
        # Values are clipped to a bound, so one that may not be reached serves as well.
        lows.append(number_of(one.get("min", one.get("minExclusive"))))
        highs.append(number_of(one.get("max", one.get("maxExclusive"))))
    low = [number for number in lows if number is not None]
    high = [number for number in highs if number is not None]
    # A range that is open at one side opens them all.
    return (
        min(low) if low and len(low) == len(lows) else None,
        max(high) if high and len(high) == len(highs) else None,
    )


def _outside(valid: Pairs, low: float | None, high: float | None) -> Pairs:
    """Labelled codes beyond the valid range: no numbers, though nothing flags them."""
    if low is None and high is None:
        return []
    return [
        (code, words)
        for code, words in valid
        if (number := number_of(code)) is not None and not _within(number, low, high)
    ]


def _decimals(variable: _Variable) -> int | None:
    said = variable.attributes.get("dcml", "").strip()
    return int(said) if said.isdecimal() and len(said) < 3 and int(said) <= 12 else None


def _limits(variable: _Variable) -> UsualBounds | None:
    """All that the columns of a fixed file can show; the point is implied there."""
    width, decimals = variable.width.strip(), _decimals(variable)
    if not (width.isascii() and width.isdecimal() and len(width) < 3):
        return None
    told = f"all that {int(width)} characters can show"
    return by_width(int(width), decimals or 0, told, point=False)
