"""A name that is not there: which one was probably meant."""

from __future__ import annotations

import difflib
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

CLOSE = 0.6
"""Likeness (difflib's ratio) from which a name is suggested."""


def close_to(name: object, known: Iterable[object]) -> str:
    """The known name that is most like this one, "" when none is.

    Case, width and blanks around do not tell names apart here. Spends nothing: names are public.
    """
    texts: dict[str, str] = {}
    for each in known:
        texts.setdefault(_plain(each), str(each))
    found = difflib.get_close_matches(_plain(name), texts, n=1, cutoff=CLOSE)
    return texts[found[0]] if found else ""


def suggestion(name: object, known: Iterable[object]) -> str:
    """The end of a refusal: "Did you mean X?" after a blank; "" when nothing is close.

    Args:
        name: as given.
        known: the names there are.
    """
    found = close_to(name, known)
    return meant(found) if found else ""


def meant(name: str) -> str:
    """The same for a name that is known to be meant."""
    return f" Did you mean {name!r}? Correct the name."


def _plain(name: object) -> str:
    return unicodedata.normalize("NFKC", str(name)).strip().casefold()
