"""Cells to codes and back, worked examples; the properties stand in tests/property."""

from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from prism_core.data.coverage import rows_outside
from prism_core.data.decoding import decode, decode_column
from prism_core.data.encoding import EncodedTable, encode, encode_column, rows_per_person
from prism_core.data.schema.code_groups import CodeGroups
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import RawTable, from_frame
from prism_core.errors import PrivacyError, TableError
from prism_core.runs.finished_run import encode_synthetic
from prism_core.runs.inputs import encode_holdout, encode_rows

CATEGORY = Column(name="x", kind="categorical", levels=("a", "b", "c"))
NUMBER = Column(name="x", kind="numeric", lower=0, upper=10, edges=(5,))


def codes(column: Column, *cells: str) -> list[int]:
    return encode_column(column, pd.Series(cells, dtype=str)).tolist()


def variant(column: Column, **changes) -> Column:
    from dataclasses import replace

    return replace(column, **changes)


def test_categories_that_are_not_declared_go_where_the_column_says():
    cells = ("b", " c ", "", "NA", "z", "B")
    assert codes(CATEGORY, *cells) == [1, 2, 0, 0, 0, 0]
    assert codes(variant(CATEGORY, fill="b"), *cells) == [1, 2, 1, 1, 1, 1]
    assert codes(variant(CATEGORY, nullable=True), *cells) == [1, 2, 3, 3, 3, 3]
    assert codes(variant(CATEGORY, other="c"), *cells) == [1, 2, 0, 0, 2, 2]
    assert codes(variant(CATEGORY, nullable=True, other="c"), *cells) == [1, 2, 3, 3, 2, 2]
    assert codes(variant(CATEGORY, fill="b", other="c"), *cells) == [1, 2, 1, 1, 2, 2]


def test_a_level_that_looks_missing_is_a_level():
    column = Column(name="x", kind="categorical", levels=("NA", "none"), nullable=True)
    assert codes(column, "NA", "none", "nan", "") == [0, 1, 2, 2]


def test_numbers_meet_levels_however_they_are_written():
    column = Column(name="x", kind="ordinal", levels=(1, 2.5, 10), nullable=True)
    assert codes(column, "1", "1.0", "01", " 1e0", "2.50", "10.", "1.01", "x") == [
        0,
        0,
        0,
        0,
        1,
        2,
        3,
        3,
    ]
    exact = Column(name="x", kind="ordinal", levels=(2**60, 2**60 + 1), nullable=True)
    assert codes(exact, str(2**60), str(2**60 + 1), str(2**60 + 2)) == [0, 1, 2]


def test_texts_meet_levels_only_as_they_are_written():
    column = Column(name="x", kind="categorical", levels=("1", "01", "1e3"), nullable=True)
    assert codes(column, "1", "01", "1e3", "1.0", "1000", "001", "+1") == [0, 1, 2, 0, 3, 3, 3]
    mixed = Column(name="x", kind="categorical", levels=(1, "01", "1e3", True), nullable=True)
    assert codes(mixed, "1", "01", "1e3", "1.0", "true", "True") == [0, 1, 2, 0, 3, 3]


def test_texts_that_are_a_number_meet_it_by_value():
    """As pandas writes a column of whole numbers with a blank in it."""
    column = Column(name="x", kind="ordinal", levels=("1", "2", "3", "0.5", "-4"), nullable=True)
    assert codes(column, "1.0", "2.0", "3.00", "", "0.50", "-4.0") == [0, 1, 2, 5, 3, 4]
    assert codes(column, "02", "1e0", "2.", "+3", "1.5", "0x1") == [5] * 6


def test_a_text_that_only_looks_like_a_number_is_itself_alone():
    zips = Column(name="x", kind="categorical", levels=("01234", "250.10", "1.0"), nullable=True)
    assert codes(zips, "01234", "250.10", "1.0") == [0, 1, 2]
    assert codes(zips, "1234", "1234.0", "250.1", "1", "1.00") == [3] * 5
    four = Column(name="x", kind="categorical", levels=("1234", "2000"), nullable=True)
    assert codes(four, "01234", "1234.0", "2e3") == [2, 0, 2]
    long = Column(name="x", kind="categorical", levels=("900000000000207008", "7"), nullable=True)
    assert codes(long, "900000000000207008", "900000000000207009", "9.00000000000207e+17") == [
        0,
        2,
        2,
    ]


