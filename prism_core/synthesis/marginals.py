"""Many small marginals of a calibrated junction tree at once, covered by a clique or not.

Three columns meet in one clique of the tree: from there each is in the clique or behind another
neighbour, and columns behind different neighbours are independent given the clique. So

    P(a, b, c) = sum over the clique of P(clique) P(a | S_a) P(b | S_b) P(c | S_c),

S_x what the clique shares with the neighbour on the way to x. P(x | S) is computed once for every
neighbour and column, along the tree; marginals that meet in the same clique are one product.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from prism_core.synthesis.uncovered import MAX_CELLS
from prism_core.synthesis.ways import Ways, stacked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prism_core.planning.junction_tree import Clique, JunctionTree
    from prism_core.synthesis.ways import Leg, Table

_WASTE, _SMALL = 4, 10_000
"""Tables of a group may have four times the cells that were asked for, or ten thousand."""

_WAYS = 6 * MAX_CELLS
"""Cells of what is known about all columns behind all neighbours (1 GB); most models need few."""

_DEGREES = (1, 2, 3)  # columns of a marginal: more of them need not meet in one clique


def marginals_of(
    tree: JunctionTree, tables: Sequence[Table], sizes: Mapping[str, int], n: float,
    cliques: Sequence[Clique],
) -> dict[Clique, Table]:  # fmt: skip
    """Expected counts of marginals of up to three columns; post-processing, spends nothing.

    Larger marginals are left out, and so is what would need a table of more than
    `uncovered.MAX_CELLS` cells on the way; all of them where the ways between the columns would
    fill the memory: `uncovered.marginal_of` makes one at a time.

    Args:
        tree: parents first.
        tables: counts of every clique.
        sizes: codes per column, in schema order.
        n: the total.
        cliques: different columns each.
    """
    ways = Ways(tree, tables, sizes)
    if ways.cells > _WAYS:
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


def _affordable(ways: Ways, meeting: int, group: list[Clique]) -> list[list[Clique]]:
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
    return [
        part for half in _halves(group) for part in _affordable(ways, meeting, half)
    ]  # fmt: skip


def _halves(group: list[Clique]) -> tuple[list[Clique], list[Clique]]:
    """By the second column; by the third where all have the same."""
    place = 1 if len({clique[1] for clique in group}) > 1 else 2
    names = sorted({clique[place] for clique in group})
    first = set(names[: len(names) // 2])
    return (
        [clique for clique in group if clique[place] in first],
        [clique for clique in group if clique[place] not in first],
    )


def _groups(
    ways: Ways, cliques: Sequence[Clique]
) -> dict[tuple[int, str, tuple[Leg, ...]], list[Clique]]:
    """Marginals by where their columns meet, by the first, and by how the others get there."""
    wanted = [clique for clique in dict.fromkeys(cliques) if len(clique) in _DEGREES]
    found: dict[tuple[int, str, tuple[Leg, ...]], list[Clique]] = defaultdict(list)
    for clique, meeting in zip(wanted, ways.meetings(wanted), strict=True):
        legs = tuple(ways.leg(meeting, name) for name in clique[1:])
        found[meeting, clique[0], legs].append(clique)
    return found
