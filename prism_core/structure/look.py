"""How a node is drawn, by its role: on the page and in the report alike.

A role shows in the outline as well as in the colour, so that it survives grey print and the common
kinds of colour blindness (the hues are Okabe and Ito's). A further kind of node is one more entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_SLANT = 11.0

INK, GREY = "#31333f", "#8a8b91"
"""Letters and lines where a role has no hue, on white."""
IN_S: Final = "Thick border: in S, kept together with the target"


@dataclass(frozen=True, kw_only=True)
class Look:
    """One kind of node.

    Attributes:
        words: what the legend says.
        outline: an SVG path around (0, 0) for a width and a height.
        hue: a colour as #rrggbb; "" where it has none.
        wash: how much of the hue is in the filling, on white.
        double: whether it has a second border within the first.
        dashed: whether its border is dashed while it is not in S.
    """

    words: str
    outline: Callable[[float, float], str]
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


def _mix(colour: str, ground: str, share: float) -> str:
    pairs = [(int(colour[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def _polygon(*points: tuple[float, float]) -> str:
    return "M" + " L".join(f"{x:g},{y:g}" for x, y in points) + " Z"


def _box(w: float, h: float) -> str:
    x, y = w / 2, h / 2
    return _polygon((-x, -y), (x, -y), (x, y), (-x, y))


def _rounded(most: float) -> Callable[[float, float], str]:
    def outline(w: float, h: float) -> str:
        r = min(most, h / 2, w / 2)
        x, y = w / 2 - r, h / 2 - r
        arc = f"a{r:g},{r:g} 0 0 1"
        return (
            f"M{-x:g},{-y - r:g} h{2 * x:g} {arc} {r:g},{r:g} v{2 * y:g} {arc} {-r:g},{r:g} "
            f"h{-2 * x:g} {arc} {-r:g},{-r:g} v{-2 * y:g} {arc} {r:g},{-r:g} Z"
        )

    return outline


def _hexagon(w: float, h: float) -> str:
    x, y, s = w / 2, h / 2, w / 2 - _SLANT
    return _polygon((-x, 0.0), (-s, -y), (s, -y), (x, 0.0), (s, y), (-s, y))


def _slanted(w: float, h: float) -> str:
    x, y, s = w / 2, h / 2, w / 2 - _SLANT
    return _polygon((-s, -y), (x, -y), (s, y), (-x, y))


def _trapezium(w: float, h: float) -> str:
    x, y, s = w / 2, h / 2, w / 2 - _SLANT
    return _polygon((-s, -y), (s, -y), (x, y), (-x, y))


LOOKS: Final[dict[str, Look]] = {
    "target": Look(
        words="Target: the column to predict", outline=_box, hue="#D55E00", wash=0.32, double=True
    ),
    "parent": Look(words="Parent: points at the target", outline=_box, hue="#0072B2"),
    "child": Look(words="Child: the target points at it", outline=_rounded(20.0), hue="#009E73"),
    "co_parent": Look(
        words="Co-parent: shares a child with the target", outline=_hexagon, hue="#CC79A7"
    ),
    "ancestor": Look(
        words="Indirect cause: acts through others", outline=_trapezium, hue="#56B4E9"
    ),
    "selected": Look(words="Selected: chosen from the data", outline=_slanted, hue="#E69F00"),
    "other": Look(words="Other column", outline=_rounded(6.0), dashed=True),
}
