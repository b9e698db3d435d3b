"""Column of the public domain: its levels or bounds, and what happens to other values."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from prism_core.data.schema import column_rules as rules
from prism_core.data.schema import special_values
from prism_core.data.schema.level import EXACT, Level, day_text, level_text
from prism_core.errors import SchemaError
from prism_core.scalars import plain_fields

if TYPE_CHECKING:
    from prism_core.data.schema.code_groups import CodeGroups
    from prism_core.data.schema.column_rules import Kind

DEFAULT_BINS = 8
MISSING_LABEL = "(missing)"


@dataclass(frozen=True, kw_only=True)
class Column:
    """A declared column. Everything here is a public fact, never read off the rows of a run.

    Codes are 0..L-1 for the L levels (or bins), L..L+k-1 for the k special values in their order,
    and L+k for "missing" when `nullable`.

    Attributes:
        name: the header in the table.
        kind: categorical, ordinal and boolean have levels; numeric and date have bins.
        levels: the declared values, in order. Booleans have (False, True). What a cell has to hold
            to be one of them says `level_value`.
        lower: smallest value of a numeric column (dates: days since 1970-01-01). Values
            below are clipped to it.
        upper: largest value; values above are clipped to it.
        edges: interior bin edges, strictly between the bounds. A value v falls into the bin
            whose number is the count of edges strictly below v, so bins are (edge, edge].
        open_bins: whether the bins are left open: the edges are then those of eight equal bins, and
            a run may find better ones (`planning.coarsening`).
        decimals: decimals of a numeric value; 0 for integers. None: values of any precision are
            read, and written on as many decimals as make a thousand steps of their bin. Dates
            have 0. Bounds and edges within a millionth of its unit are taken as on the grid.
        nullable: whether "missing" is a level of its own.
        fill: the level (or number) that empty cells become when not nullable; by default
            the first level or the lower bound.
        other: the level that undeclared categories become; by default missing when
            nullable, else `fill`.
        groups: where the levels are groups of codes: the public map. Cells hold codes, of rows
            that are read and of rows that are made.
        special: what may stand in a numeric or date column and is no number and no day, in order:
            -9 for refused, 97 for not applicable, ".a". Each has a code of its own. A cell is a
            special value as it is a level, see `level_value`; a special value that is a day is met
            by every cell that reads as that day. It is then never a number, whether it lies
            inside the bounds or outside, and is written back as it is declared here.
        description: what the column means, for people.
        value_labels: words for values, as pairs of a value as `level_text` writes it and its
            words: of a level, of a code in groups, or of a special value.

    Raises:
        SchemaError: when the declaration is not usable; the message names the column.
    """

    name: str
    kind: Kind
    levels: tuple[Level, ...] = ()
    lower: float | None = None
    upper: float | None = None
    edges: tuple[float, ...] = ()
    open_bins: bool = False
    decimals: int | None = None
    nullable: bool = False
    fill: Level | None = None
    other: Level | None = None
    groups: CodeGroups | None = None
    special: tuple[Level, ...] = ()
    # Words change no code: a table that was encoded without them still fits the plan.
    description: str = field(default="", compare=False)
    value_labels: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        plain_fields(self)
        if not isinstance(self.name, str) or not self.name.strip():
            raise SchemaError("A column has an empty name. Give every column a name.", field="name")
        rules.check_kind(self)
        if self.kind == "boolean" and not self.levels:
            # The dataclass is frozen, and here it is still being made.
            object.__setattr__(self, "levels", (False, True))
        if self.kind == "date" and self.decimals is None:
            object.__setattr__(self, "decimals", 0)
        # Before the levels are checked: the groups are the levels.
        if self.groups is not None:
            if not self.levels:
                object.__setattr__(self, "levels", self.groups.groups)
            rules.check_groups(self, self.groups)
        # Before the bins are checked: a bin needs a value that is not special.
        rules.check_special(self)
        if self.binned:
            self._check_binned()
        else:
            rules.check_levels(self)
            if self.open_bins:
                raise rules.refusal(self, "bins", "only numbers and dates have bins to leave open")
        problem = special_values.label_problem(self.value_labels, self._texts)
        if problem:
            raise rules.refusal(self, "labels", problem)

    def _check_binned(self) -> None:
        rules.check_bounds(self)
        if self.open_bins:
            edges = equal_edges(*self.bounds, DEFAULT_BINS, self.decimals)
            object.__setattr__(self, "edges", edges)
        # Before the edges are checked, so that they are compared as they will be used.
        if self.decimals is not None:
            self._snap()
        rules.check_bins(self)

    def _snap(self) -> None:
        """An edge one float error off the grid would part a bin from its own values."""
        assert self.decimals is not None and self.lower is not None and self.upper is not None
        if not 0 <= self.decimals <= 12:
            raise rules.refusal(self, "decimals", "decimals must be between 0 and 12")
        scale = 10**self.decimals
        # In units of the last decimal every value must be exact as a float.
        if not max(abs(self.lower), abs(self.upper)) * scale < EXACT:
            raise rules.refusal(
                self,
                "decimals",
                f"numbers this large cannot have {self.decimals} decimals; use fewer decimals, or "
                "leave out integer and decimals",
            )

        def snapped(value: float) -> float:
            nearest = round(float(value) * scale, 6)
            return nearest / scale if nearest.is_integer() else value

        object.__setattr__(self, "lower", snapped(self.lower))
        object.__setattr__(self, "upper", snapped(self.upper))
        object.__setattr__(self, "edges", tuple(map(snapped, self.edges)))

    @property
    def binned(self) -> bool:
        """Whether the column has bounds and bins instead of levels."""
        return self.kind in ("numeric", "date")

    @property
    def is_number(self) -> bool:
        """Whether it is predicted as a number: two bins are a yes or no, however declared."""
        return self.binned and self.level_count > 2

    @property
    def bounds(self) -> tuple[float, float]:
        """Lower and upper bound of a column with bins."""
        assert self.lower is not None and self.upper is not None, "only for columns with bins"
        return self.lower, self.upper

    @property
    def level_count(self) -> int:
        """Number of levels or bins, without special values and missing."""
        return len(self.edges) + 1 if self.binned else len(self.levels)

    @property
    def values(self) -> tuple[tuple[Level, int], ...]:
        """What a cell may hold, with the code of each: the levels, or the codes in groups."""
        if self.groups is not None:
            return self.groups.pairs
        return tuple((level, code) for code, level in enumerate(self.levels))

    @property
    def size(self) -> int:
        """Number of codes, special values and missing included."""
        return self.level_count + len(self.special) + int(self.nullable)

    @property
    def special_codes(self) -> range:
        """The codes of the special values, in their order."""
        return range(self.level_count, self.level_count + len(self.special))

    @property
    def missing_code(self) -> int | None:
        """The code of a missing value, or None when the column is not nullable."""
        return self.level_count + len(self.special) if self.nullable else None

    @property
    def valueless_codes(self) -> range:
        """The codes of cells that hold no level and no number: special values, then missing."""
        return range(self.level_count, self.size)

    def bin_bounds(self, index: int) -> tuple[float, float]:
        """Bounds of bin `index`: values in (low, high], the first bin closed at both ends."""
        low, high = self.bounds
        cuts = (low, *self.edges, high)
        return cuts[index], cuts[index + 1]

    def grid(self, index: int) -> tuple[int, int]:
        """First and last grid number of bin `index`, in units of 10**-decimals."""
        low, high = self.bin_bounds(index)
        scale = 10 ** (self.decimals or 0)
        # Rounding to 6 digits undoes the float error of 0.1 * 10.
        first = math.ceil(round(low * scale, 6))
        last = math.floor(round(high * scale, 6))
        # Bins are open at their lower end, but for the first.
        if index > 0 and first == round(low * scale, 6):
            first += 1
        return first, last

    def special_on_grid(self, index: int) -> tuple[int, ...]:
        """The grid numbers of bin `index` that are special values, increasing; see `grid`."""
        if not self.special:
            return ()
        first, last = self.grid(index)
        scale = 10 ** (self.decimals or 0)
        # Six digits, as in `grid`.
        found = {round(number * scale, 6) for number in self.special_numbers}
        return tuple(sorted(int(n) for n in found if n.is_integer() and first <= n <= last))

    def roomy(self, edges: tuple[float, ...]) -> tuple[float, ...]:
        """Of these edges those that part off no bin of special values alone.

        Args:
            edges: increasing, from the lower bound on, on the grid of a column with decimals.
        """
        numbers = self.special_numbers
        if not numbers:
            return edges
        if self.decimals is None:
            # Only the bin of the lower bound alone is a single value.
            return tuple(edge for edge in edges if edge not in numbers or edge > self.bounds[0])
        scale = 10**self.decimals
        whole = replace(self, edges=(), open_bins=False)
        taken = whole.special_on_grid(0)
        first, last = whole.grid(0)
        found: list[float] = []
        for edge in edges:
            end = math.floor(round(edge * scale, 6))
            # On either side a number that is none of them: a bin ends where one was met.
            if _has_free(first, end, taken) and _has_free(end + 1, last, taken):
                found.append(edge)
                first = end + 1
        return tuple(found)

    @cached_property
    def special_numbers(self) -> frozenset[float]:
        """The numbers, or days, that special values might be read as; none is written for a bin."""
        return special_values.numbers(self.special, dates=self.kind == "date")

    @property
    def _texts(self) -> frozenset[str]:
        """Everything that may have words: levels, codes in groups, special values."""
        declared = (*self.levels, *(value for value, _ in self.values), *self.special)
        return frozenset(map(level_text, declared))

    def code_names(self) -> tuple[str, ...]:
        """A short name for every code as it is declared, in code order; see `labels`."""
        if self.binned:
            names = [self._bin_label(i) for i in range(self.level_count)]
        else:
            names = [level_text(level) for level in self.levels]
        names += map(level_text, self.special)
        return (*names, MISSING_LABEL) if self.nullable else tuple(names)

    def labels(self) -> tuple[str, ...]:
        """A short label for every code, in code order: its words, where it has some, and its name.

        Example:
            >>> sex = Column(
            ...     name="sex", kind="categorical", levels=(1, 2), value_labels=(("1", "Female"),)
            ... )
            >>> sex.labels()
            ('Female (1)', '2')
        """
        words = dict(self.value_labels)
        return tuple(
            f"{words[name]} ({name})" if words.get(name, name) != name else name
            for name in self.code_names()
        )

    def _bin_label(self, index: int) -> str:
        low, high = self.bin_bounds(index)
        if self.kind == "date":
            return f"{day_text(low)} to {day_text(high)}"
        if self.decimals == 0:
            first, last = self.grid(index)
            return f"{first}" if first == last else f"{first}-{last}"
        if low == high:
            return f"{low:g}"
        return f"{'[' if index == 0 else '('}{low:g}, {high:g}]"


def _has_free(first: int, last: int, taken: tuple[int, ...]) -> bool:
    return last - first + 1 > sum(first <= number <= last for number in taken)


def equal_edges(lower: float, upper: float, bins: int, decimals: int | None) -> tuple[float, ...]:
    """Interior edges of `bins` equally wide bins.

    With integer values the bins hold equally many integers where the range allows it, and
    there are never more bins than integers.
    """
    if decimals is None:
        return tuple(lower + (upper - lower) * i / bins for i in range(1, bins))
    scale = 10**decimals
    first, last = math.ceil(round(lower * scale, 6)), math.floor(round(upper * scale, 6))
    count = max(1, min(bins, last - first + 1))
    # A bin is closed at its upper edge, so an edge is the last number of its bin.
    cuts = [first - 1 + (last - first + 1) * i // count for i in range(1, count)]
    return tuple(cut / scale for cut in cuts)
