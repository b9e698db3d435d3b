"""Saved designs: in this session, or in a folder that is shared on purpose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import streamlit as st

from dashboard.common.fields import keeping
from dashboard.common.widgets import mistakes
from dashboard.key import access
from dashboard.session.designs import from_values
from dashboard.session.shelf import project
from prism_core.errors import ConfigError, PrismError
from prism_core.planning.wishes import scenario_files
from prism_core.planning.wishes.scenario_files import ScenarioBook
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from prism_core.planning.wishes.scenario import Scenario


class Shelf(Protocol):
    """Where designs are kept by name."""

    def names(self) -> tuple[str, ...]:
        """Names in use."""
        ...

    def save(self, scenario: Scenario) -> None:
        """Keep a design; replaces one of the same name."""
        ...

    def load(self, name: str) -> Scenario:
        """The design of that name."""
        ...

    def delete(self, name: str) -> None:
        """Forget the design of that name."""
        ...


def section() -> None:
    """Save, load, delete and export; nothing leaves this session unless a folder is named."""
    st.divider()
    st.subheader("Designs kept by name", anchor=False)
    with mistakes():
        shelf = _shelf()
        if shelf is not None:
            _save(shelf)
            _saved(shelf)
    _export()


class _Session:
    """Designs that only this session has."""

    def __init__(self, saved: dict[str, Scenario]) -> None:
        self.saved = saved

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self.saved))

    def save(self, scenario: Scenario) -> None:
        self.saved[scenario.name] = scenario

    def load(self, name: str) -> Scenario:
        return self.saved[name]

    def delete(self, name: str) -> None:
        self.saved.pop(name, None)


class _Folder:
    """Designs in a folder, for one project's name."""

    def __init__(self, folder: str, project: str) -> None:
        # It is read and written with the rights of whoever started the app.
        access.require_own_machine()
        self.book, self.project = ScenarioBook(Path(folder).expanduser()), project

    def names(self) -> tuple[str, ...]:
        return tuple(scenario.name for scenario in self.book.load(self.project))

    def save(self, scenario: Scenario) -> None:
        self.book.save(self.project, scenario)

    def load(self, name: str) -> Scenario:
        for scenario in self.book.load(self.project):
            if scenario.name == name:
                return scenario
        raise ConfigError("This design was deleted meanwhile.", field="name")

    def delete(self, name: str) -> None:
        self.book.delete(self.project, name)


def _shelf() -> Shelf | None:
    """The session's own, or the one in the folder that is named; None while it cannot be used."""
    scenarios = project().designs
    # A folder is a place on the server, which in the hosted form nobody names.
    if not access.names_places():
        return _Session(scenarios.saved)
    st.toggle(
        "Keep them in a folder that others can use, too",
        value=scenarios.shared,
        help="Off: they belong to this session and are gone with it. On: whoever names the same "
        "folder sees them. They hold settings only, no row and nothing that depends on one.",
        **keeping(scenarios, "shared", "book_shared", scenarios.shared),
    )
    if not scenarios.shared:
        return _Session(scenarios.saved)
    st.text_input(
        "Folder",
        value=scenarios.folder,
        placeholder="/srv/studies/readmissions",
        **keeping(scenarios, "folder", "book_folder", scenarios.folder),
    )
    if not scenarios.folder.strip():
        st.caption("Name the folder; it is made when the first design is saved.")
        return None
    # By the project's name: one folder may hold the designs of several.
    return _Folder(scenarios.folder.strip(), project().data.name)


def _save(shelf: Shelf) -> None:
    scenarios = project().designs
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            f"Name for design {scenarios.edited}",
            value=scenarios.name,
            width=300,
            **keeping(scenarios, "name", "book_name", scenarios.name),
        )
        if st.button("Save", key="book_save", icon=":material/bookmark_add:"):
            with mistakes():
                shelf.save(project().scenario(scenarios.edited, scenarios.name.strip()))
                st.toast(f"Design {scenarios.edited} is saved.")


def _saved(shelf: Shelf) -> None:
    names = shelf.names()
    if not names:
        st.caption("None is saved yet.")
        return
    letter = project().designs.next_letter
    for place, name in enumerate(names):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/bookmark: **{plain(name)}**", width="stretch")
            if letter is not None:
                _button(
                    f"Put beside the plan as {letter}", f"book_load_{place}", _load, shelf, name
                )
            _button("Delete", f"book_delete_{place}", _delete, shelf, name)


def _button(
    label: str, key: str, act: Callable[[Shelf, str], None], shelf: Shelf, name: str
) -> None:
    st.button(label, key=key, on_click=act, args=(shelf, name))


def _load(shelf: Shelf, name: str) -> None:
    scenarios = project().designs
    try:
        found = shelf.load(name)
    except PrismError as error:  # someone else may have deleted it meanwhile
        # A toast, because a callback runs before the page and has no place on it.
        st.toast(str(error))
        return
    letter = scenarios.keep(from_values(found.task, found.budget, found.synthesis))
    st.toast(f"It stands beside the plan as {letter}.")


def _delete(shelf: Shelf, name: str) -> None:
    try:
        shelf.delete(name)
    except PrismError as error:
        st.toast(str(error))


def _export() -> None:
    """All designs of this page that are usable, as files."""
    with mistakes():
        found = project().usable(project().designs.letters)
        if not found:
            return
        document = [scenario_files.to_dict(scenario) for scenario in found]
        with st.container(horizontal=True):
            st.download_button(
                "Designs as TOML",
                scenario_files.dumps(found),
                "designs.toml",
                mime="application/toml",
                key="book_toml",
                icon=":material/download:",
                on_click="ignore",
                help="For `prism plan CONFIG.toml --what-if designs.toml`.",
            )
            st.download_button(
                "Designs as JSON",
                json.dumps(document, indent=2, ensure_ascii=False),
                "designs.json",
                mime="application/json",
                key="book_json",
                icon=":material/download:",
                on_click="ignore",
            )
