"""The page Budget: opened, left and entered again, and its widgets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dashboard.budget.overview import TABS
from tests.support.pages import open_page, turned

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

    from dashboard.session.project import Project
NAMES = ("age", "<b>$x$</b>", "grade", "ward", "Y")


def page(project: Project, tab: str = TABS[0]) -> AppTest:
    return open_page("budget", project, budget_tabs=tab)


def table(test: AppTest, column: str = "marginal"):
    return next(frame.value for frame in test.dataframe if column in frame.value.columns)


def now(found, base: str):
    """The widget that stands for an entry; another one whenever something else changed it."""
    return next(one for one in found if one.key and re.fullmatch(rf"{base}(-\d+)?", one.key))


def again(test: AppTest) -> AppTest:
    turned(test, "structure").run()
    turned(test, "budget").run()
    assert not test.exception
    return test
