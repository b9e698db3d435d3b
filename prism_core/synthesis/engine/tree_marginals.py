"""Marginals of a junction tree, many small ones at once, covered by a clique or not.

Three columns meet in one clique of the tree: from there each is in the clique or behind another
neighbour, and columns behind different neighbours are independent given the clique. So

P(a, b, c) = sum over the clique of P(clique) P(a | S_a) P(b | S_b) P(c | S_c),

S_x what the clique shares with the neighbour on the way to x. P(x | S) is computed once for every
neighbour and column, along the tree; marginals that meet in the same clique are one product.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from prism_core.synthesis.engine.variable_elimination import MAX_CELLS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.planning.tree.junction_tree import Clique, JunctionTree

Table: TypeAlias = "NDArray[np.float64]"

Leg: TypeAlias = "str | int"
"""How a column is reached from a clique: itself where it is in it, else the neighbour's index."""


def stacked(names: Sequence[str], sizes: Mapping[str, int]) -> dict[str, slice]:
    """Where each column's values stand when columns are stacked."""
    found, at = {}, 0
    for name in names:
        found[name] = slice(at, at + sizes[name])
        at += sizes[name]
    return found


@dataclass(frozen=True)
class TreePaths:
    """A junction tree, its parts hung together, and P(x | S) of every column behind a neighbour."""

    tree: JunctionTree
    tables: Sequence[Table] = field(repr=False)
    sizes: Mapping[str, int]

    @cached_property
    def parents(self) -> list[int | None]:
        """Of each clique; the roots of further parts hang on the first clique and share nothing."""
        return [
            (None if index == 0 else 0) if parent is None else parent
            for index, parent in enumerate(self.tree.parents)
        ]

    @cached_property
    def near(self) -> list[list[int]]:
        """Neighbours of every clique."""
        found: list[list[int]] = [[] for _ in self.parents]
        for index, parent in enumerate(self.parents):
            if parent is not None:
                found[parent].append(index)
                found[index].append(parent)
        return found

    @cached_property
    def above(self) -> list[int]:
        """Every clique and those above it, as bits."""
        found: list[int] = []
        for index, parent in enumerate(self.parents):
            # Integers as sets: a common ancestor is one `&`, and it is asked for every marginal.
            found.append(1 << index | (0 if parent is None else found[parent]))
        return found

    @cached_property
    def homes(self) -> dict[str, int]:
        """The topmost clique that holds a column."""
        found: dict[str, int] = {}
        for index, names in enumerate(self.tree.cliques):
            for name in names:
                found.setdefault(name, index)
        return found

    def meetings(self, cliques: Sequence[Clique]) -> list[int]:
        """Where the ways between the columns' homes meet: the lowest of their common ancestors.

        Parents come first, and the common ancestors of three stand one above the other.
        """
        homes, above = self.homes, self.above
        found = []
        for clique in cliques:
            at = [above[homes[name]] for name in clique]
            pairs = [a & b for place, a in enumerate(at) for b in at[place + 1 :]]
            # Parents have smaller indices, so the highest common bit is the lowest common ancestor.
            found.append(max((pair.bit_length() for pair in pairs), default=at[0].bit_length()) - 1)
        return found

    def leg(self, meeting: int, name: str) -> Leg:
        """How a column is reached from a clique."""
        if name in self._held[meeting]:
            return name
        return self._towards[meeting, self.homes[name]]

    @cached_property
    def _held(self) -> list[frozenset[str]]:
        return [frozenset(names) for names in self.tree.cliques]

    @cached_property
    def _towards(self) -> dict[tuple[int, int], int]:
        """The neighbour of one clique on the way to another."""
        found: dict[tuple[int, int], int] = {}
        for goal in range(len(self.parents)):
            at, parent = goal, self.parents[goal]
            while parent is not None:
                found[parent, goal] = at
                at, parent = parent, self.parents[parent]
            # A clique that does not stand above the goal reaches it by its own parent.
            for index, above in enumerate(self.parents):
                if not self.above[goal] >> index & 1 and above is not None:
                    found[index, goal] = above
        return found

    def shared(self, index: int, other: int) -> Clique:
        """What two neighbours share."""
        child = index if self.parents[index] == other else other
        return self.tree.separators[child]

    @cached_property
    def _order(self) -> list[tuple[int, int]]:
        """Neighbours (from, to), each after those that lie behind it."""
        down = [(p, i) for i, p in enumerate(self.parents) if p is not None]
        return [*reversed(down), *((i, p) for p, i in down)]

    @cached_property
    def behind(self) -> dict[tuple[int, int], Clique]:
        """Columns behind a neighbour that are not in the clique, (from, to) -> columns."""
        found: dict[tuple[int, int], Clique] = {}
        for index, other in self._order:
            names = [x for x in self.tree.cliques[other] if x not in self._held[index]]
            for onward in self.near[other]:
                if onward != index:
                    names += found[other, onward]
            found[index, other] = tuple(names)
        return found

    @cached_property
    def cells(self) -> int:
        """Of all tables of `given` together."""
        return sum(
            self._values(names) * self._cells(self.shared(*way))
            for way, names in self.behind.items()
        )

    def cells_of(self, meeting: int, stacks: Sequence[Clique]) -> int:
        """Of the largest table that `product` makes."""
        legs = [self._hangs_on(meeting, stack) for stack in stacks]
        found, so_far = [], 1
        for place, stack in enumerate(stacks):
            so_far *= self._values(stack)
            later = {name for names in legs[place + 1 :] for name in names}
            # What `product` holds after this stack: the stacks so far, and what later ones hang on.
            found.append(so_far * self._cells(tuple(later)))
        return max(found)

    def _values(self, names: Clique) -> int:
        return sum(self.sizes[name] for name in names)

    def _cells(self, names: Clique) -> int:
        return math.prod(self.sizes[name] for name in names)

    @cached_property
    def given(self) -> dict[tuple[int, int], Table]:
        """P(x | S) of all columns behind a neighbour, stacked: shape (values of all x, *S)."""
        found: dict[tuple[int, int], Table] = {}
        for index, other in self._order:
            shared = self.shared(index, other)
            pieces = [
                self._conditional(other, (name,), shared)
                for name in self.tree.cliques[other]
                if name not in self._held[index]
            ]
            for onward in self.near[other]:
                if onward != index and self.behind[other, onward]:
                    pieces.append(self._chained(other, shared, onward, found[other, onward]))
            shape = [self.sizes[name] for name in shared]
            # The empty piece is for a neighbour with nothing new behind it.
            found[index, other] = np.concatenate([np.zeros((0, *shape)), *pieces])
        return found

    def _conditional(self, index: int, fresh: Clique, shared: Clique) -> Table:
        """P(fresh | shared) within a clique, axes in this order."""
        table = self._summed(index, (*fresh, *shared))
        mass = table.sum(axis=tuple(range(len(fresh))), keepdims=True)
        # A state without mass is never reached; 0 keeps 0 / 0 out of the sums.
        return np.divide(table, mass, out=np.zeros_like(table), where=mass > 0.0)

    def _chained(self, index: int, shared: Clique, onward: int, beyond: Table) -> Table:
        """P(x | shared) = sum over P(S' | shared) P(x | S'), S' shared with the one further on."""
        further = self.shared(index, onward)
        fresh = tuple(name for name in further if name not in shared)
        way = self._conditional(index, fresh, shared)
        # Axis 0 is the stack of `beyond`; the columns of the way are numbered after it.
        axis = {name: place for place, name in enumerate((*fresh, *shared), start=1)}
        return _joined(
            way,
            list(range(1, 1 + way.ndim)),
            beyond,
            [0, *(axis[name] for name in further)],
            [0, *(axis[name] for name in shared)],
        )

    def _summed(self, index: int, names: Clique) -> Table:
        """A clique's table summed to some of its columns, in their order."""
        place = {name: axis for axis, name in enumerate(self.tree.cliques[index])}
        operands: list[Any] = [self.tables[index], list(range(len(place)))]
        return np.einsum(*operands, [place[name] for name in names])

    def product(self, meeting: int, stacks: Sequence[Clique]) -> Table:
        """Probabilities of stacks of columns together; one axis for each stack.

        The columns of a stack are reached from the meeting place in the same way, those of
        different stacks in different ways or within the clique.
        """
        legs = [self._leg_table(meeting, stack) for stack in stacks]
        held = tuple(dict.fromkeys(name for names, _ in legs for name in names))
        table = self._summed(meeting, held)
        table = table / table.sum()  # a view where nothing was summed
        # Axes by number: those of the stacks come first, the clique's columns after them.
        axis = {name: len(stacks) + place for place, name in enumerate(held)}
        at = [axis[name] for name in held]
        for place, (names, values) in enumerate(legs):
            later = {axis[name] for others, _ in legs[place + 1 :] for name in others}
            onward = [*range(place + 1), *(a for a in at if a >= len(stacks) and a in later)]
            table = _joined(table, at, values, [place, *(axis[name] for name in names)], onward)
            at = onward
        return table

    def _leg_table(self, meeting: int, stack: Clique) -> tuple[Clique, Table]:
        """What the stack hangs on in the clique, and P(column | that), stacked."""
        leg, shared = self.leg(meeting, stack[0]), self._hangs_on(meeting, stack)
        if isinstance(leg, str):
            return shared, np.eye(self.sizes[leg])
        starts = self._starts[meeting, leg]
        values = self.given[meeting, leg]
        rows = np.concatenate([np.arange(starts[name].start, starts[name].stop) for name in stack])
        return shared, values[rows]

    def _hangs_on(self, meeting: int, stack: Clique) -> Clique:
        leg = self.leg(meeting, stack[0])
        return (leg,) if isinstance(leg, str) else self.shared(meeting, leg)

    @cached_property
    def _starts(self) -> dict[tuple[int, int], dict[str, slice]]:
        return {way: stacked(names, self.sizes) for way, names in self.behind.items()}


