"""A file that somebody else made has limits before it is parsed, whoever reads it."""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prism_core.bundle import bundle_files, reader
from prism_core.bundle.protocol import approval_file
from prism_core.bundle.report import report_copy
from prism_core.comparators import folder as compared
from prism_core.data.engines import parquet_copies
from prism_core.data.schema import code_groups, schema_file
from prism_core.data.tables.delimited import check_header
from prism_core.data.tables.raw_table import read_table
from prism_core.errors import (
    BundleError,
    ConfigError,
    EvaluationError,
    PrismError,
    SchemaError,
    StructureError,
    TableError,
)
from prism_core.learning.domain.outline_io import has_requests, loads_outline
from prism_core.planning.wishes import config, scenario_files
from prism_core.privacy.ledger import rules
from prism_core.structure import formats
from tests.support.product import nodes_by_function

ROOT = Path(__file__).parents[2]
DEEP = "[" * 500 + "]" * 500
"""Deeper than any document of ours, and not so deep that a parser gives up by itself."""


# --- YAML ------------------------------------------------------------------------------------


def laughs(levels: int) -> str:
    """A text of which every line stands for ten of the line before."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, levels):
        lines.append(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]")
    return "\n".join([*lines, "columns:", f"- {{name: *a{levels - 1}, kind: boolean}}", ""])


@pytest.mark.parametrize("read", [schema_file.loads, has_requests, loads_outline])
@pytest.mark.parametrize("levels", [1, 9])
def test_aliases_are_refused_before_they_stand_for_anything(read, levels):
    with pytest.raises(SchemaError, match=r"alias .* in line 1"):
        read(laughs(levels))


def test_a_foreign_bundle_with_aliases_is_refused(tmp_path):
    (tmp_path / bundle_files.SCHEMA).write_text(laughs(9))
    with pytest.raises(SchemaError, match="alias"):
        reader.read_bundle(tmp_path)


@pytest.mark.parametrize(
    "entry", ["person_id: [[1]]", "provenance: {a: b}", "columns: [{name: {a: b}, kind: boolean}]"]
)
def test_what_is_no_text_is_refused_and_not_printed(entry):
    text = f"version: 1\n{entry}\n" + (
        "" if entry.startswith("columns") else "columns: [{name: a, kind: boolean}]\n"
    )
    with pytest.raises(SchemaError, match="not a list or a section"):
        schema_file.loads(text)


@pytest.mark.parametrize("key", ["name", "kind", "fill", "other", "description"])
def test_no_entry_of_a_column_is_a_list(key):
    entry = {"name": "a", "kind": "categorical", "levels": ["x", "y"]} | {key: [["x"]]}
    with pytest.raises(SchemaError, match="not a list or a section"):
        schema_file.from_dict({"columns": [entry, {"name": "b", "kind": "boolean"}]})


@pytest.mark.parametrize("tag", ["!!binary aGk=", "!!timestamp 2020-01-01", "!!set {a}", "!x a"])
def test_there_are_no_types_but_plain_ones(tag):
    with pytest.raises(SchemaError, match="type of its own"):
        schema_file.parse(f"columns: {tag}")


def test_ordinary_yaml_stays_what_it_was():
    text = "a: 'x & *y'\nb: |\n  &no anchor\nc: !!str 01\nd: [1, 2.5, true, null]\n"
    assert schema_file.parse(text) == {
        "a": "x & *y",
        "b": "&no anchor\n",
        "c": "01",
        "d": [1, 2.5, True, None],
    }


def test_a_schema_has_a_number_of_columns_that_can_be_planned():
    columns = [{"name": f"c{i}", "kind": "boolean"} for i in range(10_001)]
    with pytest.raises(SchemaError, match="at most 10,000 columns"):
        schema_file.from_dict({"columns": columns})


# --- depth, counts and sizes, wherever a text is read ----------------------------------------

TOML = {
    "configuration": (config.load, ConfigError, "The configuration"),
    "scenarios": (scenario_files.load, ConfigError, "The file of scenarios"),
}
JSON = {
    "approval": (approval_file.load, ConfigError, "The protocol or approval"),
    "graph": (formats.read, StructureError, "The graph"),
    "schema": (schema_file.load, SchemaError, "The schema"),
}


@pytest.mark.parametrize("name", TOML)
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x = " + "[" * 200_000, "deep inside each other"),
        ("x = " + DEEP, "deep inside each other"),
        ("x = " + "{a=" * 40 + "1" + "}" * 40, "deep inside each other"),
        (".".join(["a"] * 100_000) + " = 1", "a key of more than 16 parts"),
        ("[" + " . ".join(["'a'"] * 20) + "]", "a key of more than 16 parts"),
        ("# " + "x" * 2_000_000, "is larger than 2 MB"),
    ],
    ids=["200,000 brackets", "brackets", "sections", "key", "header", "size"],
)
def test_toml_beyond_the_limits(name, text, why, tmp_path):
    read, kind, what = TOML[name]
    (tmp_path / "file.toml").write_text(text)
    with pytest.raises(kind, match=f"{what} .*{why}"):
        read(tmp_path / "file.toml")


def test_the_settings_of_a_workspace_and_of_a_bundle_have_the_same_limits(tmp_path):
    for name, read in (
        ("settings.toml", lambda: rules.approval_required(tmp_path)),
        (bundle_files.RUN, lambda: reader._toml(tmp_path / bundle_files.RUN)),
    ):
        (tmp_path / name).write_text(".".join(["a"] * 50_000) + " = 1")
        with pytest.raises(ConfigError, match="a key of more than 16 parts"):
            read()


@pytest.mark.parametrize(
    "text",
    [
        'a = "[[[[ . . ."',
        "a = '''\n[[[\n'''",
        "# [[[[\na = 1",
        "a.b.c = [0.5, 1.5, 2.5]",
        'a = """x\\"""["""',
    ],
)
def test_ordinary_toml_stays_what_it_was(text):
    import tomllib

    from prism_core.text import untrusted

    assert untrusted.from_toml(text, untrusted.CONFIG) == tomllib.loads(text)


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize("text", [DEEP, "[" * 200_000], ids=["500", "200,000"])
def test_json_that_is_too_deep(name, text, tmp_path):
    read, kind, what = JSON[name]
    (tmp_path / "file.json").write_text(text if name != "schema" else f'{{"columns": {text}')
    with pytest.raises(kind, match=f"{what} has values more than"):
        read(tmp_path / "file.json")


