"""Mistakes of the form of columns: every one of them, by column and cell."""

from __future__ import annotations

import pytest

from prism_core.data.draft import propose_bins
from prism_core.data.schema import column_form, schema_file
from prism_core.data.schema.form_mistakes import mistakes, needed_cells
from prism_core.errors import SchemaError


def row(**cells):
    return {**column_form.blank_rows(["x"])[0], **cells}


def cells(*rows):
    return [(found.row, found.cell, found.is_missing) for found in mistakes(rows)]


NUMBER = {"kind": "numeric", "lower": "0", "upper": "10"}
LEVELS = {"kind": "categorical", "levels": "a | b"}


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        ({}, [("kind", True)]),
        ({"name": " "}, [("name", True), ("kind", True)]),
        ({"kind": "numeric"}, [("lower", True), ("upper", True)]),
        ({"kind": "date", "lower": "2020-01-01"}, [("upper", True)]),
        ({"kind": "date", "lower": "2020", "upper": "2020-02"}, []),
        ({"kind": "date", "lower": "2020", "upper": "2020-13"}, [("upper", False)]),
        ({"kind": "categorical"}, [("levels", True)]),
        ({"kind": "ordinal"}, [("levels", True)]),
        ({"kind": "boolean"}, []),
        (NUMBER, []),
        (LEVELS, []),
        ({**NUMBER, "lower": "low", "upper": "high"}, [("lower", False), ("upper", False)]),
        ({**NUMBER, "lower": "11"}, [("lower", False)]),
        (
            {**NUMBER, "bins": "many", "decimals": "few", "fill": "none"},
            [("bins", False), ("decimals", False), ("fill", False)],
        ),
        ({**NUMBER, "levels": "a", "other": "b"}, [("levels", False), ("other", False)]),
        ({**NUMBER, "levels": "a", "bins": "many"}, [("levels", False), ("bins", False)]),
        ({**LEVELS, "lower": "1", "decimals": 2}, [("lower", False), ("decimals", False)]),
        ({**LEVELS, "fill": "c", "other": "d"}, [("fill", False), ("other", False)]),
        ({"kind": "categorical", "levels": '"a'}, [("levels", False)]),
        ({"kind": "categorical", "levels": "a | a"}, [("levels", False)]),
        ({"kind": "date", "lower": "2020-13-01", "upper": "2021-01-01"}, [("lower", False)]),
        ({"kind": "numeric", "learn": True}, [("lower", True), ("upper", True)]),
        ({"kind": "categorical", "learn": True}, []),
    ],
)
def test_all_mistakes_of_a_row_are_told(typed, wrong):
    found = [(cell, missing) for _, cell, missing in cells(row(**typed))]
    assert found == wrong


def test_every_row_is_told_and_names_are_unique():
    found = cells(row(**NUMBER), row(**LEVELS, name="y"), row(**NUMBER), row(name="z"))
    assert found == [(2, "name", False), (3, "kind", True)]


def test_a_form_without_mistakes_is_read_and_another_one_is_not(schema):
    rows = column_form.to_rows(schema.columns)
    assert mistakes(rows) == ()
    for place, one in enumerate(rows):
        for cell in needed_cells(one):
            changed = [dict(each) for each in rows]
            changed[place][cell] = ""
            assert cell in {found.cell for found in mistakes(changed)}
            with pytest.raises(SchemaError):
                column_form.from_rows(changed)


def test_the_column_stands_before_the_message_and_not_in_it():
    (found,) = mistakes([row(name="age", **{**NUMBER, "fill": "old"})])
    assert found.column == "age"
    assert "age" not in found.text


@pytest.mark.parametrize(
    ("lower", "upper", "bins"),
    [
        ("0", "120", None),
        ("0", "9999", None),
        ("0", "10000", "log 12 zero"),
        ("-50000", "1e6", "log 12 zero"),
        ("0.001", "10", "log 12"),
        ("0.01", "10", None),
        ("-10", "-0.001", "log 12"),
        ("1900", "2026", None),
        ("", "10000", None),
        ("ten", "10000", None),
    ],
)
def test_log_bins_are_proposed_for_four_orders_of_magnitude(lower, upper, bins):
    typed = row(kind="numeric", lower=lower, upper=upper)
    assert propose_bins([typed]).get("x") == bins
    assert propose_bins([{**typed, "bins": "5"}]) == {}
    if bins:
        column = schema_file.column_from_dict(column_form.entry({**typed, "bins": bins}, 1), 1)
        assert 3 <= column.level_count <= 12
        assert propose_bins([{**typed, "kind": "date"}]) == {}


def test_a_proposed_bin_of_zero_holds_zero_alone():
    typed = row(kind="numeric", lower="0", upper="500000", decimals=0, bins="log 12 zero")
    (column,) = column_form.from_rows([typed])
    assert column.edges[0] == 0.0
