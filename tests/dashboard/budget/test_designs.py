"""Designs on the page Budget: side by side, and kept by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dashboard.session.data_entries import DataEntries
from dashboard.session.graph import StructureEntries
from dashboard.session.project import Project
from prism_core.bundle.protocol.protocol import Protocol
from prism_core.planning.search.comparison import figures
from prism_core.text.numbers import error_text, share_text, sigma_text
from tests.support.budget_page import TABS, again, now, page, table
from tests.support.pages import texts

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.app


# ---- designs side by side ----------------------------------------------------------------------


def keep_and_edit(test: AppTest) -> AppTest:
    test.button(key="design_keep").click().run()
    group = now(test.get("button_group"), "design_edited")
    group.set_value("B").run()
    assert not test.exception
    return test


def test_b_is_changed_in_the_same_controls_and_a_stays(project):
    test = keep_and_edit(page(project))
    assert "You are changing **B**" in texts(test)
    now(test.text_input, "epsilon_B").set_value("0.25").run()
    now(test.selectbox, "allocation_B").select("uniform").run()
    drag_b = project.designs.others["B"].budget.shares_rev
    test.session_state["share_bar_B"] = {"shares": {"rev": drag_b, "tenths": [600, 400]}}
    test.run()
    other = project.designs.others["B"].budget
    assert (other.epsilon, other.allocation, other.background) == (0.25, "uniform", 0.4)
    assert (project.designs.plan.budget.epsilon, project.designs.plan.budget.allocation) == (
        1.0,
        "balanced",
    )
    assert project.designs.plan.budget.background == 0.2
    shown = {metric.label: metric.value for metric in test.metric}
    assert shown["Privacy budget, ε"] == "0.25"
    assert now(again(test).text_input, "epsilon_B").value == "0.25"


def test_one_click_makes_b_the_plan_and_loses_nothing(project):
    test = keep_and_edit(page(project))
    now(test.text_input, "epsilon_B").set_value("0.25").run()
    test.button(key="design_adopt").click().run()
    assert not test.exception
    assert project.designs.plan.budget.epsilon == 0.25
    assert project.designs.others["B"].budget.epsilon == 1.0
    assert project.designs.edited == "A"
    assert now(test.text_input, "epsilon").value == "0.25"
    assert project.plan().budget.epsilon == 0.25
    # A late message of the bar before the exchange belongs to neither of them.
    assert project.designs.plan.budget.shares_rev != project.designs.others["B"].budget.shares_rev


def test_the_comparison_names_what_differs_and_what_is_better(project):
    test = keep_and_edit(page(project, TABS[3]))
    assert "A and B say the same" in texts(test)
    now(test.text_input, "epsilon_B").set_value("0.25").run()
    frame = table(test, "A, the plan")
    rows = frame.set_index("")
    assert rows.loc["Epsilon", ["A, the plan", "B"]].to_list() == ["1", "0.25"]
    assert rows.loc["Mean expected error of the task marginals", "less is better"] == "A"
    assert rows.loc["Epsilon spent", "less is better"] == "B"
    test.button(key="compare_adopt").click().run()
    assert project.designs.plan.budget.epsilon == 0.25


def test_more_designs_on_request_and_each_can_be_removed(project):
    test = page(project, TABS[3])
    for letter in "BCDE":
        test.button(key="design_keep").click().run()
        assert letter in project.designs.others
    assert "design_keep" not in [button.key for button in test.button]
    group = now(test.get("button_group"), "design_edited")
    group.set_value("C").run()
    test.button(key="design_drop").click().run()
    assert sorted(project.designs.others) == ["B", "D", "E"]
    assert project.designs.edited == "A"
    assert test.button(key="design_keep").label == "Keep as C"
    assert not test.exception


def test_a_design_without_a_plan_says_so_and_the_other_is_still_shown(project):
    test = keep_and_edit(page(project, TABS[3]))
    now(test.text_input, "delta_B").set_value("tiny").run()
    assert "delta must be a number" in texts(test)
    group = now(test.get("button_group"), "design_edited")
    group.set_value("A").run()
    assert not test.exception
    assert "B has no plan: delta must be a number" in texts(test)
    assert {metric.label for metric in test.metric} >= {"Privacy budget, ε", "Expected error"}


def test_the_same_numbers_read_as_in_the_report_and_the_protocol(project):
    test = page(project)
    plan = project.plan()
    found = figures(plan)
    shown = {metric.label: metric.value for metric in test.metric}
    assert shown["Expected error"] == error_text(found.mean_error)
    assert shown["Noise, σ in rows"] == sigma_text(max(q.sigma for q in plan.queries[:3]))
    (frame,) = (f.value for f in test.dataframe if "sigma" in f.value.columns)
    written = Protocol(plan=plan).to_markdown().replace("\\", "")
    for label, sigma, error, share in zip(
        *(frame[name] for name in ("marginal", "sigma", "error", "share")), strict=True
    ):
        if sigma == sigma and error == error:  # a choice at run time has neither
            words = f"{sigma:g} | {error:g}%"
            assert f"{share_text(share / 100)} | {words}" in written, label


def test_every_figure_can_be_saved_without_its_toolbar(project):
    test = page(project, TABS[1])
    charts = test.get("plotly_chart")
    assert len(charts) == 2
    saves = [b for b in test.get("download_button") if b.label == "Save this figure"]
    assert len(saves) == 2


# ---- designs kept by name ----------------------------------------------------------------------


def save(test: AppTest, name: str) -> AppTest:
    now(test.text_input, "book_name").set_value(name).run()
    test.button(key="book_save").click().run()
    assert not test.exception
    return test


def test_a_design_is_saved_put_back_and_deleted(project):
    test = save(page(project, TABS[3]), "half the noise")
    assert "half the noise" in texts(test.run())
    project.designs.plan.budget.epsilon = 4.0
    test.run()
    test.button(key="book_load_0").click().run()
    assert project.designs.others["B"].budget.epsilon == 1.0
    assert project.designs.plan.budget.epsilon == 4.0
    test.button(key="book_delete_0").click().run()
    assert "None is saved yet" in texts(test)
    assert not test.exception


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 81])
def test_an_unusable_name_is_a_sentence_and_stays(project, name):
    test = page(project, TABS[3])
    project.designs.name = name
    test.run()
    test.button(key="book_save").click().run()
    assert "The name of a scenario is one line of text" in texts(test)
    assert project.designs.name == name


def twin(project: Project) -> Project:
    """The same table in another person's session."""
    of = project.data
    return Project(
        data=DataEntries(name=of.name, public=of.public, raw=of.raw, schema=of.schema),
        structure=StructureEntries(target=project.structure.target, graph=project.structure.graph),
    )


