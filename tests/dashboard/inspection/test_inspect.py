"""The page Inspect in Streamlit's own test runner: sections, their states, and the private form."""

from __future__ import annotations

import json
import stat
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dashboard.inspection.page import SECTIONS
from prism_core.privacy.ledger import Ledger
from tests.support.pages import frames, open_page, settled, texts, turned
from tests.support.released import inspect_page, opened

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

    from dashboard.session.project import Project

pytestmark = pytest.mark.app


def view(project: Project, name: str) -> AppTest:
    """The first section with one of its figures."""
    project.inspection.shown.view = name
    return inspect_page(project, "Can I trust it?")


EDGES = (("age", "readmitted"), ("smoker", "readmitted"))


@pytest.mark.parametrize(
    "entered",
    [("structure", "target", None), ("structure", "target", "smoker"), ("data", "schema", None)],
)
def test_a_finished_release_stays_to_be_looked_at_when_something_else_is_entered(make, entered):
    """Another target without parents, or none: Structure is not finished, the release is."""
    project = opened(make())
    page, name, value = entered
    entries = getattr(project, page)
    before = getattr(entries, name)
    setattr(entries, name, value)
    for section in SECTIONS:
        test = inspect_page(project, section)
        assert "This is the finished release, as it ran" in texts(test)
        assert "Not yet" not in texts(test)
    turned(test, "report").run()
    assert not test.exception
    assert "This is the finished release, as it ran" in texts(test)
    setattr(entries, name, before)
    assert "as it ran" not in texts(inspect_page(project, "Compare"))


def test_the_comparison_starts_on_request_and_says_what_it_is(make):
    project = make()
    test = inspect_page(project)
    assert "reads the real rows without noise" in texts(test)
    assert project.inspection.shown is None
    # Nobody has to read the real rows again for a report.
    assert "Go to Report without comparing" in [link.proto.label for link in test.get("page_link")]
    test.button(key="inspect_run").click()
    settled(test, project)
    shown = texts(test)
    assert "the synthetic rows carry" in shown
    assert "outside epsilon" in shown
    sides = {"AUC from S, trained on synthetic", "AUC from S, trained on real"}
    assert {m.label for m in test.metric} >= sides
    assert "From the protected features S alone" in shown
    assert len(test.get("plotly_chart")) == 1  # one figure at a time
    assert "Rank correlation of the coefficients" in texts(view(project, "What it relies on"))
    test = view(project, "Other learners")
    assert "real (TRTR)" in frames(test)
    assert "ceiling)" not in frames(test)  # the text beside it may say that it is none
    project.forget_results()
    assert project.inspection.shown is None
    assert len(project.release.earlier) == 1


@pytest.mark.privacy
def test_rows_that_were_put_into_the_folder_are_not_inspected(make, frame):
    """Private numbers train on the folder's rows: they must be those that were released."""
    project = make()
    frame.to_parquet(project.release.folder / "synthetic.parquet", index=False)
    test = inspect_page(project)
    test.button(key="inspect_run").click()
    settled(test, project)
    assert "synthetic.parquet was changed" in texts(test)
    assert project.inspection.shown is None


def test_a_run_whose_rows_are_gone_says_so(make):
    project = make()
    project.release.holdout = None
    assert "no longer in memory" in texts(inspect_page(project))


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("Where the error comes from", ("noise explains", "by the plan alone: public")),
        ("Columns and pairs", ("Mean Cramér's V over 21 pairs", "Trains a classifier")),
        ("Subgroups", ("By smoker, the AUC of the model", "Cases found is the true positive rate")),
        ("Memorisation", ("Epsilon is the stronger answer",)),
        ("Compare", ("is itself a leak", "no other release to compare with yet")),
    ],
)
def test_every_section_has_its_words(make, section, words):
    test = inspect_page(opened(make()), section)
    shown = texts(test)
    assert all(part in shown for part in words)
    assert ":red-badge[outside epsilon]" in shown


def test_sections_are_worked_out_when_they_are_opened_and_once(make):
    project = opened(make())
    test = inspect_page(project)
    assert set(project.inspection.shown.works) == {"predict:logistic_onehot:S"}
    first = project.inspection.shown.works["predict:logistic_onehot:S"]
    project.inspection.shown.section = "Subgroups"
    test = inspect_page(project, "Subgroups")
    assert project.inspection.shown.works["predict:logistic_onehot:S"] is first
    test.number_input(key="subgroup_least").set_value(100_000)
    settled(test, project)
    assert "small groups are suppressed" in texts(test)