def test_codes_in_groups_meet_numbers_like_levels():
    groups = CodeGroups(groups=("a", "b"), codes=(("401", "401.1"), ("250.1", "007")))
    column = Column(name="x", kind="categorical", groups=groups, nullable=True)
    assert codes(column, "401.0", "401.1", "250.10", "007", "7") == [0, 0, 1, 1, 2]


def test_booleans_in_many_words_and_missing():
    column = Column(name="x", kind="boolean", nullable=True)
    assert codes(column, "Yes", "TRUE", "t", "1", "1.0", "y") == [1] * 6
    assert codes(column, "No", "false", "F", "0", "0.00", "n") == [0] * 6
    assert codes(column, "", "maybe", "2", "NaN") == [2] * 4
    assert codes(variant(column, nullable=False, fill=True), "", "maybe") == [1, 1]
    flags = pd.Series([True, None, False], dtype=object)
    assert encode_column(column, flags).tolist() == [1, 2, 0]


def test_numbers_clip_and_fill():
    cells = ("-3", "0", "5", "5.1", "99", "", "x", "inf", "-inf", "1e999")
    assert codes(NUMBER, *cells) == [0, 0, 0, 1, 1, 0, 0, 1, 0, 1]
    assert codes(variant(NUMBER, nullable=True), *cells) == [0, 0, 0, 1, 1, 2, 2, 1, 0, 1]
    assert codes(variant(NUMBER, fill=7), "", "x") == [1, 1]
    assert codes(variant(NUMBER, fill=999), "") == [1]


def test_dates_take_the_day_as_it_is_written():
    column = Column(name="x", kind="date", lower=0, upper=40_000, edges=(18_262,), nullable=True)
    assert codes(column, "2020-01-01", "20200101", "2020-01-01T23:59-11:00", "2020") == [0] * 4
    assert codes(column, "2020-01-02 00:00", "2020-01-02", "2020-02", "3000-01-01") == [1] * 4
    assert codes(column, "1815-06-18", "0001-01-01") == [0, 0]
    assert codes(column, "2020.0", "20200102.0", "2020.5") == [0, 1, 2]
    assert codes(column, "2020-13-01", "2020-02-30", "today", "now", "1.1.2020", "") == [2] * 6


@pytest.mark.privacy
@pytest.mark.parametrize("kind", ["date", "numeric", "categorical", "boolean"])
@pytest.mark.parametrize(
    "cell", ["x" * 10**6, "9" * 10**6, "2020-01-01" * 10**5, "\U0001f600" * 10**5]
)
def test_an_overlong_cell_is_one_more_code(kind, cell):
    bounds = {"lower": 0, "upper": 10} if kind in ("date", "numeric") else {}
    levels = ("a", "b") if kind == "categorical" else ()
    column = Column(name="x", kind=kind, levels=levels, nullable=True, **bounds)
    assert codes(column, cell, "a")[0] in range(column.size)


def test_300_000_distinct_values_fit_a_column_of_three_levels():
    cells = pd.Series([f"value {i}" for i in range(300_000)], dtype=str)
    found = encode_column(variant(CATEGORY, other="c"), cells)
    assert (found == 2).all()


@pytest.mark.parametrize("cells", [["", "", ""], ["b", "b", "b"], ["a"], []])
@pytest.mark.parametrize("column", [CATEGORY, NUMBER, Column(name="x", kind="boolean")])
def test_empty_constant_and_tiny_columns_are_columns(column, cells):
    found = encode_column(column, pd.Series(cells, dtype=str))
    assert len(found) == len(cells)
    assert set(found.tolist()) <= set(range(column.size))


def test_the_diagnostic_counts_cells_outside_the_declaration():
    assert rows_outside(CATEGORY, ["a", "z", ""]) == 2
    assert rows_outside(variant(CATEGORY, nullable=True), ["a", "z", ""]) == 1
    assert rows_outside(NUMBER, ["5", "11", "x", "inf", "0"]) == 3
    date = Column(name="x", kind="date", lower=0, upper=10, nullable=True)
    assert rows_outside(date, ["1970-01-05", "2020-01-01", "soon", ""]) == 2


# --- tables ----------------------------------------------------------------------------------


def test_columns_are_found_by_name_and_others_are_ignored(schema, frame):
    order = list(reversed(frame.columns))
    shuffled = frame[order].assign(note="free text", **{"7": "x"})
    a = encode(schema, RawTable(frame))
    b = encode(schema, from_frame(shuffled))
    assert (a.codes == b.codes).all()
    assert a.column("grade").tolist() == (frame["grade"].astype(int) - 1).tolist()


