"""Long work in a process of its own, so that a page switch kills nothing and Cancel ends it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np

from dashboard import job as child
from prism_core import config as configs
from prism_core import scenario_io
from prism_core.config import AssetConfig, DomainConfig, GraphConfig, RunConfig, TableConfig
from prism_core.data import schema_io
from prism_core.data.encoding import EncodedTable
from prism_core.data.stored import StoredTable, to_dict
from prism_core.learning.outline_io import dumps_outline
from prism_core.planning.task import Budget, Task
from prism_core.rehearsal.stand_in import save as save_stand_in
from prism_core.structure import formats

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO

    from prism_core.data.source import Rows
    from prism_core.data.tables import RawTable
    from prism_core.learning.graph_plan import GraphPlan
    from prism_core.learning.plan import DomainPlan
    from prism_core.planning.plan import Plan
    from prism_core.planning.scenario import Scenario
    from prism_core.rehearsal import Rehearsal, StandIn

_PATIENCE = 4.0  # seconds between asking a run to stop and ending it

State = Literal["running", "done", "cancelled", "failed"]
AnyPlan = TypeVar("AnyPlan")


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
class Job(Generic[AnyPlan]):
    """A run in its own process and folder."""

    folder: Path
    process: subprocess.Popen[bytes]
    started: float
    plan: AnyPlan
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
            child.forget(self.folder)
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
        self._end()
        child.forget(self.folder)

    def _end(self) -> None:
        try:
            self.process.wait(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):  # with the processes that it started
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def remove(self) -> None:
        """Delete the folder of a run that has ended and whose result was taken."""
        self._end()
        shutil.rmtree(self.folder, ignore_errors=True)


def start(
    plan: Plan, table: Rows, asset: AssetConfig | None, seed: int,
    scenarios: Sequence[Scenario] = (),
) -> Job[Plan]:  # fmt: skip
    """Start a run. The folder and everything in it is readable by this user only.

    Args:
        plan: what is run.
        table: the rows.
        asset: what is charged; None for public rows only.
        seed: of the noise, for public rows only.
        scenarios: what else was considered; written beside the result.
    """
    folder = Path(tempfile.mkdtemp(prefix="prism-run-"))  # mode 0700
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
    if scenarios:
        text = scenario_io.dumps(scenarios)
        (folder / child.SCENARIOS).write_text(text, encoding="utf-8")
    _describe(folder, config, seed)
    _hand_over(folder, table)
    return Job(folder=folder, process=_process(folder), started=time.monotonic(), plan=plan)


def learn_graph(
    plan: GraphPlan, table: Rows, asset: AssetConfig | None, seed: int
) -> Job[GraphPlan]:
    """Start learning a blanket, as `prism learn-dag` does it.

    Spends: `plan.spent`, in the process that is started, after the ledger is charged.
    """
    folder = Path(tempfile.mkdtemp(prefix="prism-run-"))  # mode 0700
    schema_io.save(plan.schema, folder / child.SCHEMA)
    (folder / child.LEARN_GRAPH).touch()
    config = RunConfig(
        table=TableConfig(
            train=Path(child.CODES), schema=Path(child.SCHEMA), public=table.public
        ),
        task=Task(target=plan.target, regime="graphical"),
        budget=Budget(epsilon=plan.epsilon, delta=plan.delta),
        asset=asset,
        graph=GraphConfig(share=plan.share, members=plan.members),
    )  # fmt: skip
    _describe(folder, config, seed)
    _hand_over(folder, table)
    return Job(folder=folder, process=_process(folder), started=time.monotonic(), plan=plan)


def rehearse(rehearsal: Rehearsal, stand_in: StandIn) -> Job[Rehearsal]:
    """Start a rehearsal on public rows. Its points are kept in the workspace as they come."""
    folder = Path(tempfile.mkdtemp(prefix="prism-run-"))  # mode 0700
    save_stand_in(stand_in, folder)
    child.write_json(folder / child.REHEARSAL, rehearsal.to_dict())
    return Job(folder=folder, process=_process(folder), started=time.monotonic(), plan=rehearsal)


def _hand_over(folder: Path, table: Rows) -> None:
    """The rows, in a file for this user only, or where they stand."""
    if isinstance(table, StoredTable):
        child.write_json(folder / child.STORED, to_dict(table))
    else:
        assert isinstance(table, EncodedTable), "there are two kinds of tables"
        codes = table.codes
        _private(folder / child.CODES, lambda file: np.save(file, codes, allow_pickle=False))


def learn(
    plan: DomainPlan, raw: RawTable, asset: AssetConfig | None, seed: int, *,
    delta_share: float, public: bool,
) -> Job[DomainPlan]:  # fmt: skip
    """Start learning a domain, as `prism learn-domain` does it.

    Spends: `plan.spent`, in the process that is started, after the ledger is charged.

    Args:
        plan: what will be learned.
        raw: the rows; the columns that the plan needs are handed on.
        asset: what is charged; None for public rows only.
        seed: of the noise, for public rows only.
        delta_share: with which the plan was made.
        public: whether the rows are public.
    """
    folder = Path(tempfile.mkdtemp(prefix="prism-run-"))  # mode 0700
    outline = plan.outline
    (folder / child.OUTLINE).write_text(dumps_outline(outline), encoding="utf-8")
    names = [column.name for column in outline.columns]
    config = RunConfig(
        table=TableConfig(train=Path(child.ROWS), schema=Path(child.OUTLINE), public=public),
        task=Task(target=names[0]),  # a configuration needs one; learning does not look at it
        budget=Budget(epsilon=plan.epsilon, delta=plan.delta),
        asset=asset,
        domain=DomainConfig(share=plan.share, delta_share=delta_share),
    )
    _describe(folder, config, seed)
    wanted = raw.frame[names if outline.person_id is None else [*names, outline.person_id]]
    _private(folder / child.ROWS, lambda file: wanted.to_parquet(file, index=False))
    return Job(folder=folder, process=_process(folder), started=time.monotonic(), plan=plan)


def _process(folder: Path) -> subprocess.Popen[bytes]:
    quiet = {**os.environ, "PYTHONWARNINGS": "ignore", "JAX_PLATFORMS": "cpu"}
    return subprocess.Popen(
        [sys.executable, "-m", "dashboard.job", str(folder)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=quiet, start_new_session=True,
    )  # fmt: skip


def _describe(folder: Path, config: RunConfig, seed: int) -> None:
    (folder / child.CONFIG).write_text(configs.dumps(config), encoding="utf-8")
    if config.table.public:
        (folder / child.SEED).write_text(str(seed))


def _private(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """A file for this user only; the child deletes it as soon as it has read it."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        write(file)


def _read(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return {}