def test_slow_tests_run_on_request(make):
    project = opened(make())
    test = view(project, "What it relies on")
    assert "agreement:gradient_boosting:S" not in project.inspection.shown.works
    test.selectbox(key="trust_learner").select("gradient_boosting")
    settled(test, project)
    assert "predict:gradient_boosting:S" in project.inspection.shown.works
    assert "agreement:gradient_boosting:S" not in project.inspection.shown.works
    assert not test.button(key="agreement_run").disabled
    test = inspect_page(project, "Columns and pairs")
    assert "discriminator" not in project.inspection.shown.works
    test.button(key="discriminator_run").click()
    settled(test, project)
    assert "Being told apart is no privacy leak" in texts(test)
    test = inspect_page(project, "Memorisation")
    assert "memorisation" not in project.inspection.shown.works
    test.button(key="memorisation_run").click()
    settled(test, project)
    assert "AUC of a membership attack" in {metric.label for metric in test.metric}


def test_a_column_of_subgroups_is_kept_on_another_page(make):
    project = opened(make(), "Subgroups")
    test = inspect_page(project)
    assert test.selectbox(key="subgroup_column").value == "smoker"  # of the fewest levels
    test.selectbox(key="subgroup_column").select("age")
    settled(test, project)
    turned(test, "release").run()
    settled(turned(test, "inspect"), project)
    assert test.selectbox(key="subgroup_column").value == "age"
    assert any("levels of age" in chart.proto.alt for chart in test.get("plotly_chart"))


def test_earlier_runs_come_into_the_table_and_a_lost_one_is_named(make, tmp_path):
    earlier, project = make("first", seed=2), opened(make("second", seed=3))
    project.release.earlier = [earlier.release.folder, tmp_path / "gone"]
    test = inspect_page(project, "Compare")
    assert "1: first" in frames(test)
    assert "this release" in frames(test)
    assert "gone is left out" in texts(test)
    assert "compare_folder" in [field.key for field in test.text_input]


def test_work_that_fails_is_a_sentence_without_values(make):
    project = opened(make())

    def broken(_tell):
        raise ValueError("CANARY-7391")

    project.inspection.shown.start("predict:logistic_onehot:S", broken)
    test = inspect_page(project)
    assert "could not be worked out (ValueError)" in texts(test)
    assert "CANARY" not in texts(test)
    test.button(key="retry_predict:logistic_onehot:S").click()
    settled(test, project)
    assert "the synthetic rows carry" in texts(test)


def test_work_can_be_stopped(make):
    project = opened(make())

    def endless(tell):
        while True:
            tell(0.5, "counting")
            time.sleep(0.02)

    work = project.inspection.shown.start("predict:logistic_onehot:S", endless)
    test = open_page("inspect", project)
    test.button(key="stop_predict:logistic_onehot:S").click().run()
    assert work.stop
    assert "Stopped. Nothing was kept" in str(work.future.exception(timeout=10))


@pytest.mark.privacy
def test_private_numbers_need_the_typed_name_and_are_charged(make):
    project = opened(make())
    test = inspect_page(project, "Private numbers")
    assert "Computed from the declared columns" in texts(test)
    test.text_input(key="private_epsilon").set_value("1,0")
    settled(test, project)
    test.text_input(key="private_confirm_0").set_value("ward 8")
    settled(test, project)
    test.button(key="private_run").click()
    settled(test, project)
    assert Ledger().charges() == ()
    test.text_input(key="private_confirm_0").set_value("ward 7")
    settled(test, project)
    for elsewhere in (False, True):  # in this tab with the click, or in another one
        if elsewhere:
            project.inspection.shown.private_epsilon = 1.5
        else:
            test.text_input(key="private_epsilon").set_value("2,5")
        test.button(key="private_run").click()
        settled(test, project)
        assert Ledger().charges() == ()
        assert "What you confirmed has changed" in texts(test)
        test.text_input(key=f"private_epsilon{'-1' * elsewhere}").set_value("1,0")
        settled(test, project)
        test.text_input(key="private_confirm_0").set_value("ward 7")
        settled(test, project)
    test.button(key="private_run").click()
    settled(test, project)
    (charge,) = Ledger().charges()
    assert charge.epsilon == pytest.approx(1.0, abs=1e-6)
    assert charge.state == "done"
    assert "charge number 1 in the ledger" in texts(test)
    kept = project.release.folder.with_name("run-charge-1-private-evaluation.json")
    assert json.loads(kept.read_text())["charge"] == 1  # whatever becomes of this session
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert kept.name in texts(test).replace("\\", "")
    assert ":green-badge[inside epsilon]" in texts(test)
    assert ":red-badge" not in texts(test)
    assert test.text_input(key="private_confirm_1").value == ""  # the next is confirmed by itself
    test.text_input(key="private_epsilon-1").set_value("19")
    settled(test, project)
    assert "of the lifetime budget is left" in texts(test)


