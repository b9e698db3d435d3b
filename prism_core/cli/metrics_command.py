"""The command `prism metrics`: figures for a monitoring system; nothing private is among them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.cli.common import add_workspace_option
from prism_core.errors import ConfigError

if TYPE_CHECKING:
    import argparse


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `metrics` to the program's commands."""
    metrics = commands.add_parser(
        "metrics", help="counts of ledger, runs and checks as text for Prometheus"
    )
    add_workspace_option(metrics)
    metrics.add_argument(
        "--out", type=Path, metavar="FILE", help="replace this file as a whole (default: print)"
    )
    metrics.set_defaults(run=_metrics)


def _metrics(arguments: argparse.Namespace) -> None:
    from prism_core.hosting.metrics import metrics
    from prism_core.hosting.server_checks import server_checks
    from prism_core.privacy.ledger import default_workspace
    from prism_core.runs.doctor import examine

    workspace = arguments.workspace or default_workspace()
    text = metrics(workspace, examine(workspace, further=server_checks(workspace)))
    if arguments.out is None:
        sys.stdout.write(text.decode())
        return
    try:
        files.give(arguments.out, text)  # with the umask's mode: another program reads it
    except OSError:
        raise ConfigError(f"{str(arguments.out)!r} cannot be written.", field="out") from None
