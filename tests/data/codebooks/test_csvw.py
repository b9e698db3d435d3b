"""CSV on the Web: datatypes, null values, inherited properties, and groups of tables."""

from __future__ import annotations

import json

import pytest

from prism_core.data.codebooks import read_codebook
from prism_core.errors import SchemaError
from tests.support.codebooks import CSVW, missing, settled


def read(document: object, **options):
    return read_codebook(json.dumps(document).encode(), name="m.json", **options)


def column(**parts):
    (found,) = read({**CSVW, "tableSchema": {"columns": [{"name": "a", **parts}]}}).columns
    return found


@pytest.fixture(scope="module")
def columns():
    return {column.name: column for column in read(CSVW).columns}


def test_the_title_is_the_header_of_the_table(columns):
    assert list(columns) == [
        *("age", "dose", "seen", "sex", "smoker", "left", "note", "drugs"),
    ]


def test_bounds_decimals_and_null(columns):
    age, dose, seen = (columns[name].column for name in ("age", "dose", "seen"))
    assert (age.bounds, age.decimals, age.nullable, age.special) == ((18, 99), 0, False, ())
    assert (dose.bounds, dose.decimals, dose.nullable, dose.special) == ((0, 2.5), 2, True, (-9,))
    assert (seen.kind, seen.bounds) == ("date", (18_262, 18_627))


def test_a_pattern_of_words_is_levels(columns):
    assert settled(columns["sex"]).levels == ("f", "m")
    assert settled(columns["smoker"]).kind == "boolean"


@pytest.mark.parametrize(
    ("name", "word"), [("left", "dd.MM.yyyy"), ("note", "text"), ("drugs", "more than one value")]
)
def test_what_is_open_is_named(columns, name, word):
    assert word in missing(columns[name])


@pytest.mark.parametrize(
    ("datatype", "kind", "lower", "upper"),
    [
        ("nonNegativeInteger", "numeric", 0, None),
        ("unsignedByte", "numeric", 0, 255),
        ({"base": "number", "minExclusive": 1, "maxExclusive": 2}, "numeric", 1, 2),
        ("dateTime", "date", None, None),
        ("string", None, None, None),
        ("duration", None, None, None),
    ],
)
def test_datatypes(datatype, kind, lower, upper):
    found = column(datatype=datatype)
    assert (found.kind, found.lower, found.upper) == (kind, lower, upper)


def test_a_boolean_in_other_words_is_levels():
    assert column(datatype={"base": "boolean", "format": "ja|nein"}).levels == ("ja", "nein")
    assert column(datatype={"base": "boolean", "format": "Y|N"}).kind == "boolean"


def test_a_pattern_of_anything_else_is_no_list():
    assert column(datatype={"base": "string", "format": "[a-z]+|x"}).kind is None


def test_several_tables_ask_for_the_address():
    group = {
        "@context": "http://www.w3.org/ns/csvw",
        "null": "NA",
        "tables": [
            {"url": "a.csv", "tableSchema": {"columns": [{"name": "x", "datatype": "integer"}]}},
            {"url": "b.csv", "tableSchema": {"columns": [{"name": "y"}]}},
        ],
    }
    with pytest.raises(SchemaError, match=r"a\.csv, b\.csv") as caught:
        read(group)
    assert caught.value.field == "resource"
    (found,) = read(group, resource="a.csv").columns
    assert (found.name, found.kind, found.nullable) == ("x", "numeric", True)


@pytest.mark.parametrize(
    "document",
    [
        {"tables": []},
        {"tableSchema": "schema.json"},
        {"tableSchema": {"columns": [1]}},
        {"tableSchema": {"columns": [{"datatype": "integer"}]}},
        [],
    ],
)
def test_what_is_no_metadata_is_refused(document):
    with pytest.raises(SchemaError) as caught:
        read(document, format="csvw")
    assert caught.value.field in ("codebook", "resource")
