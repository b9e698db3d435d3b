"""Two documents of plain values, and where they differ first."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from prism_core import foreign
from prism_core.bundle.layout import json_text, read_json

if TYPE_CHECKING:
    from pathlib import Path

CLOSE = 1e-9
"""Relative difference of two floats that another machine's last digits may make."""


def difference(found: object, expected: object, where: str = "") -> str | None:
    """The place of the first difference ("queries[3].sigma"), None when there is none.

    Numbers may differ by `CLOSE`, relatively; a whole number, a float and a flag are never the
    same thing.
    """
    if type(found) is not type(expected):
        return where or "the whole"
    if isinstance(found, dict) and isinstance(expected, dict):
        for key in [*expected, *found]:
            place = f"{where}.{key}" if where else str(key)
            if key not in found or key not in expected:
                return place
            inner = difference(found[key], expected[key], place)
            if inner is not None:
                return inner
        return None
    if isinstance(found, list) and isinstance(expected, list):
        for place, (one, other) in enumerate(zip(found, expected, strict=False)):
            inner = difference(one, other, f"{where}[{place}]")
            if inner is not None:
                return inner
        return None if len(found) == len(expected) else f"{where}[{min(len(found), len(expected))}]"
    if isinstance(found, float) and isinstance(expected, float):
        return None if math.isclose(found, expected, rel_tol=CLOSE, abs_tol=0.0) else where
    return None if found == expected else where


def same_text(path: Path, text: str) -> bool:
    """Whether a file holds this text; JSON may differ in the last digits of its floats."""
    content = foreign.content_of(path, foreign.BUNDLE)
    if content == text.encode("utf-8"):
        return True
    if path.suffix != ".json":
        return False
    document = read_json(path)
    canonical = json_text(document).encode("utf-8") == content
    return canonical and difference(document, json.loads(text)) is None
