"""Sessions without the key: what they see, and what every step answers them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.common.steps import COMMITTEE, GALLERY, START, STEPS, url_path
from dashboard.key import access, machine_key
from dashboard.session import shelf as states
from dashboard.session.data_entries import DataEntries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries
from prism_core.data.table_identity import remember_private
from prism_core.data.tables.raw_table import read_table
from prism_core.privacy.accountants.accountant import Spent
from prism_core.privacy.accountants.conversions import epsilon_to_rho
from prism_core.privacy.events import GaussianEvent
from prism_core.privacy.ledger import Ledger
from prism_core.structure import formats
from tests.support.pages import APP, session, turned

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.app, pytest.mark.privacy]
PAGES = [*(url_path(step.page) for step in STEPS), url_path(START)]
ASSET, WHY, FILE = "Stays of clinic A", "readmissions for an outside team", "stays-of-clinic-A.csv"
TELLING = (ASSET, WHY, FILE, "1.7321")  # the last is the asset's lifetime


@pytest.fixture(autouse=True)
def _ledger() -> None:
    """The workspace of somebody whose asset has one finished release."""
    ledger = Ledger()
    ledger.register(ASSET, epsilon=1.7321, delta=1e-5)
    spent = Spent(epsilon=1.0, delta=1e-5, rho=epsilon_to_rho(1.0, 1e-5))
    event = GaussianEvent(label="age × Y", sigma=40.0)
    number = ledger.charge(
        ASSET,
        step="release",
        spent=spent,
        events=(event,),
        plan="h" * 64,
        accountant="zcdp",
        why=WHY,
    )
    ledger.mark(number, "done")


@pytest.fixture
def private(spurious) -> Project:
    """Their project, as it stands on the shelf."""
    project = Project(
        data=DataEntries(name=FILE, raw=spurious.train, test=spurious.test, schema=spurious.schema),
        structure=StructureEntries(
            target="Y", graph=EditedGraph(edges=formats.read(spurious.dag_json).edges)
        ),
        account=AccountEntries(asset=ASSET, why=WHY),
    )
    states._shelf()[project.key] = project
    return project


@pytest.fixture
def visit(stranger) -> Callable[..., AppTest]:
    """A page in a session without the key."""

    def visit(page: str = PAGES[0], *, project: str = "") -> AppTest:
        test = turned(stranger(session(address=project)), page).run()
        assert not test.exception
        return test

    return visit


def shown(test: AppTest) -> str:
    """Every word on the page, in tables, in fields and in what hides behind them."""
    words = []
    for element in (*test.main, *test.sidebar):
        words.append(str(getattr(element, "proto", "")))
        value = getattr(element, "value", None)
        words.append(value.to_string() if isinstance(value, pd.DataFrame) else str(value))
    return "\n".join(words).replace("\\", "")


def keys(test: AppTest) -> set[str]:
    return {str(element.key) for element in test.main if getattr(element, "key", None)}


def open_sample(test: AppTest) -> AppTest:
    test.button(key="sample_scm_spurious").click().run()
    assert not test.exception
    return test


def test_what_is_looked_for_is_there_for_the_owner(private):
    """Else the tests below could not fail."""
    test = turned(session(address=private.key).run(), "release").run()
    assert [words for words in TELLING if words not in shown(test)] == []
    assert {"asset_name", "release_confirm_0", "approval_by"} <= keys(test)


@pytest.mark.parametrize("page", [url_path(START), *PAGES, url_path(GALLERY)])
@pytest.mark.parametrize("named", [False, True], ids=["bare", "with the project's address"])
def test_no_page_tells_of_the_workspace(page, named, private, visit):
    test = visit(page, project=private.key if named else "")
    for again in range(2):  # a later run of a session passes app.py over in this test runner
        told = shown(test)
        assert [words for words in TELLING if words in told] == []
        assert ("Open it with the key" in told) is (page != "gallery"), again
        test.run()


@pytest.mark.parametrize("page", [url_path(START), *PAGES])
def test_no_page_tells_of_the_workspace_beside_an_open_sample(page, private, visit):
    test = open_sample(visit(project=private.key))
    if page != PAGES[0]:
        turned(test, page).run()
    assert not test.exception
    told = shown(test)
    assert [words for words in TELLING if words in told] == []
    assert "Finished releases" not in told
    assert "You look around without the key" in told
    asked_for = {
        "upload_table",
        "place_text",
        "place_open",
        "asset_name",
        "asset_why",
        "release_confirm_0",
        "approval_by",
        "approval_upload",
        "ledger_assets",
        "compare_folder",
        "book_folder",
    }
    assert asked_for & keys(test) == set()


@pytest.mark.parametrize(("page", "next_page"), [("start", "Structure"), ("budget", "Budget")])
def test_a_sample_leads_on_from_start_and_opens_any_other_page(page, next_page, visit):
    test = open_sample(visit(page))
    assert [title.value for title in test.title] == [next_page]


def test_before_the_browser_has_answered_nothing_is_shown(private, visit):
    test = session(address=private.key)
    for name in (access._GIVEN, access._SETTLED):
        del test.session_state[name]
    for page in PAGES:
        turned(test, page).run()
        assert not test.exception
        assert [caption.value for caption in test.caption] == ["Opening …"]
        assert not test.title
        assert "project" not in test.session_state


def test_the_key_in_the_address_opens_the_project_that_it_names(private, studio_key, stranger):
    for key, right in ((studio_key[:-1], False), ("", False), (studio_key, True)):
        test = stranger(session())
        del test.session_state[access._SETTLED]
        test.query_params |= {"project": private.key, "key": key}
        test.run()
        assert [caption.value for caption in test.caption] == ["Opening …"]
        # The browser has taken it out of the address, and keeps what is right.
        test.query_params = {"project": private.key}
        test.session_state[access._SETTLED] = ""
        test.run()
        assert (FILE in shown(test)) is right
        assert ("project" in test.session_state) is right


def test_a_sample_that_was_looked_at_stays_when_the_key_is_typed(studio_key, visit):
    test = open_sample(visit())
    test.text_input(key="key_typed").set_value("another").run()
    assert [error.value for error in test.error] == ["This is not the key shown in the terminal."]
    test.text_input(key="key_typed").set_value(studio_key).run()
    test.session_state[access._SETTLED] = ""
    test.run()
    assert not test.exception
    assert test.session_state["project"].data.sample == "scm_spurious"
    assert "upload_table" in keys(test)


def test_strangers_push_no_project_off_the_shelf(private, visit):
    for _ in range(2 * states._SHELF):
        open_sample(visit())
    assert private.key in states._shelf()


def test_without_the_key_another_sample_takes_the_place_of_a_changed_one(visit):
    test = open_sample(visit())
    test.session_state[states._OPEN_TO_ALL].designs.plan.budget.epsilon = 0.3
    test.button(key="sample_readmission").click().run()
    assert "is open here" in test.warning[0].value
    assert "sample_readmission_beside" not in str(test.main)
    test.button(key="sample_readmission_replace").click().run()
    assert not test.exception
    assert test.session_state[states._OPEN_TO_ALL].data.sample == "readmission"


ROWS = b"age,ward\n31,a\n42,b\n53,a\n"


@pytest.mark.parametrize(
    ("page", "upload", "button"),
    [(PAGES[0], "upload_twin", "draft_twin"), ("rehearse", "rehearse_upload", None)],
    ids=["twin", "stand-in"],
)
def test_an_upload_tells_no_stranger_whether_these_rows_were_charged(page, upload, button, visit):
    """Else whoever guesses the rows of a table learns that they are right, and whose they are."""
    remember_private(Ledger(), ASSET, read_table(ROWS))
    test = open_sample(visit())
    if page == PAGES[0]:
        test.radio(key="schema_way").set_value("twin").run()
    else:
        test.session_state[states._OPEN_TO_ALL].rehearsing.source = "file"
        turned(test, page).run()
    said = []
    for content in (ROWS, ROWS.replace(b"31", b"30")):
        (field,) = (f for f in test.file_uploader if str(f.key).startswith(upload))
        field.upload("guess.csv", content, "text/csv").run()
        if button is not None:
            test.button(key=button).click().run()
        assert not test.exception
        assert [words for words in TELLING if words in shown(test)] == []
        said.append([error.value for error in test.error])
    assert said[0] == said[1]


# --- what a page that forgot to ask would meet ------------------------------------------------


def _steps() -> None:
    """Runs in a session: every function that hands out, starts, signs or opens."""
    from pathlib import Path

    import numpy as np
    import streamlit as st

    from dashboard.budget import saved_designs
    from dashboard.common import asset_entry, table_entry
    from dashboard.jobs import worker
    from dashboard.key import access
    from dashboard.release import ledger_view
    from dashboard.session.project import Project
    from dashboard.session.shelf import beside, replace_project
    from prism_core.comparators import design_comparator
    from prism_core.data.encoding import encode
    from prism_core.learning.domain.domain_plan import design_domain
    from prism_core.learning.domain.requests import CategoryRequest, Outline
    from prism_core.learning.graph.graph_plan import design_graph
    from prism_core.planning.brief import Brief
    from prism_core.planning.design import design
    from prism_core.planning.wishes.config import AssetConfig
    from prism_core.planning.wishes.task import Budget, Task
    from prism_core.samples import catalogue

    sample = catalogue.load("scm_spurious")
    table = encode(sample.schema, sample.train, rng=np.random.default_rng(1))
    budget = Budget(epsilon=0.1, delta=1e-6)
    plan = design(Brief(sample.schema, Task(target="Y", regime="predictive", k=1), budget, table.n))
    graph = design_graph(sample.schema, "Y", 0.1, 1e-6, table.n, share=0.5, members=2)
    other = design_comparator("independent", sample.schema, table.n, 0.1, 1e-6, rows=10, degree=2)
    outline = Outline(columns=(CategoryRequest(name="A"),), one_row_per_person=True)
    domain = design_domain(outline, 1.0, 1e-6, table.n)
    charged = AssetConfig(name="Stays of clinic A", lifetime_epsilon=1.7321)
    job = worker.Job(folder=Path("/tmp"), plan=plan, started=0.0)
    steps = {
        "the ledger": access.ledger,
        "the workspace": access.workspace,
        "the ledger's tables": ledger_view.section,
        "the asset to charge": lambda: asset_entry.registered(1e-6),
        "the charge of a run": job.charge,
        "a release": lambda: worker.start(plan, table, charged, 1),
        "learning a graph": lambda: worker.learn_graph(graph, table, charged, 1),
        "learning a domain": lambda: worker.learn(
            domain, sample.train, charged, 1, delta_share=0.1, public=False
        ),
        "a comparator": lambda: worker.compare(other, table, charged, 1),
        "a run of a project": lambda: worker.find("any"),
        "a project of one's own": lambda: replace_project(Project()),
        "a project by its address": lambda: beside(Project()),
        "a table at a path": lambda: table_entry._from_place("/etc/passwd"),
        "a folder of designs": lambda: saved_designs._Folder("/tmp", "any"),
    }
    done = {}
    for name, step in steps.items():
        try:
            step()
            done[name] = "done"
        except access.AccessError as error:
            done[name] = str(error)
    st.session_state["done"] = done


def test_what_a_page_could_call_asks_for_the_key_itself(workspace, stranger):
    before = Ledger().charges()
    test = stranger(AppTest.from_function(_steps, default_timeout=60)).run()
    assert not test.exception
    done = test.session_state["done"]
    assert len(done) == 14
    assert [name for name, said in done.items() if "needs the key" not in said] == []
    assert Ledger().charges() == before
    assert [asset.name for asset in Ledger().assets()] == [ASSET]
    assert not list((workspace / "runs").glob("*/*"))


def test_nobody_is_a_stranger_where_nothing_is_served():
    """The functions stay usable for a script; a thread of a served app is not one."""
    assert access.granted()
    access.require()


DASHBOARD = APP.parent
_CHILD = {"child.py", "progress.py"}
"""Run in the process of a run, which nobody starts without the key."""


def _calls(tree: ast.AST) -> set[str]:
    return {
        node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
    }


@pytest.mark.parametrize(
    ("called", "allowed"),
    [
        ("Ledger", _CHILD),
        # Folders of runs and of rehearsals, and whether there is a ledger at all.
        (
            "default_workspace",
            _CHILD
            | {"folders.py", "queue.py", "rehearsal_run.py", "job.py"}
            | {"confirmation.py", "project.py"},  # ask for the workspace's maximum alone
        ),
    ],
)
def test_only_the_rule_opens_the_ledger_and_the_workspace(called, allowed):
    found = {
        path.name
        for path in DASHBOARD.glob("**/*.py")
        if called in _calls(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert "access.py" in found
    assert found <= {"access.py"} | allowed


def test_every_page_begins_with_the_heading_that_asks():
    pages = sorted(DASHBOARD.glob("*/page.py"))
    assert {f"{page.parent.name}/page.py" for page in pages} == {
        *(step.page for step in STEPS),
        START,
        GALLERY,
        COMMITTEE,
    }
    for page in pages:
        if page == DASHBOARD / GALLERY:
            continue  # open to everybody, with stored results alone
        body = ast.parse(page.read_text(encoding="utf-8")).body
        does = next(
            node
            for node in body
            if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
        )
        assert isinstance(does.value, ast.Call), page
        assert ast.unparse(does.value.func) == "heading", page
        assert not [
            n
            for n in body[: body.index(does)]
            if isinstance(n, ast.For | ast.If) and "TYPE_CHECKING" not in ast.unparse(n)
        ], page


@pytest.mark.parametrize(
    "told", [None, 3, "", " ", "key", "KEY-of-the-tests", "key-of-the-tests2", "\ud800"]
)
def test_only_the_key_is_the_key(told, studio_key):
    assert not machine_key.matches(told)
    assert machine_key.matches(f" {studio_key}\n")
