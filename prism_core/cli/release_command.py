"""`prism release`, and `prism recover` for what was paid for and could not be written."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.cli.common import (
    account_and_rows,
    add_limit_option,
    add_said,
    add_seed_option,
    add_workspace_option,
    check_seed,
    emit,
    said_of,
    say_unchecked,
    say_warnings,
    within_limit,
)
from prism_core.cli.what_if import PlanInputs, considered
from prism_core.planning.wishes.task import OPTIONS

if TYPE_CHECKING:
    import argparse

    from prism_core.bundle.protocol.approval_file import ApprovedPlan
    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.config import RunConfig
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.synthesis.release import Release

MOST_CHANGES = 12
"""Changed entries that a refusal lists."""


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `release` and `recover` to the program's commands."""
    release = commands.add_parser("release", help="measure, fit and write synthetic rows")
    release.add_argument("config", type=Path, metavar="CONFIG.toml")
    release.add_argument("--out", type=Path, required=True, metavar="DIR")
    add_seed_option(release)
    add_workspace_option(release)
    release.add_argument(
        "--what-if",
        type=Path,
        metavar="FILE.toml",
        help="scenarios that were considered, as for `prism plan`; written beside the release",
    )
    engine = OPTIONS["synthesis.engine"]
    release.add_argument("--engine", choices=tuple(engine.choices), help=engine.help)
    release.add_argument(
        "--replace", action="store_true", help="put this run in the place of the one in DIR"
    )
    add_limit_option(release)
    release.add_argument(
        "--protocol",
        type=Path,
        metavar="FILE.json",
        help="the approval that `prism approve` wrote; another plan is refused",
    )
    add_said(release, asset="--data-asset")
    release.set_defaults(run=_release)
    release.add_argument("--json", action="store_true", help="print JSON")
    recover = commands.add_parser(
        "recover", help="write what was paid for and could not be written; spends nothing"
    )
    recover.add_argument("charge", type=int, metavar="CHARGE", help="its number in the ledger")
    recover.add_argument("--out", type=Path, required=True, metavar="PATH")
    add_workspace_option(recover)
    recover.set_defaults(run=_recover)
    recover.add_argument("--json", action="store_true", help="print JSON")


def _release(arguments: argparse.Namespace) -> None:
    from prism_core.planning.wishes import config as configs
    from prism_core.synthesis.engine.cache import load_meanwhile

    config = within_limit(configs.load(arguments.config), arguments)
    # A wish like others, so it stands in the plan and in run.toml.
    if arguments.engine is not None:
        config = replace(config, synthesis=replace(config.synthesis, engine=arguments.engine))
    load_meanwhile(config.synthesis)  # before the other imports, which take as long

    from prism_core.bundle.write import bundle_folder
    from prism_core.planning.asked_marginals import asked_marginals
    from prism_core.runs.charged_release import run_release
    from prism_core.runs.inputs import gather, plan_for

    said, public = config.statement.over(said_of(arguments)), config.table.public
    check_seed(arguments.seed, public=public)
    # Before any row is read: that the folder cannot be written must not come out at the end.
    bundle_folder.check_out_folder(arguments.out, again=arguments.replace)
    inputs = gather(config, arguments.workspace)
    plan = plan_for(config, inputs)
    say_warnings(plan.warnings)
    scenarios: list[tuple[Scenario, Plan]] = []
    if arguments.what_if is not None:  # before anything is spent
        facts = PlanInputs(schema=inputs.schema, dag=inputs.dag, n=inputs.n)
        scenarios = considered(arguments.what_if, config, facts)
    approved = _approval_for(
        arguments.protocol, plan, config.asset.name if config.asset else "", arguments.workspace
    )
    if approved is not None:
        said = approved.stated(said)
    say_unchecked(inputs.schema.looks, public=public)
    account, table = account_and_rows(
        config, inputs, plan, plan.prior, arguments, asked=asked_marginals(plan)
    )
    made = run_release(
        plan,
        table,
        arguments.out,
        account,
        approval=None if approved is None else approved.approval,
        scenarios=scenarios,
        # For local.json, which stays on this machine and is never handed over.
        local={
            "config": str(arguments.config.resolve()),
            "separator": config.table.separator,
            "train": _place(config),
            "encoding": config.table.encoding,
        },
        said=said,
        workspace=arguments.workspace,
        again=arguments.replace,
    )
    _emit_release(arguments, made)


def _emit_release(arguments: argparse.Namespace, made: Release) -> None:
    document = {
        "out": str(arguments.out),
        "rows": len(made.table),
        # S as it came out: chosen privately in the predictive regime, else by the graph.
        "selected": list(made.plan.s),
        "epsilon": made.plan.budget.epsilon,
        "delta": made.plan.delta,
        "seconds": round(made.seconds),
        "stamp": made.stamp,
        "warnings": list(made.plan.warnings),
    }
    text = (
        f"{made.stamp}: {len(made.table):,} rows in {arguments.out} (epsilon "
        f"{made.plan.budget.epsilon:g}, delta {made.plan.delta:.3g})"
    )
    emit(arguments, document, text)


def _recover(arguments: argparse.Namespace) -> None:
    from prism_core.privacy.ledger import default_workspace
    from prism_core.runs.charged_release import recover

    recover(arguments.workspace or default_workspace(), arguments.charge, arguments.out)
    document = {"out": str(arguments.out), "charge": arguments.charge}
    emit(arguments, document, f"charge {arguments.charge}: written to {arguments.out}")


def _place(config: RunConfig) -> str:
    """Where the training rows stand, for this machine; without a password."""
    train = config.table.train
    return str(train.resolve()) if isinstance(train, Path) else str(train)


def _approval_for(
    path: Path | None, plan: Plan, asset: str, workspace: Path | None
) -> ApprovedPlan | None:
    """The approval that a release was given, after checking that it is of this plan.

    Raises:
        PlanError: when another plan or other settings were approved; what changed is said on
            standard error.
        PrivacyError: when the workspace asks for one and none was given.
    """
    from prism_core.bundle.protocol import approval_file
    from prism_core.privacy.ledger import default_workspace
    from prism_core.runs.step_account import checked_approval

    found = None if path is None else approval_file.load(path)
    # The error that follows names one change; the curator needs to see all of them.
    if found is not None and not found.covers(plan, asset):
        _say_changes(found, plan)
    checked_approval(found, plan, asset, (workspace or default_workspace()) if asset else None)
    return found


def _say_changes(found: ApprovedPlan, plan: Plan) -> None:
    changes = found.changes(plan)
    for change in changes[:MOST_CHANGES]:
        text = f"{change.what}: approved {_short(change.approved)}, now {_short(change.now)}"
        sys.stderr.write(f"prism: changed since the approval: {text}\n")
    if len(changes) > MOST_CHANGES:
        sys.stderr.write(f"prism: ... and {len(changes) - MOST_CHANGES} more\n")


def _short(value: object) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:79]}…"
