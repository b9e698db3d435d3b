"""Code lists: the codes of a column and their words, as codebooks write them; missing codes."""

from __future__ import annotations

import html
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.data.schema import special_values
from prism_core.data.schema.column_rules import MAX_LEVELS
from prism_core.data.schema.level import MISSING_TEXTS, Level, level_text
from prism_core.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


# No leading zeros, as 01 is another text in the file than 1; 15 digits, which a float holds
# exactly.
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,14})")
_THOUSANDS = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3}){1,6}(?:\.[0-9]+)?")
_REAL = re.compile(r"-?(0|[1-9][0-9]{0,9})\.[0-9]{1,5}")
# A letter behind the bracket: "<5 years" is no tag.
_TAG = re.compile(r"</?[A-Za-z!][^<>]*>")
_LONGEST = 500
"""Most characters of a label or description; the rest is cut."""

# Blanks are counted: any number of them, tried at any of a hundred places, would take its time.
_COMMA_CODE = re.compile(r"([\w.+-]{1,100})\s{0,20},(.*)", re.DOTALL)
# The colon last: "10:30=morning" is the code 10:30.
_PAIR = re.compile(r"([^=]{1,100}?)\s{0,20}(?:=>|=|\t)(.*)", re.DOTALL)
_COLON_PAIR = re.compile(r"([^:]{1,100}?)\s{0,20}:(.*)", re.DOTALL)
_DASH_PAIR = re.compile(r"(-?[\w.]{1,20})\s{1,20}[-\u2013]\s{1,20}(.*)", re.DOTALL)
_RANGE = re.compile(
    r"(-?[0-9.]{1,20}?)\s*(?:-|\u2013|\.\.+|to|through|thru)\s*(-?[0-9.]{1,20})"
    # A comma in brackets alone: "1, 2" are two codes.
    r"|[\[(]\s*(-?[0-9.]{1,20}?)\s*(?:-|\.\.+|to|,|;)\s*(-?[0-9.]{1,20})\s*[\])]",
    re.IGNORECASE,
)

Coded = tuple[tuple["Level", ...], tuple[tuple[str, str], ...]]
"""Levels, and the words of those that have some by the level's text."""


def plain_text(text: object) -> str:
    """A label without HTML, line ends and marks that do not show, of at most 500 characters."""
    found = str(text)[: 4 * _LONGEST]
    found = html.unescape(_TAG.sub(" ", found))
    found = "".join(sign if sign.isprintable() else " " for sign in found)
    return " ".join(found.split())[:_LONGEST].strip()


def level_of(text: object) -> Level:
    """A code as a level: a number where it is written as numbers are, else the text.

    Example:
        >>> [level_of(text) for text in ("1", "-9", "01", "1.5", "1.0", "A", 2.0)]
        [1, -9, '01', 1.5, 1, 'A', 2]
    """
    if isinstance(text, bool):
        return "true" if text else "false"
    if isinstance(text, int):
        return text
    if isinstance(text, float):
        return int(text) if text.is_integer() and abs(text) < 1e15 else text
    found = str(text).strip()
    # Python has no whole number -0: it would become the text 0.
    if _WHOLE.fullmatch(found) and found != "-0":
        return int(found)
    if _REAL.fullmatch(found):
        return level_of(float(found))
    return found


def number_of(text: object) -> float | None:
    """A finite number; None for any other text.

    A comma stands before decimals, or parts thousands where three digits follow it.

    Example:
        >>> number_of("1,5"), number_of("12,000"), number_of(" 3 "), number_of("today")
        (1.5, 12000.0, 3.0, None)
    """
    if isinstance(text, bool) or text is None:
        return None
    found = str(text)[:60].strip()
    found = found.replace(",", "" if _THOUSANDS.fullmatch(found) else ".")
    try:
        value = float(found)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def coded(pairs: Iterable[tuple[object, object]], where: str) -> Coded:
    """Levels and labels of pairs of code and words; a pair that stands twice is one.

    Args:
        pairs: in order; empty words are none.
        where: the place in the codebook, for messages.

    Raises:
        SchemaError: for more than `MAX_LEVELS` codes.
    """
    levels: dict[str, Level] = {}
    words: dict[str, str] = {}
    for code, label in pairs:
        level = level_of(code)
        text, told = level_text(level), plain_text(label)
        if not text:
            continue
        levels.setdefault(text, level)
        if told and told != text:
            words.setdefault(text, told)
        if len(levels) > MAX_LEVELS:
            raise SchemaError(
                f"{where} has more than {MAX_LEVELS:,} codes, which are not read. Group rare codes "
                "into one, or leave the column out.",
                field="codebook",
            )
    return tuple(levels.values()), tuple(words.items())


