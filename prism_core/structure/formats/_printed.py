"""Texts as R's console prints them: `[1] "..."`."""

from __future__ import annotations

import re

from prism_core.structure.formats._sketch import place, refusal

PRINTED = re.compile(r"\s*\[1\]\s+(?=\")")


def check_alone(text: str, end: int) -> None:
    """Refuse what follows the text that ends at `end`.

    Raises:
        StructureError: when R printed more than one text.
    """
    if text[end:].strip():
        raise refusal(
            place(text, end), "R printed several texts. Print the text of the graph alone."
        )
