"""A design before its table: every page up to the approval, and the table that comes at last."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from dashboard.session.data_entries import DataEntries, bind, count_anew, unbind
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries, ReleaseEntries
from prism_core.bundle.protocol.protocol import Protocol
from prism_core.data.schema import schema_file
from prism_core.data.schema.column_form import blank_rows
from prism_core.data.tables.raw_table import read_table
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from tests.support.approvals import SAID
from tests.support.file_kinds import DAMAGED, damaged
from tests.support.pages import open_page, texts, turned

pytestmark = [pytest.mark.app, pytest.mark.privacy]
PERSONS = 300


def content(frame) -> bytes:
    return frame.to_csv(index=False).encode()


class Untouchable:
    """A table that raises whenever anything but its header and its number of rows is asked for."""

    name, rows, sha256 = "t.csv", PERSONS, "a" * 64

    def __init__(self, header) -> None:
        self.header = tuple(header)

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"{name} of the table was read")


@pytest.fixture
def design_only(schema) -> Project:
    """A design with everything but its table."""
    made = Project(
        data=DataEntries(name="stays of 2026", announced=PERSONS),
        account=AccountEntries(asset="stays"),
        release=ReleaseEntries(said=dict(SAID)),
    )
    made.use_schema(schema)
    made.structure.target, made.designs.plan.regime = "readmitted", "predictive"
    return made


@pytest.fixture
def no_reader(monkeypatch):
    """No page can read a table: whoever tries fails the test."""

    def refuse(*args, **kwargs):
        raise AssertionError("a table was read")

    for place in (
        "dashboard.common.table_entry.read_table",
        "dashboard.common.table_entry.open_rows",
        "dashboard.data.declaration_sources.read_table",
        "dashboard.data.declaration_sources.some_rows",
        "dashboard.data.people.some_rows",
        "dashboard.data.people.people",
        "dashboard.data.holdout_entry.read_table",
        "dashboard.session.memory.ready",
    ):
        monkeypatch.setattr(place, refuse)


def missing(test) -> str:
    mark = ":orange[:material/pending:] "
    return "\n".join(part.value for part in test.markdown if part.value.startswith(mark))


def test_from_a_number_and_a_schema_to_an_approval(schema, no_reader):
    test = open_page("data")
    test.number_input(key="design_persons").set_value(PERSONS).run()
    test.text_input(key="design_name").set_value("stays of 2026").run()
    test.button(key="design_begin").click().run()
    state = test.session_state["project"]
    assert (state.data.name, state.data.announced, state.data.n, state.data.raw) == (
        "stays of 2026",
        300,
        240,
        None,
    )
    test.radio(key="schema_way").set_value("upload").run()
    file = schema_file.dumps(schema).encode()
    test.file_uploader(key="upload_schema").upload("s.yaml", file, "text/yaml").run()
    test.button(key="use_schema").click().run()
    assert state.data.schema == schema
    assert not state.data.awaits_table or "waits for the table" in texts(test)
    state.structure.target, state.designs.plan.regime = "readmitted", "predictive"
    for name in ("structure", "budget", "rehearse"):
        assert not turned(test, name).run().exception, name
    state.account.asset, state.release.said = "stays", dict(SAID)
    turned(test, "release").run()
    assert "Load the table of 300 persons" in missing(test)
    assert test.button(key="release_run").disabled
    test.text_input(key="approval_by").set_value("A. Meyer")
    next(b for b in test.button if b.label.startswith("Record the approval")).click().run()
    assert state.release.approved is not None
    assert state.release.approved.covers(state.plan(), "stays")


def test_the_plan_is_that_of_the_table_to_the_hash(design_only, schema, frame):
    """The committee's plan is the one that runs: nothing of it depends on the table."""
    task, budget = design_only.task(), design_only.designs.plan.used_budget()
    same = design(Brief(schema, task, budget, 240, synthesis=design_only.designs.plan.synthesis))
    before = design_only.plan()
    assert before.hash == same.hash
    assert Protocol(plan=before).to_json() == Protocol(plan=same).to_json()
    raw = read_table(content(frame), name="t.csv")
    bind(design_only, raw, "t.csv", public=False, marks=frozenset())
    assert design_only.plan().hash == before.hash


