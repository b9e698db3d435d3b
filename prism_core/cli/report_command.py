"""The command `prism report`: a bundle's report as a copy on screen or on paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.cli.common import (
    add_language_option,
    add_said,
    add_workspace_option,
    emit,
    rehearsal_from,
    said_of,
)
from prism_core.errors import BundleError, ConfigError
from prism_core.text import untrusted
from prism_core.text.languages import language

if TYPE_CHECKING:
    import argparse

    from prism_core.bundle.account import Account
    from prism_core.bundle.report.report_extras import Extras


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `report` to the program's commands."""
    report = commands.add_parser(
        "report", help="a copy of a run's report for a committee, as HTML or PDF"
    )
    report.add_argument("dir", type=Path, metavar="DIR")
    report.add_argument(
        "--pdf", action="store_true", help="print it by the Chromium of this machine"
    )
    report.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="where to write it (default: beside DIR, DIR-report.html or .pdf)",
    )
    report.add_argument("--date", default="", metavar="YYYY-MM-DD", help="the day to be printed")
    add_said(report)
    report.add_argument(
        "--rehearsal", type=Path, metavar="FILE", help="what `prism rehearse --json` printed"
    )
    report.add_argument(
        "--evaluation",
        type=Path,
        metavar="FILE",
        help="put in what `prism evaluate --json` printed: outside epsilon, and marked so",
    )
    report.add_argument(
        "--private",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="put in a private-evaluation.json: inside epsilon",
    )
    report.add_argument(
        "--account",
        action="store_true",
        help="put in every charge on the same people, with its day, as the ledger has them",
    )
    add_language_option(report)
    add_workspace_option(report)
    report.add_argument("--json", action="store_true", help="print JSON")
    report.set_defaults(run=_report)


def _report(arguments: argparse.Namespace) -> None:
    from prism_core.bundle.report.report_copy import check_place, copy_report

    folder: Path = arguments.dir
    if not folder.is_dir():
        raise BundleError("There is no such folder.", field="dir")
    kind = "pdf" if arguments.pdf else "html"
    # Resolved first: `.` has no name of its own to add to.
    out = arguments.out or folder.resolve().with_name(f"{folder.resolve().name}-report.{kind}")
    check_place(out, folder)
    html = copy_report(folder, _extras(arguments))
    content = html.encode("utf-8")
    if arguments.pdf:
        from prism_core.bundle.report.report_copy import report_pdf

        content = report_pdf(html)
    try:
        files.give(out, content)
    except OSError:
        raise ConfigError(f"{out.name!r} cannot be written.", field="out") from None
    document = {"out": str(out), "bytes": len(content)}
    text = f"report in {out}" + (
        "; it holds numbers outside epsilon, marked as such" if arguments.evaluation else ""
    )
    emit(arguments, document, text)


def _extras(arguments: argparse.Namespace) -> Extras:
    from prism_core.bundle.report.report_extras import Extras

    return Extras(
        said=said_of(arguments),
        date=arguments.date,
        rehearsed=rehearsal_from(arguments.rehearsal),
        evaluation=None
        if arguments.evaluation is None
        else _document(arguments.evaluation, "evaluation"),
        private=tuple(_document(path, "private") for path in arguments.private),
        account=_account(arguments) if arguments.account else None,
        language=language(arguments.language),
    )


def _account(arguments: argparse.Namespace) -> Account:
    from prism_core.bundle.account import account_after
    from prism_core.bundle.reader import read_bundle
    from prism_core.privacy.ledger import default_workspace

    workspace = arguments.workspace or default_workspace()
    return account_after(workspace, read_bundle(arguments.dir).facts)


def _document(path: Path, field: str) -> dict[str, Any]:
    text = untrusted.read_text(path, replace(untrusted.DOCUMENT, field=field, error=BundleError))
    try:
        return untrusted.from_json(text, untrusted.DOCUMENT)
    except ValueError:
        raise BundleError(f"{path.name!r} is not readable as JSON.", field=field) from None
