"""The commands `prism ledger list | show | verify | accept | export | key`, and where it is kept.

They read; `accept` alone writes, a note beside the ledger. `init | head | backup | restore |
migrate` carry a whole ledger.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.cli.common import add_workspace_option, emit
from prism_core.errors import LedgerError

if TYPE_CHECKING:
    import argparse

    from prism_core.privacy.ledger import Balance, Charge, Ledger, Verification
    from prism_core.privacy.ledger.transfer import Carried


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `ledger` and its commands to the program's."""
    ledger = commands.add_parser("ledger", help="what was charged to which data asset")
    ways = ledger.add_subparsers(required=True, metavar="COMMAND")
    listed = ways.add_parser("list", help="assets, what is spent and left, and all charges")
    listed.add_argument("--asset", metavar="NAME", help="this asset only")
    listed.set_defaults(run=_list)
    show = ways.add_parser("show", help="one charge with its events, states and corrections")
    show.add_argument("charge", type=int, metavar="NUMBER")
    show.set_defaults(run=_show)
    verify = ways.add_parser("verify", help="check the file, its chain of digests and its figures")
    verify.add_argument(
        "--head",
        default="",
        metavar="DIGEST",
        help="a digest that an earlier verify printed; shows whether entries were cut off since",
    )
    verify.set_defaults(run=_verify)
    accept = ways.add_parser(
        "accept", help="say that an older copy of the ledger was put in place on purpose"
    )
    accept.add_argument("--why", required=True, metavar="TEXT", help="kept, and shown by verify")
    accept.set_defaults(run=_accept)
    export = ways.add_parser("export", help="everything as JSON, for auditors")
    export.add_argument("--out", type=Path, metavar="FILE", help="write there (default: print)")
    export.set_defaults(run=_export)
    key = ways.add_parser("key", help="fingerprint of the key that signs bundles, to hand out")
    key.set_defaults(run=_key)
    for command in (listed, show, verify, accept, export, key):
        command.add_argument(
            "--workspace", type=Path, metavar="DIR", help="folder of the ledger (default ~/.prism)"
        )
        command.add_argument("--json", action="store_true", help="print JSON")
    _add_transfer(ways)


def open_ledger(arguments: argparse.Namespace) -> Ledger:
    """The ledger that is there; reading makes none.

    Raises:
        LedgerError: when there is none, or it cannot be opened.
    """
    from prism_core.privacy.ledger import Ledger, default_workspace
    from prism_core.privacy.ledger.store_choice import check_present

    folder = arguments.workspace or default_workspace()
    check_present(folder)
    return Ledger(folder)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _list(arguments: argparse.Namespace) -> None:
    from prism_core.privacy.ledger.records import COMPOSITION_SENTENCE

    ledger = open_ledger(arguments)
    names = [asset.name for asset in ledger.assets()]
    if arguments.asset is not None:
        # By the balance, which refuses a name that the ledger does not know.
        names = [ledger.balance(arguments.asset).asset.name]
    balances = [ledger.balance(name) for name in names]
    charges = [charge for charge in ledger.charges() if charge.asset in names]
    document = {
        "assets": [balance.to_dict() for balance in balances],
        "charges": [charge.to_dict() for charge in charges],
        "note": COMPOSITION_SENTENCE,
    }
    lines = [_ASSET_HEAD, *map(_asset_line, balances), "", _CHARGE_HEAD]
    lines += [*map(_charge_line, charges), "", COMPOSITION_SENTENCE]
    emit(arguments, document, "\n".join(lines) if names else "The ledger holds no asset yet.")


_ASSET_HEAD = (
    f"{'asset':32} {'lifetime':>9} {'spent':>9} {'naive sum':>9} {'left':>9} {'charges':>7}"
)
_CHARGE_HEAD = f"{'number':>6} {'asset':24} {'time (UTC)':19} {'who':12} {'epsilon':>8}  state; why"


def _asset_line(balance: Balance) -> str:
    return (
        f"{balance.asset.name[:32]:32} {balance.asset.epsilon:9.4g} {balance.spent_epsilon:9.4g} "
        f"{balance.naive_epsilon:9.4g} {balance.left_epsilon:9.4g} {balance.charges:7}"
    )


