"""What a column may declare; every refusal names the column and what is allowed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core.data.decoding import decode_column
from prism_core.data.encoding import encode_column
from prism_core.data.schema.column import MISSING_LABEL, Column, equal_edges
from prism_core.data.schema.column_rules import MAX_LEVELS
from prism_core.data.schema.level import day_number, day_text, level_text
from prism_core.data.schema.schema import Schema
from prism_core.errors import SchemaError
from tests.support.refusals import refused

DATES = {"kind": "date", "lower": 0.0, "upper": 100.0}
NUMBERS = {"kind": "numeric", "lower": 0.0, "upper": 10.0}


@pytest.mark.parametrize(
    ("entries", "part", "text"),
    [
        ({"kind": "text"}, "kind", "kind must be one of categorical, ordinal"),
        ({"kind": "categorical"}, "levels", "needs its levels declared"),
        ({"kind": "categorical", "levels": ("a", "a")}, "levels", "declared twice"),
        ({"kind": "categorical", "levels": (1, "1")}, "levels", "declared twice"),
        ({"kind": "categorical", "levels": (1, 1.0)}, "levels", "declared twice"),
        ({"kind": "categorical", "levels": ("a",), "fill": 10**5_000}, "levels", "300 digits"),
        (NUMBERS | {"fill": 10**400}, "fill", "fill must be a number"),
        ({"kind": "categorical", "levels": (1e-7, "0.0000001")}, "levels", "the same number"),
        ({"kind": "categorical", "levels": (10**16, 1e16)}, "levels", "the same number"),
        ({"kind": "categorical", "levels": (10**300, 1)}, "levels", "at most 300 digits"),
        ({"kind": "categorical", "levels": (10**5_000,)}, "levels", "at most 300 digits"),
        ({"kind": "categorical", "levels": ("a", " ")}, "levels", "mark it nullable"),
        ({"kind": "categorical", "levels": (1.0, float("nan"))}, "levels", "finite number"),
        ({"kind": "categorical", "levels": (1.0, float("inf"))}, "levels", "finite number"),
        (
            {"kind": "categorical", "levels": tuple(range(300_000))},
            "levels",
            "300,000 levels are declared and at most 10,000 are allowed; group rare",
        ),
        ({"kind": "boolean", "levels": ("no", "yes")}, "levels", "false and true only"),
        ({"kind": "categorical", "levels": ("a", "b"), "fill": "c"}, "fill", "declared levels"),
        ({"kind": "categorical", "levels": ("a", "b"), "other": "c"}, "other", "declared levels"),
        ({"kind": "ordinal", "levels": (1, 2), "lower": 0.0}, "lower", "do not apply"),
        ({"kind": "numeric"}, "lower", "must be declared"),
        ({"kind": "numeric", "lower": 0.0}, "lower", "must be declared"),
        (NUMBERS | {"levels": ("a",)}, "levels", "bounds and bins, not levels"),
        (NUMBERS | {"lower": float("nan")}, "lower", "finite"),
        (NUMBERS | {"upper": float("inf")}, "lower", "finite"),
        (NUMBERS | {"upper": 0.0}, "lower", "lower must be smaller than upper"),
        (NUMBERS | {"edges": (5.0, 2.0)}, "edges", "must increase"),
        (NUMBERS | {"edges": (5.0, 5.0)}, "edges", "must increase"),
        (NUMBERS | {"edges": (0.0, 0.0)}, "edges", "declared twice"),
        (NUMBERS | {"edges": (10.0,)}, "edges", "between the bounds"),
        (NUMBERS | {"edges": (float("nan"),)}, "edges", "must increase"),
        (
            NUMBERS | {"edges": tuple(np.linspace(0.0, 9.0, MAX_LEVELS))},
            "edges",
            "at most 10,000 bins",
        ),
        (NUMBERS | {"decimals": -1}, "decimals", "between 0 and 12"),
        (NUMBERS | {"decimals": 13}, "decimals", "between 0 and 12"),
        (NUMBERS | {"decimals": 0, "upper": 1e30}, "decimals", "use fewer decimals"),
        (NUMBERS | {"decimals": 0, "edges": (2.2, 2.8)}, "edges", "bin 2 holds no value"),
        (NUMBERS | {"fill": "a"}, "fill", "fill must be a number"),
        (NUMBERS | {"fill": float("nan")}, "fill", "fill must be a number"),
        (NUMBERS | {"fill": True}, "fill", "fill must be a number"),
        (DATES | {"upper": 1e9}, "lower", "between 0001-01-01 and 9999-12-31"),
        (DATES | {"lower": -1e9}, "lower", "between 0001-01-01 and 9999-12-31"),
    ],
)
def test_an_unusable_declaration_is_refused_by_name(entries, part, text):
    with pytest.raises(SchemaError, match=text) as caught:
        Column(name="ward", **entries)
    assert str(caught.value).startswith("Column 'ward': ")
    assert str(caught.value).endswith(".")
    assert caught.value.field == f"ward.{part}"


@pytest.mark.parametrize("name", ["", "  ", 3, None])
def test_a_column_needs_a_name(name):
    with pytest.raises(SchemaError, match="Give every column a name"):
        Column(name=name, kind="boolean")


def test_a_boolean_column_has_its_levels_without_saying():
    column = Column(name="smoker", kind="boolean", nullable=True)
    assert column.levels == (False, True)
    assert column.size == 3
    assert column.missing_code == 2
    assert column.labels() == ("false", "true", MISSING_LABEL)


def test_dates_are_whole_days():
    column = Column(name="seen", **DATES)
    assert column.decimals == 0
    assert column.labels() == ("1970-01-01 to 1970-04-11",)
    codes = np.zeros(50, dtype=np.int32)
    days = decode_column(column, codes, np.random.default_rng(0))
    assert (days == days.dt.floor("D")).all()
    assert (encode_column(column, days.dt.strftime("%Y-%m-%d")) == 0).all()


def test_bins_are_closed_above():
    column = Column(name="x", kind="numeric", lower=0, upper=10, edges=(0, 3, 5))
    cells = ["-1", "0", "0.1", "3", "3.1", "5", "5.1", "10", "11"]
    assert encode_column(column, _texts(cells)).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 3]
    assert column.labels() == ("0", "(0, 3]", "(3, 5]", "(5, 10]")
    assert [column.bin_bounds(i) for i in (0, 3)] == [(0, 0), (5, 10)]


def test_labels_of_whole_numbers_name_the_first_and_last():
    column = Column(name="x", kind="numeric", lower=0, upper=10, edges=(0, 5), decimals=0)
    assert column.labels() == ("0", "1-5", "6-10")


def test_an_edge_with_a_float_error_is_taken_as_on_the_grid():
    column = Column(
        name="x", kind="numeric", lower=0.0, upper=1.0, edges=(0.1 + 0.2, 0.7 - 1e-12), decimals=1
    )
    assert column.edges == (0.3, 0.7)
    assert column == Column(
        name="x", kind="numeric", lower=0.0, upper=1.0, edges=(0.3, 0.7), decimals=1
    )


@pytest.mark.parametrize(
    ("level", "text"),
    [
        (True, "true"),
        (False, "false"),
        (1, "1"),
        (1.0, "1"),
        (-0.0, "0"),
        (1.5, "1.5"),
        (2.0**60, "1.152921504606847e+18"),
        (" a ", "a"),
        ("010", "010"),
    ],
)
def test_levels_are_matched_by_their_text(level, text):
    assert level_text(level) == text


@given(
    st.integers(-1000, 1000),
    st.integers(1, 1000),
    st.integers(1, 60),
    st.sampled_from([None, 0, 1, 3]),
)
def test_equal_bins_are_as_even_as_the_range_allows(lower, width, bins, decimals):
    edges = equal_edges(lower, lower + width, bins, decimals)
    column = Column(
        name="x", kind="numeric", lower=lower, upper=lower + width, edges=edges, decimals=decimals
    )
    assert column.level_count <= bins
    if decimals is None:
        widths = np.diff([lower, *edges, lower + width])
        assert column.level_count == bins
        assert np.allclose(widths, width / bins)
        return
    numbers = [last - first + 1 for first, last in map(column.grid, range(column.level_count))]
    assert sum(numbers) == width * 10**decimals + 1  # every value is in one bin
    assert max(numbers) - min(numbers) <= 1
    assert column.level_count == min(bins, width * 10**decimals + 1)


def test_days_and_dates():
    assert day_number("1970-01-02", field="x") == 1.0
    assert day_text(day_number("0001-01-01", field="x")) == "0001-01-01"
    assert day_text(day_number("9999-12-31", field="x")) == "9999-12-31"
    for text in ("2020-13-01", "yesterday", "", "10000-01-01", "20200105", "2020-W01-1"):
        with refused(SchemaError, "seen.lower"):
            day_number(text, field="seen.lower")


A, B = Column(name="a", kind="boolean"), Column(name="b", kind="ordinal", levels=(1, 2, 3))


@pytest.mark.parametrize(
    ("entries", "field", "text"),
    [
        ({"columns": ()}, "columns", "no columns"),
        ({"columns": (A, A)}, "columns", "'a' is declared twice"),
        (
            {"columns": (A,), "provenance": "guess"},
            "provenance",
            "declared, codebook, public twin, dp",
        ),
        ({"columns": (A,), "persons": 3}, "persons", "needs person_id"),
        ({"columns": (A,), "person_id": "id"}, "persons", "persons .* must be declared"),
        ({"columns": (A,), "person_id": "id", "persons": 0}, "persons", "above 0"),
        ({"columns": (A,), "person_id": "a", "persons": 3}, "person_id", "never synthesised"),
        (
            {"columns": (A,), "person_id": "id", "persons": 3, "one_row_per_person": True},
            "person_id",
            "not both",
        ),
    ],
)
def test_an_unusable_schema_is_refused(entries, field, text):
    with pytest.raises(SchemaError, match=text) as caught:
        Schema(**entries)
    assert caught.value.field == field


def test_sizes_and_shapes_follow_the_declaration():
    schema = Schema(columns=(A, B))
    assert schema.names == ("a", "b")
    assert schema.shape(("b", "a")) == (3, 2)
    assert schema.cells(("a", "b")) == 6
    assert schema.canonical({"b", "a"}) == ("a", "b")
    assert "a" in schema
    assert "c" not in schema
    assert not schema.people_declared
    with pytest.raises(SchemaError, match="no column 'c' in the schema"):
        schema["c"]


def _texts(cells):
    import pandas as pd

    return pd.Series(cells, dtype=str)