@pytest.mark.parametrize("name", ["data", "structure", "budget", "rehearse", "release"])
def test_no_cell_is_asked_for_before_the_run(design_only, schema, name):
    """The table is there and every page of its design is opened: header and number of rows alone
    are looked at."""
    table = Untouchable(schema.names)
    bind(design_only, table, "t.csv", public=False, marks=frozenset())
    test = open_page(name, design_only)
    assert not test.exception
    assert design_only.data.raw is table


def test_a_damaged_file_is_read_at_release_only(design_only, frame, tmp_path):
    """Everything up to the approval is done; the file's rows are damaged, and only its load says
    so, of whatever kind the file is."""
    test = open_page("release", design_only)
    test.text_input(key="approval_by").set_value("A. Meyer")
    next(b for b in test.button if b.label.startswith("Record the approval")).click().run()
    assert design_only.release.approved is not None
    for kind in DAMAGED:
        damaged(frame, tmp_path / f"t.{kind}", kind)
        file = (tmp_path / f"t.{kind}").read_bytes()
        test.file_uploader(key="upload_table").upload(f"t.{kind}", file, "application/x").run()
        # Of a workbook the names of the sheets are read first.
        for load in [one for one in test.button if one.key == "upload_load"]:
            load.click().run()
        assert test.error, kind
        assert design_only.data.raw is None, kind
        assert design_only.data.awaits_table
    file = content(frame)
    test.file_uploader(key="upload_table").upload("t.csv", file, "text/csv").run()
    test.button(key="upload_load").click().run()
    assert design_only.data.raw is not None
    assert missing(test) == ""
    assert not test.button(key="release_run").disabled


def test_another_header_is_refused_and_the_design_stays(design_only, frame, canary):
    before = design_only.plan().hash
    other = frame.drop(columns="age").rename(columns={"dose": canary})
    test = open_page("release", design_only)
    test.file_uploader(key="upload_table").upload("o.csv", content(other), "text/csv").run()
    test.button(key="upload_load").click().run()
    assert "'age'" in texts(test)
    assert canary not in texts(test)
    assert design_only.data.awaits_table
    assert design_only.plan().hash == before


def test_the_test_file_is_not_taken_for_the_table_nor_the_table_for_it(design_only, frame):
    """In whatever order they come, and as another kind of file."""
    rows = io.BytesIO()
    frame.iloc[::-1].astype(str).to_parquet(rows)
    design_only.data.test, design_only.data.test_file = (
        read_table(content(frame), name="test.csv"),
        True,
    )
    test = open_page("release", design_only)
    test.file_uploader(key="upload_table").upload("t.parquet", rows.getvalue()).run()
    test.button(key="upload_load").click().run()
    assert "the same rows" in texts(test)
    assert design_only.data.awaits_table
    design_only.data.test = None
    raw = read_table(content(frame), name="t.csv")
    bind(design_only, raw, "t.csv", public=False, marks=frozenset())
    test = open_page("data", design_only)
    test.file_uploader(key="upload_test").upload("u.parquet", rows.getvalue()).run()
    test.button(key="test_load").click().run()
    assert "the same rows" in texts(test)
    assert design_only.data.test is None


def test_another_number_of_rows_is_said_and_the_approval_no_longer_holds(design_only, frame):
    test = open_page("release", design_only)
    test.text_input(key="approval_by").set_value("A. Meyer")
    next(b for b in test.button if b.label.startswith("Record the approval")).click().run()
    before = design_only.plan().hash
    fewer = content(frame.iloc[:280])
    test.file_uploader(key="upload_table").upload("t.csv", fewer, "text/csv").run()
    test.button(key="upload_load").click().run()
    # Nothing moves by itself: the plan is that for the announced number, and cannot be run.
    assert design_only.plan().hash == before
    assert "The plan is for 300 persons, and the table has 280 rows" in missing(test)
    assert test.button(key="release_run").disabled
    test.button(key="count_anew").click().run()
    assert design_only.data.n == 280 - 56
    assert design_only.plan().hash != before
    assert "The plan changed since it was approved" in missing(test)
    assert test.button(key="release_run").disabled


