"""Mistakes in the form of columns: all of them at once, each by its column and its cell.

Reading a form stops at the first mistake. A person who fills one in wants to see every cell that is
wrong or still empty. So each row is read once with the cells that its kind needs, and then cell by
cell with the others; a cell that cannot be read is told and left out of what follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from prism_core.data.schema import column_form, schema_file
from prism_core.data.schema.level import day_number
from prism_core.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

BINNED = ("numeric", "date")
_STRANGE: dict[str, tuple[str, ...]] = {
    "numeric": ("levels", "groups", "other"),
    "date": ("levels", "groups", "other", "decimals"),
    "boolean": ("groups", "lower", "upper", "bins", "special", "decimals"),
    "categorical": ("lower", "upper", "bins", "special", "decimals"),
    "ordinal": ("lower", "upper", "bins", "special", "decimals"),
}
"""Cells that a kind has no use for; what is typed in them would be passed over in silence."""

_FIRST = ("name", "kind", "levels", "groups", "lower", "upper", "nullable", "description")
_THEN = ("bins", "decimals", "special", "labels", "fill", "other")
"""Cells that are read one by one: each must fit what the cells before it say."""


@dataclass(frozen=True, kw_only=True)
class CellMistake:
    """A cell of the form that has to be changed before the columns can be used.

    Attributes:
        row: its place in the form, from 0.
        column: the name that the row declares, "" where it has none.
        cell: of the row, as `FormRow` calls it.
        text: what is allowed and what to do; "" where the cell is empty and its kind needs it.
    """

    row: int
    column: str
    cell: str
    text: str = ""

    @property
    def is_missing(self) -> bool:
        """Whether it is empty, and not wrong."""
        return not self.text


def mistakes(rows: Iterable[Mapping[str, Any]]) -> tuple[CellMistake, ...]:
    """All mistakes of a form, row by row. Reads no row of a table.

    Rows that are to be learned are looked at for what is missing alone: their plan says the rest.
    """
    found: list[CellMistake] = []
    seen: set[str] = set()
    for place, row in enumerate(rows):
        texts = {key: column_form.cell_text(row, key) for key in (*_FIRST, *_THEN)}
        name = texts["name"]
        wrong = list(_of_row(tuple(texts.items()), row.get("learn") is True))
        if name and name in seen:
            wrong.append(("name", "There is a column of this name already. Names must be unique."))
        seen.add(name)
        found += [CellMistake(row=place, column=name, cell=cell, text=text) for cell, text in wrong]
    return tuple(found)


def needed_cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Cells that a row needs by its kind, whether they are filled in or not."""
    kind = column_form.cell_text(row, "kind")
    if kind in BINNED:
        return ("name", "kind", "lower", "upper")
    by_levels = kind in ("categorical", "ordinal") and not column_form.cell_text(row, "groups")
    if by_levels and not (kind == "categorical" and row.get("learn") is True):
        return ("name", "kind", "levels")
    return ("name", "kind")


# A page asks after every keystroke, and most rows have not changed since.
@lru_cache(maxsize=4096)
def _of_row(cells: tuple[tuple[str, str], ...], learn: bool) -> tuple[tuple[str, str], ...]:
    """Cells and what is wrong with them, for one row as texts."""
    row: dict[str, Any] = {**dict(cells), "learn": learn}
    wrong = [(cell, "") for cell in needed_cells(row) if not row[cell]]
    strange = [cell for cell in _STRANGE.get(row["kind"], ()) if row[cell]]
    wrong += [(cell, _strange_text(row["kind"])) for cell in strange]
    if row["kind"] in BINNED:
        wrong += _bounds(row)
    if not wrong and not learn:
        wrong = _one_by_one(row)
    # Without the cells that do not belong there, to find what else is wrong. Where a cell that is
    # needed is wrong or empty, that would only be said again.
    elif strange and not learn and len(strange) == len(wrong):
        wrong += _one_by_one({**row, **dict.fromkeys(strange, "")})
    return tuple(wrong)


def _strange_text(kind: str) -> str:
    has = "lower, upper and bins" if kind in BINNED else "levels"
    what = "true and false" if kind == "boolean" else has
    return f"A {kind} column has {what}. Clear this cell, or choose another kind."


def _bounds(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Bounds that are no number or no date, each by itself; and the wrong way round."""
    wrong, ends = [], []
    for cell in ("lower", "upper"):
        if not row[cell]:
            continue
        try:
            if row["kind"] == "date":
                ends.append(day_number(column_form.bound_text(row, cell), field=cell))
            else:
                ends.append(schema_file.number(row[cell], cell))
        except SchemaError as error:
            wrong.append((cell, _told(error, row["name"])))
    if len(ends) == 2 and not ends[0] < ends[1]:
        wrong.append(("lower", "Lower must be below upper."))
    return wrong


def _one_by_one(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What cannot be read, once the cells that are needed are there."""
    read = {cell: row[cell] for cell in _FIRST}
    # The cache holds texts alone, so a tick comes as the text of a truth.
    read["nullable"] = row["nullable"] == str(True)
    wrong = []
    error = _error(read)
    if error is not None:
        return [(_cell_of(error, row), _told(error, row["name"]))]
    for cell in _THEN:
        if not row[cell]:
            continue
        error = _error({**read, cell: row[cell]})
        if error is None:
            read[cell] = row[cell]
        else:
            wrong.append((cell, _told(error, row["name"])))
    return wrong


def _error(row: Mapping[str, Any]) -> SchemaError | None:
    try:
        column_form.from_rows([row])
    except SchemaError as error:
        return error
    return None


def _cell_of(error: SchemaError, row: Mapping[str, Any]) -> str:
    """The cell that an error of a whole row is about."""
    last = str(error.field or "").rpartition(".")[2]
    if last in row:
        return last
    return "lower" if row["kind"] in BINNED else "levels"


def _told(error: SchemaError, name: str) -> str:
    """The message without its column, which stands before it on the page."""
    text = str(error).removeprefix(f"Column {name!r}: ").removeprefix(f"{name}.")
    return text[:1].upper() + text[1:]
