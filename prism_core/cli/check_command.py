"""`prism check CONFIG`: do the cells fit the declaration? For the curator's screen alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.cli.common import add_workspace_option

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from prism_core.data.coverage import Coverage

_NAME = 40


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `check` to the program's commands."""
    check = commands.add_parser(
        "check",
        help="count the cells outside the declaration; outside epsilon, for the curator only",
        description="Counts, column by column, the cells that the declaration does not cover. The "
        "counts read the private rows without noise: they are shown here once and kept nowhere. "
        "That you counted is recorded in the schema file, and plan, protocol and report say so. "
        "The exit status is 2 where most cells of a column do not fit.",
    )
    check.add_argument("config", type=Path, metavar="CONFIG.toml")
    add_workspace_option(check)
    check.set_defaults(run=_check)


def _check(arguments: argparse.Namespace) -> int:
    from prism_core.data.coverage import coverage
    from prism_core.data.schema import look_file
    from prism_core.data.schema.looks import Look, file_name, this_minute
    from prism_core.planning.wishes import config as configs
    from prism_core.runs.inputs import gather, some_rows

    config = configs.load(arguments.config)
    # Without the graph, which says nothing of cells and may be broken.
    inputs = gather(config, arguments.workspace, graph=False)
    if not config.table.public:  # on record before the counts are there
        look = Look(
            did="counted cells outside", file=file_name(inputs.raw.name), when=this_minute()
        )
        look_file.record(config.table.schema, look)
    rows = some_rows(inputs.raw)
    found = coverage(inputs.schema, rows)
    sys.stdout.write(_text(found, rows.rows) + "\n")
    if not config.table.public:
        sys.stdout.write(_afterwards(config.table.schema.name) + "\n")
    # By columns that would be refused: single cells outside are usual, and are clipped.
    return 2 if any(each.refused for each in found) else 0


def _text(found: Sequence[Coverage], rows: int) -> str:
    lines = [f"{'column':{_NAME}} {'cells outside':>14} {'different values':>17}"]
    lines += [
        f"{each.column.name[:_NAME]:{_NAME}} {each.outside:14,} {each.different:17,}"
        for each in found
    ]
    outside = sum(each.outside for each in found)
    lines += ["", f"{outside:,} cells lie outside the declaration ({rows:,} rows were looked at)."]
    single = [each.column.name for each in found if each.different < 2]
    if single:
        lines.append(f"With a single value in the whole file: {', '.join(single)}.")
    return "\n".join([*lines, *(each.advice for each in found if each.misfit)])


def _afterwards(schema: str) -> str:
    return (
        f"For your eyes only. That you counted is recorded in {schema}. If you change the "
        "declaration now, name the columns there under looks, with the document that says the "
        "same: {changed: [COLUMN], declared_from: DOCUMENT, when: YYYY-MM-DD HH:MM}; without a "
        "document its provenance is 'private rows'."
    )
