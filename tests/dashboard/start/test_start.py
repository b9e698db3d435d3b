"""The page Start: ways in, the project that is open, and what is left of every budget."""

from __future__ import annotations

import pytest

from dashboard.session.data_entries import DataEntries
from dashboard.session.project import Project
from dashboard.start import budgets
from prism_core.privacy.ledger.ledger import FILE, Ledger, default_workspace
from tests.support.pages import open_page, texts, turned

pytestmark = pytest.mark.app


def keys(test) -> set[str]:
    return {button.key for button in test.button}


def test_every_way_in_is_one_click_and_looking_makes_no_ledger():
    test = open_page("start", Project())
    assert {"start_file", "start_codebook", "start_saved"} <= keys(test)
    assert "sample_readmission" in keys(test)
    assert "start_go_on" not in keys(test)
    assert not (default_workspace() / FILE).exists()


def test_a_sample_leads_on_also_where_it_is_open_already():
    test = open_page("start", Project())
    for _ in range(2):
        turned(test, "start").run()
        test.button(key="sample_scm_spurious").click().run()
        assert not test.exception
        assert [title.value for title in test.title] == ["Structure"]


@pytest.mark.parametrize(("way", "place"), [("file", 0), ("codebook", 2), ("saved", 3)])
def test_a_way_opens_its_part_of_the_page_data(way, place):
    test = open_page("start", Project())
    test.button(key=f"start_{way}").click().run()
    assert not test.exception
    assert test.title[0].value == "Data"
    assert test.get("tab_container")[0].proto.tab_container.default_tab_index == place


def test_the_open_project_goes_on_where_it_stopped(spurious):
    project = Project(data=DataEntries(name="stays.csv", raw=spurious.train))
    test = open_page("start", project)
    assert "stays.csv" in texts(test)
    assert test.button(key="start_go_on").label == "Go on with Data"


def test_the_budget_of_each_asset_is_shown():
    ledger = Ledger()
    ledger.register("stays", epsilon=3.0, delta=1e-6)
    (frame,) = (frame.value for frame in open_page("start", Project()).dataframe)
    assert frame.loc[0, "data set"] == "stays"
    assert frame.loc[0, "spent"] == 0.0
    assert frame.loc[0, "lifetime epsilon"] == 3.0
    assert list(budgets.table([ledger.balance("stays")])["data set"]) == ["stays"]
