"""Suggestions of a meant name; both sides must be public, for what is alike is shown."""

from __future__ import annotations

import difflib
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# The default of difflib, too.
CLOSE = 0.6
"""Likeness (difflib's ratio) from which a name is suggested."""

_MOST = 5_000  # names compared letter by letter; more would take seconds


def folded(name: object) -> str:
    """A name without what people do not see as different: case, spaces, `_`, `-` and `.`."""
    return re.sub(r"[\s_.-]+", "", unicodedata.normalize("NFKC", str(name)).casefold())


def close_to(name: object, known: Iterable[object]) -> str:
    """The known name that is most like this one, "" when none is.

    Spends nothing: names are public.
    """
    texts: dict[str, str] = {}
    for each in known:
        texts.setdefault(folded(each), str(each))
    wanted = folded(name)
    if wanted in texts:
        return texts[wanted]
    if len(texts) > _MOST:
        return ""
    found = difflib.get_close_matches(wanted, texts, n=1, cutoff=CLOSE)
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