def _charge_line(charge: Charge) -> str:
    why = f"; {charge.why}" if charge.why else ""
    return (
        f"{charge.id:6} {charge.asset[:24]:24} {charge.created[:19]:19} {charge.who[:12]:12} "
        f"{charge.epsilon:8.4g}  {charge.to_dict()['state_in_words']}{why}"
    )


def _show(arguments: argparse.Namespace) -> None:
    charge = open_ledger(arguments).get(arguments.charge)
    lines = [
        f"charge {charge.id} to {charge.asset!r}",
        f"made     {charge.created} by {charge.who}" + (f": {charge.why}" if charge.why else ""),
        f"spends   epsilon {charge.epsilon:.6g}, delta {charge.delta:.3g}, rho {charge.rho:.6g} "
        f"(accountant {charge.accountant})",
        f"plan     {charge.plan}",
        *(f"state    {change.created} {change.state}" for change in charge.history),
        *(f"note     {c.created} by {c.who}: {c.note}" for c in charge.corrections),
        *(f"event    {_event_text(event)}" for event in charge.events),
    ]
    emit(arguments, charge.to_dict(), "\n".join(lines))


def _event_text(event: dict[str, Any]) -> str:
    figures = ", ".join(
        f"{key} {value:.6g}" for key, value in event.items() if isinstance(value, int | float)
    )
    label = f"  {event['label']}" if event.get("label") else ""
    # An event may be made of others, each with its own figures.
    parts = "".join(f"\n           of {_event_text(part)}" for part in event.get("events", ()))
    return f"{event.get('event', '?')}: {figures}{label}{parts}"


def _verify(arguments: argparse.Namespace) -> None:
    found = open_ledger(arguments).verify(arguments.head)
    text = _verified(found)
    # Before the refusal: an auditor needs the findings, not only the exit status.
    emit(arguments, found.to_dict(), text)
    if not found.ok:
        raise LedgerError(
            "The ledger is not as this program wrote it. Keep the file as it is, and release "
            "nothing from it until somebody has looked.",
            field="ledger",
        )


def _verified(found: Verification) -> str:
    accepted = [f"an older copy was accepted: {why}" for why in found.accepted]
    last = f"{found.rows} entries; the last digest is {found.head or '-'}"
    return "\n".join([*found.findings, *accepted, last])


def _accept(arguments: argparse.Namespace) -> None:
    found = open_ledger(arguments).accept(arguments.why)
    emit(arguments, found.to_dict(), _verified(found))


def _export(arguments: argparse.Namespace) -> None:
    document = open_ledger(arguments).export()
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
    if arguments.out is None:
        _say(text)
        return
    try:
        files.give(arguments.out, f"{text}\n".encode())
    except OSError:
        raise LedgerError(f"{str(arguments.out)!r} cannot be written.", field="out") from None
    emit(arguments, {"out": str(arguments.out)}, f"wrote {arguments.out}")


def _key(arguments: argparse.Namespace) -> None:
    from prism_core.bundle import signing
    from prism_core.privacy.ledger import default_workspace

    pem = signing.public_pem(arguments.workspace or default_workspace())
    if pem is None:
        raise LedgerError(
            "This workspace has signed nothing yet; its first release makes the key.", field="key"
        )
    found = signing.fingerprint(pem)
    emit(arguments, {"fingerprint": found, "pem": pem.decode("ascii")}, found)