def test_json_of_a_bundle_and_of_a_comparator(tmp_path):
    (tmp_path / "plan.json").write_text('{"a": ' * 100 + "1" + "}" * 100)
    with pytest.raises(BundleError, match="deep inside each other"):
        bundle_files.read_json(tmp_path / "plan.json")
    (tmp_path / compared.DOCUMENT).write_text(DEEP)
    with pytest.raises(EvaluationError, match="deep inside each other"):
        compared.read(tmp_path)


@pytest.mark.parametrize("text", ["[" + "1," * 500_000 + "1]", "[" + "[]," * 500_000 + "1]"])
def test_more_values_than_are_read(text):
    with pytest.raises(SchemaError, match="holds more than 500,000 values"):
        schema_file.parse(text if text[1] == "1" else f'{{"a": {text}}}')


def test_a_map_of_codes_has_a_size(tmp_path):
    text = "a,b\n" + "x" * 16_000_000
    with pytest.raises(SchemaError, match="larger than 16 MB"):
        code_groups.read_map(text)
    (tmp_path / "map.csv").write_text(text)
    with pytest.raises(SchemaError, match="larger than 16 MB"):
        code_groups.with_files(
            {"columns": [{"name": "a", "kind": "categorical", "groups": "map.csv"}]}, tmp_path
        )


@pytest.mark.parametrize(
    "read",
    [
        schema_file.load,
        config.load,
        scenario_files.load,
        approval_file.load,
        formats.read,
        read_table,
    ],
)
def test_a_pipe_that_nobody_writes_to_keeps_nobody_waiting(read, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PrismError):
        read(tmp_path / "pipe")


# --- graphs: time in proportion to the text --------------------------------------------------


def test_a_comment_that_is_not_closed_is_looked_for_once():
    """Each of them was looked for to the end of the text: 60 KB took 9 seconds, and 20 MB days."""
    for text in ("network x { " + "/* " * 100_000, "variable a { }\n" + "/* " * 100_000):
        with pytest.raises(StructureError, match="this comment is not closed"):
            formats.read(text, "bif")


@pytest.mark.parametrize(
    "text", ["digraph {{ {{{nodes}}} [{attributes}] }}", "dag {{ {{{nodes}}} [{attributes}] }}"]
)
def test_attributes_of_many_nodes_count_as_often(text):
    """1,000 nodes with 1,000 attributes at once: a million steps out of 8 KB."""
    nodes = " ".join(f"a{i}" for i in range(1000))
    with pytest.raises(StructureError, match="more than 400,000 statements"):
        formats.read(text.format(nodes=nodes, attributes="x," * 1000))


