"""Project file: everything a curator entered, in one file that opens anywhere. No row is in it.

It holds what was declared, drawn, wished for and decided: schema, graph, target, designs, an
approval, the statement for the report. Rows, counts of rows, digests of a table and results of a
run are not in it. Where a table is open, its number of persons goes along, which is public: the
project opens as a design that waits for its table.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from prism_core.bundle.bundle_files import json_text
from prism_core.bundle.protocol import approval_file
from prism_core.data.schema import column_form, schema_file
from prism_core.data.schema.codebook_source import CodebookReading, CodebookSource
from prism_core.data.schema.looks import Looks, from_list, to_list
from prism_core.data.schema.schema import PROVENANCES, Provenance, Schema
from prism_core.errors import ConfigError, StructureError
from prism_core.planning.wishes import scenario_files
from prism_core.planning.wishes.curator_statement import CuratorStatement, statement_from
from prism_core.structure import formats
from prism_core.text import untrusted
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prism_core.bundle.protocol.approval_file import ApprovedPlan
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.structure.dag import Drawing

KIND = "prism project"
VERSION = 1
LONGEST = 200
"""Characters of a name and of a purpose."""
MOST_PERSONS = 1_000_000_000
MOST_DESIGNS = 5
MOST_SAVED = scenario_files.MOST_SCENARIOS
_LONGEST_CELL = 1_000_000  # of the form: a map of many codes stands in one cell


@dataclass(frozen=True, kw_only=True)
class ProjectFile:
    """A project as it is saved.

    Attributes:
        name: one line.
        persons: the number that the designs are made for, with those kept aside; None while
            nothing says how many there are.
        schema: what is declared.
        form: rows of the form of columns where they are not in use yet.
        form_provenance: where those come from; None where nothing is said.
        read: the codebook that they were read from, if any, and the columns that it gave.
        looks: what opened the rows before; a file must not make anybody forget it.
        drawing: the graph, and where its nodes stand.
        target: the column to be predicted.
        designs: the plan first; then those beside it, at most `MOST_DESIGNS` together.
        saved: designs kept by name.
        approval: of a plan.
        approval_needed: whether a run is to wait for one.
        asset, lifetime, purpose: what is to be charged, with its lifetime epsilon.
        statement: for the top of the report.
        holdout_share: share of the persons that is kept aside.
        own_test: whether a test file takes its place.
        p_min: declared smallest share of a level, if any.
        sample: name of the packaged sample whose rows go with it, "" for none.

    Raises:
        ConfigError, StructureError: naming the entry.
    """

    name: str
    persons: int | None = None
    schema: Schema | None = None
    form: tuple[dict[str, Any], ...] = ()
    form_provenance: Provenance | None = None
    read: CodebookReading | None = None
    looks: Looks = ()
    drawing: Drawing | None = None
    target: str | None = None
    designs: tuple[Scenario, ...] = ()
    saved: tuple[Scenario, ...] = ()
    approval: ApprovedPlan | None = None
    approval_needed: bool = False
    asset: str = ""
    lifetime: float = 3.0
    purpose: str = ""
    statement: CuratorStatement = field(default_factory=CuratorStatement)
    holdout_share: float = 0.2
    own_test: bool = False
    p_min: float | None = None
    sample: str = ""

    def __post_init__(self) -> None:
        for name in ("name", "asset", "purpose", "sample"):
            _check_line(getattr(self, name), name, empty=name != "name")
        if self.persons is not None:
            whole = isinstance(self.persons, int) and not isinstance(self.persons, bool)
            if not whole or not 2 <= self.persons <= MOST_PERSONS:
                raise _refused("persons", f"a whole number from 2 to {MOST_PERSONS:,}")
        _check_number(self.lifetime, "lifetime", 0.0, math.inf)
        _check_number(self.holdout_share, "holdout_share", 0.0, 0.9)
        if self.p_min is not None:
            _check_number(self.p_min, "p_min", 0.0, 1.0)
        if self.form_provenance not in (None, *PROVENANCES):
            raise _refused("form_provenance", f"one of {', '.join(PROVENANCES)}, or null")
        if self.schema is not None and self.drawing is not None:
            # It refuses nodes that are neither columns nor marked as unmeasured.
            self.drawing.dag.over(self.schema.names)
        self._check_designs()

    def _check_designs(self) -> None:
        if len(self.designs) > MOST_DESIGNS:
            raise _refused("designs", f"at most {MOST_DESIGNS} designs")
        if len(self.saved) > MOST_SAVED:
            raise _refused("saved", f"at most {MOST_SAVED} designs")
        names = [one.name for one in self.saved]
        if len(set(names)) != len(names):
            raise _refused("saved", "designs with names of their own")
        if self.target is not None and (self.schema is None or self.target not in self.schema):
            raise _refused("target", "one of the columns of the schema")
        # Designs are compared with each other, which has no meaning for different targets.
        if any(one.task.target != self.target for one in self.designs):
            raise _refused("designs", "designs for the project's own target")


def dumps(project: ProjectFile) -> str:
    """The file's text; `loads` gives an equal project back."""
    part = project
    # As one of the file's own values: text within text could not be read by people.
    graph = None if part.drawing is None else json.loads(formats.write(part.drawing, "node-link"))
    document: dict[str, Any] = {
        "kind": KIND,
        "version": VERSION,
        "name": part.name,
        "persons": part.persons,
        "schema": None if part.schema is None else schema_file.to_dict(part.schema),
        "form": list(part.form),
        "form_provenance": part.form_provenance,
        "read": None if part.read is None else _reading_dict(part.read),
        "looks": to_list(part.looks),
        "graph": graph,
        "target": part.target,
        "designs": [scenario_files.to_dict(one) for one in part.designs],
        "saved": [scenario_files.to_dict(one) for one in part.saved],
        "approval": None if part.approval is None else json.loads(part.approval.dumps()),
        "approval_needed": part.approval_needed,
        "asset": part.asset,
        "lifetime": part.lifetime,
        "purpose": part.purpose,
        "statement": part.statement.to_dict(),
        "holdout_share": part.holdout_share,
        "own_test": part.own_test,
        "p_min": part.p_min,
        "sample": part.sample,
    }
    return json_text(document)


