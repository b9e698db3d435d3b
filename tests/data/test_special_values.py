"""Special values and words for values: what may be declared, and what a schema file holds."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core.data.schema import schema_file
from prism_core.data.schema.code_groups import CodeGroups
from prism_core.data.schema.codebook_source import CodebookReading, CodebookSource
from prism_core.data.schema.column import MISSING_LABEL, Column
from prism_core.data.schema.schema import Schema
from prism_core.data.schema.special_values import LONGEST, LONGEST_LABEL, MOST, label_text
from prism_core.errors import SchemaError
from tests.support.special import AGE

SOURCE = CodebookSource(name="survey.csv", sha256="0a" * 32, format="redcap")


def test_special_values_have_codes_between_the_bins_and_missing():
    assert AGE.level_count == 3
    assert list(AGE.special_codes) == [3, 4, 5]
    assert AGE.missing_code == 6
    assert AGE.size == 7
    assert list(AGE.valueless_codes) == [3, 4, 5, 6]
    bare = replace(AGE, nullable=False)
    assert (bare.missing_code, bare.size, list(bare.valueless_codes)) == (None, 6, [3, 4, 5])


def test_labels_say_words_and_code():
    assert AGE.labels() == (
        *("0-40", "41-80", "81-120", "Refused (-9)", "97", "Not asked (.a)"),
        MISSING_LABEL,
    )
    assert AGE.code_names()[3:] == ("-9", "97", ".a", MISSING_LABEL)
    flag = Column(name="f", kind="boolean", value_labels=(("true", "Yes"), ("false", "false")))
    # Words that are the value itself say nothing more.
    assert flag.labels() == ("false", "Yes (true)")


def test_a_code_in_a_group_may_have_words():
    groups = CodeGroups(groups=("heart", "other"), codes=(("I50",), ("J45",)))
    words = (("I50", "Heart failure"), ("heart", "Heart"))
    column = Column(name="d", kind="categorical", groups=groups, value_labels=words)
    assert column.labels() == ("Heart (heart)", "other")


BINNED = {"kind": "numeric", "lower": 0.0, "upper": 10.0}
DATES = {"kind": "date", "lower": 0.0, "upper": 1.0, "edges": (0.0,)}


@pytest.mark.parametrize(
    ("entries", "part", "text"),
    [
        ({"kind": "categorical", "levels": ("a",), "special": (-9,)}, "special", "as levels"),
        ({"kind": "boolean", "special": (-9,)}, "special", "as levels"),
        (BINNED | {"special": (-9, "-9")}, "special", "declared twice"),
        (BINNED | {"special": (-9, -9.0)}, "special", "declared twice"),
        (BINNED | {"special": (0.0000001, "0.0000001")}, "special", "the same number"),
        (BINNED | {"special": ("  ",)}, "special", "cell is empty"),
        (BINNED | {"special": (".",)}, "special", "nullable"),
        (BINNED | {"special": ("NA",)}, "special", "nullable"),
        (BINNED | {"special": (float("nan"),)}, "special", "finite numbers"),
        (BINNED | {"special": (float("inf"),)}, "special", "finite numbers"),
        (BINNED | {"special": (True,)}, "special", "finite numbers"),
        (BINNED | {"special": (None,)}, "special", "finite numbers"),
        (BINNED | {"special": [-9]}, "special", "finite numbers"),
        (BINNED | {"special": ("x" * (LONGEST + 1),)}, "special", f"{LONGEST} characters"),
        (BINNED | {"special": (10**LONGEST,)}, "special", "finite numbers"),
        (BINNED | {"special": tuple(range(-1, -MOST - 2, -1))}, "special", f"at most {MOST}"),
        (BINNED | {"decimals": 0, "edges": (8, 9), "special": (9,)}, "special", "bin 2 holds"),
        (BINNED | {"decimals": 0, "edges": (8, 9), "special": ("9.0",)}, "special", "bin 2 holds"),
        (BINNED | {"edges": (0.0,), "special": (0,)}, "special", "bin 1 holds"),
        (DATES | {"special": ("1970-01-02",)}, "special", "bin 2 holds"),
        (BINNED | {"fill": 9, "special": (9.0,)}, "fill", "no number"),
        (BINNED | {"value_labels": (("1", "one"),)}, "labels", "no declared value"),
        (BINNED | {"special": (-9,), "value_labels": (("-9", ""),)}, "labels", "one line"),
        (BINNED | {"special": (-9,), "value_labels": (("-9", "a\nb"),)}, "labels", "one line"),
        (BINNED | {"special": (-9,), "value_labels": ((-9, "x"),)}, "labels", "one line"),
        (BINNED | {"special": (-9,), "value_labels": (("-9", "x" * 301),)}, "labels", "300"),
        (
            BINNED | {"special": (-9,), "value_labels": (("-9", "x"), ("-9", "y"))},
            "labels",
            "words twice",
        ),
    ],
)
def test_a_refusal_names_the_field_and_what_to_do(entries, part, text):
    with pytest.raises(SchemaError, match=text) as caught:
        Column(name="x", **entries)
    assert caught.value.field == f"x.{part}"


@pytest.mark.parametrize("special", [-9, 5, 97, 5.5, ".a", "refused", "1e3", "05", 2**60, "inf"])
def test_a_special_value_may_lie_anywhere(special):
    column = Column(name="x", special=(special,), **BINNED)
    assert column.size == 2


def test_words_of_any_length_can_be_made_fit():
    assert label_text("  not\n\tapplicable\xa0") == "not applicable"
    assert len(label_text("word " * 200)) <= LONGEST_LABEL


def test_a_schema_without_them_is_written_as_before():
    plain = Column(name="age", kind="numeric", lower=0, upper=120, edges=(40, 80), decimals=0)
    other = Column(name="y", kind="boolean", nullable=True, description="what it is")
    assert schema_file.dumps(Schema(columns=(plain, other), one_row_per_person=True)) == (
        "version: 1\nprovenance: declared\none_row_per_person: true\ncolumns:\n"
        "- name: age\n  kind: numeric\n  lower: 0\n  upper: 120\n  edges:\n  - 40\n  - 80\n"
        "  integer: true\n"
        "- name: y\n  kind: boolean\n  nullable: true\n  description: what it is\n"
    )


def test_a_schema_with_them_is_written_so():
    schema = Schema(columns=(AGE,), provenance="codebook", codebook=SOURCE)
    assert schema_file.dumps(schema) == (
        "version: 1\nprovenance: codebook\none_row_per_person: false\n"
        f"codebook:\n  name: survey.csv\n  sha256: {'0a' * 32}\n  format: redcap\ncolumns:\n"
        "- name: age\n  kind: numeric\n  lower: 0\n  upper: 120\n  edges:\n  - 40\n  - 80\n"
        "  integer: true\n  nullable: true\n  special:\n  - -9\n  - 97\n  - .a\n"
        "  labels:\n    '-9': Refused\n    .a: Not asked\n"
    )


LEVELS = st.one_of(
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([".a", ".z", "-9", "097", "9999-12-31", "1e3", "refused", "true", "no"]),
    st.text(min_size=1, max_size=12),
)
WORDS = st.text(min_size=1, max_size=40).map(label_text).filter(bool)


@given(data=st.data(), special=st.lists(LEVELS, max_size=5), dates=st.booleans())
def test_a_schema_file_gives_the_same_column_back(data, special, dates):
    entries = DATES if dates else BINNED | {"upper": 1e300}
    try:
        column = Column(name="x", special=tuple(special), **entries)
    except SchemaError:
        return  # what is refused is refused above
    texts = sorted(column._texts)
    chosen = data.draw(st.lists(st.sampled_from(texts), unique=True)) if texts else []
    column = replace(column, value_labels=tuple((text, data.draw(WORDS)) for text in chosen))
    schema = Schema(columns=(column,), one_row_per_person=True)
    for format in ("yaml", "json"):
        (found,) = schema_file.loads(schema_file.dumps(schema, format=format)).columns
        assert found == column
        assert list(map(type, found.special)) == list(map(type, column.special))
        assert found.value_labels == column.value_labels


def test_labels_may_be_typed_as_the_numbers_they_are():
    text = (
        "columns:\n- {name: a, kind: numeric, lower: 0, upper: 9, special: [-9, 1.5], "
        "labels: {-9: Refused, 1.50: Half}}\n"
    )
    (column,) = schema_file.loads(text).columns
    assert column.value_labels == (("-9", "Refused"), ("1.5", "Half"))


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ("special: -9", "a.special"),
        ("special: {x: 1}", "a.special"),
        ("special: [[1]]", "a.special"),
        ("labels: [x]", "a.labels"),
        ("labels: {-9: [x]}", "a.labels"),
    ],
)
def test_a_file_that_is_wrong_is_refused_by_field(entry, field):
    with pytest.raises(SchemaError) as caught:
        schema_file.loads(f"columns:\n- {{name: a, kind: numeric, lower: 0, upper: 9, {entry}}}\n")
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("entries", "field"),
    [
        ({"name": ""}, "codebook.name"),
        ({"name": "a/b.csv"}, "codebook.name"),
        ({"name": "a\nb"}, "codebook.name"),
        ({"sha256": "0A" * 32}, "codebook.sha256"),
        ({"sha256": None}, "codebook.sha256"),
        ({"format": "excel"}, "codebook.format"),
        ({"by_hand": ("a", "a")}, "codebook.by_hand"),
        ({"by_hand": ("",)}, "codebook.by_hand"),
    ],
)
def test_a_codebook_is_named_in_full(entries, field):
    with pytest.raises(SchemaError) as caught:
        replace(SOURCE, **entries)
    assert caught.value.field == field


@pytest.mark.parametrize("entry", ["x", ["x"], {"name": "a"}, {"by_hand": 1}, {"more": 1}])
def test_a_codebook_in_a_file_is_whole(entry):
    if isinstance(entry, dict):
        entry = {**SOURCE.to_dict(), **entry} if "name" not in entry else entry
    document = {"provenance": "codebook", "codebook": entry, "columns": [{"name": "a"}]}
    document["columns"] = [{"name": "a", "kind": "boolean"}]
    with pytest.raises(SchemaError) as caught:
        schema_file.loads(json.dumps(document))
    assert caught.value.field == "codebook"


def test_a_schema_read_from_a_codebook_names_it_and_what_was_done_by_hand():
    with pytest.raises(SchemaError) as caught:
        Schema(columns=(AGE,), provenance="codebook")
    assert caught.value.field == "codebook"
    for provenance in ("declared", "public twin"):
        with pytest.raises(SchemaError) as caught:
            Schema(columns=(AGE,), provenance=provenance, codebook=SOURCE)
        assert caught.value.field == "codebook"
    height, weight = replace(AGE, name="height"), replace(AGE, name="weight")
    read = CodebookReading(source=SOURCE, columns=(AGE, height))
    edited = read.source_of([AGE, replace(height, upper=200), weight])
    assert edited.by_hand == ("height", "weight")
    schema = Schema(columns=(AGE, height, weight), provenance="codebook", codebook=edited)
    for words in ("survey.csv", SOURCE.sha256, "REDCap", "by hand", "height, weight"):
        assert words in schema.provenance_text
    assert schema_file.loads(schema_file.dumps(schema)) == schema
    again = CodebookReading.of(schema)
    assert again is not None
    assert again.source_of(schema.columns) == edited
    assert again.source_of([replace(AGE, upper=99), height]).by_hand == ("age", "height")
    assert CodebookReading.of(Schema(columns=(AGE,))) is None
    taken = replace(schema, provenance="private rows")
    assert "not private" in taken.provenance_text
    assert "survey.csv" in taken.provenance_text