@pytest.mark.privacy
def test_two_sessions_share_no_design_unless_they_name_the_same_folder(
    project, tmp_path, monkeypatch
):
    mine, theirs = project, twin(project)
    first, second = page(mine, TABS[3]), page(theirs, TABS[3])
    save(first, "only mine")
    first.button(key="design_keep").click().run()
    assert "only mine" in texts(first.run())
    assert "only mine" not in texts(second.run())
    assert theirs.designs.others == {}
    assert theirs.designs.saved == {}
    for test in (first, second):
        now(test.toggle, "book_shared").set_value(True).run()
    now(first.text_input, "book_folder").set_value(str(tmp_path / "study")).run()
    now(second.text_input, "book_folder").set_value(str(tmp_path / "another")).run()
    save(first, "for the study")
    assert "for the study" in texts(first.run())
    assert "for the study" not in texts(second.run())
    now(second.text_input, "book_folder").set_value(str(tmp_path / "study")).run()
    assert "for the study" in texts(second)
    assert "only mine" not in texts(second)
    second.button(key="book_load_0").click().run()
    assert theirs.designs.others["B"].budget.epsilon == mine.designs.plan.budget.epsilon
    second.button(key="book_delete_0").click().run()
    assert "for the study" not in texts(first.run())


def test_a_folder_that_cannot_be_used_is_a_sentence(project, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    project.designs.shared, project.designs.folder = True, str(tmp_path / "file")
    test = page(project, TABS[3])
    save(test, "a design")
    assert "cannot be" in texts(test)


def test_usable_designs_are_written_beside_a_release(project):
    project.designs.keep(project.designs.plan)
    project.designs.keep(project.designs.plan)
    project.designs.others["B"].budget.epsilon = 0.25
    project.designs.others["C"].budget.delta = "tiny"
    found = project.usable(project.designs.letters)
    assert [(one.name, one.budget.epsilon) for one in found] == [("A", 1.0), ("B", 0.25)]
