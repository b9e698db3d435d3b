"""DDI Codebook: categories, ranges and missing flags; other XML and hostile XML are refused."""

from __future__ import annotations

import pytest

from prism_core.data.codebooks import read_codebook
from prism_core.errors import SchemaError
from tests.support.codebooks import DDI, missing, settled


def read(text: str, **options):
    return read_codebook(text.encode(), name="codebook.xml", **options)


def variable(inside: str, **attributes: str):
    said = " ".join(f'{key}="{value}"' for key, value in attributes.items())
    text = f'<codeBook><dataDscr><var name="X" {said}>{inside}</var></dataDscr></codeBook>'
    (column,) = read(text).columns
    return column


@pytest.fixture(scope="module")
def columns():
    return {column.name: column for column in read(DDI).columns}


def test_a_number_with_its_range_and_missing_codes(columns):
    age = columns["AGE"].column
    assert (age.kind, age.bounds, age.decimals) == ("numeric", (18, 99), 0)
    assert age.special == (-9, -8, -5)
    assert dict(age.value_labels) == {"-9": "refused", "-5": "unknown"}
    assert age.nullable  # for the category "."
    assert columns["AGE"].description == "Age"


def test_categories_are_levels_and_missing_ones_too(columns):
    sex = columns["SEX"].column
    assert (sex.kind, sex.levels) == ("categorical", (1, 2, 9))
    assert dict(sex.value_labels) == {"1": "Female", "2": "Male", "9": "Refused"}
    assert (settled(columns["WARD"]).kind, columns["WARD"].levels) == ("ordinal", ("n", "s"))


@pytest.mark.parametrize(("name", "word"), [("PAY", "bounds"), ("NOTE", "free text")])
def test_what_is_open_is_named(columns, name, word):
    assert word in missing(columns[name])
    assert columns["PAY"].decimals == 2


def test_the_line_is_that_of_the_variable(columns):
    assert columns["AGE"].source == "line 5"


@pytest.mark.parametrize(
    "root",
    [
        "<codeBook>",
        '<codeBook xmlns="http://www.icpsr.umich.edu/DDI">',
        '<ddi:codeBook xmlns:ddi="ddi:codebook:2_0">',
    ],
)
def test_every_namespace_of_the_field(root):
    prefix = "ddi:" if root.startswith("<ddi:") else ""
    text = (
        f'{root}<{prefix}dataDscr><{prefix}var name="X" intrvl="contin">'
        f'<{prefix}valrng><{prefix}range min="0" max="9"/></{prefix}valrng>'
        f"</{prefix}var></{prefix}dataDscr></{prefix}codeBook>"
    )
    (column,) = read(text).columns
    assert settled(column).bounds == (0, 9)


def test_a_label_beyond_the_range_is_a_special_value():
    column = variable(
        '<valrng><range min="0" max="50"/></valrng>'
        "<catgry><catValu>99</catValu><labl>refused</labl></catgry>"
        "<catgry><catValu>0</catValu><labl>none</labl></catgry>"
        '<varFormat type="numeric"/>',
        intrvl="contin",
    )
    assert settled(column).special == (99,)
    assert "0 none" in column.remark


@pytest.mark.parametrize(
    ("ranges", "bounds"),
    [
        ('<range min="0" max="5"/><range min="7" max="9"/>', (0, 9)),
        ('<range min="0"/>', (0, None)),
        ('<range minExclusive="0" maxExclusive="5"/>', (0, 5)),
        ('<range UNITS="x" min="0" max="5"/>', (None, None)),
        ("", (None, None)),
    ],
)
def test_valid_ranges(ranges, bounds):
    column = variable(f"<valrng>{ranges}</valrng><varFormat type='numeric'/>", intrvl="contin")
    assert (column.lower, column.upper) == bounds


def test_letters_among_the_categories_are_levels():
    column = variable("<catgry><catValu>H</catValu></catgry>", intrvl="contin")
    assert settled(column).levels == ("H",)


def test_dates_and_times():
    assert variable('<varFormat type="character" category="date"/>').kind == "date"
    assert "time" in missing(variable('<varFormat type="character" category="time"/>'))


def test_several_files_ask_for_the_name():
    text = (
        '<codeBook><fileDscr ID="F1"><fileName>people.dat</fileName></fileDscr>'
        '<fileDscr ID="F2"><fileName>visits.dat</fileName></fileDscr><dataDscr>'
        '<var name="ID" files="F1 F2"/><var name="A" files="F1"/><var name="B" files="F2"/>'
        "</dataDscr></codeBook>"
    )
    with pytest.raises(SchemaError, match=r"people\.dat, visits\.dat") as caught:
        read(text)
    assert caught.value.field == "resource"
    assert read(text, resource="visits.dat").names == ("ID", "B")
    assert read(text, resource="F1").names == ("ID", "A")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("<codeBook><dataDscr>", "not well-formed"),
        ("<graphml/>", "no DDI Codebook"),
        ("<codeBook/>", "no column"),
        ("<codeBook><var/></codeBook>", "no name"),
        ("<codeBook><var name='a'><var name='b'/></var></codeBook>", "inside a variable"),
        ("<codeBook>" + "<a>" * 60 + "</a>" * 60 + "</codeBook>", "deep"),
        ("<codeBook><var name='a'/><var name='a'/></codeBook>", "twice"),
        ('<!DOCTYPE c [<!ENTITY a "b">]><codeBook>&a;</codeBook>', "document type"),
        ('<!DOCTYPE codeBook SYSTEM "file:///etc/passwd"><codeBook/>', "document type"),
    ],
)
def test_other_and_hostile_xml_is_refused(text, word):
    with pytest.raises(SchemaError, match=word) as caught:
        read(text)
    assert caught.value.field == "codebook"
