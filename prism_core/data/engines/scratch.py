"""Scratch folders: private files that must not outlive a run (codes, a database's spill).

A folder has mode 0700, and every process that uses it holds a lock. The last one removes it. A
folder that nobody holds was left by a crash; it is removed the next time somebody makes one, or
cleans the workspace.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from prism_core import files
from prism_core.errors import TableError

FOLDER = "scratch"
RUNS = "runs"
"""Where a workspace keeps the runs of the dashboard; their folders hold the same kind of lock."""
PRIVATE = ("codes.npy", "person.npy", "rows.parquet", "counts.json")
"""Files of a run with private rows; the run deletes them as soon as it has read them."""
_LOCK = "in-use"


class Scratch:
    """A private folder; `close` (or the end of the process) by its last user removes it.

    Attributes:
        path: the folder.
    """

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self._end = weakref.finalize(self, _end, path, handle, os.getpid())

    def close(self) -> None:
        """Let go of the folder, and remove it where no other process uses it."""
        self._end()

    def write_new(self, name: str) -> BinaryIO:
        """A new file in the folder that only this user can read, open for writing."""
        return files.new(self.path / name)


def make(workspace: Path) -> Scratch:
    """A new private folder under the workspace, after sweeping what crashes left there.

    Raises:
        TableError: when the workspace cannot be written.
    """
    root = workspace / FOLDER
    try:
        # One after the other: `mkdir` makes missing parents with the usual mode, whatever is asked
        # for.
        files.folder(files.folder(workspace) / FOLDER).chmod(files.FOLDER)
        # Alone, so that nobody sweeps the new folder before its lock is held.
        with files.alone(root):
            sweep(root)
            path = Path(tempfile.mkdtemp(prefix="run-", dir=root))  # mode 0700
            handle = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            # Shared, as several processes may use one folder.
            fcntl.flock(handle, fcntl.LOCK_SH)
    except OSError:
        raise TableError(
            "The workspace has no room for temporary files, or cannot be written. Check its "
            "folder; nothing was run.",
            field="workspace",
        ) from None
    return Scratch(path, handle)


def join(path: Path) -> Scratch:
    """Hold a folder that another process made, so that it is not swept meanwhile.

    Raises:
        TableError: when it is gone.
    """
    try:
        handle = os.open(path / _LOCK, os.O_RDWR)
        fcntl.flock(handle, fcntl.LOCK_SH)  # waits for whoever removes it just now
        # The folder may have been removed while this waited for the lock.
        (path / _LOCK).stat()
    except OSError:
        raise TableError("The run's temporary files are gone. Load the table again.") from None
    return Scratch(path, handle)


def held(folder: Path) -> bool:
    """Whether a process that lives holds the lock of a folder."""
    try:
        handle = os.open(folder / _LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def left(workspace: Path) -> tuple[Path, ...]:
    """Folders with private rows that a crash left in a workspace. Changes nothing."""
    found = []
    for folder in workspace.joinpath(FOLDER).glob("run-*"):
        # A user of a scratch folder shares its lock, so that only its last one may take it whole.
        if (folder / _LOCK).exists() and not _shared(folder):
            found.append(folder)
    for name in PRIVATE:
        runs = [path.parent for path in workspace.joinpath(RUNS).rglob(name)]
        found += [run for run in runs if (run / _LOCK).exists() and not held(run)]
    return tuple(sorted(set(found)))


def _shared(folder: Path) -> bool:
    try:
        handle = os.open(folder / _LOCK, os.O_RDWR)
    except OSError:
        return True  # being made or being removed
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def clean(workspace: Path) -> None:
    """Remove what crashes left in a workspace; makes nothing."""
    root = workspace / FOLDER
    if root.is_dir():
        with suppress(OSError), files.alone(root):
            sweep(root)


def sweep(root: Path) -> None:
    """Remove the folders that no living process holds."""
    for path in root.glob("run-*"):
        try:
            handle = os.open(path / _LOCK, os.O_RDWR)
        except OSError:
            continue  # being made or being removed
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # While the lock is held, so that nobody joins a folder that is going.
            shutil.rmtree(path, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(handle)


def _end(path: Path, handle: int, process: int) -> None:
    if os.getpid() != process:
        return  # a fork must not remove its parent's files
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    except BlockingIOError:
        pass  # another process still reads it, and removes it
    finally:
        os.close(handle)
