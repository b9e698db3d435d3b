"""Query of a table as codes: the pushed encoding of all its parts, and rows drawn by person."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from prism_core.data.engines.pushdown import (
    HOME,
    EncodingRule,
    Pushed,
    nearest_whole,
    one_zero,
    push,
    without_nan,
)
from prism_core.data.schema.level import EXACT
from prism_core.data.tables.header import check_columns
from prism_core.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.data.schema.schema import Schema

PERSON = "person"
"""Name of the person-ID among the outputs of a query; columns are numbered."""

TURN, KEPT = "turn", "kept"
"""Where people have several rows: a row's number among the kept ones of its person, from 0 on, and
how many these are."""

_KEY_BYTES = 16


@dataclass(frozen=True, kw_only=True)
class CodedQuery:
    """A table as codes: an Ibis expression with a row for each row, and a column for each column.

    Attributes:
        rows: the expression: `c0`, `c1` ... are the codes in schema order, `HOME` where a cell is
            encoded at home; `h0`, `h1` ... hold such cells, null elsewhere.
            With `max_rows` above 1 there are `TURN` and `KEPT`, too.
        homes: for every column the outputs among `h0`, `h1` ... that hold its cells, one for each
            type that it has in the parts of the table.
    """

    rows: Any
    homes: tuple[tuple[str, ...], ...]


def code_query(
    tables: Sequence[Any],
    schema: Schema,
    name: str,
    key: str,
    *,
    together: bool = False,
    uncoded: Sequence[str] = (),
    few: int | None = None,
) -> CodedQuery:
    """The table as codes, with a person-ID column the drawn rows per person. No row is read.

    Each part of the table is encoded by its own types; codes of all parts are of one type, so
    joining them converts nothing.

    Args:
        tables: the parts of the table as Ibis expressions.
        schema: the declared domain.
        name: the table's name, for messages.
        key: of the draw, from `fresh_key`.
        together: whether the rows of a person are to stand together, where people have several.
        uncoded: columns of which each cell comes home, in `homes`.
        few: how many rows, or people, are drawn of all; None for all.

    Raises:
        TableError: when a declared column is missing.
    """
    import ibis

    check_columns(schema.header, tuple(titles(tables[0])), name)
    rules = [EncodingRule(column) for column in schema.columns]
    parts = [
        [
            _as_it_is(table[titles(table)[rule.column.name]])
            if rule.column.name in uncoded
            else push(rule, table[titles(table)[rule.column.name]])
            for rule in rules
        ]
        for table in tables
    ]
    kinds = [
        list(dict.fromkeys(one.home.type() for one in column if one.home is not None))
        for column in zip(*parts, strict=True)
    ]
    homes = _numbered(kinds)
    selected = []
    for table, part in zip(tables, parts, strict=True):
        outputs = _outputs(part, kinds, homes)
        if schema.person_id is not None:
            outputs[PERSON] = person(table, titles(table)[schema.person_id], name)
        selected.append(table.select(**outputs))
    rows = ibis.union(*selected) if len(selected) > 1 else selected[0]
    if schema.person_id is not None:
        rows = drawn(rows, key, schema.max_rows, together=together, people=few)
    elif few is not None:
        rows = sampled(rows, key, few)
    return CodedQuery(rows=rows, homes=homes)


def titles(table: Any) -> dict[str, str]:  # noqa: ANN401
    """The columns of a table by their names without white space around them."""
    return {title.strip(): title for title in table.columns}


def many_come_home(tables: Sequence[Any], schema: Schema) -> bool:
    """Whether cells are encoded at home of which there may be as many as rows: numbers and days.

    By the types of the columns and the schema alone.
    """
    return any(
        push(rule, table[titles(table)[rule.column.name]]).home is not None
        for rule in map(EncodingRule, schema.columns)
        if rule.column.binned
        for table in tables
    )


def _numbered(kinds: Sequence[Sequence[Any]]) -> tuple[tuple[str, ...], ...]:
    homes: list[tuple[str, ...]] = []
    for found in kinds:
        start = sum(map(len, homes))
        homes.append(tuple(f"h{start + place}" for place in range(len(found))))
    return tuple(homes)


def _as_it_is(cell: Any) -> Pushed:  # noqa: ANN401
    import ibis

    return Pushed(code=ibis.literal(HOME, "int16"), home=cell)


def _outputs(
    part: list[Pushed], kinds: list[list[Any]], homes: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """What is selected from a part: codes, and cells at home in the place of their type."""
    import ibis

    outputs: dict[str, Any] = {f"c{i}": column.code for i, column in enumerate(part)}
    for column, found, names in zip(part, kinds, homes, strict=True):
        for kind, name in zip(found, names, strict=True):
            here = column.home is not None and column.home.type() == kind
            outputs[name] = column.home if here else ibis.null(kind)
    return outputs


def fresh_key() -> str:
    """A key for `drawn` that nobody can predict."""
    return secrets.token_hex(_KEY_BYTES)


def drawn(
    rows: Any,  # noqa: ANN401
    key: str,
    most: int = 1,
    *,
    together: bool = False,
    people: int | None = None,
) -> Any:  # noqa: ANN401
    """Up to `most` uniformly chosen rows of each person, the same ones whenever they are asked.

    The rows of a person are numbered in the order of what they hold, and those with the least keyed
    hashes of person and number are kept. Equal rows may change their numbers from one scan to the
    next, which changes no count. A database's own random numbers would be others in every scan.

    Sensitivity. Each window looks at the rows of one person, and a hash at the key, the ID and a
    number: which rows of a person are kept, how many, and in which turn, is a function of the key
    and of that person's rows. So for every key the counts are a sum over persons, and replacing one
    exchanges one term of it: `Contribution.l1` and `.l2` hold with `max_rows` = `most`. Behind a
    key that nobody knows the hashes are as good as independent draws, so every choice of `most` of
    a person's rows is equally likely.

    Args:
        rows: an expression with `PERSON` and whatever else.
        key: from `fresh_key`; one for all scans of a run.
        most: rows of a person that are kept.
        together: whether the rows of a person are to stand together, people in an order that means
            nothing, where there are several.
        people: of how many, those with the least keyed hashes of their IDs; the others' rows are
            left out. Where several rows are kept the last rows may be of one more, in part.
            Replacing a person changes one of those drawn, as each has a place by itself.

    Returns:
        The expression without `PERSON`; where `most` is above 1 with `TURN` and `KEPT`.
    """
    import ibis

    wanted = [name for name in rows.columns if name != PERSON]
    rows = rows.mutate(place=ibis.row_number().over(group_by=PERSON, order_by=wanted))
    # The number before the ID: an ID may hold a slash, a number cannot, so no two draws share a
    # text.
    lot = _md5()(ibis.literal(f"{key}/") + rows.place.cast("string") + "/" + rows[PERSON])
    rows = rows.mutate(lot=lot)
    rows = rows.mutate(**{TURN: ibis.row_number().over(group_by=PERSON, order_by="lot")})
    if most == 1:
        rows, kept = rows.filter(rows[TURN] == 0), wanted
        return rows.select(*kept) if people is None else _in_order(rows, key, kept).limit(people)
    # Before the filter below, which takes rows of a person away.
    held = rows.count().over(group_by=PERSON)
    rows = rows.mutate(**{KEPT: ibis.least(held, ibis.literal(most, "int64"))})
    rows = rows.filter(rows[TURN] < most)
    kept = [*wanted, TURN, KEPT]
    if not together:
        return rows.select(*kept)
    rows = _in_order(rows, key, kept)
    return rows if people is None else rows.limit(people * most)


def _in_order(rows: Any, key: str, kept: Sequence[str]) -> Any:  # noqa: ANN401
    """People by the keyed hashes of their IDs, the rows of each by their turn."""
    import ibis

    owner = _md5()(ibis.literal(f"{key}/") + rows[PERSON])
    turn = [TURN] if TURN in kept else []
    return rows.select(*kept, owner=owner).order_by("owner", *turn)


def _one_text(cell: Any) -> Any:  # noqa: ANN401
    """A cell as a text, the same for cells that a database calls equal."""
    return (one_zero(cell) if cell.type().is_floating() else cell).cast("string")


def sampled(rows: Any, key: str, most: int) -> Any:  # noqa: ANN401
    """At most `most` uniformly chosen rows of a table without persons, the same in every scan.

    Equal rows are numbered, and the rows with the least keyed hashes of what they hold and their
    number are kept, in the order of these hashes.

    Sensitivity. A row with its number has a place of its own, whatever other rows there are.
    Equal rows are numbered from 0 on, so taking one of them away takes the last number away. So
    replacing a row takes one place out of the order and puts one in, and of those that are kept
    one is exchanged at most.

    Args:
        rows: an expression with any columns.
        key: from `fresh_key`.
        most: how many.
    """
    import ibis

    wanted = list(rows.columns)
    rows = rows.mutate(place=ibis.row_number().over(group_by=wanted, order_by=wanted[0]))
    text: Any = ibis.literal(f"{key}/") + rows.place.cast("string")
    for name in wanted:
        text = text + "/" + _one_text(rows[name]).fill_null("")
    rows = rows.mutate(lot=_md5()(text))
    # By what they hold where two texts are one: places must not change with the plan of a query.
    return rows.order_by("lot", *wanted, "place").limit(most).select(*wanted)


@cache
def _md5() -> Any:  # noqa: ANN401
    """MD5 of a text, which every database has. It shuffles, behind a secret key: no more."""
    import ibis

    @ibis.udf.scalar.builtin
    def md5(text: str) -> str: ...

    return md5


def person(table: Any, title: str, name: str) -> Any:  # noqa: ANN401
    """The ID as it stands; an empty ID is an ID like any other.

    Raises:
        TableError: when the column holds neither text nor numbers.
    """
    cell = table[title]
    kind = cell.type()
    if kind.is_string():
        return cell.fill_null("")
    if kind.is_integer() or kind.is_floating():
        # A column of whole numbers with a missing one is often stored as floats.
        return _whole_text(cell).fill_null("")
    raise TableError(
        f"The person-ID column of {name!r} must hold text or whole numbers.", field="person_id"
    )


def _whole_text(cell: Any) -> Any:  # noqa: ANN401
    import ibis

    if cell.type().is_integer():
        return cell.cast("string")
    number = without_nan(cell.cast("float64"))
    near, whole = nearest_whole(number, EXACT)
    return ibis.ifelse(whole.cast("float64") == near, whole.cast("string"), number.cast("string"))