# --- tables ----------------------------------------------------------------------------------


def parquet(table: pa.Table, **options: object) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


def test_a_parquet_file_that_unpacks_to_100_gb_is_refused():
    """471 bytes: one text of a megabyte, a hundred thousand times."""
    codes = pa.array(np.zeros(100_000, dtype=np.int32))
    words = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 1_000_000]))
    content = parquet(pa.table({"a": words}), store_schema=False, compression="zstd")
    assert len(content) < 1_000
    with pytest.raises(TableError, match="GB when it is unpacked"):
        read_table(content, name="bomb.parquet")


def test_a_parquet_file_is_unpacked_where_memory_has_an_end(tmp_path):
    """The limits hold in the process itself, whatever the file says; here a few megabytes."""
    import subprocess
    import sys

    from prism_core.data.tables import parquet_child, reader_child

    tight = ["200000000", "60", "200000000", "4000000000"]
    start = [sys.executable, "-I", reader_child.__file__, parquet_child.__file__]
    content = parquet(pa.table({"a": ["x" * 1_000] * 10}))
    done = subprocess.run(
        [*start, *tight],
        input=content,
        capture_output=True,
        check=False,
    )
    assert done.returncode != 0  # not even the library fits into 200 MB
    roomy = subprocess.run(
        [*start, "4000000000", *tight[1:]],
        input=content,
        capture_output=True,
        check=False,
    )
    assert roomy.returncode == 0


def test_a_small_parquet_file_that_declares_too_many_cells_is_refused():
    zeros = pa.array(np.zeros(10_000_000, dtype=np.int8))
    content = parquet(pa.table({f"a{i}": zeros for i in range(21)}), row_group_size=10_000_000)
    assert len(content) < 1_000_000
    with pytest.raises(TableError, match="declares more than 200,000,000 cells"):
        read_table(content, name="wide.parquet")


def test_a_large_file_that_declares_too_many_rows_is_not_opened(tmp_path, monkeypatch):
    from prism_core.data.tables import parquet

    path = tmp_path / "large.parquet"
    pq.write_table(pa.table({"a": np.zeros(1_000_000, dtype=np.int8)}), path)
    assert parquet_copies.readable_parquet(path, tmp_path / "copy.parquet") == path
    monkeypatch.setattr(parquet, "PER_BYTE", 100)
    with pytest.raises(TableError, match="cells for each of its bytes"):
        parquet_copies.readable_parquet(path, tmp_path / "copy.parquet")


def test_a_parquet_file_reads_as_before():
    table = pa.table(
        {
            "text": ["a", None],
            "number": [1, None],
            "category": pa.array(["x", "y"]).dictionary_encode(),
            "list": [[1], [2]],
            "day": pa.array([0, 1], pa.date32()),
            "flag": [True, None],
        }
    )
    frame = read_table(parquet(table), name="t.parquet").frame
    assert frame.to_dict("list") == {
        "text": ["a", ""],
        "number": ["1", ""],
        "category": ["x", "y"],
        "list": ["", ""],
        "day": ["1970-01-01", "1970-01-02"],
        "flag": ["true", ""],
    }


def limited(monkeypatch: pytest.MonkeyPatch, **entries: int) -> None:
    from prism_core.text import untrusted

    monkeypatch.setattr(untrusted, "TABLE", replace(untrusted.TABLE, **entries))


def test_empty_cells_of_a_csv_are_counted_before_they_are_cut(monkeypatch):
    limited(monkeypatch, values=1_000)
    with pytest.raises(TableError, match="holds more than 1,000 cells"):
        read_table(b"a,b\n" + b",\n" * 1_000, name="t.csv")


def test_a_table_has_a_size(monkeypatch, tmp_path):
    limited(monkeypatch, size=100)
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"1,2\n" * 30)
    for source in (tmp_path / "t.csv", (tmp_path / "t.csv").read_bytes()):
        with pytest.raises(TableError, match="larger than"):
            read_table(source, name="t.csv")


@pytest.mark.parametrize(
    "content", [b"a,b\n1,2\n", parquet(pa.table({"a": [1]}))], ids=["csv", "parquet"]
)
def test_a_table_that_takes_too_long_ends_with_a_message(monkeypatch, content):
    from prism_core.text import untrusted

    monkeypatch.setattr(untrusted, "SECONDS", 0)
    with pytest.raises(TableError, match="took more than 0 seconds to read and was left"):
        read_table(content, name="slow")


