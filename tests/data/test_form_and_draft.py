"""The form that columns are corrected in, and the drafts it starts from."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core.data.coverage import rows_outside
from prism_core.data.draft import draft_from_rows, propose_decimals
from prism_core.data.encoding import encode
from prism_core.data.schema import column_form, level_lines, schema_file
from prism_core.data.schema.code_groups import CodeGroups
from prism_core.data.schema.column import Column, equal_edges
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import read_table
from prism_core.errors import SchemaError
from prism_core.samples import catalogue


@st.composite
def columns(draw):
    low = draw(st.integers(-50, 50))
    high = low + draw(st.integers(12, 400))
    bins = draw(st.integers(1, 9))
    decimals = draw(st.sampled_from([None, 0, 1, 2]))
    edges = draw(
        st.sampled_from(
            [equal_edges(float(low), float(high), bins, decimals), (float(low),), (low + 4.0,)]
        )
    )
    return draw(
        st.sampled_from(
            [
                Column(
                    name="x",
                    kind="numeric",
                    lower=float(low),
                    upper=float(high),
                    edges=edges,
                    decimals=decimals,
                    nullable=draw(st.booleans()),
                    fill=draw(st.sampled_from([None, low, high / 3])),
                ),
                Column(name="x", kind="categorical", levels=("a b", "c", "1"), other="c"),
                Column(
                    name="x", kind="categorical", levels=("a", "rest"), other="rest", fill="rest"
                ),
                Column(name="x", kind="ordinal", levels=(1, 2, 9), fill=9, other=2),
                Column(
                    name="x",
                    kind="categorical",
                    nullable=True,
                    other="b",
                    groups=CodeGroups(
                        groups=("a", "b"),
                        codes=(("1", "code"), ("2, 3",)),
                        weights=((1.0, 0.25), (1e-9,)),
                    ),
                ),
                Column(name="x", kind="boolean", fill=True, other=False),
                Column(name="x", kind="date", lower=0.0, upper=9.0, edges=(), fill=4.0),
                Column(name="x", kind="ordinal", levels=(-1, 0, 7), nullable=True),
                Column(name="x", kind="boolean", nullable=True, description="yes or no"),
                Column(
                    name="x",
                    kind="date",
                    lower=float(low),
                    upper=float(high),
                    decimals=0,
                    edges=equal_edges(float(low), float(high), bins, 0),
                ),
            ]
        )
    )


@given(columns())
def test_the_form_gives_back_the_columns(column):
    assert column_form.from_rows(column_form.to_rows([column])) == (column,)


def exact(columns):
    """Types included: 1, 1.0 and true are equal to Python, but not the same level."""
    return json.dumps([schema_file.column_dict(column) for column in columns])


@given(st.from_type(Schema))
def test_the_form_gives_back_every_schema(schema):
    again = column_form.from_rows(column_form.to_rows(schema.columns))
    assert again == schema.columns
    assert exact(again) == exact(schema.columns)
    assert column_form.same(column_form.to_rows(schema.columns), schema.columns)


@pytest.mark.parametrize(
    ("levels", "line"),
    [
        ((0.5, 1.0, 2.0), "0.5 | 1.0 | 2.0"),
        (("01234", "04711"), "01234 | 04711"),
        (("1", "2"), '"1" | "2"'),
        ((1, 2), "1 | 2"),
        ((True, "maybe"), "true | maybe"),
        (("true", "True"), '"true" | True'),
        (("a|b", "c"), '"a|b" | c'),
        (("--5", "-5", -5.5), '--5 | "-5" | -5.5'),
        (("250.10", "1e3", "+1", "-0"), "250.10 | 1e3 | +1 | -0"),
        ((1e-7, 1e16, -0.0), "1e-07 | 1e+16 | -0.0"),
        (("9" * 5_000, int("9" * 300)), "9" * 5_000 + " | " + "9" * 300),
        ((' "x', "a\nb", "\ufeff", " "), None),
        ((" a ", "\\", '"'), None),
    ],
)
def test_levels_keep_their_types_in_the_form(levels, line):
    text = level_lines.write_levels(levels)
    assert line is None or text == line
    found = level_lines.read_levels(text, "x")
    assert [(type(level), level) for level in found] == [(type(level), level) for level in levels]
    assert [
        level_lines.read_level(level_lines.write_level(one), "x", "fill") for one in levels
    ] == found


@pytest.mark.parametrize("text", ['"a', '"a" b | c', '"a\\"', '"\\q"'])
def test_a_quotation_mark_that_is_not_closed_names_the_column(text):
    for part in ("levels", "other"):
        row = {"name": "ward", "kind": "categorical", "levels": "a | b", part: text}
        with pytest.raises(SchemaError, match=f"'ward'.*under {part} must end with one"):
            column_form.from_rows([row])


TYPED = st.text(max_size=8) | st.sampled_from(
    ["--5", "9" * 5_000, "-" * 9, '"', "|", '"a"|', "1|1.0", "true", "nan", "1e999", "\u0663"]
)


@given(
    st.sampled_from(
        ["levels", "lower", "upper", "bins", "fill", "other", "groups", "special", "labels"]
    ),
    TYPED,
    st.sampled_from(["categorical", "ordinal", "boolean", "numeric", "date"]),
)
def test_whatever_is_typed_gives_a_column_or_a_sentence(part, text, kind):
    row = {"name": "x", "kind": kind}
    bounds = {"numeric": ("0", "9"), "date": ("2020-01-01", "2021-01-01")}.get(kind)
    row |= {"lower": bounds[0], "upper": bounds[1]} if bounds else {}
    row |= {"levels": "a | 1"} if kind in ("categorical", "ordinal") else {}
    for call in (lambda row: column_form.from_rows([row]), column_form.codes):
        field = "x."
        try:
            call(row | {part: text})
        except SchemaError as error:
            field = error.field
        assert field.startswith("x.")


def test_what_is_typed_for_unknown_cells_finds_its_level():
    row = {"name": "x", "kind": "categorical"}
    (column,) = column_form.from_rows(
        [row | {"levels": '"1" | "1.0" | rest', "other": "1.0", "fill": "1"}]
    )
    assert (column.other, column.fill) == ("1.0", 1)
    groups = {"groups": "code,group\n250,1\n401,2\n"}
    (column,) = column_form.from_rows([row | groups | {"other": "2"}])
    assert column.other == "2"


def test_special_values_and_words_stay_as_they_were():
    column = Column(
        name="x",
        kind="numeric",
        lower=0,
        upper=9,
        special=(-9, ".a", "97", "a|b"),
        value_labels=(("-9", "refused = no | answer"), ("a|b", "so")),
    )
    (row,) = column_form.to_rows([column])
    assert row["special"] == '-9 | .a | "97" | "a|b"'
    assert column_form.same([row], [column])
    assert not column_form.same([row | {"labels": ""}], [column])
    with pytest.raises(SchemaError, match="clear what stands under special"):
        column_form.from_rows(
            [{**row, "kind": "categorical", "lower": "", "upper": "", "bins": ""}]
        )


@given(st.dictionaries(st.text(min_size=1, max_size=6), st.text(min_size=1, max_size=9)))
def test_words_for_values_come_back_from_their_line(words):
    line = level_lines.write_labels(words.items())
    assert level_lines.read_labels(line, "x") == words


@pytest.mark.parametrize(
    "text", ["1", "1 = a | 2", "= a | = b", "1 = a | 1 = b", '1 = "a', '"1" a']
)
def test_words_that_cannot_be_read_name_the_column(text):
    with pytest.raises(SchemaError) as caught:
        level_lines.read_labels(text, "ward")
    assert caught.value.field == "ward.labels"


def test_a_description_stays_as_it_was_written_and_its_change_is_one():
    column = Column(name="x", kind="boolean", description=" yes or no ")
    (again,) = column_form.from_rows(column_form.to_rows([column]))
    assert again.description == column.description
    assert not column_form.same(
        [column_form.to_rows([column])[0] | {"description": "no"}], [column]
    )


@pytest.mark.parametrize("name", catalogue.SAMPLES)
def test_the_form_gives_back_the_samples_schemas(name):
    schema = catalogue.load(name).schema
    assert column_form.from_rows(column_form.to_rows(schema.columns)) == schema.columns


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"name": "", "kind": "boolean"}, "no name"),
        ({"name": "a", "kind": "categorical"}, "levels"),
        ({"name": "a", "kind": "numeric", "lower": "x", "upper": "1"}, "must be a number"),
        ({"name": "a", "kind": "numeric", "lower": "0"}, "upper"),
        ({"name": "a", "kind": "numeric", "lower": "0", "upper": "9", "bins": "many"}, "bins"),
        ({"name": "a", "kind": None}, "kind"),
        ({"name": "a", "kind": "date", "lower": "yesterday", "upper": "2020-01-01"}, "YYYY-MM-DD"),
    ],
)
def test_a_mistake_in_the_form_is_a_sentence(row, words):
    with pytest.raises(SchemaError, match=words):
        column_form.from_rows([row])


def test_a_draft_covers_the_rows_it_was_made_from():
    sample = catalogue.load("readmission")
    schema, left = draft_from_rows(sample.train, "public twin")
    assert left == ()
    assert schema.provenance == "public twin"
    assert all(rows_outside(c, sample.train.column(c.name)) == 0 for c in schema.columns)
    kinds = {column.name: column.kind for column in schema.columns}
    assert (kinds["age"], kinds["sex"], kinds["discharge_date"]) == (
        "numeric",
        "categorical",
        "date",
    )
    assert kinds["readmitted_30d"] == "boolean"


def test_a_draft_leaves_out_identifiers_and_survives_odd_columns():
    rows = "\n".join(f"id{i},{i},,5,{'yes' if i % 2 else 'no'},{i / 8}" for i in range(300))
    raw = read_table(f"mrn,number,nothing,constant,flag,real\n{rows}\n".encode())
    schema, left = draft_from_rows(raw, "private rows")
    assert left == ("mrn", "number")
    assert schema.names == ("nothing", "constant", "flag", "real")
    assert schema["nothing"].nullable
    assert encode(schema, raw).n == 300


def test_a_draft_from_rows_is_honest_about_where_it_comes_from():
    raw = read_table(b"a\n1\n2\n")
    with pytest.raises(SchemaError, match="private rows"):
        draft_from_rows(raw, "declared")


@pytest.mark.privacy
def test_the_form_starts_blank_from_the_header_and_is_refused_until_filled_in():
    rows = column_form.blank_rows(["sex", "age"])
    assert [row["name"] for row in rows] == ["sex", "age"]
    with pytest.raises(SchemaError, match="'sex': choose its kind"):
        column_form.from_rows(rows)


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"kind": "numeric", "lower": "0", "upper": "1", "levels": "a | b"}, "levels"),
        ({"kind": "date", "lower": "2020-01-01", "upper": "2021-01-01", "other": "x"}, "other"),
        ({"kind": "categorical", "levels": "a | b", "lower": "0"}, "lower"),
        ({"kind": "boolean", "bins": "3"}, "bins"),
        ({"kind": "ordinal", "levels": "1 | 2", "decimals": 0}, "decimals"),
    ],
)
def test_nothing_typed_is_passed_over_in_silence(row, field):
    with pytest.raises(SchemaError, match=f"under {field}"):
        column_form.from_rows([{"name": "x", **row}])


def test_codes_that_look_like_numbers_are_drafted_as_texts():
    zips = [f"{number:05}" for number in (1234, 4711, 10115, 80331)]
    days = [f"{number:02}" for number in range(1, 21)]
    lines = [
        f"{zips[i % 4]},{days[i % 20]},90000000000020{i % 3}008,{i % 4}E{i % 2},{i % 7}.0,{i / 8}"
        for i in range(80)
    ]
    raw = read_table(("zip,day,snomed,ward,grade,dose\n" + "\n".join(lines)).encode())
    schema, left = draft_from_rows(raw, "public twin")
    assert left == ()
    assert schema["zip"].levels == tuple(sorted(zips))
    assert schema["day"].levels == tuple(days)
    assert schema["snomed"].levels == tuple(f"90000000000020{i}008" for i in range(3))
    assert schema["ward"].levels == ("0E0", "1E1", "2E0", "3E1")
    assert schema["grade"].levels == tuple(range(7))
    assert schema["dose"].kind == "numeric"
    assert all(rows_outside(column, raw.column(column.name)) == 0 for column in schema.columns)
    assert exact(column_form.from_rows(column_form.to_rows(schema.columns))) == exact(
        schema.columns
    )


def test_a_draft_of_numbers_of_any_size_is_one():
    raw = read_table(b"a,b\n" + b"".join(b"%d,1.5e%d\n" % (i, i * 20) for i in range(15)))
    schema, _ = draft_from_rows(raw, "public twin")
    assert (schema["b"].kind, schema["b"].decimals) == ("numeric", None)


def test_none_is_kept_as_a_level_in_a_draft():
    raw = read_table(b"diabetes,y\nnone,1\ntype1,2\nnone,1\ntype2,\n")
    schema, _ = draft_from_rows(raw, "public twin")
    assert schema["diabetes"].levels == ("none", "type1", "type2")
    assert not schema["diabetes"].nullable
    assert schema["y"].nullable


@pytest.mark.parametrize(
    ("changes", "decimals"),
    [
        ({}, 0),
        ({"lower": "0.0", "upper": "12.50"}, 2),
        ({"lower": "-0.5", "upper": "1e3"}, 1),
        ({"bins": "0 | 2.25 | 9"}, 2),
        ({"bins": "40 | 65"}, 0),
        ({"lower": "0", "upper": "1e9", "bins": "log 12 zero"}, 0),
        ({"lower": "0", "upper": "1"}, None),  # eight bins would become two
        ({"lower": "0", "upper": "1e30"}, None),  # no float holds its whole numbers
        ({"upper": "many"}, None),
        ({"upper": "nan"}, None),
        ({"bins": "log"}, None),
        ({"decimals": 3}, None),
        ({"kind": "date", "lower": "2020-01-01", "upper": "2021-01-01"}, None),
        ({"learn": True}, None),
    ],
)
def test_decimals_are_proposed_as_the_bounds_and_edges_are_written(changes, decimals):
    row = dict(column_form.blank_rows(["age"])[0]) | {
        "kind": "numeric",
        "lower": "0",
        "upper": "120",
    }
    found = propose_decimals([row | changes])
    assert found == ({} if decimals is None else {"age": decimals})
    if decimals is not None:
        (column,) = column_form.from_rows([row | changes | {"decimals": decimals}])
        assert column.decimals == decimals


@pytest.mark.parametrize(
    ("lower", "upper", "days"),
    [
        ("2020", "2021", ("2020-01-01", "2021-12-31")),
        ("2020-02", "2020-02", ("2020-02-01", "2020-02-29")),
        ("2020-02-03", "2021", ("2020-02-03", "2021-12-31")),
    ],
)
def test_a_year_or_month_stands_for_its_first_or_last_day(lower, upper, days):
    (row,) = column_form.blank_rows(["seen"])
    (column,) = column_form.from_rows([{**row, "kind": "date", "lower": lower, "upper": upper}])
    entry = schema_file.column_dict(column)
    assert (entry["lower"], entry["upper"]) == days
    (number,) = column_form.from_rows(
        [{**row, "kind": "numeric", "lower": "2019", "upper": "2021"}]
    )
    assert number.bounds == (2019, 2021)
