"""Plain data dictionaries: headers and lists of values in the spellings that people use."""

from __future__ import annotations

import pytest

from prism_core.data.codebooks import read_codebook
from prism_core.data.codebooks.code_list import number_of, pair_list, range_of
from prism_core.errors import SchemaError
from tests.support import workbooks
from tests.support.codebooks import DICTIONARY, missing, settled


def read(text: str, **options):
    return read_codebook(text.encode(), name="d.csv", format="dictionary", **options)


def one(header: str, row: str):
    (column,) = read(f"{header}\n{row}\n").columns
    return column


@pytest.fixture(scope="module")
def columns():
    return {column.name: column for column in read(DICTIONARY).columns}


def test_what_was_understood_is_told():
    understood = dict(read(DICTIONARY).understood)
    assert understood["VARIABLE_NAME"] == "name of the column"
    assert understood["Value labels"].startswith("levels")
    assert understood["Units"].startswith("unit")


@pytest.mark.parametrize(
    ("name", "kind", "lower", "upper", "decimals"),
    [
        ("age", "numeric", 18, 99, 0),
        ("dose", "numeric", 0, 2.5, 1),
        ("score", "numeric", 0, 10, 0),
        ("seen", "date", 18_262, 18_627, 0),
    ],
)
def test_numbers_and_dates(columns, name, kind, lower, upper, decimals):
    column = columns[name].column
    assert (column.kind, column.bounds, column.decimals) == (kind, (lower, upper), decimals)


def test_levels_labels_missing_and_units(columns):
    assert settled(columns["sex"]).levels == (1, 2)
    assert settled(columns["sex"]).nullable
    assert dict(settled(columns["grade"]).value_labels)["2"] == "middle, or so"
    assert settled(columns["ward"]).nullable
    assert settled(columns["smoker"]).kind == "boolean"
    assert settled(columns["dose"]).special == (-9, -8)
    assert columns["dose"].description == "Dose [mg]"
    assert "free text" in missing(columns["note"])


@pytest.mark.parametrize(
    "text",
    [
        "1=Yes; 2=No",
        "1 = Yes | 2 = No",
        "1: Yes, 2: No",
        '"1=Yes\n2=No"',
        "1=Yes, 2=No",
        "1 - Yes; 2 - No",
        "1=>Yes;2=>No",
    ],
)
def test_lists_of_codes_and_words(text):
    shown = text if text.startswith('"') else f'"{text}"'
    column = one("variable,values", f"q,{shown}")
    assert (column.levels, dict(column.labels)) == ((1, 2), {"1": "Yes", "2": "No"})


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("north; south", ("north", "south")),
        ("a, b, c", ("a", "b", "c")),
        ("10:30=early; 18:00=late", ("10:30", "18:00")),
        ("01=x; 1=y", ("01", 1)),
        ("", ()),
        ("only", ("only",)),
    ],
)
def test_lists_as_they_are_written(text, levels):
    assert pair_list(text, "Line 1")[0] == levels


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("0-120", (0, 120)),
        ("-5 to 5", (-5, 5)),
        ("[0, 120]", (0, 120)),
        ("0..1.5", (0, 1.5)),
        ("1, 2", None),
        ("5-1", None),
        ("a-b", None),
        ("1-2-3", None),
    ],
)
def test_ranges(text, bounds):
    assert range_of(text) == bounds


@pytest.mark.parametrize(
    ("text", "number"),
    [("1,5", 1.5), ("12,000", 12_000), ("1,234.5", 1_234.5), ("nan", None), ("1e999", None)],
)
def test_numbers_as_they_are_written(text, number):
    assert number_of(text) == number


@pytest.mark.parametrize(
    ("header", "row", "kind"),
    [
        ("Field;Type;Codes", "a;numeric;1=m, 2=f", "categorical"),
        ("column\tdata type\tminimum\tmaximum", "a\tint64\t0\t9", "numeric"),
        ("name,datatype,allowed values", 'a,integer,"0, 1, 2"', "ordinal"),
        ("name,type,values", "a,boolean,1=yes; 2=no", "categorical"),
        ("name,min,max", "a,2020-01-01,2020-12-31", "date"),
        ("Item Name,Level of Measurement,Response Options", "a,Ordinal,1=low; 2=high", "ordinal"),
    ],
)
def test_headers_in_other_spellings(header, row, kind):
    assert one(header, row).kind == kind


