"""What can be reached from Budget and Rehearse never receives a private row.

The private table of a project is replaced by an object that answers to its name, its header and
its number of rows, and breaks on everything else; then every entry of both pages is used. The
same holds for `prism rehearse` (tests/cli/test_rehearse_cli.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dashboard.common import rehearsal_run
from dashboard.jobs import worker
from dashboard.session.data_entries import DataEntries
from dashboard.session.designs import Designs, Entries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries, ReleaseEntries
from prism_core.planning.wishes.task import Synthesis
from prism_core.privacy.ledger.ledger import default_workspace
from prism_core.rehearsal import FOLDER, PointStore, run_rehearsal
from prism_core.structure import formats
from tests.support.pages import session, turned

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

pytestmark = [pytest.mark.app, pytest.mark.privacy]


class TouchedError(Exception):
    """A private row was asked for. Whoever catches it, `touched` remembers."""


class Sealed:
    """A private table of which only public facts can be had."""

    def __init__(self, name: str, header: tuple[str, ...], rows: int) -> None:
        self.name, self.header, self.rows = name, header, rows

    def __getattr__(self, what: str):
        touched.append(what)
        raise TouchedError(what)

    def __len__(self):
        return self.__getattr__("__len__")

    def __iter__(self):
        return self.__getattr__("__iter__")

    def __getitem__(self, key):
        return self.__getattr__("__getitem__")

    def __array__(self, *_):
        return self.__getattr__("__array__")


touched: list[str] = []


@pytest.fixture(autouse=True)
def _clean(monkeypatch):
    touched.clear()

    def rehearse(rehearsal, stand_in):
        for _ in run_rehearsal(
            rehearsal, stand_in, kept=PointStore(default_workspace() / FOLDER), jobs=1
        ):
            pass

    monkeypatch.setattr(worker, "rehearse", rehearse)


@pytest.fixture
def project(spurious) -> Project:
    found = Project(
        data=DataEntries(
            name="stays.csv",
            raw=Sealed("stays.csv", spurious.train.header, 3_000),
            schema=spurious.schema,
            test=Sealed("later.csv", spurious.train.header, 500),
        ),
        structure=StructureEntries(
            target="Y", graph=EditedGraph(edges=formats.read(spurious.dag_json).edges)
        ),
        release=ReleaseEntries(
            train=Sealed("train", (), 3_000), holdout=Sealed("holdout", (), 500)
        ),
        account=AccountEntries(asset="stays"),
        designs=Designs(plan=Entries(synthesis=Synthesis(model="naive_bayes", rows=500))),
    )
    found.rehearsing.seeds, found.rehearsing.epsilons = 1, "2"
    return found


def sealed_page(name: str, project: Project) -> AppTest:
    test = turned(session(project).run(), name).run()
    check(test)
    return test


def check(test: AppTest) -> None:
    assert touched == [], f"a private table was asked for {touched}"
    assert not test.exception, test.exception


def _other(widget, kind: str):
    """Values a widget can be given, none of them the one that it has."""
    if kind in ("toggle", "checkbox"):
        return [not widget.value]
    if kind in ("selectbox", "radio"):
        return list(range(len(widget.options)))
    if kind in ("slider", "number_input"):
        low = 0 if widget.min is None else widget.min
        high = low + 10 if widget.max is None else widget.max
        half = (low + high) / 2
        return [type(widget.value)(half)] if isinstance(widget.value, (int, float)) else []
    return []


def _set(widget, kind: str, value: object) -> None:
    if kind == "selectbox":
        widget.select_index(value)
    else:
        widget.set_value(widget.options[value] if kind == "radio" else value)


def use_everything(test: AppTest) -> int:
    """Give every entry of the page other values and press every button; gives how many there were.

    Buttons that lead to another page are left alone, and so is what starts a release.
    """
    used = 0
    for kind in ("toggle", "checkbox", "selectbox", "radio", "slider", "number_input"):
        for key in [widget.key for widget in getattr(test, kind)]:
            found = [widget for widget in getattr(test, kind) if widget.key == key]
            for value in _other(found[0], kind) if found and not found[0].disabled else ():
                now = [widget for widget in getattr(test, kind) if widget.key == key]
                if not now:
                    break
                _set(now[0], kind, value)
                test.run()
                check(test)
                used += 1
    for key in [button.key for button in test.button]:
        now = [b for b in test.button if b.key == key and not b.disabled]
        if now and not str(key).startswith(("onward", "optional")):
            now[0].click().run()
            check(test)
            used += 1
    return used


@pytest.mark.slow
@pytest.mark.parametrize("regime", ["causal", "predictive"])
def test_nothing_on_budget_touches_a_private_row(project, regime):
    project.designs.plan.regime = regime
    assert use_everything(sealed_page("budget", project)) > 10


@pytest.mark.slow
@pytest.mark.parametrize("source", ["graph", "sample", "file"])
def test_nothing_on_rehearse_touches_a_private_row(project, spurious, source):
    project.rehearsing.source = source
    project.rehearsing.sample = "scm_marginal"
    project.rehearsing.public = spurious.test
    test = sealed_page("rehearse", project)
    for key in ("rehearse_run", "rehearse_auto"):
        test.button(key=key).click().run()
        check(test)
        assert project.rehearsing.asked is not None
    if source != "sample":  # has no widget that the graph has not
        assert use_everything(test) > 3


def test_this_test_can_fail(project, monkeypatch):
    """A page that so much as counts what stands in a column is caught."""
    real = rehearsal_run.stand_in

    def curious():
        from dashboard.session.shelf import project as current

        current().data.raw.column("Y").nunique()
        return real()

    monkeypatch.setattr(rehearsal_run, "stand_in", curious)
    test = sealed_page("rehearse", project)
    test.button(key="rehearse_run").click().run()
    assert touched == ["column"]
    with pytest.raises(AssertionError, match="was asked for"):
        check(test)


def test_public_facts_are_all_that_the_sealed_table_gives():
    sealed = Sealed("a", ("x",), 7)
    assert (sealed.name, sealed.header, sealed.rows) == ("a", ("x",), 7)
    for touch in (
        lambda: sealed.frame,
        lambda: sealed.column("x"),
        lambda: len(sealed),
        lambda: list(sealed),
        lambda: sealed["x"],
    ):
        with pytest.raises(TouchedError):
            touch()
