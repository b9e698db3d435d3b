"""Looks at the private rows before a plan: a record of events, and never of a figure.

A count of cells, a preview or a draft reads the rows without noise, and no epsilon covers what the
curator learns from it. What she saw is kept nowhere. That she looked, at which file and when, and
which columns she declared otherwise afterwards, stands in the schema, and goes with it into plan,
protocol, certificate and report. A change after a look counts as taken from the rows unless she
states the document that says the same.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from prism_core.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

Act: TypeAlias = Literal[
    "counted cells outside",
    "counted persons",
    "previewed rows",
    "checked rows",
    "drafted from rows",
]
ACTS: tuple[Act, ...] = get_args(Act)

ACT_TEXT: dict[Act, str] = {
    "counted cells outside": "the cells outside the declaration and the different values were "
    "counted, column by column",
    "counted persons": "the different values of the column that names the person were counted",
    "previewed rows": "rows were shown",
    "checked rows": "rows were checked against the declaration",
    "drafted from rows": "the columns were drafted from the rows",
}
"""What was done, as the end of a sentence."""

UNCHECKED = "nobody has checked that the cells fit the declaration"

_CHECKS = ("counted cells outside", "checked rows", "drafted from rows")

LONGEST = 300
"""Characters of a file's name, and of a source."""

_SHOWN = 12
_WHEN = "%Y-%m-%d %H:%M"


@dataclass(frozen=True, kw_only=True)
class Look:
    """Rows were read without noise.

    Attributes:
        did: what was done.
        file: name of the table, without the folder it stands in.
        when: minute in UTC, as YYYY-MM-DD HH:MM.

    Raises:
        SchemaError: naming the entry.
    """

    did: Act
    file: str
    when: str

    def __post_init__(self) -> None:
        if self.did not in ACTS:
            raise SchemaError(f"did must be one of {', '.join(ACTS)}.", field="looks")
        _line(self.file, "file", "the name of a table")
        if "/" in self.file or "\\" in self.file:
            raise SchemaError(
                "file must be the name of a table alone, without a folder.", field="looks"
            )
        _minute(self.when)

    @property
    def tells(self) -> bool:
        """Whether it may say what a column should hold. The number of persons is public."""
        return self.did != "counted persons"

    def to_dict(self) -> dict[str, Any]:
        """Plain values that `from_list` reads back."""
        return {"did": self.did, "file": self.file, "when": self.when}


@dataclass(frozen=True, kw_only=True)
class Changed:
    """Columns were declared otherwise after a look.

    Attributes:
        columns: their names; those that were added or left out are among them.
        declared_from: the document they come from, as the curator states; "" where she names none:
            then they count as taken from the rows.
        when: minute in UTC, as YYYY-MM-DD HH:MM.

    Raises:
        SchemaError: naming the entry.
    """

    columns: tuple[str, ...]
    declared_from: str
    when: str

    def __post_init__(self) -> None:
        named = all(isinstance(name, str) and name for name in self.columns)
        if not self.columns or not named or len(set(self.columns)) != len(self.columns):
            raise SchemaError("changed must list names of columns, each once.", field="looks")
        if self.declared_from != "":
            _line(self.declared_from, "declared_from", "the document that says the same")
        _minute(self.when)

    def to_dict(self) -> dict[str, Any]:
        """Plain values that `from_list` reads back."""
        source = {"declared_from": self.declared_from} if self.declared_from else {}
        return {"changed": list(self.columns), **source, "when": self.when}


Event: TypeAlias = Look | Changed
Looks: TypeAlias = tuple[Event, ...]


def this_minute() -> str:
    """This minute, as an event takes it."""
    return dt.datetime.now(dt.UTC).strftime(_WHEN)


def file_name(text: str) -> str:
    """The name of a table on one line, without the folder it stands in."""
    # Backslashes, too: a path may come from a machine with Windows.
    name = text.replace("\\", "/").rstrip("/").rpartition("/")[2]
    line = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    return line[:LONGEST].strip() or "a table without a name"


def from_list(entries: object) -> Looks:
    """Events from plain values, as `to_list` gives them.

    Raises:
        SchemaError: when they are something else.
    """
    if not isinstance(entries, (list, tuple)):
        raise SchemaError("looks must be a list of events.", field="looks")
    return tuple(_event(entry) for entry in entries)


def to_list(looks: Iterable[Event]) -> list[dict[str, Any]]:
    """Plain values that `from_list` reads back."""
    return [event.to_dict() for event in looks]


def check_looks(looks: Looks, provenance: str, names: Collection[str]) -> None:
    """What was changed after a look without a source makes the provenance `private rows`.

    Raises:
        SchemaError: when a change has no look before it, or the provenance hides one.
    """
    if looks and not isinstance(looks[0], Look):
        raise SchemaError(
            "The first of the looks must say what was done with the rows.", field="looks"
        )
    taken = unsourced(looks, names)
    if taken and provenance != "private rows":
        raise SchemaError(
            f"Column {taken[0]!r} was changed after a look at the rows and no source is named. "
            "Name it under declared_from, or give the schema the provenance 'private rows'.",
            field="provenance",
        )


def unsourced(looks: Looks, names: Collection[str]) -> tuple[str, ...]:
    """Columns whose last change after a look has no source, of those in `names`."""
    # By name: a later change of a column takes the place of an earlier one.
    last = {
        name: event.declared_from
        for event in looks
        if isinstance(event, Changed)
        for name in event.columns
    }
    return tuple(name for name, source in last.items() if not source and name in names)


