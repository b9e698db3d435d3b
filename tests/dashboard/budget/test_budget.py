"""The page Budget in Streamlit's own test runner: epsilon, shares, wishes, and every view."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dashboard.budget.epsilon_entry import GRID, PRESETS
from dashboard.session.designs import BudgetEntries, Designs, Entries
from dashboard.session.project import Project
from dashboard.session.rehearsals import scenario_of
from prism_core.data.schema.column import Column
from prism_core.errors import BudgetError
from prism_core.explain.plan_lines import idle_pools, lines
from prism_core.planning.plan_warnings import LARGE_ERROR
from prism_core.planning.search.comparison import figures
from prism_core.planning.search.inverse import task_error
from prism_core.text.numbers import error_text, share_text
from tests.support.budget_page import TABS, again, now, page
from tests.support.pages import session, texts, turned

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.app


# ---- privacy ----------------------------------------------------------------------------------


def test_the_slider_is_logarithmic_and_holds_the_presets():
    assert set(PRESETS) <= set(GRID)
    steps = [later / sooner for sooner, later in itertools.pairwise(GRID)]
    assert 1.04 < min(steps) < max(steps) < 1.25
    assert (GRID[0], GRID[-1]) == (0.01, 20.0)


@pytest.mark.parametrize("epsilon", [0.83, 0.02, 1.0, 19.99, 0.5000001])
def test_slider_and_number_are_in_step(project, epsilon):
    test = page(project)
    now(test.text_input, "epsilon").set_value(f"{epsilon}").run()
    assert now(test.select_slider, "epsilon_slider").value == pytest.approx(epsilon, rel=1e-5)
    now(test.select_slider, "epsilon_slider").set_value(0.2).run()
    assert project.designs.plan.budget.epsilon == 0.2
    assert now(test.text_input, "epsilon").value == "0.2"
    assert now(again(test).text_input, "epsilon").value == "0.2"


@pytest.mark.parametrize("epsilon", [0.0, -3.0, math.nan, 1e6, 1e-9])
def test_an_epsilon_beyond_the_slider_is_kept_as_it_is_typed(project, epsilon):
    project.designs.plan.budget.epsilon = epsilon
    test = page(project)
    assert not test.exception
    assert now(test.select_slider, "epsilon_slider").value in (GRID[0], GRID[-1])
    shown = now(test.text_input, "epsilon").value
    assert (shown == "") if math.isnan(epsilon) else (float(shown) == epsilon)


@pytest.mark.parametrize(
    ("text", "epsilon"),
    [("0,5", 0.5), ("0.5", 0.5), (" ,25 ", 0.25), ("2.", 2.0), ("1e-1", 0.1), ("3", 3.0)],
)
def test_epsilon_is_typed_with_a_comma_or_a_point_and_stays_as_typed(project, text, epsilon):
    """A browser's number field makes 5 of 0,5: ten times the privacy loss that was meant."""
    test = page(project)
    now(test.text_input, "epsilon").set_value(text).run()
    assert project.designs.plan.budget.epsilon == epsilon
    assert project.plan().budget.epsilon == epsilon
    assert now(test.text_input, "epsilon").value == text
    assert now(again(test).text_input, "epsilon").value == text
    assert now(test.select_slider, "epsilon_slider").value == pytest.approx(epsilon)
    now(test.select_slider, "epsilon_slider").set_value(4.0).run()
    assert now(test.text_input, "epsilon").value == "4"


@pytest.mark.parametrize(
    "text", ["", "half", "1.000,5", "1,000.5", "0,5 1", "0x1", "nan", "1_0", "٣", "ten", "-", "--1"]
)
def test_what_is_no_number_is_no_epsilon_and_stays_to_be_corrected(project, text):
    test = page(project)
    now(test.text_input, "epsilon").set_value(text).run()
    assert not test.exception
    assert math.isnan(project.designs.plan.budget.epsilon)
    assert "epsilon must be a number above 0, written as 0.5 or 0,5" in texts(test)
    assert "To go on" in texts(test)
    assert now(again(test).text_input, "epsilon").value == text
    now(test.text_input, "epsilon").set_value("0,7").run()
    assert project.plan().budget.epsilon == 0.7


@pytest.mark.parametrize("text", ["0", "-1", "-0,5", "1e999"])
def test_a_number_that_is_no_epsilon_is_refused_by_the_plan(project, text):
    test = page(project)
    now(test.text_input, "epsilon").set_value(text).run()
    assert "epsilon must be a number above 0" in texts(test)
    assert now(again(test).text_input, "epsilon").value == text


def test_the_slider_beneath_the_chart_moves_the_same_epsilon(project):
    test = page(project, TABS[2])
    now(test.select_slider, "epsilon_chart").set_value(4.0).run()
    assert project.designs.plan.budget.epsilon == 4.0
    assert now(test.text_input, "epsilon").value == "4"
    now(test.text_input, "epsilon").set_value("0.7").run()
    assert now(test.select_slider, "epsilon_chart").value == 0.7


