"""What opened the rows before the plan is on record, and reaches every paper."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.jobs import worker
from dashboard.session import shelf as states
from dashboard.session.data_entries import DataEntries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries
from prism_core.bundle import bundle_files, manifest
from prism_core.bundle.protocol.protocol import Protocol
from prism_core.bundle.verify.verification import verify
from prism_core.bundle.write import bundle_folder
from prism_core.data.encoding import encode
from prism_core.data.schema import column_form, schema_file
from prism_core.data.tables.raw_table import from_frame
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.config import AssetConfig
from prism_core.synthesis.release import release
from tests.support.pages import open_page, texts

pytestmark = [pytest.mark.app, pytest.mark.privacy]
SOURCE = "codebook 3.2, page 14"
EDGES = (("age", "readmitted"), ("smoker", "readmitted"))


@pytest.fixture
def project(schema, frame) -> Project:
    raw = from_frame(frame)
    return Project(
        data=DataEntries(name="stays 2024.csv", raw=raw, test=raw, schema=schema),
        structure=StructureEntries(target="readmitted", graph=EditedGraph(edges=EDGES)),
        account=AccountEntries(asset="stays"),
    )


def source_field(test: AppTest):
    (found,) = (each for each in test.text_input if str(each.key).startswith("apply_source"))
    return found


def widen(project: Project, column: str, level: str, test: AppTest) -> None:
    """Type another level into the form, and apply the columns."""
    rows = column_form.to_rows(project.data.schema.columns)
    (row,) = (each for each in rows if each["name"] == column)
    row["levels"] += f" | {level}"
    project.data.show_form(rows)
    test.run()
    test.button(key="apply_columns").click().run()
    assert not test.exception
    assert level in [str(known) for known in project.data.schema[column].levels]


def counted(project: Project) -> AppTest:
    """She counts the cells outside, states a source, widens a level, applies, counts again."""
    test = open_page("data", project)
    test.button(key="check_columns").click().run()
    source_field(test).set_value(SOURCE).run()
    widen(project, "ward", "west", test)
    assert source_field(test).value == SOURCE  # Apply keeps what was typed
    test.button(key="check_columns").click().run()
    return test


def test_counts_before_the_plan_reach_every_paper(project, tmp_path):
    counted(project)
    assert project.data.schema.provenance == "declared"
    plan = project.plan()
    protocol = Protocol(plan=plan).to_markdown().replace("\\", "")
    table = encode(plan.schema, project.data.raw)
    made = release(plan, table, ledger=None, rng=np.random.default_rng(1))
    folder = bundle_folder.write(made, tmp_path / "run", workspace=tmp_path / "workspace")
    papers = {
        "protocol": protocol,
        **{
            name: (folder / name).read_text(encoding="utf-8").replace("\\", "")
            for name in (
                bundle_files.CERTIFICATE,
                bundle_files.REPORT,
                bundle_files.README,
                bundle_files.PLAN,
            )
        },
    }
    for name, text in papers.items():
        assert "stays 2024.csv" in text, name
        assert SOURCE in text, name
        assert "ward" in text, name
        assert "took nothing of it from the rows" not in text, name
    for name in ("protocol", bundle_files.CERTIFICATE, bundle_files.REPORT, bundle_files.README):
        assert "the cells outside the declaration" in papers[name], name
    meaning = (folder / bundle_files.MEANING).read_text(encoding="utf-8")
    assert "Before the plan the rows were opened 2 times" in meaning
    assert not verify(folder).findings
    # A bundle whose record was taken out of the schema is not what its certificate says.
    (folder / bundle_files.SCHEMA).write_text(
        schema_file.dumps(replace(project.data.schema, looks=())), encoding="utf-8"
    )
    manifest.write_manifest(folder, tmp_path / "workspace")
    assert verify(folder).findings


def test_no_figure_of_what_was_seen_is_recorded(project, frame):
    """T-DOMAIN for the record: other rows, the same record."""
    records = []
    for rows in (frame, frame.map(lambda _: "CANARY-7391")):
        other = replace(project, data=replace(project.data, raw=from_frame(rows), looked={}))
        test = open_page("data", other)
        test.button(key="check_columns").click().run()
        text = schema_file.dumps(other.data.schema)
        assert "counted cells outside" in text
        assert "CANARY" not in text
        records.append([line for line in text.splitlines() if "when" not in line])
    assert records[0] == records[1]


def test_the_record_survives_a_download_and_an_upload(project, monkeypatch):
    counted(project)
    text = schema_file.dumps(project.data.schema)
    assert SOURCE in text

    def app():
        import streamlit as st

        from dashboard.data.declaration_sources import _take
        from prism_core.data.schema import schema_file

        _take(schema_file.loads(st.session_state["text"]))

    # In another session, and in this one; the same columns are no change.
    blank = replace(project.data, looked={}, looks=(), schema=None, form=None)
    for new in (replace(project, data=blank), project):
        before = project.data.schema
        test = AppTest.from_function(app, default_timeout=60)
        test.session_state["project"], test.session_state["text"] = new, text
        monkeypatch.setattr("streamlit.rerun", lambda: None)
        test.run()
        assert not test.exception
        assert new.data.schema == before
        assert new.data.checked  # later changes are asked about


def test_an_older_schema_does_not_take_the_record_away(project, monkeypatch):
    old = schema_file.dumps(project.data.schema)
    counted(project)

    def app():
        import streamlit as st

        from dashboard.data.declaration_sources import _take
        from prism_core.data.schema import schema_file

        _take(schema_file.loads(st.session_state["text"]))

    test = AppTest.from_function(app, default_timeout=60)
    test.session_state["project"], test.session_state["text"] = project, old
    monkeypatch.setattr("streamlit.rerun", lambda: None)
    test.run()
    assert "counted cells outside" in schema_file.dumps(project.data.schema)
    # No source was named for this change: the level is gone again after a look.
    assert project.data.schema.provenance == "private rows"
    assert "No source is named" in texts(open_page("data", project))


def test_one_change_without_a_source_is_not_made_good_by_the_next(project):
    test = open_page("data", project)
    test.button(key="check_columns").click().run()
    widen(project, "ward", "west", test)
    assert project.data.schema.provenance == "private rows"
    source_field(test).set_value(SOURCE).run()
    widen(project, "grade", "4", test)
    assert project.data.schema.provenance == "private rows"
    # The column itself, declared from the codebook, makes it good.
    widen(project, "ward", "abroad", test)
    assert project.data.schema.provenance == "declared"


def test_the_record_survives_a_reload(project, tmp_path):
    counted(project)
    plan = project.plan()
    asset = AssetConfig(name="stays", lifetime_epsilon=3.0)
    table = encode(plan.schema, project.data.raw)
    job = worker.start(plan, table, asset, 1, key="a key", name=project.data.name)
    job.cancel()
    again = states._resumed("a key")
    assert again is not None
    assert again.data.schema == project.data.schema
    assert again.data.checked
    again.data.raw = project.data.raw
    assert SOURCE in texts(open_page("data", again))


def test_the_same_file_loaded_again_was_looked_at_all_the_same(project, schema):
    counted(project)

    def app():
        import streamlit as st

        from dashboard.session.shelf import replace_project

        replace_project(st.session_state["new"])

    new = Project(
        data=DataEntries(name=project.data.name, raw=project.data.raw),
    )
    test = AppTest.from_function(app)
    test.session_state["project"], test.session_state["new"] = project, new
    test.run()
    assert not test.exception
    assert new.data.checked
    new.use_schema(schema)
    assert "counted cells outside" in schema_file.dumps(new.data.schema)


def test_a_draft_from_the_private_file_is_on_record(project):
    project.data.schema = None
    test = open_page("data", project)
    test.radio(key="schema_way").set_value("rows").run()
    test.checkbox(key="draft_rows_agreed").check().run()
    test.button(key="draft_rows").click().run()
    test.button(key="apply_columns").click().run()
    assert project.data.schema is not None
    assert project.data.schema.provenance == "private rows"
    assert "drafted from the rows" in texts(open_page("data", project))
    assert "drafted from rows" in schema_file.dumps(project.data.schema)


def test_a_count_of_persons_is_on_record_and_asks_for_no_source(schema, frame):
    frame = frame.assign(pid=[str(i // 2) for i in range(len(frame))])
    project = Project(
        data=DataEntries(name="stays.csv", raw=from_frame(frame), schema=schema),
    )
    test = open_page("data", project)
    test.radio(key="people_way").set_value("id").run()
    test.button(key="people_count").click().run()
    assert project.data.schema.persons == 150
    assert "the column that names the person were counted" in texts(open_page("data", project))
    assert not project.data.checked
    assert project.data.schema.provenance == "declared"


def test_the_release_page_says_it_before_the_run(project):
    counted(project)
    shown = texts(open_page("release", project))
    assert "Before the plan the rows were opened 2 times without noise" in shown
    assert SOURCE in shown


def test_a_plan_without_a_look_is_as_it_was(project):
    plan = project.plan()
    assert "looks" not in json.dumps(plan.to_dict())
    assert "looks" not in schema_file.dumps(plan.schema)
    assert "looks" not in Protocol(plan=plan).to_dict()
    again = design(
        Brief(
            project.data.schema,
            plan.task,
            plan.budget,
            plan.n,
            dag=plan.dag,
            synthesis=plan.synthesis,
        )
    )
    assert again.hash == plan.hash


def test_looks_at_public_rows_are_nobodys_concern(project):
    project.data.public = True
    test = open_page("data", project)
    test.button(key="check_columns").click().run()
    assert "looks" not in schema_file.dumps(project.data.schema)
    assert not project.data.checked
