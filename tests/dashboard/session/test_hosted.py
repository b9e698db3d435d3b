"""Sessions of the hosted form: who is in, with which role, and what every step answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.jobs import worker
from dashboard.key import access
from prism_core.comparators import design_comparator
from prism_core.data.encoding import encode
from prism_core.planning.wishes.config import AssetConfig
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.ledger.rules import HOSTING_VARIABLE
from tests.dashboard.session.test_strangers import _steps
from tests.support.pages import ADDRESSES, session, texts, turned

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.app, pytest.mark.privacy]


@pytest.fixture
def visit(door, stranger) -> Callable[..., AppTest]:
    def visit(page: str) -> AppTest:
        test = turned(stranger(session()), page).run()
        assert not test.exception, test.exception[0].value
        return test

    return visit


def keys(test: AppTest) -> set[str]:
    """What a page offers; the way back of a login shows nothing."""
    found = {str(element.key) for element in test.main if getattr(element, "key", None)}
    return found - {"way_back"}


@pytest.mark.parametrize("page", ADDRESSES)
def test_without_a_login_every_page_offers_the_login_and_nothing_else(page, visit):
    assert keys(visit(page)) == {"log_in"}


def test_the_key_is_of_no_use(visit, door, studio_key):
    test = session()  # it has shown the key
    test.query_params["key"] = studio_key
    test.run()
    assert keys(test) == {"log_in"}
    assert not access.offer(studio_key)


def test_a_curator_works(visit, door):
    door.let_in("u-ada")
    assert {"start_file", "log_out"} <= keys(visit("start"))


def test_a_page_needs_its_role(visit, door):
    for subject in ("u-none", "u-rita", "u-aud"):
        door.let_in(subject)
        test = visit("data")
        assert "This page needs the role **curator**" in texts(test)
        assert keys(test) == {"log_out"}


def test_a_login_that_ends_while_the_page_is_open_is_refused_in_the_next_run(visit, door):
    door.let_in("u-ada")
    test = visit("start")
    assert "start_file" in keys(test)
    door.now += 10 * 3600 + 1
    test.run()
    assert keys(test) == {"log_in"}
    assert "Your login has ended" in texts(test)


def test_a_role_that_is_taken_away_is_refused_in_the_next_run(visit, door):
    door.let_in("u-ada")
    test = visit("start")
    door.said["roles"] = []
    test.run()
    assert keys(test) == {"log_out"}


def test_a_hosting_file_that_is_not_usable_lets_nobody_in(visit, door, monkeypatch, tmp_path):
    door.let_in("u-ada")
    monkeypatch.setenv(HOSTING_VARIABLE, str(tmp_path / "gone.toml"))
    test = visit("start")
    assert keys(test) == set()
    assert "nobody is let in" in texts(test)


@pytest.mark.parametrize(
    ("subject", "late", "words"),
    [
        (None, 0.0, "Log in first"),
        ("u-ada", 11 * 3600.0, "Your login has ended"),
        ("u-rita", 0.0, "This needs the role curator"),
        ("u-none", 0.0, "This needs the role curator"),
    ],
)
def test_what_a_page_could_call_asks_for_the_login_and_the_role(door, subject, late, words):
    if subject is not None:
        door.let_in(subject)
    door.now += late
    Ledger()  # else no charge would be looked for
    test = AppTest.from_function(_steps, default_timeout=60).run()  # with the key
    assert not test.exception
    done = test.session_state["done"]
    assert len(done) == 14
    assert [name for name, said in done.items() if words not in said] == []
    assert Ledger().charges() == ()


def _places() -> None:
    import streamlit as st

    from dashboard.budget import saved_designs
    from dashboard.common import table_entry
    from dashboard.key import access

    said = []
    for step in (
        lambda: table_entry._from_place("/etc/passwd"),
        lambda: table_entry._from_place("postgres://x@elsewhere/db?table=t"),
        lambda: saved_designs._Folder("/tmp", "any"),
    ):
        try:
            step()
            said.append("done")
        except access.AccessError as error:
            said.append(str(error))
    st.session_state["said"] = said


def test_no_curator_names_a_path_or_a_host(door):
    door.let_in("u-ada")
    test = AppTest.from_function(_places, default_timeout=60).run()
    assert not test.exception
    assert all("nobody types a path or a host" in said for said in test.session_state["said"])
    assert len(test.session_state["said"]) == 3


def test_the_ledger_names_subject_and_name_of_the_login(door, spurious, workspace):
    """In the process of a run, too; nobody could type another name."""
    door.let_in("u-ada")
    table = encode(spurious.schema, spurious.train)
    plan = design_comparator("independent", table.schema, table.n, 0.1, 1e-6, rows=10, degree=2)

    def run() -> None:
        job = worker.compare(plan, table, AssetConfig(name="stays", lifetime_epsilon=1.0), 1)
        assert job.process is not None
        job.process.wait(timeout=120)

    run()  # where a committee decides, nothing is made without it, though no file says so
    assert Ledger().charges() == ()
    (workspace / "settings.toml").write_text("[release]\napproval_required = false\n", "utf-8")
    run()
    (charge,) = Ledger().charges()
    assert (charge.state, charge.who) == ("done", "u-ada (Ada Curator)")
