"""Project files of a session: what is open as a file, and a file as what is opened.

No row is in a file; those of the packaged samples are generated again.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.session.data_entries import DataEntries
from dashboard.session.designs import LETTERS, PLAN, Designs, from_values
from dashboard.session.graph import EditedGraph
from dashboard.session.project import Project
from dashboard.session.rehearsals import scenario_of
from dashboard.session.release_entries import AccountEntries, ReleaseEntries
from prism_core.bundle.project_file import LONGEST, ProjectFile
from prism_core.data.schema import column_form
from prism_core.errors import ConfigError, PrismError
from prism_core.planning.wishes.curator_statement import LABELS, CuratorStatement
from prism_core.samples import catalogue
from prism_core.structure.dag import Drawing

if TYPE_CHECKING:
    from prism_core.samples.catalogue import Sample


def to_file(state: Project) -> tuple[ProjectFile, tuple[str, ...]]:
    """What is entered, as it is saved; and the letters of designs that cannot be, for a mistake.

    Reads no row. Nothing of a row, of a file's bytes or of a run goes along.

    Raises:
        PrismError: when the plan or the statement has a mistake that no file can hold.
    """
    gone = state.data.rows_let_go
    persons = state.data.whole or state.data.people.persons or (0 if gone is None else gone.rows)
    designs, left = [], []
    for letter in state.designs.letters if state.structure.target else ():
        try:
            designs.append(
                scenario_of(state.designs.entries(letter), state.structure.target or "", letter)
            )
        except PrismError:
            if letter == PLAN:  # without the plan the others would be opened as the plan
                raise
            left.append(letter)
    said = {name: state.release.said.get(name, "").strip() for name in LABELS}
    file = ProjectFile(
        name=_line(state.data.name) or "Project",
        persons=persons if persons > 1 else None,
        schema=state.data.schema,
        form=tuple(dict(row) for row in _open_form(state)),
        form_provenance=state.data.form_provenance,
        read=state.data.read,
        looks=state.data.told,
        drawing=_drawing(state),
        target=state.structure.target,
        designs=tuple(designs),
        saved=tuple(state.designs.saved[name] for name in sorted(state.designs.saved)),
        approval=state.release.approved,
        approval_needed=state.release.approval_needed,
        asset=_line(state.account.asset),
        lifetime=state.account.lifetime,
        purpose=_line(state.account.why),
        statement=CuratorStatement(**said),
        holdout_share=state.data.holdout_share,
        own_test=state.data.own_test,
        p_min=state.designs.p_min,
        sample=state.data.sample or "",
    )
    return file, tuple(left)


def from_file(file: ProjectFile) -> Project:
    """The project of a file, waiting for its table; a sample's rows are put in by the caller.

    It is private whatever it was: only whoever loads the table says that its rows are public.
    """
    state = Project(
        data=DataEntries(
            name=file.name,
            announced=file.persons,
            holdout_share=file.holdout_share,
            test_file=file.own_test,
            looks=file.looks,
        ),
        account=AccountEntries(asset=file.asset, lifetime=file.lifetime, why=file.purpose),
        designs=Designs(p_min=file.p_min),
        release=ReleaseEntries(approval_needed=file.approval_needed, said=file.statement.to_dict()),
    )
    if file.schema is not None:
        state.use_schema(file.schema)
    if file.form:
        state.data.show_form(file.form)
    elif file.schema is not None:
        state.data.show_form(column_form.to_rows(file.schema.columns))
    # Not what the schema says: the form may be ahead of it, from another source.
    state.data.form_provenance, state.data.read = file.form_provenance, file.read
    state.structure.target = file.target
    if file.drawing is not None:
        state.structure.graph = EditedGraph()
        state.structure.graph.load(file.drawing.dag, file.drawing.positions)
        state.structure.graph.foreign = False  # they were saved in the editor's own unit
    entries = [from_values(one.task, one.budget, one.synthesis) for one in file.designs]
    if entries:
        state.designs.plan.take(entries[0])
    state.designs.others = dict(zip(LETTERS, entries[1:], strict=False))
    state.designs.saved = {one.name: one for one in file.saved}
    # In the hosted form it counts for nothing: there the committee's room is asked.
    state.release.approved = file.approval
    return state


def _open_form(state: Project) -> list[dict[str, Any]]:
    """The form where it says something else than the schema in use."""
    data = state.data
    rows = data.rows_of_form
    # Asked in every run of a page, and a wide form takes a tenth of a second to read.
    if data.compared is None or data.compared[:2] != (rows, data.schema):
        same = False
        with suppress(PrismError):
            same = data.schema is not None and column_form.same(rows, data.schema.columns)
        data.compared = ([dict(row) for row in rows], data.schema, same)
    if data.compared[2]:
        return []
    blank = column_form.blank_rows([""])[0]
    return [{**blank, **{k: v for k, v in row.items() if k in blank}} for row in rows]


def _drawing(state: Project) -> Drawing | None:
    graph = state.structure.graph
    if state.data.schema is None or not (graph.edges or graph.prior):
        return None
    dag = graph.over(state.data.schema.names)
    known = set(dag.nodes)
    places = {} if graph.foreign else graph.positions
    return Drawing(
        dag=dag, positions={name: place for name, place in places.items() if name in known}
    )


def _line(text: str) -> str:
    """One line that a file takes."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:LONGEST].strip()


@st.cache_resource(show_spinner="Generating the sample …")  # public rows, the same for everybody
def sample_of(name: str) -> Sample:
    """A packaged sample by its name."""
    return catalogue.load(name)


def with_sample(state: Project, name: str) -> Project:
    """A project with the rows of its packaged sample, which are public; as it is without one.

    Raises:
        ConfigError: when there is no such sample.
    """
    if not name:
        return state
    if name not in catalogue.SAMPLES:
        raise ConfigError(
            f"sample must be one of {', '.join(catalogue.SAMPLES)}, or empty.", field="sample"
        )
    sample = sample_of(name)
    state.data.sample, state.data.name, state.data.public = sample.name, sample.title, True
    state.data.raw, state.data.test = sample.train, sample.test
    # The rows are here: their own number holds, and no file is waited for.
    state.data.announced, state.data.test_file = None, False
    return state
