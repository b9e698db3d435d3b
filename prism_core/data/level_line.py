"""Levels on one line of text, written so that reading the line gives the same levels back.

A number stands as a schema file has it (1, 0.5, 1.0), and so do true and false; every other text
stands as it is. A text that would be read as something else, or not be read at all, stands in
quotation marks, with the escapes of JSON: "1", "true", "a|b". What is typed is never rewritten:
01234, 250.10 and 1e3 are texts, because as numbers they would be written in another way.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

from prism_core.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prism_core.data.column import Level

SEPARATOR = "|"
_QUOTE = '"'
_WHOLE = re.compile(r"-?[0-9]{1,300}")
_REAL = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,20})?(e[+-][0-9]{2,3})?")
_FLAGS = {"true": True, "false": False}
_READ = json.JSONDecoder(strict=False)


def write(levels: Iterable[Level]) -> str:
    """The levels, with bars between.

    Example:
        >>> print(write(("north", "a|b", "01", "1", 1, 0.5, True)))
        north | "a|b" | 01 | "1" | 1 | 0.5 | true
    """
    return f" {SEPARATOR} ".join(map(write_one, levels))


def write_one(level: Level) -> str:
    """One level."""
    if isinstance(level, bool):
        return "true" if level else "false"
    if isinstance(level, int):
        return str(int(level))
    if isinstance(level, float):
        return repr(float(level))
    plain = level.isprintable() and level == level.strip() and level != ""
    if plain and SEPARATOR not in level and level[0] != _QUOTE and _plain(level) == level:
        return level
    return json.dumps(level, ensure_ascii=not level.isprintable())


def read(text: str, column: str, part: str = "levels") -> list[Level]:
    """The levels of a line; empty places between bars are none.

    Args:
        text: as `write` gives it, or as it is typed.
        column: its name, for messages.
        part: what of the column it is, for messages.

    Raises:
        SchemaError: for a quotation mark that is not closed before the next bar.
    """
    found: list[Level] = []
    place, end = 0, len(text)
    while place < end:
        if text[place].isspace() or text[place] == SEPARATOR:
            place += 1
        elif text[place] == _QUOTE:
            level, place = _quoted(text, place, column, part)
            found.append(level)
        else:
            stop = text.find(SEPARATOR, place)
            stop = end if stop < 0 else stop
            found.append(_plain(text[place:stop].strip()))
            place = stop
    return found


def read_one(text: str, column: str, part: str) -> Level:
    """One level as it is typed; a bar belongs to it, unless it is quoted.

    Raises:
        SchemaError: for a quotation mark that is not closed.
    """
    text = text.strip()
    if not text.startswith(_QUOTE):
        return _plain(text)
    level, place = _quoted(text, 0, column, part)
    if place < len(text):
        raise _error(column, part)
    return level


def _quoted(text: str, place: int, column: str, part: str) -> tuple[str, int]:
    """The text in quotation marks, and the place behind them: the next bar, or the end."""
    try:
        level, stop = _READ.raw_decode(text, place)
    except ValueError:
        raise _error(column, part) from None
    rest = text[stop:].lstrip()
    if rest and not rest.startswith(SEPARATOR):
        raise _error(column, part)
    return str(level), len(text) - len(rest)


def _error(column: str, part: str) -> SchemaError:
    return SchemaError(
        f"Column {column!r}: what begins with a quotation mark under {part} must end with one. "
        'Inside, a quotation mark is written as \\" and a backslash as \\\\.',
        field=f"{column}.{part}",
    )


def _plain(text: str) -> Level:
    """What a text without quotation marks is: a number only if it would be written just so."""
    if text in _FLAGS:
        return _FLAGS[text]
    if _WHOLE.fullmatch(text):
        whole = int(text)
        return whole if str(whole) == text else text
    if _REAL.fullmatch(text):
        real = float(text)
        return real if math.isfinite(real) and repr(real) == text else text
    return text