def _add_transfer(ways: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add the commands that carry a whole ledger."""
    init = ways.add_parser(
        "init",
        help="print the statements that make a ledger and its insert-only role in PostgreSQL",
    )
    init.add_argument("--role", default="prism_writer", metavar="NAME", help="login of the program")
    init.add_argument("--out", type=Path, metavar="FILE", help="write them there")
    init.add_argument(
        "--apply",
        action="store_true",
        help="run them in the database of PRISM_LEDGER, as its owner",
    )
    init.set_defaults(run=_init)
    head = ways.add_parser("head", help="one line to mail or publish: entries and newest digest")
    head.set_defaults(run=_head)
    backup = ways.add_parser("backup", help="write the checked ledger to a new file")
    backup.add_argument("--out", type=Path, required=True, metavar="FILE", help="must not exist")
    backup.set_defaults(run=_backup)
    restore = ways.add_parser("restore", help="put a backup where the ledger belongs; it is empty")
    restore.add_argument("backup", type=Path, metavar="FILE", help="what `backup` wrote")
    restore.add_argument("--why", default="", metavar="TEXT", help="where charges since are lost")
    restore.set_defaults(run=_restore)
    migrate = ways.add_parser(
        "migrate", help="carry the ledger to where PRISM_LEDGER says: a database, or the file"
    )
    migrate.add_argument(
        "--from",
        dest="origin",
        default="file",
        metavar="PLACE",
        help="where it is now: file (default), or postgresql://… without a password",
    )
    migrate.set_defaults(run=_migrate)
    for command in (init, head, backup, restore, migrate):
        add_workspace_option(command)
        command.add_argument("--json", action="store_true", help="print JSON")


def _folder(arguments: argparse.Namespace) -> Path:
    from prism_core.privacy.ledger import default_workspace

    return arguments.workspace or default_workspace()


def _init(arguments: argparse.Namespace) -> None:
    from prism_core.privacy.ledger import postgres_schema, store_choice

    if not arguments.apply:
        text = postgres_schema.script(arguments.role)
        if arguments.out is None:
            emit(arguments, {"sql": text}, text.rstrip())
            return
        try:
            files.give(arguments.out, text.encode())
        except OSError:
            raise LedgerError(f"{str(arguments.out)!r} cannot be written.", field="out") from None
        emit(arguments, {"out": str(arguments.out)}, f"wrote {arguments.out}")
        return
    from prism_core.privacy.ledger import postgres_store

    address = store_choice.address(_folder(arguments))
    if not address:
        raise LedgerError(
            "Name the database in PRISM_LEDGER, with the login of its owner.", field="ledger"
        )
    postgres_store.initialise(address, arguments.role)
    place = postgres_store.described(address)
    emit(
        arguments,
        {"place": place, "role": arguments.role},
        f"The tables stand in {place}. Give {arguments.role} a password, and let the program log "
        "in as it.",
    )


def _head(arguments: argparse.Namespace) -> None:
    found = open_ledger(arguments).verify()
    if not found.ok:
        raise LedgerError(
            f"{found.findings[0]} Publish no head of this ledger; `prism ledger verify` lists all.",
            field="ledger",
        )
    now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    document = {"time": now, "rows": found.rows, "head": found.head}
    emit(arguments, document, f"{now} prism ledger: {found.rows} entries, head {found.head or '-'}")


def _backup(arguments: argparse.Namespace) -> None:
    from prism_core.privacy.ledger import transfer

    _tell(arguments, transfer.backup(_folder(arguments), arguments.out))


def _restore(arguments: argparse.Namespace) -> None:
    from prism_core.privacy.ledger import transfer

    _tell(arguments, transfer.restore(_folder(arguments), arguments.backup, arguments.why))


def _migrate(arguments: argparse.Namespace) -> None:
    from prism_core.privacy.ledger import postgres_store, transfer

    # A file has no password; of a database it would stand in the command line.
    named = arguments.origin != transfer.FROM_FILE
    if named and not postgres_store.without_password(arguments.origin):
        raise LedgerError(
            "Others on this machine can read a command line. Leave the password out of the "
            f"address, and put it in {postgres_store.PASSWORD_VARIABLE} or ~/.pgpass.",
            field="from",
        )
    carried = transfer.migrate(_folder(arguments), arguments.origin)
    _tell(arguments, carried)
    if carried.left:
        sys.stderr.write(
            f"prism: note: {carried.left} is sealed and is charged no more. Keep it. Every program "
            "that charged it has to be started anew with the new setting.\n"
        )


def _tell(arguments: argparse.Namespace, carried: Carried) -> None:
    check = carried.check
    document = {"target": carried.target, "left": carried.left, **check.to_dict()}
    text = f"{carried.target}: {check.rows} entries, whole; the last digest is {check.head or '-'}"
    emit(arguments, document, text)
