"""Level lines: levels, and words for values, on one line as a person types them.

Reading a line gives what was written. A number stands as a schema file has it (1, 0.5, 1.0), and so
do true and false; every other text stands as it is. A text that would be read as something else, or
not be read at all, stands in quotation marks, with the escapes of JSON: "1", "true", "a|b". What is
typed is never rewritten: 01234, 250.10 and 1e3 are texts, because as numbers they would be written
in another way.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

from prism_core.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prism_core.data.schema.level import Level

LEVEL_SEPARATOR = "|"
_QUOTE = '"'
# 300, as `column` takes no longer whole number for a level.
_WHOLE = re.compile(r"-?[0-9]{1,300}")
_REAL = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,20})?(e[+-][0-9]{2,3})?")
_FLAGS = {"true": True, "false": False}
# Not strict: a tab that is pasted between quotation marks is a part of the text.
_READ = json.JSONDecoder(strict=False)


def write_levels(levels: Iterable[Level]) -> str:
    """The levels, with bars between.

    Example:
        >>> print(write_levels(("north", "a|b", "01", "1", 1, 0.5, True)))
        north | "a|b" | 01 | "1" | 1 | 0.5 | true
    """
    return f" {LEVEL_SEPARATOR} ".join(map(write_level, levels))


def write_level(level: Level) -> str:
    """One level."""
    if isinstance(level, bool):
        return "true" if level else "false"
    if isinstance(level, int):
        return str(int(level))
    if isinstance(level, float):
        return repr(float(level))
    plain = level.isprintable() and level == level.strip() and level != ""
    plain = plain and LEVEL_SEPARATOR not in level and level[0] != _QUOTE
    if plain and _plain_level(level) == level:
        return level
    # What does not show is written as an escape: a person edits this line.
    return json.dumps(level, ensure_ascii=not level.isprintable())


def read_levels(text: str, column: str, part: str = "levels") -> list[Level]:
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
        if text[place].isspace() or text[place] == LEVEL_SEPARATOR:
            place += 1
        elif text[place] == _QUOTE:
            level, place = _quoted_level(text, place, column, part)
            found.append(level)
        else:
            stop = text.find(LEVEL_SEPARATOR, place)
            stop = end if stop < 0 else stop
            found.append(_plain_level(text[place:stop].strip()))
            place = stop
    return found


def read_level(text: str, column: str, part: str) -> Level:
    """One level as it is typed; a bar belongs to it, unless it is quoted.

    Raises:
        SchemaError: for a quotation mark that is not closed.
    """
    text = text.strip()
    if not text.startswith(_QUOTE):
        return _plain_level(text)
    level, place = _quoted_level(text, 0, column, part)
    if place < len(text):
        raise _quotation_error(column, part)
    return level


def _quoted_level(text: str, place: int, column: str, part: str) -> tuple[str, int]:
    """The text in quotation marks, and the place behind them: the next bar, or the end."""
    try:
        level, stop = _READ.raw_decode(text, place)
    except ValueError:
        raise _quotation_error(column, part) from None
    rest = text[stop:].lstrip()
    if rest and not rest.startswith(LEVEL_SEPARATOR):
        raise _quotation_error(column, part)
    return str(level), len(text) - len(rest)


def _quotation_error(column: str, part: str) -> SchemaError:
    return SchemaError(
        f"Column {column!r}: what begins with a quotation mark under {part} must end with one. "
        'Inside, a quotation mark is written as \\" and a backslash as \\\\.',
        field=f"{column}.{part}",
    )


def _plain_level(text: str) -> Level:
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


_EQUALS = "="


def write_labels(labels: Iterable[tuple[str, str]]) -> str:
    """Words for values, with bars between.

    Example:
        >>> print(write_labels((("1", "Female"), ("-9", "Refused | not asked"))))
        1 = Female | -9 = "Refused | not asked"
    """
    return f" {LEVEL_SEPARATOR} ".join(
        f"{_written(value)} {_EQUALS} {_written(words)}" for value, words in labels
    )


def _written(text: str) -> str:
    plain = text.isprintable() and text == text.strip() != ""
    if plain and text[0] != _QUOTE and LEVEL_SEPARATOR not in text and _EQUALS not in text:
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def read_labels(text: str, column: str) -> dict[str, str]:
    """The words of a line, by the value's text; empty places between bars are none.

    Args:
        text: as `write_labels` gives it, or as it is typed.
        column: its name, for messages.

    Raises:
        SchemaError: for a quotation mark that is not closed, a place without an equals sign, or a
            value that stands twice.
    """
    found: dict[str, str] = {}
    place = 0
    while place < len(text):
        if text[place].isspace() or text[place] == LEVEL_SEPARATOR:
            place += 1
            continue
        value, place = _part(text, place, _EQUALS, column)
        if not text.startswith(_EQUALS, place) or value in found:
            raise SchemaError(
                f"Column {column!r}: words for values are written as 1 = Female | 2 = Male, each "
                "value once.",
                field=f"{column}.labels",
            )
        found[value], place = _part(text, place + 1, LEVEL_SEPARATOR, column)
    return found


def _part(text: str, place: int, end: str, column: str) -> tuple[str, int]:
    """The text up to a mark, or in quotation marks before it; and the place of the mark."""
    while place < len(text) and text[place].isspace():
        place += 1
    if not text.startswith(_QUOTE, place):
        stop = text.find(end, place)
        # A bar ends a place, too: without an equals sign before it the line is refused.
        bar = text.find(LEVEL_SEPARATOR, place)
        stop = min((at for at in (stop, bar) if at >= 0), default=len(text))
        return text[place:stop].strip(), stop
    try:
        value, stop = _READ.raw_decode(text, place)
    except ValueError:
        raise _quotation_error(column, "labels") from None
    rest = text[stop:].lstrip()
    if rest and not rest.startswith(end):
        raise _quotation_error(column, "labels")
    return str(value), len(text) - len(rest)