def _joined(
    table: Table, at: Sequence[int], values: Table, axes: Sequence[int], onward: Sequence[int]
) -> Table:
    """The product of a table and stacked values, summed over the axes that do not go onward.

    As `einsum` says it, made of products of matrices, which are many times as fast where much is
    summed: of what both hold, the axes that go onward tell the matrices apart.

    Args:
        table: one of the two.
        at: its axes.
        values: the other.
        axes: its axes, the first of which is its own; the table has the others.
        onward: the axes of what is made; all that only the table has are among them.
    """
    size = dict(zip((*at, *axes), (*table.shape, *values.shape), strict=True))
    stack, kept = axes[0], set(onward)
    # Of what both hold: axes that stay tell matrices apart, the others are multiplied out.
    apart = [axis for axis in at if axis in axes and axis in kept]
    summed = [axis for axis in at if axis in axes and axis not in kept]
    rest = [axis for axis in at if axis not in axes]
    batch, inner = (math.prod(size[axis] for axis in some) for some in (apart, summed))
    left = table.transpose([at.index(axis) for axis in (*apart, *rest, *summed)])
    right = values.transpose([axes.index(axis) for axis in (*apart, *summed, stack)])
    # Shapes (apart, rest, summed) and (apart, summed, stack).
    left = left.reshape(batch, left.size // (batch * inner), inner)
    right = right.reshape(batch, inner, size[stack])
    made = left * right if inner == 1 else left @ right
    order = [*apart, *rest, stack]
    return made.reshape([size[axis] for axis in order]).transpose(
        [order.index(axis) for axis in onward]
    )


_WASTE, _SMALL = 4, 10_000
"""Tables of a group may have four times the cells that were asked for, or ten thousand."""

_PATHS = 6 * MAX_CELLS
"""Cells of what is known about all columns behind all neighbours (1 GB); most models need few."""

_DEGREES = (1, 2, 3)  # columns of a marginal: more of them need not meet in one clique


def marginals_of(
    tree: JunctionTree,
    tables: Sequence[Table],
    sizes: Mapping[str, int],
    n: float,
    cliques: Sequence[Clique],
) -> dict[Clique, Table]:
    """Expected counts of marginals of up to three columns; post-processing, spends nothing.

    Larger marginals are left out, and so is what would need a table of more than
    `variable_elimination.MAX_CELLS` cells on the way; all of them where the ways between the
    columns would fill the memory: `variable_elimination.marginal_of` makes one at a time.

    Args:
        tree: parents first.
        tables: counts of every clique.
        sizes: codes per column, in schema order.
        n: the total.
        cliques: different columns each.
    """
    ways = TreePaths(tree, tables, sizes)
    if ways.cells > _PATHS:
        return {}
    found: dict[Clique, Table] = {}
    for (meeting, _, _), group in _groups(ways, cliques).items():
        for members in _affordable(ways, meeting, group):
            stacks = _stacks(members)
            block = ways.product(meeting, stacks) * n
            starts = [stacked(names, sizes) for names in stacks]
            sparse = block.size > _WASTE * _asked(members, sizes)
            for clique in members:
                cut = tuple(at[name] for at, name in zip(starts, clique, strict=True))
                # A view would keep all of the block for as long as the marginal is there.
                found[clique] = block[cut].copy() if sparse else block[cut]
    return found


def _stacks(members: Sequence[Clique]) -> list[Clique]:
    """The first column, then a stack of all second ones, and one of all third ones."""
    return [tuple(dict.fromkeys(names)) for names in zip(*members, strict=True)]


def _asked(group: Sequence[Clique], sizes: Mapping[str, int]) -> int:
    return sum(math.prod(sizes[name] for name in clique) for clique in group)


def _affordable(ways: TreePaths, meeting: int, group: list[Clique]) -> list[list[Clique]]:
    """The group where its tables are small enough, else halves of it, and halves of these.

    Those with a table of more than `MAX_CELLS` on the way are left out.
    """
    most = ways.cells_of(meeting, _stacks(group))
    if len(group) == 1:
        return [group] if most <= MAX_CELLS else []
    asked = _asked(group, ways.sizes)
    alone = len(group) * ways.tables[meeting].size  # what is read when each is made by itself
    if most <= min(MAX_CELLS, max(_WASTE * asked, _SMALL, alone)):
        return [group]
    return [part for half in _halves(group) for part in _affordable(ways, meeting, half)]


def _halves(group: list[Clique]) -> tuple[list[Clique], list[Clique]]:
    """By the second column; by the third where all have the same."""
    place = 1 if len({clique[1] for clique in group}) > 1 else 2
    # Sorted: the halves, and with them the last digits, must not hang on the hashes of a set.
    names = sorted({clique[place] for clique in group})
    first = set(names[: len(names) // 2])
    return (
        [clique for clique in group if clique[place] in first],
        [clique for clique in group if clique[place] not in first],
    )


def _groups(
    ways: TreePaths, cliques: Sequence[Clique]
) -> dict[tuple[int, str, tuple[Leg, ...]], list[Clique]]:
    """Marginals by where their columns meet, by the first, and by how the others get there."""
    wanted = [clique for clique in dict.fromkeys(cliques) if len(clique) in _DEGREES]
    found: dict[tuple[int, str, tuple[Leg, ...]], list[Clique]] = defaultdict(list)
    for clique, meeting in zip(wanted, ways.meetings(wanted), strict=True):
        legs = tuple(ways.leg(meeting, name) for name in clique[1:])
        found[meeting, clique[0], legs].append(clique)
    return found
