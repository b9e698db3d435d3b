"""Codebooks: recognition, what is open and its cures, the schema, its draft and the form's rows."""

from __future__ import annotations

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from prism_core.data.codebooks import read_codebook
from prism_core.data.codebooks.codebook import draft_text
from prism_core.data.codebooks.recognition import is_schema
from prism_core.data.schema import column_form, schema_file
from prism_core.errors import PrismError, SchemaError
from prism_core.learning.domain import outline_io
from tests.fuzz.steps import bounded
from tests.support import codebooks

CLOSED = "variable,type,min,max,values\nage,integer,0,9,\nsex,,,,1=m; 2=f\n"
OPEN = "variable,type,min,max\nage,integer,0,9\npay,decimal,0,\nnote,text,,\nrank,ordinal,,\n"


def read(text: str):
    return read_codebook(text.encode(), name="d.csv")


@pytest.mark.parametrize("format", codebooks.texts())
def test_every_format_is_recognised(format, tmp_path):
    content = codebooks.texts()[format]
    path = tmp_path / "codebook.bin"
    path.write_bytes(content)
    for found in (read_codebook(path), read_codebook(content), read_codebook(content.decode())):
        assert found.source.format == format
        assert found.columns == read_codebook(content, format=format).columns
    assert found.source.sha256 == hashlib.sha256(content).hexdigest()


def test_a_schema_of_our_own_is_told_apart():
    own = read(CLOSED).schema(one_row_per_person=True)
    for content in (
        schema_file.dumps(own).encode(),
        json.dumps(schema_file.to_dict(own), indent=2).encode(),
        json.dumps(schema_file.to_dict(own)).encode(),
    ):
        assert is_schema(content)
        with pytest.raises(SchemaError, match="a schema of this program"):
            read_codebook(content)
    assert not any(map(is_schema, codebooks.texts().values()))


def test_a_byte_order_mark_and_other_line_ends_change_nothing():
    for content in codebooks.texts().values():
        ends = content.replace(b"\n", b"\r\n")
        assert read_codebook(b"\xef\xbb\xbf" + ends).columns == read_codebook(content).columns


@pytest.mark.parametrize(
    "content", [b"", b"\x00\x01", b"%PDF-1.7", b"hello", b"\xff\xfea\x00", b"caf\xe9,label\na,b\n"]
)
def test_what_is_no_codebook_is_refused(content):
    with pytest.raises(SchemaError) as caught:
        read_codebook(content)
    assert caught.value.field == "codebook"


def test_a_missing_file_and_an_unknown_format_are_refused(tmp_path):
    with pytest.raises(SchemaError, match="no such file"):
        read_codebook(tmp_path / "absent.csv")
    with pytest.raises(SchemaError, match="Did you mean 'redcap'") as caught:
        read_codebook(b"", format="redcab")
    assert caught.value.field == "format"


def test_a_name_never_holds_a_folder():
    assert read_codebook(CLOSED.encode(), name="/home/she/x\\d.csv").source.name == "d.csv"


def test_a_codebook_that_leaves_nothing_open_is_a_schema():
    codebook = read(CLOSED)
    schema = codebook.schema(one_row_per_person=True)
    assert codebook.open == ()
    assert (schema.provenance, schema.codebook) == ("codebook", codebook.source)
    assert schema.one_row_per_person
    assert schema_file.loads(draft_text(codebook, {"one_row_per_person": True})) == schema


def test_an_open_column_is_named_with_its_cures():
    codebook = read(OPEN)
    assert [(one.column, one.missing, one.cures) for one in codebook.open] == [
        ("pay", "upper bound", ("type", "learn", "leave out")),
        ("note", "kind (free text)", ("type", "learn", "leave out")),
        ("rank", "levels", ("type", "leave out")),
    ]
    with pytest.raises(SchemaError, match="2 more") as caught:
        codebook.schema()
    assert caught.value.field == "pay"


def test_leaving_out_and_learning_close_it():
    codebook = read(OPEN).without(["pay", "rank"]).to_learn(["note"])
    assert codebook.open == ()
    assert codebook.learned == ("note",)
    with pytest.raises(SchemaError, match="learned"):
        codebook.schema()
    outline = outline_io.loads_outline(draft_text(codebook, {"one_row_per_person": True}))
    assert [request.name for request in outline.requests] == ["note"]
    assert outline.provenance == "codebook"


def test_a_number_is_learned_within_wide_bounds():
    (still,) = read(OPEN).without(["note", "rank"]).to_learn(["pay"]).open
    assert (still.column, still.cures) == ("pay", ("type",))


def test_what_cannot_be_learned_or_is_unknown_is_refused():
    for act, field in (
        (lambda: read(OPEN).to_learn(["rank"]), "rank"),
        (lambda: read(OPEN).without(["agee"]), "codebook"),
        (lambda: read(OPEN).without(["age", "pay", "note", "rank"]), "codebook"),
    ):
        with pytest.raises(SchemaError) as caught:
            act()
        assert caught.value.field == field


