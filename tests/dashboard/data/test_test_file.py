"""A test file of one's own beside the share that is kept aside; the split is said, by person."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.session import memory
from dashboard.session.data_entries import DataEntries
from dashboard.session.memory import RowSplit, split_rows, take_test
from dashboard.session.project import Project
from prism_core.data.tables.raw_table import read_table
from tests.support.pages import open_page, texts
from tests.support.tables import small_frame

pytestmark = [pytest.mark.app, pytest.mark.privacy]


def content(frame, separator: str = ",") -> bytes:
    return frame.to_csv(index=False, sep=separator).encode()


@pytest.fixture
def project(schema, frame) -> Project:
    raw = read_table(content(frame), name="train.csv")
    state = Project(data=DataEntries(name="train.csv", raw=raw, file_sha256=raw.sha256))
    state.use_schema(schema)
    return state


def load(test, name: str, file: bytes):
    key = next(one.key for one in test.file_uploader if one.key.startswith("upload_test"))
    test.file_uploader(key=key).upload(name, file, "text/csv").run()
    test.button(key="test_load").click().run()
    assert not test.exception
    return test


def test_the_split_is_said_with_its_size_and_by_person(project):
    shown = texts(open_page("data", project))
    assert "240 persons for training, 60 (20%) kept aside" in shown
    assert "by person" in shown


def test_a_file_takes_the_place_of_the_share(project, canary):
    test = open_page("data", project)
    test.radio(key="holdout_way").set_value("file").run()
    assert project.data.n == 300
    rows = small_frame(90, seed=11)
    rows.loc[3, "ward"] = canary
    load(test, "test.csv", content(rows, ";"))  # how it is written is found out
    assert (project.data.test.rows, project.data.n, project.data.holdout_rows) == (90, 300, 0)
    assert "Test file: test.csv**, 90 rows" in texts(test)
    assert canary not in texts(test)
    _, train, holdout = split_rows(project, RowSplit(schema=project.data.schema, kept=0, seed=1))
    assert (train.n, holdout.n) == (300, 90)
    test.button(key="test_away").click().run()
    assert (project.data.test, project.data.n) == (None, 300)
    test.radio(key="holdout_way").set_value("share").run()
    assert project.data.n == 240


def test_the_checklist_waits_for_the_file(project):
    project.data.test_file, project.structure.target = True, "readmitted"
    project.designs.plan.regime = "predictive"
    test = open_page("release", project)
    assert "Load the test file on the page Data" in texts(test)
    assert test.button(key="release_run").disabled
    project.data.test = read_table(content(small_frame(90, seed=11)), name="test.csv")
    assert "A test file of its own, 90 rows" in texts(test.run())


def test_with_a_person_column_one_row_of_each_person_is_tested_on(schema, frame):
    named = replace(schema, one_row_per_person=False, person_id="id", persons=150)
    raw = read_table(content(frame.assign(id=[i // 2 for i in range(300)])), name="a.csv")
    state = Project(data=DataEntries(name="a.csv", raw=raw, test_file=True))
    state.use_schema(named)
    rows = small_frame(90, seed=11).assign(id=[900 + i // 3 for i in range(90)])
    state.data.test = read_table(content(rows), name="b.csv")
    _, train, holdout = split_rows(state, RowSplit(schema=named, kept=0, seed=1))
    assert (state.data.n, train.n, holdout.n) == (150, 150, 30)


def test_the_table_itself_and_another_header_are_refused(project, frame, canary):
    test = open_page("data", project)
    test.radio(key="holdout_way").set_value("file").run()
    load(test, "same.csv", content(frame))
    assert "hold the same rows" in texts(test, "error")
    load(test, "other.csv", content(frame.rename(columns={"age": canary})))
    assert "'age'" in texts(test, "error")
    assert canary not in texts(test)
    assert project.data.test is None


def test_its_rows_are_let_go_too_and_come_back_with_the_file(project, frame):
    file = content(small_frame(90, seed=11))
    take_test(project, read_table(file, name="test.csv"))
    how = project.release.parted = RowSplit(schema=project.data.schema, kept=0, seed=7)
    _, project.release.train, project.release.holdout = split_rows(project, how)
    before, plan = project.release.holdout.codes.copy(), project.data.n
    memory.let_go(project)
    assert (project.data.test, project.data.raw, project.release.holdout) == (None, None, None)
    assert project.data.test_let_go is not None
    assert memory.held_bytes(project) == 0
    again = read_table(content(frame), name="train.csv")
    assert memory.take_back(project, again, public=False)
    assert (project.data.n, project.release.holdout) == (plan, None)
    take_test(project, read_table(file, name="test.csv"))
    assert (project.release.holdout.codes == before).all()


def test_public_rows_are_no_test_file_where_they_are_known_as_private(project, frame):
    project.data.public = True
    raw = read_table(content(small_frame(90, seed=11)), name="test.csv")
    from prism_core.data.table_identity import marks

    project.data.private_marks = marks(raw)
    test = open_page("data", project)
    test.radio(key="holdout_way").set_value("file").run()
    load(test, "test.csv", content(small_frame(90, seed=11)))
    assert "loaded as private before" in texts(test, "error")
    assert project.data.test is None
