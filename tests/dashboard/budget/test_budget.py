"""The page Budget in Streamlit's own test runner: every control, designs side by side, wishes."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dashboard.budget import marginals_table
from dashboard.budget.epsilon_entry import GRID, PRESETS
from dashboard.budget.marginals_table import LockRow
from dashboard.session.designs import BudgetEntries
from dashboard.session.graph import EditedGraph
from dashboard.session.project import Project
from dashboard.session.rehearsals import scenario_of
from prism_core.bundle.protocol.protocol import Protocol
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import read_table
from prism_core.errors import BudgetError
from prism_core.explain.plan_lines import idle_pools, lines
from prism_core.planning.plan_warnings import LARGE_ERROR
from prism_core.planning.search.comparison import figures
from prism_core.planning.search.inverse import task_error
from prism_core.text.numbers import error_text, share_text, sigma_text
from tests.support.pages import open_page, session, texts, turned

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.app
NAMES = ("age", "<b>$x$</b>", "grade", "ward", "Y")
TABS = ("Per marginal", "Shares", "Error against epsilon", "Compare A and B")


@pytest.fixture
def project() -> Project:
    rows = "\n".join(f"{i % 6},{i % 3},{i % 4},{i % 9},{i % 2}" for i in range(1_000))
    levels = (6, 3, 40, 9, 2)
    return Project(
        name="stays.csv",
        public=True,
        target="Y",
        joint=False,
        raw=read_table(f"{','.join(NAMES)}\n{rows}\n".encode()),
        schema=Schema(
            columns=tuple(
                Column(name=name, kind="ordinal", levels=tuple(range(count)))
                for name, count in zip(NAMES, levels, strict=True)
            ),
            one_row_per_person=True,
        ),
        graph=EditedGraph(edges=(("age", "Y"), ("<b>$x$</b>", "Y"), ("grade", "Y"), ("Y", "ward"))),
    )


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
    assert project.budget.epsilon == 0.2
    assert now(test.text_input, "epsilon").value == "0.2"
    assert now(again(test).text_input, "epsilon").value == "0.2"


@pytest.mark.parametrize("epsilon", [0.0, -3.0, math.nan, 1e6, 1e-9])
def test_an_epsilon_beyond_the_slider_is_kept_as_it_is_typed(project, epsilon):
    project.budget.epsilon = epsilon
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
    assert project.budget.epsilon == epsilon
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
    assert math.isnan(project.budget.epsilon)
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
    assert project.budget.epsilon == 4.0
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
    assert project.budget.epsilon == 4.0
    assert project.budget.background == 0.5
    assert now(test.text_input, "epsilon").value == "4"
    assert now(test.text_input, "background_share").value == "50"


@pytest.mark.parametrize("epsilon", [0.05, 4.0])
def test_a_large_task_error_says_what_it_means_and_what_lowers_it(project, epsilon):
    project.budget.epsilon = epsilon
    error = figures(project.plan()).mean_error
    said = texts(page(project))
    assert (error > LARGE_ERROR) == (epsilon < 1.0)
    assert ("The task error is large" in said) == (error > LARGE_ERROR)
    words = f"comes to {error_text(error)} of the number of rows on average"
    assert (words in said) == (error > LARGE_ERROR)


# ---- shares -----------------------------------------------------------------------------------


def drag(test: AppTest, project: Project, *tenths: int, rev: int | None = None) -> AppTest:
    rev = project.budget.shares_rev if rev is None else rev
    test.session_state["share_bar"] = {"shares": {"rev": rev, "tenths": list(tenths)}}
    return test.run()


def test_dragged_shares_reach_plan_and_numbers(project):
    test = page(project)
    drag(test, project, 555, 445)
    assert project.budget.background == 0.445
    assert now(test.text_input, "background_share").value == "44.5"
    assert project.plan().budget.shares.task == pytest.approx(0.555)
    assert now(again(test).text_input, "background_share").value == "44.5"


def test_a_late_message_does_not_undo_a_change_made_in_python(project):
    test = page(project)
    old = project.budget.shares_rev
    now(test.text_input, "background_share").set_value("30").run()
    drag(test, project, 555, 445, rev=old)
    assert project.budget.background == 0.30


def test_what_was_dragged_once_does_not_undo_another_tab(project):
    first, second = page(project), page(project)
    rev = project.budget.shares_rev
    drag(first, project, 700, 300)
    drag(second, project, 600, 400, rev=rev)
    first.run()
    assert project.budget.background == 0.40


def test_pools_that_are_not_used_take_no_part(project):
    project.budget.selection, project.k = 0.9, 2  # typed in another regime
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
    project.regime, project.k = "predictive", 2
    assert "Not used by this plan" not in texts(page(project))
    project.k = 4
    plan = project.plan()
    assert idle_pools(plan) == ("selection", "background")
    said = texts(page(project))
    assert "Not used by this plan: **Choosing features**" in said
    assert "**Background**" in said
    task = sum(line.share for line in lines(plan) if line.pool == "task")
    assert f"which has **{share_text(task)}** of the budget" in said


@pytest.mark.parametrize("text", ["2,5", "2.5", " 2.5 "])
def test_a_share_takes_a_comma(project, text):
    test = page(project)
    now(test.text_input, "background_share").set_value(text).run()
    assert project.budget.background == 0.025
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
    project.budget.selection = math.nan
    assert project.regime == "causal"
    assert "a percentage from 0 to 100" not in texts(page(project))
    shares = scenario_of(project, "Y").budget.shares
    assert (shares.selection, shares.background) == (BudgetEntries.selection, 0.2)
    assert project.graph_plan().left_epsilon < project.budget.epsilon
    project.regime = "predictive"
    with pytest.raises(BudgetError, match="percentage"):
        scenario_of(project, "Y")


def test_shares_that_are_no_whole_are_a_sentence_and_stay(project):
    test = page(project)
    now(test.text_input, "background_share").set_value("100").run()
    assert "leave nothing for the task" in texts(test)
    assert "To go on" in texts(test)
    assert now(again(test).text_input, "background_share").value == "100"


# ---- allocation, weights, locks ----------------------------------------------------------------


def test_every_allocation_reaches_the_plan(project):
    test = page(project)
    shares = {}
    for rule in ("closed_form", "tilted", "uniform"):
        now(test.selectbox, "allocation").select(rule).run()
        assert project.plan().budget.allocation == rule
        shares[rule] = [query.share for query in project.plan().queries][:3]
    assert len({round(share, 12) for share in shares["uniform"]}) == 1
    assert shares["closed_form"][2] > shares["tilted"][2] > shares["uniform"][2]
    now(test.selectbox, "allocation").select("tilted").run()
    now(test.slider, "tilt").set_value(1.0).run()
    assert project.plan().queries[2].share == pytest.approx(shares["closed_form"][2])


def test_the_joint_can_be_switched_off(project):
    small = {"age", "ward"}
    project.schema = replace(
        project.schema,
        columns=tuple(
            replace(column, levels=(0, 1)) if column.name in small else column
            for column in project.schema.columns
        ),
    )
    project.graph = EditedGraph(edges=tuple((name, "Y") for name in sorted(small)))
    project.joint = True
    test = page(project)
    assert next(query.kind for query in project.plan().queries) == "joint"
    now(test.toggle, "joint").set_value(False).run()
    assert next(query.kind for query in project.plan().queries) == "pair"
    assert now(again(test).toggle, "joint").value is False


def test_at_most_so_many_3_ways(project):
    project.three_way = "model_error"
    test = page(project)
    now(test.number_input, "max_three_way").set_value(1).run()
    assert project.plan().three_way.rounds == 1
    labels = list(table(test)["marginal"])
    assert "1 3-way marginals, once chosen" in labels


def test_adaptive_rounds_are_paid_from_the_task(project):
    project.graph = EditedGraph(edges=(("age", "Y"), ("<b>$x$</b>", "Y")))
    test = page(project)
    now(test.selectbox, "three_way").set_value("adaptive").run()
    assert project.plan().three_way is None
    assert any("No adaptive round" in warning.value for warning in test.warning)
    now(test.text_input, "epsilon").set_value("20.0").run()
    rounds = project.plan().three_way.rounds
    labels = list(table(test)["marginal"])
    assert f"up to {rounds} adaptive marginals, once chosen" in labels
    assert project.plan().budget.shares.choice == 0.0
    now(test.number_input, "max_three_way").set_value(1).run()
    assert project.plan().three_way.rounds == 1


def test_numeric_columns_by_moments(project):
    age = Column(name="age", kind="numeric", lower=0.0, upper=8.0, edges=(2.0, 4.0, 6.0))
    columns = tuple(age if c.name == "age" else c for c in project.schema.columns)
    project.use_schema(dataclasses.replace(project.schema, columns=columns))
    project.graph = EditedGraph(edges=(("age", "Y"), ("<b>$x$</b>", "Y")))
    project.joint = False
    test = page(project)
    now(test.selectbox, "numeric_queries").set_value("moments").run()
    now(test.number_input, "numeric_bins").set_value(2).run()
    assert "moments" in {query.kind for query in project.plan().queries}
    assert any("moments" in label for label in table(test)["marginal"])
    now(again(test).selectbox, "numeric_queries").set_value("thresholds").run()
    now(test.number_input, "thresholds").set_value(1).run()
    kinds = {query.kind for query in project.plan().queries}
    assert "thresholds" in kinds
    assert "moments" not in kinds


def typed(monkeypatch, project, changes, rows, rev=None):
    """What the grid hands over when something was typed into it."""
    with monkeypatch.context() as patch:
        patch.setattr(marginals_table.st, "session_state", {"table": {"edited_rows": changes}})
        marginals_table._typed(project, rows, "table", project.rev if rev is None else rev)


ROWS = [
    LockRow(columns=("age", "Y"), share=0.25),
    LockRow(columns=("grade", "Y"), share=0.35),
    LockRow(columns=(), share=0.1),
]


def test_a_tick_locks_the_share_that_is_shown(project, monkeypatch):
    typed(monkeypatch, project, {0: {"locked": True}}, ROWS)
    assert project.budget.locks == {("age", "Y"): 0.25}
    query = project.plan().queries[0]
    assert (query.locked, query.share) == (True, pytest.approx(0.25))
    # Said again with another share behind it, the lock stays where it was set.
    typed(monkeypatch, project, {0: {"locked": True}}, [LockRow(columns=("age", "Y"), share=0.1)])
    assert project.budget.locks == {("age", "Y"): 0.25}


def test_a_typed_share_locks_and_the_others_share_the_rest(project, monkeypatch):
    before = [query.share for query in project.plan().queries]
    typed(monkeypatch, project, {"1": {"share": 60.0}}, ROWS)
    after = [query.share for query in project.plan().queries]
    assert after[2] != before[2]
    assert after[1] < before[1]
    assert math.fsum(after[:3]) == pytest.approx(0.8)
    assert math.fsum(after[:3]) <= 0.8
    test = page(project)
    frame = table(test)
    assert list(frame["locked"][:3]) == [False, False, True]
    assert frame.loc[frame["locked"], "share"].item() == 60.0
    assert "1 share locked" in texts(test)
    test.button(key="locks_clear").click().run()
    assert project.budget.locks == {}
    assert [query.share for query in project.plan().queries] == before


def test_a_table_that_was_put_away_locks_nothing_any_more(project, monkeypatch):
    before = project.rev
    project.renew()
    typed(monkeypatch, project, {"0": {"locked": True}}, ROWS, rev=before)
    assert project.budget.locks == {}


def test_unticking_unlocks_and_the_table_starts_anew(project, monkeypatch):
    typed(monkeypatch, project, {1: {"share": 50.0}}, ROWS)
    rev = project.rev
    typed(monkeypatch, project, {1: {"share": 50.0, "locked": False}}, ROWS)
    assert project.budget.locks == {}
    assert project.rev != rev


@pytest.mark.parametrize("share", [90.0, 0.0, -1.0, 300.0])
def test_a_lock_that_cannot_be_is_a_sentence_and_stays_to_be_corrected(project, monkeypatch, share):
    typed(monkeypatch, project, {1: {"share": share}}, ROWS)
    test = page(project)
    assert "lock" in texts(test).lower()
    assert "To go on" in texts(test)
    frame = table(test)
    assert frame.loc[frame["locked"], "share"].item() == share


def test_a_weight_counts_and_an_unusable_one_is_a_sentence(project):
    project.weights = {"age": 3.0}
    plain, weighted = page(project), project.plan().queries
    assert weighted[0].weight > weighted[1].weight
    assert not plain.error
    project.weights = {"age": 0.0}
    test = page(project)
    assert "weight of 'age' must be a number above 0" in texts(test)
    assert table(test, "weight")["weight"].iloc[0] == 0.0


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
    drag_b = project.scenarios.others["B"].budget.shares_rev
    test.session_state["share_bar_B"] = {"shares": {"rev": drag_b, "tenths": [600, 400]}}
    test.run()
    other = project.scenarios.others["B"].budget
    assert (other.epsilon, other.allocation, other.background) == (0.25, "uniform", 0.4)
    assert (project.budget.epsilon, project.budget.allocation) == (1.0, "closed_form")
    assert project.budget.background == 0.2
    shown = {metric.label: metric.value for metric in test.metric}
    assert shown["Epsilon"] == "0.25"
    assert now(again(test).text_input, "epsilon_B").value == "0.25"


def test_one_click_makes_b_the_plan_and_loses_nothing(project):
    test = keep_and_edit(page(project))
    now(test.text_input, "epsilon_B").set_value("0.25").run()
    test.button(key="design_adopt").click().run()
    assert not test.exception
    assert project.budget.epsilon == 0.25
    assert project.scenarios.others["B"].budget.epsilon == 1.0
    assert project.scenarios.edited == "A"
    assert now(test.text_input, "epsilon").value == "0.25"
    assert project.plan().budget.epsilon == 0.25
    # A late message of the bar before the exchange belongs to neither of them.
    assert project.budget.shares_rev != project.scenarios.others["B"].budget.shares_rev


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
    assert project.budget.epsilon == 0.25


def test_more_designs_on_request_and_each_can_be_removed(project):
    test = page(project, TABS[3])
    for letter in "BCDE":
        test.button(key="design_keep").click().run()
        assert letter in project.scenarios.others
    assert "design_keep" not in [button.key for button in test.button]
    group = now(test.get("button_group"), "design_edited")
    group.set_value("C").run()
    test.button(key="design_drop").click().run()
    assert sorted(project.scenarios.others) == ["B", "D", "E"]
    assert project.scenarios.edited == "A"
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
    assert {metric.label for metric in test.metric} >= {"Epsilon", "Task error"}


def test_the_same_numbers_read_as_in_the_report_and_the_protocol(project):
    test = page(project)
    plan = project.plan()
    found = figures(plan)
    shown = {metric.label: metric.value for metric in test.metric}
    assert shown["Task error"] == error_text(found.mean_error)
    assert shown["Noise, σ in rows"] == sigma_text(max(q.sigma for q in plan.queries[:3]))
    (frame,) = (f.value for f in test.dataframe if "sigma" in f.value.columns)
    written = Protocol(plan=plan).text(".md").replace("\\", "")
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


# ---- from a wish to a budget -------------------------------------------------------------------


def test_a_wished_error_gives_an_epsilon_to_take(project):
    test = page(project, TABS[2])
    now(test.text_input, "wish").set_value("5").run()
    test.button(key="wish_epsilon").click().run()
    assert not test.exception
    assert "An expected error of at most 5% of n needs epsilon" in texts(test)
    test.button(key="wish_take").click().run()
    assert task_error(project.plan()) <= 0.05
    project.budget.epsilon *= 0.99
    assert task_error(project.plan()) > 0.05
    project.budget.background = 0.5  # the answer was for other shares
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


@pytest.mark.parametrize("tab", [*TABS, "Bounds", "What it means"])
@pytest.mark.parametrize("regime", ["causal", "predictive"])
def test_every_view_comes_up_in_every_regime(project, tab, regime):
    project.regime, project.k = regime, 2
    project.three_way = "cmi" if regime == "predictive" else "none"
    test = page(project, tab)
    assert not test.error
    assert not test.exception
    for chart in test.get("plotly_chart"):
        assert len(chart.proto.alt.split()) > 5  # what those hear who do not see it


def test_entries_with_locks_are_not_carried_to_another_table():
    entries = BudgetEntries(epsilon=0.3, locks={("age", "Y"): 0.2})
    project = Project(budget=entries)
    test = session(project)
    test.run()
    test.button(key="sample_scm_spurious").click().run()
    assert not test.exception
    found = test.session_state["project"].budget
    assert found.locks == {}


def test_at_this_epsilon_the_most_features_and_bins(project):
    project.regime, project.k, project.budget.epsilon = "predictive", 2, 4.0
    test = page(project, TABS[2])
    now(test.text_input, "wish").set_value("50").run()
    test.button(key="wish_k").click().run()
    assert "features (k) stay within 50% of n" in texts(test)
    test.button(key="wish_take").click().run()
    assert project.k == 4
    assert not test.exception
    test.button(key="wish_bins").click().run()
    assert "No column has bounds" in texts(test)
    age = Column(name="age", kind="numeric", lower=0, upper=90, edges=(30.0, 60.0))
    columns = tuple(age if column.name == "age" else column for column in project.schema.columns)
    project.schema = replace(project.schema, columns=columns)
    test.run()
    assert "No column has bounds" not in texts(test)
    test.button(key="wish_bins").click().run()
    assert "equal bins for every column with bounds stay within" in texts(test)
    assert "wish_take" not in [button.key for button in test.button]


# ---- designs kept by name ----------------------------------------------------------------------


def save(test: AppTest, name: str) -> AppTest:
    now(test.text_input, "book_name").set_value(name).run()
    test.button(key="book_save").click().run()
    assert not test.exception
    return test


def test_a_design_is_saved_put_back_and_deleted(project):
    test = save(page(project, TABS[3]), "half the noise")
    assert "half the noise" in texts(test.run())
    project.budget.epsilon = 4.0
    test.run()
    test.button(key="book_load_0").click().run()
    assert project.scenarios.others["B"].budget.epsilon == 1.0
    assert project.budget.epsilon == 4.0
    test.button(key="book_delete_0").click().run()
    assert "None is saved yet" in texts(test)
    assert not test.exception


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 81])
def test_an_unusable_name_is_a_sentence_and_stays(project, name):
    test = page(project, TABS[3])
    project.scenarios.name = name
    test.run()
    test.button(key="book_save").click().run()
    assert "The name of a scenario is one line of text" in texts(test)
    assert project.scenarios.name == name


def twin(project: Project) -> Project:
    """The same table in another person's session."""
    return Project(
        **{
            name: getattr(project, name)
            for name in ("name", "public", "target", "raw", "schema", "graph")
        }
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
    assert theirs.scenarios.others == {}
    assert theirs.scenarios.saved == {}
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
    assert theirs.scenarios.others["B"].budget.epsilon == mine.budget.epsilon
    second.button(key="book_delete_0").click().run()
    assert "for the study" not in texts(first.run())


def test_a_folder_that_cannot_be_used_is_a_sentence(project, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    project.scenarios.shared, project.scenarios.folder = True, str(tmp_path / "file")
    test = page(project, TABS[3])
    save(test, "a design")
    assert "cannot be" in texts(test)


def test_usable_designs_are_written_beside_a_release(project):
    project.scenarios.keep(project)
    project.scenarios.keep(project)
    project.scenarios.others["B"].budget.epsilon = 0.25
    project.scenarios.others["C"].budget.delta = "tiny"
    found = project.usable(project.scenarios.letters)
    assert [(one.name, one.budget.epsilon) for one in found] == [("A", 1.0), ("B", 0.25)]
