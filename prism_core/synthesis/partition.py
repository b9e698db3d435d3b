"""Partition of a column's cells into parts that tell Y apart, from noisy counts alone.

Post-processing: every function here takes counts that were measured with noise, the scale of that
noise and public facts. None takes rows, so whatever is decided here costs nothing and is covered by
the charge of the counts (post-processing of a differentially private output, Dwork and Roth 2014,
proposition 2.1).
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST = 1e-3
"""Least share of a class that evidence is weighed by: a noisy total may be 0 or below."""

_EVEN = 1.0
"""A part is halved only where either half then holds as much as a deviation of its own noise."""


class Evidence:
    """What noisy counts of cells by class say of parts of them.

    The excess of class y in a part B of m cells is e_y = C_By - q_y C_B, with C the noisy counts
    and q the noisy shares of the classes over all. Where Y does not depend on the column, e_y has
    mean 0 and variance q_y (1 - q_y) n_B from the draw of n_B rows, at most m times that where
    m rows of a person may be alike, and
    m sigma^2 ((1 - q_y)^2 + (K - 1) q_y^2) from the noise of K classes. The evidence of a part is
    the sum over y of (1 - q_y) e_y^2 / variance: with no noise the part's share of Pearson's chi
    square, of mean K - 1.

    Args:
        counts: noisy counts of shape (cells, classes).
        sigma: scale of their noise.
        alike: rows that may be one person's; public.
    """

    def __init__(self, counts: NDArray[np.integer], sigma: float, alike: int = 1) -> None:
        self.counts = counts.astype(np.float64)
        cells, self.classes = counts.shape
        # One row more for each class: the shares stay defined where noise leaves no total above 0.
        totals = np.maximum(self.counts.sum(axis=0), 0.0) + 1.0
        self.shares = np.maximum(totals / totals.sum(), _LEAST)
        self.alike = alike
        q = self.shares
        # sigma^2 ((1 - q)^2 + (K - 1) q^2) of the docstring: what one cell adds.
        self._noise = sigma**2 * ((1.0 - q) ** 2 + (self.classes - 1) * q**2)
        self.cells = cells

    def of(
        self, counts: NDArray[np.float64], cells: NDArray[np.float64] | float
    ) -> NDArray[np.float64]:
        """The evidence of parts.

        Args:
            counts: summed noisy counts by class, shape (..., classes).
            cells: how many cells each sums, shape (...).
        """
        q = self.shares
        rows = counts.sum(axis=-1, keepdims=True)
        # e_y of the docstring.
        excess = counts - rows * q
        # A noisy number of rows may be negative; the variance of the draw is not.
        drawn = self.alike * q * (1.0 - q) * np.maximum(rows, 0.0)
        variance = drawn + np.asarray(cells)[..., None] * self._noise
        return ((1.0 - q) * excess**2 / variance).sum(axis=-1)


def ordered_parts(
    counts: NDArray[np.integer], sigma: float, most: int, fill: int, alike: int = 1
) -> NDArray[np.int64]:
    """Part of every cell of an ordered column: runs of neighbours, numbered upwards.

    The partition of most evidence less a penalty a part, exact by dynamic programming over cuts in
    O(most cells^2) (Jackson et al. 2005, "An algorithm for optimal partitioning of data on an
    interval"). Where that leaves fewer than `fill` parts the fullest are halved, so that what does
    not tell Y apart alone may still do so together with other columns.

    Args:
        counts: noisy counts by class, shape (cells, classes), cells in their order.
        sigma: scale of their noise.
        most: most parts.
        fill: parts that there are at least, where the noise allows it.
        alike: rows that may be one person's.
    """
    evidence = Evidence(counts, sigma, alike)
    cells = evidence.cells
    # Running sums: the counts of any run of cells are one difference, and every run is looked at.
    sums = np.concatenate([np.zeros((1, evidence.classes)), np.cumsum(evidence.counts, axis=0)])
    penalty = penalty_of(cells, evidence.classes)
    lengths = np.arange(cells + 1)
    # A part that ends before it starts has no evidence at all: the maximum never takes it.
    gains = np.full((cells + 1, cells + 1), -math.inf)  # of the part from row to column
    for end in range(1, cells + 1):
        gains[:end, end] = evidence.of(sums[end] - sums[:end], (end - lengths[:end]).astype(float))
    # best[p][e]: the first e cells in p parts.
    best = gains[0]
    starts: list[NDArray[np.int64]] = []
    totals = [best[cells] - penalty]
    for _ in range(1, min(most, cells)):
        # Entry (s, e): the first s cells in the parts so far, and one more part from s to e.
        every = best[:, None] + gains
        start = every.argmax(axis=0)
        starts.append(start)
        best = every[start, np.arange(cells + 1)]
        totals.append(best[cells] - penalty * (len(starts) + 1))
    cuts: list[int] = []
    end = cells
    for level in range(int(np.argmax(totals)) - 1, -1, -1):
        end = int(starts[level][end])
        cuts.append(end)
    # Rows of a cell are summed over K classes, so their noise is sqrt(K) times that of a count.
    filled = _filled(sums.sum(axis=1), sorted(cuts), sigma * math.sqrt(evidence.classes), fill)
    return np.searchsorted(filled, np.arange(cells), side="right")


def penalty_of(cells: int, classes: int) -> float:
    """Evidence that another part must add.

    Chance alone gives a cut chi-square evidence of mean K - 1, and the best of G cuts about
    2 ln G more.
    """
    return (classes - 1) + 2.0 * math.log(max(2, cells))


def _filled(sums: NDArray[np.float64], cuts: list[int], noise: float, fill: int) -> list[int]:
    """The cuts with the fullest part halved until there are `fill` parts."""
    cells = len(sums) - 1
    found = list(cuts)
    closed: set[tuple[int, int]] = set()
    while len(found) + 1 < fill:
        ends = [0, *found, cells]
        spans = [
            span
            for span in itertools.pairwise(ends)
            if span[1] - span[0] > 1 and span not in closed
        ]
        if not spans:
            break
        low, high = max(spans, key=lambda span: sums[span[1]] - sums[span[0]])
        inner = np.arange(low + 1, high)
        uneven = np.abs(2.0 * sums[inner] - sums[low] - sums[high])
        cut = int(inner[uneven.argmin()])
        halves = ((low, cut), (cut, high))
        if all(sums[b] - sums[a] > _EVEN * noise * math.sqrt(b - a) for a, b in halves):
            found = sorted([*found, cut])
        else:
            # Its counts stay as they are, so it would fail again, and the loop would never end.
            closed.add((low, high))
    return found


def unordered_parts(
    counts: NDArray[np.integer], sigma: float, most: int, alike: int = 1
) -> NDArray[np.int64]:
    """Part of every level of an unordered column: like levels, numbered by their first level.

    Levels are merged two by two, each time those whose merging costs least evidence (Ward 1963).
    The tree is then opened from its top: a part is divided where its levels differ by more evidence
    than chance gives so many, until there are `most`.

    Args:
        counts: noisy counts by class, shape (levels, classes).
        sigma: scale of their noise.
        most: most parts.
        alike: rows that may be one person's.
    """
    evidence = Evidence(counts, sigma, alike)
    merges = _ward(evidence)
    levels = evidence.cells
    children = {levels + place: pair for place, pair in enumerate(merges)}
    members: dict[int, list[int]] = {level: [level] for level in range(levels)}
    for node, (left, right) in children.items():
        members[node] = members[left] + members[right]
    single = evidence.of(evidence.counts, np.ones(levels))

    def unlike(node: int) -> float:
        """Evidence that the levels of a part differ, beyond chance."""
        inside = members[node]
        whole = float(evidence.of(evidence.counts[inside].sum(axis=0), float(len(inside))))
        freedom = (len(inside) - 1) * (evidence.classes - 1)
        # A chi-square exceeds this with probability below 1 / levels (Laurent and Massart 2000,
        # lemma 1, with x = ln(levels)).
        chance = freedom + 2.0 * math.sqrt(freedom * math.log(levels)) + 2.0 * math.log(levels)
        return float(single[inside].sum()) - whole - chance

    parts = [levels + len(merges) - 1 if merges else 0]
    while len(parts) < most:
        open_parts = [node for node in parts if node in children]
        if not open_parts:
            break
        widest = max(open_parts, key=unlike)
        if unlike(widest) <= 0.0:
            break
        parts.remove(widest)
        parts.extend(children[widest])
    found = np.zeros(levels, dtype=np.int64)
    for number, node in enumerate(sorted(parts, key=lambda node: min(members[node]))):
        found[members[node]] = number
    return found


def _ward(evidence: Evidence) -> list[tuple[int, int]]:
    """Pairs of nodes in the order in which they merge; node `levels` + i is the i-th pair."""
    counts = [*evidence.counts]
    cells = [1.0] * len(counts)
    alive = list(range(len(counts)))
    own = [float(evidence.of(one, 1.0)) for one in counts]
    # Merging makes one node fewer than there are levels, and these need room, too.
    lost = np.full((2 * len(counts), 2 * len(counts)), math.inf)

    def measure(node: int, others: list[int]) -> None:
        together = np.array([counts[node] + counts[other] for other in others])
        sizes = np.array([cells[node] + cells[other] for other in others])
        # What both say by themselves, less what they say as one part.
        loss = own[node] + np.array([own[other] for other in others]) - evidence.of(together, sizes)
        # In the upper triangle alone, so that the least entry names each pair once.
        lost[np.minimum(node, others), np.maximum(node, others)] = loss

    for place, node in enumerate(alive[1:], 1):
        measure(node, alive[:place])
    found: list[tuple[int, int]] = []
    while len(alive) > 1:
        flat = int(np.argmin(lost))
        left, right = divmod(flat, lost.shape[1])
        found.append((left, right))
        node = len(counts)
        counts.append(counts[left] + counts[right])
        cells.append(cells[left] + cells[right])
        own.append(float(evidence.of(counts[node], cells[node])))
        alive = [other for other in alive if other not in (left, right)]
        for gone in (left, right):
            lost[gone, :] = lost[:, gone] = math.inf
        if alive:
            measure(node, alive)
        alive.append(node)
    return found
