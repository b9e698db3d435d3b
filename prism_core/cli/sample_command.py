"""The command `prism sample-data`: one of the packaged samples as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.cli.common import emit

if TYPE_CHECKING:
    import argparse


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `sample-data` to the program's commands."""
    sample = commands.add_parser("sample-data", help="write one of the packaged samples")
    sample.add_argument("name", metavar="NAME")
    sample.add_argument("--out", type=Path, required=True, metavar="DIR")
    sample.set_defaults(run=_sample)
    sample.add_argument("--json", action="store_true", help="print JSON")


def _sample(arguments: argparse.Namespace) -> None:
    from prism_core.samples import catalogue

    paths = catalogue.write(arguments.name, arguments.out)
    names = [path.name for path in paths]
    emit(
        arguments,
        {"out": str(arguments.out), "files": names},
        f"wrote {', '.join(names)} to {arguments.out}",
    )
