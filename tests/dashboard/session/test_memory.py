"""Rows in memory have a lifetime, and what is uploaded is named when it cannot be read."""

from __future__ import annotations

import gc
import gzip
import io
import tomllib
import weakref
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import dashboard
from dashboard.common import uploads
from dashboard.session import memory
from dashboard.session.data_entries import DataEntries
from dashboard.session.memory import RowSplit
from dashboard.session.project import Project
from prism_core.data.schema import schema_file
from prism_core.data.tables.raw_table import read_table
from prism_core.runs.inputs import IN_MEMORY
from tests.support.pages import open_page, turned

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.app
ROWS = b"age,ward\n31,a\n42,b\n53,a\n64,b\n75,a\n"
OTHER = b"age,ward\n30,a\n40,b\n50,b\n"
SCHEMA = schema_file.loads(
    "version: 1\none_row_per_person: true\ncolumns:\n"
    "  - {name: age, kind: numeric, lower: 0, upper: 100, integer: true, bins: 10}\n"
    "  - {name: ward, kind: categorical, levels: [a, b]}\n"
)


def uploader(test: AppTest):
    return next(one for one in test.file_uploader if one.key.startswith("upload_table"))


def load(test: AppTest, content: bytes, name: str = "stays.csv") -> AppTest:
    uploader(test).upload(name, content, "text/csv").run()
    test.button(key="upload_load").click().run()
    assert not test.exception
    return test


def words(test: AppTest, kind: str) -> str:
    return "\n".join(one.value for one in getattr(test, kind)).replace("\\", "")


def nobody(_session: str) -> bool:
    return False


def everybody(_session: str) -> bool:
    return True


def gone(state: Project, later: float = memory.KEPT + 1.0) -> list[Project]:
    """Two looks at what is held, the second so many seconds after everybody left."""
    start = state.presence.used
    state.presence.left = None
    memory.sweep(start, nobody)
    return memory.sweep(start + later, nobody)


def test_rows_are_let_go_once_nobody_has_the_project_open_and_come_back_with_the_file():
    test = load(open_page("data"), ROWS)
    state = test.session_state["project"]
    state.use_schema(SCHEMA)
    state.structure.target = "ward"
    row, frame = weakref.ref(state.data.raw), weakref.ref(state.data.raw.frame)
    memory.sweep(state.presence.used + 10 * memory.KEPT, everybody)
    gc.collect()
    assert row() is not None
    assert state not in gone(state, memory.KEPT - 1.0)
    assert any(one is state for one in gone(state))
    gc.collect()
    assert row() is None
    assert frame() is None
    assert (state.data.schema, state.structure.target, state.data.name) == (
        SCHEMA,
        "ward",
        "stays.csv",
    )
    test.run()
    assert "5 rows of stays.csv were removed from memory" in words(test, "info")
    # Another file is another project, and the same one goes on with this one.
    load(test, ROWS)
    assert test.session_state["project"] is state
    assert (state.data.raw.rows, state.data.schema, state.structure.target) == (5, SCHEMA, "ward")
    assert "were removed from memory" not in words(test, "info")


def test_the_rows_kept_aside_are_the_same_ones_again():
    raw = read_table(ROWS, name="stays.csv")
    state = Project(
        data=DataEntries(name="stays.csv", raw=raw, schema=SCHEMA),
    )
    state.release.parted = RowSplit(schema=SCHEMA, kept=2, seed=7)
    _, state.release.train, state.release.holdout = memory.split_rows(state, state.release.parted)
    before = state.release.holdout.codes.copy(), state.release.train.codes.copy()
    watched = weakref.ref(state.release.holdout)
    memory.let_go(state)
    gc.collect()
    assert watched() is None
    other = read_table(OTHER, name="stays.csv")
    assert not memory.take_back(state, other, public=False)
    assert not memory.take_back(state, read_table(ROWS), public=True)
    assert memory.take_back(state, read_table(ROWS), public=False)
    assert np.array_equal(state.release.holdout.codes, before[0])
    assert np.array_equal(state.release.train.codes, before[1])


def test_the_rows_of_a_table_that_is_replaced_are_gone():
    test = load(open_page("data"), ROWS)
    row = weakref.ref(test.session_state["project"].data.raw)
    load(test, OTHER, "other.csv")
    replace = next(one for one in test.button if one.key and one.key.endswith("_replace"))
    replace.click().run()
    test.run()  # the session's state before this run is let go, too
    assert test.session_state["project"].data.name == "other.csv"
    gc.collect()
    assert row() is None


def test_of_more_than_there_is_room_for_those_looked_at_the_longest_ago_go_first():
    states = [
        Project(
            data=DataEntries(name=str(i), raw=read_table(ROWS, name=str(i))),
        )
        for i in range(4)
    ]
    for place, state in enumerate(states):
        state.presence.sessions.add(f"s{place}")
        memory.register(state)
        state.presence.used = 1_000.0 + place
    one = memory.held_bytes(states[0])
    assert one > 0
    ours = {f"s{place}" for place in range(1, 4)}  # the first one's tab is closed
    now = 1_004.0
    memory.sweep(now, ours.__contains__, most=3 * one)
    assert [state.data.raw is None for state in states] == [True, False, False, False]
    memory.sweep(now, ours.__contains__, most=2 * one)  # all are open and were looked at just now
    assert [state.data.raw is None for state in states] == [True, False, False, False]
    memory.sweep(now + memory.IDLE - 2.0, ours.__contains__, most=one)
    assert [state.data.raw is None for state in states] == [True, True, True, False]
    assert all(state.data.rows_let_go is not None for state in states[:3])


