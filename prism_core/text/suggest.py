"""Names that somebody may have meant. Both sides must be public: what is alike is shown."""

from __future__ import annotations

import difflib
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_ALIKE = 0.7  # of difflib's ratio: one letter of four, or two swapped
_MOST = 5_000  # names compared letter by letter; more would take seconds


def folded(name: str) -> str:
    """A name without what people do not see as different: case, spaces, `_`, `-` and `.`."""
    return re.sub(r"[\s_.-]+", "", unicodedata.normalize("NFKC", name).casefold())


def same_but_for_case(name: str, known: Iterable[str]) -> str | None:
    """The known name that is the same when both are `folded`; None where there is none."""
    wanted = folded(name)
    return next((one for one in known if folded(one) == wanted), None)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question that goes after a message, a space before it; "" where nothing is alike.

    Args:
        name: what was given.
        known: what is allowed.
    """
    names = list(known)
    found = same_but_for_case(name, names)
    if found is None and len(names) <= _MOST:
        found = next(iter(difflib.get_close_matches(name, names, n=1, cutoff=_ALIKE)), None)
    return "" if found is None else f" Did you mean {found!r}?"
