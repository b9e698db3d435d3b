"""Usual bounds: what a number that a codebook leaves unbounded can be, by its words and format.

An age in years lies between 0 and 120, a Glasgow Coma Scale between 3 and 15, and a byte of Stata
between -127 and 100. No row is read for it. A suggestion is not a declaration: it is shown with its
reason and counts once the curator takes it, and then as done by hand. A program may have chosen a
format by the rows; the page says so beside such bounds, and fills in none of them by itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class UsualBounds:
    """Bounds that a number is likely to keep, and why.

    Attributes:
        lower: smallest value.
        upper: largest value.
        because: what they are the bounds of, as words that follow "bounds of".
        wide: whether they are all that a cell can hold, most of which no value comes near: good to
            learn narrower ones within, and for log bins.
    """

    lower: float
    upper: float
    because: str
    wide: bool = False

    @property
    def text(self) -> str:
        """The bounds with their reason, for a person."""
        return f"{self.lower:.12g} to {self.upper:.12g} ({self.because})"


@dataclass(frozen=True)
class _Rule:
    """What a name or description says of a number.

    Attributes:
        words: a pattern that it holds, in small letters.
        bounds: that follow.
        because: see `UsualBounds`.
        beside: a second pattern that it must hold, such as a unit.
        unless: a pattern that it must not hold.
    """

    words: str
    bounds: tuple[float, float]
    because: str
    beside: str = ""
    unless: str = ""


# Where a scale has fixed ends, these; else the ends that hardly anybody leaves. Instruments come
# first, as their names hold words of the others. A unit is asked for where several are in use.
_RULES = (
    _Rule(r"\bapgar\b", (0, 10), "an Apgar score"),
    _Rule(r"\bgcs\b|\bglasgow coma\b", (3, 15), "the Glasgow Coma Scale"),
    _Rule(r"\bmmse\b|\bmini[- ]mental\b", (0, 30), "the Mini-Mental State Examination"),
    _Rule(r"\bmoca\b|\bmontreal cognitive\b", (0, 30), "the Montreal Cognitive Assessment"),
    _Rule(r"\bphq ?-? ?9\b", (0, 27), "the PHQ-9", "", r"\bitem\b|\bquestion\b"),
    _Rule(r"\bgad ?-? ?7\b", (0, 21), "the GAD-7", "", r"\bitem\b|\bquestion\b"),
    _Rule(r"\bnihss\b|\bnih stroke\b", (0, 42), "the NIH Stroke Scale"),
    _Rule(r"\bcharlson\b", (0, 37), "the Charlson index", "", r"\bsurvival\b"),
    _Rule(r"\bsofa\b.{0,40}\bscore\b", (0, 24), "the SOFA score"),
    _Rule(r"\bapache ?(ii|2)\b", (0, 71), "the APACHE II score"),
    _Rule(r"\bbarthel\b", (0, 100), "the Barthel index"),
    _Rule(r"\bedss\b", (0, 10), "the EDSS"),
    _Rule(r"\becog\b", (0, 5), "the ECOG performance status"),
    _Rule(r"\bgestation(al)?\b", (0, 45), "a gestational age in weeks", r"\bweeks?\b"),
    _Rule(r"\bbmi\b|\bbody mass index\b", (10, 80), "a body mass index"),
    _Rule(r"\b(height|stature)\b", (0, 250), "a height in centimetres", r"\bcm\b|\bcentimet"),
    _Rule(
        r"\bweight\b",
        (0, 300),
        "a body weight in kilograms",
        r"\bkgs?\b|\bkilogram",
        r"\b(change|loss|gain|difference)\b",
    ),
    _Rule(
        r"\b(systolic|diastolic|blood pressure|sbp|dbp)\b",
        (0, 300),
        "a blood pressure in mmHg",
        "",
        r"\bkpa\b|\bdrug\b|\bmedic",
    ),
    _Rule(r"\b(heart rate|pulse rate|pulse)\b", (0, 300), "a heart rate per minute"),
    _Rule(r"\b(spo2|oxygen saturation)\b", (0, 100), "an oxygen saturation in percent"),
    _Rule(
        r"\b(body )?temp(erature)?\b", (30, 45), "a body temperature in °C", r"\bbody\b.*(°c|celsi)"
    ),
    _Rule(
        r"%|\bper ?cent(age)?\b|\bpct\b",
        (0, 100),
        "a percentage",
        "",
        r"\b(change|growth|increase|decrease|difference|of normal|predicted)\b",
    ),
    _Rule(r"\b(probability|proportion|fraction)\b", (0, 1), "a probability or share"),
    # As Stata's users label a mark: "= 1 if married". Not "indicator", which economists measure.
    _Rule(
        r"(=|\bis) ?1 (if|when|for)\b|\bdummy\b|\b0 ?/ ?1\b|\b1 ?= ?yes\b.{0,9}\b0 ?= ?no\b"
        r"|\b0 ?= ?no\b.{0,9}\b1 ?= ?yes\b",
        (0, 1),
        "a mark that is 0 or 1",
        "",
        r"\b[2-9] ?=|= ?[2-9]\b|\bnumber\b|\bcount\b",
    ),
    _Rule(r"\biq\b", (40, 200), "an IQ"),
    _Rule(
        r"\b(education|schooling|school)\b",
        (0, 30),
        "years of education",
        r"\byears\b",
        r"\bper\b|/",
    ),
    _Rule(r"\blat(itude)?\b", (-90, 90), "a latitude", r"\blatitude\b|\bdegrees?\b"),
    _Rule(r"\b(longitude|lon|lng)\b", (-180, 180), "a longitude", r"\blongitude\b|\bdegrees?\b"),
    _Rule(r"\bday of (the )?year\b", (1, 366), "a day of the year"),
    _Rule(r"\bday of (the )?month\b", (1, 31), "a day of the month"),
    # Weeks are counted from 0 or from 1; both fit.
    _Rule(r"\b(day of (the )?week|weekday)\b", (0, 7), "a day of the week"),
    _Rule(r"\bhour of (the )?day\b", (0, 24), "an hour of the day"),
    _Rule(r"\bmonth of (the )?year\b|\bcalendar month\b|^month\b", (1, 12), "a month of the year"),
    _Rule(
        r"\bage(\d\d)?\b",  # with the year of a survey: age80
        (0, 120),
        "an age in years",
        "",
        r"\b(months?|weeks?|days?|hours?|groups?|categor\w*|class|squared|standardi[sz]ed|z)\b",
    ),
    _Rule(
        r"\byear\b",
        (1900, 2100),
        "a calendar year",
        "",
        r"\b(per|last|past|previous|income|number|times|school|grade|study|education|follow)\b|/",
    ),
    # Of anybody's life: experience, tenure, a disease.
    _Rule(
        r"(,|\bin|\(|\[) ?years?[)\]]?$",
        (0, 120),
        "a number of years",
        "",
        r"\b(per|person|change|difference|before|since|log|rate)\b|/",
    ),
)
_COMPILED = [
    (
        re.compile(rule.words),
        re.compile(rule.beside) if rule.beside else None,
        re.compile(rule.unless) if rule.unless else None,
        rule,
    )
    for rule in _RULES
]
_LONGEST = 300
_MARKS = re.compile(r"[_.\-\s]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def by_words(name: str, description: str) -> UsualBounds | None:
    """The usual bounds of a number by its name and description; None where they do not say it.

    Example:
        >>> by_words("age", "").text
        '0 to 120 (an age in years)'
        >>> by_words("HEIGHT", "Height (cm)").upper
        250
        >>> by_words("height", "") is None  # the unit is not said
        True
    """
    words = _MARKS.sub(" ", _HUMP.sub(" ", name[:_LONGEST])).strip().lower()
    text = f"{words} {description[:_LONGEST].lower()}".strip()
    for pattern, beside, unless, rule in _COMPILED:
        if not pattern.search(text) or (beside is not None and not beside.search(text)):
            continue
        if unless is None or not unless.search(text):
            lower, upper = rule.bounds
            return UsualBounds(lower=lower, upper=upper, because=rule.because)
    return None


# Above these Stata keeps the numbers that stand for its missing values, . to .z.
_STORED = {
    "int8": (-127, 100, "all that a byte of Stata holds"),
    "int16": (-32_767, 32_740, "all that an int of Stata holds"),
    "int32": (-2_147_483_647, 2_147_483_620, "all that a long of Stata holds"),
}
_MOST_DIGITS = 15  # more are no exact numbers


def by_storage(storage: str) -> UsualBounds | None:
    """All numbers of a whole type of Stata; None for another type."""
    if storage not in _STORED:
        return None
    lower, upper, because = _STORED[storage]
    return UsualBounds(lower=lower, upper=upper, because=because, wide=True)


def by_width(width: int, decimals: int, because: str, *, point: bool) -> UsualBounds | None:
    """All numbers that so many characters can show; None where that says nothing.

    A minus takes one of them.

    Args:
        width: characters of a cell.
        decimals: digits behind the point.
        because: see `UsualBounds`.
        point: whether the point takes a character; it may stand for itself in a fixed column.

    Example:
        >>> by_width(5, 0, "five characters", point=False).text
        '-9999 to 99999 (five characters)'
        >>> by_width(8, 2, "F8.2", point=True).text
        '-9999.99 to 99999.99 (F8.2)'
    """
    digits = width - (1 if point and decimals else 0)
    if not 0 <= decimals < digits or digits > _MOST_DIGITS:
        return None
    unit = 10.0**decimals
    return UsualBounds(
        lower=-(10 ** (digits - 1) - 1) / unit,
        upper=(10**digits - 1) / unit,
        because=because,
        wide=True,
    )
