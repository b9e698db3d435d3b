"""`python -m dashboard.jobs.child FOLDER`: one piece of work in a process of its own.

The folder holds job.json, which names the kind of work, and what that kind needs: config.toml and
schema.yaml, perhaps dag.json, and the training codes; for a domain outline.yaml and the rows; for a
rehearsal public rows. Each charged kind is one function of `prism_core.runs`. Codes and rows are
deleted as soon as they are read; what a crash before that leaves is swept when the dashboard
starts. Nothing that is written here but the result depends on the rows.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboard.jobs.folders import (
    APPROVAL,
    CODES,
    CONFIG,
    COUNTS,
    GRAPH,
    OUTCOME,
    PERSON,
    RESULT,
    ROWS,
    SAID,
    SCENARIOS,
    SCHEMA,
    SEED,
    STORED,
    TOLD,
    WHO,
    description,
    forget,
    keep_result,
)
from dashboard.jobs.progress import NotedLedger, RunProgress, write_json
from prism_core import files
from prism_core.bundle.protocol import approval_file
from prism_core.data.encoding import from_fine
from prism_core.data.engines.stored_table import from_dict
from prism_core.data.schema import schema_file
from prism_core.data.tables.raw_table import read_table
from prism_core.errors import CancelledError, PlanError, PrismError
from prism_core.hosting import committee, configuration
from prism_core.learning.domain import domain_counts
from prism_core.learning.domain.domain_counts import StoredCounts
from prism_core.learning.domain.outline_io import load_outline
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes import config as configs
from prism_core.planning.wishes import scenario_files
from prism_core.planning.wishes.curator_statement import CuratorStatement, statement_from
from prism_core.privacy.ledger.ledger import Ledger, default_workspace
from prism_core.rehearsal import FOLDER, PointStore, Rehearsal, run_rehearsal
from prism_core.rehearsal.stand_in_rows import load as load_stand_in
from prism_core.runs.charged_learning import (
    domain_plan,
    graph_plan,
    run_learn_domain,
    run_learn_graph,
)
from prism_core.runs.charged_release import run_release
from prism_core.runs.step_account import StepAccount, checked_approval, open_account, step_rng
from prism_core.structure import formats
from prism_core.synthesis.engine.cache import load_meanwhile

if TYPE_CHECKING:
    from collections.abc import Callable

    from prism_core.comparators import ComparatorResult
    from prism_core.data.schema.schema import Schema
    from prism_core.data.source import Rows
    from prism_core.planning.approval import Approval
    from prism_core.planning.plan import Plan
    from prism_core.planning.step_plan import StepPlan
    from prism_core.planning.wishes.config import RunConfig
    from prism_core.planning.wishes.scenario import Scenario

_OUTCOME_BYTES = 16 * 1024
_TOO_LARGE = (
    "The run needs more memory than there is, or than a run may take on this server. If a charge "
    "was written, it stands. Plan fewer columns together, or ask whoever runs the server "
    "(memory_gb under [runs] in the hosting file)."
)


def main(folder: Path) -> None:
    """Run the job of a folder and write its outcome."""
    os.umask(0o077)
    # Ends the work wherever it is; a release sets another one before it is charged.
    signal.signal(signal.SIGTERM, _cancel)
    room = _room(folder)
    try:
        made = _KINDS[description(folder)["kind"]](folder)
        outcome: dict[str, Any] = {"state": "done", **made}
    except CancelledError as error:
        outcome = {"state": "cancelled", "message": str(error)}
    except PrismError as error:
        outcome = {"state": "failed", "message": str(error)}
    except MemoryError:
        outcome = {"state": "failed", "message": _TOO_LARGE}
    except Exception as error:  # noqa: BLE001  (its text could hold a value; its type cannot)
        outcome = {
            "state": "failed",
            "message": f"The run stopped for an unexpected reason ({type(error).__name__}). If a "
            "charge was written, it stands.",
        }
    finally:
        forget(folder)
    if room is None:
        write_json(folder / OUTCOME, outcome)
    else:
        files.fill(room, folder / OUTCOME, json.dumps(outcome).encode())


def _room(folder: Path) -> Path | None:
    """Room for the outcome, so that a disk that fills up meanwhile does not leave it unsaid."""
    try:
        return files.reserve(folder, _OUTCOME_BYTES)
    except OSError:
        return None


def _cancel(*_: object) -> None:
    raise CancelledError("The run was cancelled.")


def _release(folder: Path) -> dict[str, Any]:
    teller = RunProgress(folder)
    teller.log("The process has started.")
    try:
        made = _released(folder, teller)
    # Whatever ends the run: its log is to say so.
    except BaseException as error:
        known = isinstance(error, PrismError)  # their words hold no private value
        teller.log(f"Stopped: {error if known else type(error).__name__}")
        raise
    teller.log("Done.")
    return made


def _released(folder: Path, teller: RunProgress) -> dict[str, Any]:
    config = configs.load(folder / CONFIG)
    schema = schema_file.load(config.table.schema)
    dag = None if config.table.dag is None else formats.read(config.table.dag)
    # In the background: loading the engine and reading the rows both take their time.
    load_meanwhile(config.synthesis)
    table = _rows(folder, schema, public=config.table.public)
    plan = design(
        Brief(schema, config.task, config.budget, table.people, dag=dag, synthesis=config.synthesis)
    )
    _check_plan(folder, plan)
    teller.log(f"Plan {plan.hash}: {len(plan.queries)} marginals known, n = {plan.n}.")
    considered = _considered(folder, plan)  # before anything is charged
    said = _said(folder)
    approval = _approval(folder, plan, config.asset.name if config.asset else "")
    ledger = None if config.table.public else NotedLedger(teller, folder, who=_who(folder))
    account = _account(folder, config, plan.delta, ledger)
    # From here on a charge may be being written, and stopping has to wait for it.
    signal.signal(signal.SIGTERM, teller.cancel)
    made = run_release(
        plan,
        table,
        folder / RESULT,
        account,
        progress=teller,
        approval=approval,
        scenarios=considered,
        said=said,
    )
    return {"rows": len(made.table), "stamp": made.stamp, "charge": made.charge}


def _check_plan(folder: Path, plan: StepPlan) -> None:
    """What was confirmed on the page is what is run, and its rows were remembered for its hash."""
    if description(folder)["plan_sha256"] != plan.hash:
        raise PlanError("The plan is not the one that was confirmed. Nothing was run.")


def _approval(folder: Path, plan: Plan, asset: str) -> Approval | None:
    """The approval that goes with the run, None where nobody was asked.

    Raises:
        PlanError: when another plan, other settings, another asset or other words were approved,
            or in the hosted form the committee's room did not give it.
        PrivacyError: when the workspace asks for one and there is none.
    """
    path = folder / APPROVAL
    found = approval_file.load(path) if path.is_file() else None
    hosting = configuration.current()
    if hosting is not None and found is not None and asset:
        committee.confirm(found, default_workspace(), hosting, _who(folder, "subject"))
    if found is not None:
        found.stated(_said(folder))
    return checked_approval(found, plan, asset, default_workspace() if asset else None)


def _said(folder: Path) -> CuratorStatement:
    """Who releases what for which purpose, as it was entered before the run."""
    path = folder / SAID
    return (
        statement_from(json.loads(path.read_text(encoding="utf-8")))
        if path.is_file()
        else CuratorStatement()
    )


def _considered(folder: Path, plan: Plan) -> list[tuple[Scenario, Plan]]:
    """Other designs for the same table, each with its plan; a design is public."""
    path = folder / SCENARIOS
    scenarios = scenario_files.load(path) if path.is_file() else ()
    return [
        (each, design(plan.brief.with_wishes(each.task, each.budget, each.synthesis)))
        for each in scenarios
    ]


def _learn_domain(folder: Path) -> dict[str, Any]:
    config = configs.load(folder / CONFIG)
    outline = load_outline(config.table.schema)
    counted = folder / COUNTS
    if counted.is_file():
        raw = domain_counts.loads(counted.read_text(encoding="utf-8"))
    else:
        raw = read_table(folder / ROWS)
    # In memory now: on disk they are not needed a moment longer.
    forget(folder)
    plan = domain_plan(config, outline, raw.n if isinstance(raw, StoredCounts) else raw.rows)
    _check_plan(folder, plan)
    account, out = _account(folder, config, plan.delta), folder / RESULT / SCHEMA
    found = run_learn_domain(plan, raw, out, account, public=config.table.public)
    return {"epsilon": found.spent.epsilon, "stamp": found.stamp, "charge": found.charge}


def _learn_graph(folder: Path) -> dict[str, Any]:
    config = configs.load(folder / CONFIG)
    schema = schema_file.load(config.table.schema)
    table = _rows(folder, schema, public=config.table.public)
    plan = graph_plan(config, schema, table.people)
    _check_plan(folder, plan)
    account = _account(folder, config, plan.delta)
    found = run_learn_graph(plan, table, folder / RESULT / GRAPH, account)
    return {"members": list(found.members), "stamp": found.stamp, "charge": found.charge}


def _compare(folder: Path) -> dict[str, Any]:
    from prism_core.comparators import design_comparator
    from prism_core.comparators.external import EXTERNAL
    from prism_core.runs.charged_comparator import run_charged_comparator

    config = configs.load(folder / CONFIG)
    schema = schema_file.load(config.table.schema)
    about = description(folder)["comparator"]
    table = _rows(folder, schema, public=config.table.public)
    if about["method"] in EXTERNAL:
        return _compare_external(folder, about, table)
    plan = design_comparator(
        about["method"],
        schema,
        table.people,
        about["epsilon"],
        about["delta"],
        degree=about["degree"],
        rows=about["rows"],
        above_limit=about.get("above_limit"),
    )
    if about["plan"] != plan.hash:
        raise PlanError("The comparator is not the one that was confirmed. Nothing was run.")

    def keep(result: ComparatorResult) -> None:
        if result.charge is not None:  # paid for: it stays, whoever is there to take it
            keep_result(folder / RESULT, f"charge-{result.charge}")

    account = _account(folder, config, plan.delta)
    made = run_charged_comparator(plan, table, folder / RESULT, account, written=keep)
    return {"stamp": made.stamp, "charge": made.charge}


def _compare_external(folder: Path, about: dict[str, Any], table: Rows) -> dict[str, Any]:
    """Another package, on public rows; private ones are refused unread."""
    from prism_core.comparators.external import design_external
    from prism_core.runs.charged_comparator import run_external_comparator

    plan = design_external(
        about["method"],
        table.schema,
        table.people,
        about["epsilon"],
        about["delta"],
        rows=about["rows"],
    )
    if about["plan"] != plan.hash:
        raise PlanError("The comparator is not the one that was entered. Nothing was run.")
    made = run_external_comparator(plan, table, folder / RESULT, step_rng(_seed(folder)))
    return {"stamp": made.document()["stamp"], "charge": None}


def _rehearse(folder: Path) -> dict[str, Any]:
    rehearsal = Rehearsal.from_dict(description(folder)["rehearsal"])
    points = 0
    # The store keeps each point as it comes, so that a stop loses none.
    for _ in run_rehearsal(
        rehearsal, load_stand_in(folder), kept=PointStore(default_workspace() / FOLDER)
    ):
        points += 1
    return {"points": points}


def _tell(folder: Path) -> dict[str, Any]:
    """The runs of a story, a line each as they come; public rows, so nothing is charged."""
    from prism_core.reproduction import story

    ended = 0
    for outcome in story(description(folder)["story"]).run():
        # Not synced: the rows are public, and the runs can be made again.
        files.append(folder / TOLD, f"{json.dumps(outcome.to_dict())}\n".encode(), sync=False)
        ended += 1
    return {"runs": ended}


def _seed(folder: Path) -> int | None:
    """The seed of known noise, None where the rows are private."""
    seed = folder / SEED
    return int(seed.read_text()) if seed.is_file() else None


def _who(folder: Path, entry: str = "who") -> str:
    """Whom the ledger names, or the subject of that; "" for the user of this machine."""
    path = folder / WHO
    return json.loads(path.read_text(encoding="utf-8"))[entry] if path.is_file() else ""


def _account(
    folder: Path, config: RunConfig, delta: float, ledger: Ledger | None = None
) -> StepAccount:
    """Who is charged, and with which noise; nobody for public rows."""
    who = _who(folder)
    if ledger is None and who and config.asset is not None and not config.table.public:
        ledger = Ledger(who=who)
    return open_account(
        config.asset, delta, public=config.table.public, seed=_seed(folder), ledger=ledger
    )


def _rows(folder: Path, schema: Schema, *, public: bool) -> Rows:
    """The training rows: their codes on the fine grid, or where the dashboard keeps these."""
    stored = folder / STORED
    if stored.is_file():
        return from_dict(json.loads(stored.read_text(encoding="utf-8")), schema, public=public)
    # Read whole, not mapped, because the files go at once. No pickle: it could run code.
    codes = np.load(folder / CODES, allow_pickle=False)
    person = None
    if not schema.contribution.single:
        person = np.load(folder / PERSON, allow_pickle=False)
    forget(folder)
    return from_fine(schema, codes, public=public, person=person)


_KINDS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "release": _release,
    "domain": _learn_domain,
    "graph": _learn_graph,
    "comparator": _compare,
    "rehearsal": _rehearse,
    "story": _tell,
}


if __name__ == "__main__":
    os.umask(0o077)  # for the results, too, which are written as they are anywhere else
    main(Path(sys.argv[1]))
