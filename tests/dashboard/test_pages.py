"""Pages in Streamlit's own test runner: what is shown, what is kept, what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.common import open_project
from dashboard.session.data_entries import DataEntries
from dashboard.session.designs import BudgetEntries
from dashboard.session.graph import EditedGraph
from dashboard.session.project import Project
from prism_core.data.schema import column_form
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import read_table
from prism_core.planning.regression import STEPS
from tests.support.pages import open_page, session, texts, turned

pytestmark = pytest.mark.app


@pytest.fixture
def project(spurious) -> Project:
    return open_project.of_sample(spurious)


def marginals(test: AppTest):
    """The table of all marginals on the page Budget."""
    return next(frame.value for frame in test.dataframe if "marginal" in frame.value.columns)


def test_the_first_page_offers_samples_and_says_what_is_missing(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(open_project, "sample_of", None)  # no rows are made before a sample is chosen
        test = open_page("data")
    assert "Load a table, open a sample" in texts(test)
    assert "Your projects are listed on Start" in texts(test)
    test.button(key="sample_readmission").click().run()
    assert not test.exception
    found = test.session_state["project"]
    assert "Or use its own address" not in texts(test)
    assert found.data.n == 20_000
    assert found.structure.target == "readmitted_30d"
    assert "20,000 training rows" in texts(test)


def test_where_several_rows_of_a_person_are_used_persons_are_counted():
    test = open_page("data")
    test.button(key="sample_readmission_stays").click().run()
    assert not test.exception
    said = texts(test)
    assert "20,000 persons" in said
    assert "20,000 training rows" not in said


@pytest.mark.parametrize("name", ["structure", "budget", "rehearse", "release", "inspect"])
def test_later_pages_send_back_to_the_first_gap(name):
    test = open_page(name)
    assert "Not yet: **Data** is not finished" in texts(test)


@pytest.mark.parametrize(
    ("regime", "words"),
    [
        ("causal", "S = Pa(Y) = {A, B}"),
        ("graphical", "S = MB(Y) = {A, B, S1"),
        ("predictive", "S is not known yet: the 8 features most associated with Y will be chosen"),
    ],
)
def test_the_structure_page_says_what_s_is(project, regime, words):
    project.designs.plan.regime = regime
    assert words in texts(open_page("structure", project))


def test_the_way_of_choosing_features_is_kept_and_reaches_the_plan(project):
    project.designs.plan.regime = "predictive"
    project.designs.plan.k = 3
    test = open_page("structure", project)
    assert "S is not known yet: the 3 features" in texts(test)
    box = test.selectbox(key="selection_choice")
    assert len(box.options) == 4
    box.select("mutual_information").run()
    assert not test.exception
    assert project.designs.plan.selection == "mutual_information"
    assert project.plan().selection.rule == "mutual_information"
    project.data.public, project.designs.plan.selection = False, "logistic"
    open_page("structure", project)
    assert project.designs.plan.selection == "logistic"
    assert len(project.plan().selection.events) == STEPS


def test_what_is_drawn_is_taken_and_an_old_revision_is_not(project):
    test = open_page("structure", project)
    revision = project.structure.graph.rev
    test.session_state["dag_editor"] = {"graph": {"rev": revision, "edges": [["A", "Y"]]}}
    test.run()
    assert project.structure.graph.edges == (("A", "Y"),)
    assert "S = Pa(Y) = {A}" in texts(test)
    test.button(key="graph_undo").click().run()
    assert len(project.structure.graph.edges) == 12
    assert "S = Pa(Y) = {A, B}" in texts(test)
    # A late message of the browser, made before the undo.
    test.session_state["dag_editor"] = {"graph": {"rev": revision, "edges": [["N1", "Y"]]}}
    test.run()
    assert len(project.structure.graph.edges) == 12


def test_a_cycle_from_the_browser_is_named_and_not_taken(project):
    test = open_page("structure", project)
    before = project.structure.graph.edges
    edges = [*map(list, before), ["S1", "A"]]
    test.session_state["dag_editor"] = {
        "graph": {"rev": project.structure.graph.rev, "edges": edges}
    }
    test.run()
    assert project.structure.graph.edges == before
    assert "would close a cycle" in texts(test)


def test_an_edge_without_a_mouse(project):
    test = open_page("structure", project)
    test.selectbox(key="edge_cause").set_value("N1")
    test.selectbox(key="edge_effect").set_value("Y")
    next(b for b in test.button if b.label == "Add edge").click().run()
    assert ("N1", "Y") in project.structure.graph.edges
    test.selectbox(key="edge_cause").set_value("Y")
    test.selectbox(key="edge_effect").set_value("A")
    next(b for b in test.button if b.label == "Add edge").click().run()
    assert "The graph has a cycle" in texts(test)
    assert ("Y", "A") not in project.structure.graph.edges


def test_a_target_without_parents_gets_advice(project):
    project.structure.target = "A"
    project.structure.graph = EditedGraph()
    test = open_page("structure", project)
    assert "Draw" in texts(test)
    assert "To go on" in texts(test)


def test_the_budget_page_shows_every_marginal(project):
    test = open_page("budget", project)
    frame = marginals(test)
    assert list(frame["marginal"][:2]) == ["A × Y", "B × Y"]
    assert frame["share"].sum() == pytest.approx(100.0)
    shown = {metric.label: metric.value for metric in test.metric}
    assert shown.keys() >= {"Privacy budget, ε", "Noise, σ in rows", "Expected error"}
    assert shown["Guess of 1 in 20"].startswith("≤ 1 in")


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan")])
def test_an_unusable_epsilon_is_a_sentence_and_stays(project, epsilon):
    project.designs.plan.budget = BudgetEntries(epsilon=epsilon)
    test = open_page("budget", project)
    assert "epsilon must be a number above 0" in texts(test)
    assert "To go on" in texts(test)


@pytest.mark.parametrize(
    ("delta", "words"),
    [
        ("none", "delta must be a number"),
        ("0", "strictly between 0 and 1"),
        ("1", "strictly between 0 and 1"),
        ("nan", "strictly between"),
        ("0.01", "not below 1/n"),
    ],
)
def test_an_unusable_delta_is_a_sentence_and_stays(project, delta, words):
    test = open_page("budget", project)
    test.text_input(key="delta").set_value(delta).run()
    assert words in texts(test)
    assert test.text_input(key="delta").value == delta


def test_presets_set_epsilon_and_show_it(project):
    test = open_page("budget", project)
    pills = test.get("pills") or test.get("button_group")
    assert pills[0].value == 1.0
    pills[0].set_value(4.0).run()
    assert project.designs.plan.budget.epsilon == 4.0
    shown = next(entry for entry in test.text_input if entry.key.startswith("epsilon"))
    assert shown.value == "4"
    shown.set_value("0.3").run()
    assert project.designs.plan.budget.epsilon == 0.3
    assert (test.get("pills") or test.get("button_group"))[0].value is None


def test_a_weak_epsilon_is_warned_of(project):
    project.designs.plan.budget.epsilon = 1e6
    assert "protects very little" in texts(open_page("budget", project))


def test_a_reload_finds_the_project_again(project):
    project.designs.plan.budget.epsilon = 0.7
    first = open_page("data", project)
    assert project.key in first.query_params["project"]
    again = session(address=project.key).run()
    assert again.session_state["project"] is project
    stranger = session(address="guess").run()
    assert stranger.session_state["project"].data.raw is None


def test_persons_are_counted_when_a_column_names_them():
    rows = "\n".join(f"p{i % 70},{i % 3},{i % 2}" for i in range(200))
    raw = read_table(f"mrn,a,y\n{rows}\n".encode())
    schema = Schema(
        columns=(
            Column(name="a", kind="ordinal", levels=(0, 1, 2)),
            Column(name="y", kind="boolean"),
        )
    )
    project = Project(
        data=DataEntries(name="stays.csv", raw=raw, schema=schema),
    )
    test = open_page("data", project)
    assert "Say how rows and people relate" in texts(test)
    test.radio(key="people_way").set_value("id").run()
    assert project.data.schema.person_id is None
    test.button(key="people_count").click().run()
    assert project.data.schema.person_id == "mrn"
    assert project.data.schema.persons == 70
    assert project.data.n == 56
    assert "70 persons in 200 rows: **70 rows stay**" in texts(test)


def test_what_is_typed_in_the_columns_survives_a_page_switch(project):
    test = open_page("data", project)
    typed = [dict(row) for row in project.data.form]
    typed[0]["description"] = "first cause"
    project.data.form_edited = typed
    turned(test, "structure").run()
    turned(test, "data").run()
    assert project.data.form[0]["description"] == "first cause"
    assert not test.exception


def test_private_rows_are_never_offered_basic_composition(project):
    project.data.public = False
    project.designs.plan.budget.accountant = "basic"
    test = open_page("budget", project)
    assert project.designs.plan.budget.accountant == "zcdp"
    options = test.selectbox(key="accountant").options
    assert len(options) == 2
    assert not any("Basic" in text for text in options)
    project.data.public = True
    assert len(open_page("budget", project).selectbox(key="accountant").options) == 3


def test_pld_is_offered_only_where_its_library_is(project, monkeypatch):
    from dashboard.budget import epsilon_entry

    monkeypatch.setattr(epsilon_entry, "available", lambda: ("zcdp", "basic"))
    project.designs.plan.budget.accountant = "pld"
    test = open_page("budget", project)
    assert len(test.selectbox(key="accountant").options) == 2
    assert project.designs.plan.budget.accountant == "zcdp"
    project.data.public = False
    assert "accountant" not in [box.key for box in open_page("budget", project).selectbox]


def test_pld_lowers_the_noise_and_says_where_it_does_not_go(project):
    project.data.public = False
    test = open_page("budget", project)
    test.selectbox(key="accountant").select("pld").run()
    assert "needs a plan whose noise is all fixed beforehand" in texts(test)
    test.selectbox(key="model").select("naive_bayes").run()
    assert "the ledger charges the zcdp amount" in texts(test).lower()
    less = project.plan().queries[0].sigma
    turned(test, "structure").run()
    turned(test, "budget").run()
    assert test.selectbox(key="accountant").value == "pld"
    test.selectbox(key="accountant").select("zcdp").run()
    assert 0.9 < less / project.plan().queries[0].sigma < 0.97
    # A lifetime that is the release's own epsilon does not cover its zCDP amount.
    project.designs.plan.budget.accountant, project.account.asset, project.account.lifetime = (
        "pld",
        "stays",
        1.0,
    )
    test = open_page("release", project)
    assert "the ledger charges the zCDP amount" in texts(test)
    assert test.button(key="release_run").disabled
    test.text_input(key="asset_lifetime").set_value("1,2").run()
    assert not test.button(key="release_run").disabled


@pytest.mark.parametrize("regime", ["causal", "graphical", "predictive"])
def test_three_way_marginals_change_the_plan(project, regime):
    project.designs.plan.regime, project.designs.plan.k = regime, 4
    project.designs.plan.three_way = "none"
    project.data.schema = replace(
        project.data.schema,
        columns=tuple(  # large enough that S and Y are not measured as one joint
            column
            if column.name == "Y"
            else Column(name=column.name, kind="ordinal", levels=tuple(range(30)))
            for column in project.data.schema.columns
        ),
    )
    test = open_page("budget", project)
    assert project.plan().three_way is None
    assert "choice_share" not in [entry.key for entry in test.text_input]
    for rule in ("cmi", "model_error"):
        test.selectbox(key="three_way").select(rule).run()
        assert project.plan().three_way.rule == rule
    assert any("3-way marginals" in label for label in marginals(test)["marginal"])
    before = project.plan().three_way.choice_share
    test.text_input(key="choice_share").set_value("15").run()
    assert project.designs.plan.budget.choice == 0.15
    assert project.plan().three_way.choice_share == pytest.approx(3 * before)
    turned(test, "structure").run()
    turned(test, "budget").run()
    assert test.selectbox(key="three_way").value == "model_error"
    assert test.text_input(key="choice_share").value == "15"


def test_three_way_marginals_need_the_graphical_model(project):
    project.designs.plan.three_way, project.designs.plan.synthesis = (
        "cmi",
        replace(project.designs.plan.synthesis, model="naive_bayes"),
    )
    assert "3-way marginals need the graphical model" in texts(open_page("budget", project))


def test_a_release_needs_a_confirmation_and_an_asset(project):
    project.data.public = False
    test = open_page("release", project)
    assert test.button(key="release_run").disabled  # no asset yet
    assert "Name the asset below" in texts(test)
    test.text_input(key="asset_name").set_value("stays 2024").run()
    assert not test.button(key="release_run").disabled
    for typed in ("", "stays 2023"):
        test.text_input(key="release_confirm_0").set_value(typed).run()
        test.button(key="release_run").click().run()
        assert "Type “stays 2024” into the field above" in texts(test)
        assert project.release.job is None
    test.text_input(key="asset_lifetime").set_value("much").run()
    assert test.button(key="release_run").disabled
    assert "lifetime epsilon must be a number above 0" in texts(test)
    test.text_input(key="asset_lifetime").set_value("0,5").run()
    assert test.button(key="release_run").disabled
    assert "This release needs epsilon 1" in texts(test)


@pytest.mark.privacy
def test_nothing_shown_before_the_release_depends_on_the_rows(project):
    """T-DOMAIN on the pages: other rows under the same header and number, the same pages."""
    other = replace(project.data.raw, frame=project.data.raw.frame.map(lambda _: "CANARY-7391"))
    for name in ("data", "structure", "budget", "rehearse", "release"):
        seen = []
        for raw in (project.data.raw, other):
            project.data.raw, project.data.public = raw, False
            project.account.asset = "an asset"
            test = open_page(name, project)
            shown = texts(test) + str([m.value for m in test.metric])
            shown += str([frame.value.to_csv() for frame in test.dataframe])
            seen.append(shown)
            assert "CANARY" not in shown
        assert seen[0] == seen[1], name


def test_the_declaration_can_be_checked_on_request(project):
    project.data.public = False
    test = open_page("data", project)
    assert "cells** lie outside" not in texts(test)
    test.session_state["check_open"] = True  # as the curator opens it
    test.run()
    test.button(key="check_columns").click().run()
    assert "**0 cells** lie outside" in texts(test)
    assert project.data.checked
    # The field for the source of changes has come up above it, and the answer is in sight.
    (check,) = (each for each in test.expander if each.label.startswith("Check the declaration"))
    assert check.proto.expanded


def test_counts_seen_make_a_later_change_private_unless_the_codebook_says_so(project):
    project.data.public = False
    project.look("counted cells outside")

    def app():
        import streamlit as st

        from dashboard.data.columns_form import provenance

        st.text(provenance())

    test = AppTest.from_function(app)
    test.session_state["project"] = project
    assert test.run().text[0].value == "private rows"
    project.data.source = "codebook 3.2, page 14"
    assert test.run().text[0].value == "declared"


def test_a_schema_drafted_from_private_rows_is_said_on_the_pages(project):
    project.data.schema = replace(project.data.schema, provenance="private rows")
    for name in ("data", "release"):
        assert "this step is not private" in texts(open_page(name, project))


def test_a_project_of_odd_names_is_shown_as_it_stands():
    raw = read_table(b"<b>x</b>,*y*,`z` $1$\n1,2,3\n4,5,6\n7,8,9\n")
    project = Project(
        data=DataEntries(name="<i>odd</i>.csv", raw=raw),
    )
    test = open_page("data", project)
    assert "odd" in texts(test)
    test.radio(key="schema_way").set_value("header").run()
    test.button(key="draft_header").click().run()
    test.button(key="apply_columns").click().run()
    assert "choose its kind" in texts(test)
    for row in project.data.form:
        row |= {"kind": "ordinal", "levels": "1 | 4 | 7"}
    project.data.form_edited, project.data.form_rev = None, project.data.form_rev + 1
    test.run()
    test.button(key="apply_columns").click().run()
    assert not test.exception
    assert project.data.schema is not None
    assert project.data.schema.names == ("<b>x</b>", "*y*", "`z` $1$")


def test_a_source_is_stated_in_words_and_a_new_check_asks_again(project):
    project.data.public = False
    project.look("counted cells outside")
    test = open_page("data", project)
    test.text_input(key=f"apply_source_{project.data.checks}").set_value("  x ").run()
    assert project.data.source == ""
    assert "No source is named" in texts(test)
    test.text_input(key=f"apply_source_{project.data.checks}").set_value(
        "codebook 3.2, page 14"
    ).run()
    assert project.data.source == "codebook 3.2, page 14"
    assert "declared from codebook 3.2, page 14, not from what was seen" in texts(test)
    test.button(key="check_columns").click().run()
    assert (project.data.checked, project.data.source) == (True, "")
    test.run()
    assert test.text_input(key=f"apply_source_{project.data.checks}").value == ""


def readmissions() -> Project:
    rows = "".join(f"{i // 2},{20 + i},{i % 2}\n" for i in range(40))
    return Project(
        data=DataEntries(
            name="stays.csv",
            raw=read_table(f"pid,age,y\n{rows}".encode(), name="stays.csv"),
            form=[dict(row) for row in column_form.blank_rows(["pid", "age", "y"])],
        ),
    )


def test_what_is_kept_aside_is_said_as_soon_as_the_table_is_loaded():
    test = open_page("data", readmissions())
    (loaded,) = (s.value for s in test.success if "Loaded" in s.value)
    assert "20% of them (8) are kept aside" in loaded


def test_the_id_column_is_taken_out_of_the_form_and_counted_only_when_asked(monkeypatch):
    from dashboard.data import people

    asked = []

    def counted(raw, column):
        asked.append(column)
        return 20

    monkeypatch.setattr(people, "people", counted)
    project = readmissions()
    test = open_page("data", project)
    assert "**Kind** is needed: pid, age, y" in texts(test)
    test.button(key="apply_columns").click().run()
    (said,) = (error.value for error in test.error)
    assert "pid, age, y" in said
    test.selectbox(key="form_person").set_value("pid").run()
    test.button(key="form_names_person").click().run()
    assert [row["name"] for row in project.data.rows_of_form] == ["age", "y"]
    project.data.schema = Schema(columns=(Column(name="age", kind="boolean"),))
    test.run()
    assert test.selectbox(key="people_column").value == "pid"
    assert asked == []
    assert "counting reads this column once" in texts(test)
    test.button(key="people_count").click().run()
    assert asked == ["pid"]
    assert (project.data.people.person_id, project.data.people.persons) == ("pid", 20)
    assert "20 rows stay" in texts(test)
    assert "a readmission comes with a further stay" in texts(test)


def test_decimals_are_proposed_once_and_shown_in_the_grid():
    raw = read_table(b"age,dose,y\n40,0.5,1\n50,1.5,0\n60,2.5,1\n")
    rows: list[dict[str, Any]] = [dict(row) for row in column_form.blank_rows(["age", "dose", "y"])]
    rows[0] |= {"kind": "numeric", "lower": "0", "upper": "120"}
    rows[1] |= {"kind": "numeric", "lower": "0.0", "upper": "4.5"}
    rows[2] |= {"kind": "boolean"}
    project = Project(
        data=DataEntries(name="x.csv", raw=raw, form=rows),
    )
    test = open_page("data", project)
    test.button(key="apply_columns").click().run()
    assert project.data.schema is not None
    assert [column.decimals for column in project.data.schema.columns[:2]] == [0, 1]
    assert [row["decimals"] for row in project.data.rows_of_form[:2]] == [0, 1]
    assert "Decimals proposed from the bounds: age 0, dose 1" in texts(test)
    emptied = [dict(row) for row in project.data.rows_of_form]
    emptied[0]["decimals"] = None
    project.data.show_form(emptied)
    test.run()
    assert "from the bounds: dose 1" in texts(test)
    test.button(key="apply_columns").click().run()
    assert project.data.schema["age"].decimals is None  # hers, not proposed again
    assert not test.exception


def test_the_number_of_persons_may_be_typed():
    project = readmissions()
    project.data.schema = Schema(columns=(Column(name="age", kind="boolean"),))
    project.data.person_hint = "pid"
    test = open_page("data", project)
    test.number_input(key="people_number").set_value(20).run()
    assert (project.data.people.person_id, project.data.people.persons) == ("pid", 20)


def test_the_number_of_features_is_left_to_the_plan_until_it_is_typed(project):
    project.designs.plan.regime = "predictive"
    test = open_page("structure", project)
    entry = test.number_input(key="k_choice")
    assert entry.value is None
    assert project.plan().selection.k == 8  # of more columns than this budget carries
    entry.set_value(4).run()
    assert project.plan().selection.k == 4
    most = len(project.data.schema.columns) - 1
    test.number_input(key="k_choice").set_value(most).run()
    assert f"All {most} features: nothing is chosen" in texts(test)
    assert project.plan().selection is None


def test_every_word_of_a_page_is_explained():
    from dashboard.common.glossary import PAGES, WORDS

    assert {word for page_words in PAGES.values() for word in page_words} <= set(WORDS)
    for word in (
        "S",
        "Marginal",
        "Pool",
        "Closed form",
        "Sigma, σ",
        "Clique",
        "l1 error",
        "Background pairs",
    ):
        assert word in PAGES["Budget"]