def test_what_a_replaced_widget_still_tells_does_not_count(project):
    """A slow browser: its message leaves before it has seen that the numbers have moved."""
    test = page(project)
    now(test.select_slider, "epsilon_slider").set_value(4.0)
    late = test._tree.get_widget_states()
    now(test.select_slider, "epsilon_slider").set_value(2.0).run()
    drag(test, project, 500, 500)
    test._run(late)
    assert not test.exception
    assert project.designs.plan.budget.epsilon == 4.0
    assert project.designs.plan.budget.background == 0.5
    assert now(test.text_input, "epsilon").value == "4"
    assert now(test.text_input, "background_share").value == "50"


@pytest.mark.parametrize("epsilon", [0.05, 4.0])
def test_a_large_task_error_says_what_it_means_and_what_lowers_it(project, epsilon):
    project.designs.plan.budget.epsilon = epsilon
    error = figures(project.plan()).mean_error
    said = texts(page(project))
    assert (error > LARGE_ERROR) == (epsilon < 1.0)
    assert ("The task error is large" in said) == (error > LARGE_ERROR)
    words = f"comes to {error_text(error)} of the number of rows on average"
    assert (words in said) == (error > LARGE_ERROR)


# ---- shares -----------------------------------------------------------------------------------


def drag(test: AppTest, project: Project, *tenths: int, rev: int | None = None) -> AppTest:
    rev = project.designs.plan.budget.shares_rev if rev is None else rev
    test.session_state["share_bar"] = {"shares": {"rev": rev, "tenths": list(tenths)}}
    return test.run()


def test_dragged_shares_reach_plan_and_numbers(project):
    test = page(project)
    drag(test, project, 555, 445)
    assert project.designs.plan.budget.background == 0.445
    assert now(test.text_input, "background_share").value == "44.5"
    assert project.plan().budget.shares.task == pytest.approx(0.555)
    assert now(again(test).text_input, "background_share").value == "44.5"


def test_a_late_message_does_not_undo_a_change_made_in_python(project):
    test = page(project)
    old = project.designs.plan.budget.shares_rev
    now(test.text_input, "background_share").set_value("30").run()
    drag(test, project, 555, 445, rev=old)
    assert project.designs.plan.budget.background == 0.30


def test_what_was_dragged_once_does_not_undo_another_tab(project):
    first, second = page(project), page(project)
    rev = project.designs.plan.budget.shares_rev
    drag(first, project, 700, 300)
    drag(second, project, 600, 400, rev=rev)
    first.run()
    assert project.designs.plan.budget.background == 0.40


def test_pools_that_are_not_used_take_no_part(project):
    project.designs.plan.budget.selection, project.designs.plan.k = (
        0.9,
        2,
    )  # typed in another regime
    test = page(project)
    assert project.plan().budget.shares.task == pytest.approx(0.8)
    assert "selection_share" not in [entry.key for entry in test.text_input]
    now(test.selectbox, "budget_regime").select("predictive").run()
    assert "leave nothing for the task" in texts(test)
    assert now(test.text_input, "selection_share").value == "90"
    now(test.text_input, "selection_share").set_value("10").run()
    assert project.plan().selection is not None


def test_pools_on_the_bar_that_the_plan_has_no_use_for_are_named(project):
    """All four features are taken: nothing is chosen, and no column is left for the background."""
    project.designs.plan.regime, project.designs.plan.k = "predictive", 2
    assert "Not used by this plan" not in texts(page(project))
    project.designs.plan.k = 4
    plan = project.plan()
    assert idle_pools(plan) == ("selection", "background")
    said = texts(page(project))
    assert "Not used by this plan: **Choosing features**" in said
    assert "**All else (background)**" in said
    task = sum(line.share for line in lines(plan) if line.pool == "task")
    assert f"which has **{share_text(task)}** of the budget" in said


@pytest.mark.parametrize("text", ["2,5", "2.5", " 2.5 "])
def test_a_share_takes_a_comma(project, text):
    test = page(project)
    now(test.text_input, "background_share").set_value(text).run()
    assert project.designs.plan.budget.background == 0.025
    assert now(again(test).text_input, "background_share").value == text
    drag(test, project, 555, 445)
    assert now(test.text_input, "background_share").value == "44.5"


@pytest.mark.parametrize("text", ["1.000,5", "a lot", "", "-3", "250"])
def test_what_is_no_share_is_a_sentence_and_stays(project, text):
    test = page(project)
    now(test.text_input, "background_share").set_value(text).run()
    assert not test.exception
    assert "a percentage from 0 to 100" in texts(test)
    assert "The task gets the rest" not in texts(test)
    assert now(again(test).text_input, "background_share").value == text
    now(test.text_input, "background_share").set_value("20").run()
    assert project.plan().budget.shares.background == 0.2


