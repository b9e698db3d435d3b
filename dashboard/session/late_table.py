"""Late table: a design that was made for a number of persons, and the table that comes later."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dashboard.session.data_entries import People
from prism_core.data.schema.looks import merged

if TYPE_CHECKING:
    from dashboard.session.project import Project
    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.tables.raw_table import RawTable


def announce(state: Project, persons: int) -> None:
    """Say how many persons the table will hold; public.

    Raises:
        SchemaError: when the number is not usable.
    """
    state.data.announced = persons
    if state.data.people.person_id is not None:
        state.declare_people(replace(state.data.people, persons=persons))


def bind(
    state: Project,
    raw: RawTable | BigTable,
    name: str,
    *,
    public: bool,
    marks: frozenset[str],
) -> None:
    """Put the table under the design. Nothing of the design changes, the number least of all.

    Args:
        state: the project of the design.
        raw: the table.
        name: of its file.
        public: whether its rows are public.
        marks: by which it is known as private; of public rows none.
    """
    state.data.raw, state.data.name, state.data.public = raw, name, public
    state.data.private_marks |= marks
    state.data.file_sha256 = getattr(raw, "sha256", "")
    seen = state.data.looked.get(state.data.table_key, ())
    if seen:  # this session opened these rows before: the plan has to say so
        state.data.looks = merged(state.data.looks, seen)
        state.use_schema(state.data.schema)


def unbind(state: Project) -> None:
    """Take the table away from a design that was made before it."""
    if state.data.announced is not None:
        # The number stays: the design waits for a table again.
        state.data.raw, state.data.file_sha256 = None, ""


def count_anew(state: Project) -> None:
    """Give up the announced number for that of the table: the plan is designed anew.

    Where a column names the person, it has to be said again how many there are.
    """
    state.data.announced = None
    if state.data.people.person_id is not None:
        state.data.person_hint = state.data.people.person_id
        state.declare_people(People())
