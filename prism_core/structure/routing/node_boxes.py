"""Boxes of nodes: size and lines of the label, and outline and colour by role.

A role shows in the outline as well as in the colour, so that it survives grey print and the common
kinds of colour blindness (the hues are Okabe and Ito's). A further kind of node is one more entry.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from prism_core.structure.routing.strips import SLANT

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
    # Of nothing but marks some must go on the line, or the loop would not end.
    return cut or _PER_LINE


def _width(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return _FULL
    if unicodedata.combining(letter):
        return 0.0
    if letter in "iljtfrI.,:;'|!()[]- ":
        return _NARROW
    return _BROAD if letter in "mwMW@%&…—" else _USUAL


Corner = tuple[int, float, int]
"""Left or right (-1, 1), how far in from there, and top, middle or bottom (-1, 0, 1)."""

GREY = "#8a8b91"
"""Lines where a role has no hue, on white."""
IN_S: Final = "Thick border: protected (in S)"


@dataclass(frozen=True, kw_only=True)
class NodeStyle:
    """One kind of node.

    Attributes:
        words: what the legend says.
        corners: of its outline, in turn; none: a rectangle with round corners, or an ellipse.
        ellipse: whether it is an ellipse.
        radius: of the round corners, at most half of its height.
        hue: a colour as #rrggbb; "" where it has none.
        wash: how much of the hue is in the filling, on white.
        double: whether it has a second border within the first.
        dashed: whether its border is dashed while it is not in S.
    """

    words: str
    corners: tuple[Corner, ...] = ()
    radius: float = 0.0
    ellipse: bool = False
    hue: str = ""
    wash: float = 0.16
    double: bool = False
    dashed: bool = False

    @property
    def stroke(self) -> str:
        """Colour of its border on white: pure hues are too pale for a line."""
        return _mix(self.hue, "#000000", 0.84) if self.hue else GREY

    @property
    def fill(self) -> str:
        """Colour of its filling on white."""
        return _mix(self.hue, "#ffffff", self.wash) if self.hue else "#ffffff"

    def outline(self, w: float, h: float) -> str:
        """Its border as an SVG path around (0, 0), for a width and a height."""
        if self.ellipse:
            # Two halves: an arc that ends where it began is not drawn.
            half = f"a{w / 2:g},{h / 2:g} 0 1 1"
            return f"M{-w / 2:g},0 {half} {w:g},0 {half} {-w:g},0 Z"
        if not self.corners:
            return _rounded(w, h, min(self.radius, w / 2, h / 2))
        places = [(x * (w / 2 - inset), y * h / 2) for x, inset, y in self.corners]
        return "M" + " L".join(f"{x:g},{y:g}" for x, y in places) + " Z"


def _mix(colour: str, ground: str, share: float) -> str:
    pairs = [(int(colour[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def _rounded(w: float, h: float, r: float) -> str:
    x, y, arc = w / 2 - r, h / 2 - r, f"a{r:g},{r:g} 0 0 1"
    return (
        f"M{-x:g},{-y - r:g} h{2 * x:g} {arc} {r:g},{r:g} v{2 * y:g} {arc} {-r:g},{r:g} "
        f"h{-2 * x:g} {arc} {-r:g},{-r:g} v{-2 * y:g} {arc} {r:g},{-r:g} Z"
    )


_HEXAGON: tuple[Corner, ...] = (
    (-1, 0.0, 0),
    (-1, SLANT, -1),
    (1, SLANT, -1),
    (1, 0.0, 0),
    (1, SLANT, 1),
    (-1, SLANT, 1),
)
SLANTED: tuple[Corner, ...] = ((-1, SLANT, -1), (1, 0.0, -1), (1, SLANT, 1), (-1, 0.0, 1))
_TRAPEZIUM: tuple[Corner, ...] = ((-1, SLANT, -1), (1, SLANT, -1), (1, 0.0, 1), (-1, 0.0, 1))
_BOX: tuple[Corner, ...] = ((-1, 0.0, -1), (1, 0.0, -1), (1, 0.0, 1), (-1, 0.0, 1))

NODE_STYLES: Final[dict[str, NodeStyle]] = {
    "target": NodeStyle(words="Target", corners=_BOX, hue="#D55E00", wash=0.32, double=True),
    "parent": NodeStyle(words="Direct cause (parent)", corners=_BOX, hue="#0072B2"),
    "child": NodeStyle(words="Effect (child)", radius=20.0, hue="#009E73"),
    "co_parent": NodeStyle(words="Co-cause (co-parent)", corners=_HEXAGON, hue="#CC79A7"),
    "tied": NodeStyle(
        words="Tied to the target or its effects by an unmeasured cause",
        corners=_HEXAGON,
        hue="#CC79A7",
    ),
    "ancestor": NodeStyle(words="Indirect cause", corners=_TRAPEZIUM, hue="#56B4E9"),
    "selected": NodeStyle(words="Selected: chosen from the data", corners=SLANTED, hue="#E69F00"),
    "other": NodeStyle(words="Other column", radius=6.0, dashed=True),
    "unmeasured": NodeStyle(words="Not in the table (unmeasured)", ellipse=True, dashed=True),
}