def load(path: str | Path) -> ProjectFile:
    """The project in a file.

    Raises:
        PrismError: as `loads`, and when the file cannot be read.
    """
    return loads(untrusted.read_text(path, untrusted.PROJECT))


def loads(text: str) -> ProjectFile:
    """The project that a text holds; whoever made the text.

    Raises:
        ConfigError: naming the entry that is missing, unknown or not usable; other PrismErrors for
            what stands in the schema, the graph, a design or the statement.
    """
    document = _document(text)
    # All of them are there: `_document` has refused a text that lacks one.
    values = {name: document[name] for name in _ENTRIES}
    for name, read in _READERS.items():
        values[name] = read(values[name])
    graph = values.pop("graph")
    return ProjectFile(drawing=graph, **values)


_ENTRIES = (
    "name",
    "persons",
    "schema",
    "form",
    "form_provenance",
    "read",
    "looks",
    "graph",
    "target",
    "designs",
    "saved",
    "approval",
    "approval_needed",
    "asset",
    "lifetime",
    "purpose",
    "statement",
    "holdout_share",
    "own_test",
    "p_min",
    "sample",
)


def _document(text: str) -> dict[str, Any]:
    try:
        document = untrusted.from_json(text, untrusted.PROJECT)
    except ValueError:
        document = None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise ConfigError("This is not a project as *Save the project* writes it.", field="project")
    # In Python true equals 1, and would pass for a version.
    if document.get("version") != VERSION or isinstance(document["version"], bool):
        raise ConfigError(
            f"The project's version must be {VERSION}. Update this program to read a newer one.",
            field="version",
        )
    known = ("kind", "version", *_ENTRIES)
    unknown = sorted(set(document) - set(known))
    if unknown:
        raise ConfigError(
            f"The project has an unknown entry {unknown[0]!r}.{suggestion(unknown[0], known)}",
            field=unknown[0],
        )
    absent = [name for name in _ENTRIES if name not in document]
    if absent:
        raise ConfigError(f"The project has no entry {absent[0]!r}.", field=absent[0])
    return document


def _schema_from(value: object) -> Schema | None:
    return None if value is None else schema_file.from_dict(value)


def _reading_dict(read: CodebookReading) -> dict[str, Any]:
    columns = [schema_file.column_dict(column) for column in read.columns]
    return {"source": read.source.to_dict(), "columns": columns}


