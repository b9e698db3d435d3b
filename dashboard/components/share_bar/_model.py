"""What goes to the bar and what comes back, checked on the way in and on the way out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast, get_args

WHOLE: Final = 1000
"""All shares together, in tenths of a percent."""

Pattern = Literal["", "/", ".", "x"]
PATTERNS: Final[tuple[Pattern, ...]] = get_args(Pattern)
_COLOUR: Final = re.compile(r"#[0-9A-Fa-f]{6}")


@dataclass(frozen=True, kw_only=True)
class Part:
    """One share.

    Attributes:
        label: Its name, shown as text whatever it contains.
        tenths: Its share, in tenths of a percent.
        least: What a handle leaves it at least, in tenths of a percent.
        colour: Six hexadecimal digits after a number sign.
        pattern: What tells it from its neighbours where there is no colour, in plotly's letters.
        about: A sentence about it, shown on hover and read out.
    """

    label: str
    tenths: int
    colour: str
    pattern: str = ""
    least: int = 0
    about: str = ""

    def __post_init__(self) -> None:
        """Refuse what the browser could not draw."""
        for field, value in (("tenths", self.tenths), ("least", self.least)):
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= WHOLE:
                raise ValueError(f"{field} ({value}) must be a whole number from 0 to {WHOLE}.")
        if not self.least <= self.tenths:
            raise ValueError(f"tenths ({self.tenths}) must not be below least ({self.least}).")
        if self.pattern not in PATTERNS:
            raise ValueError(f"pattern ({self.pattern}) must be one of {', '.join(PATTERNS)}.")
        if not _COLOUR.fullmatch(self.colour):
            raise ValueError(f"colour ({self.colour}) must be # and six hexadecimal digits.")


def parse_shares(value: object, *, parts: Sequence[Part], rev: int) -> tuple[int, ...] | None:
    """Read a ``shares`` state sent by the browser.

    Args:
        value: Whatever sits in the component's state.
        parts: The parts as they were sent.
        rev: The only revision that is accepted.

    Returns:
        The tenths of every part, which add up to ``WHOLE``; None when they belong to another
        revision or are not well-formed.
    """
    if not isinstance(value, Mapping):
        return None
    fields = cast("Mapping[str, object]", value)
    if not _whole(fields.get("rev")) or fields.get("rev") != rev:
        return None
    sent = fields.get("tenths")
    if not isinstance(sent, list | tuple) or len(sent) != len(parts):
        return None
    if not all(_whole(tenths) for tenths in sent):
        return None
    found = cast("tuple[int, ...]", tuple(sent))
    if sum(found) != WHOLE or any(t < p.least for t, p in zip(found, parts, strict=True)):
        return None
    return found


def _whole(value: object) -> bool:
    # bool is an int in Python: True would pass for revision 1.
    return isinstance(value, int) and not isinstance(value, bool)
