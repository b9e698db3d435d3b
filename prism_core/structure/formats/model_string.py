"""bnlearn's model strings: `[A][B|A][C|A:B]`, also as R prints them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prism_core.errors import StructureError
from prism_core.structure.formats._sketch import (
    PRINTED,
    Sketch,
    cannot_hold,
    check_alone,
    place,
    refusal,
)

if TYPE_CHECKING:
    from prism_core.structure.dag import Drawing

_BLOCK = re.compile(r"\[([^\[\]|]*)(?:\|([^\[\]|]*))?\]")
_PAIR = re.compile(r"\(\s*'")  # read as a list of pairs, as Python writes it
_PLAIN = re.compile(r'[^\[\]|:{}"\x00-\x1f\x7f-\x9f]+')


def read(text: str) -> Drawing:
    """The drawing in a model string; spaces and line ends around it are ignored."""
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    printed = PRINTED.match(text)
    if printed is not None:
        start = printed.end() + 1
        end = text.find('"', start)
        if end < 0:
            raise refusal(place(text, start), "this string is not closed.")
        check_alone(text, end + 1)
    sketch = Sketch(lambda offset: place(text, offset), declared=True)
    if start >= end:
        raise StructureError("The model string is empty.", field="dag")
    while start < end:
        block = _BLOCK.match(text, start)
        if block is None:
            raise sketch.refuse(start, "a model string is written '[A][B|A][C|A:B]'.")
        child, parents = sketch.node(block.group(1), start, once=True), block.group(2)
        for parent in parents.split(":") if parents is not None else ():
            sketch.edge(parent, child, start)
        start = block.end()
        while start < end and text[start] in " \t\r\n":  # R wraps long lines
            start += 1
    return sketch.drawing()


def write(drawing: Drawing) -> str:
    """The graph as a model string, nodes in their order.

    Raises:
        StructureError: for a name with a sign of the format, or white space around it.
    """
    cannot_hold(
        drawing.dag.nodes,
        "a model string",
        lambda name: (
            _PLAIN.fullmatch(name) is not None and name == name.strip() and not _PAIR.match(name)
        ),
        "names there have no brackets, braces, bars, colons, quotes, control characters or white "
        "space around them.",
    )
    parents: dict[str, list[str]] = {node: [] for node in drawing.dag.nodes}
    for cause, effect in drawing.dag.edges:
        parents[effect].append(cause)
    return (
        "".join(
            f"[{node}|{':'.join(causes)}]" if causes else f"[{node}]"
            for node, causes in parents.items()
        )
        + "\n"
    )