def test_a_table_that_its_tab_left_for_another_one_goes_though_the_tab_stays(monkeypatch):
    """Three large files, one after the other, must not stay for as long as the browser is open."""
    states = [Project(data=DataEntries(name="t", raw=read_table(ROWS))) for _ in range(3)]
    monkeypatch.setattr(memory, "session_id", lambda: "tab")
    for place, state in enumerate(states):
        memory.touch(state, 10.0 + place)
    open_tabs = {"tab"}.__contains__
    memory.sweep(20.0, open_tabs)
    assert all(state.data.raw is not None for state in states)  # a way back is short
    memory.sweep(21.0 + memory.KEPT, open_tabs)
    assert [state.data.raw is None for state in states] == [True, True, False]
    memory.touch(states[0], 700.0)  # back again: the table is asked for, and nobody else's goes
    assert states[0].presence.sessions == {"tab"}
    assert not states[2].presence.sessions


class Manager:
    """What Streamlit keeps of uploads, as far as it is asked here."""

    def __init__(self) -> None:
        self.files = {("s1", "a"), ("s1", "b"), ("s2", "c")}

    def remove_session_files(self, session_id: str) -> None:
        self.files = {one for one in self.files if one[0] != session_id}

    def remove_file(self, session_id: str, file_id: str) -> None:
        self.files.discard((session_id, file_id))


@pytest.fixture
def manager(monkeypatch) -> Manager:
    found = Manager()

    class Running:
        uploaded_file_mgr = found

    monkeypatch.setattr(memory.runtime, "exists", lambda: True)
    monkeypatch.setattr(memory.runtime, "get_instance", Running)
    return found


def test_files_of_a_session_that_is_gone_are_let_go_though_none_was_loaded(manager, monkeypatch):
    monkeypatch.setattr(memory, "_left_sessions", {"s1": None, "s2": None})
    memory.sweep(5.0, {"s2"}.__contains__)
    assert len(manager.files) == 3
    memory.sweep(6.0 + memory.KEPT, {"s2"}.__contains__)
    assert manager.files == {("s2", "c")}


def test_the_bytes_of_a_file_are_let_go_once_it_is_loaded(monkeypatch):
    dropped = []
    monkeypatch.setattr(memory, "forget_uploads", lambda session, file=None: dropped.append(file))
    test = load(open_page("data"), ROWS)
    assert len(dropped) == 1
    assert uploader(test).value is None


def test_a_file_that_was_not_loaded_goes_with_its_page(monkeypatch):
    dropped = []
    monkeypatch.setattr(memory, "forget_uploads", lambda session, file=None: dropped.append(file))
    test = open_page("data")
    uploader(test).upload("stays.csv", ROWS, "text/csv").run()
    test.run()
    assert not dropped
    turned(test, "structure").run()
    assert len(dropped) == 1


def packed() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("stays.csv", ROWS.decode())
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("stays.png", b"\x89PNG\r\n\x1a\n" + bytes(600), "a picture (PNG): export the table"),
        ("stays.csv.gz", gzip.compress(ROWS, mtime=0), "a gzip file: unpack it first"),
        ("stays.zip", packed(), "a ZIP archive, as Excel and Word write: unpack it first"),
    ],
)
def test_a_file_of_another_kind_is_named_with_what_to_do(name, content, said):
    test = open_page("data")
    uploader(test).upload(name, content, "application/octet-stream").run()
    assert said in words(test, "error")
    assert name in words(test, "error")
    assert uploader(test).value is None
    load(test, ROWS)  # the next file is read as if nothing had been
    assert test.session_state["project"].data.raw.rows == 5
    assert not test.error


def test_a_file_beyond_what_is_read_into_memory_is_sent_to_its_path(monkeypatch):
    monkeypatch.setattr(uploads, "IN_MEMORY", 20)
    test = open_page("data")
    uploader(test).upload("stays.csv", ROWS, "text/csv").run()
    assert "give its path under *A path or database*" in words(test, "error")
    assert test.session_state["project"].data.raw is None
    assert all(one.key != "upload_load" for one in test.button)


def test_every_door_of_the_page_has_the_limit_of_the_command_line():
    assert uploads.TABLE_MEGABYTES * 2**20 == IN_MEMORY
    config = Path(dashboard.__file__).parent / ".streamlit" / "config.toml"
    assert tomllib.loads(config.read_text())["server"]["maxUploadSize"] * 2**20 == IN_MEMORY
    caption = words(open_page("data"), "caption")
    assert "up to 256 MB. A larger file stays where it is" in caption
