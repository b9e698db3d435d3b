"""A column's name in a box: how it is broken into lines, and how large the box is.

Both the page and the report draw these lines in boxes of this size. So it is settled here, without
a browser's ruler: widths of letters are guessed on the wide side.
"""

from __future__ import annotations

import re
import unicodedata

from prism_core.structure.strips import SLANT

LINE = 20.0
"""Height of a line; letters are 16 high. A unit is a pixel on screen at full size."""
PORT = 10.0
"""Room for one arrow at the side of a box."""
_PER_LINE = 17
_MOST_LINES = 4
_NARROW, _USUAL, _BROAD, _FULL = 5.4, 9.2, 13.6, 16.4
_BREAKS = re.compile(r"(?<=[_\-./\s])")
# Line breaks would tear a label; direction marks could make one column look like another.
_UNPRINTABLE = re.compile(
    "[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)


def plain(name: str) -> str:
    """A name as one line of text."""
    return _UNPRINTABLE.sub("\ufffd", name) or "(no name)"


def lines_of(name: str) -> tuple[str, ...]:
    """A name as at most four short lines.

    It is broken after `_ - . /` and spaces where it can be, anywhere where it must. Of a longer
    name the beginning and the end are kept: names of one table differ more often there.
    """
    lines, used = [""], 0
    for word in _BREAKS.split(plain(name)):
        rest = word
        if used and used + len(rest) > _PER_LINE:
            lines.append("")
            used = 0
        while len(rest) > _PER_LINE:
            cut = _cut(rest)
            lines[-1] += rest[:cut]
            rest = rest[cut:]
            lines.append("")
        lines[-1] += rest
        used += len(rest)
    lines = [line for line in lines if line]
    if len(lines) <= _MOST_LINES:
        return tuple(lines)
    return (*lines[: _MOST_LINES - 2], "…", lines[-1])


def box_size(lines: tuple[str, ...], arrows: int = 0) -> tuple[float, float]:
    """Width and height of the box around a label.

    Args:
        lines: of the label.
        arrows: most arrows at its upper or at its lower side; the box is wide enough for them.
    """
    text = max(sum(map(_width, line)) for line in lines)
    width = max(text, 44.0) + 2 * SLANT + 14.0
    return float(round(max(width, arrows * PORT + 2 * SLANT))), len(lines) * LINE + 14.0


def _cut(text: str) -> int:
    """Where to break a word that is too long: never before a mark that belongs to its letter."""
    cut = _PER_LINE
    while 0 < cut < len(text) and unicodedata.combining(text[cut]):
        cut -= 1
    return cut or _PER_LINE


def _width(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return _FULL
    if unicodedata.combining(letter):
        return 0.0
    if letter in "iljtfrI.,:;'|!()[]- ":
        return _NARROW
    return _BROAD if letter in "mwMW@%&…—" else _USUAL
