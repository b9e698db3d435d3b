"""REDCap data dictionaries: every field type, and the ways in which real ones are written."""

from __future__ import annotations

import pytest

from prism_core.data.codebooks import read_codebook
from prism_core.errors import SchemaError
from tests.support.codebooks import REDCAP, REDCAP_HEADER, cures, missing, settled


def read(*fields: str):
    text = "\n".join([REDCAP_HEADER, "record,base,text,text,ID,,,,,,,,", *fields, ""])
    found = read_codebook(text.encode(), name="dictionary.csv")
    return {column.name: column for column in found.columns}


@pytest.fixture(scope="module")
def study():
    return read_codebook(REDCAP.encode(), name="dictionary.csv")


@pytest.fixture(scope="module")
def columns(study):
    return {column.name: column for column in study.columns}


def test_it_is_recognised_and_named(study):
    assert study.source.format == "redcap"
    assert study.source.name == "dictionary.csv"
    assert ("Field Type", "kind of the column") in study.understood
    assert ("Form Name", "not used") in study.understood


@pytest.mark.parametrize(
    ("name", "levels", "labels"),
    [
        ("sex", (1, 2, -9), {"1": "Female", "2": "Male, or | so", "-9": "Refused"}),
        ("site", ("north", "south"), {"north": "North wing", "south": "South wing"}),
    ],
)
def test_choices_are_levels_with_labels(columns, name, levels, labels):
    column = columns[name].column
    assert column.kind == "categorical"
    assert column.levels == levels
    assert dict(column.value_labels) == labels


def test_html_in_labels_is_text(columns):
    assert columns["sex"].description == "Sex at birth"


def test_yes_and_no_are_boolean(columns):
    assert settled(columns["smoker"]).kind == settled(columns["pregnant"]).kind == "boolean"


def test_a_checkbox_is_one_boolean_a_choice(columns):
    boxes = [name for name in columns if name.startswith("drugs")]
    assert boxes == ["drugs___a", "drugs____1"]
    assert all(settled(columns[name]).kind == "boolean" for name in boxes)
    assert columns["drugs____1"].description == "Drugs taken: None of them"


@pytest.mark.parametrize(
    ("name", "kind", "lower", "upper", "decimals"),
    [
        ("pain", "numeric", 0, 100, 0),
        ("mood", "numeric", -5, 5, 0),
        ("age", "numeric", 18, 99, 0),
        ("weight", "numeric", 30, 200, 1),
        ("seen", "date", 18_262, 18_627, 0),
        ("left", "date", 18_262, 18_808, 0),
    ],
)
def test_bounds_and_decimals(columns, name, kind, lower, upper, decimals):
    column = columns[name].column
    assert (column.kind, column.bounds, column.decimals) == (kind, (lower, upper), decimals)


def test_one_bound_leaves_the_other_open(columns):
    assert missing(columns["height"]) == "lower bound"
    assert cures(columns["height"]) == ("type", "learn", "leave out")
    assert columns["height"].row["upper"] == "250"


@pytest.mark.parametrize(
    ("name", "word", "cure"),
    [
        ("study_id", "record", "person"),
        ("initials", "identifier", "person"),
        ("bmi", "calculated", "type"),
        ("story", "free text", "learn"),
        ("scan", "file", "leave out"),
        ("ward", "query", "type"),
        ("hello", "screen", "leave out"),
        ("job", "free text", "learn"),
        ("mail", "email", "leave out"),
    ],
)
def test_what_is_to_be_decided_is_named(columns, name, word, cure):
    assert word in missing(columns[name])
    assert cure in cures(columns[name])


def test_branching_and_what_is_not_required_may_be_missing(columns):
    found = {name: columns[name].nullable for name in ("pregnant", "weight", "age", "smoker")}
    assert found == {"pregnant": True, "weight": True, "age": False, "smoker": False}
    assert not columns["drugs___a"].nullable


def test_the_line_is_that_where_the_field_begins(columns):
    assert columns["hello"].source == "line 20"
    assert columns["job"].source == "line 22"  # the label before it takes two lines


def test_headers_of_the_api_and_empty_cells_of_r():
    text = (
        "field_name,form_name,field_type,field_label,select_choices_or_calculations,identifier\n"
        'id,a,text,ID,NA,NA\nsex,a,radio,NA,"0, No | 1, Yes",NA\n'
    )
    columns = read_codebook(text.encode(), name="x.csv").columns
    assert columns[1].levels == (0, 1)
    assert columns[1].description == "NA"
    assert columns[1].open is None


@pytest.mark.parametrize(
    ("choices", "levels", "labels"),
    [
        ("1, Yes|2, No", (1, 2), {"1": "Yes", "2": "No"}),
        ("yes | no", ("yes", "no"), {}),
        ("01, One | 02, Two", ("01", "02"), {"01": "One", "02": "Two"}),
        ("1, A, b, c | 2, ", (1, 2), {"1": "A, b, c"}),
        ("1, Yes | 1, Yes", (1,), {"1": "Yes"}),
        ("1, &lt;5 | 2, <5 years", (1, 2), {"1": "<5", "2": "<5 years"}),
    ],
)
def test_choices_as_they_are_written(choices, levels, labels):
    column = read(f'q,base,,radio,Q,"{choices}",,,,,,,')["q"]
    assert (column.levels, dict(column.labels)) == (levels, labels)


def test_a_decimal_comma_is_open_and_said():
    column = read("h,base,,text,H,,,number_2dp_comma_decimal,0,3,,,")["h"]
    assert "decimal comma" in missing(column)
    assert (column.decimals, column.lower, column.upper) == (2, 0.0, 3.0)


def test_bounds_that_are_no_constants_are_open():
    found = read("a,base,,text,A,,,date_ymd,today,[left],,,", "b,base,,text,B,,,integer,[x],5,,,")
    assert missing(found["a"]) == "lower and upper bounds"
    assert missing(found["b"]) == "lower bound"


def test_bounds_that_make_no_range_are_open_and_say_why():
    assert "lower" in missing(read("a,base,,text,A,,,integer,9,3,,,")["a"])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("name,Field Type\n,text\n", "Line 1"),
        (f"{REDCAP_HEADER}\n,base,,text,,,,,,,,,\n", "Line 2"),
        (f"{REDCAP_HEADER}\nid,base,,,,,,,,,,,\n", "Line 2"),
        (f'{REDCAP_HEADER}\nid,base,,text,"open\n', "line 2"),
    ],
)
def test_what_cannot_be_read_names_the_line(text, line):
    with pytest.raises(SchemaError, match=line) as caught:
        read_codebook(text.encode(), name="x.csv", format="redcap")
    assert caught.value.field == "codebook"


def test_a_field_that_stands_twice_is_refused():
    with pytest.raises(SchemaError, match="'a' twice"):
        read("a,base,,yesno,A,,,,,,,,", "a,base,,yesno,A,,,,,,,,")
