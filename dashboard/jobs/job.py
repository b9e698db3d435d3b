"""A job: long work in a process of its own, which a page switch does not end and Cancel does."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from dashboard.jobs import folders
from dashboard.jobs.progress import CHARGE, LOG, PROGRESS, WRITING
from dashboard.jobs.queue import WAITING
from dashboard.key import access
from prism_core.privacy.ledger import Charge, default_workspace
from prism_core.privacy.ledger.store_choice import present

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path


PROCESS = "process.json"
_CANCELLED = "cancelled"  # that somebody asked for it
_PATIENCE = 4.0  # seconds between asking a run to stop and ending it

JobState = Literal["running", "done", "cancelled", "failed"]
AnyPlan = TypeVar("AnyPlan")


@dataclass(frozen=True, kw_only=True)
class JobOutcome:
    """Where a run stands.

    Attributes:
        state: running, done, cancelled or failed.
        stage: key of the stage it is in, "" before the first.
        share: part of the stage that is done.
        times: when each stage began, in seconds since 1970, in their order.
        message: why it ended, for cancelled and failed.
        document: what the run reported at its end.
    """

    state: JobState
    stage: str = ""
    share: float = 0.0
    times: dict[str, int] = field(default_factory=dict)
    message: str = ""
    document: dict[str, Any] = field(default_factory=dict)


@dataclass
class Job(Generic[AnyPlan]):
    """A run in its own process and folder.

    Attributes:
        folder: of mode 0700, in the workspace.
        plan: what is run.
        started: seconds since 1970.
        process: None for a run that another dashboard started.
    """

    folder: Path
    plan: AnyPlan
    started: float
    process: subprocess.Popen[bytes] | None = None

    @property
    def seconds(self) -> float:
        """Since the start, or from start to end."""
        # A run writes it as its last deed, so the time of the file is its end.
        outcome = self.folder / folders.OUTCOME
        end = outcome.stat().st_mtime if outcome.exists() else time.time()
        return max(0.0, end - self.started)

    @property
    def result(self) -> Path:
        """The folder that a finished run wrote."""
        return self.folder / folders.RESULT

    @property
    def log(self) -> str:
        """What it did when, without private values."""
        try:
            return (self.folder / LOG).read_text(encoding="utf-8")
        except OSError:
            return ""

    @property
    def public(self) -> bool:
        """Whether it is a rehearsal on public rows, which has a seed and charges nobody."""
        return (self.folder / folders.SEED).is_file()

    @property
    def waiting(self) -> bool:
        """Whether it waits until other runs have ended."""
        return (self.folder / WAITING).exists()

    @property
    def alive(self) -> bool:
        """Whether its process lives."""
        return folders.alive(self.folder) if self.process is None else self.process.poll() is None

    def outcome(self) -> JobOutcome:
        """Where it stands now."""
        alive = self.alive  # before the file: a run writes it as its last deed
        document = _read(self.folder / folders.OUTCOME)
        progress = _read(self.folder / PROGRESS)
        where = {key: progress[key] for key in ("stage", "share", "times") if key in progress}
        if document:
            return JobOutcome(
                state=document["state"],
                message=document.get("message", ""),
                document=document,
                **where,
            )
        if alive:
            return JobOutcome(state="running", **where)
        folders.forget(self.folder)
        return JobOutcome(
            state="cancelled" if (self.folder / _CANCELLED).exists() else "failed",
            message="The run was ended from outside. If a charge was written, it stands.",
            **where,
        )

    def charge(self) -> Charge | None:
        """The charge in the ledger with its state, None where none was written.

        Raises:
            AccessError: in a session without the key.
        """
        # To look into a ledger that is not there would make one.
        if not present(default_workspace()):
            return None
        number = _read(self.folder / CHARGE).get("number")
        if number is not None:
            return access.ledger().get(number)
        # The process may have been killed between its charge and the note of it.
        since = dt.datetime.fromtimestamp(int(self.started), dt.UTC).isoformat()
        plan = getattr(self.plan, "hash", "")
        own = [c for c in access.ledger().charges() if c.plan == plan and c.created >= since]
        return own[-1] if own else None

    def cancel(self) -> None:
        """Ask the run to stop, and end it when it does not.

        What has measured and drawn everything is left to write its files: they are paid for.
        """
        if self.outcome().state == "running":
            if self._writing:
                return
            # Before the signal: a process that has to be killed cannot write that it was cancelled.
            (self.folder / _CANCELLED).touch(mode=0o600)
            self._signal(signal.SIGTERM)
        self._end()
        folders.forget(self.folder)

    @property
    def _writing(self) -> bool:
        return _read(self.folder / PROGRESS).get("stage") == WRITING

    def _signal(self, number: int) -> None:
        pid = _read(self.folder / PROCESS).get("pid")
        if pid is not None and self.alive:  # it holds its lock, so the number is still its own
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def _end(self) -> None:
        end = time.monotonic() + _PATIENCE
        while self.alive and time.monotonic() < end:
            time.sleep(0.05)
        # It may have come to its files since it was asked to stop, and they are paid for.
        if self.alive and self._writing:
            return
        # Compiled code hears SIGTERM only once it returns to Python.
        self._signal(signal.SIGKILL)
        while self.alive:
            time.sleep(0.02)

    def remove(self) -> None:
        """Delete the folder of a run that has ended and whose result was taken."""
        # A process that has told its outcome may still be on its way out.
        self._end()
        shutil.rmtree(self.folder, ignore_errors=True)


def _read(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return {}
