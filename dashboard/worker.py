"""Long work in a process of its own, so that a page switch kills nothing and Cancel ends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dashboard import job as child
from prism_core import config as configs
from prism_core.config import AssetConfig, RunConfig, TableConfig
from prism_core.data import schema_io
from prism_core.data.encoding import EncodedTable
from prism_core.data.stored import StoredTable, to_dict
from prism_core.structure import formats

if TYPE_CHECKING:
    from prism_core.data.source import Rows
    from prism_core.planning.plan import Plan

_PATIENCE = 4.0  # seconds between asking a run to stop and ending it

State = Literal["running", "done", "cancelled", "failed"]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Where a run stands.

    Attributes:
        state: running, done, cancelled or failed.
        stage: key of the stage it is in, "" before the first.
        share: part of the stage that is done.
        message: why it ended, for cancelled and failed.
        document: what the run reported at its end.
    """

    state: State
    stage: str = ""
    share: float = 0.0
    message: str = ""
    document: dict[str, Any] = field(default_factory=dict)


@dataclass
class Job:
    """A run in its own process and folder."""

    folder: Path
    process: subprocess.Popen[bytes]
    started: float
    plan: Plan
    cancelled: bool = False

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self.started

    @property
    def result(self) -> Path:
        """The folder that a finished run wrote."""
        return self.folder / child.RESULT

    def outcome(self) -> Outcome:
        """Where it stands now."""
        ended = self.process.poll() is not None
        document = _read(self.folder / child.OUTCOME)
        if document:
            return Outcome(
                state=document["state"], message=document.get("message", ""), document=document
            )
        if ended:
            (self.folder / child.CODES).unlink(missing_ok=True)
            return Outcome(
                state="cancelled" if self.cancelled else "failed",
                message="The run was ended from outside. If a charge was written, it stands.",
            )
        progress = _read(self.folder / child.PROGRESS)
        return Outcome(
            state="running", stage=progress.get("stage", ""), share=progress.get("share", 0.0)
        )

    def cancel(self) -> None:
        """Ask the run to stop, and end it when it does not."""
        self.cancelled = True
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        (self.folder / child.CODES).unlink(missing_ok=True)


def start(plan: Plan, table: Rows, asset: AssetConfig | None, seed: int) -> Job:
    """Start a run. The folder and everything in it is readable by this user only."""
    folder = Path(tempfile.mkdtemp(prefix="prism-run-"))  # mode 0700
    _describe(folder, plan, table, asset, seed)
    quiet = {**os.environ, "PYTHONWARNINGS": "ignore", "JAX_PLATFORMS": "cpu"}
    process = subprocess.Popen(
        [sys.executable, "-m", "dashboard.job", str(folder)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=quiet, start_new_session=True,
    )  # fmt: skip
    return Job(folder=folder, process=process, started=time.monotonic(), plan=plan)


def _describe(folder: Path, plan: Plan, table: Rows, asset: AssetConfig | None, seed: int) -> None:
    schema_io.save(plan.schema, folder / child.SCHEMA)
    if plan.dag is not None:
        (folder / child.GRAPH).write_text(formats.write(plan.dag, "node-link"), encoding="utf-8")
    config = RunConfig(
        table=TableConfig(
            train=Path(child.CODES), schema=Path(child.SCHEMA), public=table.public,
            dag=None if plan.dag is None else Path(child.GRAPH),
        ),
        task=plan.task,
        budget=replace(plan.budget, delta=plan.delta),
        synthesis=plan.synthesis,
        asset=asset,
    )  # fmt: skip
    (folder / child.CONFIG).write_text(configs.dumps(config), encoding="utf-8")
    if table.public:
        (folder / child.SEED).write_text(str(seed))
    if isinstance(table, StoredTable):
        child.write_json(folder / child.STORED, to_dict(table))
        return
    assert isinstance(table, EncodedTable), "there are two kinds of tables"
    handle = os.open(folder / child.CODES, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        np.save(file, table.codes, allow_pickle=False)


def _read(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return {}
