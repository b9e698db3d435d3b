"""A parser that crashes, hangs or grows ends as an error of ours, which quotes nothing."""

from __future__ import annotations

import traceback
from contextlib import ExitStack

import pytest

from prism_core.data.tables.reader_process import Job, tables, whole
from prism_core.errors import TableError
from prism_core.text import untrusted
from tests.support.tables import CANARY

CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
ABORT = "import os; os.abort()"
ENDED = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
RAISED = "raise ValueError(source.read())"
GROWN = "bytearray(2**40)"
HALF = (
    "import pyarrow as pa\n"
    "    out = pa.ipc.new_stream(output, pa.schema([('a', pa.string())]))\n"
    "    out.write_batch(pa.record_batch([pa.array(['x'])], names=['a']))\n"
    "    output.flush()\n"
    "    import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
)
UNTRUE = "output.write(b'\\xff\\xff\\xff\\xff' + source.read() * 9)"


@pytest.fixture
def job(tmp_path):
    """Makes a job of a reader with this body."""
    with ExitStack() as files:

        def make(body: str, *, loaded: bool = True, **more: object) -> Job:
            script = tmp_path / "reader.py"
            script.write_text(f"def read(source, output, limits, *rest):\n    {body}\n")
            file = tmp_path / "file"
            file.write_bytes(f"{CANARY} cell".encode())
            source = file.read_bytes() if loaded else files.enter_context(file.open("rb"))
            return Job(script=str(script), source=source, name="t", what="table", **more)

        yield make


@pytest.mark.parametrize("loaded", [True, False])
@pytest.mark.parametrize(
    ("body", "why"),
    [
        (CRASH, "not a readable table"),
        (RAISED, "not a readable table"),
        (HALF, "not a readable table"),
        (UNTRUE, "not a readable table"),
        ("pass", "not a readable table"),
        ("limits.refuse(why='x')", "not a readable table"),
        (ABORT, "more than 4 GB when it is unpacked"),
        (ENDED, "more than 4 GB when it is unpacked"),
        (GROWN, "more than 4 GB when it is unpacked"),
    ],
)
def test_whatever_happens_to_the_child_is_an_error_of_ours(body, why, loaded, job):
    with pytest.raises(TableError, match=why) as caught:
        list(tables(job(body, loaded=loaded)))
    assert CANARY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("loaded", [True, False])
def test_a_hang_has_an_end(loaded, job, monkeypatch):
    monkeypatch.setattr(untrusted, "SECONDS", 1)
    hang = "import time; time.sleep(600)"
    for read in (whole, lambda one: list(tables(one))):
        with pytest.raises(TableError, match="took more than 1 seconds"):
            read(job(hang, loaded=loaded))


def test_limits_are_those_of_a_table_in_memory_and_not_of_one_that_is_not(job):
    body = "limits.check_cells(300_000_000); output.write(b'read')"
    with pytest.raises(TableError, match="more than 200,000,000 cells"):
        whole(job(body))
    assert whole(job(body, loaded=False)) == b"read"


def test_a_refusal_has_the_words_of_its_reader(job):
    words = lambda why: TableError(f"No: {why['why']}.")  # noqa: E731
    for read in (whole, lambda one: list(tables(one))):
        with pytest.raises(TableError, match=r"No: so\."):
            read(job("limits.refuse(why='so')", refusal=words))


def test_a_reader_that_nobody_listens_to_ends(job):
    """Left after the first part, as by an error in what follows."""
    body = HALF.replace("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "while 1: pass")
    parts = tables(job(body))
    next(parts)
    parts.close()
