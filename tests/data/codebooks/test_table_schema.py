"""Frictionless Table Schema and Data Package: what is read, and what is written and read back."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from prism_core.data.codebooks import read_codebook, table_schema_text
from prism_core.data.schema import schema_file
from prism_core.data.schema.code_groups import CodeGroups
from prism_core.data.schema.column import Column
from prism_core.data.schema.level import Level, level_text, level_value
from prism_core.data.schema.looks import Look
from prism_core.data.schema.schema import Schema
from prism_core.errors import PrismError, SchemaError
from prism_core.privacy.events import GaussianEvent
from prism_core.privacy.learning_charge import LearningCharge
from tests.support.codebooks import PACKAGE, TABLE_SCHEMA, missing, settled
from tests.support.tables import small_schema


def read(document: object, **options):
    return read_codebook(json.dumps(document).encode(), name="x.json", **options)


def field(**parts):
    (column,) = read({"fields": [{"name": "a", **parts}]}).columns
    return column


@pytest.fixture(scope="module")
def columns():
    return {column.name: column for column in read(TABLE_SCHEMA).columns}


def test_types_and_constraints(columns):
    age, dose = columns["age"].column, columns["dose"].column
    assert (age.kind, age.bounds, age.decimals, age.nullable) == ("numeric", (18, 99), 0, False)
    assert (dose.kind, dose.bounds, dose.decimals, dose.nullable) == (
        "numeric",
        (0.5, 2.5),
        None,
        True,
    )
    assert settled(columns["sex"]).levels == ("f", "m")
    assert settled(columns["smoker"]).kind == "boolean"


def test_missing_values_are_special_ones(columns):
    dose = columns["dose"].column
    assert dose.special == (-9, ".a")
    assert dict(dose.value_labels) == {"-9": "refused"}


def test_categories_with_an_order(columns):
    grade = columns["grade"].column
    assert (grade.kind, grade.levels) == ("ordinal", (1, 2))
    assert dict(grade.value_labels) == {"1": "low", "2": "high"}


def test_words_that_are_not_read_as_true_and_false_are_levels(columns):
    assert settled(columns["told"]).levels == ("nein", "ja")


@pytest.mark.parametrize(("name", "word"), [("seen", "upper"), ("note", "text"), ("place", "geo")])
def test_what_is_open_is_named(columns, name, word):
    assert word in missing(columns[name])


@pytest.mark.parametrize(
    ("parts", "word"),
    [
        ({"type": "number", "decimalChar": ","}, "','"),
        ({"type": "integer", "groupChar": " "}, "thousands"),
        ({"type": "integer", "bareNumber": False}, "signs"),
        ({"type": "date", "format": "%d/%m/%Y"}, "%d/%m/%Y"),
    ],
)
def test_another_writing_of_cells_is_open(parts, word):
    column = field(**parts, constraints={"minimum": 1, "maximum": 9})
    assert word in missing(column)


def test_bounds_that_may_not_be_reached():
    column = field(type="integer", constraints={"exclusiveMinimum": 0, "exclusiveMaximum": 9})
    assert (column.lower, column.upper) == (0.0, 9.0)


def test_what_is_required_holds_no_missing_value():
    column = field(
        type="integer",
        missingValues=["", "-9"],
        constraints={"required": True, "minimum": 0, "maximum": 9},
    )
    assert (column.nullable, column.special) == (False, ())


def test_a_package_of_several_resources_asks_for_the_name():
    with pytest.raises(SchemaError, match="visits, people") as caught:
        read(PACKAGE)
    assert caught.value.field == "resource"
    assert read(PACKAGE, resource="visits").names[0] == "age"
    with pytest.raises(SchemaError, match="Did you mean 'visits'"):
        read(PACKAGE, resource="visit")


def test_yaml_is_read_alike():
    text = yaml.safe_dump(TABLE_SCHEMA, sort_keys=False)
    assert read_codebook(text.encode(), name="x.yaml").columns == read(TABLE_SCHEMA).columns


@pytest.mark.parametrize(
    "document",
    [
        {"fields": {}},
        {"fields": []},
        {"fields": [1]},
        {"fields": [{"type": "integer"}]},
        {"fields": [{"name": " "}]},
        {"fields": [{"name": "a"}, {"name": "a"}]},
        {"resources": []},
        {"resources": [{"name": "a", "schema": "schema.json"}]},
        {"fields": [{"name": "a", "type": "integer", "missingValues": list(map(str, range(500)))}]},
    ],
)
def test_what_is_no_schema_is_refused(document):
    with pytest.raises(SchemaError) as caught:
        read(document, format="table-schema")
    assert caught.value.field in ("codebook", "resource")


# --- and back --------------------------------------------------------------------------------


def same(schema: Schema) -> None:
    """To the byte: 1, 1.0 and true are equal to Python."""
    found = read_codebook(table_schema_text(schema).encode(), name="schema.json").schema()
    assert found.columns == schema.columns
    assert list(map(schema_file.column_dict, found.columns)) == list(
        map(schema_file.column_dict, schema.columns)
    )


def test_a_schema_with_everything_comes_back():
    groups = CodeGroups(
        groups=("heart", "lung"), codes=(("I21", "I50"), ("J44",)), weights=((2.0, 1.0), (1.0,))
    )
    more = (
        Column(name="code", kind="categorical", groups=groups),
        Column(
            name="mixed",
            kind="ordinal",
            levels=("01", 1, 0.5, True, "x|y"),
            other="01",
            value_labels=(("1", "one"),),
        ),
        Column(
            name="pay",
            kind="numeric",
            lower=-3,
            upper=7.25,
            edges=(0.5,),
            special=(-9, ".a", "97"),
            value_labels=((".a", "refused"), ("-9", "unknown")),
        ),
    )
    schema = small_schema()
    same(replace(schema, columns=(*schema.columns, *more)))


DRAFTED = Look(did="drafted from rows", file="t.csv", when="2026-01-02 14:05")
LEARNED = LearningCharge(events=(GaussianEvent(sigma=20.0, label="learning age"),), delta=1e-7)


@pytest.mark.privacy
@pytest.mark.parametrize(
    "entries",
    [
        {"provenance": "private rows"},
        {"provenance": "private rows", "looks": (DRAFTED,)},
        {"provenance": "declared", "looks": (replace(DRAFTED, did="counted cells outside"),)},
        {"provenance": "dp", "prior": LEARNED},
    ],
)
def test_what_came_from_rows_is_not_read_back_as_a_codebook(entries):
    """Else two steps would turn a draft of private rows into a declaration that costs nothing."""
    text = table_schema_text(replace(small_schema(), **entries))
    with pytest.raises(SchemaError) as caught:
        read_codebook(text.encode(), name="schema.json")
    assert caught.value.field == "provenance"
    packed = {"resources": [{"name": "a", "schema": json.loads(text)}]}
    with pytest.raises(SchemaError) as caught:
        read(packed)
    assert caught.value.field == "provenance"


@pytest.mark.privacy
def test_the_data_package_of_a_release_is_no_codebook_of_its_table():
    release = {
        "name": "prism-aa77dd1525a0",
        "resources": [
            {"name": "synthetic", "schema": {"fields": [{"name": "a", "type": "boolean"}]}},
            {"name": "synthetic-parquet"},
        ],
    }
    with pytest.raises(SchemaError) as caught:
        read(release)
    assert caught.value.field == "provenance"
    # Another package may be called anything.
    assert read({**release, "resources": release["resources"][:1]}).names == ("a",)


def test_other_programs_find_the_words_of_table_schema():
    fields = {f["name"]: f for f in json.loads(table_schema_text(small_schema()))["fields"]}
    assert fields["age"]["constraints"] == {"required": True, "minimum": 18, "maximum": 89}
    assert fields["ward"]["constraints"]["enum"] == ["north", "south", "rest"]
    assert fields["grade"]["categoriesOrdered"] is True
    assert fields["seen"]["type"] == "date"


def test_bounds_that_are_changed_by_hand_count():
    document = json.loads(table_schema_text(small_schema()))
    (age,) = (f for f in document["fields"] if f["name"] == "age")
    age["constraints"]["maximum"] = 120
    (column,) = (c for c in read(document).columns if c.name == "age")
    assert settled(column).bounds == (18, 120)


_NAMES = (
    st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1, max_size=12)
    .map(str.strip)
    .filter(bool)
)
_LEVELS = st.one_of(
    _NAMES, st.integers(-99, 99), st.booleans(), st.floats(-9, 9).map(lambda x: round(x, 2))
)
_BOUNDS = st.tuples(st.integers(-500, 500), st.integers(1, 400), st.integers(0, 3))


@st.composite
def columns_of_any_kind(draw, name: str):
    nullable = draw(st.booleans())
    text = draw(st.text(max_size=30))
    kind = draw(st.sampled_from(["categorical", "ordinal", "boolean", "numeric", "date"]))
    common = {"name": name, "kind": kind, "nullable": nullable, "description": text.strip()}
    if kind == "boolean":
        return Column(**common)
    if kind in ("numeric", "date"):
        low, width, decimals = draw(_BOUNDS)
        special = draw(
            st.lists(st.sampled_from([-9, -8, ".a", "97", "x"]), unique=True, max_size=3)
        )
        labels = tuple((level_text(s), f"word {i}") for i, s in enumerate(special[:2]))
        numeric = kind == "numeric"
        cuts = draw(st.lists(st.integers(1, 9), unique=True, max_size=3)) if numeric else []
        return Column(
            **common,
            lower=low,
            upper=low + 10 * width,
            decimals=draw(st.sampled_from([None, decimals])) if numeric else None,
            edges=tuple(low + width * cut for cut in sorted(cuts)),
            special=tuple(special),
            value_labels=labels,
        )
    levels = draw(st.lists(_LEVELS, min_size=1, max_size=5, unique_by=lambda v: _met(v)))
    labels = tuple((level_text(v), f"word {i}") for i, v in enumerate(levels[:2]))
    return Column(
        **common,
        levels=tuple(levels),
        other=draw(st.sampled_from([None, levels[0]])),
        value_labels=labels,
    )


def _met(level: Level) -> str | float:
    value = level_value(level)
    return level_text(level) if value is None else float(value)


@st.composite
def schemas(draw):
    names = draw(st.lists(_NAMES, min_size=1, max_size=4, unique=True))
    try:
        return Schema(columns=tuple(draw(columns_of_any_kind(name)) for name in names))
    except PrismError:  # not every draw is a declaration
        return small_schema()


@given(schemas())
def test_any_schema_comes_back(schema):
    same(schema)


@pytest.mark.parametrize("wrong", [{"levels": [None]}, {"levels": 7}, {"labels": {"1": 2}}])
def test_words_of_our_own_that_are_no_list_of_values_are_refused(wrong):
    field = {"name": "code", "type": "string", "prism": {"groups": {"a": {"b": 1}}, **wrong}}
    with pytest.raises(SchemaError, match="'code'"):
        read_codebook(json.dumps({"fields": [field]}).encode())


@pytest.mark.parametrize("text", ["0,1,2,3", "0, 1, 2", " 1 | 2 ", "-1; 0; 1"])
def test_a_description_that_is_a_list_of_codes_is_one(text):
    column = field(type="integer", description=text)
    assert column.kind == "categorical"
    assert len(column.levels) >= 2
    assert column.column is not None
    assert "description" in column.remark


@pytest.mark.parametrize(
    "parts",
    [
        {"type": "integer", "description": "12,000"},
        {"type": "integer", "description": "0,1,2 or more"},
        {"type": "number", "description": "0,1,2"},
        {"type": "integer", "description": "7"},
        {"type": "integer", "description": "0,1", "constraints": {"minimum": 0, "maximum": 9}},
    ],
)
def test_other_descriptions_are_none(parts):
    assert field(**parts).kind == "numeric"