def test_private_numbers_of_public_rows_are_a_rehearsal(make):
    project = opened(make(public=True))
    test = inspect_page(project, "Private numbers")
    test.button(key="private_run").click()
    settled(test, project)
    assert "Rehearsal, not a private evaluation" in texts(test)
    assert "these numbers are not private" in texts(test)
    assert ":green-badge[inside epsilon]" not in texts(test)
    assert Ledger().charges() == ()
    for unusable in ("0", "a little", ""):
        test.text_input(key="private_epsilon").set_value(unusable)
        settled(test, project)
        assert "epsilon must be a number above 0" in texts(test)
        assert test.text_input(key="private_epsilon").value == unusable


@pytest.mark.privacy
def test_what_private_numbers_offer_does_not_depend_on_the_rows(make):
    project = opened(make())
    shown = []
    for shift in (0, 1):
        codes = np.array(project.release.holdout.codes)
        codes[:, -1] = (codes[:, -1] + shift) % 2
        other = replace(
            project.inspection.shown.subject,
            holdout=replace(project.release.holdout, codes=codes),
        )
        project.inspection.shown.subject = other
        test = inspect_page(project, "Private numbers")
        shown.append(texts(test) + str([m.value for m in test.metric]))
    assert shown[0] == shown[1]


def test_a_holdout_of_one_class_is_a_sentence_everywhere(make):
    project = make()
    project.release.holdout = replace(
        project.release.holdout, codes=project.release.holdout.codes * 0
    )
    opened(project)
    for section in list(SECTIONS)[:6]:
        test = inspect_page(project, section)
    test = inspect_page(project, "Can I trust it?")
    assert "There is no AUC" in texts(test)


def test_the_headline_of_a_causal_release_is_about_s(make):
    project = opened(make())
    assert project.inspection.shown.certificate["task"]["regime"] == "causal"
    test = inspect_page(project, "Can I trust it?")
    view(project, "Other learners")
    done = project.inspection.shown.done("predict:")
    inner, whole = (done[f"predict:logistic_onehot{end}"].row("auc") for end in (":S", ""))
    assert cards(test)["AUC from S, trained on real"] == f"{inner.ceiling:.3f}"
    test = view(project, "Other learners")
    assert "no ceiling for this release" in texts(test)
    assert f"From all columns: {whole.value:.3f} (95% interval " in texts(test)


def cards(test: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in test.metric}


def test_cards_curves_and_subgroups_learn_from_the_columns_that_were_chosen(make):
    """The cards spoke of S and the curves below of all columns, without saying so."""
    project = opened(make())
    test = inspect_page(project)
    for s_alone, columns, score in (
        (True, "the protected features S alone", "AUC from S"),
        (False, "all columns", "AUC"),
    ):
        if not s_alone:
            test.segmented_control(key="inspect_columns").set_value(False)
            settled(test, project)
        assert project.inspection.shown.s_alone == s_alone
        found = project.inspection.shown.done("predict:")[
            f"predict:logistic_onehot{':S' * s_alone}"
        ]
        auc = found.row("auc")
        low, high = auc.interval
        card = next(m for m in test.metric if m.label == f"{score}, trained on synthetic")
        assert (card.value, card.delta) == (f"{auc.value:.3f}", f"95%: {low:.3f} to {high:.3f}")
        shown = texts(test)
        assert f"#### From {columns}, the synthetic rows carry" in shown
        assert f"ROC curve, learned from {columns}. readmitted = true: {auc.value:.3f} (" in shown
        shown = texts(view(project, "Probabilities"))
        assert f"Expected calibration error, learned from {columns}: " in shown
        shown = texts(view(project, "Other learners"))
        assert f"Trained on synthetic rows, from {columns}. Logistic" in shown
        assert f"learned from {columns}, goes from" in texts(inspect_page(project, "Subgroups"))
        test = view(project, "Ranking")


