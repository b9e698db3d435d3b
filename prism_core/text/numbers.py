"""Numbers as words, rounded to the safe side: what could be worse is not understated.

The functions that end in `_text` say how one kind of number is written on every page and in every
document, so that the same number reads the same wherever it stands.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

_LAST = Decimal("1e-12")
_SCALES = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"))


def up(value: float, digits: int = 3) -> str:
    """A number at least as large, with so many significant digits.

    Example:
        >>> up(0.07341, 2), up(1234.2), up(0.1), up(0.0)
        ('0.074', '1240', '0.1', '0')
    """
    if math.isinf(value):
        return "∞"
    return _plain(_significant(Decimal(value), digits, ROUND_CEILING))


def down(value: float, digits: int = 3) -> str:
    """A number at most as large, with so many significant digits: for what is left.

    Example:
        >>> down(0.07349, 2), down(1239.9), down(0.1), down(0.0)
        ('0.073', '1230', '0.1', '0')
    """
    return _plain(_significant(Decimal(value), digits, ROUND_FLOOR))


def eps_text(epsilon: float) -> str:
    """An epsilon that is spent: three digits, up.

    Example:
        >>> eps_text(0.99912), eps_text(1.0)
        ('1', '1')
    """
    return up(epsilon)


def left_text(epsilon: float) -> str:
    """An epsilon that may still be spent: three digits, down."""
    return down(epsilon)


def delta_text(delta: float) -> str:
    """A delta: two digits, up.

    Example:
        >>> delta_text(2.5e-9)
        '2.5e-9'
    """
    return small(delta)


def sigma_text(sigma: float) -> str:
    """A standard deviation of noise, in people: three digits, up."""
    return up(sigma)


def error_text(error: float) -> str:
    """An expected error, relative to the number of people: two digits of percents, up.

    Above 100% it is said in full: an error may be that large.

    Example:
        >>> error_text(0.00973), error_text(1.234)
        ('0.98%', '130%')
    """
    return f"{up(100.0 * error, 2)}%"


def factor_text(factor: float) -> str:
    """A factor of odds: three digits, up; a very large one in words.

    Example:
        >>> factor_text(3.1021), factor_text(2e6)
        ('3.11', 'more than a million')
    """
    return up(factor) if factor < 1e6 else "more than a million"


def rho_text(rho: float) -> str:
    """A loss as rho: three digits, up."""
    return small(rho, 3)


def score_text(score: float) -> str:
    """A score of usefulness: three decimals, to the nearest; -0.000 is 0.000."""
    return f"{score:z.3f}"


def sensitivity_text(sensitivity: float) -> str:
    """A sensitivity: four digits, to the nearest; most are exact."""
    return f"{sensitivity:.4g}"


def whole_percent(share: float) -> str:
    """A share in whole percent, to the nearest; -0% is 0%."""
    return f"{share:z.0%}"


def count_text(number: int, noun: str) -> str:
    """A count with its noun, in the singular where it is one.

    Example:
        >>> count_text(1, "feature"), count_text(1200, "edge")
        ('1 feature', '1,200 edges')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def share_text(share: float) -> str:
    """A share of the budget: hundredths of a percent, to the nearest, so that shares add up.

    Example:
        >>> share_text(0.65), share_text(0.15159)
        ('65.00%', '15.16%')
    """
    return f"{share:.2%}"


def percent(share: float, digits: int = 2) -> str:
    """A share in percent, rounded up; never above 100%.

    Example:
        >>> percent(0.07341), percent(0.05), percent(0.9961), percent(0.00000123)
        ('7.4%', '5%', '100%', '0.00013%')
    """
    exact = _significant(Decimal(share) * 100, digits, ROUND_CEILING)
    # Of chances and errors said as "at most": 101% would be no bound.
    return f"{_plain(min(Decimal(100), exact))}%"


def small(value: float, digits: int = 2) -> str:
    """A small number with a power of ten, rounded up.

    Example:
        >>> small(4.06e-8), small(1e-10), small(0.02)
        ('4.1e-8', '1e-10', '0.02')
    """
    exact = _significant(Decimal(value), digits, ROUND_CEILING)
    # From a thousandth on plain digits are as short, and easier to read.
    if exact == 0 or exact.adjusted() >= -3:
        return _plain(exact)
    return f"{_plain(exact.scaleb(-exact.adjusted()))}e{exact.adjusted()}"


def one_in(chance: float) -> str:
    """A chance as "1 in N" with N rounded down; above one fifth as "k in 100", rounded up.

    Example:
        >>> one_in(0.05), one_in(0.128), one_in(0.2), one_in(0.731)
        ('1 in 20', '1 in 7', '1 in 5', '74 in 100')
    """
    # Above one fifth a whole N is too coarse: it would say "1 in 2" from a third to a half.
    if chance > 0.2:
        return f"{out_of(chance, 100)} in 100"
    exact = 1.0 / chance
    near = round(exact)  # 1 / (1 / 20) may miss 20 by a last digit
    return f"1 in {near if abs(near - exact) < 5e-12 * near else math.floor(exact):,}"


def out_of(chance: float, people: int) -> int:
    """How many of so many people that is, rounded up."""
    # As in `_significant`: a product a hair above a whole number counts as it.
    return min(people, math.ceil(chance * people * (1.0 - 1e-12)))


def seldom(chance: float) -> str:
    """A small chance as "1 in N", N rounded down to two digits and named.

    Example:
        >>> seldom(2.5e-9), seldom(1 / 300**2), seldom(0.3)
        ('1 in 400 million', '1 in 90,000', '1 in 3')
    """
    many = Decimal(1) / Decimal(chance)
    if many >= 100:
        many = _significant(many, 2, ROUND_FLOOR)
    for scale, name in _SCALES:
        if many >= scale:
            return f"1 in {_plain(many / scale)} {name}"
    return f"1 in {math.floor(many * (1 + _LAST)):,}"


def _significant(value: Decimal, digits: int, rounding: str) -> Decimal:
    """Rounded; within 1e-12 of a round number counts as it, since 0.1 is no binary number."""
    if value == 0:
        return value
    value *= 1 - _LAST if rounding == ROUND_CEILING else 1 + _LAST
    return value.quantize(Decimal(1).scaleb(value.adjusted() - digits + 1), rounding=rounding)


def _plain(value: Decimal) -> str:
    """Without an exponent or zeros at the end."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
