"""Naive Bayes: P(Y) prod P(X_block | Y) for task marginals, other features independent.

The paper's experimental backend. It needs no iteration, so it also serves as the model
against which background pairs are scored before the full fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.planning.junction_tree import junction_tree
from prism_core.synthesis.projection import to_simplex
from prism_core.synthesis.sample import sample_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.planning.task import SamplingRule
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

    def marginal(self, clique: Sequence[str]) -> NDArray[np.float64]:
        """Expected counts over `clique`, in its order."""
        wanted = set(clique)
        axes = [self.target]
        joint = self.prior.copy()
        for names, table in self.blocks.items():
            kept = [name for name in names if name in wanted]
            if not kept:
                continue
            drop = tuple(1 + i for i, name in enumerate(names) if name not in wanted)
            factor = table.sum(axis=drop)
            lift = (slice(None), *[None] * (len(axes) - 1), *[slice(None)] * len(kept))
            joint = joint[(..., *[None] * len(kept))] * factor[lift]
            axes += kept
        if self.target not in wanted:
            joint, axes = joint.sum(axis=0), axes[1:]
        for name in clique:
            if name in self.margins:
                joint = joint[..., None] * self.margins[name]
                axes.append(name)
        return np.transpose(joint, [axes.index(name) for name in clique]) * self.n

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
        return sample_tree(tree, tables, self.sizes, rows, rng, rule)


def fit_naive_bayes(
    sizes: Mapping[str, int], target: str, n: int, measurements: Sequence[Measurement]
) -> NaiveBayes:
    """Fit by projecting every noisy table onto the distributions; post-processing.

    Background pairs are not used. P(Y) is the average of the task tables' Y margins, weighted
    by the inverse of their noise variance.
    """
    task = [m for m in measurements if target in m.clique]
    prior = _prior(task, target, sizes[target])
    blocks: dict[tuple[str, ...], NDArray[np.float64]] = {}
    for m in task:
        names = tuple(name for name in m.clique if name != target)
        table = np.moveaxis(to_simplex(m.values), m.clique.index(target), 0)
        mass = table.sum(axis=tuple(range(1, table.ndim)), keepdims=True)
        cells = table[0].size
        blocks[names] = np.where(mass > 0.0, table / np.where(mass > 0.0, mass, 1.0), 1.0 / cells)
    margins = {m.clique[0]: to_simplex(m.values) for m in measurements if len(m.clique) == 1}
    return NaiveBayes(sizes=sizes, target=target, n=n, prior=prior, blocks=blocks, margins=margins)


def _prior(task: Sequence[Measurement], target: str, levels: int) -> NDArray[np.float64]:
    total, precision = np.zeros(levels), 0.0
    for m in task:
        axis = m.clique.index(target)
        margin = m.values.sum(axis=tuple(i for i in range(m.values.ndim) if i != axis))
        weight = levels / (m.sigma**2 * math.prod(m.values.shape))
        total += weight * margin
        precision += weight
    return to_simplex(total / precision)
