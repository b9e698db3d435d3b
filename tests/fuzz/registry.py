"""The registry of readers: what an entry holds, and how one is added.

A new reader adds one entry in `run_readers`, `codebook_readers`, `bundle_readers` or
`workspace_readers`; `test_every_reader_is_here` asks for it.
"""

from __future__ import annotations

import json
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prism_core.errors import PrismError
from tests.fuzz.steps import MOST

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.fuzz.mutants import Syntax
    from tests.fuzz.shop import Shop


@dataclass(frozen=True, kw_only=True)
class Case:
    """A reader with what it reads.

    Attributes:
        seeds: valid files, by the product's own writers where there is one.
        read: reads a file's content; whatever it gives back is dropped.
        fixed: how many bytes at the beginning stay as they are. Of a table the header: a header
            is no row, and may be told.
    """

    seeds: tuple[bytes, ...]
    read: Callable[[bytes], object]
    fixed: int = 0


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An entry of the registry.

    Attributes:
        syntax: what its files are written in.
        share: which part of the usual number of examples it gets; a reader may be slow.
        steps: most calls that it may take.
        make: its seeds and its reader.
    """

    syntax: Syntax
    share: float
    steps: int
    make: Callable[[Shop], Case]


READERS: dict[str, Entry] = {}


def entry(name: str, syntax: Syntax, share: float = 1.0, steps: int = MOST) -> Callable[..., Any]:
    def keep(make: Callable[[Shop], Case]) -> Callable[[Shop], Case]:
        READERS[name] = Entry(syntax=syntax, share=share, steps=steps, make=make)
        return make

    return keep


def as_text(content: bytes) -> str:
    """As a text field gives it: any characters, halves of pairs too."""
    return content.decode("utf-8", "surrogateescape")


def as_values(content: bytes) -> Any:
    """What a JSON text holds, None where it is none: for readers of values."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def every(*acts: Callable[[], object]) -> None:
    """All of them, whatever one of them refuses; then the errors together."""
    refused: list[PrismError] = []
    for act in acts:
        try:
            act()
        except PrismError as error:
            refused.append(error)
    if refused:
        for other in refused[1:]:
            refused[0].add_note("".join(traceback.format_exception(other)))
        raise refused[0]


def as_file(place: Path, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    """The reader of a path as one of content."""

    def through(content: bytes) -> object:
        place.write_bytes(content)
        return read(place)

    return through
