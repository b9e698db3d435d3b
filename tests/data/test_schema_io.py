"""Schemas as files: YAML without its traps, refusals that name the column, random round trips."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from prism_core.data.schema import schema_file
from prism_core.data.schema.schema import Schema
from prism_core.errors import SchemaError


def one(body: str) -> str:
    return f"version: 1\ncolumns:\n- name: ward\n  {body}\n"


def levels_of(text: str) -> tuple[object, ...]:
    return schema_file.loads(one(f"kind: categorical\n  levels: {text}")).columns[0].levels


def test_yaml_traps_stay_what_was_written():
    found = levels_of("[no, yes, on, off, 2020-01-01, 1, 1.5, true]")
    assert found == ("no", "yes", "on", "off", "2020-01-01", 1, 1.5, True)
    assert [type(level) for level in found] == [str] * 5 + [int, float, bool]


def test_codes_and_times_are_not_numbers():
    written = "[010, 08, 12:30, 1_000, 0x1F, 0b1, y, n, ~x, .inf, .nan, '7']"
    assert levels_of(written) == (
        "010",
        "08",
        "12:30",
        "1_000",
        "0x1F",
        "0b1",
        "y",
        "n",
        "~x",
        ".inf",
        ".nan",
        "7",
    )


def test_numbers_are_numbers_in_yaml_as_in_json():
    found = levels_of("[0, -3, +4, 1e5, 2.5E-3, .5, 6.]")
    assert found == (0, -3, 4, 1e5, 2.5e-3, 0.5, 6.0)
    assert [type(level) for level in found] == [int, int, int, float, float, float, float]
    assert levels_of("[1e-07]") == levels_of(json.dumps([1e-07]))


def test_bounds_of_dates_may_be_bare():
    column = schema_file.loads(one("kind: date\n  lower: 2020-01-01\n  upper: 2020-12-31")).columns[
        0
    ]
    assert (column.lower, column.upper) == (18_262, 18_627)
    assert column.level_count == 8


def test_files_of_both_kinds(tmp_path, schema):
    for name in ("schema.yaml", "schema.yml", "schema.json"):
        schema_file.save(schema, tmp_path / name)
        assert schema_file.load(tmp_path / name) == schema
    assert json.loads((tmp_path / "schema.json").read_text())["columns"][0]["name"] == "age"


@pytest.mark.parametrize(
    ("body", "field", "text"),
    [
        ("kind: [a]\n  levels: [a, b]", "ward.kind", "kind must be a text"),
        ("kind: categorical\n  levels: a", "ward.levels", "must be a list"),
        ("kind: categorical\n  levels: [[a], b]", "ward.levels", "must be a list"),
        ("kind: categorical\n  levels: [a, null]", "ward.levels", "must be a list"),
        ("kind: categorical\n  levels: [a, a]", "ward.levels", "declared twice"),
        ("kind: categorical", "ward.levels", "needs its levels"),
        ("kind: categorical\n  levels: [a, b]\n  lower: 1", "ward.lower", "does not apply"),
        ("kind: categorical\n  levels: [a, b]\n  nullable: yes", "ward.nullable", "true or false"),
        ("kind: boolean\n  level: [a]", "columns[1]", "unknown entry 'level'"),
        ("kind: boolean\n  levels: [no, yes]", "ward.levels", "false and true only"),
        ("kind: numeric", "ward.lower", "lower must be declared"),
        ("kind: numeric\n  lower: 0", "ward.upper", "upper must be declared"),
        ("kind: numeric\n  lower: a\n  upper: 1", "ward.lower", "must be a number"),
        ("kind: numeric\n  lower: true\n  upper: 1", "ward.lower", "must be a number"),
        ("kind: numeric\n  lower: 0\n  upper: .inf", "ward.upper", "must be a number"),
        (f"kind: numeric\n  lower: 0\n  upper: {'9' * 400}", "ward.upper", "must be a number"),
        ("kind: numeric\n  lower: 1\n  upper: 0", "ward.bins", "lower below upper"),
        ("kind: numeric\n  lower: 0\n  upper: 1\n  bins: 0", "ward.bins", "between 1 and 10,000"),
        ("kind: numeric\n  lower: 0\n  upper: 1\n  bins: 2.5", "ward.bins", "whole number"),
        ("kind: numeric\n  lower: 0\n  upper: 1\n  bins: 10001", "ward.bins", "10,000"),
        ("kind: numeric\n  lower: 0\n  upper: 1\n  edges: 5", "ward.edges", "must be a list"),
        ("kind: numeric\n  lower: 0\n  upper: 1\n  edges: [a]", "ward.edges", "must be a number"),
        ("kind: numeric\n  lower: 0\n  upper: 9\n  integer: yes", "ward.integer", "true or false"),
        ("kind: numeric\n  lower: 0\n  upper: 9\n  decimals: 1.5", "ward.decimals", "whole number"),
        (
            "kind: numeric\n  lower: 0\n  upper: 9\n  fill: [1]",
            "ward.fill",
            "must be a text or a number",
        ),
        ("kind: date\n  lower: 2020-13-01\n  upper: 2021-01-01", "ward.lower", "YYYY-MM-DD"),
        ("kind: date\n  lower: 2020-01-01\n  upper: soon", "ward.upper", "YYYY-MM-DD"),
    ],
)
def test_every_refusal_names_the_column(body, field, text):
    with pytest.raises(SchemaError, match=text) as caught:
        schema_file.loads(one(body))
    assert caught.value.field == field
    assert "ward" in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        ("", "columns", "a list named 'columns'"),
        ("- a", "columns", "a list named 'columns'"),
        ("columns: 5", "columns", "a list named 'columns'"),
        ("columns: []", "columns", "Declare at least two"),
        ("columns: [a]", "columns", "Entry 1 of the columns needs at least a name"),
        ("columns: [{name: a, kind: boolean}, {kind: boolean}]", "columns", "Entry 2"),
        ("columns: [{name: null, kind: boolean}]", "columns", "Entry 1"),
        ("columns: [{name: a, kind: boolean}]\ncolour: red", "colour", "unknown entry 'colour'"),
        ("columns: [{name: a, kind: boolean}]\nversion: 2", "version", "version must be 1"),
        ("columns: [{name: a, kind: boolean}]\nprovenance: guess", "provenance", "must be one of"),
        (
            "columns: [{name: a, kind: boolean}]\none_row_per_person: yes",
            "one_row_per_person",
            "true or false",
        ),
        ("columns: [{name: a, kind: boolean}]\nperson_id: p\npersons: many", "persons", "number"),
        ("columns: [{name: a, kind: boolean}]\nperson_id: p\npersons: 1.5", "persons", "whole"),
        ("a: [", "schema", "not readable as YAML or JSON near line 1"),
        ("[" * 100_000, "schema", "not readable|more than 32 deep"),
        ('{"a": ' * 100_000, "schema", "more than 32 deep"),
        ("columns: " + "9" * 5000, "schema", "not readable"),
        ("columns: !!python/object/apply:os.system [ls]", "schema", "type of its own"),
        ("\x00", "schema", "not readable"),
    ],
)
def test_a_schema_that_is_none_gets_a_sentence(text, field, expected):
    with pytest.raises(SchemaError, match=expected) as caught:
        schema_file.loads(text)
    assert caught.value.field == field


def test_a_file_that_cannot_be_read(tmp_path):
    (tmp_path / "latin.yaml").write_bytes("columns: é".encode("latin-1"))
    for name, why in (
        ("latin.yaml", "'latin.yaml' is not UTF-8 text"),
        ("absent.yaml", "'absent.yaml' does not exist: there is no such file"),
        (".", "is a folder, not a file"),
    ):
        with pytest.raises(SchemaError, match=why):
            schema_file.load(tmp_path / name)


def test_a_column_named_by_a_number_has_a_text_for_a_name():
    schema = schema_file.loads(
        "columns: [{name: 2020, kind: boolean}, {name: ' b ', kind: boolean}]"
    )
    assert schema.names == ("2020", "b")


def test_only_two_forms_are_written(schema):
    with pytest.raises(SchemaError, match="'yaml' or 'json'"):
        schema_file.dumps(schema, format="xml")


def exact(schema: Schema) -> str:
    """Types included: 1, 1.0 and true are equal to Python, but not the same level."""
    return json.dumps(schema_file.to_dict(schema))


@given(st.from_type(Schema), st.sampled_from(["yaml", "json"]))
def test_a_schema_reads_back_as_it_was_written(schema, form):
    text = schema_file.dumps(schema, format=form)
    again = schema_file.loads(text)
    assert again == schema
    assert exact(again) == exact(schema)
    assert [[type(level) for level in column.levels] for column in again.columns] == [
        [type(level) for level in column.levels] for column in schema.columns
    ]
    assert schema_file.dumps(again, format=form) == text


@given(st.from_type(Schema))
def test_json_with_escapes_means_the_same(schema):
    text = json.dumps(schema_file.to_dict(schema), ensure_ascii=True)
    again = schema_file.loads(text)
    assert again == schema
    assert exact(again) == exact(schema)


@given(st.from_type(Schema))
def test_an_ordinary_yaml_reader_sees_the_same_levels(schema):
    document = yaml.safe_load(schema_file.dumps(schema))
    assert document == schema_file.to_dict(schema)


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
NESTED = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner)
)
KEYS = (
    "name",
    "kind",
    "levels",
    "lower",
    "upper",
    "bins",
    "edges",
    "integer",
    "decimals",
    "nullable",
    "fill",
    "other",
    "description",
    "groups",
    "codes",
    "prefix",
)
KINDS = st.sampled_from(["categorical", "ordinal", "boolean", "numeric", "date", "text"])


@given(
    st.dictionaries(st.sampled_from(KEYS), NESTED, max_size=8),
    KINDS | NESTED,
    st.lists(st.integers(0, 3) | st.sampled_from(["a", "b"]), max_size=3),
)
def test_whatever_stands_in_a_column_gives_a_schema_or_a_sentence(entry, kind, levels):
    entry = {"name": "column 1", "kind": kind, "lower": 0, "upper": 9, "levels": levels} | entry
    stray = {
        "categorical": ("lower", "upper"),
        "ordinal": ("lower", "upper"),
        "numeric": ("levels",),
        "date": ("levels",),
    }
    kept = stray.get(entry["kind"], ()) if isinstance(entry["kind"], str) else ()
    entry = {key: value for key, value in entry.items() if key not in kept}
    try:
        schema = schema_file.from_dict({"columns": [entry]})
    except SchemaError as error:  # any other kind of error is a failure
        found = (str(error)[-1:], bool(error.field))
        assert found == (".", True)
    else:
        assert schema.columns[0].size >= 1
        assert len(schema.columns[0].labels()) == schema.columns[0].size


@given(st.text(max_size=200))
def test_any_text_gives_a_sentence(text):
    with pytest.raises(SchemaError, match=r"\.$"):
        schema_file.loads(text)


def test_bins_that_are_left_out_stay_open_and_are_eight_until_a_run_finds_better_ones():
    text = one("kind: numeric\n  lower: 0\n  upper: 80\n  integer: true")
    (column,) = schema_file.loads(text).columns
    assert column.open_bins
    assert column.level_count == 8
    again = schema_file.loads(schema_file.dumps(schema_file.loads(text)))
    assert again == schema_file.loads(text)
    assert "edges" not in schema_file.dumps(again)
    for declared in ("bins: 8", "edges: [10, 20]", "scale: log"):
        assert not schema_file.loads(f"{text}\n  {declared}").columns[0].open_bins
