"""Markdown escaping: text from outside shown as it stands."""

from __future__ import annotations

import re

_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]()#+-.!|<>$~:&"})
_TOKENS = re.compile(r"\\(.)|(\*\*)|([^\\*]+|.)", re.DOTALL)


def plain(text: str) -> str:
    r"""The text so that Markdown shows it as it stands, on one line and without control characters.

    Example:
        >>> print(plain("a*b | c"))
        a\*b \| c
    """
    return "".join(c if c.isprintable() else " " for c in text).translate(_MARKS)


def pieces(text: str) -> tuple[tuple[str, bool], ...]:
    r"""One line of this program's Markdown as plain texts, each with whether it is bold.

    For other formats than Markdown, which escape the texts in their own way.

    Example:
        >>> pieces(r"**Not** a\*b")
        (('Not', True), (' a*b', False))
    """
    found = [("", False)]
    for escaped, mark, rest in _TOKENS.findall(text):
        before, bold = found[-1]
        if mark:
            found.append(("", not bold))
        else:
            found[-1] = (before + (escaped or rest), bold)
    return tuple(piece for piece in found if piece[0])