def test_columns_that_are_not_in_the_file_are_named(schema, frame):
    with pytest.raises(TableError, match="names 'grade', 'dose', but 'stays' has no such column"):
        encode(schema, RawTable(frame.drop(columns=["grade", "dose"]), "stays"))


def test_codes_are_checked_and_cannot_be_changed(schema, frame):
    table = encode(schema, RawTable(frame))
    with pytest.raises(ValueError, match="read-only"):
        table.codes[0, 0] = 1
    for wrong in (table.codes[:, 1:], table.codes + 100, table.codes - 1):
        with pytest.raises(TableError, match="codes must"):
            EncodedTable(schema=schema, codes=wrong)


@pytest.mark.privacy
def test_a_table_prints_and_logs_no_cell(schema, frame, canary, caplog, capsys):
    caplog.set_level(logging.DEBUG)
    frame["ward"] = canary
    table = encode(schema, RawTable(frame))
    assert "codes" not in repr(table)
    assert canary not in repr(table) + caplog.text + "".join(capsys.readouterr())
    with pytest.raises(TableError) as caught:
        encode(schema, RawTable(frame.drop(columns="age")))
    assert canary not in str(caught.value)


def test_decoded_values_lie_in_their_bins(schema):
    rng = np.random.default_rng(0)
    found = np.column_stack([rng.integers(0, c.size, 2000) for c in schema.columns])
    frame = decode(schema, found, rng)
    assert frame["age"].between(18, 89).all()
    assert frame["age"].nunique() > 60
    assert frame["dose"].dropna().between(0.0, 2.0).all()
    assert frame["seen"].between("2020-01-01", "2020-12-31").all()
    assert frame["smoker"].isna().sum() == (found[:, 1] == 2).sum()
    assert set(frame["ward"]) == {"north", "south", "rest"}
    assert set(frame["grade"]) == {1, 2, 3}


def test_decoding_spreads_evenly_inside_a_bin():
    column = Column(name="x", kind="numeric", lower=0, upper=9, decimals=0)
    table = decode(Schema(columns=(column,)), np.zeros((20_000, 1), int), np.random.default_rng(1))
    counts = table["x"].value_counts().reindex(range(10), fill_value=0)
    # 20,000 draws over 10 numbers: 6 standard errors of 2,000.
    assert (abs(counts - 2_000) < 6 * np.sqrt(2_000 * 0.9)).all()


@pytest.mark.parametrize(
    ("lower", "upper", "edges", "digits"),
    [
        (18.0, 120.0, (40.0, 65.5), 2),
        (0.0, 1.0, (0.3,), 4),
        (0.0, 1.0, (np.nextafter(0.3, 0.0),), 4),  # a hair beside the grid, on either side
        (0.0, 1.0, (np.nextafter(0.3, 1.0),), 4),
        (-1.0, 2.0, (1 / 3, 2 / 3), 4),
        (0.0, 4e6, (0.0, 1e6), 0),  # {0} is a bin of one value
    ],
)
def test_without_decimals_values_have_a_thousandth_of_their_bin(lower, upper, edges, digits):
    """The digits follow from the declaration; what is rounded never leaves its bin."""
    column = Column(name="x", kind="numeric", lower=lower, upper=upper, edges=edges)
    codes = np.repeat(np.arange(column.level_count), 20_000)  # 20 draws for every value
    found = decode_column(column, codes, np.random.default_rng(0))
    assert (found == found.round(digits)).all()
    assert max(len(str(value).partition(".")[2]) for value in found) <= max(digits, 1)
    assert (encode_column(column, found.astype(str)) == codes).all()
    wide = [high > low for low, high in map(column.bin_bounds, range(column.level_count))]
    assert (found.groupby(codes).nunique()[wide] > 900).all()


def test_a_bin_too_narrow_for_a_grid_of_floats_keeps_what_is_drawn():
    low = 1e9
    column = Column(name="x", kind="numeric", lower=low, upper=low + 1e-4, edges=(low + 5e-5,))
    codes = np.repeat([0, 1], 500)
    found = decode_column(column, codes, np.random.default_rng(0))
    assert (encode_column(column, found.map(repr)) == codes).all()


def test_levels_too_large_for_64_bits_decode_as_text():
    column = Column(name="x", kind="categorical", levels=(10**30, 5))
    frame = decode(Schema(columns=(column,)), np.array([[0], [1]]), np.random.default_rng(0))
    assert frame["x"].tolist() == [str(10**30), "5"]


