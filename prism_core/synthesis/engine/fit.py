"""From noisy marginals to a calibrated junction tree, part by part."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.data.linear_queries import LinearQuery
from prism_core.errors import PrivacyError
from prism_core.planning.tree.junction_tree import (
    Clique,
    JunctionTree,
    junction_tree,
    maximal_cliques,
)
from prism_core.synthesis.engine.answer_map import AnswerMap, Relations
from prism_core.synthesis.engine.cache import prepare
from prism_core.synthesis.engine.flat_tree import FlatTree, Overlap, flatten, overlap
from prism_core.synthesis.engine.solver import Solved, solve
from prism_core.synthesis.projection import to_simplex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.synthesis.measure import Measurement

TOLERANCE = 1e-6
"""Share of the loss that may be missing when a fit stops."""

_LEAST = 1e-300  # stands for 0 where a logarithm is handed out


@dataclass(frozen=True, kw_only=True)
class EngineFit:
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
class FitPrior:
    """A model that a fit stays near to: the fit minimises loss + weight KL(P || prior).

    Attributes:
        potentials: `Fitted.potentials` of a fit to some of the measurements.
        weight: above 0; so many people as the prior's word counts.
        moves: sets whose measurements the prior does not know, in any order of columns; None: those
            that have no potentials.
    """

    potentials: Mapping[Clique, NDArray[np.float64]] = field(repr=False)
    weight: float
    moves: frozenset[frozenset[str]] | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.weight < math.inf:
            raise ValueError("weight must be above 0 and finite")

    def moved_by(self, names: Clique) -> bool:
        """Whether something is measured of a set that the prior does not know.

        Of a set that it knows by a linear query, counts may be new.
        """
        if self.moves is None:
            return names not in self.potentials
        return frozenset(names) in self.moves


@dataclass(frozen=True, kw_only=True)
class _Part:
    """A connected part of the measured graph: its tree and where its cells stand.

    `asked` names its sets, those that are measured as tables first; `linear` the measurements that
    are linear queries, and `rows` what they see of the cells (None where there are none).
    """

    flat: FlatTree
    overlap: Overlap
    asked: tuple[int, ...]
    linear: tuple[int, ...] = ()
    rows: AnswerMap | None = None


class Structure:
    """What a fit needs to know of the graph; fits with other noise share it.

    Args:
        sizes: codes per column, in schema order.
        cliques: measured sets of columns, in any order and as often as measured.
        sigmas: noise of each, in counts; of a linear query in units of 1 / grid.
        queries: what of each is measured; its counts where None, everywhere by default.
        last: columns eliminated last by the bounded triangulation.
    """

    def __init__(
        self,
        sizes: Mapping[str, int],
        cliques: Sequence[Clique],
        sigmas: Sequence[float],
        *,
        queries: Sequence[LinearQuery | None] | None = None,
        last: Sequence[str] = (),
    ) -> None:
        place = {name: position for position, name in enumerate(sizes)}
        self.sizes = dict(sizes)
        self.cliques = tuple(cliques)
        given = tuple(queries) if queries is not None else (None,) * len(self.cliques)
        self._sigmas = tuple(
            # `_merge` divides a query's answers by its grid; their noise has to be in the same
            # unit.
            sigma if query is None else sigma / query.grid
            for sigma, query in zip(sigmas, given, strict=True)
        )
        self._axes = [
            tuple(sorted(range(len(clique)), key=lambda i, c=clique: place[c[i]]))
            for clique in cliques
        ]
        self._queries = [
            None if query is None else _turned(query, axes)
            for query, axes in zip(given, self._axes, strict=True)
        ]
        # One set may be measured in two orders of its columns; in schema order they share a
        # potential.
        sets = [
            tuple(clique[i] for i in axes) for clique, axes in zip(cliques, self._axes, strict=True)
        ]
        index: dict[Clique, int] = {}
        self._set_of = [index.setdefault(names, len(index)) for names in sets]
        self.asked = tuple(index)
        # Several measurements of one set are one, of the sum of their precisions.
        self._weights = [0.0] * len(index)
        for q, sigma, query in zip(self._set_of, self._sigmas, self._queries, strict=True):
            if query is None:
                self._weights[q] += sigma**-2.0
        # Maximal cliques alone: a measured set within another one costs no cells of its own.
        self.tree = junction_tree(maximal_cliques(sizes, self.asked, last=last))
        self._parts = self._split()

    def _split(self) -> list[_Part]:
        roots: list[int] = []
        for index, parent in enumerate(self.tree.parents):
            # Parents come first, so a parent's root is known by now.
            roots.append(index if parent is None else roots[parent])
        home = {name: roots[i] for i, clique in enumerate(self.tree.cliques) for name in clique}
        asked: dict[int, list[int]] = {root: [] for root in roots}
        for q, names in enumerate(self.asked):
            # All columns of a measured set stand in one clique, so any of them tells the part.
            asked[home[names[0]]].append(q)
        parts = []
        for root, some in asked.items():
            members = [index for index, other in enumerate(roots) if other == root]
            parts.append(self._part(_subtree(self.tree, members), some))
        return parts

    def _part(self, tree: JunctionTree, some: Sequence[int]) -> _Part:
        # Cells of tables are rows of the loss themselves: standing first, they are a plain prefix.
        tables = [q for q in some if self._weights[q] > 0.0]
        asked = [*tables, *(q for q in some if self._weights[q] == 0.0)]
        flat = flatten(self.sizes, tree, [self.asked[q] for q in asked])
        # `starts` has one entry more than there are sets: where the last one ends.
        first = dict(zip(asked, flat.starts.tolist(), strict=False))
        linear: list[int] = []
        queries: list[tuple[int, LinearQuery]] = []
        for m, (q, query) in enumerate(zip(self._set_of, self._queries, strict=True)):
            if query is not None and q in first:
                linear.append(m)
                queries.append((first[q], query))
        sets = [self.asked[q] for q in tables]
        relations = Relations(
            sizes=self.sizes, tables=tuple(sets), queries=tuple(query for _, query in queries)
        )
        plain, cells = int(flat.starts[len(tables)]), int(flat.starts[-1])
        return _Part(
            flat=flat,
            overlap=overlap(self.sizes, sets, [self._weights[q] for q in tables]),
            asked=tuple(asked),
            linear=tuple(linear),
            rows=AnswerMap(plain, cells, queries, relations) if queries else None,
        )

    def fit(
        self,
        n: int,
        values: Sequence[NDArray[Any]],
        *,
        iterations: int = 1_000,
        tolerance: float = TOLERANCE,
        start: Mapping[Clique, NDArray[np.float64]] | None = None,
        prior: FitPrior | None = None,
        progress: Callable[[float], None] = lambda _: None,
    ) -> EngineFit:
        """Fit the model to noisy counts; post-processing, spends nothing.

        Args:
            n: training rows; the model's total.
            values: noisy counts of every clique, in the order given at birth.
            iterations: at most so many steps for a part.
            tolerance: share of the loss at which to stop; see `solver.solve`.
            start: `Fitted.potentials` of a fit to fewer measurements, to begin at.
            prior: pulls the parts that a fit to fewer measurements knows in part.
            progress: called with the share done; may raise to stop.
        """
        # Not `n <= 0`, which lets NaN through.
        if not n > 0:
            raise ValueError("n must be above 0")
        merged, answers, constant = self._merge(values)
        tables: list[NDArray[np.float64]] = []
        found: dict[Clique, NDArray[np.float64]] = {}
        loss, gap, steps, done = constant, 0.0, 0, 0
        # Every step of the solver passes every cell, so cells are a fair share of the time.
        cells = sum(int(part.flat.layout.cells[-1]) for part in self._parts)
        for part in self._parts:
            own = int(part.flat.layout.cells[-1])
            wanted, precision = self._observed(part, merged, answers, float(n))
            near = self._prior(part, prior)
            solved = _solve(
                part,
                wanted,
                precision,
                iterations,
                tolerance,
                self._start(part, start or {}, near),
                near,
                lambda share, done=done, own=own: progress((done + share * own) / cells),
            )
            done += own
            loss, gap, steps = loss + solved.loss, gap + solved.gap, steps + solved.steps
            for shape, a, b in zip(
                part.flat.shapes, part.flat.layout.cells, part.flat.layout.cells[1:], strict=False
            ):
                tables.append(solved.belief[a:b].reshape(shape) * n)
            cells_of = (
                solved.potential if part.rows is None else part.rows.to_cells(solved.potential)
            )
            # The solver hands out what is added to the prior; callers want the whole.
            if near is not None:
                cells_of = cells_of + near[0]
            for q, a, b in zip(part.asked, part.flat.starts, part.flat.starts[1:], strict=False):
                found[self.asked[q]] = cells_of[a:b].reshape(self._shape(q))
        progress(1.0)
        return EngineFit(
            tree=_joined([part.flat.tree for part in self._parts]),
            tables=tuple(tables),
            potentials=found,
            loss=loss,
            gap=gap,
            steps=steps,
        )

    def _prior(
        self, part: _Part, prior: FitPrior | None
    ) -> tuple[NDArray[np.float64], float] | None:
        """The prior's potentials and weight, for a part that holds sets known to it, and others."""
        if prior is None or not any(prior.moved_by(self.asked[q]) for q in part.asked):
            return None
        pieces = self._known(part, prior.potentials)
        return None if pieces is None else (np.concatenate(pieces), prior.weight)

    def _start(
        self,
        part: _Part,
        known: Mapping[Clique, NDArray[np.float64]],
        prior: tuple[NDArray[np.float64], float] | None,
    ) -> NDArray[np.float64] | None:
        """Where to begin: known potentials, less the prior's; None where none is known."""
        pieces = self._known(part, known)
        if pieces is None:
            return None
        if prior is not None:
            ends = part.flat.starts[1:-1]
            less = np.split(prior[0], ends)
            pieces = [piece - other for piece, other in zip(pieces, less, strict=True)]
        if part.rows is None:
            return np.concatenate(pieces)
        # A set that a table measures holds its potentials whole; of the others the first query of
        # a set takes them, as far as they are of its kind.
        free = {
            q: piece for q, piece in zip(part.asked, pieces, strict=True) if self._weights[q] == 0.0
        }
        blank = np.zeros(0)
        begun = part.rows.start(
            [
                piece
                if (piece := free.pop(self._set_of[m], blank)).size
                else np.zeros(math.prod(self._shape(self._set_of[m])))
                for m in part.linear
            ]
        )
        begun[: part.rows.plain] = np.concatenate([*pieces, blank])[: part.rows.plain]
        return begun

    def _known(
        self, part: _Part, known: Mapping[Clique, NDArray[np.float64]]
    ) -> list[NDArray[np.float64]] | None:
        """Known potentials of a part's measured sets, zeros for new ones; None where none is."""
        sets = [self.asked[q] for q in part.asked]
        if not any(names in known for names in sets):
            return None
        return [
            known[names].ravel() if names in known else np.zeros(math.prod(self._shape(q)))
            for q, names in zip(part.asked, sets, strict=True)
        ]

    def _shape(self, q: int) -> tuple[int, ...]:
        return tuple(self.sizes[name] for name in self.asked[q])

    def _observed(
        self,
        part: _Part,
        merged: Sequence[NDArray[np.float64]],
        answers: Mapping[int, NDArray[np.float64]],
        n: float,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What was measured over n and its precision, row by row: tables, then linear queries."""
        tables = [q for q in part.asked if self._weights[q] > 0.0]
        pieces = [merged[q].ravel() / n for q in tables]
        weights = [self._weights[q] for q in tables]
        pieces += [answers[m].ravel() / n for m in part.linear]
        weights += [self._sigmas[m] ** -2.0 for m in part.linear]
        lengths = [len(piece) for piece in pieces]
        # The misfit is a share of n, the noise a count: hence (n / sigma)^2.
        precision = np.repeat(np.array(weights, dtype=np.float64) * n**2, lengths)
        # The empty piece is for a part without measurements: numpy concatenates no empty list.
        return np.concatenate([*pieces, np.zeros(0)]), precision

    def _merge(
        self, values: Sequence[NDArray[Any]]
    ) -> tuple[list[NDArray[np.float64]], dict[int, NDArray[np.float64]], float]:
        """One table for every set measured as one, answers to linear queries, constant loss."""
        sums: list[Any] = [0.0] * len(self.asked)
        answers: dict[int, NDArray[np.float64]] = {}
        arranged: list[tuple[int, NDArray[np.float64], float]] = []
        for m, (q, table, axes, sigma) in enumerate(
            zip(self._set_of, values, self._axes, self._sigmas, strict=True)
        ):
            moved = np.transpose(np.asarray(table, dtype=np.float64), axes)
            if not np.isfinite(moved).all():
                raise PrivacyError("A noisy marginal is not finite.", field="values")
            query = self._queries[m]
            if query is not None:
                answers[m] = moved / query.grid
                continue
            arranged.append((q, moved, sigma))
            sums[q] = sums[q] + moved * (sigma**-2.0 / self._weights[q])
        # What repeated measurements of a set say differently: no model can lower it, but the
        # reported loss has to hold it.
        constant = math.fsum(
            0.5 * float(((moved - sums[q]) ** 2).sum()) / sigma**2 for q, moved, sigma in arranged
        )
        return sums, answers, constant


def _turned(query: LinearQuery, axes: Sequence[int]) -> LinearQuery:
    """The query with its columns in another order."""
    return LinearQuery(
        clique=tuple(query.clique[i] for i in axes), bases=tuple(query.bases[i] for i in axes)
    )


def fit(
    sizes: Mapping[str, int],
    n: int,
    measurements: Sequence[Measurement],
    *,
    last: Sequence[str] = (),
    iterations: int = 1_000,
    tolerance: float = TOLERANCE,
    start: Mapping[Clique, NDArray[np.float64]] | None = None,
    prior: FitPrior | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> EngineFit:
    """Fit the model to measurements; post-processing, spends nothing. See `Structure`."""
    structure = Structure(
        sizes,
        [m.clique for m in measurements],
        [m.sigma for m in measurements],
        last=last,
        queries=[m.query for m in measurements],
    )
    return structure.fit(
        n,
        [m.values for m in measurements],
        iterations=iterations,
        tolerance=tolerance,
        start=start,
        prior=prior,
        progress=progress,
    )


def _solve(
    part: _Part,
    wanted: NDArray[np.float64],
    precision: NDArray[np.float64],
    iterations: int,
    tolerance: float,
    start: NDArray[np.float64] | None,
    prior: tuple[NDArray[np.float64], float] | None,
    progress: Callable[[float], None],
) -> Solved:
    cells = int(part.flat.layout.cells[-1])
    # Nothing measured: the distribution of greatest entropy is the uniform one.
    if not part.asked:
        return _closed(np.zeros(0), np.full(cells, 1.0 / cells), 0.0)
    # Only where the table is the whole clique does projecting it settle every cell.
    alone = part.rows is None and len(part.asked) == 1 and cells == len(wanted)
    if alone:  # one table: a projection
        # All its cells have the same precision, so the nearest distribution has the least loss.
        nearest = to_simplex(wanted, total=1.0)
        loss = 0.5 * float(precision @ (nearest - wanted) ** 2)
        return _closed(np.log(np.maximum(nearest, _LEAST)), nearest, loss)
    # numba looks for its cache folder when it is imported, which the solver does first of all.
    prepare()
    return solve(
        part.flat,
        part.overlap,
        wanted,
        precision,
        iterations=iterations,
        tolerance=tolerance,
        start=start,
        rows=part.rows,
        prior=prior,
        progress=progress,
    )


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
