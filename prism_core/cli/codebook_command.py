"""The command `prism codebook`: columns from a codebook; it reads no row."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.cli.common import emit
from prism_core.data.schema.codebook_source import CODEBOOK_FORMATS
from prism_core.errors import SchemaError
from prism_core.text.numbers import count_text

if TYPE_CHECKING:
    import argparse

    from prism_core.data.codebooks import Codebook, CodebookColumn
    from prism_core.data.codebooks.usual_bounds import UsualBounds

_TO = ("table-schema",)


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `codebook` to the program's commands."""
    codebook = commands.add_parser(
        "codebook",
        help="columns from a data dictionary or a file's metadata; reads no row",
        description="Reads what a codebook says of the columns: a REDCap data dictionary, the "
        "metadata of an SPSS, Stata or SAS file, a Frictionless Table Schema or Data Package, "
        "CSVW, a DDI Codebook, or a table with one row a column (CSV, Excel). No row of a table is "
        "read. The exit status is 2 where something is left open: the file of --out is then a "
        "draft, whose first lines say what is missing.",
    )
    codebook.add_argument("file", type=Path, metavar="FILE")
    codebook.add_argument(
        "--format",
        choices=CODEBOOK_FORMATS,
        metavar="FORMAT",
        help=f"one of {', '.join(CODEBOOK_FORMATS)} (default: recognised)",
    )
    codebook.add_argument(
        "--resource",
        metavar="NAME",
        help="the table that is meant where FILE describes several: resource, file or sheet",
    )
    codebook.add_argument(
        "--catalog",
        type=Path,
        metavar="FILE.sas7bcat",
        help="of a file of SAS, the catalog with the labels of its values",
    )
    codebook.add_argument(
        "--leave-out", nargs="+", default=[], metavar="COLUMN", help="columns that are left out"
    )
    codebook.add_argument(
        "--learn",
        nargs="+",
        default=[],
        metavar="COLUMN",
        help="open columns for `prism learn-domain`; of a number give wide bounds in the file",
    )
    codebook.add_argument(
        "--suggested",
        nargs="*",
        metavar="COLUMN",
        help="take the bounds that are suggested for these columns, or for all: usual ones by name "
        "and label, such as 0 to 120 for an age, or all that the file's format can hold",
    )
    codebook.add_argument(
        "--person-id", metavar="COLUMN", help="the column that names the person (with --persons)"
    )
    codebook.add_argument("--persons", type=int, metavar="N", help="how many persons there are")
    codebook.add_argument(
        "--one-row-per-person", action="store_true", help="no person has two rows"
    )
    codebook.add_argument("--out", type=Path, metavar="SCHEMA.yaml", help="a new file")
    codebook.add_argument(
        "--to",
        choices=_TO,
        metavar="FORMAT",
        help="FILE is a schema of this program; write it to --out as table-schema",
    )
    codebook.add_argument("--json", action="store_true", help="print JSON")
    codebook.set_defaults(run=_codebook)


def _codebook(arguments: argparse.Namespace) -> int:
    if arguments.to is not None:
        return _convert(arguments)
    from prism_core.data.codebooks import read_codebook
    from prism_core.data.codebooks.codebook import draft_text

    codebook = read_codebook(
        arguments.file,
        format=arguments.format,
        resource=arguments.resource,
        catalog=arguments.catalog,
    )
    # Before anything is written: a draft would stand there half wished for.
    people = _people(arguments)
    # The person ID is named in the schema, and is never synthesised: it is no column of it.
    dropped = codebook.known([*arguments.leave_out, *filter(None, [arguments.person_id])])
    codebook = codebook.without(dropped).to_learn(arguments.learn)
    taken: dict[str, UsualBounds] = {}
    if arguments.suggested is not None:
        # The option without a name means all of them.
        named = arguments.suggested or codebook.suggested
        taken = {name: one for name, one in codebook.suggested.items() if name in named}
        codebook = codebook.with_suggested(named)
    if arguments.out is not None:
        _write(arguments.out, draft_text(codebook, people))
    document = {
        "format": codebook.source.format,
        "sha256": codebook.source.sha256,
        "understood": [{"header": name, "meaning": what} for name, what in codebook.understood],
        "columns": [_column(column) for column in codebook.columns],
        "open": [
            {"name": one.column, "missing": one.missing, "cures": list(one.cures)}
            | _bounds(codebook.suggested.get(one.column), "suggested")
            for one in codebook.open
        ],
        "suggested": [{"name": name} | _bounds(one) for name, one in taken.items()],
        "out": None if arguments.out is None else str(arguments.out),
    }
    emit(arguments, document, _text(arguments, codebook, document))
    return 2 if codebook.open else 0


