"""Text from outside, in Markdown."""

from __future__ import annotations

_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]()#+-.!|<>$~:&"})


def plain(text: str) -> str:
    r"""The text so that Markdown shows it as it stands, on one line and without control characters.

    Example:
        >>> print(plain("a*b | c"))
        a\*b \| c
    """
    return "".join(c if c.isprintable() else " " for c in text).translate(_MARKS)
