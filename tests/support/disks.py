"""Disks that are full, or that may only be read."""

from __future__ import annotations

import builtins
import errno
import io
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pytest


class FullDisk:
    """Every write fails from the `first` on, wherever it goes below `root`.

    What is written into a file that has its room already (`r+b`) takes no space and succeeds.

    Attributes:
        writes: how many there were.
    """

    def __init__(self, root: Path, first: int, *, half: bool = False) -> None:
        """Args: `half`: the file can be opened, and takes half of what is written."""
        self.root, self.first, self.half, self.writes = str(root), first, half, 0
        self._handles: set[int] = set()

    def _ours(self, path: object) -> bool:
        if isinstance(path, int):
            return path in self._handles
        return isinstance(path, str | os.PathLike) and str(path).startswith(self.root)

    def _is_full(self) -> bool:
        self.writes += 1
        return self.writes >= self.first

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        real_open, real_os_open = io.open, os.open
        disk = self

        def open_(file, mode="r", *args, **kwargs):
            if isinstance(file, int) and file in disk._handles:  # counted when it was opened
                disk._handles.discard(file)
                return _Half(real_open(file, mode, *args, **kwargs))
            if disk._ours(file) and set(mode) & set("wax") and disk._is_full():
                if not disk.half:
                    raise full()
                return _Half(real_open(file, mode, *args, **kwargs))
            return real_open(file, mode, *args, **kwargs)

        def os_open(path, flags, *args, **kwargs):
            if disk._ours(path) and flags & (os.O_WRONLY | os.O_RDWR) and disk._is_full():
                if not disk.half:
                    raise full()
                handle = real_os_open(path, flags, *args, **kwargs)
                disk._handles.add(handle)
                return handle
            return real_os_open(path, flags, *args, **kwargs)

        real_parquet = pd.DataFrame.to_parquet

        def to_parquet(frame, path, *args, **kwargs):
            if disk._ours(path) and disk._is_full():
                raise full()
            return real_parquet(frame, path, *args, **kwargs)

        monkeypatch.setattr(io, "open", open_)
        monkeypatch.setattr(builtins, "open", open_)
        monkeypatch.setattr(os, "open", os_open)
        monkeypatch.setattr(pd.DataFrame, "to_parquet", to_parquet)


def full() -> OSError:
    """What the system says of a full disk."""
    return OSError(errno.ENOSPC, "No space left on device")


class _Half:
    """A file that takes half of what is written to it."""

    def __init__(self, file) -> None:
        self._file = file

    def write(self, content) -> int:
        self._file.write(content[: len(content) // 2])
        raise full()

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


@contextmanager
def small_disk(place: Path, size: int) -> Iterator[Path | None]:
    """A file system of so many bytes on a new folder; None where the machine allows none."""
    place.mkdir()
    mount = shutil.which("mount")
    done = (
        mount
        and subprocess.run(
            [mount, "-t", "tmpfs", "-o", f"size={size}", "none", str(place)],
            check=False,
            capture_output=True,
        ).returncode
        == 0
    )
    try:
        yield place if done else None
    finally:
        if done:
            subprocess.run(["umount", str(place)], check=True)


def fill(place: Path, left: int) -> Path:
    """Fill a small disk up to so many bytes; the file that does it."""
    path = place / "filling"
    free = os.statvfs(place)
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(4096, free.f_bavail * free.f_frsize - left))
    return path


# Takes from root the rights that pass over the modes of files (CAP_DAC_OVERRIDE,
# CAP_DAC_READ_SEARCH, CAP_FOWNER; 24 is PR_CAPBSET_DROP), then becomes Python with the
# arguments given. A process of its own does it: a forked one would warn once JAX has threads.
_AS_ANYBODY = """
import ctypes, os, sys
for right in (1, 2, 3):
    ctypes.CDLL(None).prctl(24, right, 0, 0, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def run_obeying(command: Sequence[str], **others) -> subprocess.CompletedProcess[str]:
    """Run Python with arguments as a user whom the modes of files bind."""
    return subprocess.run(
        [sys.executable, "-c", _AS_ANYBODY, *command],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        **others,
    )


def forbid_writing(folder: Path) -> None:
    """Take the permission to write from a folder and all that is in it."""
    for path in [*folder.rglob("*"), folder]:
        path.chmod(path.stat().st_mode & ~0o222)
