"""The command `prism doctor`. It looks, and changes nothing."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from prism_core.cli.common import add_workspace_option

if TYPE_CHECKING:
    from prism_core.runs.doctor import MachineCheck

PROBLEM = 2
"""The exit status with a problem: as of any command, the caller can mend it."""

_CODES = f"""exit status:
  0  nothing is wrong; there may be warnings
  1  an unexpected error
  {PROBLEM}  there is a problem; each says what to do"""
_WIDTH = 100


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `doctor` to the program's commands."""
    doctor = commands.add_parser(
        "doctor",
        help="is everything as a run needs it? reads no row and changes nothing",
        epilog=_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_workspace_option(doctor)
    doctor.add_argument("--port", type=int, metavar="N", help="of the dashboard (default 8501)")
    doctor.add_argument("--json", action="store_true", help="print JSON")
    doctor.set_defaults(run=_doctor)


def _doctor(arguments: argparse.Namespace) -> int:
    from prism_core.hosting.server_checks import server_checks
    from prism_core.privacy.ledger import default_workspace
    from prism_core.runs.doctor import PORT, examine

    workspace = arguments.workspace or default_workspace()
    further = server_checks(workspace)
    checks = examine(workspace, port=arguments.port or PORT, further=further)
    problems = sum(check.state == "problem" for check in checks)
    # A warning is no problem: a run goes ahead with it.
    document = {"ok": not problems, "checks": [check.to_dict() for check in checks]}
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    sys.stdout.write(f"{text if arguments.json else _text(checks)}\n")
    return PROBLEM if problems else 0


def _text(checks: tuple[MachineCheck, ...]) -> str:
    lines: list[str] = []
    for check in checks:
        lines += _wrapped(f"{check.state:8} {check.name:15} ", check.found)
        # What is as it should be needs no advice, although there may be one on request.
        if check.advice and check.state != "ok":
            lines += _wrapped(" " * 25, check.advice)
    count = {state: sum(c.state == state for c in checks) for state in ("problem", "warning")}
    lines.append(
        f"{len(checks)} checks; problems: {count['problem']}, warnings: {count['warning']}"
    )
    return "\n".join(lines)


def _wrapped(begin: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=begin,
        subsequent_indent=" " * len(begin),
        # Commands and paths stay whole, so that they can be copied.
        break_long_words=False,
        break_on_hyphens=False,
    )
