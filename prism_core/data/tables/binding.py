"""Binding of a table to a design that was made before it: header and numbers, never a value.

A committee decides on a plan before anyone may open the file. When the file comes, its header and
its number of rows are compared with what was declared. Both are public, and nothing else of the
file is looked at. So the answer says whether it is a table like the one that was planned for, and
not whether its cells fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.data.tables.header import check_columns
from prism_core.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.data.schema.schema import Schema


@dataclass(frozen=True, kw_only=True)
class BindingCheck:
    """One line of the comparison.

    Attributes:
        field: what is compared: `header` or `persons`.
        fits: whether the run may go ahead as far as this is concerned.
        text: what is so; where it does not fit, what differs and what to do.
    """

    field: str
    fits: bool
    text: str


def binding_checks(
    schema: Schema, persons: int, header: Sequence[str], rows: int, name: str
) -> tuple[BindingCheck, ...]:
    """Compare a table with the design that waited for it. Spends nothing, reads no cell.

    Args:
        schema: the declared columns.
        persons: the declared number, that the plan was made for.
        header: names in the table.
        rows: number of rows of the table; public.
        name: of the table, for messages.
    """
    return (_header(schema, header, name), _persons(schema, persons, rows))


def _header(schema: Schema, header: Sequence[str], name: str) -> BindingCheck:
    try:
        check_columns(schema.header, header, name)
    except TableError as error:
        return BindingCheck(field="header", fits=False, text=str(error))
    # A number alone: a name that nobody declared may be a value of a file without a header.
    more = len(set(header) - set(schema.header))
    rest = f" {more:,} more in the file {'is' if more == 1 else 'are'} left out." if more else ""
    return BindingCheck(
        field="header",
        fits=True,
        text=f"The header holds all {len(schema.header):,} declared columns.{rest}",
    )


def _persons(schema: Schema, persons: int, rows: int) -> BindingCheck:
    if schema.person_id is None:
        if rows == persons:
            text = f"The table has {rows:,} rows, as many as persons are declared."
            return BindingCheck(field="persons", fits=True, text=text)
        return BindingCheck(
            field="persons",
            fits=False,
            text=f"The plan is for {persons:,} persons, and the table has {rows:,} rows. Load the "
            "table that was planned for, or design the plan anew for this number. An approval "
            "holds for the old plan alone.",
        )
    # Everybody has a row at least; how many more there are, only the run may count.
    if rows < persons:
        return BindingCheck(
            field="persons",
            fits=False,
            text=f"The plan is for {persons:,} persons, and the table has only {rows:,} rows. Load "
            "the table that was planned for, or declare the right number of persons. An approval "
            "holds for the old plan alone.",
        )
    return BindingCheck(
        field="persons",
        fits=True,
        text=f"The table has {rows:,} rows for {persons:,} declared persons. The run counts the "
        "persons before anything is charged, and refuses another number.",
    )
