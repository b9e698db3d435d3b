"""From noisy marginals to a calibrated junction tree, part by part."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.errors import PrivacyError
from prism_core.planning.junction_tree import JunctionTree, junction_tree, maximal_cliques
from prism_core.synthesis.engine.cache import prepare
from prism_core.synthesis.engine.flat import FlatTree, flatten
from prism_core.synthesis.engine.overlap import Overlap, overlap
from prism_core.synthesis.engine.solver import Solved, solve
from prism_core.synthesis.projection import to_simplex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.planning.junction_tree import Clique
    from prism_core.synthesis.measure import Measurement

TOLERANCE = 1e-6
"""Share of the loss that may be missing when a fit stops."""

_LEAST = 1e-300  # stands for 0 where a logarithm is handed out


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """Calibrated cliques and how the fit ended.

    Attributes:
        tree: junction tree over the maximal cliques.
        tables: counts of every clique of the tree.
        potentials: measured set of columns -> log potentials; their sum is log P + constant.
        loss: half the sum of squared standardised residuals.
        gap: upper bound on how far `loss` is above the least possible.
        steps: Newton steps, of all parts.
    """

    tree: JunctionTree
    tables: tuple[NDArray[np.float64], ...] = field(repr=False)
    potentials: Mapping[Clique, NDArray[np.float64]] = field(repr=False)
    loss: float
    gap: float
    steps: int


@dataclass(frozen=True, kw_only=True)
class _Part:
    """A connected part of the measured graph: its tree and where its cells stand."""

    flat: FlatTree
    overlap: Overlap
    asked: tuple[int, ...]


class Structure:
    """What a fit needs to know of the graph; fits with other noise share it.

    Args:
        sizes: codes per column, in schema order.
        cliques: measured sets of columns, in any order and as often as measured.
        sigmas: noise of each, in counts.
        last: columns eliminated last by the bounded triangulation.
    """

    def __init__(
        self,
        sizes: Mapping[str, int],
        cliques: Sequence[Clique],
        sigmas: Sequence[float],
        *,
        last: Sequence[str] = (),
    ) -> None:
        place = {name: position for position, name in enumerate(sizes)}
        self.sizes = dict(sizes)
        self.cliques = tuple(cliques)
        self._sigmas = tuple(sigmas)
        self._axes = [
            tuple(sorted(range(len(clique)), key=lambda i, c=clique: place[c[i]]))
            for clique in cliques
        ]
        sets = [
            tuple(clique[i] for i in axes) for clique, axes in zip(cliques, self._axes, strict=True)
        ]
        index: dict[Clique, int] = {}
        self._set_of = [index.setdefault(names, len(index)) for names in sets]
        self.asked = tuple(index)
        # Several measurements of one set are one, of the sum of their precisions.
        self._weights = [0.0] * len(index)
        for q, sigma in zip(self._set_of, sigmas, strict=True):
            self._weights[q] += sigma**-2.0
        self.tree = junction_tree(maximal_cliques(sizes, self.asked, last=last))
        self._parts = self._split()

    def _split(self) -> list[_Part]:
        roots: list[int] = []
        for index, parent in enumerate(self.tree.parents):
            roots.append(index if parent is None else roots[parent])
        home = {name: roots[i] for i, clique in enumerate(self.tree.cliques) for name in clique}
        asked: dict[int, list[int]] = {root: [] for root in roots}
        for q, names in enumerate(self.asked):
            asked[home[names[0]]].append(q)
        parts = []
        for root, some in asked.items():
            members = [index for index, other in enumerate(roots) if other == root]
            sets = [self.asked[q] for q in some]
            tree = _subtree(self.tree, members)
            parts.append(
                _Part(
                    flat=flatten(self.sizes, tree, sets),
                    overlap=overlap(self.sizes, sets, [self._weights[q] for q in some]),
                    asked=tuple(some),
                )
            )
        return parts

    def fit(
        self,
        n: int,
        values: Sequence[NDArray[Any]],
        *,
        iterations: int = 1_000,
        tolerance: float = TOLERANCE,
        start: Mapping[Clique, NDArray[np.float64]] | None = None,
        progress: Callable[[float], None] = lambda _: None,
    ) -> Fitted:
        """Fit the model to noisy counts; post-processing, spends nothing.

        Args:
            n: training rows; the model's total.
            values: noisy counts of every clique, in the order given at birth.
            iterations: at most so many steps for a part.
            tolerance: share of the loss at which to stop; see `solver.solve`.
            start: `Fitted.potentials` of a fit to fewer measurements, to begin at.
            progress: called with the share done; may raise to stop.
        """
        if not n > 0:
            raise ValueError("n must be above 0")
        merged, constant = self._merge(values)
        tables: list[NDArray[np.float64]] = []
        found: dict[Clique, NDArray[np.float64]] = {}
        loss, gap, steps, done = constant, 0.0, 0, 0
        cells = sum(int(part.flat.layout.cells[-1]) for part in self._parts)
        for part in self._parts:
            own = int(part.flat.layout.cells[-1])
            wanted = np.concatenate([merged[q].ravel() / n for q in part.asked] or [np.zeros(0)])
            weights = np.array([self._weights[q] * float(n) ** 2 for q in part.asked])
            precision = np.repeat(weights, np.diff(part.flat.starts))
            solved = _solve(
                part, wanted, precision, iterations, tolerance, self._start(part, start or {}),
                lambda share, done=done, own=own: progress((done + share * own) / cells),
            )  # fmt: skip
            done += own
            loss, gap, steps = loss + solved.loss, gap + solved.gap, steps + solved.steps
            for shape, a, b in zip(
                part.flat.shapes, part.flat.layout.cells, part.flat.layout.cells[1:], strict=False
            ):
                tables.append(solved.belief[a:b].reshape(shape) * n)
            for q, a, b in zip(part.asked, part.flat.starts, part.flat.starts[1:], strict=False):
                found[self.asked[q]] = solved.potential[a:b].reshape(merged[q].shape)
        progress(1.0)
        return Fitted(
            tree=_joined([part.flat.tree for part in self._parts]), tables=tuple(tables),
            potentials=found, loss=loss, gap=gap, steps=steps,
        )  # fmt: skip

    def _start(
        self, part: _Part, known: Mapping[Clique, NDArray[np.float64]]
    ) -> NDArray[np.float64] | None:
        """Known potentials of a part's measured sets, zeros for new ones; None where none is."""
        sets = [self.asked[q] for q in part.asked]
        if not any(names in known for names in sets):
            return None
        cells = np.diff(part.flat.starts)
        pieces = [
            known[names].ravel() if names in known else np.zeros(size)
            for names, size in zip(sets, cells, strict=True)
        ]
        return np.concatenate(pieces)

    def _merge(self, values: Sequence[NDArray[Any]]) -> tuple[list[NDArray[np.float64]], float]:
        """One table for every measured set, and the loss that no model can avoid."""
        sums: list[Any] = [0.0] * len(self.asked)
        arranged = []
        for q, table, axes, sigma in zip(
            self._set_of, values, self._axes, self._sigmas, strict=True
        ):
            moved = np.transpose(np.asarray(table, dtype=np.float64), axes)
            if not np.isfinite(moved).all():
                raise PrivacyError("A noisy marginal is not finite.", field="values")
            arranged.append(moved)
            sums[q] = sums[q] + moved * (sigma**-2.0 / self._weights[q])
        constant = math.fsum(
            0.5 * float(((moved - sums[q]) ** 2).sum()) / sigma**2
            for q, moved, sigma in zip(self._set_of, arranged, self._sigmas, strict=True)
        )
        return sums, constant


