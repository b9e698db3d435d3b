"""Messages to the editor and back, checked on the way in and on the way out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from prism_core.structure.routing.node_boxes import NODE_STYLES

ROLES: Final = tuple(NODE_STYLES)
"""The parts a column can play: those that have a look."""


@dataclass(frozen=True, kw_only=True)
class NodeView:
    """How one column, or one unmeasured node, is drawn.

    Attributes:
        name: Its name, shown as text whatever it contains.
        role: The part it plays for the target; decides shape and colour.
        tooltip: A plain phrase about the column, without a full stop: shown on hover, read out.
        hidden: Whether it stays off the drawing until it is looked for. Its edges count all the
            same when a cycle is looked for.
        tray: Whether it stands in the tray beneath the drawing while it is hidden.
    """

    name: str
    role: str
    tooltip: str = ""
    hidden: bool = False
    tray: bool = False

    def __post_init__(self) -> None:
        """Refuse a role the browser has no shape for."""
        if self.role not in ROLES:
            raise ValueError(f"role ({self.role}) must be one of {', '.join(ROLES)}.")


@dataclass(frozen=True, kw_only=True)
class Edit:
    """The graph as the user last left it in the browser.

    Attributes:
        rev: The revision the edit was made on.
        edges: Cause and effect, in the order they were drawn. Not checked for cycles.
        positions: Canvas coordinates of the columns; empty when they are to be laid out anew.
        focus: The choice of hidden columns that the edit was made on.
        revealed: Hidden columns that were looked for since.
        tidied: Names the last time that a new layout was asked for; the answer repeats it.
    """

    rev: int
    edges: tuple[tuple[str, str], ...]
    positions: dict[str, tuple[float, float]]
    focus: str = ""
    revealed: frozenset[str] = frozenset()
    tidied: str = ""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came from the browser in this run.

    Attributes:
        edit: The graph as the user last left it, None when it is Python's own.
        steps: How far the user asked to go by keys: below 0 to undo, above 0 to redo; to be done
            after the edit is taken.
    """

    edit: Edit | None = None
    steps: int = 0


@dataclass(frozen=True, kw_only=True)
class UndoSteps:
    """All steps back (below 0) and forward that were asked for in one drawing of the editor.

    Attributes:
        mount: Names the drawing.
        total: Their sum.
    """

    mount: str
    total: int

    def since(self, before: UndoSteps | None) -> int:
        """The steps that came after those."""
        if before is None or before.mount != self.mount:
            return self.total
        return self.total - before.total


def parse_steps(value: object) -> UndoSteps | None:
    """Read the ``steps`` state sent by the browser; None when it is not well-formed."""
    if not isinstance(value, Mapping):
        return None
    fields = cast("Mapping[str, object]", value)
    mount, total = fields.get("mount"), fields.get("total")
    if not isinstance(mount, str) or not isinstance(total, int) or isinstance(total, bool):
        return None
    return UndoSteps(mount=mount, total=total)


def parse_edit(graph: object, *, names: frozenset[str], rev: int) -> Edit | None:
    """Read a ``graph`` state sent by the browser.

    Args:
        graph: Whatever sits in the component's state; anything but a well-formed graph is ignored.
        names: The columns that may appear.
        rev: The only revision that is accepted.

    Returns:
        The edit, or None when it belongs to another revision or is not well-formed.
    """
    if not isinstance(graph, Mapping):
        return None
    fields = cast("Mapping[str, object]", graph)
    sent_rev = fields.get("rev")
    # bool is an int in Python: True would pass for revision 1.
    if not isinstance(sent_rev, int) or isinstance(sent_rev, bool) or sent_rev != rev:
        return None
    edges = _parse_edges(fields.get("edges"), names)
    if edges is None:
        return None
    focus, tidied = fields.get("focus"), fields.get("tidied")
    revealed = _as_sequence(fields.get("revealed")) or ()
    return Edit(
        rev=rev,
        edges=edges,
        positions=_parse_positions(fields.get("positions"), names),
        focus=focus if isinstance(focus, str) else "",
        revealed=frozenset(name for name in revealed if isinstance(name, str) and name in names),
        tidied=tidied if isinstance(tidied, str) else "",
    )


def _as_sequence(value: object) -> Sequence[object] | None:
    """Narrow a JSON array; strings are sequences too and are not wanted."""
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else None


def _parse_edges(value: object, names: frozenset[str]) -> tuple[tuple[str, str], ...] | None:
    pairs = _as_sequence(value)
    if pairs is None:
        return None
    edges: list[tuple[str, str]] = []
    for item in pairs:
        pair = _as_sequence(item)
        if pair is None or len(pair) != 2:
            return None
        cause, effect = pair
        if not isinstance(cause, str) or not isinstance(effect, str):
            return None
        # All or nothing: a part of what was drawn would be another graph.
        if cause == effect or cause not in names or effect not in names:
            return None
        edges.append((cause, effect))
    return tuple(edges) if len(set(edges)) == len(edges) else None


def _parse_positions(value: object, names: frozenset[str]) -> dict[str, tuple[float, float]]:
    """Keep what can be used: a lost position costs a tidy layout, not the user's edges."""
    if not isinstance(value, Mapping):
        return {}
    positions: dict[str, tuple[float, float]] = {}
    for name, point in cast("Mapping[object, object]", value).items():
        pair = _as_sequence(point)
        if not isinstance(name, str) or name not in names or pair is None or len(pair) != 2:
            continue
        x, y = pair
        if isinstance(x, int | float) and isinstance(y, int | float):
            place = (float(x), float(y))
            # One place at infinity would spoil the frame of all others.
            if all(map(math.isfinite, place)):
                positions[name] = place
    return positions