def _read_from(value: object) -> CodebookReading | None:
    if value is None:
        return None
    if not isinstance(value, dict) or set(value) != {"source", "columns"}:
        raise _refused("read", "null, or a codebook's source and columns")
    columns = value["columns"]
    if not isinstance(columns, list) or len(columns) > untrusted.COLUMNS:
        raise _refused("read", f"a codebook of at most {untrusted.COLUMNS:,} columns")
    return CodebookReading(
        source=CodebookSource.from_dict(value["source"]),
        columns=tuple(
            schema_file.column_from_dict(entry, number)
            for number, entry in enumerate(columns, start=1)
        ),
    )


def _form_from(value: object) -> tuple[dict[str, Any], ...]:
    """Rows of the form as they were typed; what they say is looked at when they are applied."""
    if not isinstance(value, list) or len(value) > untrusted.COLUMNS:
        raise _refused("form", f"a list of at most {untrusted.COLUMNS:,} rows")
    return tuple(_row_from(row, number) for number, row in enumerate(value, start=1))


def _row_from(row: object, number: int) -> dict[str, Any]:
    blank: dict[str, Any] = dict(column_form.blank_rows([""])[0])
    if not isinstance(row, dict) or not set(row) <= set(blank):
        raise _refused("form", f"rows with the entries {', '.join(blank)} (see row {number})")
    for key, value in row.items():
        # What is empty in a blank row is a cell for a number.
        kind: type = type(blank[key]) if blank[key] is not None else int
        empty = value is None and kind is not bool
        kinds = (int, str) if key == "decimals" else (kind,)  # what is typed may be no number
        fits = isinstance(value, kinds) and (kind is bool or not isinstance(value, bool))
        if not (empty or fits) or (isinstance(value, str) and len(value) > _LONGEST_CELL):
            raise _refused("form", f"usable cells (see {key!r} in row {number})")
        if isinstance(value, int) and not -(10**6) < value < 10**6:
            raise _refused("form", f"usable numbers (see {key!r} in row {number})")
    return blank | row


def _graph_from(value: object) -> Drawing | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise StructureError("graph must be a node-link graph, or null.", field="graph")
    # By the reader of files, whose limits hold for what stands within a project, too.
    return formats.parse(json.dumps(value), "node-link")


def _designs_from(name: str, value: object) -> tuple[Scenario, ...]:
    if not isinstance(value, list) or len(value) > max(MOST_DESIGNS, MOST_SAVED):
        raise _refused(name, "a list of designs")
    return tuple(scenario_files.from_dict(one) for one in value)


def _approval_from(value: object) -> ApprovedPlan | None:
    # By the reader of its own file: what it refuses is refused here, too.
    return None if value is None else approval_file.loads(json.dumps(value))


def _flag_from(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise _refused(name, "true or false")
    return value


def _target_from(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise _refused("target", "one of the columns of the schema")
    return value


_READERS: dict[str, Callable[[Any], Any]] = {
    "schema": _schema_from,
    "form": _form_from,
    "read": _read_from,
    "looks": from_list,
    "graph": _graph_from,
    "target": _target_from,
    "designs": partial(_designs_from, "designs"),
    "saved": partial(_designs_from, "saved"),
    "approval": _approval_from,
    "approval_needed": partial(_flag_from, "approval_needed"),
    "own_test": partial(_flag_from, "own_test"),
    "statement": statement_from,
}


def _check_line(value: object, name: str, *, empty: bool) -> None:
    # One line: these stand in headings and in the ledger.
    one = isinstance(value, str) and value.isprintable() and value == value.strip()
    if not one or not (0 if empty else 1) <= len(str(value)) <= LONGEST:
        raise _refused(
            name, f"one line of at most {LONGEST} printable characters, without spaces around it"
        )


def _check_number(value: object, name: str, low: float, high: float) -> None:
    real = isinstance(value, int | float) and not isinstance(value, bool)
    if not real or not math.isfinite(_float(value)) or not low <= _float(value) <= high:
        between = f"from {low:g} to {high:g}" if math.isfinite(high) else f"of {low:g} or more"
        raise _refused(name, f"a number {between}")


def _float(value: Any) -> float:  # noqa: ANN401  (a number of any size)
    """The number as a float; beyond every float it is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _refused(name: str, allowed: str) -> ConfigError:
    return ConfigError(f"{name} must be {allowed}.", field=name)
