"""The starts of jobs: each writes what its process needs into a folder, and starts the process."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dashboard.jobs import folders
from dashboard.jobs.job import PROCESS, AnyPlan, Job
from dashboard.jobs.queue import WAITING
from dashboard.key import access, identity, machine_key
from prism_core import files
from prism_core.child_processes import python
from prism_core.data.encoding import EncodedTable
from prism_core.data.engines.stored_table import StoredTable, to_dict
from prism_core.data.schema import schema_file
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import PrismError
from prism_core.hosting import configuration
from prism_core.learning.domain import domain_counts
from prism_core.learning.domain.outline_io import dumps_outline
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes import config as configs
from prism_core.planning.wishes import scenario_files
from prism_core.planning.wishes.config import (
    AssetConfig,
    DomainConfig,
    GraphConfig,
    RunConfig,
    TableConfig,
)
from prism_core.planning.wishes.task import Budget, Task
from prism_core.rehearsal.stand_in_rows import save as save_stand_in
from prism_core.runs.charged_learning import countable
from prism_core.structure import formats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.bundle.protocol.approval_file import ApprovedPlan
    from prism_core.comparators import ComparatorPlan
    from prism_core.comparators.external import ExternalPlan
    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.schema.schema import Schema
    from prism_core.data.source import Rows
    from prism_core.learning.domain.domain_plan import DomainPlan
    from prism_core.learning.graph.graph_plan import GraphPlan
    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.curator_statement import CuratorStatement
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.rehearsal import Rehearsal, StandIn
    from prism_core.reproduction import RunOutcome as Told
    from prism_core.reproduction import Story


def start(
    plan: Plan,
    table: Rows,
    asset: AssetConfig | None,
    seed: int,
    scenarios: Sequence[Scenario] = (),
    *,
    key: str = "",
    name: str = "",
    approval: ApprovedPlan | None = None,
    said: CuratorStatement | None = None,
) -> Job[Plan]:
    """Start a run. The folder and everything in it is readable by this user only.

    Args:
        plan: what is run.
        table: the rows.
        asset: what is charged; None for public rows only.
        seed: of the noise, for public rows only.
        scenarios: what else was considered; written beside the result.
        key: of the project, by which `find` finds the run again.
        name: of the table, for the screen.
        approval: of the plan, where there is one.
        said: who releases what for which purpose, for the top of the bundle's report.

    Raises:
        PrismError: when a run of that project is under way already.
        AccessError: in a session without the key, for rows that are not public.
    """
    config = RunConfig(
        table=TableConfig(
            train=Path(folders.CODES),
            schema=Path(folders.SCHEMA),
            public=table.public,
            dag=None if plan.dag is None else Path(folders.GRAPH),
        ),
        task=plan.task,
        budget=replace(plan.budget, delta=plan.delta),
        synthesis=plan.synthesis,
        asset=asset,
    )
    with folders.claimed(key) as (folder, lock):
        files.put(folder / folders.SCHEMA, schema_file.dumps(plan.schema))
        if plan.dag is not None:
            files.put(folder / folders.GRAPH, formats.write(plan.dag, "node-link"))
        if scenarios:
            files.put(folder / folders.SCENARIOS, scenario_files.dumps(scenarios))
        if approval is not None:
            files.put(folder / folders.APPROVAL, approval.dumps())
        if said is not None and said.some:
            files.put(folder / folders.SAID, json.dumps(said.to_dict()))
        folders.describe(
            folder,
            "release",
            name=name,
            n=plan.n,
            # The process designs the plan again, and refuses to run another one than was confirmed.
            plan_sha256=plan.hash,
            # For a dashboard that finds the run later, and did not start it.
            started=time.time(),
        )
        _describe(folder, config, seed)
        _hand_over(folder, table, plan.schema)
        return _process(folder, lock, plan)


@dataclass(frozen=True, kw_only=True)
class FoundRun:
    """A run of a project that this dashboard does not know, as its folder describes it."""

    job: Job[Plan]
    name: str
    public: bool
    asset: AssetConfig | None
    seed: int


def find(key: str) -> FoundRun | None:
    """The last run of a project, under way or ended, from its folder; None where there is none.

    Raises:
        AccessError: in a session without the key.
    """
    access.require()
    folder = folders.newest(key)
    if folder is None:
        return None
    try:
        about = folders.description(folder)
        config = configs.load(folder / folders.CONFIG)
        dag = None if config.table.dag is None else formats.read(config.table.dag)
        plan = design(
            Brief(
                schema_file.load(config.table.schema),
                config.task,
                config.budget,
                about["n"],
                dag=dag,
                synthesis=config.synthesis,
            )
        )
        seed = folder / folders.SEED
        return FoundRun(
            job=Job(folder=folder, plan=plan, started=about["started"]),
            name=about["name"],
            public=config.table.public,
            asset=config.asset,
            seed=int(seed.read_text()) if seed.is_file() else 1,
        )
    except (PrismError, OSError, ValueError, KeyError, TypeError):
        return None  # half made, or of another version


def learn_graph(
    plan: GraphPlan, table: Rows, asset: AssetConfig | None, seed: int
) -> Job[GraphPlan]:
    """Start learning a blanket, as `prism learn-dag` does it.

    Spends: `plan.spent`, in the process that is started, after the ledger is charged.
    """
    config = RunConfig(
        table=TableConfig(
            train=Path(folders.CODES), schema=Path(folders.SCHEMA), public=table.public
        ),
        task=Task(target=plan.target, regime="graphical"),
        budget=Budget(epsilon=plan.epsilon, delta=plan.delta, above_limit=plan.above_limit),
        asset=asset,
        graph=GraphConfig(share=plan.share, members=plan.members),
    )
    with folders.claimed() as (folder, lock):
        files.put(folder / folders.SCHEMA, schema_file.dumps(plan.schema))
        folders.describe(folder, "graph", plan_sha256=plan.hash)
        _describe(folder, config, seed)
        _hand_over(folder, table, plan.schema)
        return _process(folder, lock, plan)


def compare(
    plan: ComparatorPlan | ExternalPlan, table: Rows, asset: AssetConfig | None, seed: int
) -> Job[ComparatorPlan | ExternalPlan]:
    """Start a comparator, as `prism comparator` does it.

    Spends: `plan.spent`, in the process that is started, after the ledger is charged; nothing
    on public rows. Another package is refused there on private rows.
    """
    config = RunConfig(
        table=TableConfig(
            train=Path(folders.CODES), schema=Path(folders.SCHEMA), public=table.public
        ),
        task=Task(target=plan.schema.names[0]),  # a configuration needs one; nobody looks at it
        budget=Budget(epsilon=plan.epsilon, delta=plan.delta),
        asset=asset,
    )
    with folders.claimed() as (folder, lock):
        files.put(folder / folders.SCHEMA, schema_file.dumps(plan.schema))
        folders.describe(folder, "comparator", comparator=plan.to_dict() | {"plan": plan.hash})
        _describe(folder, config, seed)
        _hand_over(folder, table, plan.schema)
        return _process(folder, lock, plan)


def rehearse(rehearsal: Rehearsal, stand_in: StandIn) -> Job[Rehearsal]:
    """Start a rehearsal on public rows. Its points are kept in the workspace as they come."""
    with folders.claimed() as (folder, lock):
        save_stand_in(stand_in, folder)
        folders.describe(folder, "rehearsal", rehearsal=rehearsal.to_dict())
        return _process(folder, lock, rehearsal)


def start_story(story: Story) -> Job[Story]:
    """Start the small run of a story. Its rows are public: nothing is spent.

    Raises:
        TableError: when the file of its rows is missing.
    """
    # Raises here, where the page can still say it, and not in the process.
    story.asked()
    with folders.claimed() as (folder, lock):
        folders.describe(folder, "story", story=story.name)
        return _process(folder, lock, story)


def story_outcomes(job: Job[Story]) -> tuple[Told, ...]:
    """The runs of a story that have ended so far."""
    from prism_core.reproduction import RunOutcome as Run

    try:
        text = (job.folder / folders.TOLD).read_text(encoding="utf-8")
    except OSError:
        return ()
    whole = text[: text.rfind("\n") + 1]  # the last line may be half written
    return tuple(Run.from_dict(json.loads(line)) for line in whole.splitlines())


def _hand_over(folder: Path, table: Rows, schema: Schema) -> None:
    """The rows as a plan's schema has them, in files for this user only, or where they stand."""
    assert isinstance(table, EncodedTable | StoredTable), "the rows of a page came home"
    if schema.contribution.single:
        table = table.one_row_each
    if isinstance(table, StoredTable):
        files.put(folder / folders.STORED, json.dumps(to_dict(table)))
        return
    parts: dict[str, NDArray[np.signedinteger]] = {
        folders.CODES: table.on_fine_grid().codes
    }  # with what coarsening looks at
    if table.person is not None:
        parts[folders.PERSON] = table.person
    for name, numbers in parts.items():
        with files.new(folder / name) as file:  # deleted by the run as soon as it is read
            np.save(file, numbers, allow_pickle=False)