def test_the_right_table_takes_the_place_of_one_that_does_not_fit(design_only, frame):
    raw = read_table(content(frame.iloc[:280]), name="few.csv")
    bind(design_only, raw, "few.csv", public=False, marks=frozenset())
    test = open_page("data", design_only)
    test.file_uploader(key="upload_table").upload("t.csv", content(frame), "text/csv").run()
    test.button(key="upload_load").click().run()
    assert test.session_state["project"] is design_only
    data = design_only.data
    assert (data.name, data.raw.rows, data.n) == ("t.csv", 300, 240)
    assert "The plan is for" not in texts(test)


def test_the_table_can_be_taken_away_again(design_only, frame):
    before = design_only.plan().hash
    raw = read_table(content(frame.iloc[:280]), name="t.csv")
    bind(design_only, raw, "t.csv", public=False, marks=frozenset())
    test = open_page("data", design_only)
    test.button(key="unbind_table").click().run()
    assert design_only.data.awaits_table
    assert design_only.plan().hash == before


def test_a_typed_column_names_the_person(design_only):
    design_only.use_schema(replace(design_only.data.schema, one_row_per_person=False))
    test = open_page("data", design_only)
    test.radio(key="people_way").set_value("id").run()
    test.text_input(key="people_typed").set_value("patient").run()
    schema = design_only.data.schema
    assert (schema.person_id, schema.persons) == ("patient", PERSONS)
    name = next(box.key for box in test.number_input if box.key.startswith("announced_"))
    test.number_input(key=name).set_value(400).run()
    assert (design_only.data.schema.persons, design_only.data.whole) == (400, 400)
    design_only.data.raw = Untouchable([*schema.names, "patient"])
    count_anew(design_only)
    assert design_only.data.person_hint == "patient"
    assert not design_only.data.schema.people_declared


def test_a_look_at_the_same_rows_before_goes_on_record(design_only, frame):
    """Rows that this session opened are no stranger's when they come back under a design."""
    first = Project(
        data=DataEntries(name="t.csv", raw=read_table(content(frame), name="t.csv")),
    )
    first.data.file_sha256 = first.data.raw.sha256
    first.look("counted cells outside")
    design_only.data.looked = dict(first.data.looked)
    bind(design_only, first.data.raw, "t.csv", public=False, marks=frozenset())
    assert design_only.data.checked
    assert design_only.data.schema.looks


def test_unbinding_is_for_late_tables_alone(frame):
    state = Project(
        data=DataEntries(name="t.csv", raw=read_table(content(frame), name="t.csv")),
    )
    unbind(state)
    assert state.data.raw is not None


def test_learning_and_checks_say_why_they_wait(design_only):
    design_only.designs.plan.regime = "graphical"
    assert "waits for the table" in texts(open_page("structure", design_only))
    assert "waits for the table" in texts(open_page("data", design_only))
    design_only.data.show_form([{**blank_rows(["age"])[0], "kind": "numeric", "learn": True}])
    assert "Learning waits for the table" in texts(open_page("data", design_only))
    assert "Not yet" in texts(open_page("inspect", design_only))


def test_names_are_typed_or_pasted(no_reader):
    state = Project(
        data=DataEntries(name="d", announced=PERSONS),
    )
    test = open_page("data", state)
    assert "rows" not in test.radio(key="schema_way").options
    test.radio(key="schema_way").set_value("header").run()
    test.button(key="draft_header").click().run()
    assert "Type the names" in texts(test)
    test.text_area(key="draft_names").set_value("age\tward, Größe\nreadmitted").run()
    test.button(key="draft_header").click().run()
    assert [row["name"] for row in state.data.form] == ["age", "ward", "Größe", "readmitted"]