def comma_list(text: str, where: str) -> Coded:
    """Choices of REDCap: `1, Yes | 2, No, or later`.

    Words may hold commas, and bars, too: a piece that begins with no code belongs to the words
    before it. Without any comma each piece is code and words in one.
    """
    pieces = [piece for piece in _pieces(text, "|") if piece.strip()]
    found: list[list[str]] = []
    for piece in pieces:
        match = _COMMA_CODE.fullmatch(piece.lstrip())
        if match:
            found.append([match.group(1), match.group(2)])
        elif found:
            found[-1][1] = _longer(found[-1][1], f"|{piece}")
        else:
            found.append([piece.strip(), ""])
    if not any("," in piece for piece in pieces):
        found = [[piece.strip(), ""] for piece in pieces]
    return coded([(code, words) for code, words in found], where)


def pair_list(text: str, where: str) -> Coded:
    """Codes of a plain dictionary: `1=Yes; 2=No`, `1 = Yes | 2 = No`, `1: Yes, 2: No`, or lines.

    A list without words (`north; south`) is levels alone.
    """
    pair = _pair_of(text)
    best: list[str] = []
    # The comma last: words hold one more often than any other mark.
    for mark in ("\n", "|", ";", ","):
        pieces = [piece.strip() for piece in _pieces(text, mark) if piece.strip()]
        if pair is not None and mark == ",":
            pieces = _joined(pieces, pair)
        if len(pieces) > 1 and (pair is None or all(map(pair, pieces))):
            best = pieces
            break
    if not best:
        best = [text.strip()] if text.strip() else []
    if pair is None:
        return coded([(piece, "") for piece in best], where)
    pairs = [pair(piece) or (piece, "") for piece in best]
    return coded([(code.strip().strip("\"'"), words) for code, words in pairs], where)


def _pieces(text: str, mark: str) -> list[str]:
    # One more than can be used, so that `coded` says so.
    return text.split(mark, MAX_LEVELS + 1)


def _pair_of(text: str) -> Callable[[str], tuple[str, str] | None] | None:
    """How a piece of this text is parted into code and words; None where it is not."""
    for pattern in (_PAIR, _COLON_PAIR, _DASH_PAIR):

        def parted(piece: str, pattern: re.Pattern[str] = pattern) -> tuple[str, str] | None:
            match = pattern.fullmatch(piece.strip())
            return (match.group(1), match.group(2)) if match else None

        if parted(text.split("\n", 1)[0].split("|", 1)[0].split(";", 1)[0]):
            return parted
    return None


def _joined(pieces: list[str], pair: Callable[[str], tuple[str, str] | None]) -> list[str]:
    """Pieces between commas, where one without a code belongs to the words before it."""
    found: list[str] = []
    for piece in pieces:
        if found and pair(piece) is None:
            found[-1] = _longer(found[-1], f", {piece}")
        else:
            found.append(piece)
    return found


def _longer(words: str, more: str) -> str:
    # What is beyond is cut anyway; joining it piece by piece would take the square of the time.
    return words + more if len(words) <= 4 * _LONGEST else words


def range_of(text: str) -> tuple[float, float] | None:
    """The bounds that a text such as `0-120`, `0 to 120` or `[0, 120]` gives; None for others."""
    match = _RANGE.fullmatch(text.strip()[:60])
    if match is None:
        return None
    first, last = (part for part in match.groups() if part is not None)
    low, high = number_of(first), number_of(last)
    if low is None or high is None or not low < high:
        return None
    return low, high


@dataclass(frozen=True, kw_only=True)
class MissingCodes:
    """What a codebook says of cells without a value.

    Attributes:
        empty: whether a cell may be empty, or hold a text such as NA that means so.
        codes: special values, in order.
        labels: their words, by the text of the code.
    """

    empty: bool = False
    codes: tuple[Level, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()


def missing_codes(listed: object, where: str) -> MissingCodes:
    """The missing codes of a list of texts, numbers, or entries with value and label.

    Raises:
        SchemaError: for more codes than a column may have.
    """
    entries = listed if isinstance(listed, list | tuple) else [] if listed is None else [listed]
    most = 2 * special_values.MOST  # texts for an empty cell among them
    if len(entries) > most:
        raise SchemaError(
            f"{where} lists more than {most} missing values, which are not read.", field="codebook"
        )
    empty = False
    codes: dict[str, Level] = {}
    labels: dict[str, str] = {}
    for entry in entries:
        value, words = entry, ""
        if isinstance(entry, dict):
            value, words = entry.get("value", ""), plain_text(entry.get("label") or "")
        elif isinstance(entry, tuple) and len(entry) == 2:
            value, words = entry[0], plain_text(entry[1])
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            continue
        level = level_of(value)
        text = level_text(level)
        if text.lower() in MISSING_TEXTS:
            empty = True
            continue
        codes.setdefault(text, level)
        if words:
            labels.setdefault(text, words)
        if len(codes) > special_values.MOST:
            raise SchemaError(
                f"{where} has more than {special_values.MOST} missing values, which are not read.",
                field="codebook",
            )
    return MissingCodes(empty=empty, codes=tuple(codes.values()), labels=tuple(labels.items()))
