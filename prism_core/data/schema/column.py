"""Column of the public domain: its levels or bounds, and what happens to other values."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from prism_core.data.schema import special_values
from prism_core.data.schema.level import Level, day_text, level_text, level_value
from prism_core.errors import SchemaError
from prism_core.scalars import plain_fields
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from prism_core.data.schema.code_groups import CodeGroups

Kind: TypeAlias = Literal["categorical", "ordinal", "boolean", "numeric", "date"]

KINDS: tuple[Kind, ...] = get_args(Kind)
MAX_LEVELS = 10_000
DEFAULT_BINS = 8
MISSING_LABEL = "(missing)"
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31
_EXACT = 2**53  # whole numbers below it are exact as float
_MOST_DIGITS = 300  # of a level; Python writes no number of 4,301 digits, and no float is so large


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
    decimals: int | None = None
    nullable: bool = False
    fill: Level | None = None
    other: Level | None = None
    groups: CodeGroups | None = None
    special: tuple[Level, ...] = ()
    description: str = field(default="", compare=False)
    value_labels: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        plain_fields(self)
        if not isinstance(self.name, str) or not self.name.strip():
            raise SchemaError("A column has an empty name. Give every column a name.", field="name")
        if self.kind not in KINDS:
            close = suggestion(self.kind, KINDS)
            text = f"kind must be one of {', '.join(KINDS)}{'.' if close else ''}{close}"
            raise self._error("kind", text.rstrip("."))
        if self.kind == "boolean" and not self.levels:
            # The dataclass is frozen, and here it is still being made.
            object.__setattr__(self, "levels", (False, True))
        if self.kind == "date" and self.decimals is None:
            object.__setattr__(self, "decimals", 0)
        # Before the levels are checked: the groups are the levels.
        if self.groups is not None:
            self._check_groups(self.groups)
        # Before the bins are checked: a bin needs a value that is not special.
        self._check_special()
        if self.binned:
            self._check_bins()
        else:
            self._check_levels()
        problem = special_values.label_problem(self.value_labels, self._texts)
        if problem:
            raise self._error("labels", problem)

    def _error(self, part: str, text: str) -> SchemaError:
        return SchemaError(f"Column {self.name!r}: {text}.", field=f"{self.name}.{part}")

    def _check_groups(self, groups: CodeGroups) -> None:
        if self.kind not in ("categorical", "ordinal"):
            raise self._error("groups", f"{kind_text(self.kind)} column has no groups of codes")
        if not self.levels:
            object.__setattr__(self, "levels", groups.groups)
        if self.levels != groups.groups:
            raise self._error("groups", "the groups of codes are the levels; leave levels out")

    def _check_special(self) -> None:
        if self.special and not self.binned:
            raise self._error(
                "special",
                f"{kind_text(self.kind)} column has no special values; declare them as levels",
            )
        problem = special_values.special_problem(self.special)
        if problem:
            raise self._error("special", problem)

    def _check_levels(self) -> None:
        count = len(self.levels)
        if count == 0:
            raise self._error("levels", f"{kind_text(self.kind)} column needs its levels declared")
        if count > MAX_LEVELS:
            raise self._error(
                "levels",
                f"{count:,} levels are declared and at most {MAX_LEVELS:,} are allowed; group rare "
                "codes into one level (`groups`), declare the column numeric, or leave it out",
            )
        self._check_numbers((*self.levels, self.fill, self.other))
        texts = [level_text(level) for level in self.levels]
        self._check_different(texts)
        if self.kind == "boolean" and self.levels != (False, True):
            raise self._error("levels", "a boolean column has the levels false and true only")
        for part, level in (("fill", self.fill), ("other", self.other)):
            if level is not None and level_text(level) not in texts:
                raise self._error(part, f"{part} must be one of its declared levels")
        if self.lower is not None or self.upper is not None or self.edges:
            raise self._error(
                "lower", f"bounds and edges do not apply to {kind_text(self.kind)} column"
            )

    def _check_numbers(self, levels: tuple[Level | None, ...]) -> None:
        if any(isinstance(level, float) and not math.isfinite(level) for level in levels):
            raise self._error("levels", "a level must be a text or a finite number")
        if any(isinstance(level, int) and abs(level) >= 10**_MOST_DIGITS for level in levels):
            raise self._error(
                "levels",
                f"a whole number has at most {_MOST_DIGITS} digits; write a longer level as a "
                "text, in quotation marks",
            )

    def _check_different(self, texts: list[str]) -> None:
        # By text: the levels 1 and "1" would be met by the same cells.
        if len(set(texts)) != len(texts):
            raise self._error("levels", "a level is declared twice; each must appear once")
        if any(text == "" for text in texts):
            raise self._error("levels", "an empty level is declared; mark it nullable instead")
        numbers = [number for level in self.levels if (number := level_value(level)) is not None]
        if len(set(numbers)) != len(numbers):
            raise self._error(
                "levels",
                "two levels are the same number in two writings; cells meet a number by its value, "
                "so declare it once",
            )

    def _check_bins(self) -> None:
        if self.levels:
            raise self._error(
                "levels", f"{kind_text(self.kind)} column has bounds and bins, not levels"
            )
        self._check_bounds()
        # Before the edges are checked, so that they are compared as they will be used.
        if self.decimals is not None:
            self._snap()
        self._check_edges()
        self._check_room()
        if self.other is not None:
            raise self._error(
                "other",
                f"other does not apply to {kind_text(self.kind)} column; values are clipped",
            )
        if self.fill is not None and (
            isinstance(self.fill, bool)
            or not isinstance(self.fill, (int, float))
            or not abs(self.fill) <= sys.float_info.max
        ):
            raise self._error("fill", "fill must be a number")
        if self.fill is not None and float(self.fill) in self.special_numbers:
            raise self._error(
                "fill",
                "fill is a special value, which is no number; choose a number, or mark the column "
                "nullable",
            )

    def _check_bounds(self) -> None:
        if self.lower is None or self.upper is None:
            raise self._error("lower", "lower and upper bounds must be declared")
        if not (math.isfinite(self.lower) and math.isfinite(self.upper)):
            raise self._error("lower", "the bounds must be finite numbers")
        if not self.lower < self.upper:
            raise self._error("lower", "lower must be smaller than upper")
        if self.kind == "date" and not _FIRST_DAY <= self.lower < self.upper <= _LAST_DAY:
            raise self._error("lower", "dates must lie between 0001-01-01 and 9999-12-31")

    def _check_edges(self) -> None:
        assert self.lower is not None and self.upper is not None
        previous = self.lower
        for edge in self.edges:
            # An edge at the lower bound is allowed: it makes the bin {lower} its own.
            if not previous <= edge < self.upper or (edge == previous and edge != self.lower):
                raise self._error(
                    "edges", "edges must increase and lie between the bounds (upper excluded)"
                )
            previous = edge
        if len(set(self.edges)) != len(self.edges):
            raise self._error("edges", "an edge is declared twice")
        if len(self.edges) >= MAX_LEVELS:
            raise self._error("edges", f"at most {MAX_LEVELS:,} bins are allowed")

    def _snap(self) -> None:
        """An edge one float error off the grid would part a bin from its own values."""
        assert self.decimals is not None and self.lower is not None and self.upper is not None
        if not 0 <= self.decimals <= 12:
            raise self._error("decimals", "decimals must be between 0 and 12")
        scale = 10**self.decimals
        # In units of the last decimal every value must be exact as a float.
        if not max(abs(self.lower), abs(self.upper)) * scale < _EXACT:
            raise self._error(
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

    def _check_room(self) -> None:
        """A bin needs a value to be written as, which is none of the special ones."""
        for index in range(self.level_count):
            if self.decimals is None:
                low, value = self.bin_bounds(index)
                while value in self.special_numbers and value > low:
                    value = math.nextafter(value, -math.inf)
                # A bin is open at its lower end, but for the first.
                if value in self.special_numbers or (index > 0 and value == low):
                    raise self._all_special(index)
                continue
            first, last = self.grid(index)
            if first > last:
                raise self._error(
                    "edges",
                    f"bin {index + 1} holds no value with {self.decimals} decimals; use fewer bins",
                )
            if last - first < len(self.special_on_grid(index)):
                raise self._all_special(index)

    def _all_special(self, index: int) -> SchemaError:
        return self._error(
            "special",
            f"bin {index + 1} holds nothing but special values; put its edges further apart, or "
            "leave its values out of the special ones",
        )

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
        whole = replace(self, edges=())
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


def kind_text(kind: str) -> str:
    """A kind with its article, before a noun.

    Example:
        >>> kind_text("ordinal"), kind_text("date")
        ('an ordinal', 'a date')
    """
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


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
    cuts = [first - 1 + (last - first + 1) * i // count for i in range(1, count)]
    return tuple(cut / scale for cut in cuts)
