"""A button that fills the screen with the app. A browser does so for a click in the page alone."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from streamlit.components.v2 import component

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

# On one line each without a slash they would be taken for names of files.
_HTML = """
<button type="button" class="full">Full screen</button>
"""
_CSS = """
.full {
  font: inherit; color: inherit; background: transparent; cursor: pointer;
  border: 1px solid color-mix(in srgb, currentColor 30%, transparent);
  border-radius: 0.5rem; padding: 0.4rem 0.8rem; min-height: 2.5rem; white-space: nowrap;
}
.full:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
"""
_JS = """
export default function ({ parentElement }) {
  const button = parentElement.querySelector("button");
  const turn = () => document.fullscreenElement
    ? document.exitFullscreen() : document.documentElement.requestFullscreen();
  button.addEventListener("click", turn);
  return () => button.removeEventListener("click", turn);
}
"""


@cache
def _component() -> ComponentRenderer:
    return component("prism_full_screen", html=_HTML, css=_CSS, js=_JS)


def button(key: str) -> None:
    """Show it; pressed again, or by Escape, the window comes back."""
    _component()(key=key, height="content", width="content")
