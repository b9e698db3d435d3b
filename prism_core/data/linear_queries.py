"""Linear queries of a marginal with fine bins: moments, counts between thresholds, products.

A marginal over (X, Y) with 200 bins of X is 200 |Y| noisy cells. What a learner needs of X is
often less: E[phi(X) 1[Y = y]] for a few functions phi. That is Q times the counts, with Q known
beforehand: a Kronecker product of one small matrix a column. All of it follows from the schema.

Entries of Q are whole numbers (real ones are rounded to 1/1024), so queries of integer counts are
integers, integer noise hides them, and the sensitivity is that of what is really measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from prism_core.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.data.schema.schema import Schema
    from prism_core.privacy.contribution import Contribution

BasisKind: TypeAlias = Literal["levels", "moments", "thresholds", "value"]
LinearKind: TypeAlias = Literal["moments", "thresholds", "product"]

BASES: tuple[BasisKind, ...] = get_args(BasisKind)
GRID = 1_024
"""Real entries of a basis are rounded to multiples of 1 / GRID."""
_BLOCK = 256  # columns compared with all others at once


@dataclass(frozen=True, kw_only=True)
class Basis:
    """The functions of one column that a query is made of; public.

    With B bins, x is the place of a bin's middle among them, scaled from -1 to 1: the value itself
    where bins are equal, its logarithm where they are log bins.

    Attributes:
        kind: `levels` (an indicator a code: the column as it is), `moments` (1, x, x^2),
            `thresholds` (an indicator of each group of bins between neighbouring thresholds: the
            counts above a threshold are sums of them), `value` (x alone). `moments` and
            `thresholds` have an indicator of every special value and of missing, too, where the
            column has them.
        size: codes of the column.
        valueless: how many codes, the last ones, are special values or missing; they have no x.
        starts: of `thresholds`: the first bin of every group.
    """

    kind: BasisKind
    size: int
    valueless: int = 0
    starts: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in BASES:
            raise PlanError(f"A basis must be one of {', '.join(BASES)}.", field="bases")
        if not self.bins >= (1 if self.kind == "levels" else 2):
            raise PlanError("A linear query needs a column with two bins or more.", field="bases")
        groups = self.starts
        if self.kind == "thresholds" and not (
            groups[:1] == (0,) and sorted(set(groups)) == list(groups) and groups[-1] < self.bins
        ):
            raise PlanError("Thresholds must increase and lie between the bins.", field="bases")

    @property
    def bins(self) -> int:
        """Codes without special values and missing."""
        return self.size - self.valueless

    @property
    def grid(self) -> int:
        """What stands for 1 in `matrix`."""
        return GRID if self.kind in ("moments", "value") else 1

    @cached_property
    def matrix(self) -> NDArray[np.int64]:
        """Shape (rows, codes), whole numbers in units of 1 / grid."""
        if self.kind == "levels":
            return np.eye(self.size, dtype=np.int64)
        if self.kind == "thresholds":
            group = np.searchsorted(self.starts, np.arange(self.bins), side="right") - 1
            rows = (np.arange(len(self.starts))[:, None] == group).astype(np.int64)
        else:
            x = (2.0 * np.arange(self.bins) + 1.0) / self.bins - 1.0
            powers = (1,) if self.kind == "value" else (0, 1, 2)
            rows = np.array([np.rint(GRID * x**power) for power in powers], dtype=np.int64)
        # What has no value adds nothing to these sums; its own indicators follow below.
        rows = np.pad(rows, ((0, 0), (0, self.valueless)))
        if self.kind == "value":
            return rows
        return np.vstack([rows, self.grid * np.eye(self.size, dtype=np.int64)[self.bins :]])

    @property
    def count_rows(self) -> tuple[int, ...] | None:
        """Rows that add up to 1 for every code; None where none do."""
        if self.kind == "value":
            return None
        if self.kind == "moments":
            # Row 0 is the 1 of the moments; behind x and x^2 stand the indicators of what has no
            # value.
            return (0, *range(3, 3 + self.valueless))
        return tuple(range(self.matrix.shape[0]))


@dataclass(frozen=True, kw_only=True)
class LinearQuery:
    """Q times the counts of a marginal, Q the Kronecker product of its columns' bases.

    Attributes:
        clique: columns of the marginal, in schema order.
        bases: one for each of them.
    """

    clique: tuple[str, ...]
    bases: tuple[Basis, ...]

    def __post_init__(self) -> None:
        if len(self.bases) != len(self.clique) or not self.clique:
            raise PlanError("A linear query needs a basis for each of its columns.", field="bases")

    @property
    def kind(self) -> LinearKind:
        """The family that it belongs to."""
        kinds = {basis.kind for basis in self.bases}
        if "value" in kinds:
            return "product"
        return "thresholds" if "thresholds" in kinds else "moments"

    @property
    def shape(self) -> tuple[int, ...]:
        """Of what is measured: one axis a column."""
        return tuple(basis.matrix.shape[0] for basis in self.bases)

    @property
    def rows(self) -> int:
        """How many numbers are measured."""
        return math.prod(self.shape)

    @property
    def grid(self) -> int:
        """What stands for 1 in what is measured."""
        return math.prod(basis.grid for basis in self.bases)

    def of(self, counts: NDArray[Any]) -> NDArray[np.int64]:
        """Q times the counts, exactly. Shape of the domain to `shape`.

        Reads what it is given; spends nothing by itself.
        """
        found = counts.astype(np.int64)
        for axis, basis in enumerate(self.bases):
            if basis.kind != "levels":
                # `tensordot` puts the new axis in front.
                found = np.moveaxis(np.tensordot(basis.matrix, found, (1, axis)), 0, axis)
        return np.ascontiguousarray(found)

    @property
    def matrix(self) -> NDArray[np.int64]:
        """Q as one matrix of whole numbers, shape (rows, cells); for small queries and for mbi."""
        found = np.ones((1, 1), dtype=np.int64)
        for basis in self.bases:
            found = np.kron(found, basis.matrix)
        return found

    @cached_property
    def sensitivity(self) -> float:
        """The l2 sensitivity under replace-one, in units of 1 / grid; from Q alone, rounded up.

        Replacing one row takes 1 from one cell a of the counts and adds 1 to another b, so the
        answer moves by Q e_b - Q e_a, and the sensitivity is the largest norm of a difference of
        two columns of Q (attained by any table with a row in a). Columns are Kronecker products
        q (x) e_y, q a column of the bases that are not `levels` and y the levels of the others. For
        different y the two are orthogonal: |Q e_b - Q e_a|^2 = |q_a|^2 + |q_b|^2, at most twice the
        largest |q|^2, and that for q_a = q_b, the largest. For equal y it is |q_b - q_a|^2, whose
        maximum over all pairs is computed. All of it in integers; only the root is rounded, up.

        Raises:
            PlanError: when no row could change the answer.
        """
        others = [basis.matrix for basis in self.bases if basis.kind != "levels"]
        columns = np.ones((1, 1), dtype=np.int64)
        for matrix in others:
            columns = np.kron(columns, matrix)
        largest = _widest(columns)
        if any(basis.kind == "levels" and basis.size > 1 for basis in self.bases):
            largest = max(largest, 2 * int((columns**2).sum(axis=0).max()))
        if largest <= 0:
            raise PlanError("This query is the same whatever the rows hold.", field="bases")
        return _root(largest)

    def moved(self, contribution: Contribution) -> float:
        """`sensitivity` for people who add so much.

        Rows that share one weight of M units move the answer by at most M times as much: they add
        a mean of columns of Q, M times, and the distance of two means is largest for two columns.

        Of 1 to m rows that count one each, a person adds j x with x a mean of columns of Q. The
        distance |j x - j' x'| is convex in x, in x' and in each number of rows, so it is largest
        for two columns a and b, and for 1 or m rows: m |Q e_a - Q e_b|, or |m Q e_a - Q e_b|, which
        is the larger one where columns are alike. For different levels y the two are orthogonal,
        so m rows each are the worst: 2 m^2 |q|^2 at most. In integers; the root is rounded up.
        """
        if contribution.single:
            return self.sensitivity
        if contribution.shared:
            return math.nextafter(contribution.most * self.sensitivity, math.inf)
        columns = np.ones((1, 1), dtype=np.int64)
        for basis in self.bases:
            if basis.kind != "levels":
                columns = np.kron(columns, basis.matrix)
        most = contribution.most
        largest = max(most**2 * _widest(columns), _widest(columns, most))
        if any(basis.kind == "levels" and basis.size > 1 for basis in self.bases):
            largest = max(largest, 2 * most**2 * int((columns**2).sum(axis=0).max()))
        return _root(largest)

    @property
    def unit(self) -> float:
        """Sensitivity beside that of counts, sqrt(2), with rows in units of 1, not of 1 / grid."""
        return self.sensitivity / self.grid / math.sqrt(2.0)

    def unit_of(self, contribution: Contribution) -> float:
        """`unit` for people who add so much."""
        if contribution.single:
            return self.unit
        return self.moved(contribution) / self.grid / contribution.l2

    def spec(self) -> list[str]:
        """What beside the schema and the clique names it: a text for each column."""
        return [
            f"thresholds {len(basis.starts) - 1}" if basis.kind == "thresholds" else basis.kind
            for basis in self.bases
        ]


def _root(square: int) -> float:
    """The root of a whole number, rounded up."""
    root = math.isqrt(square)
    # The float root is off by less than a unit in its last place, so one step up is never too
    # small.
    return float(root) if root * root == square else math.nextafter(math.sqrt(square), math.inf)


def _widest(columns: NDArray[np.int64], times: int = 1) -> int:
    """The largest squared distance between two columns, the first of them `times` as long."""
    # In one row the least and the largest entry are furthest apart: no pair has to be looked at.
    if columns.shape[0] == 1 and times == 1:
        return int(columns.max() - columns.min()) ** 2
    # Equal columns are as far from all others, so each is looked at once.
    unique = np.unique(columns, axis=1)
    norms = (unique**2).sum(axis=0)
    best = 0
    # In blocks: all pairs at once would take memory with the square of the columns.
    for start in range(0, unique.shape[1], _BLOCK):
        some = unique[:, start : start + _BLOCK]
        own = times**2 * norms[start : start + _BLOCK, None]
        apart = own + norms - 2 * times * (some.T @ unique)
        best = max(best, int(apart.max()))
    return best


def basis(schema: Schema, name: str, text: str) -> Basis:
    """The basis that a `spec` names for a column of the schema.

    Raises:
        PlanError: for an unknown one, or a column without bins.
    """
    column = schema[name]
    kind, _, number = text.partition(" ")
    if kind == "levels":
        return Basis(kind="levels", size=column.size, valueless=len(column.valueless_codes))
    if kind not in BASES or not column.binned:
        raise PlanError(
            f"{name!r} cannot be asked for {kind!r}: moments and thresholds are of numeric and "
            "date columns.",
            field="numeric_queries",
        )
    if kind != "thresholds":
        return Basis(kind=kind, size=column.size, valueless=len(column.valueless_codes))
    # The length is looked at first: int() of thousands of digits is slow, or refused.
    if not number.isdecimal() or len(number) > 9 or not int(number) >= 1:
        raise PlanError("thresholds must be a whole number above 0.", field="thresholds")
    # A bin of the lower bound alone, such as that of zero, stays a group of its own.
    alone = int(column.bin_bounds(0)[0] == column.bin_bounds(0)[1])
    bins = column.level_count
    groups = max(1, min(int(number) + 1, bins) - alone)
    starts = {alone + (bins - alone) * i // groups for i in range(groups)} | {0}
    return Basis(
        kind="thresholds",
        size=column.size,
        valueless=len(column.valueless_codes),
        starts=tuple(sorted(starts)),
    )


def linear_query(schema: Schema, clique: Sequence[str], spec: Sequence[str]) -> LinearQuery:
    """The query that a `spec` names.

    Raises:
        PlanError: when it names none.
    """
    if len(spec) != len(clique):
        raise PlanError("A linear query needs a basis for each of its columns.", field="bases")
    pairs = zip(clique, spec, strict=True)
    return LinearQuery(
        clique=tuple(clique), bases=tuple(basis(schema, name, text) for name, text in pairs)
    )


def query_with_bases(
    schema: Schema, clique: Sequence[str], wanted: Mapping[str, str]
) -> LinearQuery | None:
    """The query over a clique with these bases, the other columns by level; None for counts."""
    if not set(clique).intersection(wanted):
        return None
    return linear_query(schema, clique, [wanted.get(name, "levels") for name in clique])
