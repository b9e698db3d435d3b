"""The queue of runs: on a server a run's process waits here until one of the workers is free.

It waits before it loads anything large, and then becomes the run under the same number, so that
whoever started it knows it and can end it. Places and turns are locks of files: they go with their
process, whatever ends it, and a restart of the dashboard changes nothing.
"""

from __future__ import annotations

import fcntl
import os
import resource
import sys
import time
from pathlib import Path

from dashboard.jobs.folders import FOLDER
from prism_core import files
from prism_core.child_processes import python
from prism_core.hosting import configuration
from prism_core.privacy.ledger import default_workspace

WAITING = "waiting"
"""Stands in a run's folder until it has a worker."""

_PLACES = "workers"
_LOOKS = 0.2  # seconds between two looks for a free worker; only the first in the queue looks


def main(folder: Path) -> None:
    """Wait for a worker and become the run of a folder; never returns."""
    limits = configuration.limits()
    if limits.workers is not None:
        take(default_workspace() / FOLDER, limits.workers)
    if limits.memory_gb is not None:
        bound_memory(limits.memory_gb)
    (folder / WAITING).unlink(missing_ok=True)
    os.execv(sys.executable, python("-m", "dashboard.jobs.child", folder))


def take(root: Path, workers: int) -> int:
    """A handle that holds the place of a worker for as long as this process lives.

    Args:
        root: the folder of runs.
        workers: how many places there are.
    """
    places = files.folder(root / _PLACES)
    # The kernel wakes those who wait for a lock in the order in which they came.
    turn = _opened(places / "turn")
    fcntl.flock(turn, fcntl.LOCK_EX)
    try:
        while True:
            for number in range(workers):
                handle = _opened(places / f"{number}")
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    os.close(handle)
                    continue
                os.set_inheritable(handle, True)  # the run takes it over
                return handle
            time.sleep(_LOOKS)
    finally:
        os.close(turn)


def bound_memory(gigabytes: float) -> None:
    """Bound what this process, and each that it starts, may take for its data.

    A run that wants more fails with a MemoryError; its charge stands if a mechanism ran.
    """
    wanted = int(gigabytes * 2**30)
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    bound = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    # Not RLIMIT_AS: libraries reserve room that they never use.
    resource.setrlimit(resource.RLIMIT_DATA, (bound, bound))


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, files.FILE)


if __name__ == "__main__":
    os.umask(0o077)
    main(Path(sys.argv[1]))
