"""The sketch of a graph while it is read, and what else readers and writers share.

Refusals that name a place, texts as R's console prints them, CSV cells, and what learning a graph
cost.
"""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import replace
from itertools import count, islice
from typing import TYPE_CHECKING, Any, SupportsFloat

from prism_core.errors import PrismError, StructureError
from prism_core.privacy.learning_charge import LearningCharge
from prism_core.structure.dag import MAX_NAME, Dag, Drawing, is_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

MAX_NODES = 10_000
MAX_EDGES = 100_000
MAX_TEXT = 10 * MAX_NAME
"""The longest quoted text that is decoded: a name of MAX_NAME with every sign escaped."""
MAX_DEPTH = 50
"""How deep lists, groups and elements may be nested."""

ROLES = {
    "outcome": "outcome",
    "o": "outcome",
    "exposure": "exposure",
    "e": "exposure",
    "latent": "latent",
    "l": "latent",
    "unobserved": "latent",
    "u": "latent",
    "unmeasured": "latent",
}
"""dagitty's words for the roles that a Drawing keeps, and for what is unmeasured."""


def shown(name: str) -> str:
    """A name for a message; a very long one is cut there (and only there)."""
    return repr(name if len(name) <= 80 else f"{name[:80]}…")


def place(text: str, offset: int) -> str:
    """`offset` in words: line and column count from 1."""
    before = text[:offset]
    column = offset - before.rfind("\n")
    return f"line {before.count(chr(10)) + 1}, column {column}"


def refusal(where: str, what: str, *, field: str = "dag") -> StructureError:
    """The error `where: what`."""
    return StructureError(f"{where[:1].upper()}{where[1:]}: {what}", field=field)


def position(x: object, y: object) -> tuple[float, float] | None:
    """Two coordinates, or None when they are not finite numbers (a drawing is only decoration)."""
    if not (isinstance(x, str | SupportsFloat) and isinstance(y, str | SupportsFloat)):
        return None
    try:
        pair = float(x), float(y)
    # A whole number of a file may be beyond the floats.
    except (TypeError, ValueError, OverflowError):
        return None
    return pair if all(map(math.isfinite, pair)) else None


# Graphviz puts a ! behind the place of a node that is pinned.
_POSITION = re.compile(r"\s*([-+.\deE]{1,32})\s*,\s*([-+.\deE]{1,32})!?\s*")


def position_of(text: str) -> tuple[float, float] | None:
    """A position written `x,y`, or None."""
    found = _POSITION.fullmatch(text)
    return position(*found.groups()) if found else None


class Sketch:
    """Collects a graph while a file is read.

    Args:
        locate: turns a mark into words.
        declared: whether every end of an edge must be declared as a node somewhere in the file.
    """

    def __init__(self, locate: Callable[[Any], str], *, declared: bool = False) -> None:
        self.locate = locate
        self.declared = declared
        self.steps = 0
        self.nodes: dict[str, Any] = {}
        self.edges: dict[tuple[str, str], Any] = {}
        self.positions: dict[str, tuple[float, float]] = {}
        self.roles: dict[str, dict[str, None]] = {"outcome": {}, "exposure": {}, "latent": {}}
        self.pairs: dict[frozenset[str], tuple[str, str, Any]] = {}

    def refuse(self, mark: Any, what: str, *, field: str = "dag") -> StructureError:  # noqa: ANN401
        """The error that says `what` is wrong at `mark`."""
        return refusal(self.locate(mark), what, field=field)

    def node(self, name: str, mark: Any, *, once: bool = False) -> str:  # noqa: ANN401
        """Add a node; `once` refuses a second declaration."""
        if not name:
            raise self.refuse(mark, "a node has an empty name. Give it a name.", field="nodes")
        if not is_name(name):
            raise self.refuse(
                mark, f"a name is longer than {MAX_NAME:,} characters. Shorten it.", field="nodes"
            )
        if once and name in self.nodes:
            raise self.refuse(
                mark,
                f"the node {shown(name)} was already given at {self.locate(self.nodes[name])}. "
                "Names must be unique; rename or remove one. A node appears twice.",
                field="nodes",
            )
        # The first mark stays: a refusal names where a name was given before.
        self.nodes.setdefault(name, mark)
        if len(self.nodes) > MAX_NODES:
            raise self.refuse(mark, f"the graph has more than {MAX_NODES:,} nodes.", field="nodes")
        return name

    def edge(self, cause: str, effect: str, mark: Any) -> None:  # noqa: ANN401
        """Add an edge; its ends become nodes unless nodes must be declared."""
        if not self.declared:
            self.node(cause, mark)
            self.node(effect, mark)
        if cause == effect:
            raise self.refuse(
                mark, f"{shown(cause)} points to itself. Remove this edge.", field="edges"
            )
        if (cause, effect) in self.edges:
            first = self.locate(self.edges[cause, effect])
            raise self.refuse(
                mark,
                f"the edge {shown(cause)} → {shown(effect)} was already given at {first}. Remove "
                "one of the two.",
                field="edges",
            )
        self.edges[cause, effect] = mark
        if len(self.edges) > MAX_EDGES:
            raise self.refuse(mark, f"the graph has more than {MAX_EDGES:,} edges.", field="edges")

    def common_cause(self, one: str, other: str, mark: Any) -> None:  # noqa: ANN401
        """Note `one <-> other`: an unmeasured node that causes both; `drawing` adds it."""
        self.node(one, mark)
        self.node(other, mark)
        if one == other:
            raise self.refuse(
                mark, f"{shown(one)} points to itself. Remove this edge.", field="edges"
            )
        # a <-> b and b <-> a are the same.
        pair = frozenset((one, other))
        if pair in self.pairs:
            raise self.refuse(
                mark,
                f"the edge {shown(one)} <-> {shown(other)} was already given at "
                f"{self.locate(self.pairs[pair][2])}. Remove one of the two.",
                field="edges",
            )
        self.pairs[pair] = (one, other, mark)

    def _add_common_causes(self) -> None:
        """A node for every noted pair, once all other names are known."""
        for one, other, mark in self.pairs.values():
            name = f"U({one}, {other})"
            if not is_name(name) or name in self.nodes:
                # Two long names make one that is too long, and a file may use such a name itself.
                numbered = (f"U{number}" for number in count(1))
                name = next(name for name in numbered if name not in self.nodes)
            self.node(name, mark)
            self.role(name, "latent")
            self.edge(name, one, mark)
            self.edge(name, other, mark)

    def step(self, mark: Any, most: int) -> None:  # noqa: ANN401
        """Count a statement, word or element; a file of more than `most` holds no larger graph."""
        self.steps += 1
        if self.steps > most:
            raise self.refuse(
                mark, f"there are more than {most:,} statements. Keep nodes and edges only."
            )

    def role(self, name: str, word: str) -> None:
        """Note a role in dagitty's words; other words are ignored."""
        if word.lower() in ROLES:
            self.roles[ROLES[word.lower()]][name] = None

    def observed(self, name: str, value: object) -> None:
        """Note that a node is unmeasured where its attribute `observed` says no, as DoWhy's."""
        if str(value).lower() in {"no", "false", "0"}:
            self.role(name, "latent")

    def at(self, name: str, where: tuple[float, float] | None) -> None:
        """Note a position, if there is one."""
        if where is not None:
            self.positions[name] = where

    def drawing(self) -> Drawing:
        """What was collected.

        Raises:
            StructureError: for an edge to an undeclared node, and for a cycle, which is named.
        """
        self._add_common_causes()
        for (cause, effect), mark in self.edges.items():
            for name in (cause, effect):
                if name not in self.nodes:
                    raise self.refuse(
                        mark,
                        f"the edge {shown(cause)} → {shown(effect)} names {shown(name)}, which is "
                        "not a node of the graph.",
                        field="edges",
                    )
        marked = {
            role: tuple(name for name in self.nodes if name in names)
            for role, names in self.roles.items()
        }
        dag = Dag(nodes=tuple(self.nodes), edges=tuple(self.edges), unmeasured=marked.pop("latent"))
        return Drawing(dag=dag, positions=self.positions, **marked)


