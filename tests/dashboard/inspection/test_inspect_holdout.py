"""The section "Ask the holdout": opened by a typed name, charged once, asked again and again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from prism_core.evaluation.inside_epsilon.holdout_state import FOLDER
from prism_core.privacy.ledger import Ledger, default_workspace
from tests.support.pages import frames, settled, texts
from tests.support.released import inspect_page, opened

pytestmark = pytest.mark.app
SECTION = "Ask the holdout"


def open_session(test: AppTest, project, word: str = "") -> None:
    if word:  # of public rows nothing is charged, nor confirmed
        test.text_input(key="holdout_confirm_0").set_value(word)
        settled(test, project)
    test.button(key="holdout_open").click()
    settled(test, project)


def ask(test: AppTest, project, features: list[str]) -> None:
    test.multiselect(key="holdout_features").set_value(features)
    test.button[_submit(test)].click()
    settled(test, project)


def _submit(test: AppTest) -> int:
    return next(i for i, button in enumerate(test.button) if button.label == "Ask")


@pytest.mark.privacy
def test_a_session_needs_the_typed_name_is_charged_once_and_answers(make):
    project = opened(make())
    test = inspect_page(project, SECTION)
    assert ":red-badge" not in texts(test)
    test.text_input(key="holdout_epsilon").set_value("2,0")
    settled(test, project)
    test.text_input(key="holdout_confirm_0").set_value("ward 8")
    settled(test, project)
    test.button(key="holdout_open").click()
    settled(test, project)
    assert Ledger().charges() == ()
    open_session(test, project, "ward 7")
    (charge,) = Ledger().charges()
    assert charge.epsilon == pytest.approx(2.0, abs=1e-6)
    assert charge.state == "done"
    assert "charge number 1 in the ledger" in texts(test)
    for features in (["age"], ["age"], ["smoker", "ward"], []):
        ask(test, project, features)
    assert len(Ledger().charges()) == 1
    shown = {metric.label: metric.value for metric in test.metric}
    assert shown["Questions asked"] == "3"  # the same one is answered again
    assert ":green-badge[inside epsilon]" in texts(test)
    told = frames(test)
    assert "smoker, ward" in told
    (asked,) = (f.value for f in test.dataframe if "came from" in f.value.columns)
    assert list(asked.columns).index("came from") < list(asked.columns).index("learner")
    assert set(asked["came from"]) <= {"synthetic", "holdout"}
    # No noise was added to a value from the synthetic rows: a dash, not a 0.
    for source, noise in zip(asked["came from"], asked["noise, 95% ±"], strict=True):
        assert (noise == "—") == (source == "synthetic")
    assert "inside epsilon" in told
    # Another visit finds it again: it is kept in the workspace.
    project.inspection.shown = None
    test = inspect_page(opened(project), SECTION)
    assert {metric.label: metric.value for metric in test.metric}["Questions asked"] == "3"


@pytest.mark.privacy
def test_public_rows_are_a_rehearsal_and_other_rows_are_refused(make):
    project = opened(make(public=True))
    test = inspect_page(project, SECTION)
    open_session(test, project)
    assert "a rehearsal on public rows" in texts(test)
    assert Ledger().charges() == ()
    ask(test, project, ["age"])
    assert ":orange-badge[not covered]" in texts(test)
    codes = np.array(project.release.holdout.codes)
    codes[0, -1] = 1 - codes[0, -1]
    other = replace(
        project.inspection.shown.subject,
        holdout=replace(project.release.holdout, codes=codes),
    )
    project.inspection.shown.subject = other
    ask(test, project, ["ward"])
    assert "not the held-out rows that this session was opened with" in texts(test)


@pytest.mark.privacy
def test_what_is_offered_does_not_depend_on_the_rows(make):
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
        test = inspect_page(project, SECTION)
        shown.append(texts(test) + str([m.value for m in test.metric]))
    assert shown[0] == shown[1]
    assert "chance alone would use answers up" in shown[0]


@pytest.mark.privacy
def test_the_class_that_is_most_frequent_is_that_of_the_synthetic_rows(make):
    project = opened(make(public=True))
    subject = project.inspection.shown.subject
    synthetic = np.bincount(subject.synthetic.column("readmitted")).max() / subject.synthetic.n
    test = inspect_page(project, SECTION)
    open_session(test, project)
    ask(test, project, ["age"])
    codes = np.array(project.release.holdout.codes)
    codes[:, -1] = 1
    project.inspection.shown.subject = replace(
        subject, holdout=replace(project.release.holdout, codes=codes)
    )
    test = inspect_page(project, SECTION)
    (asked,) = (f.value for f in test.dataframe if "came from" in f.value.columns)
    assert list(asked["most frequent class"]) == [f"{synthetic:.4g}"]


def test_a_damaged_session_is_a_sentence_and_hides_no_other(make):
    project = opened(make(public=True))
    test = inspect_page(project, SECTION)
    open_session(test, project)
    (path,) = (default_workspace() / FOLDER).glob("1/*.json")
    whole = path.read_text(encoding="utf-8")
    path.write_text("{", encoding="utf-8")
    test = inspect_page(project, SECTION)
    assert "The file of session 1 of this workspace is not as this program writes it" in texts(test)
    test.button(key="holdout_open").click()
    settled(test, project)
    assert "**Session 2**" in texts(test)
    assert "session 1 of this workspace" in texts(test)
    path.write_text(whole, encoding="utf-8")
    test = inspect_page(project, SECTION)
    assert "not as this program writes it" not in texts(test)
    assert len(test.selectbox(key="holdout_session").options) == 2


def test_columns_stand_in_the_list_as_they_are_named():
    """A list shows plain text: what is escaped for Markdown would be shown with its backslashes."""

    def app():
        from types import SimpleNamespace

        from dashboard.inspection import holdout_session

        schema = SimpleNamespace(names=("discharge_date", "a*b", "y"))
        holdout_session._ask(SimpleNamespace(plan=SimpleNamespace(schema=schema, target="y")))

    test = AppTest.from_function(app).run()
    assert not test.exception
    assert test.multiselect(key="holdout_features").options == ["discharge_date", "a*b"]
