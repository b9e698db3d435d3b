"""Readers of what a run starts from: schemas, graphs, configurations and tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from prism_core.data.encoding import encode
from prism_core.data.engines import parquet_copies
from prism_core.data.schema import code_groups, level_lines, schema_file
from prism_core.data.tables import address, statistical_file, workbook_file
from prism_core.data.tables.raw_table import RawTable, read_table
from prism_core.learning.domain import outline_io
from prism_core.planning.wishes import config, scenario_files
from prism_core.structure import formats
from tests.fuzz.registry import Case, as_file, as_text, entry, every
from tests.fuzz.steps import MOST
from tests.support import bundles

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fuzz.mutants import Syntax
    from tests.fuzz.shop import Shop
# --- what a run starts from ------------------------------------------------------------------


@entry("schema", "yaml")
def _schema(shop: Shop) -> Case:
    seeds = [schema_file.dumps(shop.schema), schema_file.dumps(shop.grouped)]
    return Case(
        seeds=tuple(map(str.encode, seeds)),
        read=as_file(shop.folder("schema") / "schema.yaml", schema_file.load),
    )


@entry("schema as a text", "json")
def _schema_text(shop: Shop) -> Case:
    document = json.dumps(schema_file.to_dict(shop.grouped)).encode()
    return Case(seeds=(document,), read=lambda content: schema_file.loads(as_text(content)))


@entry("levels on a line", "text")
def _levels(shop: Shop) -> Case:
    line = level_lines.write_levels(("north", "a|b", "01", "1", 1, 0.5, True, ' "x" '))

    def read(content: bytes) -> None:
        every(
            lambda: level_lines.read_levels(as_text(content), "ward"),
            lambda: level_lines.read_level(as_text(content), "ward", "fill"),
        )

    return Case(seeds=(line.encode(), b'"a|b"'), read=read)


@entry("words on a line", "text")
def _words(shop: Shop) -> Case:
    line = level_lines.write_labels((("1", "one"), ("a|b", "x = y"), (' "', "é")))
    return Case(
        seeds=(line.encode(),),
        read=lambda content: level_lines.read_labels(as_text(content), "ward"),
    )


@entry("outline", "yaml")
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

    return Case(seeds=(text.encode(), written.encode()), read=as_file(place, read))


@entry("map of codes", "text")
def _codes(shop: Shop) -> Case:
    seeds = (b"code,group,weight\nI21,heart,2\nI50,heart,1\nJ44,lung,1\n", b"I21;heart\nJ44;lung\n")
    return Case(seeds=seeds, read=lambda content: code_groups.read_map(as_text(content)))


@entry("map of codes by prefix", "text")
def _prefixes(shop: Shop) -> Case:
    return Case(
        seeds=(b"I21.0\nI21.1\nJ44\n",),
        read=lambda content: code_groups.read_map(as_text(content), prefix=3),
    )


@entry("map of codes beside a schema", "text")
def _codes_file(shop: Shop) -> Case:
    place = shop.folder("codes")
    entries = "- {name: a, kind: categorical, groups: map.csv}\n- {name: b, kind: boolean}\n"
    (place / "schema.yaml").write_text(f"columns:\n{entries}one_row_per_person: true\n")
    return Case(
        seeds=(b"I21,heart,2\nI50,heart,1\nJ44,lung,1\n",),
        read=as_file(place / "map.csv", lambda path: schema_file.load(path.parent / "schema.yaml")),
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
            every(
                lambda: formats.read_drawing(path),
                lambda: formats.read_drawing(content, format),
                lambda: formats.read_drawing(as_text(content), format),
            )

        return Case(seeds=tuple(seeds), read=as_file(shop.folder(f"graph-{format}") / "g", read))

    return make


for _format in formats.FORMATS:
    entry(f"graph: {_format}", _SYNTAX.get(_format, "text"))(_graph(_format))


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


@entry("configuration", "toml")
def _config(shop: Shop) -> Case:
    return Case(seeds=(_CONFIG,), read=as_file(shop.folder("config") / "run.toml", config.load))


@entry("scenarios", "toml")
def _scenarios(shop: Shop) -> Case:
    base = shop.scenarios[0]

    def read(path: Path) -> object:
        scenario_files.load(path, base=base)
        return scenario_files.load(path)

    seed = scenario_files.dumps(shop.scenarios).encode()
    return Case(seeds=(seed,), read=as_file(shop.folder("scenarios") / "what-if.toml", read))


@entry("scenarios of a workspace", "json")
def _book(shop: Shop) -> Case:
    place = shop.folder("book")
    book = scenario_files.ScenarioBook(place)
    for one in shop.scenarios:
        book.save("project", one)
    (path,) = (place / scenario_files.FOLDER).iterdir()
    return Case(seeds=(path.read_bytes(),), read=as_file(path, lambda _: book.load("project")))


@entry("address of a table", "text")
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
        read=lambda content: address.parse(as_text(content), Path("/data")),
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


entry("table: CSV", "text", 0.3)(_csv(",", "utf-8"))
entry("table: CSV, semicolons, Latin-1", "text", 0.3)(_csv(";", "latin-1"))


@entry("table: Parquet", "bytes", 0.03)
def _parquet(shop: Shop) -> Case:
    return Case(
        seeds=(shop.parquet,),
        read=lambda content: _rows(shop, read_table(content, name="t.parquet")),
        fixed=4,
    )


def _statistical(kind: str) -> Callable[[Shop], Case]:
    def make(shop: Shop) -> Case:
        place = shop.folder(f"statistical-{kind}") / f"t.{kind}"

        def read(path: Path) -> None:
            every(
                lambda: _rows(shop, read_table(path)),
                lambda: statistical_file.metadata(path),
            )

        return Case(seeds=(shop.statistical(kind),), read=as_file(place, read), fixed=8)

    return make


entry("table: SPSS", "bytes", 0.03)(_statistical("sav"))
entry("table: Stata", "bytes", 0.03)(_statistical("dta"))
entry("table: SAS", "bytes", 0.03)(_statistical("xpt"))


def _workbook(ending: str) -> Callable[[Shop], Case]:
    def make(shop: Shop) -> Case:
        def read(content: bytes) -> None:
            every(
                lambda: _rows(shop, read_table(content, name=f"t.{ending}")),
                lambda: workbook_file.sheet_names(content, f"t.{ending}"),
            )

        return Case(seeds=(shop.workbook(ending),), read=read, fixed=4)

    return make


entry("table: Excel", "bytes", 0.03)(_workbook("xlsx"))
entry("table: old Excel", "bytes", 0.03)(_workbook("xls"))
entry("table: ODS", "bytes", 0.03)(_workbook("ods"))


@entry("table: Parquet behind a database", "bytes", 0.1)
def _large_parquet(shop: Shop) -> Case:
    place = shop.folder("copies")

    def read(path: Path) -> None:
        parquet_copies.readable_parquet(path, place / "copy.parquet")

    return Case(seeds=(shop.parquet,), read=as_file(place / "t.parquet", read), fixed=4)


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
        return Case(seeds=(seed,), read=as_file(place / f"t.{content}", read), fixed=fixed)

    return make


entry("table: CSV where it stands", "text", 0.015, 10 * MOST)(_in_place("csv"))
entry("table: Parquet where it stands", "bytes", 0.015, 10 * MOST)(_in_place("parquet"))
