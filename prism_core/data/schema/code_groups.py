"""Code groups: a column of thousands of codes is modelled on a few declared groups.

The map from codes to groups is a public fact, such as the chapters of a classification. Cells of
a file hold codes, the model knows groups, and a synthetic row gets one of its group's codes by a
declared public law. What a code says beyond its group is therefore never read from a row.
"""

from __future__ import annotations

import csv
import io
import math
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.errors import SchemaError
from prism_core.text import untrusted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from prism_core.data.schema.schema import Schema

MAX_CODES = 100_000
"""Most codes of one column; the largest classifications of diagnoses have fewer."""

# The rarest first: a comma may stand inside a cell that is cut at tabs.
_SEPARATORS = ("\t", ";", ",")
_HEADS = ("code", "codes")


@dataclass(frozen=True, kw_only=True)
class CodeGroups:
    """A public map from codes to groups.

    Attributes:
        groups: names of the groups, in the order of the column's levels.
        codes: the codes of each group as they stand in a file, one tuple a group.
        weights: how often a synthetic row of a group gets each of its codes, relative to the
            others: a public distribution, in the shape of `codes`. Empty: all alike.

    Raises:
        SchemaError: when it is no map; no code is in the message.
    """

    groups: tuple[str, ...]
    codes: tuple[tuple[str, ...], ...]
    weights: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        if not self.groups or len(self.codes) != len(self.groups):
            raise _error("every group needs its codes")
        if len(set(self.groups)) != len(self.groups):
            raise _error("a group is declared twice")
        if not all(map(_is_plain, self.groups)):
            raise _error("a group needs a name, without spaces around it")
        self._check_codes()
        if self.weights:
            self._check_weights()

    def _check_codes(self) -> None:
        if not all(self.codes):
            raise _error("a group has no codes; leave it out, or give it its own name as a code")
        codes = [code for group in self.codes for code in group]
        if len(codes) > MAX_CODES:
            raise _error(f"{len(codes):,} codes are declared and at most {MAX_CODES:,} are allowed")
        if not all(map(_is_plain, codes)):
            raise _error("a code must be a text, without spaces around it")
        if len(set(codes)) != len(codes):
            raise _error("a code is declared twice; each must be in one group")

    def _check_weights(self) -> None:
        if [*map(len, self.weights)] != [*map(len, self.codes)]:
            raise _error("give a weight for every code, or for none")
        for group in self.weights:
            if not all(0.0 <= weight < math.inf for weight in group) or not sum(group) > 0.0:
                raise _error("weights must be numbers from 0, and of a group not all 0")
            # Each is finite, but they are divided by their sum, which may not be.
            if not sum(group) < math.inf:
                raise _error("weights are too large")

    @property
    def count(self) -> int:
        """Number of codes."""
        return sum(map(len, self.codes))

    @property
    def pairs(self) -> tuple[tuple[str, int], ...]:
        """Every code, with the place of its group."""
        return tuple((code, place) for place, group in enumerate(self.codes) for code in group)

    @property
    def law(self) -> str:
        """How a code is drawn within its group, in words."""
        return "by the declared weights" if self.weights else "all codes of a group alike"

    def with_own(self, group: str) -> CodeGroups:
        """The map, in which a group that is absent has its own name as its only code."""
        if group in self.groups:
            return self
        weights = (*self.weights, (1.0,)) if self.weights else ()
        return CodeGroups(
            groups=(*self.groups, group), codes=(*self.codes, (group,)), weights=weights
        )


def _error(text: str) -> SchemaError:
    return SchemaError(f"groups of codes: {text}.", field="groups")


@contextmanager
def named(column: str) -> Iterator[None]:
    """Says in what is refused here which column it is about.

    Raises:
        SchemaError: naming the column.
    """
    try:
        yield
    except SchemaError as error:
        raise SchemaError(f"Column {column!r}: {error}", field=f"{column}.groups") from None


def _is_plain(text: object) -> bool:
    return isinstance(text, str) and text != "" and text == text.strip()


