"""The command `prism`: the same work as the dashboard, without a screen."""

from __future__ import annotations

import argparse
import gc
import os
import sys
import warnings
from typing import TYPE_CHECKING

from prism_core.cli import (
    bench_command,
    check_command,
    codebook_command,
    comparator_command,
    dag_command,
    doctor_command,
    evaluate_command,
    holdout_command,
    learn_dag_command,
    learn_domain_command,
    ledger_command,
    metrics_command,
    plan_command,
    protocol_command,
    rehearse_command,
    release_command,
    report_command,
    reproduce_command,
    sample_command,
    verify_command,
)
from prism_core.errors import PrismError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_COMMANDS = (
    codebook_command,
    plan_command,
    learn_domain_command,
    release_command,
    evaluate_command,
    sample_command,
    check_command,
    dag_command,
    learn_dag_command,
    rehearse_command,
    protocol_command,
    ledger_command,
    verify_command,
    report_command,
    comparator_command,
    reproduce_command,
    bench_command,
    holdout_command,
    doctor_command,
    metrics_command,
)
"""In the order of `prism --help`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status.

    0: done; 1: unexpected; 2: refused, or not as it should be: the caller can mend it. `verify` has
    one of its own, `verify_command.UNAUTHENTICATED`.
    """
    # Imports alone make half a million objects that stay: looking through them again and again
    # takes a tenth of the time of a release.
    gc.set_threshold(200_000, 20, 20)
    arguments = _parser().parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _note_instead_of(warnings.showwarning)
            # By its first words: importing its class would take as long as a small command.
            warnings.filterwarnings("always", "Column ", UserWarning)
            status: int | None = arguments.run(arguments)
    except PrismError as error:
        where = f"{error.field}: " if error.field else ""
        print(f"prism: {where}{error}", file=sys.stderr)
        return 2
    except OSError as error:  # the disk is full, for example; its number's words hold no value
        print(
            f"prism: a file or folder cannot be read or written ({_words(error)}). If a charge was "
            "written, it stands; what was paid for and is not written is kept: `prism doctor` "
            "lists it and `prism recover` writes it.",
            file=sys.stderr,
        )
        return 2
    except Exception as error:  # noqa: BLE001  (its text could hold a value; its type cannot)
        print(
            f"prism: stopped for an unexpected reason ({type(error).__name__}). If a charge was "
            "written, it stands.",
            file=sys.stderr,
        )
        return 1
    return status or 0


def _note_instead_of(shown: Callable[..., None]) -> Callable[..., None]:
    """What shows a warning of ours as a line for the curator, and any other as before."""

    def show(
        message: Warning | str, category: type[Warning], *rest: object, **more: object
    ) -> None:
        from prism_core.data.coverage import ClippedWarning

        if issubclass(category, ClippedWarning):
            print(f"prism: note: {message}", file=sys.stderr)
        else:
            shown(message, category, *rest, **more)

    return show


def _words(error: OSError) -> str:
    return type(error).__name__ if error.errno is None else os.strerror(error.errno)


class _Version(argparse.Action):
    """Prints the version; argparse's own action would have it looked up for every command."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from prism_core.bundle.certificate import NAME, installed

        print(f"prism {installed(NAME)}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="prism", description="Differentially private synthetic tables for one prediction task."
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="print the version of this program, and exit"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
