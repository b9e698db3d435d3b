"""Header of a table: its one check, for every door that opens a table.

A header is public, and the first line of a file without one is a row. Nobody can tell them apart by
looking at one line. So no message holds a name of the file that the declaration does not hold, too,
save for upper and lower case.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prism_core.errors import TableError
from prism_core.text import untrusted
from prism_core.text.suggestions import folded

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 5
_VALUE = re.compile(
    r"|[-+]?\d*[.,]?\d+(?:[eE][-+]?\d+)?%?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ].*)?"
    r"|true|false|yes|no|na|n/a|nan|null|none|\?",
    re.IGNORECASE,
)


def check_columns(wanted: Sequence[str], header: Sequence[str], name: str) -> None:
    """Refuse a table without a declared column; only its header is looked at. Spends nothing.

    Args:
        wanted: the declared names, as `Schema.header` gives them.
        header: names in the table.
        name: of the table, for the message.

    Raises:
        TableError: naming the first five that are absent, and those there that differ in case,
            spaces or signs alone.
    """
    there = set(header)
    absent = [column for column in wanted if column not in there]
    if not absent:
        return
    alike: dict[str, str] = {}
    for title in header:
        alike.setdefault(folded(title), title)
    # A value of a first row may be the name of a column, too: only most names make a header.
    if 2 * sum(folded(column) in alike for column in wanted) < len(wanted):
        raise TableError(
            f"The first line of {name!r} does not hold the names of columns that the schema "
            f"declares ({_listed([repr(one) for one in wanted])}). Does the file begin with a line "
            "of names? Without one its first row would be taken for the header: add the line, or "
            "load the matching table.",
            field="header",
        )
    found = {column: alike[folded(column)] for column in absent if folded(column) in alike}
    if found:
        pairs = [f"{title!r} for {column!r}" for column, title in found.items()]
        raise TableError(
            f"The names of columns in {name!r} are not those of the schema: it has "
            f"{_listed(pairs)}. Did you mean the same? Names are compared letter by letter, case "
            "and spaces, too: correct the schema or the header.",
            field="header",
        )
    raise TableError(
        f"The schema names {_listed([repr(one) for one in absent])}, but {name!r} has no such "
        "column. Correct the schema or load the matching table.",
        field="header",
    )


def check_header(header: Sequence[str], name: str) -> None:
    """Refuse empty and repeated names, and names of more than one line.

    A quotation mark that is not closed in the header makes rows a part of a name: such a name is
    neither accepted nor repeated in the message.

    Raises:
        TableError: naming the positions.
    """
    for wrong, what, mend in (
        (lambda cell: not cell, "no name", "Name every column, or remove an unnamed index column"),
        (
            # A line end at the end of a name makes no second line: it is looked for by itself.
            lambda cell: len(cell.splitlines()) > 1 or "\n" in cell or "\r" in cell,
            "a name of several lines",
            "Close its quotation mark, or rename it",
        ),
    ):
        found = [str(i) for i, cell in enumerate(header, start=1) if wrong(cell)]
        if found:
            raise TableError(
                f"The header of {name!r} has {what} in position {', '.join(found)}. {mend}.",
                field="header",
            )
    if len(header) > untrusted.COLUMNS:
        raise many_columns(name)
    places: dict[str, list[str]] = {}
    for place, cell in enumerate(header, start=1):
        places.setdefault(cell, []).append(str(place))
    # Their positions alone: without a line of names these are cells of a person.
    repeated = [" and ".join(found) for found in places.values() if len(found) > 1]
    if repeated:
        raise TableError(
            f"The header of {name!r} has the same name more than once, in positions "
            f"{_listed(repeated, '; ')}. Names must be unique; without a line of names, the first "
            "row is taken for the header.",
            field="header",
        )


def check_names(header: Sequence[str], name: str) -> None:
    """Refuse to show a header in which something looks like a value: it may be a row.

    For where names of the file are shown that no declaration confirms.

    Raises:
        TableError: naming the positions.
    """
    found = [str(i) for i, cell in enumerate(header, start=1) if _VALUE.fullmatch(cell.strip())]
    if found:
        raise TableError(
            f"The first line of {name!r} looks like a row and not like names of columns, in "
            f"position {_listed(found)}, so it is not shown. Add a line of names. If these are "
            "names, declare the columns by a schema file.",
            field="header",
        )


def many_columns(name: str) -> TableError:
    """The error for a header of too many names."""
    return TableError(
        f"The header of {name!r} names more than {untrusted.COLUMNS:,} columns, which are not "
        "read.",
        field="header",
    )


def _listed(names: Sequence[str], sign: str = ", ") -> str:
    return sign.join(names[:_SHOWN]) + (" and others" if len(names) > _SHOWN else "")
