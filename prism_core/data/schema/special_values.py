"""Special values of a numeric or date column, and words for values: what may be declared.

Special values are codes that are no numbers: -9 for refused, 97 for not applicable, .a for a cell
that SAS or Stata calls missing in its own way.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from prism_core.data.schema.level import MISSING_TEXTS, Level, day_number, level_text, level_value
from prism_core.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

MOST = 100
"""Special values of a column. Stata and SAS know 26, SPSS three and a range."""

LONGEST = 100
"""Characters of a special value."""

LONGEST_LABEL = 300
"""Characters of the words for a value."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def special_problem(special: object) -> str:
    """What is wrong with these special values, for an error; "" where nothing is."""
    if not isinstance(special, tuple) or not all(map(_usable, special)):
        return f"special must list texts of at most {LONGEST} characters and finite numbers"
    if len(special) > MOST:
        return f"{len(special):,} special values are declared and at most {MOST} are allowed"
    texts = [level_text(value) for value in special]
    empty = next((text for text in texts if text.lower() in MISSING_TEXTS), None)
    if empty is not None:
        # Written back, nearly every program would read it as an empty cell.
        return f"{empty!r} says that a cell is empty; leave it out and mark the column nullable"
    if len(set(texts)) != len(texts):
        return "a special value is declared twice; each must appear once"
    found = [number for value in special if (number := level_value(value)) is not None]
    if len(set(found)) != len(found):
        return "two special values are the same number in two writings; declare it once"
    return ""


def _usable(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # Longer whole numbers have no text that Python writes, and no float.
    return abs(value) < 10**LONGEST if isinstance(value, int) else math.isfinite(value)


def numbers(special: Iterable[Level], *, dates: bool) -> frozenset[float]:
    """The numbers, or days from 1970-01-01, that a special value might be read as.

    A cell that is written for a bin is none of them.
    """
    read = day_of if dates else _number_of
    return frozenset(found for value in special if (found := read(value)) is not None)


def day_of(special: Level) -> float | None:
    """The day number of a special value that is a day, written YYYY-MM-DD; else None."""
    text = level_text(special)
    if not _DAY.fullmatch(text):
        return None
    try:
        return day_number(text, field="special")
    except SchemaError:
        return None


def _number_of(special: Level) -> float | None:
    # Wider than `level_value`: a text that is no canonical number is never drawn as one, either.
    try:
        found = float(special)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def label_problem(labels: object, declared: Collection[str]) -> str:
    """What is wrong with these words for values, for an error; "" where nothing is.

    Args:
        labels: pairs of a value and its words.
        declared: what may have words, as `level_text` writes it.
    """
    if not isinstance(labels, tuple) or not all(map(_is_pair, labels)):
        return (
            "labels must give words to values, each one line of 1 to "
            f"{LONGEST_LABEL} characters without white space around it"
        )
    values = [value for value, _ in labels]
    stranger = next((value for value in values if value not in declared), None)
    if stranger is not None:
        return (
            f"{stranger[:LONGEST]!r} has words and is no declared value; labels are for levels, "
            "codes in groups and special values"
        )
    return "" if len(set(values)) == len(values) else "a value has words twice; give them once"


def _is_pair(entry: object) -> bool:
    if not isinstance(entry, tuple) or len(entry) != 2:
        return False
    value, words = entry
    return isinstance(value, str) and isinstance(words, str) and label_text(words) == words != ""


def label_text(words: str) -> str:
    r"""Words for a value as they may be declared: one line of printable characters, cut at its end.

    Example:
        >>> label_text("  not\n applicable ")
        'not applicable'
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in words).split())
    return line if len(line) <= LONGEST_LABEL else f"{line[: LONGEST_LABEL - 1].rstrip()}…"
