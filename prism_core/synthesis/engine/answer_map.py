"""Answers of linear queries as the loss sees them: linear functions of the cells.

A measured table gives one row a cell. A linear query of a set of columns gives the rows of Q,
scaled to entries of at most 1. Potentials live on rows and move the cells along Q' (so the model
stays in the exponential family of what was measured), means of rows are Q times those of cells.
Q is a Kronecker product and is never written out.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.synthesis.engine.flat_tree import positions, starts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.data.linear_queries import LinearQuery


def factors_of(query: LinearQuery) -> tuple[NDArray[np.float64], ...]:
    """The matrices of a query's columns, in units of 1. Shapes (rows, codes)."""
    return tuple(basis.matrix / float(basis.grid) for basis in query.bases)


def applied(
    factors: Sequence[NDArray[np.float64]], table: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The Kronecker product of the factors times a table with one axis for each of them."""
    # Plain products of matrices: the tables are small and many, and `tensordot` takes longer to
    # find out what to multiply than to do so.
    for axis, factor in enumerate(factors[:-1]):
        left, right = table.shape[:axis], table.shape[axis + 1 :]
        flat = table.reshape(math.prod(left), table.shape[axis], math.prod(right))
        table = (factor @ flat).reshape(*left, len(factor), *right)
    *left, last = table.shape
    return (table.reshape(-1, last) @ factors[-1].T).reshape(*left, len(factors[-1]))


@dataclass(frozen=True, kw_only=True)
class _Block:
    """One linear query: where its cells and its rows stand."""

    cells: slice
    rows: slice
    factors: tuple[NDArray[np.float64], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(factor.shape[1] for factor in self.factors)

    @property
    def image(self) -> tuple[int, ...]:
        return tuple(factor.shape[0] for factor in self.factors)


class AnswerMap:
    """The map between the rows and the measured cells of one connected part.

    Args:
        plain: so many first cells are rows themselves: those of measured tables.
        cells: of all measured sets.
        queries: linear queries, each with the position of its set's first cell. Their rows follow
            those of the tables, in this order.
        relations: what says the same twice; None where nothing does.
    """

    def __init__(
        self,
        plain: int,
        cells: int,
        queries: Sequence[tuple[int, LinearQuery]],
        relations: Relations | None = None,
    ) -> None:
        self.plain = plain
        self._relations = relations
        self.cells = cells
        self._blocks: list[_Block] = []
        at = plain
        for first, query in queries:
            factors = factors_of(query)
            size = math.prod(factor.shape[1] for factor in factors)
            self._blocks.append(
                _Block(
                    cells=slice(first, first + size),
                    rows=slice(at, at + query.rows),
                    factors=factors,
                )
            )
            at += query.rows
        self.size = at

    def ties(self) -> NDArray[np.float64]:
        """Linear functions of the rows that are 0 for every change of the model, one a line.

        What a query says of some of its columns, the others summed out, a table or another query
        may say, too. Shape (ties, rows).
        """
        if self._relations is None:
            return np.zeros((0, self.size))
        return self._relations.found(self.size, [block.rows for block in self._blocks])

    def to_cells(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Potentials (or costs) of the cells from those of the rows: Q' times them."""
        found = np.zeros(self.cells)
        found[: self.plain] = rows[: self.plain]
        for block in self._blocks:
            turned = [factor.T for factor in block.factors]
            found[block.cells] += applied(turned, rows[block.rows].reshape(block.image)).ravel()
        return found

    def to_rows(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """Means of the rows from those of the cells: Q times them."""
        return self._map(cells, [block.factors for block in self._blocks])

    def variance(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of every row under the cells' distribution; for tables their mean, which is above it."""
        # Entries of a Kronecker product are products, so its squares are the product of the
        # squares.
        squares = [tuple(factor**2 for factor in block.factors) for block in self._blocks]
        found = self._map(cells, squares)
        found[self.plain :] -= self.to_rows(cells)[self.plain :] ** 2
        # E[x^2] - E[x]^2 of a row that hardly varies may round to below 0.
        return np.maximum(found, 0.0)

    def start(self, tables: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Rows whose potentials are these tables, for blocks whose cells no table measures.

        Args:
            tables: one for each query; a table in the range of Q' is met exactly.
        """
        found = np.zeros(self.size)
        for block, table in zip(self._blocks, tables, strict=True):
            # One by one: the pseudo-inverse of a Kronecker product is the product of theirs.
            back = [np.asarray(np.linalg.pinv(factor.T), np.float64) for factor in block.factors]
            found[block.rows] = applied(back, table.reshape(block.shape)).ravel()
        return found

    def _map(
        self, cells: NDArray[np.float64], factors: Sequence[Sequence[NDArray[np.float64]]]
    ) -> NDArray[np.float64]:
        found = np.empty(self.size)
        found[: self.plain] = cells[: self.plain]
        for block, own in zip(self._blocks, factors, strict=True):
            found[block.rows] = applied(own, cells[block.cells].reshape(block.shape)).ravel()
        return found


@dataclass(frozen=True, kw_only=True)
class Relations:
    """What is measured where, to find what is said twice.

    Attributes:
        sizes: codes of all columns.
        tables: sets that are measured as tables, in the order of their rows.
        queries: linear queries, in the order of theirs.
    """

    sizes: Mapping[str, int]
    tables: tuple[tuple[str, ...], ...]
    queries: tuple[LinearQuery, ...]

    def found(self, size: int, places: Sequence[slice]) -> NDArray[np.float64]:
        """See `AnswerMap.ties`; `places` are the rows of the queries."""
        starts = starts_of(math.prod(self.sizes[name] for name in names) for names in self.tables)
        ties = [np.zeros((0, size))]
        seen: dict[object, NDArray[np.float64]] = {}
        for query, place in zip(self.queries, places, strict=True):
            for axes, own in _margins(query):
                tie = np.zeros((len(own), size))
                tie[:, place] = own
                names = tuple(query.clique[axis] for axis in axes)
                if not names:
                    ties.append(tie)  # the total is known
                    continue
                # The first table is enough: tables are made to agree with each other elsewhere.
                holder = next((q for q, t in enumerate(self.tables) if set(names) <= set(t)), None)
                if holder is not None:
                    at = positions(self.tables[holder], self.sizes, names)
                    factors = factors_of(query)
                    tie[:, starts[holder] : starts[holder + 1]] -= _kron(
                        [factors[axis] for axis in axes]
                    )[:, at]
                    ties.append(tie)
                    continue
                key = names, tuple(query.bases[axis] for axis in axes)
                # Against the first one alone: what ties two later ones follows from that.
                if key in seen:
                    ties.append(tie - seen[key])
                seen.setdefault(key, tie)
        return np.vstack(ties)


def _margins(query: LinearQuery) -> Iterator[tuple[tuple[int, ...], NDArray[np.float64]]]:
    """For each part of a query's columns: how its rows give those of the part alone."""
    every = range(len(query.bases))
    for count in range(len(query.bases) + 1):
        for axes in itertools.combinations(every, count):
            factors = []
            for axis, (basis, rows) in enumerate(zip(query.bases, query.shape, strict=True)):
                if axis in axes:
                    factors.append(np.eye(rows))
                # Without the count of everyone a column cannot be summed out of the answers.
                elif basis.count_rows is not None:
                    factors.append(np.isin(np.arange(rows), basis.count_rows)[None, :] * 1.0)
            if len(factors) == len(query.bases):
                yield axes, _kron(factors)


def _kron(factors: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.ones((1, 1))
    for factor in factors:
        found = np.asarray(np.kron(found, factor), np.float64)
    return found


class QueryAgreement:
    """Projects rows onto those that no table and no query contradicts, in place.

    P projects tables onto agreeing ones (`kernels.agree`), orthogonally in the metric W of the
    precisions. With the ties K, the projection onto those that satisfy them, too, is
    P - N (K N)^+ K P with N = P W^-1 K'.

    Args:
        rows: the map of rows.
        precision: of every row.
        agree: P, in place, on the rows of tables.
    """

    def __init__(
        self,
        rows: AnswerMap,
        precision: NDArray[np.float64],
        agree: Callable[[NDArray[np.float64]], None],
    ) -> None:
        self._plain, self._agree = rows.plain, agree
        self._ties = rows.ties()
        spread = self._ties / precision
        # N of the docstring. P leaves the rows of queries as they are, so it is applied to tables
        # only.
        for line in spread:
            agree(line[: rows.plain])
        self._spread = spread
        # Ties may follow from each other, so the matrix is singular and has a pseudo-inverse only.
        self._inverse = np.linalg.pinv(self._ties @ spread.T, rcond=1e-10, hermitian=True)

    def __call__(self, values: NDArray[np.float64]) -> None:
        """Project these rows."""
        self._agree(values[: self._plain])
        values -= (self._inverse @ (self._ties @ values)) @ self._spread


@dataclass(frozen=True, kw_only=True)
class Moved:
    """A direction: of the potentials of the rows, and what it does to the means of both."""

    move: NDArray[np.float64]
    rows: NDArray[np.float64]
    cells: NDArray[np.float64]


def direction(
    rows: AnswerMap,
    precision: NDArray[np.float64],
    variance: NDArray[np.float64],
    residual: NDArray[np.float64],
    tau: float,
    tolerance: float,
    most: int,
    differentiate: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    agree: Callable[[NDArray[np.float64]], None],
) -> Moved:
    """Solve (Q C Q' + tau / precision) move = residual by conjugate gradients.

    The same iteration as `kernels.direction`, whose matrix has Q = 1; where all rows are those of
    tables, both take the same steps.

    Args:
        rows: the map Q.
        precision: of every row.
        variance: of every row; it stands on the matrix's diagonal.
        residual: right-hand side; it agrees where measurements overlap.
        tau: regularisation.
        tolerance: relative residual at which to stop.
        most: iterations.
        differentiate: how the cells' means move with their potentials: C times it.
        agree: projects rows, in place, onto those that agree.
    """
    left = residual.copy()
    move, moved, cells = np.zeros(rows.size), np.zeros(rows.size), np.zeros(rows.cells)
    search = np.zeros(rows.size)
    old, goal = 1.0, tolerance**2 * float(precision @ residual**2)
    for step in range(most):
        if not float(precision @ left**2) > goal:
            break
        solved = left / (precision * variance + tau)
        agree(solved)
        solved *= precision
        new = float(solved @ left)
        if not new > 0.0:  # what is left is of no direction that moves anything
            break
        search = solved + (new / old if step else 0.0) * search
        image_of_cells = differentiate(rows.to_cells(search))
        image = rows.to_rows(image_of_cells)
        damped = image + tau * search / precision
        curvature = float(search @ damped)
        if not curvature > 0.0:
            break
        share = new / curvature
        move += share * search
        moved += share * image
        cells += share * image_of_cells
        left -= share * damped
        old = new
    return Moved(move=move, rows=moved, cells=cells)
