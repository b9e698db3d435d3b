"""How a node is drawn, by its role: on the page and in the report alike.

A role shows in the outline as well as in the colour, so that it survives grey print and the common
kinds of colour blindness (the hues are Okabe and Ito's). A further kind of node is one more entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from prism_core.structure.strips import SLANT

Corner = tuple[int, float, int]
"""Left or right (-1, 1), how far in from there, and top, middle or bottom (-1, 0, 1)."""

INK, GREY = "#31333f", "#8a8b91"
"""Letters and lines where a role has no hue, on white."""
IN_S: Final = "Thick border: in S, kept together with the target"


@dataclass(frozen=True, kw_only=True)
class Look:
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
    (-1, 0.0, 0), (-1, SLANT, -1), (1, SLANT, -1), (1, 0.0, 0), (1, SLANT, 1), (-1, SLANT, 1)
)  # fmt: skip
SLANTED: tuple[Corner, ...] = ((-1, SLANT, -1), (1, 0.0, -1), (1, SLANT, 1), (-1, 0.0, 1))
_TRAPEZIUM: tuple[Corner, ...] = ((-1, SLANT, -1), (1, SLANT, -1), (1, 0.0, 1), (-1, 0.0, 1))
_BOX: tuple[Corner, ...] = ((-1, 0.0, -1), (1, 0.0, -1), (1, 0.0, 1), (-1, 0.0, 1))

LOOKS: Final[dict[str, Look]] = {
    "target": Look(
        words="Target: the column to predict", corners=_BOX, hue="#D55E00", wash=0.32, double=True
    ),
    "parent": Look(words="Parent: points at the target", corners=_BOX, hue="#0072B2"),
    "child": Look(words="Child: the target points at it", radius=20.0, hue="#009E73"),
    "co_parent": Look(
        words="Co-parent: shares a child with the target", corners=_HEXAGON, hue="#CC79A7"
    ),
    "tied": Look(
        words="Tied to the target or its effects by an unmeasured cause",
        corners=_HEXAGON,
        hue="#CC79A7",
    ),
    "ancestor": Look(
        words="Indirect cause: acts through others", corners=_TRAPEZIUM, hue="#56B4E9"
    ),
    "selected": Look(words="Selected: chosen from the data", corners=SLANTED, hue="#E69F00"),
    "other": Look(words="Other column", radius=6.0, dashed=True),
    "unmeasured": Look(words="Unmeasured: not in the table, never in S", ellipse=True, dashed=True),
}
