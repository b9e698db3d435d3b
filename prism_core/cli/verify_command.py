"""The command `prism verify`. It reads a folder, and writes nothing."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.errors import BundleError

if TYPE_CHECKING:
    from prism_core.bundle.verify.verification import VerifyReport

_MARKS = {"ok": "ok", "wrong": "WRONG", "not checked": "not checked"}

UNAUTHENTICATED = 3
"""The exit status of a folder that fits in itself, where nobody's key was compared."""

_CODES = f"""exit status:
  0  everything fits, and the signature is by the key that was given, or by the workspace's
  1  an unexpected error: nothing was verified
  2  something is wrong or could not be checked, or the folder or an option is not usable
  {UNAUTHENTICATED}  consistent, not authenticated: everything fits in itself, and no key was
     compared. Whoever has this program can make such a folder, and sign it with another key."""


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `verify` to the program's commands."""
    verify = commands.add_parser(
        "verify",
        help="is the folder of a run what its certificate says? needs no private row",
        epilog=_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verify.add_argument("dir", type=Path, metavar="DIR")
    verify.add_argument(
        "--key",
        default="",
        metavar="FINGERPRINT",
        help="of the key that must have signed, or its first 16 digits or more",
    )
    verify.add_argument(
        "--workspace",
        type=Path,
        metavar="DIR",
        help="folder of the ledger and key that made it; both must then fit",
    )
    verify.add_argument("--json", action="store_true", help="print JSON")
    verify.set_defaults(run=_verify)


def _verify(arguments: argparse.Namespace) -> int:
    from prism_core.bundle.verify.verification import verify

    if not arguments.dir.is_dir():
        raise BundleError("There is no such folder.", field="dir")
    report = verify(arguments.dir, key=arguments.key, workspace=arguments.workspace)
    # Printed before the refusal below: whoever verifies needs every finding, not the first.
    document = report.to_dict()
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    sys.stdout.write(f"{text if arguments.json else _text(report)}\n")
    if not report.ok:
        raise BundleError(
            "This folder is not what its certificate says: "
            + (report.findings[0] if report.findings else "not everything could be checked."),
            field="dir",
        )
    # A status of its own: a folder that only fits in itself may be anybody's.
    return 0 if report.authenticated else UNAUTHENTICATED


def _text(report: VerifyReport) -> str:
    lines = []
    for check in report.checks:
        lines.append(f"{_MARKS[check.state]:12} {check.title}")
        lines += [f"{'':12}   {finding}" for finding in check.findings]
    lines += [
        f"epsilon {opinion.epsilon:.6g} by {opinion.accountant}" for opinion in report.opinions
    ]
    lines += report.notes
    if report.ok:
        kind = f"{report.stamp}: {report.verdict}."
        lines.append(kind[0].upper() + kind[1:])
    return "\n".join(lines)
