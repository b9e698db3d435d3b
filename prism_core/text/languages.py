"""Languages of the papers: how each writes numbers, and the sentences that code makes.

The templates of a language are a folder of its name. Numbers are rounded once, in `numbers`; a
language only sets other marks and words.

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
from typing import Literal, TypeAlias, get_args

from prism_core.errors import ConfigError
from prism_core.text.numbers import factor_text, seldom
from prism_core.text.suggestions import suggestion

LanguageCode: TypeAlias = Literal["en", "de", "fr"]
LANGUAGES: tuple[LanguageCode, ...] = get_args(LanguageCode)

NAMES: dict[LanguageCode, str] = {"en": "English", "de": "Deutsch", "fr": "Français"}
"""The name of each language in itself."""

_NARROW = "\u202f"  # a space that never breaks a number in two
_SELDOM = re.compile(r"1 in ([\d.,]+)(?: ([a-z]+))?")
TEMPLATES = Path(__file__).parent / "templates"

_HOLE = re.compile(r"<([#@]?)(\w+)>")
_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?%?|∞"
_ONLY_NUMBER = re.compile(rf"-?(?:{_NUMBER})")
# Text that is kept holds no end of a sentence, or it would swallow the next one.
_KINDS = {"#": rf"(-?(?:{_NUMBER}))", "@": r"(.+)", "": r"((?:(?![.!?] ).)+?)"}
_MORE = re.compile(r" (and [\d,]+ more)(?=\}|$)")
_END = re.compile(r"(?<=[.!?]) |(?<=[.!?]\*\*) ")


@dataclass(frozen=True, kw_only=True)
class Language:
    """How a language writes numbers.

    Attributes:
        decimal, thousands: the marks in a number.
        percent: what stands between a number and its percent sign.
        scales: by the English name: one, and several.
        huge: a factor that has no number.
    """

    decimal: str
    thousands: str
    percent: str
    scales: dict[str, tuple[str, str]]
    huge: str

    def number(self, text: str) -> str:
        """A number as English writes it, with this language's marks."""
        # All at once: one after the other a comma that became a point would become a comma again.
        marks = str.maketrans({".": self.decimal, ",": self.thousands, "%": f"{self.percent}%"})
        return text.translate(marks)

    def one_of(self, chance: float) -> str:
        """The number N of a chance of 1 in N, in words; see `numbers.seldom`."""
        found = _SELDOM.fullmatch(seldom(chance))
        assert found is not None
        number, scale = found.groups()
        one, several = self.scales[scale] if scale else ("", "")
        return f"{self.number(number)} {one if number == '1' else several}".rstrip()

    def factor(self, factor: float) -> str:
        """A factor of odds; see `numbers.factor_text`."""
        return self.number(factor_text(factor)) if factor < 1e6 else self.huge


MARKS: dict[LanguageCode, Language] = {
    "en": Language(
        decimal=".",
        thousands=",",
        percent="",
        scales={word: (word, word) for word in ("million", "billion", "trillion")},
        huge=factor_text(1e6),
    ),
    "de": Language(
        decimal=",",
        thousands=".",
        percent=_NARROW,
        scales={
            "million": ("Million", "Millionen"),
            "billion": ("Milliarde", "Milliarden"),
            "trillion": ("Billion", "Billionen"),
        },
        huge="mehr als eine Million",
    ),
    "fr": Language(
        decimal=",",
        thousands=_NARROW,
        percent=_NARROW,
        scales={
            "million": ("million", "millions"),
            "billion": ("milliard", "milliards"),
            "trillion": ("billion", "billions"),
        },
        huge="plus d’un million",
    ),
}


def language(code: str) -> LanguageCode:
    """The code of a language, as it is typed or configured.

    Raises:
        ConfigError: when there are no papers in it.
    """
    # A loop and not `in`: the type checker then knows which code it is.
    for known in LANGUAGES:
        if code == known:
            return known
    raise ConfigError(
        f"Papers are written in {', '.join(LANGUAGES)}, not in {code!r}."
        f"{suggestion(code, LANGUAGES)}",
        field="language",
    )


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
