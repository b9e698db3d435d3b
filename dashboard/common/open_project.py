"""Opening of another project: at once where nothing is lost, else after a question."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.key import access
from dashboard.session.data_entries import DataEntries
from dashboard.session.designs import Designs, Entries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.project import Project
from dashboard.session.project_files import sample_of
from dashboard.session.shelf import address_of, beside, project, replace_project, unsaved_parts
from prism_core.planning.wishes.task import Synthesis
from prism_core.samples import catalogue
from prism_core.structure import formats
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from prism_core.samples.catalogue import Sample

_ASKED = "opening_asked"


@dataclass(frozen=True, kw_only=True)
class _Question:
    """A question that waits for its answer.

    Attributes:
        key: of the button that was pressed.
        new: what it opens, kept under an address of its own.
    """

    key: str
    new: Project


def open_project(key: str, make: Callable[[], Project], *, pressed: bool) -> bool:
    """Open what `make` gives in place of the project that is open.

    Where that holds something of its own, the first click replaces nothing: a question stands
    below the button, and the first answer to it is a project beside this one.

    Args:
        key: of the button.
        make: the project; called only when it is needed.
        pressed: whether the button was pressed in this run.

    Returns:
        Whether it is open now, in place of what was.
    """
    lost = unsaved_parts(project())
    # A question that stands from before has nothing to ask any more.
    if not lost:
        _forget()
        if pressed:
            replace_project(make())
        return pressed
    if pressed:
        st.session_state[_ASKED] = _Question(key=key, new=make())
    asked = st.session_state.get(_ASKED)
    if asked is None or asked.key != key:
        return False
    if access.granted():
        # In every run: the shelf holds few projects, and the link below has to lead to this one.
        beside(asked.new)
    if not _replace(asked, lost):
        return False
    _forget()
    replace_project(make())  # another one: the first may be open in a tab by now
    return True


def _replace(asked: _Question, lost: tuple[str, ...]) -> bool:
    """The question, and whether the answer is to replace what is open."""
    name = plain(project().data.name or "Another project")
    other = plain(asked.new.data.name)
    st.warning(
        f"**{name} is open here.** “{other}” in its place would clear from this "
        f"page {' and '.join(lost)}. Nothing is replaced yet. (Charges in the ledger and files of "
        "runs stay in either case; so do the entries, among your projects on Start.)",
        icon=":material/swap_horiz:",
    )
    with st.container(horizontal=True):
        if access.granted():
            # Without the key a project is under no address, so there is nothing to link to.
            st.link_button(
                "Open in a new project",
                address_of(asked.new),
                type="primary",
                icon=":material/open_in_new:",
                key=f"{asked.key}_beside",
                on_click=_forget,
                help="In another tab, under an address of its own. This tab stays as it is.",
            )
        replace = st.button("Replace what is open", key=f"{asked.key}_replace")
        st.button("Leave it", key=f"{asked.key}_leave", type="tertiary", on_click=_forget)
    return replace


def _forget() -> None:
    st.session_state.pop(_ASKED, None)


def samples_section(*, short: bool = False, then: str = "") -> None:
    """The packaged samples, which anybody may open.

    Args:
        short: whether only their names are shown, with the rest as help; also the one in use leads
            on.
        then: page to go to once one is open; "" for the page that runs.
    """
    if not short:
        st.caption("Generated tables with a known graph; nothing in them belongs to a person.")
    for column, name in zip(st.columns(len(catalogue.SAMPLES)), catalogue.SAMPLES, strict=True):
        chosen, key = project().data.sample == name, f"sample_{name}"
        with column.container(border=not short, height="stretch"):
            pressed = _button(key, name) if short else _card(key, name, chosen=chosen)
            # Only when it is pressed are rows generated.
            opened = (
                pressed if chosen else open_project(key, partial(_opened, name), pressed=pressed)
            )
            if opened and then:
                st.switch_page(then)
            if opened:
                st.rerun()


def _button(key: str, name: str) -> bool:
    return st.button(
        catalogue.title(name), key=key, width="stretch", help=catalogue.description(name)
    )


def _card(key: str, name: str, *, chosen: bool) -> bool:
    st.subheader(catalogue.title(name), anchor=False)
    st.markdown(catalogue.description(name))
    return st.button(
        "In use" if chosen else "Use this sample",
        key=key,
        disabled=chosen,
        type="secondary" if chosen else "primary",
        width="stretch",
    )


def of_sample(sample: Sample) -> Project:
    """A project of a packaged sample: its rows, schema, graph and target."""
    dag = formats.parse(sample.dag_json).dag
    return Project(
        data=DataEntries(
            name=sample.title,
            sample=sample.name,
            raw=sample.train,
            test=sample.test,
            public=True,
            schema=sample.schema,
        ),
        structure=StructureEntries(graph=EditedGraph(edges=dag.edges), target=sample.target),
    )


def _opened(name: str) -> Project:
    sample = sample_of(name)
    new = of_sample(sample)
    new.designs = Designs(plan=Entries(synthesis=Synthesis(rows=sample.train.rows)))
    return new