def sentence(groups: CodeGroups) -> str:
    """What a report says about a column of codes in groups."""
    return (
        f"{groups.count:,} codes in {len(groups.groups):,} groups; only groups are measured, and a "
        f"row's code is drawn within its group ({groups.law}), whatever the real rows hold"
    )


def grouped(schema: Schema) -> list[str]:
    """A line for every column of codes in groups."""
    return [
        f"{column.name}: {sentence(column.groups)}"
        for column in schema.columns
        if column.groups is not None
    ]


def by_prefix(codes: Iterable[str], length: int) -> CodeGroups:
    """Codes grouped by their first characters: I50.1 and I50.9 are in I50.

    Args:
        codes: public; each once.
        length: how many characters name the group; a shorter code is a group of its own.

    Raises:
        SchemaError: when it is no map.
    """
    if not length >= 1:
        raise _error("prefix must be a whole number above 0")
    # The cut may end in a space, and the name of a group has none around it.
    return of_lines((code.strip(), code.strip()[:length].strip(), None) for code in codes)


def of_lines(lines: Iterable[tuple[str, str, float | None]]) -> CodeGroups:
    """The map of lines (code, group, weight or None); groups in the order they come first.

    Raises:
        SchemaError: when it is no map.
    """
    codes: dict[str, list[str]] = {}
    weights: dict[str, list[float]] = {}
    for code, group, weight in lines:
        codes.setdefault(group, []).append(code)
        weights.setdefault(group, []).extend(() if weight is None else (weight,))
    return CodeGroups(
        groups=tuple(codes),
        codes=tuple(map(tuple, codes.values())),
        weights=tuple(map(tuple, weights.values())) if any(weights.values()) else (),
    )


def read_map(text: str, *, prefix: int | None = None) -> CodeGroups:
    """The map written as lines of code, group and, if wished, weight; a header is optional.

    Args:
        text: a CSV (comma, semicolon or tab). With `prefix` its first column is enough.
        prefix: group by so many first characters instead of a second column.

    Raises:
        SchemaError: naming the line that is none.
    """
    untrusted.check_size(text, untrusted.CODES)
    lines = _body(text)
    if prefix is not None:
        return by_prefix((cells[0] for _, cells in lines), prefix)
    return of_lines(_line(number, cells) for number, cells in lines)


def _body(text: str) -> list[tuple[int, list[str]]]:
    """Number and cells of every line but the header."""
    lines = _cells(text)
    if lines and lines[0][1][0].lower() in _HEADS:
        lines = lines[1:]
    if not lines:
        raise _error("no line holds a code; write one code and its group a line")
    return lines


def _cells(text: str) -> list[tuple[int, list[str]]]:
    """Number and cells of every line that is not empty."""
    # A spreadsheet that saves UTF-8 may put a byte-order mark in front.
    text = text.removeprefix("\ufeff")
    first = next((line for line in text.splitlines() if line.strip()), "")
    separator = next((mark for mark in _SEPARATORS if mark in first), ",")
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    try:
        lines = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader]
    except csv.Error:
        lines = None
    if lines is None:
        raise _error("the text is not a CSV")
    return [(number, cells) for number, cells in lines if any(cells)]


def _line(number: int, cells: Sequence[str]) -> tuple[str, str, float | None]:
    if not 2 <= len(cells) <= 3 or not cells[0] or not cells[1]:
        raise _error(f"line {number} must hold a code and its group, and may hold a weight")
    if len(cells) == 2 or not cells[2]:
        return cells[0], cells[1], None
    try:
        return cells[0], cells[1], float(cells[2])
    except ValueError:
        pass
    raise _error(f"the weight in line {number} must be a number")


def write_map(groups: CodeGroups) -> str:
    """The map as lines that `read_map` reads back."""
    out = io.StringIO()
    # The header keeps a code named "code" from being taken for one.
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("code", "group", "weight")[: 3 if groups.weights else 2])
    for place, group in enumerate(groups.groups):
        for index, code in enumerate(groups.codes[place]):
            # `repr` is the shortest text that reads back as the same float.
            weight = (repr(groups.weights[place][index]),) if groups.weights else ()
            writer.writerow((code, group, *weight))
    return out.getvalue()