def merged(looks: Looks, other: Looks) -> Looks:
    """The events of both in the order of time; what both record is there as often as in one.

    An event stays behind those that its own record has before it: where the clock was set back, a
    change would come before the look that it followed.
    """
    known, added = Counter(looks), []
    for event in other:
        if known[event] > 0:
            known[event] -= 1
        else:
            added.append(event)
    timed = [*_not_before(looks), *_not_before(tuple(added))]
    # By time alone: sorting is stable, so events of one minute keep the order of their record.
    return tuple(event for _, event in sorted(timed, key=lambda pair: pair[0]))


def _not_before(looks: Looks) -> list[tuple[str, Event]]:
    """Each event with the latest time that its record has reached with it."""
    times = accumulate((event.when for event in looks), max)
    return list(zip(times, looks, strict=True))


def redeclared(
    looks: Looks,
    came_with: Looks,
    before: Mapping[str, object],
    now: Mapping[str, object],
    *,
    source: str,
    when: str,
    whole: bool = False,
) -> Looks:
    """The events once other columns are declared, with the change where rows were seen before.

    A file whose own events hold all that is on record, and more, tells its changes itself.

    Args:
        looks: what is on record.
        came_with: what a file records that the columns come from.
        before: columns by name as they were declared; empty where none were in use.
        now: columns by name as they are to be.
        source: the document that the curator states, "" for none.
        when: minute of the change.
        whole: whether the declaration is a document of its own, so that a stated source holds for
            columns that are as they were, too.
    """
    known = merged(looks, came_with)
    told = Counter(looks) < Counter(came_with)
    if told or not any(isinstance(event, Look) and event.tells for event in known):
        return known
    changed = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if whole and source:
        changed += [name for name in unsourced(known, now) if name not in changed]
    if not changed:
        return known
    return (*known, Changed(columns=tuple(changed), declared_from=source, when=when))


def checked(looks: Looks) -> bool:
    """Whether somebody looked if the cells fit the declaration, as it is since its last change."""
    # From the end: a change after a check leaves a declaration that nobody has checked.
    for event in reversed(looks):
        if isinstance(event, Changed):
            return False
        if event.did in _CHECKS:
            return True
    return False


def unchecked(looks: Looks, *, public: bool = False) -> str:
    """What is to be said before private rows are charged: that nobody looked if they fit, or "".

    Public rows are checked when they are read (`data.coverage.check_covered`). Reads no row.
    """
    return "" if public or checked(looks) else UNCHECKED


def sentences(looks: Looks) -> tuple[str, ...]:
    """The record in words, for plan, protocol, certificate and report; empty without an event."""
    if not looks:
        return ()
    found = [summary(looks)]
    for _, group in groupby(looks, key=_kind):
        events = list(group)
        if isinstance(events[0], Look):
            found.append(_looked([each for each in events if isinstance(each, Look)]))
        else:
            found += [_changed(each) for each in events if isinstance(each, Changed)]
    return tuple(found)


def summary(looks: Looks) -> str:
    """That the rows were opened, and how often, in a sentence."""
    count = sum(isinstance(event, Look) for event in looks)
    times = "once" if count == 1 else f"{count:,} times"
    return (
        f"Before the plan the rows were opened {times} without noise. No epsilon covers what was "
        "learned from that."
    )


def _kind(event: Event) -> tuple[str, str]:
    return (event.did, event.file) if isinstance(event, Look) else ("", "")


def _looked(events: Sequence[Look]) -> str:
    first, last = events[0], events[-1]
    times = f" {len(events)} times" if len(events) > 1 else ""
    when = first.when if first.when == last.when else f"{first.when} to {last.when}"
    return f"Of “{first.file}”, {ACT_TEXT[first.did]}{times} ({when} UTC)."


def _changed(event: Changed) -> str:
    names = ", ".join(event.columns[:_SHOWN])
    more = len(event.columns) - _SHOWN
    named = f"{names} and {more:,} more" if more > 0 else names
    one = len(event.columns) == 1
    said = f"{'This column was' if one else 'These columns were'} declared or changed after that"
    if event.declared_from:
        why = (
            f"The curator states that the declaration comes from “{event.declared_from}”, not from "
            "what was seen."
        )
    else:
        why = (
            f"No source is named, so {'it counts' if one else 'they count'} as taken from the rows."
        )
    return f"{said} ({event.when} UTC): {named}. {why}"


def _event(entry: object) -> Event:
    if isinstance(entry, dict) and set(entry) == {"did", "file", "when"}:
        return Look(did=entry["did"], file=entry["file"], when=entry["when"])
    keys = {"changed", "when"}
    if isinstance(entry, dict) and keys <= set(entry) <= {*keys, "declared_from"}:
        columns = entry["changed"]
        if isinstance(columns, (list, tuple)):
            source = entry.get("declared_from", "")
            return Changed(columns=tuple(columns), declared_from=source, when=entry["when"])
    raise SchemaError(
        "An entry of looks has did, file and when, or changed, when and perhaps declared_from.",
        field="looks",
    )


def _line(text: object, field: str, what: str) -> None:
    good = isinstance(text, str) and text.isprintable() and text == text.strip()
    if not good or not 1 <= len(str(text)) <= LONGEST:
        raise SchemaError(
            f"{field} must be {what}: one line of 1 to {LONGEST} characters.", field="looks"
        )


def _minute(text: object) -> None:
    try:
        # Written back: strptime alone takes 2026-1-5, too, and texts are compared as times.
        good = isinstance(text, str) and dt.datetime.strptime(text, _WHEN).strftime(_WHEN) == text
    except ValueError:
        good = False
    if not good:
        raise SchemaError("when must be a minute in UTC, written YYYY-MM-DD HH:MM.", field="looks")
