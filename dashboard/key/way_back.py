"""The way back to the address that somebody asked for before they logged in.

The provider sends a browser to one address only, that of the app. So the log-in page has the tab
keep the address that was asked for, and the first page after the login goes there. It stays in the
tab: nothing of it is sent, and it can name no other place than this app.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from streamlit.components.v2 import component

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

_KEY = "way_back"
_MINUTES = 10  # a login that takes longer begins at Start

_JS = """
const NAME = "prism-studio-way-back";

export default function wayBack({ data }) {
  const here = window.location.pathname + window.location.search;
  try {
    if (data.keep) {
      window.sessionStorage.setItem(NAME, JSON.stringify({ here, at: Date.now() }));
      return;
    }
    const kept = JSON.parse(window.sessionStorage.getItem(NAME) ?? "null");
    window.sessionStorage.removeItem(NAME);
    const late = kept && Date.now() - kept.at > data.minutes * 60000;
    // One slash at its beginning: two would be the address of another host.
    if (kept && !late && kept.here !== here && /^\\/(?!\\/)/.test(kept.here)) {
      window.location.replace(kept.here);
    }
  } catch {
    // Storage is off in this browser, or holds what is not ours: the login ends at Start.
  }
}
"""


def keep() -> None:
    """Have this tab keep its address over a login."""
    _component()(key=_KEY, data={"keep": True})


def go() -> None:
    """Go to the address that this tab kept. In every run: what comes and goes moves the page."""
    _component()(key=_KEY, data={"keep": False, "minutes": _MINUTES})


@cache
def _component() -> ComponentRenderer:
    return component("studio_way_back", js=_JS)
