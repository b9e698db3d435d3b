"""What is to be learned about a column, and within which public bounds. All of it is declared."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from prism_core.data.schema.codebook_source import CodebookSource, check_codebook
from prism_core.data.schema.column import Column
from prism_core.data.schema.log_bins import log_cuts
from prism_core.data.schema.looks import Looks, check_looks
from prism_core.data.schema.schema import Provenance, check_prior
from prism_core.errors import SchemaError
from prism_core.privacy.contribution import MOST_ROWS, MOST_SHARED, Weighting
from prism_core.privacy.learning_charge import ROWS_SUBJECT, LearningCharge

if TYPE_CHECKING:
    from prism_core.data.schema.level import Level

Scale: TypeAlias = Literal["equal", "log"]
SCALES: tuple[Scale, ...] = get_args(Scale)
MAX_CELLS = 4_096
MAX_BINS = 256


@dataclass(frozen=True, kw_only=True)
class NumericRequest:
    """Bounds and quantile bins of a column, to be learned inside wide public bounds.

    Attributes:
        name: the header in the table.
        lower: smallest value anybody could have, known without the rows (dates: days since
            1970-01-01). Smaller values are clipped.
        upper: largest such value.
        kind: numeric or date.
        bins: most bins wanted; fewer come out where values repeat or noise covers them.
        cells: of the public grid that is counted. More cells: finer edges, more noise.
        scale: `equal` cells, or `log` for quantities of many magnitudes.
        unit: where `log` cells turn from equal to growing: the smallest magnitude that matters.
        tail: share of the values that the learned bounds leave outside at each end by design;
            they are clipped to the ends. Smaller is wider.
        decimals: of the values; 0 for integers, None for full precision. Dates have 0.
        nullable: whether a cell may be empty; a declared fact, not a learned one.
        fill: what empty cells become when not nullable.
        special: values that are no numbers, as in `Column`; they are counted beside the grid and
            decide on no bound and no edge.
        description: what the column means, for people.
        value_labels: words for special values, as in `Column`.

    Raises:
        SchemaError: when the request is not usable; the message names the column.
    """

    name: str
    lower: float
    upper: float
    kind: Literal["numeric", "date"] = "numeric"
    bins: int = 8
    cells: int = 256
    scale: Scale = "equal"
    unit: float = 1.0
    tail: float = 0.005
    decimals: int | None = None
    nullable: bool = False
    fill: float | None = None
    special: tuple[Level, ...] = ()
    description: str = ""
    value_labels: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.kind == "date":
            object.__setattr__(self, "decimals", 0)
        if self.scale not in SCALES:
            raise self._error("scale", f"scale must be one of {', '.join(SCALES)}")
        for part, value, least, most in (
            ("bins", self.bins, 1, MAX_BINS),
            ("cells", self.cells, 2, MAX_CELLS),
        ):
            if not _whole(value) or not least <= value <= most:
                raise self._error(
                    part, f"{part} must be a whole number from {least} to {most:,} when learned"
                )
        if not 0.0 < self.unit < math.inf:
            raise self._error("unit", "unit must be a number above 0")
        if not 0.0 <= self.tail <= 0.1:
            raise self._error("tail", "tail must be a share from 0 to 0.1, such as 0.005")
        # Checks names, bounds and decimals; the grid is checked as a column of its own.
        self.column(self.lower, self.upper, ())
        _ = self.grid

    def _error(self, part: str, text: str) -> SchemaError:
        return SchemaError(f"Column {self.name!r}: {text}.", field=f"{self.name}.learn.{part}")

    def column(self, lower: float, upper: float, edges: tuple[float, ...]) -> Column:
        """The column with these bounds and edges."""
        return Column(
            name=self.name,
            kind=self.kind,
            lower=lower,
            upper=upper,
            edges=edges,
            decimals=self.decimals,
            nullable=self.nullable,
            fill=self.fill,
            special=self.special,
            description=self.description,
            value_labels=self.value_labels,
        )

    @cached_property
    def grid(self) -> Column:
        """The public grid as a column: cell 0 is {lower}, the last codes are no numbers.

        A cell of its own for the lower bound finds columns that are mostly 0. A cell that would
        hold nothing but special values is one with its neighbour.
        """
        outer = self.column(self.lower, self.upper, ())
        lower, upper = outer.bounds
        cuts = self._cuts(lower, upper)
        if self.decimals is not None:
            scale = 10**self.decimals
            if not (lower * scale).is_integer() or not (upper * scale).is_integer():
                raise self._error("lower", f"the bounds must have {self.decimals} decimals")
            # Edges are values that can occur, with the decimals of the column.
            cuts = np.round(cuts * scale) / scale
        # Rounded cuts may meet each other or a bound.
        inside = np.unique(cuts[(cuts > lower) & (cuts < upper)])
        edges = outer.roomy((lower, *(float(cut) for cut in inside)))
        return Column(
            name=self.name,
            kind=self.kind,
            lower=lower,
            upper=upper,
            edges=edges,
            decimals=self.decimals,
            # Whatever the column declares: what is no number has a cell of its own, and moves no
            # bound.
            nullable=True,
            special=self.special,
        )

    def _cuts(self, lower: float, upper: float) -> np.ndarray:
        if self.scale == "equal":
            steps = np.arange(1, self.cells) / self.cells
            # Not lower + (upper - lower) * steps: the difference of two huge bounds may overflow.
            return lower * (1.0 - steps) + upper * steps
        return log_cuts(lower, upper, self.cells, self.unit)


@dataclass(frozen=True, kw_only=True)
class CategoryRequest:
    """Names of categories nobody can list beforehand, to be learned by a stable histogram.

    Attributes:
        name: the header in the table.
        other: the level for everything that is not released; always one of the levels.
        max_levels: most names that become levels: those with the largest noisy counts.
        nullable: whether a cell may be empty; else empty cells become `other`.
        description: what the column means, for people.

    Raises:
        SchemaError: when the request is not usable; the message names the column.
    """

    name: str
    other: str = "other"
    max_levels: int = 100
    nullable: bool = False
    description: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.other, str):
            raise SchemaError(
                f"Column {self.name!r}: other must be a text.", field=f"{self.name}.other"
            )
        if not _whole(self.max_levels) or not 1 <= self.max_levels <= 1_000:
            raise SchemaError(
                f"Column {self.name!r}: max_levels must be a whole number from 1 to 1,000.",
                field=f"{self.name}.learn.max_levels",
            )
        self.column(())  # checks the rest

    def column(self, names: tuple[str, ...]) -> Column:
        """The column with these levels and `other`."""
        return Column(
            name=self.name,
            kind="categorical",
            levels=(*names, self.other.strip()),
            nullable=self.nullable,
            fill=None if self.nullable else self.other.strip(),
            other=self.other.strip(),
            description=self.description,
        )


Request: TypeAlias = NumericRequest | CategoryRequest


@dataclass(frozen=True, kw_only=True)
class RowsRequest:
    """How many rows of a person are used, to be learned from how many rows people have.

    Attributes:
        most: the largest number that may come out, known without the rows; whoever has more rows is
            counted among those with so many.

    Raises:
        SchemaError: for a number that is not usable.
    """

    most: int = 10

    def __post_init__(self) -> None:
        if not _whole(self.most) or not 2 <= self.most <= MOST_ROWS:
            raise SchemaError(
                "The largest number of rows of a person that may be learned must be a whole "
                f"number from 2 to {MOST_ROWS}.",
                field="learn.max_rows.most",
            )

    @property
    def name(self) -> str:
        """What is learned, for the ledger and for people; no column."""
        return ROWS_SUBJECT


@dataclass(frozen=True, kw_only=True)
class Outline:
    """A schema with open places: declared columns, and requests for columns to be learned.

    Attributes:
        columns: in table order.
        one_row_per_person, person_id, persons, max_rows, weighting: as in `Schema`; of each person
            one row is used to learn, whatever the release uses.
        provenance: where the declared columns and the outer bounds come from.
        prior: what learning other columns cost before; the next step does without it.
        looks: what opened the rows before, as in `Schema`.
        codebook: the file that the declaration was read from, as in `Schema`.
        learn_rows: where `max_rows` is to be learned, within which bound.

    Raises:
        SchemaError: when names repeat, nothing is to be learned, or nobody says what a row is; for
            `max_rows` that is both declared and to be learned; for a column to be learned whose
            name is that of the rows of a person.
    """

    columns: tuple[Column | Request, ...]
    one_row_per_person: bool = False
    person_id: str | None = None
    persons: int | None = None
    max_rows: int = 1
    weighting: Weighting = "rows"
    provenance: Provenance = "declared"
    prior: LearningCharge | None = None
    looks: Looks = ()
    codebook: CodebookSource | None = None
    learn_rows: RowsRequest | None = None

    def __post_init__(self) -> None:
        check_prior(self.provenance, self.prior, self.person_id)
        check_looks(self.looks, self.provenance, [column.name for column in self.columns])
        check_codebook(self.provenance, self.codebook)
        if not self.requests:
            raise SchemaError(
                "No column is to be learned: use the schema as it is, or give a column an entry "
                "'learn'.",
                field="columns",
            )
        # The ledger and the papers know by this name alone that no column was learned.
        if any(column.name == ROWS_SUBJECT for column in self.columns_to_learn):
            raise SchemaError(
                f"A column named {ROWS_SUBJECT!r} cannot be learned: the ledger uses this name for "
                "the number of rows of a person. Rename the column, or declare it.",
                field="columns",
            )
        if self.learn_rows is not None:
            self._check_rows_alone()

    def _check_rows_alone(self) -> None:
        if self.person_id is None:
            raise SchemaError(
                "To learn max_rows a column must name the person: declare person_id.",
                field="person_id",
            )
        if self.max_rows != 1:
            raise SchemaError("Declare max_rows, or let it be learned, not both.", field="max_rows")
        # Where a person weighs one whatever her rows, they add to the counts and not to the noise.
        if self.weighting != "rows":
            raise SchemaError(
                "Where every person weighs one, more rows of a person cost no noise: declare "
                f"max_rows, up to {MOST_SHARED}, instead of learning it.",
                field="weighting",
            )

    @property
    def columns_to_learn(self) -> tuple[Request, ...]:
        """The columns that are to be learned, in their order."""
        return tuple(column for column in self.columns if not isinstance(column, Column))

    @property
    def requests(self) -> tuple[Request | RowsRequest, ...]:
        """What is to be learned: columns in their order, then the rows of a person."""
        rows = () if self.learn_rows is None else (self.learn_rows,)
        return (*self.columns_to_learn, *rows)

    @property
    def header(self) -> tuple[str, ...]:
        """The columns that a table of this outline has at least; see `Schema.header`."""
        names = tuple(column.name for column in self.columns)
        return names if self.person_id is None else (*names, self.person_id)


def _whole(value: object) -> bool:
    # True is an int to Python, and no number of bins.
    return isinstance(value, int) and not isinstance(value, bool)
