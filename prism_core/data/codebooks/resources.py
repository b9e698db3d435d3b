"""Resources: which table of a codebook that describes several is meant, and of how many columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.errors import SchemaError
from prism_core.text import untrusted
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 30


def check_count(columns: int) -> None:
    """Refuse a codebook of more columns than a table may have, before they are read one by one.

    Raises:
        SchemaError: when there are more than `untrusted.COLUMNS`.
    """
    if columns > untrusted.COLUMNS:
        raise SchemaError(
            f"The codebook describes {columns:,} columns; at most {untrusted.COLUMNS:,} are read.",
            field="codebook",
        )


def chosen(names: Sequence[str], wanted: str | None, several: str) -> int:
    """The place of the table that is meant.

    Args:
        names: of the tables, in order.
        wanted: the name that was given; None where none was.
        several: what is said where there is more than one and none was named.

    Raises:
        SchemaError: when there is none, none of that name, or several and no name.
    """
    told = ", ".join(name[:80] for name in names[:_SHOWN])
    told += f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    if not names:
        raise SchemaError("The codebook describes no table.", field="codebook")
    if wanted is not None:
        if wanted in names:
            return list(names).index(wanted)
        raise SchemaError(
            f"The codebook has no table {wanted!r}. It has {told}.{suggestion(wanted, names)}",
            field="resource",
        )
    if len(names) > 1:
        raise SchemaError(
            f"Name one table, for {several}: {told}.",
            field="resource",
        )
    return 0
