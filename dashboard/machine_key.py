"""The key of whoever started the app: only they may name files and hosts for it to open.

Other people who share the machine can reach 127.0.0.1, too. The app reads with the rights of the
person who started it, so a path is taken only from a session that gave the key, which stands in
that person's terminal and nowhere else. Uploads need no key: their bytes come from the browser.
"""

from __future__ import annotations

import hmac
import os
import secrets

VARIABLE = "STUDIO_KEY"
"""How the launcher hands the key to the app. No address can name it (see `data.address`)."""


def fresh() -> str:
    """A new key: 120 random bits."""
    return secrets.token_urlsafe(15)


def known() -> bool:
    """Whether the app was started with a key."""
    return bool(os.environ.get(VARIABLE))


def matches(given: str) -> bool:
    """Whether this is the key; never without one."""
    key = os.environ.get(VARIABLE, "")
    return bool(key) and hmac.compare_digest(given.strip().encode(), key.encode())