# --- one row per person ----------------------------------------------------------------------

PERSONS = Schema(
    columns=(Column(name="x", kind="ordinal", levels=(0, 1, 2)),), person_id="who", persons=2_000
)


def visits(persons: int, each: int) -> RawTable:
    """Every person has `each` rows, numbered 0, 1, 2 in the order of the file."""
    rows = [(f"p{person}", str(visit)) for person in range(persons) for visit in range(each)]
    return RawTable(pd.DataFrame(rows, columns=["who", "x"], dtype=str))


@pytest.mark.statistical
def test_the_row_kept_of_a_person_is_uniform_over_her_rows():
    """Chi-square of 2,000 persons with 3 rows; false alarms below 1e-10."""
    kept = rows_per_person(visits(2_000, 3), "who", np.random.default_rng())
    counts = kept.frame["x"].value_counts().reindex(["0", "1", "2"], fill_value=0)
    statistic = ((counts - 2_000 / 3) ** 2 / (2_000 / 3)).sum()
    assert statistic < chi2.isf(1e-10, 2)
    first_always = np.array([2_000, 0, 0])  # what the test would say of keeping the first row
    assert ((first_always - 2_000 / 3) ** 2 / (2_000 / 3)).sum() > chi2.isf(1e-10, 2)


@pytest.mark.statistical
def test_the_rows_kept_come_in_random_order():
    """P(order of 200 persons unchanged) is 1/200!; the first person is at home with 1/200."""
    kept = rows_per_person(visits(200, 2), "who", np.random.default_rng()).frame["who"].tolist()
    assert sorted(kept) == sorted({f"p{i}" for i in range(200)})
    assert kept != [f"p{i}" for i in range(200)]


def test_each_person_keeps_one_row_and_an_empty_id_is_an_id():
    raw = RawTable(pd.DataFrame({"who": ["a", "", "a", "b", "", " a"], "x": list("012012")}))
    kept = rows_per_person(raw, "who", np.random.default_rng(0))
    assert sorted(kept.frame["who"]) == ["", " a", "a", "b"]
    rows = {(who, x) for who, x in zip(raw.frame["who"], raw.frame["x"], strict=True)}
    assert set(zip(kept.frame["who"], kept.frame["x"], strict=True)) <= rows


@pytest.mark.privacy
def test_a_replaced_row_changes_one_person(canary):
    """A person has one row, so the neighbour differs in one row of codes at most."""
    raw = visits(50, 1)
    other = raw.frame.copy()
    other.loc[7] = [canary, "2"]
    rng = np.random.default_rng
    a = rows_per_person(raw, "who", rng(1)).frame
    b = rows_per_person(RawTable(other), "who", rng(1)).frame
    assert (a != b).any(axis=1).sum() == 1


def test_the_id_is_never_synthesised():
    table = encode(PERSONS, visits(2_000, 2), rng=np.random.default_rng(0))
    assert table.n == 2_000
    assert decode(PERSONS, table.codes, np.random.default_rng(0)).columns.tolist() == ["x"]


def test_a_wrong_number_of_persons_is_refused_without_the_right_one():
    text = r"declares 2,000 persons and .* another number"
    with pytest.raises(PrivacyError, match=text) as caught:
        encode_rows(PERSONS, visits(1_999, 2), public=False, rng=np.random.default_rng(0))
    assert caught.value.field == "persons"
    assert "1,999" not in str(caught.value)
    assert "1999" not in str(caught.value)
    table = encode_rows(PERSONS, visits(2_000, 2), public=True, rng=np.random.default_rng(0))
    assert (table.n, table.public) == (2_000, True)


def test_a_person_id_needs_its_column_and_randomness():
    with pytest.raises(TableError, match="names 'who'"):
        encode(PERSONS, RawTable(visits(3, 1).frame.drop(columns="who")))
    with pytest.raises(TableError, match="source of randomness"):
        encode(PERSONS, visits(3, 1))


def test_evaluation_needs_no_person_behind_a_synthetic_row():
    synthetic = encode_synthetic(PERSONS, RawTable(pd.DataFrame({"x": ["0", "2"]}, dtype=str)))
    assert synthetic.column("x").tolist() == [0, 2]
    assert synthetic.schema.columns == PERSONS.columns
    holdout = encode_holdout(PERSONS, visits(30, 2), rng=np.random.default_rng(0))
    assert (holdout.n, holdout.public) == (30, False)
