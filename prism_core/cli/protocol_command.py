"""`prism protocol` and `prism approve`: a plan before a committee, and what it decided."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.cli.common import (
    add_language_option,
    add_limit_option,
    add_workspace_option,
    emit,
    rehearsal_from,
    say_unchecked,
    say_warnings,
    within_limit,
)
from prism_core.cli.what_if import add_persons_option, plan_inputs
from prism_core.errors import ConfigError
from prism_core.text import untrusted
from prism_core.text.languages import language

if TYPE_CHECKING:
    import argparse

    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.config import RunConfig
    from prism_core.privacy.ledger import Balance
    from prism_core.privacy.ledger.charging import Owed
    from prism_core.privacy.ledger.records import Charge


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add both to the program's commands."""
    protocol = commands.add_parser(
        "protocol", help="write what a committee approves before anything is spent; reads no row"
    )
    protocol.add_argument("config", type=Path, metavar="CONFIG.toml")
    protocol.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="FILE",
        help=".pdf, .docx, .html or .md for reading, .json for `prism approve`",
    )
    protocol.add_argument(
        "--draft",
        action="store_true",
        help="write it although [statement] has blanks; it is stamped as a draft",
    )
    protocol.add_argument(
        "--rehearsal",
        type=Path,
        metavar="FILE",
        help="what `prism rehearse --json` printed, to be shown with it",
    )
    add_language_option(protocol)
    add_persons_option(protocol)
    add_workspace_option(protocol)
    add_limit_option(protocol)
    protocol.add_argument("--json", action="store_true", help="print JSON")
    protocol.set_defaults(run=_protocol)
    approve = commands.add_parser(
        "approve", help="record who approved a protocol, for `prism release --protocol`"
    )
    approve.add_argument("protocol", type=Path, metavar="PROTOCOL.json")
    approve.add_argument("--by", required=True, metavar="NAMES", help="who approved")
    approve.add_argument("--role", required=True, metavar="ROLE", help="for example a committee")
    approve.add_argument("--date", required=True, metavar="YYYY-MM-DD", help="of the decision")
    approve.add_argument("--out", type=Path, required=True, metavar="FILE.json")
    approve.add_argument("--json", action="store_true", help="print JSON")
    approve.set_defaults(run=_approve)


def _protocol(arguments: argparse.Namespace) -> None:
    from prism_core.bundle.protocol import protocol
    from prism_core.planning.design import design
    from prism_core.planning.wishes import config as configs

    config = within_limit(configs.load(arguments.config), arguments)
    facts = plan_inputs(config, arguments)
    plan = design(facts.brief(config))
    say_unchecked(facts.schema.looks, public=config.table.public)
    say_warnings(plan.warnings)
    asset = config.asset
    balance, charges, earlier = _standing(config, plan, arguments.workspace)
    made = protocol.Protocol(
        plan=plan,
        asset=asset.name if asset else "",
        statement=config.statement,
        balance=balance,
        charges=charges,
        owed=earlier,
        rehearsal=rehearsal_from(arguments.rehearsal),
        language=language(arguments.language),
    )
    protocol.write_protocol(made, arguments.out, draft=arguments.draft)
    # After the file: a protocol without a rehearsal is one all the same.
    if not (made.rehearsed or config.table.public):
        sys.stderr.write(f"prism: note: {_unrehearsed(arguments.config, plan)}\n")
    document = {
        "out": str(arguments.out),
        "plan_sha256": plan.hash,
        "warnings": list(plan.warnings),
        "blank": list(made.statement.blank),
        "rehearsed": made.rehearsed,
    }
    kind = "draft of the protocol" if made.draft else "protocol"
    text = f"{kind} of plan {plan.hash[:12]} in {arguments.out}; nothing was spent"
    emit(arguments, document, text)


def _unrehearsed(config: Path, plan: Plan) -> str:
    """What to do about a protocol that does not say how useful the rows would be."""
    return (
        "no rehearsal at this epsilon is in it, and a committee sends such a protocol back. Run "
        f"prism rehearse {config} --epsilon {plan.budget.epsilon:g} --json > rehearsed.json, and "
        "add --rehearsal rehearsed.json."
    )


def _standing(
    config: RunConfig, plan: Plan, workspace: Path | None
) -> tuple[Balance | None, tuple[Charge, ...], Owed | None]:
    """What the asset has left, its charges, and learning that it still owes; writes nothing."""
    from prism_core.privacy.ledger import default_workspace
    from prism_core.privacy.ledger.charging import asset_balance, owed

    if config.asset is None or config.table.public:
        return None, (), None
    ledger, balance = asset_balance(config.asset, plan.delta, workspace or default_workspace())
    charges = () if ledger is None else ledger.charges(config.asset.name)
    return balance, charges, owed(ledger, config.asset.name, plan.prior)


def _approve(arguments: argparse.Namespace) -> None:
    from prism_core.bundle.protocol import approval_file

    text = untrusted.read_text(arguments.protocol, untrusted.APPROVAL)
    found = approval_file.approve(text, by=arguments.by, role=arguments.role, date=arguments.date)
    try:
        files.give(arguments.out, found.dumps().encode("utf-8"))
    except OSError:
        raise ConfigError(
            f"The file {arguments.out.name!r} cannot be written.", field="out"
        ) from None
    document = {"out": str(arguments.out), **found.approval.to_dict()}
    said = f"{found.approval.sentence}: plan {found.approval.plan_sha256[:12]}, in {arguments.out}"
    emit(arguments, document, said)