def fit(
    sizes: Mapping[str, int],
    n: int,
    measurements: Sequence[Measurement],
    *,
    last: Sequence[str] = (),
    iterations: int = 1_000,
    tolerance: float = TOLERANCE,
    start: Mapping[Clique, NDArray[np.float64]] | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> Fitted:
    """Fit the model to measurements; post-processing, spends nothing. See `Structure`."""
    structure = Structure(
        sizes, [m.clique for m in measurements], [m.sigma for m in measurements], last=last
    )
    return structure.fit(
        n, [m.values for m in measurements], iterations=iterations, tolerance=tolerance,
        start=start, progress=progress,
    )  # fmt: skip


def _solve(
    part: _Part,
    wanted: NDArray[np.float64],
    precision: NDArray[np.float64],
    iterations: int,
    tolerance: float,
    start: NDArray[np.float64] | None,
    progress: Callable[[float], None],
) -> Solved:
    cells = int(part.flat.layout.cells[-1])
    if not part.asked:
        return _closed(np.zeros(0), np.full(cells, 1.0 / cells), 0.0)
    if len(part.asked) == 1 and cells == len(wanted):  # one table alone: a projection
        nearest = to_simplex(wanted, total=1.0)
        loss = 0.5 * float(precision @ (nearest - wanted) ** 2)
        return _closed(np.log(np.maximum(nearest, _LEAST)), nearest, loss)
    prepare()
    return solve(
        part.flat, part.overlap, wanted, precision, iterations=iterations, tolerance=tolerance,
        start=start, progress=progress,
    )  # fmt: skip


def _closed(potential: NDArray[np.float64], belief: NDArray[np.float64], loss: float) -> Solved:
    return Solved(
        potential=potential, belief=belief, loss=loss, gap=0.0, steps=0, stopped="closed form"
    )


def _subtree(tree: JunctionTree, members: Sequence[int]) -> JunctionTree:
    place = {index: position for position, index in enumerate(members)}
    parents = [tree.parents[index] for index in members]
    return JunctionTree(
        cliques=tuple(tree.cliques[index] for index in members),
        parents=tuple(None if parent is None else place[parent] for parent in parents),
        separators=tuple(tree.separators[index] for index in members),
    )


def _joined(trees: Sequence[JunctionTree]) -> JunctionTree:
    cliques: list[Clique] = []
    parents: list[int | None] = []
    separators: list[Clique] = []
    for tree in trees:
        start = len(cliques)
        cliques += tree.cliques
        parents += [None if parent is None else parent + start for parent in tree.parents]
        separators += tree.separators
    return JunctionTree(
        cliques=tuple(cliques), parents=tuple(parents), separators=tuple(separators)
    )
