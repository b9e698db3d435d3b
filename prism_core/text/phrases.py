"""Phrases: sentences that code makes, in the language of a paper.

The words of a paper stand in its templates. What follows from a plan by rules (why these columns
are used, what a bound is worth, what a warning says) is said by code, in English, and part of what
a hash covers. A language has these sentences in `phrases.txt` of its folder: an English line, and
below it the same in that language. A hole is `<name>` for text that stays as it is, `<#name>` for a
number, which gets the marks of the language, and `<@name>` for a phrase of the same file.

Several sentences in a row need no entry of their own. Of entries that fit the first one counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from prism_core.text.languages import MARKS, LanguageCode

TEMPLATES = Path(__file__).parent / "templates"

_HOLE = re.compile(r"<([#@]?)(\w+)>")
_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?%?|∞"
_ONLY_NUMBER = re.compile(rf"-?(?:{_NUMBER})")
# Text that is kept holds no end of a sentence, or it would swallow the next one.
_KINDS = {"#": rf"(-?(?:{_NUMBER}))", "@": r"(.+)", "": r"((?:(?![.!?] ).)+?)"}
_MORE = re.compile(r" (and [\d,]+ more)(?=\}|$)")
_END = re.compile(r"(?<=[.!?]) |(?<=[.!?]\*\*) ")


@dataclass(frozen=True, kw_only=True)
class Phrase:
    """One entry of a catalogue.

    Attributes:
        english: the line as code makes it, with holes.
        said: the same in another language.
        pattern: what the line matches.
        holes: kind and name of each hole, in the order of the pattern.
    """

    english: str
    said: str
    pattern: re.Pattern[str]
    holes: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, english: str, said: str) -> Phrase:
        """An entry from its two lines."""
        parts, end = [], 0
        for hole in _HOLE.finditer(english):
            parts += [re.escape(english[end : hole.start()]), _KINDS[hole[1]]]
            end = hole.end()
        pattern = re.compile("".join([*parts, re.escape(english[end:])]))
        holes = tuple((hole[1], hole[2]) for hole in _HOLE.finditer(english))
        return cls(english=english, said=said, pattern=pattern, holes=holes)


@cache
def catalogue(code: LanguageCode) -> tuple[Phrase, ...]:
    """The phrases of a language, in the order of its file; none for English."""
    if code == "en":
        return ()
    text = (TEMPLATES / code / "phrases.txt").read_text(encoding="utf-8")
    blocks = (block.strip("\n").split("\n") for block in text.split("\n\n"))
    return tuple(Phrase.of(*block) for block in blocks if not block[0].startswith("# "))


@lru_cache(maxsize=4096)
def translated(text: str, code: LanguageCode) -> str | None:
    """English text of this program in another language; None where the catalogue has no words.

    Args:
        text: one or several sentences, a label, or a number.
        code: of the language.
    """
    if code == "en":
        return text
    if _ONLY_NUMBER.fullmatch(text):
        return MARKS[code].number(text)
    for phrase in catalogue(code):
        found = phrase.pattern.fullmatch(text)
        said = None if found is None else _filled(phrase, found, code)
        if said is not None:
            return said
    # The longest beginning first, as one entry may hold several sentences.
    for end in reversed(list(_END.finditer(text))):
        first = translated(text[: end.start()], code)
        rest = None if first is None else translated(text[end.end() :], code)
        if rest is not None:
            return f"{first} {rest}"
    return None


def _filled(phrase: Phrase, found: re.Match[str], code: LanguageCode) -> str | None:
    """The phrase with its holes filled; None where one of them has no words."""
    values: dict[str, str] = {}
    for (kind, name), text in zip(phrase.holes, found.groups(), strict=True):
        value = _value(kind, text, code)
        if value is None:
            return None
        values[name] = value
    return _HOLE.sub(lambda hole: values[hole[2]], phrase.said)


def _value(kind: str, text: str, code: LanguageCode) -> str | None:
    if kind == "#":
        return MARKS[code].number(text)
    if kind == "@":
        return translated(text, code)
    # A long list of names ends with how many more there are.
    return _MORE.sub(lambda more: f" {translated(more[1], code)}", text)
