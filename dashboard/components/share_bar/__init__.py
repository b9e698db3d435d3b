"""A stacked bar of shares with handles between them, for use inside a Streamlit page.

Shares are whole tenths of a percent and always add up to 1000, so that no rounding can lose or
gain any. A handle gives to one neighbour what it takes from the other, and stops where a part has
reached its least.

Protocol, as in the graph editor. Python sends parts, tenths and ``rev``. The browser owns the
tenths of that ``rev`` and sends each change back as one state update ``shares = {rev, tenths}``.
Python takes an update only if it carries the current ``rev``, and bumps ``rev`` whenever it
changes the shares itself: a change made in Python can then never be undone by a late message.

Labels travel only through the component's ``data``; the browser side writes them with
``textContent``, never as markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

import streamlit as st
from streamlit.components.v2 import component

from dashboard.components._serve import PROJECT, serve

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer


__all__ = ["PATTERNS", "WHOLE", "Pattern", "SharePart", "share_bar"]


_HERE: Final = Path(__file__).parent


def share_bar(
    *,
    key: str,
    parts: Sequence[SharePart],
    rev: int,
    label: str,
    on_change: Callable[[tuple[int, ...]], None] | None = None,
    fixed: bool = False,
) -> tuple[int, ...] | None:
    """Draw the shares and return what the user made of them on this revision, if anything.

    Args:
        key: Widget key; ``st.session_state[key]`` holds ``{"shares": {...}}``.
        parts: From left to right; their tenths add up to ``WHOLE``.
        rev: The revision of the tenths. Bump it whenever Python, not the user, changes them.
        label: What is shared out, for screen readers.
        fixed: Whether the shares are only shown, without handles.
        on_change: Takes the tenths at the moment they change, before the next run: what was moved
            last is not lost when that run shows something else instead.

    Returns:
        The tenths of every part, or None when the user has moved nothing on this revision or what
        arrived is not well-formed.

    Raises:
        ValueError: If the tenths do not add up to ``WHOLE``, or there is no part.
    """
    whole = sum(part.tenths for part in parts)
    if whole != WHOLE:
        raise ValueError(f"tenths must add up to {WHOLE}, not {whole}.")

    # By the parts and the revision of this drawing: a message for another one is not taken.
    def changed() -> None:
        found = parse_shares(st.session_state[key].get("shares"), parts=parts, rev=rev)
        if on_change is not None and found is not None:
            on_change(found)

    serve("share_bar", package_root=_HERE, asset_dir="frontend")
    result = _component()(
        key=key,
        data={"rev": rev, "label": label, "fixed": fixed, "parts": [vars(part) for part in parts]},
        height="content",
        # Streamlit keeps only those states that have a callback.
        on_shares_change=changed,
    )
    return parse_shares(result.get("shares"), parts=parts, rev=rev)


@cache
def _component() -> ComponentRenderer:
    return component(
        f"{PROJECT}.share_bar", js="index.js", css="share_bar.css", isolate_styles=True
    )


WHOLE: Final = 1000
"""All shares together, in tenths of a percent."""

Pattern = Literal["", "/", ".", "x"]
PATTERNS: Final[tuple[Pattern, ...]] = get_args(Pattern)
_COLOUR: Final = re.compile(r"#[0-9A-Fa-f]{6}")


@dataclass(frozen=True, kw_only=True)
class SharePart:
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


def parse_shares(value: object, *, parts: Sequence[SharePart], rev: int) -> tuple[int, ...] | None:
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
    # A browser may send anything: shares that are no whole would be a budget of another size.
    if sum(found) != WHOLE or any(t < p.least for t, p in zip(found, parts, strict=True)):
        return None
    return found


def _whole(value: object) -> bool:
    # bool is an int in Python: True would pass for revision 1.
    return isinstance(value, int) and not isinstance(value, bool)
