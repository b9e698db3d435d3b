"""Each page where something is charged says beforehand that nobody has checked if the cells fit."""

from __future__ import annotations

import pytest

from prism_core.data.schema.looks import UNCHECKED
from tests.support.pages import texts
from tests.support.released import inspect_page, opened

pytestmark = [pytest.mark.app, pytest.mark.privacy]
NOTE = UNCHECKED.capitalize()


def shown(project, section: str) -> int:
    if section == "Compare":
        project.inspection.comparators.own = True
    return texts(inspect_page(opened(project), section)).count(NOTE)


@pytest.mark.parametrize("section", ["Private numbers", "Ask the holdout", "Compare"])
def test_inspect_says_it_until_the_cells_were_counted(make, section):
    project = make()
    assert shown(project, section) == 1
    project.look("counted persons")  # says nothing about what a column may hold
    assert shown(project, section) == 1
    project.look("counted cells outside")
    assert shown(project, section) == 0


@pytest.mark.parametrize("section", ["Private numbers", "Ask the holdout", "Compare"])
def test_of_public_rows_nothing_is_said(make, section):
    assert shown(make(public=True), section) == 0
