"""The commands `prism ledger init | head | backup | restore | migrate`: where a ledger is kept."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.cli.common import add_workspace_option, emit
from prism_core.errors import LedgerError

if TYPE_CHECKING:
    import argparse

    from prism_core.privacy.ledger.transfer import Carried


def add(ways: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add the commands to those of `ledger`."""
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
    from prism_core.cli.ledger_command import open_ledger

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