def test_what_is_no_share_of_a_pool_that_is_not_used_stops_nothing(project):
    project.designs.plan.budget.selection = math.nan
    assert project.designs.plan.regime == "causal"
    assert "a percentage from 0 to 100" not in texts(page(project))
    shares = scenario_of(project.designs.plan, "Y").budget.shares
    assert (shares.selection, shares.background) == (BudgetEntries.selection, 0.2)
    assert project.graph_plan().left_epsilon < project.designs.plan.budget.epsilon
    project.designs.plan.regime = "predictive"
    with pytest.raises(BudgetError, match="percentage"):
        scenario_of(project.designs.plan, "Y")


def test_shares_that_are_no_whole_are_a_sentence_and_stay(project):
    test = page(project)
    now(test.text_input, "background_share").set_value("100").run()
    assert "leave nothing for the task" in texts(test)
    assert "To go on" in texts(test)
    assert now(again(test).text_input, "background_share").value == "100"


# ---- from a wish to a budget -------------------------------------------------------------------


def test_a_wished_error_gives_an_epsilon_to_take(project):
    test = page(project, TABS[2])
    now(test.text_input, "wish").set_value("5").run()
    test.button(key="wish_epsilon").click().run()
    assert not test.exception
    assert "An expected error of at most 5% of n needs epsilon" in texts(test)
    test.button(key="wish_take").click().run()
    assert task_error(project.plan()) <= 0.05
    project.designs.plan.budget.epsilon *= 0.99
    assert task_error(project.plan()) > 0.05
    project.designs.plan.budget.background = 0.5  # the answer was for other shares
    assert "Earlier answer, before something else was set" in texts(test.run())
    assert "wish_take" not in [button.key for button in test.button]


def test_an_answer_is_there_after_another_page_and_after_a_reload(project):
    test = page(project, TABS[2])
    now(test.text_input, "wish").set_value("5").run()
    test.button(key="wish_epsilon").click().run()
    words = "An expected error of at most 5% of n needs epsilon"
    turned(test, "data").run()
    assert words in texts(page(project, TABS[2]))  # in another session, as after a reload
    assert "Earlier answer" not in texts(page(project, TABS[2]))


@pytest.mark.parametrize("wish", ["0", "-1", "1e-9", "", "much"])
def test_a_wish_that_cannot_be_kept_says_so(project, wish):
    test = page(project, TABS[2])
    now(test.text_input, "wish").set_value(wish).run()
    test.button(key="wish_epsilon").click().run()
    assert not test.exception
    assert test.warning
    assert "wish_take" not in [button.key for button in test.button]


# ---- all views ---------------------------------------------------------------------------------


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("regime", ["causal", "predictive"])
def test_every_view_comes_up_in_every_regime(project, tab, regime):
    project.designs.plan.regime, project.designs.plan.k = regime, 2
    project.designs.plan.three_way = "cmi" if regime == "predictive" else "none"
    test = page(project, tab)
    assert not test.error
    assert not test.exception
    for chart in test.get("plotly_chart"):
        assert len(chart.proto.alt.split()) > 5  # what those hear who do not see it


def test_entries_with_locks_are_not_carried_to_another_table():
    entries = BudgetEntries(epsilon=0.3, locks={("age", "Y"): 0.2})
    project = Project(
        designs=Designs(plan=Entries(budget=entries)),
    )
    test = session(project)
    test.run()
    test.button(key="sample_scm_spurious").click().run()
    assert not test.exception
    found = test.session_state["project"].designs.plan.budget
    assert found.locks == {}


def test_at_this_epsilon_the_most_features_and_bins(project):
    project.designs.plan.regime, project.designs.plan.k, project.designs.plan.budget.epsilon = (
        "predictive",
        2,
        4.0,
    )
    test = page(project, TABS[2])
    now(test.text_input, "wish").set_value("50").run()
    test.button(key="wish_k").click().run()
    assert "features (k) stay within 50% of n" in texts(test)
    test.button(key="wish_take").click().run()
    assert project.designs.plan.k == 4
    assert not test.exception
    test.button(key="wish_bins").click().run()
    assert "No column has bounds" in texts(test)
    age = Column(name="age", kind="numeric", lower=0, upper=90, edges=(30.0, 60.0))
    columns = tuple(
        age if column.name == "age" else column for column in project.data.schema.columns
    )
    project.data.schema = replace(project.data.schema, columns=columns)
    test.run()
    assert "No column has bounds" not in texts(test)
    test.button(key="wish_bins").click().run()
    assert "equal bins for every column with bounds stay within" in texts(test)
    assert "wish_take" not in [button.key for button in test.button]
