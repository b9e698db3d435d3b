"""The registry: every reader of a file that somebody else may have made, with valid files.

A new reader adds one entry here; `test_every_reader_is_here` asks for it.
"""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
import traceback
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.bundle import bundle_files, manifest, measurements_file, reader, signing
from prism_core.bundle.protocol import approval_file
from prism_core.bundle.verify import counts_check, verification
from prism_core.bundle.write import bundle_folder
from prism_core.cli import common, report_command
from prism_core.comparators import design_comparator
from prism_core.comparators import folder as compared
from prism_core.comparators.comparator_run import run_comparator
from prism_core.data.encoding import encode
from prism_core.data.engines import parquet_copies
from prism_core.data.schema import code_groups, column_form, schema_file
from prism_core.data.tables import address
from prism_core.data.tables.raw_table import RawTable, read_table
from prism_core.errors import PrismError
from prism_core.evaluation.inside_epsilon import holdout_state
from prism_core.learning.domain import outline_io
from prism_core.planning.wishes import config, scenario_files
from prism_core.privacy.ledger import Ledger, chain_head, fingerprint, rules
from prism_core.privacy.ledger.store import COLUMNS
from prism_core.rehearsal import stand_in_rows
from prism_core.rehearsal.estimates import Estimate
from prism_core.rehearsal.points import PointStore, RehearsalPoint
from prism_core.rehearsal.variants import Rehearsal
from prism_core.reproduction.results import Results, packaged
from prism_core.runs import recovery_file
from prism_core.structure import formats
from tests.fuzz.steps import MOST
from tests.support import bundles

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fuzz.mutants import Syntax
    from tests.fuzz.shop import Shop


@dataclass(frozen=True, kw_only=True)
class Case:
    """A reader with what it reads.

    Attributes:
        seeds: valid files, by the product's own writers where there is one.
        read: reads a file's content; whatever it gives back is dropped.
        fixed: how many bytes at the beginning stay as they are. Of a table the header: a header
            is no row, and may be told.
    """

    seeds: tuple[bytes, ...]
    read: Callable[[bytes], object]
    fixed: int = 0


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An entry of the registry.

    Attributes:
        syntax: what its files are written in.
        share: which part of the usual number of examples it gets; a reader may be slow.
        steps: most calls that it may take.
        make: its seeds and its reader.
    """

    syntax: Syntax
    share: float
    steps: int
    make: Callable[[Shop], Case]


READERS: dict[str, Entry] = {}


def _entry(name: str, syntax: Syntax, share: float = 1.0, steps: int = MOST) -> Callable[..., Any]:
    def keep(make: Callable[[Shop], Case]) -> Callable[[Shop], Case]:
        READERS[name] = Entry(syntax=syntax, share=share, steps=steps, make=make)
        return make

    return keep


def _text(content: bytes) -> str:
    """As a text field gives it: any characters, halves of pairs too."""
    return content.decode("utf-8", "surrogateescape")


def _values(content: bytes) -> Any:
    """What a JSON text holds, None where it is none: for readers of values."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _every(*acts: Callable[[], object]) -> None:
    """All of them, whatever one of them refuses; then the errors together."""
    refused: list[PrismError] = []
    for act in acts:
        try:
            act()
        except PrismError as error:
            refused.append(error)
    if refused:
        for other in refused[1:]:
            refused[0].add_note("".join(traceback.format_exception(other)))
        raise refused[0]


