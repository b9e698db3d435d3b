"""Pages of the app in Streamlit's test runner: opened, turned, run to rest, and read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

import dashboard
from dashboard.common.steps import COMMITTEE, GALLERY, START, STEPS, url_path

if TYPE_CHECKING:
    from dashboard.session.project import Project

APP = Path(dashboard.__file__).with_name("app.py")
ADDRESSES = tuple(url_path(page) for page in (START, *(step.page for step in STEPS), GALLERY))
KINDS = ("markdown", "caption", "info", "success", "warning", "error")


def session(project: Project | None = None, *, address: str = "", **state: object) -> AppTest:
    """The app before its first run.

    Args:
        project: that is open in it.
        address: key of the project that its address names, instead.
        state: of the session beside it, by key.
    """
    test = AppTest.from_file(str(APP), default_timeout=60)
    if project is not None:
        test.session_state["project"] = project
    if address:
        test.query_params["project"] = address
    for key, value in state.items():
        test.session_state[key] = value
    return test


def turned(test: AppTest, name: str) -> AppTest:
    """The same session at another page, not run yet.

    Before the first run `AppTest.switch_page` goes by the name of the page's file, which is the
    same for all; a first run of the page Data only to switch would leave traces in the project.

    Args:
        test: the session.
        name: last part of the page's address.
    """
    assert name in (*ADDRESSES, url_path(COMMITTEE)), name
    test._page_hash = calc_hash(name)
    return test


def open_page(name: str, project: Project | None = None, **state: object) -> AppTest:
    """A page of a session of its own, run once without an exception.

    Args:
        name: last part of its address: "data", "structure", "inspect" …
        project: that is open.
        state: of the session beside it, by key.
    """
    test = turned(session(project, **state), name).run()
    assert not test.exception, test.exception[0].value
    return test


def settled(test: AppTest, project: Project) -> AppTest:
    """Run until the comparator's process has ended and every piece of work begun is shown."""
    for _ in range(40):
        test.run()
        assert not test.exception, test.exception[0].value
        job = project.inspection.comparators.job
        if job is not None:
            job.process.wait(timeout=120)
            continue
        works = {} if project.inspection.shown is None else project.inspection.shown.works
        begun = list(works.values())
        for work in begun:
            work.future.exception(timeout=60)
        if len(begun) == len(works) and not test.get("progress"):
            return test
    raise AssertionError("the page never came to rest")


def texts(test: AppTest, *kinds: str) -> str:
    """What stands on a page as text, without the backslashes of Markdown's escapes.

    Args:
        test: the session.
        kinds: of elements; all of `KINDS` where none is named.
    """
    parts = [part.value for kind in kinds or KINDS for part in getattr(test, kind)]
    return "\n".join(map(str, parts)).replace("\\", "")


def frames(test: AppTest) -> str:
    """The tables on a page as text."""
    return "\n".join(frame.value.to_csv() for frame in test.dataframe)
