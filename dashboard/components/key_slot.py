"""Where a browser keeps the key: in its storage for this address and port, and not in a cookie.

Cookies go to every port of a host, so that a server of another user of the machine would be sent
them. This storage is handed to pages of this very address alone, and never sent by itself.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from streamlit.components.v2 import component

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

_KEY = "access_slot"

# Inside the frame of another page nothing is read or kept: a click there is not meant for us.
_JS = """
const NAME = "prism-studio-key";

export default function keySlot({ data, setStateValue }) {
  const address = new URL(window.location.href);
  if (address.searchParams.has(data.parameter)) {
    address.searchParams.delete(data.parameter);
    window.history.replaceState(window.history.state, "", address);
  }
  let found = "";
  if (window.top === window) {
    try {
      if (data.keep) window.localStorage.setItem(NAME, data.keep);
      found = window.localStorage.getItem(NAME) ?? "";
    } catch {
      // Storage is off in this browser: the key is asked for in every tab.
    }
  }
  setStateValue("said", { asked: data.asked, found });
}
"""


def key_slot(asked: str, keep: str, parameter: str) -> str | None:
    """Ask the browser for the key it keeps, and hand it one to keep.

    Args:
        asked: names the question; an answer to another one is none.
        keep: the key, "" where the browser is only asked.
        parameter: of the address; taken out of the address bar.

    Returns:
        What it keeps, "" for nothing; None while it has not answered. Anybody can answer
        anything: compare it with the key.
    """
    result = _component()(
        key=_KEY,
        data={"asked": asked, "keep": keep, "parameter": parameter},
        on_said_change=_heard,
    )
    said = result.get("said")
    if not isinstance(said, dict) or said.get("asked") != asked:
        return None
    found = said.get("found")
    return found if isinstance(found, str) else ""


def _heard() -> None:
    """Streamlit keeps only those states that have a callback."""


@cache
def _component() -> ComponentRenderer:
    return component("studio_key_slot", js=_JS)
