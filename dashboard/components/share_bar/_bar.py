"""The function a page calls."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import streamlit as st
from streamlit.components.v2 import component

from dashboard.components._serve import PROJECT, serve
from dashboard.components.share_bar._model import WHOLE, Part, parse_shares

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streamlit.components.v2.types import ComponentRenderer

_HERE: Final = Path(__file__).parent


def share_bar(
    *, key: str, parts: Sequence[Part], rev: int, label: str,
    on_change: Callable[[tuple[int, ...]], None] | None = None,
) -> tuple[int, ...] | None:  # fmt: skip
    """Draw the shares and return what the user made of them on this revision, if anything.

    Args:
        key: Widget key; ``st.session_state[key]`` holds ``{"shares": {...}}``.
        parts: From left to right; their tenths add up to ``WHOLE``.
        rev: The revision of the tenths. Bump it whenever Python, not the user, changes them.
        label: What is shared out, for screen readers.
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

    def changed() -> None:
        found = parse_shares(st.session_state[key].get("shares"), parts=parts, rev=rev)
        if on_change is not None and found is not None:
            on_change(found)

    serve("share_bar", package_root=_HERE, asset_dir="frontend")
    result = _component()(
        key=key,
        data={"rev": rev, "label": label, "parts": [vars(part) for part in parts]},
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