def _file(place: Path, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    """The reader of a path as one of content."""

    def through(content: bytes) -> object:
        place.write_bytes(content)
        return read(place)

    return through


# --- what a run starts from ------------------------------------------------------------------


@_entry("schema", "yaml")
def _schema(shop: Shop) -> Case:
    seeds = [schema_file.dumps(shop.schema), schema_file.dumps(shop.grouped)]
    return Case(
        seeds=tuple(map(str.encode, seeds)),
        read=_file(shop.folder("schema") / "schema.yaml", schema_file.load),
    )


@_entry("schema as a text", "json")
def _schema_text(shop: Shop) -> Case:
    document = json.dumps(schema_file.to_dict(shop.grouped)).encode()
    return Case(seeds=(document,), read=lambda content: schema_file.loads(_text(content)))


@_entry("levels on a line", "text")
def _levels(shop: Shop) -> Case:
    line = column_form.write_levels(("north", "a|b", "01", "1", 1, 0.5, True, ' "x" '))

    def read(content: bytes) -> None:
        _every(
            lambda: column_form.read_levels(_text(content), "ward"),
            lambda: column_form.read_level(_text(content), "ward", "fill"),
        )

    return Case(seeds=(line.encode(), b'"a|b"'), read=read)


@_entry("outline", "yaml")
def _outline(shop: Shop) -> Case:
    text = (
        "one_row_per_person: true\ncolumns:\n"
        "- {name: age, kind: numeric, lower: 0, upper: 120, decimals: 0, learn: {bins: 6}}\n"
        "- {name: seen, kind: date, lower: 2020-01-01, upper: 2021-01-01, learn: true}\n"
        "- {name: ward, kind: categorical, other: rest, learn: {max_levels: 5}}\n"
        "- {name: readmitted, kind: boolean}\n"
    )
    place = shop.folder("outline") / "outline.yaml"
    written = outline_io.dumps_outline(outline_io.loads_outline(text))

    def read(path: Path) -> object:
        outline_io.has_requests(schema_file.read_text(path)[0])
        return outline_io.load_outline(path)

    return Case(seeds=(text.encode(), written.encode()), read=_file(place, read))


@_entry("map of codes", "text")
def _codes(shop: Shop) -> Case:
    seeds = (b"code,group,weight\nI21,heart,2\nI50,heart,1\nJ44,lung,1\n", b"I21;heart\nJ44;lung\n")
    return Case(seeds=seeds, read=lambda content: code_groups.read_map(_text(content)))


@_entry("map of codes by prefix", "text")
def _prefixes(shop: Shop) -> Case:
    return Case(
        seeds=(b"I21.0\nI21.1\nJ44\n",),
        read=lambda content: code_groups.read_map(_text(content), prefix=3),
    )


@_entry("map of codes beside a schema", "text")
def _codes_file(shop: Shop) -> Case:
    place = shop.folder("codes")
    entries = "- {name: a, kind: categorical, groups: map.csv}\n- {name: b, kind: boolean}\n"
    (place / "schema.yaml").write_text(f"columns:\n{entries}one_row_per_person: true\n")
    return Case(
        seeds=(b"I21,heart,2\nI50,heart,1\nJ44,lung,1\n",),
        read=_file(place / "map.csv", lambda path: schema_file.load(path.parent / "schema.yaml")),
    )


_SYNTAX: dict[str, Syntax] = {"node-link": "json"}


def _graph(format: str) -> Callable[[Shop], Case]:
    def make(shop: Shop) -> Case:
        dag = shop.dag if format in formats.holding(shop.dag) else bundles.DAG
        seeds = [formats.write(dag, format).encode()]
        if format == "node-link":
            seeds.append(formats.write(shop.learned_dag, format).encode())

        def read(path: Path) -> None:
            content = path.read_bytes()
            _every(
                lambda: formats.read_drawing(path),
                lambda: formats.read_drawing(content, format),
                lambda: formats.read_drawing(_text(content), format),
            )

        return Case(seeds=tuple(seeds), read=_file(shop.folder(f"graph-{format}") / "g", read))

    return make


for _format in formats.FORMATS:
    _entry(f"graph: {_format}", _SYNTAX.get(_format, "text"))(_graph(_format))


_CONFIG = b"""[table]
train = "train.csv"
holdout = "holdout.csv"
schema = "schema.yaml"
dag = "dag.csv"
separator = ";"
[task]
target = "readmitted"
regime = "causal"
k = 3
weights = {age = 2.0}
further = [{name = "ward", weight = 0.5}]
[budget]
epsilon = 1.0
delta = 1e-6
shares = {choice = 0.1, task = 0.7, background = 0.1, selection = 0.1}
locks = [{columns = ["age", "readmitted"], share = 0.1}]
[synthesis]
model = "pgm"
rows = 200
[asset]
name = "ward 7"
lifetime_epsilon = 2.0
why = "a study"
[domain]
share = 0.1
[graph]
share = 0.2
"""


@_entry("configuration", "toml")
def _config(shop: Shop) -> Case:
    return Case(seeds=(_CONFIG,), read=_file(shop.folder("config") / "run.toml", config.load))


@_entry("scenarios", "toml")
def _scenarios(shop: Shop) -> Case:
    base = shop.scenarios[0]

    def read(path: Path) -> object:
        scenario_files.load(path, base=base)
        return scenario_files.load(path)

    seed = scenario_files.dumps(shop.scenarios).encode()
    return Case(seeds=(seed,), read=_file(shop.folder("scenarios") / "what-if.toml", read))


@_entry("scenarios of a workspace", "json")
def _book(shop: Shop) -> Case:
    place = shop.folder("book")
    book = scenario_files.ScenarioBook(place)
    for one in shop.scenarios:
        book.save("project", one)
    (path,) = (place / scenario_files.FOLDER).iterdir()
    return Case(seeds=(path.read_bytes(),), read=_file(path, lambda _: book.load("project")))


@_entry("address of a table", "text")
def _address(shop: Shop) -> Case:
    texts = (
        "train.csv",
        "folder/*.parquet",
        "postgresql://me@host:5432/base?table=ward.stays",
        "bigquery://project/set?table=stays",
        "duckdb:///base.duckdb?table=stays",
    )
    return Case(
        seeds=tuple(map(str.encode, texts)),
        read=lambda content: address.parse(_text(content), Path("/data")),
    )


# --- tables: nothing that stands in a cell is told -------------------------------------------


def _rows(shop: Shop, raw: RawTable) -> None:
    encode(shop.schema, raw)


def _csv(separator: str, encoding: str) -> Callable[[Shop], Case]:
    def make(shop: Shop) -> Case:
        table = shop.table.replace(b",", separator.encode())

        def read(content: bytes) -> None:
            _rows(shop, read_table(content, name="t", separator=separator, encoding=encoding))

        return Case(seeds=(table,), read=read, fixed=table.index(b"\n") + 1)

    return make


_entry("table: CSV", "text", 0.3)(_csv(",", "utf-8"))
_entry("table: CSV, semicolons, Latin-1", "text", 0.3)(_csv(";", "latin-1"))


@_entry("table: Parquet", "bytes", 0.03)
def _parquet(shop: Shop) -> Case:
    return Case(
        seeds=(shop.parquet,),
        read=lambda content: _rows(shop, read_table(content, name="t.parquet")),
        fixed=4,
    )


@_entry("table: Parquet behind a database", "bytes", 0.1)
def _large_parquet(shop: Shop) -> Case:
    place = shop.folder("copies")

    def read(path: Path) -> None:
        parquet_copies.readable_parquet(path, place / "copy.parquet")

    return Case(seeds=(shop.parquet,), read=_file(place / "t.parquet", read), fixed=4)


def _in_place(content: str) -> Callable[[Shop], Case]:
    def make(shop: Shop) -> Case:
        from prism_core.data.engines.out_of_core import open_table

        place = shop.folder(f"in-place-{content}")
        seed = shop.table if content == "csv" else shop.parquet

        def read(path: Path) -> None:
            table = open_table(address.Address("file", str(path)), place)
            try:
                table.store(shop.schema, public=False).folder.close()
            finally:
                table.engine.close()
                table.scratch.close()

        fixed = seed.index(b"\n") + 1 if content == "csv" else 4
        return Case(seeds=(seed,), read=_file(place / f"t.{content}", read), fixed=fixed)

    return make


_entry("table: CSV where it stands", "text", 0.015, 10 * MOST)(_in_place("csv"))
_entry("table: Parquet where it stands", "bytes", 0.015, 10 * MOST)(_in_place("parquet"))


# --- the folder of a release -----------------------------------------------------------------


def _bundle(name: str) -> Callable[[Shop], Case]:
    def make(shop: Shop) -> Case:
        place = shop.bundle_copy(name) / name

        def read(path: Path) -> None:
            _every(*(partial(act, path.parent) for act in _ACTS))

        return Case(seeds=(place.read_bytes(),), read=_file(place, read))

    return make


def _replayed(folder: Path) -> None:
    found = reader.read_bundle(folder)
    found.stages()
    found.considered()


_ACTS: tuple[Callable[[Path], object], ...] = (
    _replayed,
    reader.read_said,
    lambda folder: bundle_folder.read_plan(bundle_folder.read(folder)),
    lambda folder: manifest.check_manifest(folder, signed=True),
    lambda folder: measurements_file.read_measurements(
        folder, schema_file.load(folder / bundle_files.SCHEMA)
    ),
)

_OF_BUNDLE: dict[str, Syntax] = {
    bundle_files.PLAN: "json",
    bundle_files.CERTIFICATE: "json",
    bundle_files.MEASUREMENTS: "json",
    bundle_files.SCENARIOS: "json",
    bundle_files.GRAPH: "json",
    bundle_files.MANIFEST: "json",
    bundle_files.RUN: "toml",
    bundle_files.SCHEMA: "yaml",
    bundle_files.PUBLIC_KEY: "bytes",
    bundle_files.SIGNATURE: "bytes",
    bundle_files.LOCAL: "json",
}
for _name, _kind in _OF_BUNDLE.items():
    _entry(f"bundle: {_name}", _kind, 0.1)(_bundle(_name))


@_entry("bundle: verify", "json", 0.015, 20 * MOST)  # fits a model and draws its rows again
def _verified(shop: Shop) -> Case:
    """All of a certificate's check, with a certificate, a plan or counts that are not ours."""
    folder = shop.bundle_copy("verify")
    parts = [bundle_files.CERTIFICATE, bundle_files.PLAN, bundle_files.MEASUREMENTS]
    seeds = {name: (folder / name).read_bytes() for name in parts}

    def read(content: bytes) -> None:
        known = next((name for name in parts if content[:20] == seeds[name][:20]), parts[0])
        for name, seed in seeds.items():
            (folder / name).write_bytes(content if name == known else seed)
        assert verification.verify(folder, workspace=shop.workspace).to_dict()

    return Case(seeds=tuple(seeds.values()), read=read)


@_entry("bundle: synthetic.csv", "text", 0.05)
def _synthetic(shop: Shop) -> Case:
    folder = shop.bundle_copy("rows")
    final = reader.read_bundle(folder).stages().final

    def read(path: Path) -> object:
        return counts_check.rows_findings(path.parent, final)

    place = folder / bundle_files.SYNTHETIC
    return Case(seeds=(place.read_bytes(),), read=_file(place, read))


# --- committee -------------------------------------------------------------------------------


@_entry("protocol", "json")
def _protocol(shop: Shop) -> Case:
    return Case(
        seeds=(shop.protocol.encode(),),
        read=lambda content: approval_file.approve(
            _text(content), by="A. B.", role="chair", date="2025-01-31"
        ),
    )


@_entry("approval", "json")
def _approval(shop: Shop) -> Case:
    def read(path: Path) -> None:
        found = approval_file.load(path)
        assert found.changes(shop.plan) == () or not found.covers(shop.plan)
        found.check(shop.plan, "ward 7")

    return Case(
        seeds=(shop.approval.encode(),), read=_file(shop.folder("approval") / "a.json", read)
    )


@_entry("estimates of a rehearsal", "json")
def _estimates(shop: Shop) -> Case:
    one = Estimate(variant="a", epsilon=1.0, shift="none", mean=0.7, half=0.1, ceiling=0.8, runs=3)
    return Case(
        seeds=(json.dumps({"estimates": [one.to_dict(), one.to_dict()]}).encode(),),
        read=_file(shop.folder("estimates") / "e.json", common.rehearsal_from),
    )


@_entry("documents beside a report", "json", 0.3)
def _documents(shop: Shop) -> Case:
    from prism_core.bundle.report import report_extras

    row = {"name": "auc", "subject": "", "value": 0.7, "outside_epsilon": True, "note": ""}
    seen = report_extras.outside([]) | {"metrics": [row]}
    bought = {
        "private_evaluation": report_extras.PRIVATE,
        "charge": 1,
        "notice": report_extras.INSIDE_EPSILON,
        "guarantee": {"epsilon": 1.0, "delta": 1e-6},
        "plan": {"release_plan_sha256": shop.plan.hash},
        "numbers": [
            {"name": "auc", "value": 0.7, "outside_epsilon": False, "noise_interval_95": [0.6, 0.8]}
        ],
    }

    def read(path: Path) -> None:
        document = report_command._document(path, "evaluation")
        if isinstance(document, dict) and "private_evaluation" in document:
            report_extras.Extras(private=(document,)).check_release(shop.plan.hash)
        else:
            report_extras.Extras(evaluation=document)

    seeds = tuple(json.dumps(document).encode() for document in (seen, bought))
    return Case(seeds=seeds, read=_file(shop.folder("documents") / "d.json", read))


# --- rehearsals and comparators --------------------------------------------------------------


@_entry("rehearsal", "json")
def _rehearsal(shop: Shop) -> Case:
    made = Rehearsal(variants=shop.scenarios, epsilons=(0.5, 1.0), seeds=2)
    return Case(
        seeds=(json.dumps(made.to_dict()).encode(),),
        read=lambda content: Rehearsal.from_dict(_values(content)),
    )


@_entry("points of a rehearsal", "json")
def _points(shop: Shop) -> Case:
    kept = PointStore(shop.folder("points"))
    kept.add(
        "key",
        [
            RehearsalPoint(
                variant="a",
                epsilon=1.0,
                seed=1,
                shift="none",
                metric="auc",
                score=0.6,
                ceiling=0.7,
                seconds=1.0,
            )
        ],
    )
    path = kept.folder / "key.jsonl"
    return Case(seeds=(path.read_bytes(),), read=_file(path, lambda _: kept.read("key", "b")))


@_entry("stand-in: document", "json", 0.5)
def _stand_in(shop: Shop) -> Case:
    place = shop.folder("stand-in")
    stand_in_rows.save(
        stand_in_rows.from_graph(shop.schema, "readmitted", 60, shop.learned_dag, holdout=20), place
    )
    path = place / stand_in_rows._DOCUMENT
    return Case(seeds=(path.read_bytes(),), read=_file(path, lambda _: stand_in_rows.load(place)))


@_entry("stand-in: codes", "bytes", 0.5)
def _stand_in_codes(shop: Shop) -> Case:
    place = shop.folder("stand-in-codes")
    stand_in_rows.save(
        stand_in_rows.from_graph(shop.schema, "readmitted", 60, None, holdout=20), place
    )
    path = place / stand_in_rows._CODES
    return Case(seeds=(path.read_bytes(),), read=_file(path, lambda _: stand_in_rows.load(place)))


def _compared(name: str) -> Callable[[Shop], Case]:
    def make(shop: Shop) -> Case:
        from prism_core.privacy.noise import SeededNoise

        place = shop.folder(f"comparator-{name}")
        rng = np.random.default_rng(0)
        plan = design_comparator("independent", shop.schema, shop.encoded.n, 1.0, 1e-6)
        made = run_comparator(plan, shop.encoded, ledger=None, noise=SeededNoise(rng), rng=rng)
        compared.write(made, place)
        from prism_core.runs.inputs import candidate

        return Case(
            seeds=((place / name).read_bytes(),),
            read=_file(place / name, lambda path: candidate(path.parent, "a")),
        )

    return make


_entry("comparator: comparator.json", "json", 0.03)(_compared(compared.DOCUMENT))
_entry("comparator: schema.yaml", "yaml", 0.03)(_compared(compared.SCHEMA))


@_entry("output of another package", "text", 0.5)
def _output(shop: Shop) -> Case:
    from prism_core.comparators.external import external, interpreter

    place = shop.folder("output") / "synthetic.csv"
    return Case(
        seeds=(b"0,1,2\n1,0,0\n",),
        read=_file(
            place, lambda path: interpreter._read(path, external("privbayes"), 2, (2, 2, 3))
        ),
    )


@_entry("outcome of a benchmark", "json", 0.5)
def _outcome(shop: Shop) -> Case:
    from prism_core.reproduction.outcomes import RunOutcome, Scored

    score = Scored(auc=0.7, accuracy=0.6, ceiling=0.8, ceiling_all=0.9)
    made = RunOutcome(
        benchmark="adult",
        method="mst",
        setting="ours",
        epsilon=1.0,
        rows=100,
        seed=1,
        onehot=score,
        standardised=score,
        l1=0.1,
        seconds=2.0,
    )
    return Case(
        seeds=(json.dumps(made.to_dict()).encode(),),
        read=lambda content: RunOutcome.from_dict(_values(content)),
    )


@_entry("results of a benchmark", "json", 0.3)
def _results(shop: Shop) -> Case:
    book = packaged()
    text = json.loads(book.to_text())
    few = text | {"rows": text["rows"][:4]}
    return Case(
        seeds=(json.dumps(few).encode(),), read=lambda content: Results.from_text(_text(content))
    )


# --- workspace -------------------------------------------------------------------------------


def _look_at(folder: Path) -> None:
    """All that reads a ledger; what refuses does so with an error of ours."""
    ledger = Ledger(folder)
    _every(
        ledger.assets,
        ledger.charges,
        lambda: ledger.balance("ward 7"),
        ledger.verify,
        ledger.export,
        lambda: ledger.get(1),
        lambda: ledger.entry(1),
        lambda: ledger.lacking("ward 7", ()),
        lambda: ledger.register("ward 7", epsilon=9.0, delta=1e-6),
    )


@_entry("ledger: file", "bytes", 0.2)
def _ledger(shop: Shop) -> Case:
    place = shop.folder("ledger")

    def read(content: bytes) -> None:
        for path in place.iterdir():
            path.unlink()
        (place / "ledger.sqlite").write_bytes(content)
        _look_at(place)

    return Case(seeds=(shop.ledger,), read=read)


@_entry("ledger: rows", "json", 0.2)
def _ledger_rows(shop: Shop) -> Case:
    """A file of SQLite that holds whatever it likes under the names of our tables."""
    place = shop.folder("ledger-rows")

    def read(content: bytes) -> None:
        document = _values(content)
        for path in place.iterdir():
            path.unlink()
        with closing(sqlite3.connect(place / "ledger.sqlite", isolation_level=None)) as db:
            db.execute("PRAGMA synchronous=OFF")
            db.execute("BEGIN")
            for table, names in {
                **COLUMNS,
                "meta": ("version",),
                "chain": ("id", "kind", "row", "digest"),
            }.items():
                db.execute(f"CREATE TABLE {table} ({', '.join(names)})")
                marks = ", ".join("?" * len(names))
                rows = document.get(table) if isinstance(document, dict) else None
                for row in rows if isinstance(rows, list) else ():
                    cells = [_cell(cell) for cell in row] if isinstance(row, list) else [_cell(row)]
                    cells = [*cells, *[None] * len(names)][: len(names)]
                    db.execute(f"INSERT INTO {table} VALUES ({marks})", cells)
            db.execute("COMMIT")
        _look_at(place)

    return Case(seeds=(shop.ledger_rows,), read=read)


def _cell(value: object) -> object:
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return float(value) if abs(value) < 10**300 else math.inf
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return value if isinstance(value, int | float | None) else json.dumps(value)


@_entry("ledger: note beside it", "json")
def _head(shop: Shop) -> Case:
    assert shop.ledger
    place = shop.folder("head")
    seed = (shop.workspace / chain_head.FILE).read_bytes()
    return Case(
        seeds=(seed,),
        read=_file(place / chain_head.FILE, lambda path: chain_head.noted(path.parent)),
    )


@_entry("settings of a workspace", "toml")
def _settings(shop: Shop) -> Case:
    place = shop.folder("settings") / rules.SETTINGS
    return Case(
        seeds=(b"[release]\napproval_required = true\n",),
        read=_file(place, lambda path: rules.approval_required(path.parent)),
    )


@_entry("keys of a workspace", "bytes")
def _keys(shop: Shop) -> Case:
    assert shop.ledger
    place = shop.folder("keys")

    def read(path: Path) -> None:
        signing.public_pem(path.parent)
        signing.check_signing(path.parent)

    seed = (shop.workspace / signing.KEY).read_bytes()
    return Case(seeds=(seed,), read=_file(place / signing.KEY, read))


@_entry("fingerprints of a workspace", "json")
def _fingerprints(shop: Shop) -> Case:
    place = shop.folder("fingerprints")
    fingerprint.recognise(place, "ward 7", shop.encoded)
    fingerprint.remember(place, "ward 7", {"a" * 64})
    lines = (place / fingerprint.MEMORY).read_bytes().split()
    assert lines

    def read(path: Path) -> None:
        fingerprint.assets_of(path.parent, {"a" * 64}, None)
        fingerprint.recognise(path.parent, "clinic", shop.encoded)

    seeds = tuple(line for line in (place / fingerprint.MEMORY).read_bytes().splitlines() if line)
    return Case(seeds=seeds, read=_file(place / fingerprint.MEMORY, read))


@_entry("what was paid for", "bytes")
def _paid(shop: Shop) -> Case:
    assert shop.ledger
    place = shop.root / "paid"
    shutil.copytree(shop.workspace, place)
    (place / recovery_file.FOLDER).mkdir(exist_ok=True)
    room = recovery_file.ReservedSpace(place / recovery_file.FOLDER / "draft", Ledger(place))
    room.draft.touch()
    room.keep("domain", 1, {"schema.yaml": schema_file.dumps(shop.schema)})
    path = place / recovery_file.FOLDER / "charge-1.zip"
    return Case(
        seeds=(path.read_bytes(),), read=_file(path, lambda _: recovery_file.contents(place, 1))
    )


@_entry("session of a reusable holdout", "json")
def _session(shop: Shop) -> Case:
    from prism_core.evaluation.inside_epsilon.holdout import ask_holdout, open_holdout
    from prism_core.evaluation.inside_epsilon.holdout_plan import design_holdout
    from prism_core.evaluation.inside_epsilon.holdout_question import question

    place = shop.folder("session")
    plan = design_holdout(shop.schema, "readmitted", shop.encoded.n, 1.0, 1e-6)
    session = open_holdout(plan, shop.encoded, shop.encoded, workspace=place, ledger=None, seed=3)
    ask_holdout(session.place, question(shop.schema, "readmitted"), shop.encoded, shop.encoded)
    path = session.place / holdout_state.FILE
    return Case(
        seeds=(path.read_bytes(),), read=_file(path, lambda _: holdout_state.read(session.place))
    )
