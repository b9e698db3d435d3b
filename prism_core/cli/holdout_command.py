"""`prism holdout open|ask|status`: questions to the rows kept aside, within one budget."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.cli import holdout_rows
from prism_core.cli.common import (
    above_limit,
    add_limit_option,
    check_seed,
    emit,
    say_unchecked,
    say_warnings,
)
from prism_core.errors import ConfigError
from prism_core.text.numbers import count_text

if TYPE_CHECKING:
    import argparse

    from prism_core.bundle.write.bundle_folder import BundleFolder
    from prism_core.data.encoding import EncodedTable
    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.tables.raw_table import RawTable
    from prism_core.evaluation.inside_epsilon.holdout_state import Session

_METRICS = ("accuracy", "log_loss")


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `holdout` to the program's commands."""
    holdout = commands.add_parser(
        "holdout", help="ask the rows kept aside again and again, within one charge"
    )
    ways = holdout.add_subparsers(required=True, metavar="WHAT")
    for command in (_add_open(ways), _add_ask(ways), _add_status(ways)):
        command.add_argument(
            "--workspace",
            type=Path,
            metavar="DIR",
            help="folder of the ledger and the sessions (default ~/.prism)",
        )
        command.add_argument("--json", action="store_true", help="print JSON")


def _add_open(ways: Any) -> argparse.ArgumentParser:  # noqa: ANN401
    command = ways.add_parser("open", help="charge a session in full, and open it")
    command.add_argument("dir", type=Path, metavar="DIR", help="folder of a run")
    command.add_argument("--holdout", required=True, metavar="TABLE")
    command.add_argument("--epsilon", type=float, required=True, help="of the whole session")
    command.add_argument("--delta", type=float, help="likewise (default: the run's)")
    command.add_argument(
        "--answers",
        type=int,
        default=10,
        metavar="N",
        help="answers that may come from the rows kept aside (default 10)",
    )
    command.add_argument(
        "--tolerance",
        type=float,
        default=0.04,
        metavar="SHARE",
        help="how far both sides may be apart and still agree, as a share of the metric's range "
        "(default 0.04)",
    )
    command.add_argument("--questions", type=int, metavar="N", help="most questions (no limit)")
    command.add_argument("--asset", metavar="NAME", help="an asset of the ledger to charge")
    command.add_argument("--seed", type=int, metavar="N", help="known noise: public holdouts only")
    command.add_argument(
        "--holdout-public",
        action="store_true",
        help="the holdout's rows are public; nobody is charged for them",
    )
    command.add_argument(
        "--although-charged",
        action="store_true",
        help="these public rows are public although they were charged here before",
    )
    add_limit_option(command)
    command.set_defaults(run=_open)
    return command


def _add_ask(ways: Any) -> argparse.ArgumentParser:  # noqa: ANN401
    command = ways.add_parser("ask", help="how well a model made from synthetic rows does")
    command.add_argument("session", type=int, metavar="SESSION")
    command.add_argument("--metric", choices=_METRICS, default=_METRICS[0])
    command.add_argument("--learner", metavar="NAME", help="default: logistic_onehot")
    command.add_argument(
        "--feature",
        action="append",
        metavar="COLUMN",
        help="learn from this column; more than once for several (default: from all)",
    )
    command.add_argument("--run", type=Path, dest="dir", metavar="DIR", help="where it is now")
    command.add_argument("--holdout", metavar="TABLE", help="where the same rows are now")
    command.set_defaults(run=_ask)
    return command


def _add_status(ways: Any) -> argparse.ArgumentParser:  # noqa: ANN401
    command = ways.add_parser("status", help="answers given and left; reads no row")
    command.add_argument("session", type=int, nargs="?", metavar="SESSION")
    command.set_defaults(run=_status)
    return command


def _open(arguments: argparse.Namespace) -> None:
    """Spends what `design_holdout` plans, charged before the first noise is drawn."""
    from prism_core.bundle import manifest
    from prism_core.bundle.write import bundle_folder
    from prism_core.evaluation.inside_epsilon.holdout import status
    from prism_core.evaluation.inside_epsilon.holdout_plan import design_holdout
    from prism_core.runs.charged_evaluation import run_open_holdout
    from prism_core.runs.finished_run import synthetic_rows

    folder = bundle_folder.read(arguments.dir)
    # Before the charge: a session on a changed folder would be paid for and worthless.
    manifest.check_manifest(folder.path, signed=holdout_rows.was_charged(folder))
    config = holdout_rows.config_of(folder)
    public = holdout_rows.is_public(arguments, folder, config)
    check_seed(arguments.seed, public=public)
    most = above_limit(arguments.epsilon, arguments, public=public)
    # Kept with the session: each of its questions must see the same row of a person.
    key = secrets.token_bytes(32)
    raw = holdout_rows.opened(arguments.holdout, folder, arguments, public=public)
    holdout = _encoded(raw, folder, key, public=public)
    # One row of each person: totals of scores are proven for that alone.
    plan = design_holdout(
        folder.schema.with_one_row(),
        folder.certificate["task"]["target"],
        holdout.n,
        arguments.epsilon,
        holdout_rows.delta_of(folder) if arguments.delta is None else arguments.delta,
        answers=arguments.answers,
        tolerance=arguments.tolerance,
        questions=arguments.questions,
        release=str(folder.certificate.get("plan_sha256", "")),
        above_limit=most,
    )
    say_unchecked(holdout_rows.looks_of(folder, config), public=public)
    say_warnings(plan.warnings)
    session = run_open_holdout(
        plan,
        synthetic_rows(folder),
        holdout,
        _workspace(arguments),
        holdout_rows.account_of_run(arguments, config, plan.delta, public=public),
        key=key,
        local={"run": str(folder.path.resolve()), "holdout": _place(arguments.holdout)},
        remember=raw,
    )
    emit(arguments, status(session), _text(session))