def test_names_of_columns_are_compared_in_one_pass():
    names = [f"c{i}" for i in range(20_001)]
    with pytest.raises(TableError, match="more than 10,000 columns"):
        check_header(names, "t.csv")
    with pytest.raises(TableError, match="more than 10,000 columns"):
        read_table(",".join(names * 2).encode() + b"\n", name="t.csv")


@pytest.mark.privacy
def test_no_program_that_opens_a_foreign_file_is_handed_a_secret(monkeypatch):
    """Neither the dashboard's key nor a database's password; everything else is."""
    for name in ("STUDIO_KEY", "PGPASSWORD", "PRISM_TOKEN"):
        monkeypatch.setenv(name, "hunter2")
    begin, environments = subprocess.Popen, []

    def noted(*arguments, **options):
        environments.append(options.get("env") or dict(os.environ))
        return begin(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", noted)
    file = io.BytesIO()
    pd.DataFrame({"a": [1]}).to_parquet(file)
    assert read_table(file.getvalue()).rows == 1
    monkeypatch.setattr(report_copy, "chromium", lambda: "true")
    with pytest.raises(BundleError, match="did not print"):
        report_copy.report_pdf("<p>")
    assert len(environments) == 2
    for environment in environments:
        assert "hunter2" not in environment.values()
        assert environment["PATH"] == os.environ["PATH"]


# --- one place -------------------------------------------------------------------------------

WHO_PARSES = {
    # The one place, with limits.
    "prism_core/text/untrusted.py:from_json",
    "prism_core/text/untrusted.py:from_toml",
    "prism_core/text/untrusted.py:from_yaml",
    # What this program wrote for itself, into a workspace or for a process that it started.
    "dashboard/launch.py:options",  # settings that the package brings along
    "dashboard/jobs/child.py:_rows",
    "dashboard/jobs/child.py:_said",
    "dashboard/jobs/child.py:_who",
    "dashboard/jobs/folders.py:description",
    "dashboard/jobs/job.py:_read",
    "dashboard/jobs/worker.py:story_outcomes",
    "prism_core/bench/process.py:child",
    "prism_core/comparators/external/runner.py:main",
    "prism_core/evaluation/inside_epsilon/holdout_state.py:read",
    "prism_core/learning/domain/domain_counts.py:loads",  # what the page's own process has counted
    "prism_core/privacy/ledger/fingerprint.py:_lines",
    "prism_core/privacy/ledger/queries.py:events_of",
    "prism_core/rehearsal/points.py:PointStore.read",
    "prism_core/rehearsal/stand_in_rows.py:_loaded",
    # Texts that were made in memory just before.
    "prism_core/bundle/bundle_files.py:same_text",
    "prism_core/bundle/protocol/approval_file.py:settings",
    "prism_core/bundle/project_file.py:dumps",
}
"""The functions that parse a text, each with whose text it is."""


def test_whatever_reads_a_foreign_text_asks_for_its_limits_in_one_place():
    parsers = {
        ("json", "load"),
        ("json", "loads"),
        ("yaml", "load"),
        ("tomllib", "load"),
        ("tomllib", "loads"),
        ("yaml", "safe_load"),
        ("pq", "read_table"),
        ("pd", "read_parquet"),
        ("np", "load"),
    }
    found = set()
    for place, node in nodes_by_function():
        called = node.func if isinstance(node, ast.Call) else None
        if not isinstance(called, ast.Attribute) or not isinstance(called.value, ast.Name):
            continue
        if (called.value.id, called.attr) in parsers:
            found.add(place)
    assert found == WHO_PARSES


def test_own_documents_are_within_the_limits(tmp_path):
    document = {"rows": [{"name": f"n{i}", "value": [i]} for i in range(10_000)]}
    (tmp_path / "plan.json").write_text(json.dumps(document))
    assert bundle_files.read_json(tmp_path / "plan.json") == document


def test_half_of_a_surrogate_pair_is_no_text_in_json():
    """A hash, a file or a page of it would fail later, far from the file that it came from."""
    from prism_core.text import untrusted

    for text in ('{"a": "\\ud800"}', '{"\\uDFFF": 1}', '{"a": "\ud800"}'):
        with pytest.raises(ValueError, match="surrogates"):
            untrusted.from_json(text, untrusted.APPROVAL)
        with pytest.raises(ConfigError, match="not readable as JSON"):
            approval_file.approve(text, by="A", role="b", date="2025-01-31")
    assert untrusted.from_json('{"a": "\\ud83d\\ude00"}', untrusted.APPROVAL) == {"a": "😀"}
