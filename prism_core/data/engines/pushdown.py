"""Pushdown: the declared encoding as Ibis expressions, so that a database does most of the work.

`encoding.encode_column` is the rule and stays the only one. An expression here gives the code of
a *plain* cell, for which the rule can be said in every database's own terms without a doubt
(`12.5`, `2020-02-28`, a level spelled as declared), and -1 for any other. The few other cells
come home as they are and go through the rule itself, so that counts are the same cell for cell
in every database. Which expression is sent depends on the declaration and on the types of the
table's columns, never on its rows.

An expression is total: no cell makes it fail. What could (a cast) is handed only cells of which it
cannot, and says null instead of failing where the database has a word for that (`try_cast`).
"""

from __future__ import annotations

import datetime as dt
import math
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from prism_core.data.encoding import encode_column
from prism_core.data.schema.level import EXACT, MISSING_TEXTS, day_text, level_text, level_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from prism_core.data.schema.column import Column

# Ibis makes its classes at run time; to a type checker an expression is anything.
Expression: TypeAlias = Any

HOME = -1
"""Stands for the code of a cell that is encoded at home."""

_MOST_SPELLINGS = 100  # beyond, a chain of comparisons is slower than a dictionary at home
_SAFE = 10**15  # whole numbers below it are the same as integer, float and text
# Up to 15 digits: below _SAFE.
_DIGITS = re.compile(r"^-?[0-9]{1,19}$")
_INTEGER = re.compile(r"^(0|-?[1-9][0-9]{0,14})$")
_FLAGS = ("true", "t", "yes", "y", "1", "false", "f", "no", "n", "0")
# The common spellings alone: any other goes home, so the list need not be whole.
_EMPTY = ("", "NA", "N/A", "nan", "NaN", "null", "NULL", "None", "?", ".")
_NUMBER = "^-?[0-9]+([.][0-9]+)?$"
_NOT_PLAIN = "[^A-Za-z0-9 _./-]"
# February 29 is left out: whether there is such a day depends on the year, so it goes home.
_DATE = (
    "^[0-9][0-9][0-9][0-9]-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|"
    "(0[13578]|1[02])-31)$"
)


@dataclass(frozen=True, kw_only=True)
class Pushed:
    """One column of a query.

    Attributes:
        code: expression of the code, `HOME` where the cell is encoded at home; never null.
        home: expression of the cell itself where the code is `HOME`, else null; None when no
            cell of this type is ever encoded at home.
    """

    code: Expression
    home: Expression | None


def push(rule: EncodingRule, cell: Expression) -> Pushed:
    """The encoding of a cell by the database.

    Args:
        rule: of the declared column.
        cell: an Ibis column expression. Its type is that of the file or table.
    """
    import ibis

    kind = cell.type()
    branches, rest = _branches(rule, cell)
    if branches is None:
        missing = (cell.isnull(), rule("")) if kind.nullable else None
        branches, rest = ([missing] if missing else []), HOME
    code = _cases(branches, rest)
    total = HOME not in {rest, *(code for _, code in branches)}
    if kind.is_floating():
        cell = one_zero(cell)
    away = None if total else ibis.ifelse(code == HOME, cell, ibis.null(cell.type()))
    # A column has little more than 10,000 codes, so 16 bits hold them and HOME.
    return Pushed(code=code.cast("int16"), home=away)


