"""Rules of a column: what its declaration must hold, each with an error that names the field."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from prism_core.data.schema import special_values
from prism_core.data.schema.level import Level, level_text, level_value
from prism_core.errors import SchemaError
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from prism_core.data.schema.code_groups import CodeGroups
    from prism_core.data.schema.column import Column

Kind: TypeAlias = Literal["categorical", "ordinal", "boolean", "numeric", "date"]

KINDS: tuple[Kind, ...] = get_args(Kind)
MAX_LEVELS = 10_000
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31
_MOST_DIGITS = 300  # of a level; Python writes no number of 4,301 digits, and no float is so large


def refusal(column: Column, part: str, text: str) -> SchemaError:
    """An error that names the column and the field of its declaration."""
    return SchemaError(f"Column {column.name!r}: {text}.", field=f"{column.name}.{part}")


def kind_text(kind: str) -> str:
    """A kind with its article, before a noun.

    Example:
        >>> kind_text("ordinal"), kind_text("date")
        ('an ordinal', 'a date')
    """
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def check_kind(column: Column) -> None:
    """The kind is one of `KINDS`."""
    if column.kind not in KINDS:
        close = suggestion(column.kind, KINDS)
        text = f"kind must be one of {', '.join(KINDS)}{'.' if close else ''}{close}"
        raise refusal(column, "kind", text.rstrip("."))


def check_groups(column: Column, groups: CodeGroups) -> None:
    """The groups of codes are the levels."""
    if column.kind not in ("categorical", "ordinal"):
        raise refusal(column, "groups", f"{kind_text(column.kind)} column has no groups of codes")
    if column.levels != groups.groups:
        raise refusal(column, "groups", "the groups of codes are the levels; leave levels out")


def check_special(column: Column) -> None:
    """Special values stand beside bins, and can be told apart."""
    if column.special and not column.binned:
        raise refusal(
            column,
            "special",
            f"{kind_text(column.kind)} column has no special values; declare them as levels",
        )
    problem = special_values.special_problem(column.special)
    if problem:
        raise refusal(column, "special", problem)


def check_levels(column: Column) -> None:
    """A column without bins has levels that can be told apart, and fill and other among them."""
    count = len(column.levels)
    if count == 0:
        raise refusal(
            column, "levels", f"{kind_text(column.kind)} column needs its levels declared"
        )
    if count > MAX_LEVELS:
        raise refusal(
            column,
            "levels",
            f"{count:,} levels are declared and at most {MAX_LEVELS:,} are allowed; group rare "
            "codes into one level (`groups`), declare the column numeric, or leave it out",
        )
    _check_numbers(column, (*column.levels, column.fill, column.other))
    texts = [level_text(level) for level in column.levels]
    _check_different(column, texts)
    if column.kind == "boolean" and column.levels != (False, True):
        raise refusal(column, "levels", "a boolean column has the levels false and true only")
    for part, level in (("fill", column.fill), ("other", column.other)):
        if level is not None and level_text(level) not in texts:
            raise refusal(column, part, f"{part} must be one of its declared levels")
    if column.lower is not None or column.upper is not None or column.edges:
        raise refusal(
            column, "lower", f"bounds and edges do not apply to {kind_text(column.kind)} column"
        )


def _check_numbers(column: Column, levels: tuple[Level | None, ...]) -> None:
    if any(isinstance(level, float) and not math.isfinite(level) for level in levels):
        raise refusal(column, "levels", "a level must be a text or a finite number")
    if any(isinstance(level, int) and abs(level) >= 10**_MOST_DIGITS for level in levels):
        raise refusal(
            column,
            "levels",
            f"a whole number has at most {_MOST_DIGITS} digits; write a longer level as a "
            "text, in quotation marks",
        )


def _check_different(column: Column, texts: list[str]) -> None:
    # By text: the levels 1 and "1" would be met by the same cells.
    if len(set(texts)) != len(texts):
        raise refusal(column, "levels", "a level is declared twice; each must appear once")
    if any(text == "" for text in texts):
        raise refusal(column, "levels", "an empty level is declared; mark it nullable instead")
    numbers = [number for level in column.levels if (number := level_value(level)) is not None]
    if len(set(numbers)) != len(numbers):
        raise refusal(
            column,
            "levels",
            "two levels are the same number in two writings; cells meet a number by its value, "
            "so declare it once",
        )


def check_bins(column: Column) -> None:
    """Edges and fill of a column whose bounds are checked and on its grid."""
    _check_edges(column)
    _check_room(column)
    if column.other is not None:
        raise refusal(
            column,
            "other",
            f"other does not apply to {kind_text(column.kind)} column; values are clipped",
        )
    if column.fill is not None and (
        isinstance(column.fill, bool)
        or not isinstance(column.fill, (int, float))
        # Compared and not converted: a whole number may be larger than any float. NaN fails, too.
        or not abs(column.fill) <= sys.float_info.max
    ):
        raise refusal(column, "fill", "fill must be a number")
    if column.fill is not None and float(column.fill) in column.special_numbers:
        raise refusal(
            column,
            "fill",
            "fill is a special value, which is no number; choose a number, or mark the column "
            "nullable",
        )


def check_bounds(column: Column) -> None:
    """A column with bins has bounds, and no levels."""
    if column.levels:
        raise refusal(
            column, "levels", f"{kind_text(column.kind)} column has bounds and bins, not levels"
        )
    if column.lower is None or column.upper is None:
        raise refusal(column, "lower", "lower and upper bounds must be declared")
    if not (math.isfinite(column.lower) and math.isfinite(column.upper)):
        raise refusal(column, "lower", "the bounds must be finite numbers")
    if not column.lower < column.upper:
        raise refusal(column, "lower", "lower must be smaller than upper")
    if column.kind == "date" and not _FIRST_DAY <= column.lower < column.upper <= _LAST_DAY:
        raise refusal(column, "lower", "dates must lie between 0001-01-01 and 9999-12-31")


def _check_edges(column: Column) -> None:
    assert column.lower is not None and column.upper is not None
    previous = column.lower
    for edge in column.edges:
        # An edge at the lower bound is allowed: it makes the bin {lower} its own.
        if not previous <= edge < column.upper or (edge == previous and edge != column.lower):
            raise refusal(
                column, "edges", "edges must increase and lie between the bounds (upper excluded)"
            )
        previous = edge
    # The lower bound twice passes the order above, in which an edge may equal it.
    if len(set(column.edges)) != len(column.edges):
        raise refusal(column, "edges", "an edge is declared twice")
    if len(column.edges) >= MAX_LEVELS:
        raise refusal(column, "edges", f"at most {MAX_LEVELS:,} bins are allowed")


def _check_room(column: Column) -> None:
    """A bin needs a value to be written as, which is none of the special ones."""
    for index in range(column.level_count):
        if column.decimals is None:
            low, value = column.bin_bounds(index)
            while value in column.special_numbers and value > low:
                value = math.nextafter(value, -math.inf)
            # A bin is open at its lower end, but for the first.
            if value in column.special_numbers or (index > 0 and value == low):
                raise _all_special(column, index)
            continue
        first, last = column.grid(index)
        if first > last:
            raise refusal(
                column,
                "edges",
                f"bin {index + 1} holds no value with {column.decimals} decimals; use fewer bins",
            )
        if last - first < len(column.special_on_grid(index)):
            raise _all_special(column, index)


def _all_special(column: Column, index: int) -> SchemaError:
    return refusal(
        column,
        "special",
        f"bin {index + 1} holds nothing but special values; put its edges further apart, or "
        "leave its values out of the special ones",
    )