def test_labelled_codes_beyond_the_bounds_are_special_values():
    column = one("name,type,min,max,values", "a,integer,0,10,0=none; 10=worst; 99=refused")
    assert settled(column).special == (99,)


def test_missing_codes_of_a_list_are_levels():
    column = one("name,values,missing", "a,1=x; 2=y,-9=refused")
    assert settled(column).levels == (1, 2, -9)
    assert settled(one("name,min,max,missing", "a,0,9,-9 -8")).special == (-9, -8)


def test_one_row_a_level():
    text = "variable,label,value,value label\nsex,Sex,1,male\n,,2,female\nage,Age,,\n"
    sex, age = read(text).columns
    assert (sex.levels, dict(sex.labels)) == ((1, 2), {"1": "male", "2": "female"})
    assert (sex.description, age.source) == ("Sex", "line 4")


def test_required_and_optional():
    header = "name,values,required"
    assert not one(header, "a,x; y,yes").nullable
    assert one(header, "a,x; y,no").nullable


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("colour,taste\nred,sweet\n", "variable"),
        ("variable\nage\n", "describes it"),
        ("variable,label\n", "no row"),
        ("variable,label\n,Age\n", "Line 2"),
        ('variable,label\nage,"A\n', "line 2"),
        ("variable,label\nage,Age\nage,Age\n", "twice"),
        ("", "no row"),
    ],
)
def test_what_is_no_dictionary_is_refused(text, word):
    with pytest.raises(SchemaError, match=word) as caught:
        read(text)
    assert caught.value.field == "codebook"


ROWS = [
    ["Variable", "Label", "Codes", "Min", "Max"],
    ["age", "Age", None, 18, 99],
    ["sex", "Sex", "1=Female; 2=Male", None, None],
]


@pytest.mark.parametrize("format", [None, "dictionary"])
def test_a_workbook_is_read_as_the_table_it_holds(format):
    found = read_codebook(workbooks.xlsx({"Sheet1": ROWS}), name="d.xlsx", format=format)
    age, sex = found.columns
    assert settled(age).bounds == (18, 99)
    assert settled(sex).levels == (1, 2)
    assert (age.source, found.source.name) == ("line 2", "d.xlsx")


def test_a_redcap_dictionary_may_be_a_workbook():
    rows = [["field_name", "field_type", "field_label"], ["id", "text", "ID"], ["q", "yesno", "Q"]]
    found = read_codebook(workbooks.xlsx({"a": rows}), format="redcap")
    assert [column.kind for column in found.columns] == [None, "boolean"]


def test_a_workbook_of_several_sheets_asks_for_the_sheet():
    content = workbooks.xlsx({"notes": [["a", "b"], ["c", "d"]], "columns": ROWS})
    with pytest.raises(SchemaError, match="notes, columns") as caught:
        read_codebook(content)
    assert caught.value.field == "resource"
    assert read_codebook(content, resource="columns").names == ("age", "sex")


@pytest.mark.parametrize("content", [b"PK\x03\x04 xl/ no more", b"\xd0\xcf\x11\xe0 no more"])
def test_a_damaged_workbook_is_refused(content):
    with pytest.raises(SchemaError) as caught:
        read_codebook(content, format="dictionary")
    assert caught.value.field == "codebook"


def test_a_list_without_end_is_refused():
    codes = ";".join(map(str, range(10_050)))
    with pytest.raises(SchemaError, match="10,000"):
        one("variable,values", f"a,{codes}")


@pytest.mark.parametrize(
    "row",
    [
        "date,2020-01-01 to 2020-12-31",
        "date,2020-01-01 - 2020-12-31",
        "date,2020-01-01..2020-12-31",
        ",2020-01-01 to 2020-12-31",
    ],
)
def test_a_range_of_dates_is_the_bounds_of_a_date(row):
    column = one("column,type,values", f"seen,{row}").column
    assert (column.kind, column.bounds) == ("date", (18_262, 18_627))


@pytest.mark.parametrize("values", ["2020-12-31 to 2020-01-01", "2020-01-01", "2020-01-01 to x"])
def test_what_is_no_range_of_dates_leaves_the_bounds_open(values):
    assert "lower and upper" in missing(one("column,type,values", f"seen,date,{values}"))
