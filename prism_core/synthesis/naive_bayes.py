"""Naive Bayes: P(Y) prod P(X_block | Y) for task marginals, other features independent.

The paper's experimental backend. It needs no iteration, so it also serves as the model
against which background pairs are scored before the full fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from prism_core.planning.tree.junction_tree import junction_tree
from prism_core.synthesis.projection import to_simplex
from prism_core.synthesis.sample import sample_tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.planning.wishes.task import SamplingRule
    from prism_core.synthesis.measure import Measurement


@dataclass(frozen=True, kw_only=True)
class NaiveBayes:
    """Blocks of features that are independent of each other given Y, and independent features.

    Attributes:
        sizes: codes per column, in schema order.
        target: Y.
        n: training rows.
        prior: P(Y), shape (|Y|,).
        blocks: feature names -> P(block | Y), shape (|Y|, *block).
        margins: features outside every block -> P(X).
    """

    sizes: Mapping[str, int]
    target: str
    n: int
    prior: NDArray[np.float64]
    blocks: Mapping[tuple[str, ...], NDArray[np.float64]]
    margins: Mapping[str, NDArray[np.float64]]

    @cached_property
    def _home(self) -> dict[str, int]:
        """The place of every feature's block."""
        return {name: place for place, names in enumerate(self.blocks) for name in names}

    def marginal(self, clique: Sequence[str]) -> NDArray[np.float64]:
        """Expected counts over `clique`, in its order."""
        wanted = set(clique)
        axes = [self.target]
        joint = self.prior.copy()
        blocks = tuple(self.blocks.items())
        for place in sorted({self._home[name] for name in clique if name in self._home}):
            names, table = blocks[place]
            kept = [name for name in names if name in wanted]
            drop = tuple(1 + i for i, name in enumerate(names) if name not in wanted)
            factor = table.sum(axis=drop) if drop else table
            # Blocks are independent given Y: a factor shares the first axis with the rest, and no
            # other.
            lift = (slice(None), *[None] * (len(axes) - 1), *[slice(None)] * len(kept))
            joint = joint[(..., *[None] * len(kept))] * factor[lift]
            axes += kept
        if self.target not in wanted:
            joint, axes = joint.sum(axis=0), axes[1:]
        for name in clique:
            if name in self.margins:
                joint = joint[..., None] * self.margins[name]
                axes.append(name)
        if axes != list(clique):
            joint = np.transpose(joint, [axes.index(name) for name in clique])
        return joint * self.n

    def pairs(self, pairs: Iterable[Sequence[str]]) -> Iterator[NDArray[np.float64]]:
        """Expected counts of many pairs: those of `marginal`, up to rounding, but faster."""
        laws = {
            name: table.sum(axis=tuple(axis for axis in range(1, table.ndim) if axis != place))
            for names, table in self.blocks.items()
            for place, name in enumerate(names, start=1)
        }
        levels = len(self.prior)
        laws |= {name: np.tile(margin, (levels, 1)) for name, margin in self.margins.items()}
        counts = {name: (self.n * self.prior[:, None] * law).T for name, law in laws.items()}
        for pair in pairs:
            first, second = pair
            homes = [self._home.get(name, name) for name in pair]
            # Two features of one block depend on each other given Y, too; `marginal` knows how.
            if self.target in pair or homes[0] == homes[1]:
                yield self.marginal(pair)
            else:
                # The sum over y of n P(y) P(a | y) P(b | y) is one product of matrices.
                yield counts[first] @ laws[second]

    def sample(
        self, rows: int, rng: np.random.Generator, rule: SamplingRule = "rounded"
    ) -> NDArray[np.int32]:
        """Rows of codes in schema order."""
        cliques = [
            *(tuple(n for n in self.sizes if n in {*names, self.target}) for names in self.blocks),
            *((name,) for name in self.margins),
        ]
        tree = junction_tree(cliques)
        tables = [self.marginal(clique) for clique in tree.cliques]
        return sample_tree(tree, tables, self.sizes, rows, rng, rule, (self.target,))


def fit_naive_bayes(
    sizes: Mapping[str, int], target: str, n: int, measurements: Sequence[Measurement]
) -> NaiveBayes:
    """Fit by projecting every noisy table onto the distributions; post-processing.

    Background pairs are not used. A linear query becomes the table of greatest entropy that fits
    its answers and the noisy counts of its feature. P(Y) is the average of the task tables' Y
    margins, weighted by the inverse of their noise variance; linear queries count only where
    there is nothing else.
    """
    task = [m for m in measurements if target in m.clique]
    tables = [_table(m, sizes, n, measurements) for m in task]
    counted = [m for m in task if m.query is None]
    prior = _prior(counted, target, sizes[target]) if counted else _mean_prior(task, tables, target)
    blocks: dict[tuple[str, ...], NDArray[np.float64]] = {}
    for m, found in zip(task, tables, strict=True):
        names = tuple(name for name in m.clique if name != target)
        table = np.moveaxis(found, m.clique.index(target), 0)
        mass = table.sum(axis=tuple(range(1, table.ndim)), keepdims=True)
        cells = table[0].size
        # A class that projection left without mass tells nothing: its features are uniform. The
        # inner `where` keeps numpy from warning of 0 / 0.
        blocks[names] = np.where(mass > 0.0, table / np.where(mass > 0.0, mass, 1.0), 1.0 / cells)
    known = {name for names in blocks for name in names}
    margins = {
        m.clique[0]: to_simplex(m.values)
        for m in measurements
        if len(m.clique) == 1 and m.clique[0] not in known
    }
    return NaiveBayes(sizes=sizes, target=target, n=n, prior=prior, blocks=blocks, margins=margins)


def _table(
    m: Measurement, sizes: Mapping[str, int], n: int, measurements: Sequence[Measurement]
) -> NDArray[np.float64]:
    """The distribution over a task marginal's cells, shape of the domain."""
    if m.query is None:
        return to_simplex(m.values)
    from prism_core.synthesis.engine.fit import fit

    own = {name: sizes[name] for name in m.clique}
    margins = [o for o in measurements if len(o.clique) == 1 and o.clique[0] in own]
    (table,) = fit(own, n, [m, *margins]).tables
    return to_simplex(table)


def _mean_prior(
    task: Sequence[Measurement], tables: Sequence[NDArray[np.float64]], target: str
) -> NDArray[np.float64]:
    margins = []
    for m, table in zip(task, tables, strict=True):
        axis = m.clique.index(target)
        margins.append(table.sum(axis=tuple(i for i in range(table.ndim) if i != axis)))
    return np.mean(margins, axis=0)


def _prior(task: Sequence[Measurement], target: str, levels: int) -> NDArray[np.float64]:
    total, precision = np.zeros(levels), 0.0
    for m in task:
        axis = m.clique.index(target)
        margin = m.values.sum(axis=tuple(i for i in range(m.values.ndim) if i != axis))
        # One over the variance of a level's total, which sums size / levels cells.
        weight = levels / (m.sigma**2 * math.prod(m.values.shape))
        total += weight * margin
        precision += weight
    return to_simplex(total / precision)
