"""The function a page calls."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from streamlit.components.v2 import component

from dashboard.components._serve import PROJECT, serve
from dashboard.components.share_bar._model import WHOLE, Part, parse_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamlit.components.v2.types import ComponentRenderer

_HERE: Final = Path(__file__).parent


def share_bar(*, key: str, parts: Sequence[Part], rev: int, label: str) -> tuple[int, ...] | None:
    """Draw the shares and return what the user made of them on this revision, if anything.

    Args:
        key: Widget key; ``st.session_state[key]`` holds ``{"shares": {...}}``.
        parts: From left to right; their tenths add up to ``WHOLE``.
        rev: The revision of the tenths. Bump it whenever Python, not the user, changes them.
        label: What is shared out, for screen readers.

    Returns:
        The tenths of every part, or None when the user has moved nothing on this revision or what
        arrived is not well-formed.

    Raises:
        ValueError: If the tenths do not add up to ``WHOLE``, or there is no part.
    """
    whole = sum(part.tenths for part in parts)
    if whole != WHOLE:
        raise ValueError(f"tenths must add up to {WHOLE}, not {whole}.")
    serve("share_bar", package_root=_HERE, asset_dir="frontend")
    result = _component()(
        key=key,
        data={"rev": rev, "label": label, "parts": [vars(part) for part in parts]},
        height="content",
        # Streamlit keeps only those states that have a callback.
        on_shares_change=_ignore,
    )
    return parse_shares(result.get("shares"), parts=parts, rev=rev)


def _ignore() -> None:
    """Do nothing: the page reads the shares from the return value."""


@cache
def _component() -> ComponentRenderer:
    return component(
        f"{PROJECT}.share_bar", js="index.js", css="share_bar.css", isolate_styles=True
    )