def learn(
    plan: DomainPlan,
    raw: RawTable | BigTable,
    asset: AssetConfig | None,
    seed: int,
    *,
    delta_share: float,
    public: bool,
) -> Job[DomainPlan]:
    """Start learning a domain, as `prism learn-domain` does it.

    Spends: `plan.spent`, in the process that is started, after the ledger is charged.

    Args:
        plan: what will be learned.
        raw: the rows; the columns that the plan needs are handed on, or what their database counts
            here.
        asset: what is charged; None for public rows only.
        seed: of the noise, for public rows only.
        delta_share: with which the plan was made.
        public: whether the rows are public.
    """
    outline = plan.outline
    names = [column.name for column in outline.columns]
    config = RunConfig(
        table=TableConfig(train=Path(folders.ROWS), schema=Path(folders.OUTLINE), public=public),
        task=Task(target=names[0]),  # a configuration needs one; learning does not look at it
        budget=Budget(epsilon=plan.epsilon, delta=plan.delta, above_limit=plan.above_limit),
        asset=asset,
        domain=DomainConfig(share=plan.share, delta_share=delta_share),
    )
    counts = countable(plan, raw)
    with folders.claimed() as (folder, lock):
        folders.describe(folder, "domain", plan_sha256=plan.hash)
        files.put(folder / folders.OUTLINE, dumps_outline(outline))
        _describe(folder, config, seed)
        # Deleted by the run as soon as it is read.
        if isinstance(counts, RawTable):
            person = [] if outline.person_id is None else [outline.person_id]
            with files.new(folder / folders.ROWS) as file:
                counts.frame[[*names, *person]].to_parquet(file, index=False)
        else:
            with files.new(folder / folders.COUNTS) as file:
                file.write(domain_counts.dumps(counts).encode())
        return _process(folder, lock, plan)