def _ask(arguments: argparse.Namespace) -> None:
    from prism_core.bundle.write import bundle_folder
    from prism_core.evaluation.inside_epsilon import holdout_state
    from prism_core.evaluation.inside_epsilon.holdout import ask_holdout, entry_dict
    from prism_core.evaluation.inside_epsilon.holdout_question import question
    from prism_core.evaluation.tstr.learners import LEARNERS
    from prism_core.runs.finished_run import synthetic_rows

    session = holdout_state.read(_folder(arguments))
    plan = session.plan
    asked = question(
        plan.schema,
        plan.target,
        metric=arguments.metric,
        learner=arguments.learner or LEARNERS[0],
        features=arguments.feature,
    )
    folder = bundle_folder.read(arguments.dir or Path(session.local.get("run", "")))
    place = arguments.holdout or session.local.get("holdout", "")
    # Public rows are asked without a charge, so the session itself says what they were.
    public = session.charge is None
    raw = holdout_rows.opened(place, folder, arguments, public=False)  # asked when it was opened
    holdout = _encoded(raw, folder, session.key, public=public)
    found = ask_holdout(session.place, asked, synthetic_rows(folder), holdout)
    document = entry_dict(found.session, found.entry) | {
        "asked_before": found.again,
        "answers_left": found.session.left,
    }
    lines = [_line(document), f"{found.session.left} of {plan.answers} answers left"]
    if found.again:
        lines.append("asked before: this is the answer that was given then")
    emit(arguments, document, "\n".join(lines))


def _status(arguments: argparse.Namespace) -> None:
    from prism_core.evaluation.inside_epsilon import holdout_state
    from prism_core.evaluation.inside_epsilon.holdout import status

    if arguments.session is not None:
        session = holdout_state.read(_folder(arguments))
        emit(arguments, status(session), _text(session))
        return
    found = [holdout_state.read(p) for p in holdout_state.places(_workspace(arguments))]
    text = "\n".join(_head(session) for session in found) or "no session was opened here"
    emit(arguments, {"sessions": [status(session) for session in found]}, text)


def _encoded(
    raw: RawTable | BigTable, folder: BundleFolder, key: bytes, *, public: bool
) -> EncodedTable:
    """The held-out rows; of a person's several the same one whenever this session asks."""
    import numpy as np

    from prism_core.runs.inputs import encode_holdout

    # From the session's secret: whoever knew which row of a person is kept would know more.
    rng = np.random.default_rng(list(key))
    return encode_holdout(folder.schema.with_one_row(), raw, rng=rng, public=public)


def _workspace(arguments: argparse.Namespace) -> Path:
    from prism_core.privacy.ledger import default_workspace

    return arguments.workspace or default_workspace()


def _folder(arguments: argparse.Namespace) -> Path:
    from prism_core.evaluation.inside_epsilon import holdout_state

    place = _workspace(arguments) / holdout_state.FOLDER / str(arguments.session)
    if place not in holdout_state.places(_workspace(arguments)):
        raise ConfigError(
            f"There is no session {arguments.session} in this workspace. `prism holdout status` "
            "lists those there are.",
            field="session",
        )
    return place


def _place(text: str) -> str:
    """Where the held-out rows stand, for this machine; without a password."""
    from prism_core.runs.inputs import address

    found = address(text)
    return str(found.resolve()) if isinstance(found, Path) else found.shown


def _head(session: Session) -> str:
    plan = session.plan
    charge = "not charged: public rows" if session.charge is None else f"charge {session.charge}"
    return (
        f"session {session.name} ({charge}): epsilon {plan.spent.epsilon:.4g}, delta "
        f"{plan.delta:.3g}; {session.left} of {plan.answers} answers left, {session.count} asked"
    )


def _text(session: Session) -> str:
    from prism_core.evaluation.inside_epsilon.holdout import entry_dict

    plan = session.plan
    lines = [
        _head(session),
        f"target {plan.target}, {plan.n:,} rows kept aside, tolerance {plan.tolerance:g}; noise "
        f"(one standard deviation) {plan.comparing_error:.4f} in a comparison, "
        f"{plan.answer_error:.4f} in an answer, as shares of the range",
    ]
    return "\n".join(lines + [_line(entry_dict(session, entry)) for entry in session.entries])


def _line(entry: dict[str, Any]) -> str:
    value = "-" if entry["value"] is None else f"{entry['value']:.4f}"
    # 1.96 standard deviations hold 95% of normal noise.
    noise = f" ± {1.96 * entry['noise_deviation']:.4f}" if entry["noise_deviation"] else ""
    columns = count_text(len(entry["features"]), "column")
    what = f"{entry['metric']}, {entry['learner']}, from {columns}"
    return f"{what}: {value}{noise}  ({entry['source_in_words']})"