def role_words(drawing: Drawing, name: str) -> list[str]:
    """The roles of a node, as words."""
    held = {
        "exposure": drawing.exposure,
        "outcome": drawing.outcome,
        "latent": drawing.dag.unmeasured,
    }
    return [role for role, names in held.items() if name in names]


def cannot_hold(names: Iterable[str], kind: str, holds: Callable[[str], bool], rule: str) -> None:
    """Refuse to write names that a format has no way to write.

    Raises:
        StructureError: naming the first such name, the format and its rule.
    """
    for name in names:
        if not holds(name):
            raise StructureError(
                f"The name {shown(name)} cannot be written as {kind}: {rule} Rename the node or "
                "choose another format.",
                field="nodes",
            )


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


def learning_entries(dag: Dag) -> dict[str, Any]:
    """Entries `provenance` and `learned` of a graph that was learned; nothing for another one."""
    found: dict[str, Any] = {}
    if dag.learned:
        found["provenance"] = dag.provenance
    if dag.prior is not None:
        found["learned"] = dag.prior.to_dict()
    return found


def with_learning_entries(drawing: Drawing, entries: Mapping[str, Any]) -> Drawing:
    """The drawing with what `told` wrote about its graph.

    Raises:
        StructureError: when that cannot be read. A cost without its provenance was not written by
            this program; the graph refuses it.
    """
    learned = entries.get("learned")
    try:
        prior = None if learned is None else LearningCharge.from_dict(learned)
    except PrismError as error:
        raise StructureError(
            f"What the graph cost cannot be read: {error}", field="learned"
        ) from None
    provenance = entries.get("provenance", "declared")
    return replace(drawing, dag=replace(drawing.dag, provenance=provenance, prior=prior))


MAX_ROWS = 250_000


def rows_of(text: str, what: str) -> list[tuple[int, list[str]]]:
    """The rows that hold something, with their number from 1; cells without white space around.

    Raises:
        StructureError: when the text is no regular CSV.
    """
    try:
        # One row beyond the limit tells that there are too many. newline="" leaves line ends
        # within quotes as they are.
        lines = list(islice(csv.reader(io.StringIO(text, newline="")), MAX_ROWS + 1))
    except csv.Error:
        raise StructureError(f"The {what} is not a regular CSV.", field="dag") from None
    if len(lines) > MAX_ROWS:
        raise StructureError(f"The {what} has more than {MAX_ROWS:,} rows.", field="dag")
    rows = [[cell.strip() for cell in line] for line in lines]
    return [(number, row) for number, row in enumerate(rows, 1) if any(row)]


def table_of(rows: Iterable[Sequence[str]], names: Sequence[str]) -> str:
    """Rows as CSV.

    Raises:
        StructureError: for a name with white space around it, which readers of CSV cut off.
    """
    cannot_hold(
        names,
        "CSV",
        lambda name: name == name.strip(),
        "names there have no white space around them.",
    )
    out = io.StringIO()
    # Older versions of csv leave a name with a carriage return unquoted.
    unusual = any("\r" in name for name in names)
    quoting = csv.QUOTE_ALL if unusual else csv.QUOTE_MINIMAL
    csv.writer(out, lineterminator="\n", quoting=quoting).writerows(rows)
    return out.getvalue()
