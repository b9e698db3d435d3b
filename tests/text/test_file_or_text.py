"""Where graphs, schemas and tables come from: one rule, and a message that names the cause."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import prism_core
from prism_core.cli import main
from prism_core.data.schema import schema_file
from prism_core.errors import PrismError, SchemaError, StructureError, TableError
from prism_core.learning.domain.outline_io import dumps_outline, load_outline, loads_outline
from prism_core.structure import formats
from prism_core.structure.dag import Dag
from tests.support.refusals import refused

DAG = Dag(nodes=("A", "Y"), edges=(("A", "Y"),))
TEXTS = {
    "dag.json": formats.write(DAG, "node-link"),
    "dag.csv": "from,to\nA,Y\n",
    "dag.txt": "dag { A -> Y }",
    "dag.dag": "A -> Y",
    "dag.dot": "digraph { A -> Y }",
    "dag.gv": "digraph { A -> Y }",
    "dag.gml": formats.write(DAG, "gml"),
    "dag.graphml": formats.write(DAG, "graphml"),
    "dag.bif": formats.write(DAG, "bif"),
}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


# --- one rule --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TEXTS)
def test_a_graph_is_read_from_a_name_a_path_a_text_and_bytes(name):
    Path(name).write_text(TEXTS[name])
    for source in (
        name,
        f"./{name}",
        Path(name),
        Path(name).absolute(),
        str(Path(name).absolute()),
        TEXTS[name],
        TEXTS[name].encode(),
    ):
        assert prism_core.read_dag(source) == DAG, source
        assert prism_core.read_drawing(source).dag == DAG, source


def test_a_name_without_an_ending_is_a_file_where_there_is_one():
    Path("graph").write_text("A -> Y")
    assert prism_core.read_dag("graph") == DAG
    Path("A -> B").write_text("A -> Y")
    assert prism_core.read_dag("A -> B") == DAG
    Path("A -> B").unlink()
    assert prism_core.read_dag("A -> B").nodes == ("A", "B")


def test_a_schema_and_an_outline_are_read_from_a_name_a_path_a_text_and_bytes(schema):
    asked = schema_file.dumps(schema).replace(
        "columns:", "columns:\n- {name: x, kind: categorical, learn: true}", 1
    )
    outline = loads_outline(asked)
    for name, text, read, expected in (
        ("s.yaml", schema_file.dumps(schema), prism_core.load_schema, schema),
        ("s.json", schema_file.dumps(schema, format="json"), prism_core.load_schema, schema),
        ("o.yaml", dumps_outline(outline), prism_core.load_outline, outline),
    ):
        Path(name).write_text(text)
        for source in (name, Path(name), str(Path(name).absolute()), text, text.encode()):
            assert read(source) == expected
    one_line = '{"columns": [{"name": "a", "kind": "boolean"}]}'
    assert prism_core.load_schema(one_line).names == ("a",)


def test_a_table_is_read_from_a_name_a_path_a_text_and_bytes():
    text = "a,b\n1,2\n"
    Path("t.csv").write_text(text)
    for source in ("t.csv", Path("t.csv"), text, text.encode(), io.BytesIO(text.encode())):
        assert prism_core.read_table(source).header == ("a", "b")


@pytest.mark.parametrize(
    ("read", "name", "what"),
    [
        (prism_core.read_dag, "dag.json", "The graph"),
        (prism_core.read_dag, "a/b", "The graph"),
        (prism_core.read_drawing, "graph.gml", "The graph"),
        (prism_core.read_dag, "model.bif.gz", "The graph"),
        (prism_core.load_schema, "schema.yaml", "The schema"),
        (prism_core.load_schema, "schema", "The schema"),
        (prism_core.load_outline, "o.yml", "The schema"),
        (prism_core.read_table, "train.csv", "The table"),
        (prism_core.read_table, "train", "The table"),
    ],
)
def test_a_file_that_is_not_there_is_named_as_one(read, name, what):
    for source in (name, Path(name)):
        with pytest.raises(PrismError) as caught:
            read(source)
        short = Path(name).name
        assert (
            str(caught.value)
            == f"{what} {short!r} does not exist: there is no such file. Check the path."
        )
    Path(name).mkdir(parents=True)
    with pytest.raises(PrismError, match="is a folder, not a file"):
        read(name)


def test_a_word_is_neither_a_file_nor_a_graph():
    with pytest.raises(StructureError, match="There is no file 'graf', and as text it is no graph"):
        prism_core.read_dag("graf")


@pytest.mark.privacy
def test_content_is_never_a_path(schema):
    """What comes from a browser, or from inside another file, names no file of this machine."""
    Path("dag.json").write_text(TEXTS["dag.json"])
    Path("schema.yaml").write_text(schema_file.dumps(schema))
    for content in ("dag.json", b"dag.json"):
        with pytest.raises(StructureError):
            formats.parse(content)
    with pytest.raises(StructureError):
        prism_core.read_dag(b"dag.json")
    for read in (schema_file.loads, loads_outline):
        with pytest.raises(SchemaError):
            read("schema.yaml")
    with pytest.raises(TableError):
        prism_core.read_table(b"dag.json")
    for source in (schema_file.load, load_outline):
        with pytest.raises(SchemaError):
            source(b"schema.yaml")


# --- what somebody hands over, and what it is -------------------------------------------------


def test_pairs_are_a_graph():
    for pairs in ([("A", "Y")], (("A", "Y"),), [["A", "Y"]], iter([("A", "Y")])):
        assert prism_core.read_dag(pairs) == DAG
    assert prism_core.read_dag([("A", "B"), ("B", "Y")]).edges == (("A", "B"), ("B", "Y"))


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([], "The list holds no pair"),
        (["AY"], "Pair 1: an edge is a pair of names"),
        ([("A", "Y"), ("A", "B", "C")], "Pair 2: an edge is a pair of names"),
        ([("A", 1.5)], "Names must be text"),
        ([("A", "A")], "Pair 1: 'A' points to itself"),
        ([("A", "Y"), ("Y", "A")], "cycle"),
        ({"A": ["Y"]}, "from a mapping. Give a list of pairs"),
        (3, "cannot be read from int"),
    ],
)
def test_what_is_no_list_of_pairs_is_refused(pairs, expected):
    with pytest.raises(StructureError, match=expected):
        prism_core.read_dag(pairs)


@pytest.mark.parametrize("text", ["[('A', 'B')]", "[('A', 'B'),\n ('B', 'C')]", '[["A", "B"]]'])
def test_pairs_as_text_are_named_and_no_node(text):
    with pytest.raises(StructureError, match="is a list of pairs as Python or JSON writes it"):
        prism_core.read_dag(text)


def test_no_name_is_written_that_reads_as_pairs():
    for name in ("('A','B')", "( 'A'"):
        with refused(StructureError, "nodes"):
            formats.write(Dag(nodes=(name,)), "model-string")


@pytest.mark.parametrize(
    "printed",
    [
        '[1] "dag {\\nA\\nY\\nA -> Y\\n}\\n"',
        '[1] "dag { A -> Y }"\n',
        ' [1]  "A -> Y"',
        '[1] "[A][Y|A]"',
        '[1] "[A][Y|A]"\n',
    ],
)
def test_what_r_prints_is_read(printed):
    assert formats.parse(printed).dag == DAG
    assert prism_core.read_dag(printed) == DAG


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ('[1] "dag { A -> Y }" "dag { B }"', "R printed several texts"),
        ('[1] "[A][B]" "[C]"', "R printed several texts"),
        ('[1] "dag {', "this string is not closed"),
        ('[1] "[A]', "this string is not closed"),
        ('[1] "dag {\\n  A -- Y\\n}"', "Line 1, column 17"),
    ],
)
def test_what_r_prints_is_refused_with_its_place(printed, expected):
    with pytest.raises(StructureError, match=expected):
        formats.parse(printed)


def test_nodes_named_by_numbers_stay_a_model_string():
    assert formats.parse("[1][2|1]").dag.edges == (("1", "2"),)


WEIGHTS = ",A,Y\nA,0,0.35\nY,0,0\n"


@pytest.mark.parametrize(
    "text", [WEIGHTS, "x" + WEIGHTS, "A,Y\n0,0.35\n0,0\n", "A,Y\n0.0,-1.5e-3\n0.0,0.0\n"]
)
def test_weights_in_an_adjacency_matrix_are_named(text):
    with refused(StructureError, "edges"):
        formats.parse(text)


def test_floats_that_are_0_and_1_are_an_adjacency_matrix():
    assert formats.parse("A,Y\n0.0,1.0\n0.0,0.0\n").dag == DAG


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "The graph is empty"),
        (b" \n\n", "The graph is empty"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", "is a PDF file"),
        (b"PK\x03\x04\x14\0\x06\0", "is a ZIP archive, as Excel and Word write"),
        (b"RDX3\nX\n\0", "is a workspace of R"),
        (b"PAR1\x15\x04", "is a Parquet file"),
        (b"<!DOCTYPE html>\n<html>", "is a web page"),
        (b"from;to\nA;Y\n", "an edge list that is not separated by commas"),
        (b"age,sex\n43,F\n51,M\n27,F\n", "The format of the graph is not recognised"),
        (b"age,bmi\n43,1.5\n51,2.5\n27,3\n", "The format of the graph is not recognised"),
    ],
)
def test_a_file_that_is_something_else_is_named(content, expected, canary):
    Path("dag.txt").write_bytes(content)
    for source in ("dag.txt", Path("dag.txt"), content):
        with pytest.raises(StructureError, match=expected) as caught:
            prism_core.read_dag(source)
        assert "43" not in str(caught.value)
        assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"%PDF-1.7\n", "is a PDF file"),
        ("columns: []".encode("utf-16"), "is UTF-16 text, not"),
        ("columns: []".encode("utf-32"), "is UTF-32 text, not"),
        (b"PK\x03\x04", "a ZIP archive"),
        ("columns: é".encode("latin-1"), "not UTF-8 text"),
    ],
)
def test_a_schema_or_configuration_that_is_something_else_is_named(content, expected, capsys):
    Path("s.yaml").write_bytes(content)
    Path("c.toml").write_bytes(content)
    for source in ("s.yaml", content):
        with pytest.raises(SchemaError, match=expected):
            prism_core.load_schema(source)
    assert main.main(["plan", "c.toml"]) == 2
    assert "The configuration" in (said := capsys.readouterr().err)
    assert expected.split(",")[0] in said


def test_a_mark_at_the_start_of_a_text_is_no_part_of_it(make_run, capsys):
    """Editors on Windows write one."""
    config = make_run()
    for path in (config, config.parent / "schema.yaml", config.parent / "dag.csv"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert main.main(["plan", str(config)]) == 0, capsys.readouterr().err