def _process(folder: Path, lock: int, plan: AnyPlan) -> Job[AnyPlan]:
    """Start the folder's process, which holds the lock from its first moment to its last."""
    # Before the process, which reads whom the ledger names.
    if identity.hosted():
        person = identity.current()
        names = {"subject": person.subject, "who": person.who}
        files.put(folder / folders.WHO, json.dumps(names))
    # JAX looks for accelerators unless it is told not to.
    quiet = {**os.environ, "PYTHONWARNINGS": "ignore", "JAX_PLATFORMS": "cpu"}
    quiet.pop(machine_key.VARIABLE, None)  # other packages may run there
    limits = configuration.limits()
    queued = limits.workers is not None or limits.memory_gb is not None
    if queued:
        files.put(folder / WAITING, "")
    process = subprocess.Popen(
        python("-m", f"dashboard.jobs.{'queue' if queued else 'child'}", folder),
        stdin=subprocess.DEVNULL,
        # A pipe that nobody reads would fill up and stop the run.
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=quiet,
        # Ctrl-C in the terminal of the dashboard must not end a run that may be paid for.
        start_new_session=True,
        pass_fds=(lock,),
    )
    files.put(folder / PROCESS, json.dumps({"pid": process.pid}))
    return Job(folder=folder, plan=plan, started=time.time(), process=process)


def _describe(folder: Path, config: RunConfig, seed: int) -> None:
    if not config.table.public:
        access.require()  # it will be charged, and signed; every such process is described here
    files.put(folder / folders.CONFIG, configs.dumps(config))
    if config.table.public:
        files.put(folder / folders.SEED, str(seed))