def test_a_draft_is_refused_by_the_column_that_is_open():
    text = draft_text(read(OPEN))
    assert text.startswith("# The codebook leaves open:\n# pay: upper bound")
    with pytest.raises(SchemaError, match="'pay'"):
        schema_file.loads(text)


def test_a_draft_is_a_schema_once_the_open_places_are_typed():
    codebook = read(OPEN).without(["note", "rank"])
    text = draft_text(codebook).replace("  lower: 0\n", "  lower: 0\n  upper: 5\n")
    text = text.replace("  lower: 0\n  upper: 5\n  upper: 9", "  lower: 0\n  upper: 9")
    schema = schema_file.loads(text)
    assert schema["pay"].bounds == (0, 5)
    assert schema.codebook == codebook.source


def test_a_line_end_in_a_name_stays_in_its_comment():
    text = draft_text(read('variable,type\n"a\nb: [",text\nc,text\n'))
    assert all(line.startswith("#") for line in text.splitlines()[:3])


@pytest.mark.parametrize("format", codebooks.texts())
def test_the_rows_of_the_form_say_what_the_codebook_says(format):
    codebook = read_codebook(codebooks.texts()[format])
    for column in codebook.columns:
        if column.column is not None:
            assert column_form.from_rows([column.row]) == (column.column,)
            continue
        assert column.row["kind"] == (column.kind or "")
        if not column.unread:
            with pytest.raises(PrismError):
                column_form.from_rows([column.row])


def test_one_bad_variable_keeps_no_other_out():
    columns = read('variable,type,values\nq,ordinal,"1=a; 1.0=b; 2=c"\nr,,x; y\n').columns
    assert columns[1].column is not None


def test_too_many_columns_are_refused():
    rows = "".join(f"v{i},boolean\n" for i in range(10_001))
    with pytest.raises(SchemaError, match="10,000"):
        read(f"variable,type\n{rows}")


_MANY = "variable,type\n" + "".join(f"v{i},text\n" for i in range(10_001))
_WIDE = ",".join(f"h{i}" for i in range(900)) + ",variable,label\n" + "a\n" * 5_000
_LONG = "fields: [" + "a," * 60_000 + "]"
_INHERITED = (
    '{"@context": "http://www.w3.org/ns/csvw", "datatype": {"base": "string", "format": "'
    + "|".join(map(str, range(300)))
    + '"}, "tableSchema": {"columns": ['
    + ", ".join(f'{{"name": "a{i}"}}' for i in range(900))
    + "]}}"
)
_RANGES = (
    "<codeBook><var name='a'><varFormat type='numeric'/><invalrng>"
    + "<range min='0' max='9999'/>" * 99
    + "</invalrng>"
    + "".join(f"<catgry><catValu>{i}</catValu></catgry>" for i in range(5_000))
    + "</var></codeBook>"
)


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (_MANY, "dictionary"),
        (_WIDE, "dictionary"),
        (_LONG, "table-schema"),
        (_INHERITED, "csvw"),
        (_RANGES, "ddi"),
        ("a,b\n" * 100_100, "redcap"),
    ],
    ids=["columns", "cells", "values", "codes", "ranges", "rows"],
)
def test_a_small_file_that_stands_for_much_is_refused_in_few_steps(text, format):
    with bounded(), pytest.raises(SchemaError) as caught:
        read_codebook(text.encode(), format=format)
    assert caught.value.field == "codebook"


@pytest.mark.parametrize("sign", [" ", "=", "<", "|", ";", ",", ":", "a"])
@pytest.mark.parametrize("format", ["redcap", "dictionary"])
def test_a_cell_of_one_sign_a_thousand_times_takes_few_steps(sign, format):
    """Of calls; that no pattern tries its blanks over and over is bounded by the time of a hang."""
    head = codebooks.REDCAP_HEADER if format == "redcap" else "variable,type,values"
    cells = ["id,a,,text,,,,,,,,,", f'q,a,,radio,,"a{sign * 200_000}b",,,,,,,']
    rows = cells if format == "redcap" else [f'q,,"a{sign * 200_000}b"']
    with bounded():
        found = read_codebook("\n".join([head, *rows, ""]).encode(), format=format)
    assert found.names[-1] == "q"


def test_a_pipe_is_no_codebook_and_nobody_waits_for_it(tmp_path):
    pipe = tmp_path / "x.csv"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(read_codebook, pipe)
        try:
            error = found.exception(timeout=20)
        finally:  # whoever waits for a writer gets one
            with suppress(OSError):
                os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    assert isinstance(error, SchemaError)
    assert error.field == "codebook"
