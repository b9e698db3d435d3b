"""Sources on the page Data: chosen by name, charged to their asset, whatever a curator types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.session import memory, offered_sources, shelf, stored
from prism_core.errors import AccessError
from prism_core.hosting import audit_log
from prism_core.privacy.ledger.rules import HOSTING_VARIABLE
from tests.support.hosting import hosting_file
from tests.support.pages import session, texts, turned

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.app, pytest.mark.privacy]


@pytest.fixture
def file(door, tmp_path, monkeypatch, frame, workspace) -> Path:
    """Two views of the stays, and one that is Ben's alone."""
    folder = tmp_path / "server"
    folder.mkdir()
    frame.to_csv(folder / "stays.csv", index=False)
    frame.iloc[:200].to_csv(folder / "recent.csv", index=False)
    frame.iloc[:100].to_csv(folder / "ben.csv", index=False)
    entries = (
        ("Stays", "stays.csv", "stays of clinic A", ""),
        ("Recent stays", "recent.csv", "stays of clinic A", ""),
        ("Ben's", "ben.csv", "visits", 'curators = ["u-ben"]\n'),
    )
    path = folder / "sources.toml"
    path.write_text(
        "\n".join(
            f'[[source]]\nname = "{name}"\naddress = "{address}"\nasset = "{asset}"\n'
            f"lifetime_epsilon = 2.5\n{more}"
            for name, address, asset, more in entries
        )
    )
    hosting = hosting_file(tmp_path / "h.toml", more=f'[sources]\nfile = "{path}"\n')
    monkeypatch.setenv(HOSTING_VARIABLE, str(hosting))
    shelf._shelf().clear()
    return path


def page(door, subject: str = "u-ada", name: str = "data", **query: str) -> AppTest:
    door.let_in(subject)
    test = session()
    for key, value in query.items():
        test.query_params[key] = value
    turned(test, name).run()
    assert not test.exception, test.exception[0].value
    return test


def keys(test: AppTest) -> set[str]:
    return {str(element.key) for element in test.main if getattr(element, "key", None)}


def opened(door, name: str) -> AppTest:
    test = page(door)
    test.selectbox(key="source_name").set_value(name).run()
    test.button(key="source_open").click().run()
    assert not test.exception, test.exception[0].value
    return test


def test_a_curator_chooses_a_name_and_has_no_field_for_a_path_or_host(door, file):
    test = page(door)
    assert {"place_text", "place_open"} & keys(test) == set()
    assert test.selectbox(key="source_name").options == ["Stays", "Recent stays"]
    assert page(door, "u-ben").selectbox(key="source_name").options[-1] == "Ben's"


def test_its_asset_is_charged_whatever_is_entered(door, file, workspace):
    test = opened(door, "Stays")
    state = test.session_state["project"]
    assert (state.data.name, state.data.raw.rows, state.data.public) == ("Stays", 300, False)
    state.account.asset, state.account.lifetime = "another name", 99.0
    asset = charged(test)
    assert (asset.name, asset.lifetime_epsilon) == ("stays of clinic A", 2.5)
    assert ("u-ada", "source opened", "Stays") in {
        (e.who, e.did, e.what) for e in audit_log.entries(workspace)
    }


def _charges() -> None:
    """Runs in a session: what any step of it would charge."""
    import streamlit as st

    from dashboard.common import asset_entry

    try:
        st.session_state["charged"] = asset_entry.chosen()
    except asset_entry.PrismError as error:
        st.session_state["charged"] = str(error)


def charged(test: AppTest):
    """What a step of this session's project would charge."""
    again = AppTest.from_function(_charges, default_timeout=60)
    again.session_state["project"] = test.session_state["project"]
    again.run()
    assert not again.exception
    return again.session_state["charged"]


def test_two_views_are_one_asset(door, file):
    first, second = (charged(opened(door, name)).name for name in ("Stays", "Recent stays"))
    assert first == second == "stays of clinic A"


def test_the_source_of_another_is_not_opened(door, file):
    door.let_in("u-ada")
    for name in ("Ben's", "nothing", str(file.parent / "ben.csv")):
        with pytest.raises(AccessError, match="no source of this name"):
            offered_sources.chosen(name)


def test_a_source_that_is_taken_away_is_not_charged_any_more(door, file):
    test = opened(door, "Stays")
    file.write_text(file.read_text().replace('name = "Stays"', 'name = "Gone"'))
    assert "no source of this name for you" in charged(test)


def test_a_project_of_a_source_stays_bound_to_it_on_disk(door, file):
    state = opened(door, "Stays").session_state["project"]
    shelf._shelf().clear()
    door.let_in("u-ada")
    again = stored.restored(state.key)
    assert (again.data.from_source, again.account.asset) == ("Stays", "stays of clinic A")


def test_a_shared_project_shares_no_rows_of_a_source_that_is_not_offered(door, file):
    test = page(door, "u-ben")
    test.selectbox(key="source_name").set_value("Ben's").run()
    test.button(key="source_open").click().run()
    state = test.session_state["project"]
    assert state.data.raw is not None
    stored.keep(state)
    stored.store().share(state.key, "u-ada", "Ada", "editor")
    seen = page(door, "u-ada", project=state.key).session_state["project"]
    assert (seen.key, seen.data.raw) == (state.key, None)
    # Nor where the owner loads the rows into what she has open.
    seen.data.raw = state.data.raw
    again = session()
    again.session_state["project"] = seen
    turned(again, "data").run()
    assert again.session_state["project"].data.raw is None
    door.let_in("u-ben")
    assert stored.allowed(state)


def test_rows_that_went_from_memory_come_back_with_the_source(door, file):
    test = opened(door, "Stays")
    state = test.session_state["project"]
    memory.let_go(state)
    assert state.data.raw is None
    test.run()
    test.selectbox(key="source_name").set_value("Stays").run()
    test.button(key="source_open").click().run()
    assert not test.exception
    assert test.session_state["project"] is state
    assert (state.data.raw.rows, state.data.from_source) == (300, "Stays")


def test_on_release_the_asset_is_not_for_the_curator_to_type(door, file, schema):
    state = opened(door, "Stays").session_state["project"]
    state.use_schema(schema)
    state.structure.target = "readmitted"
    state.designs.plan.regime = "predictive"
    door.let_in("u-ada")
    test = turned(session(state), "release").run()
    assert not test.exception, test.exception[0].value
    assert "asset_name" not in keys(test)
    assert "asset_lifetime" not in keys(test)
    field = test.text_input(key="asset_name_of_source")
    assert (field.value, field.disabled) == ("stays of clinic A", True)


def test_without_a_file_of_sources_it_says_whom_to_ask(door):
    test = page(door)
    assert "No source is offered to you" in texts(test)
    assert "place_text" not in keys(test)


def test_a_file_of_sources_that_is_not_usable_is_said_without_an_address(door, file):
    file.write_text('[[source]]\nname = "a"\naddress = "postgres://r:hunter2@db/c?table=t"\n')
    test = page(door)
    assert "the file of sources" in texts(test)
    assert "hunter2" not in texts(test)
