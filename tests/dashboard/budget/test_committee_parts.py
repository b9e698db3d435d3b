"""The parts on bounds and on the meaning of epsilon, each mounted by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.session.data_entries import DataEntries
from dashboard.session.designs import BudgetEntries, Designs, Entries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.project import Project
from prism_core.explain.error_bounds import bounds
from prism_core.explain.meaning import meaning
from prism_core.planning.wishes.task import Synthesis
from prism_core.structure import formats
from tests.support.pages import texts

pytestmark = pytest.mark.app


@pytest.fixture
def project(spurious) -> Project:
    dag = formats.read(spurious.dag_json)
    return Project(
        data=DataEntries(
            raw=spurious.train, test=spurious.test, public=True, schema=spurious.schema
        ),
        structure=StructureEntries(graph=EditedGraph(edges=dag.edges), target="Y"),
        designs=Designs(plan=Entries(synthesis=Synthesis(model="naive_bayes", sampling="iid"))),
    )


def bounds_page() -> None:
    from dashboard.budget import bounds_panel
    from dashboard.session.shelf import project

    bounds_panel.section(project().designs.plan, project().plan())


def meaning_page() -> None:
    from dashboard.budget import meaning_panel
    from dashboard.session.shelf import project

    meaning_panel.section(project().plan())


def mounted(page, project: Project) -> AppTest:
    test = AppTest.from_function(page, default_timeout=60)
    test.session_state["project"] = project
    test.run()
    assert not test.exception
    return test


NOISE = "Noise of a table with the target, at worst"
SAMPLING = "Real rows against population"


def metrics(test: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in test.metric}


# --- bounds ----------------------------------------------------------------------------------


def test_bounds_are_those_of_the_plan(project):
    test = mounted(bounds_page, project)
    made = bounds(project.plan())
    worst = max(made.task, key=lambda line: line.l1.raw)
    assert metrics(test) == {NOISE: worst.l1.text, SAMPLING: made.sampling.text}
    shown = texts(test)
    assert made.delta_s.sentence in shown  # why it is no bound
    (table,) = (frame.value for frame in test.dataframe)
    assert list(table["marginal"]) == [line.label for line in made.marginals]
    assert list(table["guaranteed l1 error"]) == [line.l1.text for line in made.marginals]


def test_entries_are_kept_and_reach_the_bounds(project):
    test = mounted(bounds_page, project)
    test.text_input(key="bounds_beta").set_value("0,2").run()
    test.text_input(key="bounds_p_min").set_value("0.25").run()
    assert not test.exception
    assert (project.designs.beta, project.designs.p_min) == (0.2, 0.25)
    made = bounds(project.plan(), beta=0.2, p_min=0.25)
    assert made.delta_s.value is not None
    assert made.delta_s.text in metrics(test).values()
    again = mounted(bounds_page, project)
    assert again.text_input(key="bounds_p_min").value == "0.25"
    again.text_input(key="bounds_p_min").set_value("").run()
    assert project.designs.p_min is None
    assert not again.exception


def test_what_was_typed_in_another_project_is_not_shown(project):
    test = mounted(bounds_page, project)
    test.text_input(key="bounds_p_min").set_value("few").run()
    project.designs.p_min = None
    test.run()
    shown = next(one for one in test.text_input if str(one.key).startswith("bounds_p_min"))
    assert shown.value == ""
    assert not test.error


@pytest.mark.parametrize("entry", ["bounds_beta", "bounds_p_min"])
def test_what_is_no_number_is_a_sentence(project, entry):
    test = mounted(bounds_page, project)
    test.text_input(key=entry).set_value("few").run()
    assert not test.exception
    assert test.error


def test_an_unusable_entry_is_a_sentence(project):
    project.designs.p_min = 0.0
    test = mounted(bounds_page, project)
    assert any("p\\_min must" in error.value for error in test.error)


def test_rounded_sampling_gives_no_total_until_a_button_makes_it_apply(project):
    project.designs.p_min = 0.25
    project.designs.plan.synthesis = replace(project.designs.plan.synthesis, sampling="rounded")
    test = mounted(bounds_page, project)
    assert bounds(project.plan(), p_min=0.25).erm.total.sentence in texts(test)
    few = len(metrics(test))
    test.button(key="bounds_remedy_risk").click().run()
    assert project.designs.plan.synthesis.sampling == "iid"
    made = bounds(project.plan(), p_min=0.25)
    assert len(metrics(test)) == few + (made.erm.total.value is not None)
    assert "bounds_remedy_risk" not in [button.key for button in test.button]


def test_before_features_are_chosen_the_worst_case_is_shown(project):
    project.designs.plan.regime = "predictive"
    assert "the 8 columns with most levels" in texts(mounted(bounds_page, project))


def test_another_budget_gives_other_bounds(project):
    test = mounted(bounds_page, project)
    before = list(test.dataframe[0].value["guaranteed l1 error"])
    project.designs.plan.budget = BudgetEntries(epsilon=4.0)
    test.run()
    assert list(test.dataframe[0].value["guaranteed l1 error"]) != before


# --- meaning ---------------------------------------------------------------------------------


def test_the_meaning_is_that_of_the_plan(project):
    test = mounted(meaning_page, project)
    found = meaning(project.plan())
    shown = texts(test)
    assert found.claim in shown
    for limit in found.limits:
        assert limit.title in shown
    assert found.guess(20).sentence in shown
    assert metrics(test)["Right before"] == "1 in 20"
    assert metrics(test)["Right after, at most"] == found.guess(20).after_words
    assert "| False alarms | True positives, at most |" in shown
    (table,) = (frame.value for frame in test.dataframe)
    assert table["release"][0] == "This plan"
    assert table["source"][1].startswith("https://")


def test_a_guess_is_kept(project):
    test = mounted(meaning_page, project)
    test.select_slider(key="meaning_guess").set_value(1_000).run()
    assert not test.exception
    assert project.designs.guess == 1_000
    assert metrics(test)["Right before"] == "1 in 1,000"
    again = mounted(meaning_page, project)
    assert metrics(again)["Right before"] == "1 in 1,000"


def test_a_sharper_curve_is_offered_where_it_is_proven(project):
    test = mounted(meaning_page, project)
    test.toggle(key="meaning_exact").set_value(True).run()
    assert not test.exception
    assert "privacy loss distribution" in texts(test)
    project.designs.plan.synthesis = replace(project.designs.plan.synthesis, model="pgm")
    test = mounted(meaning_page, project)
    assert "meaning_exact" not in [toggle.key for toggle in test.toggle]


def test_small_rates_on_a_logarithmic_scale(project):
    test = mounted(meaning_page, project)
    test.toggle(key="meaning_log").set_value(True).run()
    assert not test.exception


@pytest.mark.privacy
def test_two_sessions_do_not_share_what_was_computed(project):
    plan = replace(project.designs.plan, budget=BudgetEntries(epsilon=4.0), planned=None)
    other = replace(project, designs=replace(project.designs, plan=plan))
    first, second = mounted(meaning_page, project), mounted(meaning_page, other)
    assert metrics(first) != metrics(second)
    first.run()
    assert meaning(project.plan()).claim in texts(first)
