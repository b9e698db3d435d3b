"""Folders of jobs in the workspace: private, found by a project's key, swept after a crash.

A run's process holds the lock of its folder for as long as it lives, whatever becomes of the
dashboard. The lock is taken before anything private is written, and handed down to the process, so
there is no moment at which a living run looks dead.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from prism_core import files
from prism_core.data.engines import scratch
from prism_core.errors import ConfigError, PrismError
from prism_core.hosting import configuration
from prism_core.privacy.ledger.ledger import default_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER, PRIVATE = scratch.RUNS, scratch.PRIVATE

COMPARATORS = "comparators"
"""Where a workspace keeps what comparators gave out that were paid for."""

JOB = "job.json"
"""What is to be done: its `kind`, and what else that kind needs."""

_ABOUT = "about.json"  # the same of a release in version 0.1, where the kind was not said

OUTCOME = "outcome.json"
"""Written by a run that has ended by itself."""

CODES, PERSON, ROWS, COUNTS = PRIVATE
"""The private rows, or what a database has counted of them; deleted as soon as they are read."""

CONFIG, SCHEMA, GRAPH, OUTLINE = "config.toml", "schema.yaml", "dag.json", "outline.yaml"
STORED = "stored.json"  # where rows stand that the dashboard keeps in files
SEED = "seed"  # of known noise: the rows are public
WHO = "who"  # whom the ledger names; written in the hosted form only
SCENARIOS, APPROVAL, SAID = "scenarios.toml", "approval.json", "said.json"
TOLD = "told.jsonl"  # runs of a story that have ended
RESULT = "result"

JobKind = Literal["release", "domain", "graph", "comparator", "rehearsal", "story"]

_LOCK = "in-use"
_PROJECT, _STEP = "project-", "step-"
_DAY = 24 * 3600.0  # seconds


@contextmanager
def claimed(key: str = "") -> Iterator[tuple[Path, int]]:
    """A new folder of mode 0700 and a handle that holds its lock.

    Hand the handle down to the run's process; it is closed here at the end of the block, and the
    folder is removed when the block fails.

    Args:
        key: of the project that is released; "" for other steps, whose folder nobody finds again.

    Raises:
        PrismError: when a run of the project is under way already.
        ConfigError: when the workspace cannot be written.
    """
    try:
        folder, handle = _of_project(key) if key else _of_step()
    except OSError:
        raise ConfigError(
            "The workspace cannot be written. Check its folder; nothing was run.", field="workspace"
        ) from None
    try:
        yield folder, handle
    # KeyboardInterrupt, too: private files may be in the folder by now.
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        os.close(handle)


def describe(folder: Path, kind: JobKind, **details: object) -> None:
    """Write what is to be done in a folder.

    Args:
        folder: of the job.
        kind: of the work.
        details: what the kind needs beside the other files.
    """
    files.put(folder / JOB, json.dumps({"kind": kind, **details}))


def description(folder: Path) -> dict[str, Any]:
    """What is to be done in a folder; see `describe`. A release of version 0.1 is read, too.

    Raises:
        OSError, ValueError: where there is no such file, or it is none of this version.
    """
    job = folder / JOB
    if not job.is_file() and (folder / _ABOUT).is_file():
        return {"kind": "release", **json.loads((folder / _ABOUT).read_text(encoding="utf-8"))}
    return json.loads(job.read_text(encoding="utf-8"))


def alive(folder: Path) -> bool:
    """Whether the process of a run lives."""
    return scratch.held(folder)


def under_way(folder: Path) -> bool:
    """Whether a run has not told its outcome, which is its last deed; to exit takes longer."""
    return alive(folder) and not (folder / OUTCOME).exists()


def newest(key: str) -> Path | None:
    """The last folder of a project's runs; the key is the only way to it."""
    found = sorted(_place(key).glob("[0-9]*")) if key else []
    return found[-1] if found else None


def forget(folder: Path) -> None:
    """Delete what is private in a folder."""
    for name in PRIVATE:
        (folder / name).unlink(missing_ok=True)


def sweep() -> None:
    """Delete what a crash left: private files of whatever lives no longer, and old steps.

    What a finished run gave out stays: it was paid for.
    """
    workspace = default_workspace()
    scratch.clean(workspace)
    root = workspace / FOLDER
    # A list, because folders are removed on the way through it.
    for folder in [*root.glob(f"{_PROJECT}*/[0-9]*"), *root.glob(f"{_STEP}*")]:
        if not (folder / _LOCK).exists() or alive(folder):
            continue  # being made, or under way
        with suppress(OSError):
            forget(folder)
            if folder.name.startswith(_STEP) and _abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)


def keep_result(result: Path, name: str) -> Path:
    """Copy what a step gave out to where no sweep comes; folders of mode 0700.

    Args:
        result: the step's folder of results.
        name: of the kept folder; a number is added where it is taken.
    """
    root = files.folder(files.folder(default_workspace()) / COMPARATORS)
    place, number = root / name, 1
    while place.exists():
        number += 1
        place = root / f"{name}-{number}"
    shutil.copytree(result, place)
    place.chmod(files.FOLDER)
    for copy in place.iterdir():
        files.narrow(copy)
    return place


def _abandoned(folder: Path) -> bool:
    """Whether nobody has come for it in time; its dashboard may be another one."""
    outcome = folder / OUTCOME
    last = (outcome if outcome.exists() else folder / _LOCK).stat().st_mtime
    # Not monotonic time: it is held against times of files, perhaps from before a restart.
    return time.time() - last > configuration.limits().kept_days * _DAY


def _of_step() -> tuple[Path, int]:
    folder = Path(tempfile.mkdtemp(prefix=_STEP, dir=_root()))  # mode 0700
    return folder, _locked(folder)


def _of_project(key: str) -> tuple[Path, int]:
    place = _root() / _place(key).name
    place.mkdir(mode=0o700, exist_ok=True)
    turn = os.open(place, os.O_RDONLY)
    try:
        fcntl.flock(turn, fcntl.LOCK_EX)  # one at a time: another window may start at this moment
        last = newest(key)
        if last is not None and under_way(last):
            raise PrismError(
                "A run of this project is under way already, in another tab or window. The page "
                "Release shows it; nothing else was started."
            )
        # Four digits, so that names sort as their numbers do (`newest`).
        folder = place / f"{1 if last is None else int(last.name) + 1:04d}"
        folder.mkdir(mode=0o700)
        return folder, _locked(folder)
    finally:
        os.close(turn)


def _locked(folder: Path) -> int:
    # O_EXCL: the folder is new, so a lock that is there is another run's.
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def _root() -> Path:
    root = files.folder(files.folder(default_workspace()) / FOLDER)
    root.chmod(files.FOLDER)
    return root


def _place(key: str) -> Path:
    """A project's folder; its name does not give the key away."""
    digest = hashlib.sha256(f"project {key}".encode()).hexdigest()
    return default_workspace() / FOLDER / f"{_PROJECT}{digest[:32]}"
