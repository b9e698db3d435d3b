"""Additive structural model of stand-in rows, from the graph and the declared domain alone.

Every column is drawn from its causes by an additive score, so the work grows with the number of
edges and never with the number of combinations of causes. With f and g scores of the declared
codes, centred and scaled over them, a column V with causes P has

    P(V = c | causes) proportional to exp(base_c + g_V(c) eta),   eta = sum_P s_PV f_P(code of P)

where the strength s is stated for every edge. Numbers that nobody stated (base rates, the order
of the levels of a categorical column, the direction of an effect) are drawn from a seed and the
column's own name, so that another edge changes nothing but the column it points to. An unmeasured
node is drawn like a column of two levels, acts on its effects, and is left out of the rows.

Nothing here sees a row: what comes out is a public table of a made-up world.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import networkx as nx
import numpy as np

from prism_core.data.schema.column import Column
from prism_core.errors import StructureError
from prism_core.structure.dag import Dag
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from prism_core.data.schema.schema import Schema

Strength: TypeAlias = Literal["weak", "medium", "strong"]
Shift: TypeAlias = Literal["none", "children", "parents"]
Edge: TypeAlias = tuple[str, str]

STRENGTHS: tuple[Strength, ...] = get_args(Strength)
SHIFTS: tuple[Shift, ...] = get_args(Shift)

ODDS: dict[Strength, float] = {"weak": 2.0, "medium": 5.0, "strong": 20.0}
"""What an edge does: moving the cause from one standard deviation below its mean to one above it
multiplies the odds of a two-valued effect by this."""

MOVED_ODDS = 5.0
"""The shift of the parents' margins: each parent's odds of its upper half, times this."""

LARGEST_SCORE = 3.0
"""Root sum of squares of the strengths into one column at most; beyond it all are scaled down."""

_BASE = 0.4  # standard deviation of the base log-odds of a level
_MISSING = -2.0  # base log-odds of a cell without a value: about one in ten of a two-valued column
_CHUNK = 2_000_000  # cells of the law of one column held at a time


@dataclass(frozen=True, kw_only=True)
class AdditiveScm:
    """A made-up world with the declared domain and the given graph. All public.

    Attributes:
        schema: the declared domain.
        dag: the graph over its columns, perhaps with unmeasured nodes.
        target: Y; the shifts are about its children and parents.
        strength: of every edge without one of its own.
        strengths: of single edges (cause, effect).
        seed: of everything that is not stated.

    Raises:
        StructureError: for an unknown strength, a strength of an edge that is not in the graph,
            or a target that is no column.
    """

    schema: Schema
    dag: Dag
    target: str
    strength: Strength = "medium"
    strengths: Mapping[Edge, Strength] = field(default_factory=lambda: MappingProxyType({}))
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "strengths", MappingProxyType(dict(self.strengths)))
        # Over all columns: those without an edge are drawn as well.
        object.__setattr__(self, "dag", self.dag.over(self.schema.names))
        if not {self.strength, *self.strengths.values()} <= set(STRENGTHS):
            raise StructureError(
                f"A strength must be one of {', '.join(STRENGTHS)}.", field="strength"
            )
        strangers = [edge for edge in self.strengths if edge not in set(self.dag.edges)]
        if strangers:
            raise StructureError(
                f"There is a strength for {strangers[0][0]!r} → {strangers[0][1]!r}, which is no "
                "edge of the graph.",
                field="strengths",
            )
        if self.target not in self.schema:
            raise StructureError(
                f"The target {self.target!r} is not a column of the schema."
                f"{suggestion(self.target, self.schema.names)}",
                field="target",
            )

    def draw(self, rows: int, rng: np.random.Generator, shift: Shift = "none") -> NDArray[np.int32]:
        """Rows of this world, or of the same world after a shift.

        Shifts change the named mechanisms and leave every other one as it is. `children`: what
        the target says about its children is cut (they see an independent copy of it, so their
        margins stay about the same). `parents`: the odds of the upper half of each parent are
        multiplied by `MOVED_ODDS`, and the target given its parents stays.

        Args:
            rows: number of rows.
            rng: where the rows come from; the world itself comes from `seed`.
            shift: none, children or parents.

        Returns:
            int32 codes in schema order, shape (rows, columns).
        """
        codes: dict[str, NDArray[np.int32]] = {}
        moved = set(self.dag.parents(self.target)) if shift == "parents" else set()
        cut = set(self.dag.children(self.target)) if shift == "children" else set()
        for name in nx.topological_sort(self.dag.graph):
            eta = np.full(rows, math.log(MOVED_ODDS) if name in moved else 0.0)
            for cause in self.dag.parents(name):
                seen = codes[cause]
                if name in cut and cause == self.target:
                    # Another row's value: the margin that the child sees is exactly the same.
                    seen = rng.permutation(seen)
                eta += self._effects[cause, name] * self._scores[cause][seen]
            codes[name] = self._column(name, eta, rng)
        return np.stack([codes[name] for name in self.schema.names], axis=1)

    @cached_property
    def _columns(self) -> dict[str, Column]:
        """What each node is drawn as."""
        hidden = dict.fromkeys(self.dag.unmeasured, Column(name="unmeasured", kind="boolean"))
        return {column.name: column for column in self.schema.columns} | hidden

    @cached_property
    def _scores(self) -> dict[str, NDArray[np.float64]]:
        """Scores f by node: mean 0 and variance 1 over the codes, 0 for codes without one."""
        return {name: _score(column, self._own(name)) for name, column in self._columns.items()}

    @cached_property
    def _effects(self) -> dict[Edge, float]:
        found: dict[Edge, float] = {}
        for name in self.dag.nodes:
            causes = self.dag.parents(name)
            odds = [ODDS[self.strengths.get((cause, name), self.strength)] for cause in causes]
            # For one standard deviation: ODDS is for a move of two.
            sizes = [math.log(value) / 2.0 for value in odds]
            shrink = min(1.0, LARGEST_SCORE / math.hypot(*sizes)) if sizes else 1.0
            for cause, size in zip(causes, sizes, strict=True):
                # The zero byte parts the names: "a" to "bc" is not "ab" to "c".
                sign = self._own(f"{cause}\0{name}").choice((-1.0, 1.0))
                found[cause, name] = sign * size * shrink
        return found

    def _own(self, what: str) -> np.random.Generator:
        """A generator of this name's own, so that columns do not depend on each other's place."""
        digest = hashlib.sha256(what.encode("utf-8", "surrogatepass")).digest()
        return np.random.default_rng([self.seed, *np.frombuffer(digest, dtype=np.uint32).tolist()])

    def _column(
        self, name: str, eta: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.int32]:
        column = self._columns[name]
        base = _BASE * self._own(f"{name}\0base").standard_normal(column.size)
        base[column.level_count :] = _MISSING
        spread = self._scores[name] / 2.0  # a two-valued column has -1/2 and 1/2
        found = np.empty(len(eta), dtype=np.int32)
        # 1 at least: a column may have more codes than a chunk has cells.
        step = max(1, _CHUNK // column.size)
        for start in range(0, len(eta), step):
            part = slice(start, start + step)
            # base_c + g_V(c) eta of the docstring; `spread` is g_V.
            logits = base + np.multiply.outer(eta[part], spread)
            # Shifted, so that exp cannot overflow; the law stays the same.
            law = np.exp(logits - logits.max(axis=1, keepdims=True))
            bounds = np.cumsum(law, axis=1)
            points = rng.random(len(law)) * bounds[:, -1]
            # Without the last bound, so that rounding cannot add a level.
            found[part] = (points[:, None] >= bounds[:, :-1]).sum(axis=1)
        return found


def _score(column: Column, rng: np.random.Generator) -> NDArray[np.float64]:
    count = column.level_count
    # Two levels have one order but for the sign, and that is drawn with the edge.
    ordered = column.kind != "categorical" or count <= 2
    levels = np.arange(count, dtype=float) if ordered else rng.standard_normal(count)
    spread = levels.std()
    scores = np.zeros(column.size)
    if spread > 0.0:
        scores[:count] = (levels - levels.mean()) / spread
    return scores


def sparse_graph(schema: Schema, target: str, related: int, seed: int) -> Dag:
    """A random graph for a table of which no graph is known: assumed, not believed.

    The target has `related` neighbours, half of them causes (one more when odd) and half effects;
    of the other columns about seven in ten have one cause among the columns before them.

    Args:
        schema: the declared domain.
        target: Y.
        related: neighbours of the target; fewer where there are not so many columns.
        seed: of the graph.
    """
    rng = np.random.default_rng(seed)
    others = [name for name in schema.names if name != target]
    order = [others[place] for place in rng.permutation(len(others))]
    related = min(related, len(order))
    # Edges follow one order, with the target between its causes and its effects, so that no cycle
    # can come of them.
    causes, effects = order[: (related + 1) // 2], order[len(order) - related // 2 :]
    edges = [(name, target) for name in causes] + [(target, name) for name in effects]
    # The effects have the target as a cause already. Without any, [:-0] would be empty.
    for place, name in enumerate(order[: -len(effects)] if effects else order):
        if place and rng.random() < 0.7:
            edges.append((order[int(rng.integers(max(0, place - 10), place))], name))
    return Dag(nodes=schema.names, edges=tuple(edges))
