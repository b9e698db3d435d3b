"""Key of whoever started the app; it tells their browser from those of others on the machine.

Other people who share the machine can reach 127.0.0.1, too, and the app works with the rights of
the person who started it. The key stands in that person's terminal and nowhere else. Every start
makes a new one.
"""

from __future__ import annotations

import hmac
import os
import secrets
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dashboard.key.place import Place

VARIABLE = "STUDIO_KEY"
"""How the launcher hands the key to the app. No address can name it (see `data.address`)."""

PARAMETER = "key"
"""Where the key stands in the address that opens the app."""


def fresh() -> str:
    """A new key: 120 random bits, of letters that an address may hold."""
    return secrets.token_urlsafe(15)


def current() -> str:
    """The key of this app.

    Started by `streamlit run` there is none yet: it is made at the first question, and shown in
    the terminal by `show`.
    """
    if not known():
        os.environ[VARIABLE] = fresh()
    return os.environ[VARIABLE]


def known() -> bool:
    """Whether there is a key already: the launcher made one, and showed it."""
    return bool(os.environ.get(VARIABLE))


def matches(given: object) -> bool:
    """Whether this is the key. Takes the same time wherever the first difference is."""
    if not isinstance(given, str):
        return False
    # A browser may send what is no text; it is not the key, and no reason to stop.
    return hmac.compare_digest(given.strip().encode(errors="replace"), current().encode())


def address(place: Place) -> str:
    """The address that opens the app in a browser, with the key in it."""
    return f"{place.url}?{PARAMETER}={current()}"


def show(place: Place) -> None:
    """Write the address into the terminal, which nobody else reads."""
    sys.stdout.write(
        f"\nPRISM Studio: {address(place)}\n"
        "The address holds the key of this start. Open it once in each browser, and keep it to\n"
        "yourself: whoever has the key works here with your rights.\n"
    )
    # The launcher goes on by execv, which loses what is still in the buffer.
    sys.stdout.flush()
