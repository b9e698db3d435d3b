"""Log bins: from the bounds alone, in every place where bins are declared."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core.data.schema import column_form, schema_file
from prism_core.data.schema.column import Column
from prism_core.data.schema.log_bins import log_edges
from prism_core.errors import SchemaError


def column(edges, lower, upper, decimals=None):
    return Column(
        name="gain", kind="numeric", lower=lower, upper=upper, edges=edges, decimals=decimals
    )


def test_bins_are_equally_wide_in_logs_beyond_the_unit():
    edges = log_edges(0.0, 1e6, 12)
    gaps = [math.asinh(b) - math.asinh(a) for a, b in zip((0.0, *edges), (*edges, 1e6))]  # noqa: B905
    assert len(edges) == 11
    assert gaps == pytest.approx([math.asinh(1e6) / 12] * 12)


def test_zero_is_a_bin_of_its_own():
    gain = column(log_edges(0.0, 99_999.0, 10, 0, zero=True), 0.0, 99_999.0, 0)
    assert gain.labels()[:2] == ("0", "1-2")
    assert gain.level_count == 10


def test_both_signs_are_mirrored_around_a_bin_of_zero():
    change = column(log_edges(-1e4, 1e4, 9, 0, zero=True), -1e4, 1e4, 0)
    assert change.labels()[4] == "0"
    sizes = [last - first + 1 for first, last in map(change.grid, range(9))]
    assert sizes == sizes[::-1]


def test_a_smaller_unit_gives_more_bins_to_small_values():
    fine, coarse = (log_edges(0.0, 1e4, 8, unit=unit) for unit in (0.01, 100.0))
    assert sum(edge < 1.0 for edge in fine) > 0
    assert sum(edge < 1.0 for edge in coarse) == 0


@given(
    st.floats(-1e6, 1e6),
    st.floats(0.01, 1e7),
    st.integers(1, 60),
    st.sampled_from([None, 0, 1, 2]),
    st.floats(1e-3, 1e3),
    st.booleans(),
)
def test_whatever_the_bounds_the_column_can_be_declared(low, width, bins, decimals, unit, zero):
    if decimals is not None:
        low, width = math.floor(low), math.ceil(width)
    high = low + width
    if not low < high or (zero and not low <= 0.0 < high):
        return
    made = column(log_edges(low, high, bins, decimals, unit=unit, zero=zero), low, high, decimals)
    assert made.level_count <= max(bins, 3)


@pytest.mark.parametrize("unit", [0.0, -1.0, math.nan, math.inf])
def test_an_unusable_unit_is_refused(unit):
    with pytest.raises(SchemaError, match="unit must be"):
        log_edges(0.0, 10.0, 4, unit=unit)


def test_zero_outside_the_bounds_is_refused():
    with pytest.raises(SchemaError, match="zero can be a bin"):
        log_edges(1.0, 10.0, 4, zero=True)


def test_a_schema_declares_log_bins():
    entry = {
        "name": "gain",
        "kind": "numeric",
        "lower": 0,
        "upper": 99999,
        "integer": True,
        "bins": 10,
        "scale": "log",
        "zero": True,
    }
    made = schema_file.column_from_dict(entry, 1)
    assert made.edges == log_edges(0.0, 99_999.0, 10, 0, zero=True)
    assert schema_file.column_from_dict(schema_file.column_dict(made), 1) == made


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scale": "cubic"}, "scale must be equal or log"),
        ({"scale": "log", "unit": 0}, "unit must be a number above 0"),
        ({"scale": "log", "edges": [1, 2]}, "goes with a number of bins"),
        ({"zero": True}, "zero goes with scale: log"),
        ({"scale": "log", "zero": "yes"}, "must be true or false"),
        ({"kind": "date", "lower": "2020-01-01", "upper": "2021-01-01", "scale": "log"}, "a date"),
    ],
)
def test_a_wrong_declaration_names_the_column(change, said):
    entry = {"name": "gain", "kind": "numeric", "lower": 0, "upper": 100, **change}
    with pytest.raises(SchemaError, match=said) as caught:
        schema_file.column_from_dict(entry, 1)
    assert "gain" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("log 12", {}),
        ("LOG 12 zero", {"zero": True}),
        ("log 12 zero unit 0.5", {"zero": True, "unit": 0.5}),
        ("log 12 unit 30", {"unit": 30.0}),
    ],
)
def test_the_form_takes_log_bins(text, wish):
    row = column_form.blank_rows(["gain"])[0] | {
        "kind": "numeric",
        "lower": "0",
        "upper": "99999",
        "bins": text,
        "decimals": 0,
    }
    (made,) = column_form.from_rows([row])
    assert made.edges == log_edges(0.0, 99_999.0, 12, 0, **wish)
    assert column_form.from_rows(column_form.to_rows([made])) == (made,)


def test_the_form_shows_log_bins_as_they_are_typed():
    (row,) = column_form.to_rows([column(log_edges(0.0, 1e6, 12, zero=True), 0.0, 1e6)])
    assert row["bins"] == "log 12 zero"


@pytest.mark.parametrize("text", ["log", "log 12 nought", "log zero", "log 12 unit"])
def test_half_typed_log_bins_are_refused(text):
    row = column_form.blank_rows(["gain"])[0] | {
        "kind": "numeric",
        "lower": "0",
        "upper": "99",
        "bins": text,
    }
    with pytest.raises(SchemaError, match="gain"):
        column_form.from_rows([row])
