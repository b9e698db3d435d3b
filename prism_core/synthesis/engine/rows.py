"""What the loss looks at where a measurement is a linear query: rows, functions of the cells.

A measured table gives one row a cell. A linear query of a set of columns gives the rows of Q,
scaled to entries of at most 1. Potentials live on rows and move the cells along Q' (so the model
stays in the exponential family of what was measured), means of rows are Q times those of cells.
Q is a Kronecker product and is never written out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prism_core.data.linear import LinearQuery


def factors_of(query: LinearQuery) -> tuple[NDArray[np.float64], ...]:
    """The matrices of a query's columns, in units of 1. Shapes (rows, codes)."""
    return tuple(basis.matrix / float(basis.grid) for basis in query.bases)


def applied(
    factors: Sequence[NDArray[np.float64]], table: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The Kronecker product of the factors times a table with one axis for each of them."""
    for axis, factor in enumerate(factors):
        table = np.moveaxis(np.tensordot(factor, table, (1, axis)), 0, axis)
    return table


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


class Rows:
    """The map between the rows and the measured cells of one connected part.

    Args:
        plain: so many first cells are rows themselves: those of measured tables.
        cells: of all measured sets.
        queries: linear queries, each with the position of its set's first cell. Their rows follow
            those of the tables, in this order.
    """

    def __init__(self, plain: int, cells: int, queries: Sequence[tuple[int, LinearQuery]]) -> None:
        self.plain = plain
        self.cells = cells
        self._blocks: list[_Block] = []
        at = plain
        for first, query in queries:
            factors = factors_of(query)
            size = math.prod(factor.shape[1] for factor in factors)
            self._blocks.append(
                _Block(
                    cells=slice(first, first + size), rows=slice(at, at + query.rows),
                    factors=factors,
                )
            )  # fmt: skip
            at += query.rows
        self.size = at

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
        squares = [tuple(factor**2 for factor in block.factors) for block in self._blocks]
        found = self._map(cells, squares)
        found[self.plain :] -= self.to_rows(cells)[self.plain :] ** 2
        return np.maximum(found, 0.0)

    def start(self, tables: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Rows whose potentials are these tables, for blocks whose cells no table measures.

        Args:
            tables: one for each query; a table in the range of Q' is met exactly.
        """
        found = np.zeros(self.size)
        for block, table in zip(self._blocks, tables, strict=True):
            back = [np.linalg.pinv(factor.T) for factor in block.factors]
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
class Moved:
    """A direction: of the potentials of the rows, and what it does to the means of both."""

    move: NDArray[np.float64]
    rows: NDArray[np.float64]
    cells: NDArray[np.float64]


def direction(
    rows: Rows,
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
        residual: right-hand side; its tables agree where they overlap.
        tau: regularisation.
        tolerance: relative residual at which to stop.
        most: iterations.
        differentiate: how the cells' means move with their potentials: C times it.
        agree: projects the rows of tables, in place, onto those that agree.
    """
    left = residual.copy()
    move, moved, cells = np.zeros(rows.size), np.zeros(rows.size), np.zeros(rows.cells)
    search = np.zeros(rows.size)
    old, goal = 1.0, tolerance**2 * float(precision @ residual**2)
    for step in range(most):
        if not float(precision @ left**2) > goal:
            break
        solved = left / (precision * variance + tau)
        agree(solved[: rows.plain])
        solved *= precision
        new = float(solved @ left)
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
