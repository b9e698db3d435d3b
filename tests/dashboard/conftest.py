"""What every test of the pages begins with: a workspace of its own, and the key that was shown."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from dashboard.key import access, identity, machine_key
from prism_core.privacy.ledger.rules import HOSTING_VARIABLE
from tests.support.hosting import Door, hosting_file
from tests.support.released import released_project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from dashboard.session.project import Project

KEY = "key-of-the-tests"


@pytest.fixture(scope="session", autouse=True)
def _installed_once() -> Iterator[None]:
    """Every AppTest looks through all installed packages for components: half of its time."""
    with pytest.MonkeyPatch.context() as patch:
        scan = manifest_scanner.scan_component_manifests
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(scan))
        yield


@pytest.fixture(autouse=True)
def _own_workspace(workspace: Path) -> Path:
    """No page reads or writes the workspace of whoever runs the tests."""
    return workspace


@pytest.fixture(autouse=True)
def studio_key(monkeypatch) -> str:
    """The key of the app; every session made in the test has shown it."""
    monkeypatch.setenv(machine_key.VARIABLE, KEY)
    make = AppTest.__init__

    def with_key(test: AppTest, *args, **kwargs) -> None:
        make(test, *args, **kwargs)
        test.session_state[access._GIVEN] = True
        test.session_state[access._SETTLED] = ""  # no browser is there to be asked

    monkeypatch.setattr(AppTest, "__init__", with_key)
    return KEY


@pytest.fixture
def stranger() -> Callable[[AppTest], AppTest]:
    """Make a session that has not begun yet a stranger's: its browser was asked, and has no key."""

    def strange(test: AppTest) -> AppTest:
        del test.session_state[access._GIVEN]
        return test

    return strange


@pytest.fixture
def make(tmp_path, schema, frame) -> Callable[..., Project]:
    """Makes a project with a run behind it; private unless asked otherwise."""

    def run(name: str = "run", **facts: object) -> Project:
        return released_project(tmp_path / name, schema, frame, **facts)

    return run


@pytest.fixture
def door(tmp_path, monkeypatch) -> Door:
    """A hosted app to which nobody has logged in yet."""
    found = Door()
    monkeypatch.setenv(HOSTING_VARIABLE, str(hosting_file(tmp_path / "hosting.toml")))
    monkeypatch.setattr(identity, "claims", lambda: found.said)
    monkeypatch.setattr(identity, "time", found)
    return found