def to_plain(groups: CodeGroups) -> dict[str, Any]:
    """Plain values that `of_plain` reads back: a list of codes a group, or codes with weights."""
    if not groups.weights:
        return {name: list(codes) for name, codes in zip(groups.groups, groups.codes, strict=True)}
    parts = zip(groups.groups, groups.codes, groups.weights, strict=True)
    return {name: dict(zip(codes, weights, strict=True)) for name, codes, weights in parts}


def of_plain(document: object) -> CodeGroups:
    """The map from plain values: by group, a list of codes or a section of codes with weights.

    Raises:
        SchemaError: when it is none. A number that is not whole is refused: 250.10 without
            quotation marks is the number 250.1, and so another code.
    """
    if not isinstance(document, dict):
        raise _error("groups must be a section with the codes of every group")
    lines: list[tuple[str, str, float | None]] = []
    for group, codes in document.items():
        if not isinstance(codes, (list, tuple, dict)) or not codes:
            raise _error("every group must be a list of codes, or a section of codes with weights")
        weights = codes if isinstance(codes, dict) else dict.fromkeys(range(len(codes)))
        for code, weight in zip(codes, weights.values(), strict=True):
            lines.append((_text(code), _text(group), _weight(weight)))
    return of_lines(lines)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise _error("write codes and names of groups in quotation marks")


def _weight(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            pass
    raise _error("a weight must be a number")


def of_entry(entry: Mapping[str, Any]) -> CodeGroups | None:
    """The map of a column's plain values: `groups`, or `codes` with `prefix`; None without.

    A column's `other` that is none of the groups becomes one, with its own name as its code.

    Raises:
        SchemaError: when it is not usable.
    """
    if not {"groups", "codes", "prefix"} & set(entry):
        return None
    if any(isinstance(entry.get(key), str) for key in ("groups", "codes")):
        raise _error(
            "a file is read where it stands beside a schema file; write the codes in this schema, "
            "or give the map on the page Data"
        )
    if entry.get("levels"):
        raise _error("the groups are the levels; leave levels out")
    found = _of_prefix(entry) if "groups" not in entry else _of_groups(entry)
    other = entry.get("other")
    return found if other is None else found.with_own(_text(other))


def _of_groups(entry: Mapping[str, Any]) -> CodeGroups:
    if {"codes", "prefix"} & set(entry):
        raise _error("give either groups, or codes with a prefix")
    return of_plain(entry["groups"])


def _of_prefix(entry: Mapping[str, Any]) -> CodeGroups:
    codes, prefix = entry.get("codes"), entry.get("prefix")
    if not isinstance(codes, (list, tuple)):
        raise _error("prefix needs codes, a list of all codes")
    if not isinstance(prefix, int) or isinstance(prefix, bool):
        raise _error("codes need a prefix: how many first characters name the group")
    return by_prefix(map(_text, codes), prefix)


def with_files(document: object, folder: Path) -> object:
    """A schema's plain values, the maps in files beside it read in.

    `groups: icd.csv` names a CSV of codes and groups, `codes: icd.csv` with `prefix` one of codes.

    Raises:
        SchemaError: when a file cannot be read, or does not stand beside the schema.
    """
    if not isinstance(document, dict) or not isinstance(document.get("columns"), list):
        return document  # refused where columns are read
    return document | {"columns": [_with_file(entry, folder) for entry in document["columns"]]}


def _with_file(entry: object, folder: Path) -> object:
    if not isinstance(entry, dict):
        return entry
    key = next((key for key in ("groups", "codes") if isinstance(entry.get(key), str)), None)
    if key is None:
        return entry
    with named(str(entry.get("name"))):
        lines = _body(_read(entry[key], folder))
        if key == "codes":
            return entry | {"codes": [cells[0] for _, cells in lines]}
        return entry | {"groups": to_plain(of_lines(_line(*line) for line in lines))}


def _read(name: str, folder: Path) -> str:
    # A schema may come from somebody else, and must not name files in other folders.
    if Path(name).name != name:
        raise _error("the file of a map must stand beside the schema, and be named without folders")
    return untrusted.read_text(folder / name, untrusted.CODES)