class EncodingRule:
    """The codes of texts of a column, by the one rule there is; each text is encoded once.

    The texts are those of the declaration and of the expressions, never cells.
    """

    def __init__(self, column: Column) -> None:
        self.column = column
        self._known: dict[str, int] = {}
        # In one go what nearly every expression asks for: a call costs more than its texts.
        special = map(level_text, column.special)
        spellings = _spellings(column) if not column.binned else []
        self.codes([*_EMPTY, *_FLAGS, *special, *spellings[:_MOST_SPELLINGS]])

    def __call__(self, text: str) -> int:
        """The code of one text."""
        return self.codes([text])[0]

    def codes(self, texts: Sequence[str]) -> list[int]:
        """The codes of texts."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            codes = encode_column(self.column, pd.Series(new, dtype=object)).tolist()
            self._known.update(zip(new, codes, strict=True))
        return [self._known[text] for text in texts]


_Branches: TypeAlias = "tuple[list[Any] | None, int]"


def _branches(rule: EncodingRule, cell: Expression) -> _Branches:
    """The cases in order and the code of the rest; None where all cells are encoded at home."""
    kind = cell.type()
    # First: a comparison with null is null, and would fall through to the rest.
    null = [(cell.isnull(), rule(""))]
    if kind.is_boolean():
        return [*null, (cell, rule("true"))], rule("false")
    if kind.is_integer():
        return _integers(rule, cell, null)
    if kind.is_floating():
        return _floats(rule, cell.cast("float64"), null)
    if kind.is_date() or kind.is_timestamp():
        return _dates(rule, cell)
    if kind.is_string():
        if rule.column.kind == "date":
            return _date_texts(rule, cell, null)
        return _numbers(rule, cell, null) if rule.column.binned else _levels(rule, cell, null)
    return None, HOME


def _cases(branches: list[Any], rest: int) -> Expression:
    import ibis

    if not branches:
        return ibis.literal(rest, "int16")
    return ibis.cases(*branches, else_=rest)


def _cuts(rule: EncodingRule, below: Callable[[float], Expression]) -> tuple[list[Any], int]:
    """One case an edge; a value above all edges is the rest.

    Clipping needs no case of its own: all edges lie in [lower, upper), so a value outside the
    bounds has as many edges strictly below it as the bound has.
    """
    edges = rule.column.edges
    return [(below(edge), code) for code, edge in enumerate(edges)], len(edges)


def _integers(rule: EncodingRule, cell: Expression, null: list[Any]) -> _Branches:
    column = rule.column
    if column.kind == "date":
        return None, HOME  # 2020 is a year, 20200101 a day
    if cell.type().is_unsigned_integer():
        # Half of uint64 lies beyond int64, and its cast would fail.
        if cell.type().nbytes == 8:
            return None, HOME
        cell = cell.cast("int64")
    if column.binned:
        # Beyond it an integer and a float edge need not compare exactly.
        if any(abs(edge) >= EXACT for edge in column.edges):
            return None, HOME
        # A whole number is at most an edge where it is at most its floor: no float is compared.
        cases, rest = _cuts(rule, lambda edge: cell <= math.floor(edge))
        return [*null, *_special_integers(rule, cell), *cases], rest
    return _whole(rule, cell, null, far=cell.type().nbytes == 8)


def _special_integers(rule: EncodingRule, cell: Expression) -> list[Any]:
    """An integer is a special value by its text, which is canonical, or by its value."""
    whole = {int(number) for number in rule.column.special_numbers if number.is_integer()}
    # Beyond 2**53 by the text alone, which a float does not give back.
    whole |= {int(text) for text in map(level_text, rule.column.special) if _DIGITS.match(text)}
    held = sorted(value for value in whole if -(2**63) <= value < 2**63)
    codes = rule.codes([str(value) for value in held]) if held else []
    return [(cell == value, code) for value, code in zip(held, codes, strict=True)]


def _special_floats(rule: EncodingRule, number: Expression) -> list[Any]:
    """What a float's text or value may be that of; the text of one with decimals is made at home.

    A special value that no float equals needs no case: the text of a float reads as that float.
    """
    found: list[Any] = []
    for value in sorted(rule.column.special_numbers):
        whole = value.is_integer() and abs(value) < _SAFE
        found.append((number == value, rule(str(int(value))) if whole else HOME))
    if any("inf" in level_text(value).lower() for value in rule.column.special):
        # By its size: what Ibis writes for `isinf` is not true of infinity on Spark.
        found.append((number.abs() > sys.float_info.max, HOME))
    return found


def _special_texts(rule: EncodingRule, cell: Expression) -> list[Any]:
    """Special values as they are declared; in other writings they are met at home."""
    texts = [text for text in map(level_text, rule.column.special) if _printable(text)]
    codes = rule.codes(texts) if texts else []
    return [(cell == text, code) for text, code in zip(texts, codes, strict=True)]


def _whole(rule: EncodingRule, cell: Expression, null: list[Any], *, far: bool) -> _Branches:
    """Levels met by integers: an integer's text is met by a level's text or by no level."""
    column = rule.column
    texts = {text for level, _ in column.values if _INTEGER.match(text := level_text(level))}
    texts |= {"0", "1"} if column.kind == "boolean" else set()
    if len(texts) > _MOST_SPELLINGS:
        return None, HOME
    values = sorted(map(int, texts))
    # The smallest number that is no level shows what the rule makes of all that are none.
    other = rule(str(next(value for value in range(len(values) + 1) if value not in values)))
    beyond = [((cell <= -_SAFE) | (cell >= _SAFE), HOME)] if far else []
    codes = rule.codes([str(value) for value in values])
    known = [(cell == value, code) for value, code in zip(values, codes, strict=True)]
    return [*null, *beyond, *known], other


def _floats(rule: EncodingRule, cell: Expression, null: list[Any]) -> _Branches:
    column = rule.column
    if column.kind == "date":
        return None, HOME
    number = without_nan(cell)
    missing = (number.isnull(), rule(""))
    if column.binned:
        cases, rest = _cuts(rule, lambda edge: number <= float(edge))
        return [*null, missing, *_special_floats(rule, number), *cases], rest
    near, whole = nearest_whole(number, _SAFE)
    cases, rest = _whole(rule, whole, [], far=False)
    if cases is None:
        return None, HOME
    # No whole number below _SAFE: what its text is, is decided at home.
    return [*null, missing, (whole.cast("float64") != near, HOME), *cases], rest


def without_nan(number: Expression) -> Expression:
    """A float64, null where it is no number.

    Databases order NaN as they like, and their statistics leave it out: it is never compared.
    """
    import ibis

    return ibis.ifelse(number.isnan(), ibis.null("float64"), number)


def one_zero(cell: Expression) -> Expression:
    """A float of which the cells that a database calls equal have one writing.

    Both zeros are read as 0, and what is no number is missing. Spark adds -0.0 up with 0.0, and
    would not find it again among the cells that were told.
    """
    import ibis

    number = without_nan(cell.cast("float64"))
    return ibis.ifelse(number == 0.0, 0.0, number)


def nearest_whole(number: Expression, below: int) -> tuple[Expression, Expression]:
    """A float64 as a whole number: the float that was cast, and the int64.

    They differ where there is no such whole number below the limit: infinity is cast as 0.5.
    """
    import ibis

    near = ibis.ifelse(number.abs() < float(below), number, 0.5)
    return near, near.try_cast("int64")


def calendar_day(cell: Expression) -> Expression:
    """The day of a date or a moment, null outside of the years 1 to 9999, as in memory."""
    import ibis

    day = cell.date() if cell.type().is_timestamp() else cell
    first, last = ibis.date(dt.date.min), ibis.date(dt.date.max)
    return ibis.ifelse((day >= first) & (day <= last), day, ibis.null("date"))


def _dates(rule: EncodingRule, cell: Expression) -> _Branches:
    import ibis

    if rule.column.kind != "date":
        return None, HOME
    day = calendar_day(cell)
    cases, rest = _cuts(
        rule, lambda edge: day <= ibis.date(dt.date.fromisoformat(day_text(math.floor(edge))))
    )
    days = sorted(map(day_text, rule.column.special_numbers))
    special = [(day == ibis.date(dt.date.fromisoformat(text)), rule(text)) for text in days]
    return [(day.isnull(), rule("")), *special, *cases], rest


def _date_texts(rule: EncodingRule, cell: Expression, null: list[Any]) -> _Branches:
    """ISO dates are in the order of their texts."""
    # The length, too: for some databases $ also stands before a line end. And there is no year 0.
    plain = cell.re_search(_DATE) & (cell.length() == 10) & (cell >= "0001-01-01")
    cases, rest = _cuts(rule, lambda edge: cell <= day_text(math.floor(edge)))
    # A plain text that is a special day is the text of it.
    special = _special_texts(rule, cell)
    return [*null, *_empty(rule, cell), *special, (~plain, HOME), *cases], rest


def _numbers(rule: EncodingRule, cell: Expression, null: list[Any]) -> _Branches:
    """At most 15 digits and no exponent: every parser gives the nearest float."""
    import ibis

    plain = cell.re_search(_NUMBER) & (cell.length() <= 15)
    # The cast stands for itself: no database may try it on another text, in whatever order.
    value: Expression = ibis.ifelse(plain, cell, "0").try_cast("float64")
    cases, rest = _cuts(rule, lambda edge: value <= float(edge))
    special = _special_texts(rule, cell)
    again = [(value == number, HOME) for number in sorted(rule.column.special_numbers)]
    return [*null, *_empty(rule, cell), *special, (~plain, HOME), *again, *cases], rest


def _empty(rule: EncodingRule, cell: Expression) -> list[Any]:
    return [(cell == "", rule(""))]


def _levels(rule: EncodingRule, cell: Expression, null: list[Any]) -> _Branches:
    """The declared spellings; then what can be no spelling of a level at all."""
    texts = _spellings(rule.column)
    if len(texts) > _MOST_SPELLINGS:
        return [*null, *_empty(rule, cell)], HOME
    # One comparison a spelling: databases search a list of them more slowly.
    codes = rule.codes(texts)
    known = [(cell == text, code) for text, code in zip(texts, codes, strict=True)]
    empty = _by_code(
        (text, code)
        for text, code in zip(_EMPTY, rule.codes(_EMPTY), strict=True)
        if text not in texts
    )
    missing = [(cell.isin(same), code) for code, same in empty]
    return [*null, *known, *missing, *_unknown(rule, cell)], HOME


def _spellings(column: Column) -> list[str]:
    if column.kind == "boolean":
        texts = [form for flag in _FLAGS for form in (flag, flag.upper(), flag.title())]
    else:
        texts = [level_text(level) for level, _ in column.values]
        texts += [str(level) for level, _ in column.values if isinstance(level, bool)]
    return [text for text in dict.fromkeys(texts) if _printable(text)]


def _printable(text: str) -> bool:
    """Texts that every database takes and compares letter by letter."""
    return text.isascii() and (text == "" or text.isprintable())


def _by_code(pairs: Iterable[tuple[str, int]]) -> list[tuple[int, list[str]]]:
    found: dict[int, list[str]] = {}
    for text, code in pairs:
        found.setdefault(code, []).append(text)
    return sorted(found.items())


def _unknown(rule: EncodingRule, cell: Expression) -> list[Any]:
    """Plain words that no level reads as: they begin with a letter or no level is a number."""
    column = rule.column
    if column.kind == "boolean":
        return []
    texts = {level_text(level) for level, _ in column.values}
    # A word that is no level: the rule itself then says what becomes of one.
    token = next(f"zq{i}" for i in range(len(texts) + 1) if f"zq{i}" not in texts)
    numeric = any(level_value(level) is not None for level, _ in column.values)
    plain = ~cell.re_search(_NOT_PLAIN) & ~cell.startswith(" ") & ~cell.endswith(" ")
    if numeric:
        plain = plain & cell.re_search("^[A-Za-z]")
    return [(plain & ~cell.lower().isin(sorted(MISSING_TEXTS)), rule(token))]