def test_every_score_has_its_interval_in_the_tables(make):
    earlier, project = make("first", seed=2), opened(make("second", seed=3))
    project.release.earlier = [earlier.release.folder]
    trust = view(project, "Other learners")
    for name in ("95% interval, synthetic", "95% interval, real"):
        (scores,) = [
            f.value for f in trust.dataframe if "real (TRTR)" in f.value and len(f.value) > 1
        ]
        assert scores[name].str.fullmatch(r"[\d.,]+ to [\d.,]+").all()
    _, groups = [f.value for f in inspect_page(project, "Subgroups").dataframe]
    scored = groups[groups["AUC, trained on synthetic"].notna()]
    assert len(scored)
    for name in ("synthetic", "real", "accuracy", "calibration"):
        assert scored[f"95% interval, {name}"].str.contains(" to ").all()
    (lines,) = [f.value for f in inspect_page(project, "Compare").dataframe]
    assert lines["95% interval, synthetic"].str.contains(" to ").all()
    assert lines["by the test rows"].tolist()[1] in ("told apart", "not told apart")
    assert lines["95% interval, difference"].tolist()[0] == ""


def test_fewer_than_ten_cases_are_a_sentence_in_place_of_every_score(make):
    project = make()
    codes = np.array(project.release.holdout.codes)
    codes[:, -1] = np.arange(len(codes)) < 9
    project.release.holdout = replace(project.release.holdout, codes=codes)
    test = inspect_page(opened(project))
    sides = ("AUC from S, trained on synthetic", "AUC from S, trained on real", "AUC, guessing")
    assert {cards(test)[name] for name in sides} == {"–"}
    assert "Fewer than 10 test rows have readmitted = true: too few to score it" in texts(test)


NUMBER = {"target": "age", "edges": (("readmitted", "age"), ("smoker", "age"))}


def test_a_numeric_target_is_judged_by_r2_and_rmse_on_every_section(make):
    project = opened(make("second", **NUMBER))
    project.release.earlier = [make("first", seed=2, **NUMBER).release.folder]
    test = inspect_page(project)
    labels = {metric.label for metric in test.metric}
    assert labels >= {
        "R² from S, trained on synthetic",
        "R² from S, trained on real",
        "R², always the mean",
    }
    shown = texts(test)
    assert "R² " in shown
    assert "are off by" in shown
    assert "Mean prediction in the lowest and in the highest bin of age" in shown
    assert "an AUC" not in shown
    test = view(project, "Other learners")
    test.selectbox(key="trust_learner_numeric").select("gradient_boosting")
    test.selectbox(key="metric_choice_numeric").select("rmse")
    settled(test, project)
    assert "predict:gradient_boosting:S" in project.inspection.shown.works
    assert "Gradient boosting" in frames(test)
    test = inspect_page(project, "Subgroups")
    assert "the RMSE of the model" in texts(test)
    test = inspect_page(project, "Compare")
    assert "RMSE, trained on real" in frames(test)
    assert "1: first" in frames(test)


def test_the_bins_of_a_number_are_told_apart_as_classes_on_request(make):
    project = opened(make(**NUMBER))
    test = inspect_page(project)
    test.toggle(key="as_classes").set_value(True)
    settled(test, project)
    assert project.inspection.shown.subject.as_classes
    assert "the synthetic rows carry" in texts(test)
    assert "weighted kappa" in frames(view(project, "Other learners"))
    test = inspect_page(project)
    test.toggle(key="as_classes").set_value(False)
    settled(test, project)
    assert "; always giving the mean gives" in texts(test)
    test = inspect_page(opened(make("other")))
    assert not test.toggle


@pytest.mark.privacy
def test_private_numbers_of_a_numeric_target_are_r2_and_rmse(make):
    project = opened(make(**NUMBER))
    test = inspect_page(project, "Private numbers")
    assert "RMSE of a tenth, noise (95%)" in {metric.label for metric in test.metric}
    assert "would drown in its noise" in texts(test)
    test.text_input(key="private_epsilon").set_value("1")
    settled(test, project)
    test.text_input(key="private_confirm_0").set_value("ward 7")
    settled(test, project)
    test.button(key="private_run").click()
    settled(test, project)
    (charge,) = Ledger().charges()
    assert charge.state == "done"
    assert [number.name for number in project.inspection.shown.private[0].numbers] == [
        "r2",
        "rmse",
    ]
    assert ":green-badge[inside epsilon]" in texts(test)


def test_numbers_that_are_taken_away_hold_nothing_a_spreadsheet_executes(monkeypatch):
    from dashboard.inspection import figure

    taken = []
    monkeypatch.setattr(figure.st, "dataframe", lambda *_, **__: None)
    monkeypatch.setattr(
        figure.st, "download_button", lambda _, data, *__, **___: taken.append(data)
    )
    figure.table([{"level": '=HYPERLINK("http://evil")', "share": -0.25}], "shapes")
    header, row = taken[0].decode().splitlines()
    assert header == "level,share,covered by"
    assert row == '"\'=HYPERLINK(""http://evil"")",-0.25,outside epsilon'
