"""Languages of the papers: how each writes numbers. Its templates are a folder of its name.

Numbers are rounded once, in `numbers`; a language only sets other marks and words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
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
    for known in LANGUAGES:
        if code == known:
            return known
    raise ConfigError(
        f"Papers are written in {', '.join(LANGUAGES)}, not in {code!r}."
        f"{suggestion(code, LANGUAGES)}",
        field="language",
    )
