"""`prism codebook`, as a person types it."""

from __future__ import annotations

import json

import pytest

from prism_core.cli.main import main
from prism_core.data.codebooks import read_codebook
from prism_core.data.schema import schema_file
from prism_core.learning.domain.outline_io import load_outline
from tests.support import codebooks
from tests.support.tables import small_schema

CLOSED = "variable,label,type,min,max,values\nage,Age,integer,0,9,\nsex,,,,,1=m; 2=f\n"
OPEN = f"{CLOSED}note,Note,text,,,\npay,Pay,decimal,0,,\nid,,text,,,\n"


@pytest.fixture
def closed(tmp_path):
    path = tmp_path / "closed.csv"
    path.write_text(CLOSED, encoding="utf-8")
    return path


@pytest.fixture
def open_book(tmp_path):
    path = tmp_path / "open.csv"
    path.write_text(OPEN, encoding="utf-8")
    return path


def test_a_codebook_that_leaves_nothing_open(closed, tmp_path, capsys):
    out = tmp_path / "schema.yaml"
    assert main(["codebook", str(closed), "--one-row-per-person", "--out", str(out)]) == 0
    assert "2 columns, 0 open" in capsys.readouterr().out
    schema = schema_file.load(out)
    assert schema == read_codebook(closed).schema(one_row_per_person=True)
    assert schema.provenance == "codebook"


def test_what_is_open_is_told_and_the_draft_waits_for_it(open_book, tmp_path, capsys):
    out = tmp_path / "schema.yaml"
    assert main(["codebook", str(open_book), "--out", str(out)]) == 2
    told = capsys.readouterr().out
    assert "5 columns, 3 open" in told
    assert "upper bound" in told
    assert main(["codebook", str(out), "--to", "table-schema", "--out", str(out) + ".json"]) == 2


def test_suggested_bounds_are_shown_and_taken_when_asked(tmp_path, capsys):
    book = tmp_path / "book.csv"
    book.write_text("variable,label,type\nage,Age,integer\nx,Other,decimal\n", encoding="utf-8")
    assert main(["codebook", str(book), "--json"]) == 2
    first = json.loads(capsys.readouterr().out)["open"][0]
    assert first["suggested"] == {"lower": 0, "upper": 120, "because": "an age in years"}
    assert main(["codebook", str(book)]) == 2
    assert "suggested: 0 to 120 (an age in years)" in capsys.readouterr().out
    out = tmp_path / "schema.yaml"
    command = ["codebook", str(book), "--leave-out", "x", "--one-row-per-person"]
    assert main([*command, "--suggested", "--out", str(out)]) == 0
    schema = schema_file.load(out)
    assert schema["age"].bounds == (0, 120)
    assert schema.codebook is not None
    assert schema.codebook.by_hand == ("age",)
    assert main(["codebook", str(book), "--suggested", "x"]) == 2
    assert "No bounds are suggested for column 'x'" in capsys.readouterr().err


def test_json(open_book, capsys):
    assert main(["codebook", str(open_book), "--json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "dictionary"
    assert document["columns"][0] == {
        "name": "age",
        "kind": "numeric",
        "lower": 0,
        "upper": 9,
        "integer": True,
        "label": "Age",
        "source": "line 2",
    }
    assert document["columns"][1]["levels"] == [1, 2]
    assert [one["name"] for one in document["open"]] == ["note", "pay", "id"]
    assert document["open"][1] == {
        "name": "pay",
        "missing": "upper bound",
        "cures": ["type", "learn", "leave out"],
    }
    assert {"header": "variable", "meaning": "name of the column"} in document["understood"]


def test_the_cures_are_options(open_book, tmp_path, capsys):
    out = tmp_path / "outline.yaml"
    typed = ["codebook", str(open_book), "--leave-out", "pay", "--learn", "note", "--out", str(out)]
    assert main([*typed, "--person-id", "id", "--persons", "50"]) == 0
    assert "to be learned" in capsys.readouterr().out
    outline = load_outline(out)
    assert (outline.person_id, outline.persons) == ("id", 50)
    assert [request.name for request in outline.requests] == ["note"]


def test_a_schema_is_written_for_other_programs_and_read_back(tmp_path, capsys):
    source, out = tmp_path / "schema.yaml", tmp_path / "schema.json"
    schema_file.save(small_schema(), source)
    assert main(["codebook", str(source), "--to", "table-schema", "--out", str(out)]) == 0
    assert "7 columns" in capsys.readouterr().out
    assert read_codebook(out).schema().columns == small_schema().columns


@pytest.mark.parametrize("format", codebooks.texts())
def test_every_format(format, tmp_path, capsys):
    path = tmp_path / "codebook"
    path.write_bytes(codebooks.texts()[format])
    assert main(["codebook", str(path), "--format", format, "--json"]) in (0, 2)
    assert json.loads(capsys.readouterr().out)["format"] == format


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (["--leave-out", "agee"], "codebook"),
        (["--learn", "agee"], "codebook"),
        (["--person-id", "id"], "person_id"),
        (["--persons", "9"], "person_id"),
        (["--person-id", "id", "--persons", "9", "--one-row-per-person"], "person_id"),
        (["--resource", "x", "--format", "table-schema"], "codebook"),
        (["--to", "table-schema"], "columns"),
    ],
)
def test_refusals_name_the_option(options, field, open_book, capsys):
    assert main(["codebook", str(open_book), *options]) == 2
    assert capsys.readouterr().err.startswith(f"prism: {field}: ")


def test_a_file_that_is_there_is_not_written_over(closed, tmp_path, capsys):
    out = tmp_path / "schema.yaml"
    out.write_text("mine")
    assert main(["codebook", str(closed), "--out", str(out)]) == 2
    assert "exists" in capsys.readouterr().err
    assert out.read_text() == "mine"