def _people(arguments: argparse.Namespace) -> dict[str, Any]:
    if (arguments.person_id is None) != (arguments.persons is None):
        raise SchemaError("--person-id and --persons go together.", field="person_id")
    if arguments.person_id is not None and arguments.one_row_per_person:
        raise SchemaError(
            "Give either --one-row-per-person or --person-id, not both.", field="person_id"
        )
    return {
        "one_row_per_person": arguments.one_row_per_person,
        "person_id": arguments.person_id,
        "persons": arguments.persons,
    }


def _convert(arguments: argparse.Namespace) -> int:
    from prism_core.data.codebooks import table_schema_text
    from prism_core.data.schema import schema_file

    schema = schema_file.load(arguments.file)
    if arguments.out is None:
        raise SchemaError("--to needs --out FILE.json, a new file.", field="out")
    _write(arguments.out, table_schema_text(schema))
    count = len(schema.columns)
    emit(
        arguments,
        {"out": str(arguments.out), "format": arguments.to, "columns": count},
        f"wrote {arguments.out} ({arguments.to}: {count_text(count, 'column')})",
    )
    return 0


def _write(out: Path, text: str) -> None:
    # Not `exists`: a link that leads nowhere is a name that is taken, too.
    if os.path.lexists(out):
        raise SchemaError(f"{str(out)!r} exists. Name a new file.", field="out")
    try:
        files.give(out, text.encode("utf-8"))
    except OSError:
        wrong = f"{str(out)!r} cannot be written."
    else:
        return
    raise SchemaError(wrong, field="out")


def _column(column: CodebookColumn) -> dict[str, Any]:
    """A column for JSON: what is known, in the words of a schema file."""
    found = {part: value for part, value in column.entry.items() if part != "description"}
    return {
        "name": column.name,
        "kind": column.kind,
        **found,
        "label": column.description,
        "source": column.source,
        **({"remark": column.remark} if column.remark else {}),
    }


def _bounds(bounds: UsualBounds | None, under: str = "") -> dict[str, Any]:
    if bounds is None:
        return {}
    found = {"lower": bounds.lower, "upper": bounds.upper, "because": bounds.because}
    return {under: found} if under else found


def _text(arguments: argparse.Namespace, codebook: Codebook, document: dict[str, Any]) -> str:
    columns, still = count_text(len(codebook.columns), "column"), document["open"]
    lines = [f"{arguments.file.name}: {codebook.source.format}, {columns}, {len(still):,} open"]
    missing = {one["name"]: one["missing"] for one in still}
    taken = {one["name"]: one["because"] for one in document["suggested"]}
    for column in codebook.columns:
        line = f"{column.name:30} {_summary(column, missing.get(column.name))}"
        because = taken.get(column.name)
        lines.append(f"{line} (suggested: {because})" if because else line)
    if arguments.out is not None:
        what = "draft, to be completed" if still else "schema"
        lines += ["", f"wrote {arguments.out} ({what})"]
    return "\n".join(lines)


def _summary(column: CodebookColumn, missing: str | None) -> str:
    entry = column.entry
    if missing is not None:
        bounds = column.suggested
        usual = f"; suggested: {bounds.text}" if bounds is not None else ""
        return f"{column.kind or '-':12} OPEN, missing: {missing}{usual}"
    if column.learn and column.column is None:
        return f"{entry['kind']:12} to be learned"
    if column.binned:
        what = f"{entry['lower']} to {entry['upper']}"
    else:
        count = len(column.levels)
        what = count_text(count, "level") if count else ""
    return f"{column.kind or '-':12} {what}".rstrip()
