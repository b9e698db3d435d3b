"""The pages with several targets: chosen on Structure, measured on Budget."""

from __future__ import annotations

import pytest

from dashboard.session.graph import EditedGraph
from prism_core.planning.wishes.targets import Target
from tests.dashboard.structure.test_structure import made, texts
from tests.support.pages import open_page, turned

pytestmark = pytest.mark.app

EDGES = (("age", "readmitted"), ("severity", "readmitted"), ("severity", "Ward code"))


def test_a_further_target_is_chosen_weighed_and_measured():
    project = made(graph=EditedGraph(edges=EDGES))
    test = open_page("structure", project)
    test.multiselect(key="further_choice_readmitted").set_value(["Ward code"]).run()
    assert not test.exception
    assert project.designs.plan.further == {"Ward code": 1.0}
    assert project.task().further == (Target(name="Ward code"),)
    assert "Pa(readmitted): age, severity" in texts(test)
    assert "Pa(Ward code): severity" in texts(test)
    assert "Ward code (weight 1): S = Pa(Ward code) = {severity}" in texts(test)
    project.designs.plan.further["Ward code"] = 0.5
    turned(test, "budget").run()
    assert not test.exception
    assert {query.label for query in project.plan().queries if query.pool == "task"} == {
        "age × readmitted",
        "severity × readmitted",
        "Ward code × severity",
    }
    assert "say about **readmitted and Ward code**" in texts(test)
    turned(test, "structure").run()
    assert project.designs.plan.further == {"Ward code": 0.5}  # kept over a change of page
    test.multiselect(key="further_choice_readmitted").set_value([]).run()
    assert project.designs.plan.further == {}
    assert project.plan().several == ()


def test_targets_that_cannot_be_protected_together_say_so_on_structure_and_once_on_budget():
    edges = (("age", "readmitted"), ("readmitted", "Ward code"), ("severity", "Ward code"))
    project = made(graph=EditedGraph(edges=edges), further={"Ward code": 1.0})
    test = open_page("structure", project)
    (error,) = test.error
    assert "cannot be protected together" in error.value
    assert "**To go on:** The targets cannot be protected together" in texts(test)
    assert "onward_Structure" not in {button.key for button in test.button}
    turned(test, "budget").run()
    assert not test.exception
    assert texts(test).count("cannot be protected together") == 1
    assert "Not yet: **Structure** is not finished" in texts(test)
    # In the other regime they can, and the page goes on.
    project.designs.plan.regime = "graphical"
    test = open_page("structure", project)
    assert not test.error
    assert test.button(key="onward_Structure")


def test_what_another_tab_chose_is_not_taken_back_by_this_one():
    """Both tabs show one project, and this one goes on with what it showed before."""
    project = made(regime="predictive", k=1)
    test = open_page("structure", project)
    plan = project.designs.plan
    plan.k, plan.selection, plan.further = 2, "one_shot", {"Ward code": 2.0}
    test.run()
    assert (plan.k, plan.selection, plan.further) == (2, "one_shot", {"Ward code": 2.0})
    plan.regime = "graphical"
    test.run()
    assert not test.exception
    assert plan.regime == "graphical"
    assert test.button_group[0].value == "graphical"
