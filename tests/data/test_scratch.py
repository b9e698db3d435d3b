"""Private folders: nobody else reads them, and none outlives its process."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys

import pytest

from prism_core.data.engines import scratch
from prism_core.errors import TableError

HOLD = """
import sys, time
from pathlib import Path
from prism_core.data.engines import scratch
held = scratch.make(Path(sys.argv[1]))
(held.path / "0.codes").write_bytes(b"private")
print(held.path, flush=True)
time.sleep(60)
"""


@pytest.mark.privacy
def test_only_this_user_reads_it_and_close_removes_it(tmp_path):
    folder = scratch.make(tmp_path / "ws")
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.path.parent.stat().st_mode) == 0o700
    with folder.write_new("x") as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600
    with pytest.raises(FileExistsError):
        folder.write_new("x")
    folder.close()
    folder.close()
    assert not folder.path.exists()


@pytest.mark.privacy
def test_what_a_killed_process_left_is_swept_and_what_a_living_one_holds_is_not(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    left = scratch.Path(process.stdout.readline().strip())
    mine = scratch.make(tmp_path)
    assert (left / "0.codes").exists()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert (left / "0.codes").exists()
    other = scratch.make(tmp_path)
    assert not left.exists()
    assert mine.path.exists()
    mine.close()
    other.close()


def test_a_joined_folder_is_let_go_of_and_not_removed(tmp_path):
    folder = scratch.make(tmp_path)
    guest = scratch.join(folder.path)
    guest.close()
    assert folder.path.exists()
    folder.close()
    with pytest.raises(TableError, match="files are gone"):
        scratch.join(folder.path)


def test_a_workspace_that_cannot_be_written_is_an_error_that_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TableError, match="workspace"):
        scratch.make(tmp_path / "file")


def test_the_end_of_a_process_removes_its_folder(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", HOLD.replace("time.sleep(60)", ""), str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not scratch.Path(done.stdout.strip()).exists()


@pytest.mark.privacy
def test_a_folder_that_is_being_made_is_not_swept(tmp_path, monkeypatch):
    """Between making a folder and holding its lock another process waits before it sweeps."""
    seen = []
    flock = scratch.fcntl.flock

    def watched(handle, kind):
        if kind == scratch.fcntl.LOCK_SH:
            root = os.open(tmp_path / scratch.FOLDER, os.O_RDONLY)
            try:
                flock(root, scratch.fcntl.LOCK_EX | scratch.fcntl.LOCK_NB)
                seen.append("free")
            except BlockingIOError:
                seen.append("held")
            os.close(root)
        flock(handle, kind)

    monkeypatch.setattr(scratch.fcntl, "flock", watched)
    scratch.make(tmp_path).close()
    assert seen == ["held"]
