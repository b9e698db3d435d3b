"""Progress of a release: its stage, since when, and a log without private values."""

from __future__ import annotations

import datetime as dt
import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.errors import CancelledError, ConfigError
from prism_core.privacy.ledger import Ledger
from prism_core.synthesis.release import STAGES, ReleaseStage

if TYPE_CHECKING:
    from pathlib import Path


PROGRESS = "progress.json"
CHARGE = "charge.json"
LOG = "log.txt"
_NOTE_BYTES = 1024
WRITING = "write"
"""The stage after the last of the pipeline."""

TITLES: dict[str, str] = {**STAGES, WRITING: "Writing the files"}
"""All stages of a run, in words."""


class RunProgress:
    """Takes a release's progress, and its wish to be cancelled.

    What it writes follows from the plan and the clock: stage by stage in whole seconds, never
    query by query.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stage = ""
        self._asked = False  # to stop, as soon as the charge stands
        self._stopping = False
        self._times: dict[str, int] = {}

    def __call__(self, stage: ReleaseStage, share: float) -> None:
        """The pipeline's progress; raises when the run is to stop."""
        self.enter(stage)
        if self._asked:
            raise CancelledError("The run was cancelled.")
        # Everything is drawn, and paid for: from here on no wish to cancel is heard.
        if stage == "sample" and share >= 1.0:
            self.enter(WRITING)
        self._write(share if self._stage == stage else 0.0)

    def enter(self, stage: str) -> None:
        """A stage begins, unless it began before."""
        if stage != self._stage:
            self._stage = stage
            # Whole seconds: finer times could tell something about the rows.
            self._times[stage] = int(time.time())
            self.log(TITLES[stage])
            self._write(0.0)

    def cancel(self, *_: object) -> None:
        """For SIGTERM.

        While the charge is written the wish waits until it stands, so that it can be marked as
        void; once everything is measured and drawn, what was paid for is written.
        """
        if self._stage == "charge":
            self._asked = True
        elif self._stage != WRITING and not self._stopping:
            self._stopping = True  # another tab may ask, too, while the charge is being closed
            raise CancelledError("The run was cancelled.")

    def log(self, text: str) -> None:
        """One line more in the log.

        A full disk stops no run for a line of it: between the charge and the end of measuring,
        what was paid for would be lost.
        """
        now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        with suppress(OSError):
            files.append(self._folder / LOG, f"{now}  {text}\n".encode(), sync=False)

    def _write(self, share: float) -> None:
        document = {"stage": self._stage, "share": share, "times": self._times}
        with suppress(OSError):
            write_json(self._folder / PROGRESS, document)


class NotedLedger(Ledger):
    """The workspace's ledger; the number of a charge is noted beside the run that made it."""

    def __init__(self, teller: RunProgress, folder: Path, *, who: str = "") -> None:
        super().__init__(who=who)
        self._teller = teller
        self._folder = folder

    def charge(self, asset: str, **charged: Any) -> int:  # noqa: ANN401  (passed on as it is)
        """See `Ledger.charge`. Room for the note is taken before, so that it fails before, too.

        Raises:
            ConfigError: when the disk is full; nothing was charged.
        """
        try:
            room = files.reserve(self._folder, _NOTE_BYTES)
        except OSError:
            raise ConfigError(
                "The disk is full, or cannot be written. Free some space; nothing was charged.",
                field="workspace",
            ) from None
        try:
            number = super().charge(asset, **charged)
            # The charge stands by now: a note that fails must not look like a charge that failed.
            with suppress(OSError):
                files.fill(room, self._folder / CHARGE, json.dumps({"number": number}).encode())
        finally:
            room.unlink(missing_ok=True)
        self._teller.log(f"Charge {number} is written; no mechanism has run yet.")
        return number


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Replace a file at once, so that a reader never sees half of it."""
    # Not synced: it is for the screen.
    files.replace(path, json.dumps(document).encode(), sync=False)
