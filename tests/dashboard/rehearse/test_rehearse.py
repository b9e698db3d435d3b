"""The page Rehearse in Streamlit's own test runner: runs, kept points, choices, what is adopted."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.common import public_claim, rehearsal_run
from dashboard.jobs import worker
from dashboard.rehearse import controls, curves
from dashboard.session.data_entries import DataEntries
from dashboard.session.designs import LETTERS, PLAN, Designs, Entries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.project import Project
from prism_core.data.schema.column import Column
from prism_core.data.table_identity import marks
from prism_core.data.tables.raw_table import read_table
from prism_core.errors import KnownPrivateError
from prism_core.figures import legend_marks
from prism_core.planning.wishes.task import Synthesis
from prism_core.privacy.ledger.ledger import default_workspace
from prism_core.rehearsal import FOLDER, PointStore, pace, run_rehearsal
from prism_core.rehearsal.variants import PLANNED
from prism_core.structure import formats
from tests.support.pages import open_page, texts

pytestmark = pytest.mark.app


@pytest.fixture
def here(monkeypatch):
    """Rehearsals run in this process, before the page goes on; gives those that were started."""
    started = []

    def rehearse(rehearsal, stand_in):
        started.append(rehearsal)
        for _ in run_rehearsal(
            rehearsal, stand_in, kept=PointStore(default_workspace() / FOLDER), jobs=1
        ):
            pass

    monkeypatch.setattr(worker, "rehearse", rehearse)
    return started


@pytest.fixture
def project(spurious) -> Project:
    found = Project(
        data=DataEntries(name="stays.csv", raw=spurious.train, schema=spurious.schema),
        structure=StructureEntries(
            target="Y", graph=EditedGraph(edges=formats.read(spurious.dag_json).edges)
        ),
        designs=Designs(plan=Entries(synthesis=Synthesis(model="naive_bayes", rows=2_000))),
    )
    found.rehearsing.seeds, found.rehearsing.epsilons = 2, "0.5, 4"
    return found


def click(test: AppTest, key: str) -> AppTest:
    test.button(key=key).click().run()
    assert not test.exception, test.exception
    return test


def table(test: AppTest, column: str):
    """The table on the page that has this column."""
    return next(frame.value for frame in test.dataframe if column in frame.value)


def test_the_page_says_plainly_what_it_is_about(project):
    said = texts(open_page("rehearse", project))
    assert "Stand-in rows only." in said
    assert "nothing is spent" in said
    assert "no number on this page is about the people in it" in said


def test_it_is_optional_and_blocks_nobody(project):
    test = open_page("budget", project)
    labels = [button.label for button in test.button]
    assert "Continue to Release" in labels
    assert "Rehearse first" in labels
    assert "Continue to Release" in [
        button.label for button in open_page("rehearse", project).button
    ]
    assert "Not yet: **" not in texts(open_page("release", project))


def test_it_sends_back_to_the_first_gap_like_every_page(project):
    project.structure.target = None
    assert "Not yet: **Structure** is not finished" in texts(open_page("rehearse", project))


def test_a_rehearsal_of_regimes_says_which_is_best_and_a_second_is_there_at_once(project, here):
    test = click(open_page("rehearse", project), "rehearse_run")
    said = texts(test)
    assert "If the target's consequences stop following it" in said
    assert "drawn from the graph (assumed: a cause multiplies the odds by 5)" in said
    assert len(test.get("plotly_chart")) == 3
    assert {v.name for v in here[0].variants} == {"causal", "graphical", "predictive"}
    assert here[0].epsilons == (0.5, 4.0)
    frame = table(test, "runs")
    assert len(frame) == 3 * 2 * 3
    assert set(frame["runs"]) == {2}
    click(test, "rehearse_run")
    assert len(here) == 1  # every point was kept
    test.toggle(key="rehearse_shifted").set_value(False).run()
    assert len(test.get("plotly_chart")) == 1


def test_a_numeric_target_is_rehearsed_by_r_squared(project, here, monkeypatch):
    days = Column(name="Y", kind="numeric", lower=0.0, upper=30.0, edges=(2.0, 7.0), decimals=0)
    columns = tuple(
        days if column.name == "Y" else column for column in project.data.schema.columns
    )
    project.data.schema = replace(project.data.schema, columns=columns)
    test = click(open_page("rehearse", project), "rehearse_run")
    said = texts(test)
    assert "Mean R² with 95% intervals" in said
    assert "always the mean" in said
    assert "Mean AUC" not in said
    assert "R²" in table(test, "runs")
    test = click(open_page("rehearse", project), "rehearse_auto")
    assert "R²" in table(test, "split")
    assert "(R² 0." in texts(test)


def test_what_is_adopted_becomes_the_plan(project, here):
    project.rehearsing.comparison = "regime"
    test = click(open_page("rehearse", project), "rehearse_run")
    labels = {b.label: b.key for b in test.button if str(b.key).startswith("rehearse_adopt")}
    click(test, labels["Adopt “graphical”"])
    assert project.designs.plan.regime == "graphical"
    project.rehearsing.comparison = "allocation"
    test = click(open_page("rehearse", project), "rehearse_run")
    labels = {b.label: b.key for b in test.button if str(b.key).startswith("rehearse_adopt")}
    click(test, labels["Adopt “uniform”"])
    assert project.plan().budget.allocation == "uniform"
    assert project.plan().task.regime == "graphical"


def test_designs_beside_the_plan_are_compared_and_change_places(project, here):
    assert len(open_page("rehearse", project).radio(key="rehearse_comparison").options) == 2
    project.designs.keep(project.designs.plan)
    project.designs.others["B"].regime = "graphical"
    test = open_page("rehearse", project)
    test.radio(key="rehearse_comparison").set_value("designs").run()
    click(test, "rehearse_run")
    assert [v.name for v in here[0].variants] == ["A, the plan", "B"]
    click(test, "rehearse_adopt_1")
    assert project.designs.plan.regime == "graphical"
    assert project.designs.others["B"].regime == "causal"


def test_the_allocation_is_chosen_with_its_why(project, here, monkeypatch):
    project.designs.plan.regime = "graphical"
    planned = project.plan().budget.allocation
    test = click(open_page("rehearse", project), "rehearse_auto")
    assert here[0].epsilons == (1.0,)
    assert "On stand-in rows at epsilon 1, over 2 runs," in texts(test)
    frame = table(test, "as good as the best")
    assert list(frame.iloc[:3, 0]) == [PLANNED, "closed form", "uniform"]
    chosen = frame[frame["as good as the best"]].iloc[0, 0]
    click(test, "rehearse_adopt_choice")
    rules = {PLANNED: planned, "closed form": "closed_form", "uniform": "uniform"}
    rule = rules.get(chosen, "tilted")
    assert project.plan().budget.allocation == rule


def test_choosing_a_split_leaves_the_comparison_and_takes_the_number_of_runs(project, here):
    project.rehearsing.epsilons, project.rehearsing.seeds = "1", 3
    test = click(open_page("rehearse", project), "rehearse_run")
    compared = project.rehearsing.asked
    click(test, "rehearse_auto")
    assert here[1].seeds == 3
    assert project.rehearsing.asked is compared
    assert len(test.get("plotly_chart")) == 0
    test.button_group(key="rehearse_view").set_value("comparison").run()
    assert not test.exception
    assert len(test.get("plotly_chart")) == 3


def test_release_asks_for_a_rehearsal_first_and_one_click_makes_it(project, here):
    test = open_page("release", project)
    assert "Rehearse this plan: without a rehearsal" in texts(test)
    (window,) = test.get("iframe")
    assert "nobody has tried this plan" in window.proto.srcdoc
    click(test, "release_rehearse")
    ((only,),) = [one.variants for one in here]
    assert only.task.regime == project.designs.plan.regime
    assert here[0].epsilons == (project.plan().budget.epsilon,)
    test = open_page("release", project)
    assert "Rehearsed: AUC 0." in texts(test)
    (window,) = test.get("iframe")
    assert "it would score" in window.proto.srcdoc
    # Figures of another plan are not this one's.
    project.designs.plan.regime = "graphical"
    project.designs.plan.renew()
    test = open_page("release", project)
    assert "Rehearse this plan: without a rehearsal" in texts(test)
    (window,) = test.get("iframe")
    assert "it would score" not in window.proto.srcdoc


def test_a_sample_and_a_public_file_stand_in(project, spurious, here):
    test = open_page("rehearse", project)
    test.get("button_group")[0].set_value("sample").run()
    test.selectbox(key="rehearse_sample").select("scm_marginal").run()
    click(test, "rehearse_run")
    assert project.rehearsing.asked.shifts == ("none", "parents")
    test.get("button_group")[0].set_value("file").run()
    click(test, "rehearse_run")
    assert "Upload a public file" in texts(test)
    project.rehearsing.public = spurious.test
    project.rehearsing.public_sha256 = "of its file"
    click(open_page("rehearse", project), "rehearse_run")
    assert project.rehearsing.asked.shifts == ("none",)


class UnderWay:
    """A process that has run for half a minute."""

    seconds = 30.0

    def outcome(self):
        return SimpleNamespace(state="running", message="")


def test_the_time_left_is_told_as_soon_as_a_run_has_ended(project, here, monkeypatch):
    project.rehearsing.seeds, run_here = 1, worker.rehearse
    monkeypatch.setattr(worker, "rehearse", lambda *_: UnderWay())
    test = click(open_page("rehearse", project), "rehearse_run")
    assert "estimated as soon as the first has ended" in texts(test)
    assert "more at this pace" not in test.get("progress")[0].proto.text
    project.rehearsing.job = None
    monkeypatch.setattr(worker, "rehearse", run_here)
    done = (
        click(open_page("rehearse", project), "rehearse_run")
        and project.rehearsing.asked.rehearsal.runs
    )
    project.rehearsing.seeds = 2
    monkeypatch.setattr(worker, "rehearse", lambda *_: UnderWay())
    test = click(open_page("rehearse", project), "rehearse_run")
    assert project.rehearsing.before == done  # kept from before: they tell nothing of the pace
    assert "more at this pace" not in test.get("progress")[0].proto.text
    project.rehearsing.before = done - 1
    told = open_page("rehearse", project).get("progress")[0].proto.text
    assert told.endswith(f"30 s so far, {pace(done, done - 1, 2 * done, 30.0)}")


@pytest.mark.privacy
def test_the_file_that_was_loaded_as_private_does_not_stand_in(project, monkeypatch):
    content = b"a,b\n1,2\n"
    project.data.private_marks = marks(read_table(content))
    monkeypatch.setattr(public_claim, "project", lambda: project)
    entries = project.rehearsing
    controls._take(entries, "open.csv", b"a,b\n3,4\n", "")
    assert entries.public is not None
    with pytest.raises(KnownPrivateError, match="loaded as private"):
        controls._take(entries, "same rows.csv", content, "")
    assert (entries.public, entries.public_sha256) == (None, "")


def test_another_upload_takes_the_place_of_the_first(project, spurious, monkeypatch):
    monkeypatch.setattr(controls, "project", lambda: project)
    monkeypatch.setattr(rehearsal_run, "project", lambda: project)
    project.rehearsing.source = "file"
    rows = spurious.test.frame
    titles = []
    for name, part in (("one.csv", rows[:400]), ("two.csv", rows[400:900])):
        for _ in range(2):
            controls._take(project.rehearsing, name, part.to_csv(index=False).encode(), "")
            titles.append(rehearsal_run.stand_in())
    assert titles[0] is titles[1]
    assert titles[2] is titles[3]
    assert "'two.csv'" in titles[2].title


@pytest.mark.parametrize(
    ("attribute", "value", "words"),
    [
        ("epsilons", "one", "numbers above 0 with commas"),
        ("epsilons", "0", "epsilon must be"),
        ("epsilons", "", "1 to 12 values"),
    ],
)
def test_a_mistake_is_a_sentence(project, here, attribute, value, words):
    setattr(project.rehearsing, attribute, value)
    assert words in texts(click(open_page("rehearse", project), "rehearse_run"))
    assert project.rehearsing.job is None
    assert here == []


def test_strengths_of_edges_change_the_rows(project):
    def app():
        from dashboard.common.rehearsal_run import stand_in

        stand_in()

    hashes = []
    for strengths in ({}, {("A", "Y"): "strong"}, {}):
        project.rehearsing.strengths = dict(strengths)
        test = AppTest.from_function(app)
        test.session_state["project"] = project
        assert not test.run().exception
        hashes.append(project.rehearsing.built[1].hash)
    assert hashes[0] == hashes[2] != hashes[1]


# --- in a process of its own -------------------------------------------------------------------


def end(project: Project) -> None:
    until = time.monotonic() + 120
    while project.rehearsing.job.outcome().state == "running":
        assert time.monotonic() < until, "the rehearsal did not end"
        time.sleep(0.1)


@pytest.mark.slow
def test_points_grow_while_the_process_runs_and_the_page_takes_them(project):
    test = click(open_page("rehearse", project), "rehearse_run")
    assert project.rehearsing.job is not None
    assert test.button(key="rehearse_run").disabled
    folder = project.rehearsing.job.folder
    end(project)
    test.run()
    assert not test.exception
    assert project.rehearsing.job is None
    assert not folder.exists()
    assert len(table(test, "runs")) == 18
    assert len(list((default_workspace() / FOLDER).glob("*.jsonl"))) == 3


@pytest.mark.slow
def test_stopped_means_stopped_and_what_ran_is_kept(project):
    project.rehearsing.seeds = 100
    test = click(open_page("rehearse", project), "rehearse_run")
    job = project.rehearsing.job
    asked, kept = project.rehearsing.asked, PointStore(default_workspace() / FOLDER)
    until = time.monotonic() + 120
    while not asked.points(kept):
        assert time.monotonic() < until, "no point came"
        time.sleep(0.1)
    click(test, "rehearse_cancel")
    assert project.rehearsing.job is None
    assert job.process.poll() is not None
    assert "What ran is kept" in texts(test)
    found = asked.points(kept)
    assert 0 < asked.done(found) < asked.rehearsal.runs
    time.sleep(0.5)
    assert len(asked.points(kept)) == len(found)


def test_as_many_designs_as_there_may_be_have_marks_of_their_own():
    marks = legend_marks((PLAN, *LETTERS))
    assert len({curves._SHAPES[symbol] for _, _, symbol in marks}) == len(marks)
