"""Numbers that are typed as text.

A browser's own number field drops what it does not take for a digit: with it, 0,5 would become 5,
ten times the epsilon. A text field hands over what stands there, and it is read here.
"""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")


def read_number(text: str) -> float:
    """The number that is typed, with a comma or a point; NaN for everything else.

    Two marks, as in 1.000,5 or 1,000.5, are refused: which of them is the decimal one differs
    from country to country.
    """
    found = text.strip()
    return float(found.replace(",", ".")) if _NUMBER.fullmatch(found) else math.nan


def number_text(value: float, typed: str) -> str:
    """The text for a number: as it was typed, as long as that still says this number."""
    said = read_number(typed)
    if said == value or (math.isnan(said) and math.isnan(value)):
        return typed
    return "" if math.isnan(value) else f"{value:.10g}"
