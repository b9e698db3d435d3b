"""Schemas survive YAML and JSON, and no text makes the reader fail in another way."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from prism_core.data import schema_io
from prism_core.data.schema import Schema
from prism_core.errors import SchemaError


def exact(schema: Schema) -> str:
    """Types included: 1, 1.0 and true are equal to Python, but not the same level."""
    return json.dumps(schema_io.to_dict(schema))


@given(st.from_type(Schema), st.sampled_from(["yaml", "json"]))
def test_a_schema_reads_back_as_it_was_written(schema, form):
    text = schema_io.dumps(schema, format=form)
    again = schema_io.loads(text)
    assert again == schema
    assert exact(again) == exact(schema)
    assert [[type(level) for level in column.levels] for column in again.columns] == [
        [type(level) for level in column.levels] for column in schema.columns
    ]
    assert schema_io.dumps(again, format=form) == text


@given(st.from_type(Schema))
def test_json_with_escapes_means_the_same(schema):
    text = json.dumps(schema_io.to_dict(schema), ensure_ascii=True)
    again = schema_io.loads(text)
    assert again == schema
    assert exact(again) == exact(schema)


@given(st.from_type(Schema))
def test_an_ordinary_yaml_reader_sees_the_same_levels(schema):
    document = yaml.safe_load(schema_io.dumps(schema))
    assert document == schema_io.to_dict(schema)


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
NESTED = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner)
)
KEYS = (
    "name", "kind", "levels", "lower", "upper", "bins", "edges", "integer", "decimals", "nullable",
    "fill", "other", "description", "groups", "codes", "prefix",
)  # fmt: skip
KINDS = st.sampled_from(["categorical", "ordinal", "boolean", "numeric", "date", "text"])


@given(
    st.dictionaries(st.sampled_from(KEYS), NESTED, max_size=8),
    KINDS | NESTED,
    st.lists(st.integers(0, 3) | st.sampled_from(["a", "b"]), max_size=3),
)
def test_whatever_stands_in_a_column_gives_a_schema_or_a_sentence(entry, kind, levels):
    entry = {"name": "column 1", "kind": kind, "lower": 0, "upper": 9, "levels": levels} | entry
    stray = {"categorical": ("lower", "upper"), "ordinal": ("lower", "upper"),
             "numeric": ("levels",), "date": ("levels",)}  # fmt: skip
    kept = stray.get(entry["kind"], ()) if isinstance(entry["kind"], str) else ()
    entry = {key: value for key, value in entry.items() if key not in kept}
    try:
        schema = schema_io.from_dict({"columns": [entry]})
    except SchemaError as error:  # any other kind of error is a failure
        found = (str(error)[-1:], bool(error.field))
        assert found == (".", True)
    else:
        assert schema.columns[0].size >= 1
        assert len(schema.columns[0].labels()) == schema.columns[0].size


@given(st.text(max_size=200))
def test_any_text_gives_a_sentence(text):
    with pytest.raises(SchemaError, match=r"\.$"):
        schema_io.loads(text)
