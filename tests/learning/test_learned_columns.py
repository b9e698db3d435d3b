"""Requests, learned columns and outline files: usable whatever comes."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core.data.decoding import decode
from prism_core.data.encoding import encode
from prism_core.data.schema import schema_file
from prism_core.data.schema.codebook_source import CodebookSource
from prism_core.data.schema.column import Column
from prism_core.errors import SchemaError
from prism_core.learning.bins import learned_column, outside
from prism_core.learning.domain import domain_counts as learning
from prism_core.learning.domain.domain_plan import design_domain
from prism_core.learning.domain.learned_domain import learn_domain
from prism_core.learning.domain.outline_io import dumps_outline, loads_outline
from prism_core.learning.domain.requests import CategoryRequest, NumericRequest, Outline
from prism_core.privacy.noise import SeededNoise
from tests.support.noise import Exact
from tests.support.outlines import AGE, PAY, WARD, Y, outline, raw, rng

# --- requests --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"lower": math.nan},
        {"upper": math.inf},
        {"upper": 0.0},
        {"bins": 0},
        {"bins": 2.0},
        {"cells": 1},
        {"cells": 5_000},
        {"scale": "sqrt"},
        {"tail": -0.1},
        {"tail": 0.2},
        {"tail": math.nan},
        {"unit": 0.0},
        {"unit": math.nan},
        {"decimals": 13},
        {"decimals": 0, "lower": 0.5},
        {"name": " "},
        {"kind": "ordinal"},
        {"kind": "date", "upper": 1e9},
    ],
)
def test_a_numeric_request_is_checked_at_birth(changes):
    with pytest.raises(SchemaError):
        NumericRequest(**({"name": "x", "lower": 0.0, "upper": 10.0} | changes))


@pytest.mark.parametrize(
    "changes", [{"other": ""}, {"other": 3}, {"max_levels": 0}, {"max_levels": True}, {"name": ""}]
)
def test_a_category_request_is_checked_at_birth(changes):
    with pytest.raises(SchemaError):
        CategoryRequest(**({"name": "x"} | changes))


def test_the_grid_is_public_on_its_decimals_and_has_a_cell_for_the_lower_bound():
    assert AGE.grid.edges[:3] == (0.0, 1.0, 2.0)
    assert AGE.grid.size == 152  # {0}, 150 cells, "no number"
    cents = np.array(PAY.grid.edges) * 100
    np.testing.assert_allclose(cents, np.round(cents), atol=1e-3)
    widths = np.diff(PAY.grid.edges[1:])
    assert widths[-1] > 1_000 * widths[0]


# --- learned columns -------------------------------------------------------------------------


def edges_of(request, counts, sigma=1e-9):
    counts = np.asarray(counts, dtype=np.int64)
    return learned_column(request, counts, sigma, int(counts.sum()))


QUARTERS = NumericRequest(name="x", lower=0.0, upper=8.0, cells=8, bins=4)


@pytest.mark.parametrize(
    ("counts", "bounds", "edges"),
    [
        ([0, 10, 10, 10, 10, 10, 10, 10, 10, 0], (0.0, 8.0), (2.0, 4.0, 6.0)),
        ([0, 0, 0, 10, 10, 10, 10, 0, 0, 5], (2.0, 6.0), (3.0, 4.0, 5.0)),
        ([90, 0, 0, 0, 10, 0, 0, 0, 0, 0], (0.0, 4.0), (0.0,)),  # mostly the lower bound
        ([0, 0, 0, 50, 0, 0, 0, 0, 0, 0], (2.0, 3.0), ()),  # all equal
        ([50, 0, 0, 0, 0, 0, 0, 0, 0, 0], (0.0, 1.0), (0.0,)),  # all at the lower bound
        ([0, 0, 0, 0, 0, 0, 0, 0, 50, 0], (7.0, 8.0), ()),  # all clipped from above
        ([0, 0, 0, 0, 0, 0, 0, 0, 0, 50], (0.0, 8.0), (2.0, 4.0, 6.0)),  # all missing
    ],
)
def test_bounds_and_quantiles_of_exact_counts(counts, bounds, edges):
    column = edges_of(QUARTERS, counts)
    assert column.bounds == bounds
    assert column.edges == edges


@pytest.mark.parametrize("special", [(-9, ".a"), (97,), (0, 97, 98, 150, 151)])
def test_special_values_decide_on_no_bound_and_no_edge(special):
    """However many there are: the column is the one that is learned from the numbers alone."""
    request = replace(AGE, special=special)
    grid, beside = request.grid, len(special) + 1
    assert grid.size == grid.level_count + beside
    numbers = np.zeros(grid.level_count, dtype=np.int64)
    numbers[20:60] = 25
    counts = [*numbers, *(400 for _ in special), 300]
    column = edges_of(request, counts)
    assert column.special == special
    assert column.bounds[0] >= grid.edges[18]
    assert column.bounds[1] <= grid.edges[60]
    fewer = edges_of(request, [*numbers, *(0 for _ in range(beside))])
    assert (column.bounds, column.edges) == (fewer.bounds, fewer.edges)


def test_an_outline_keeps_special_values_words_and_the_codebook():
    source = CodebookSource(name="survey.csv", sha256="0a" * 32, format="redcap")
    request = replace(AGE, special=(-9, ".a"), value_labels=(("-9", "Refused"),))
    declared = Column(name="y", kind="boolean")
    outline_ = Outline(
        columns=(request, declared),
        one_row_per_person=True,
        provenance="codebook",
        codebook=source,
    )
    again = loads_outline(dumps_outline(outline_))
    assert again == outline_
    plan = design_domain(again, 1.0, None, 2_000)
    learned = request.column(0, 50, (20.0,))
    schema = plan.schema([learned], plan.prior())
    assert (schema.provenance, schema.codebook) == ("dp", source)
    assert schema["age"].labels()[2:4] == ("Refused (-9)", ".a")
    assert "learned" in schema.provenance_text
    assert "survey.csv" in schema.provenance_text


def test_a_grid_has_no_cell_of_special_values_alone():
    grid = replace(AGE, special=(97, 98)).grid
    assert grid.level_count == AGE.grid.level_count - 2
    assert {96.0, 97.0, 98.0} & set(grid.edges) == {96.0}


@pytest.mark.statistical
def test_learned_bounds_leave_few_values_outside():
    """False alarm below 1e-9: among 20 seeded runs none may vary, the noise is fixed."""
    request = NumericRequest(name="x", lower=0.0, upper=30.0, cells=64)
    values = np.clip(rng().normal(6.2, 1.8, 5_000), 0.1, 29.9)
    codes = np.searchsorted(np.array(request.grid.edges), values, side="left")
    counts = np.bincount(codes, minlength=request.grid.size)
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(0.0, 20.0, len(counts))
        column = learned_column(request, np.rint(counts + noise).astype(np.int64), 20.0, 5_000)
        low, high = column.bounds
        assert (values < low).mean() <= outside(request, 20.0, 5_000)
        assert (values > high).mean() <= outside(request, 20.0, 5_000)
        assert high < 29.0  # not simply the whole range


def test_a_smaller_tail_gives_wider_bounds():
    counts = [0, 1, 9, 40, 40, 9, 1, 0, 0, 0]
    bounds = [edges_of(replace(QUARTERS, tail=tail), counts).bounds for tail in (0.0, 0.05, 0.1)]
    assert bounds == [(0.0, 6.0), (1.0, 5.0), (2.0, 4.0)]


def test_what_the_noise_hides_is_forecast_without_rows_and_warned_of():
    request = NumericRequest(name="hba1c", lower=0.0, upper=30.0)
    assert outside(request, 1e-9, 1_000) == pytest.approx(0.005)
    assert outside(request, 40.0, 1_000) > outside(request, 20.0, 1_000) > 0.02
    assert outside(request, 1e9, 1_000) == 1.0
    outline_ = Outline(columns=(request,), one_row_per_person=True)
    few = design_domain(outline_, 1.0, None, 2_000)
    assert any("hba1c: noise may hide up to about" in text for text in few.warnings)
    assert few.outside["hba1c"] > 0.02
    assert design_domain(outline_, 1.0, None, 2_000_000).warnings == ()


@given(
    st.lists(st.integers(-(10**6), 10**6), min_size=3, max_size=60),
    st.integers(2, 10**6),
    st.floats(1e-6, 1e6),
    st.sampled_from([None, 0, 1]),
    st.sampled_from(["equal", "log"]),
    st.integers(1, 12),
)
def test_any_noisy_counts_give_a_usable_column(counts, n, sigma, decimals, scale, bins):
    request = NumericRequest(
        name="x",
        lower=-3.0,
        upper=50.0,
        decimals=decimals,
        scale=scale,
        bins=bins,
        cells=len(counts),
    )
    size = request.grid.size
    noisy = np.resize(np.array(counts, dtype=np.int64), size)
    column = learned_column(request, noisy, sigma, n)
    assert request.lower <= column.bounds[0] < column.bounds[1] <= request.upper
    assert column.level_count <= bins + 1
    cuts = {*request.grid.edges, *request.grid.bounds}
    assert {*column.edges, *column.bounds} <= cuts


EXTREMES = {
    "all equal": {
        "age": "40",
        "pay": "9.99",
        "dose": "1",
        "seen": "2001-02-03",
        "ward": "A",
        "y": "true",
    },
    "all missing": {},
    "all distinct": {
        name: [f"{i + i / 7:.3f}" for i in range(200)] for name in ("age", "pay", "dose", "ward")
    },
    "nonsense": {
        "age": "nan",
        "pay": "inf",
        "dose": "-inf",
        "seen": "9" * 300,
        "ward": "\x00" * 999,
        "y": "?",
    },
    "clipped": {
        "age": "1e300",
        "pay": "-1e300",
        "dose": "1e-320",
        "seen": "9999-12-31",
        "ward": "w" * 200,
    },
}


@pytest.mark.privacy
@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("noise", ["exact", "little", "much"])
def test_extreme_tables_give_a_valid_schema_that_encodes_and_decodes(name, noise):
    table = raw(200, **EXTREMES[name])
    epsilon = {"exact": 1.0, "little": 50.0, "much": 0.01}[noise]
    source = Exact() if noise == "exact" else SeededNoise(rng())
    plan = design_domain(outline(), epsilon, None, 200)
    found = learn_domain(plan, table, ledger=None, noise=source, rng=rng(), public=True)  # type: ignore[arg-type]
    assert found.schema.provenance == "dp"
    assert found.schema.names == ("age", "pay", "dose", "seen", "ward", "y")
    assert schema_file.loads(schema_file.dumps(found.schema)) == found.schema
    assert schema_file.loads(schema_file.dumps(found.schema, format="json")) == found.schema
    codes = encode(found.schema, table).codes
    again = decode(found.schema, codes, rng())
    assert len(again) == 200
    if noise == "exact":
        ward = found.schema["ward"].levels
        assert ward == (
            ("other",)
            if name in ("all missing", "all distinct", "nonsense")
            else (str(EXTREMES[name]["ward"]), "other")
        )


def test_the_most_frequent_names_are_kept_and_sorted():
    cells = [*["c"] * 90, *["a"] * 60, *["b"] * 30, *["other"] * 20]
    plan = design_domain(outline(CategoryRequest(name="ward", max_levels=2), Y), 50.0, 0.5, 200)
    found = learn_domain(plan, raw(200, ward=cells), ledger=None, noise=Exact(), rng=rng())  # type: ignore[arg-type]
    assert found.schema["ward"].levels == ("a", "c", "other")
    assert found.schema["ward"].fill == "other"


# --- outline files ---------------------------------------------------------------------------

TEXT = """
one_row_per_person: true
columns:
  - {name: age, kind: numeric, lower: 0, upper: 150, integer: true, learn: {cells: 150}}
  - {name: pay, kind: numeric, lower: 0, upper: 1e9, decimals: 2, learn: {scale: log, unit: 100}}
  - {name: dose, kind: numeric, lower: -5, upper: 5, nullable: true, learn: {cells: 20}}
  - {name: seen, kind: date, lower: "1970-01-01", upper: "2052-02-20", learn: true}
  - {name: ward, kind: categorical, learn: true}
  - {name: y, kind: boolean, learn: false}
"""


def test_an_outline_is_read():
    assert loads_outline(TEXT) == outline()


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("{name: a, kind: boolean, learn: true}", "can be learned"),
        ("{name: a, kind: numeric, learn: true}", "lower must be declared"),
        ("{name: a, kind: numeric, lower: 0, upper: 1, bins: 3, learn: true}", "does not go with"),
        ("{name: a, kind: numeric, lower: 0, upper: 1, learn: {max_levels: 3}}", "unknown entry"),
        ("{name: a, kind: categorical, levels: [x], learn: true}", "does not go with"),
        ("{name: a, kind: categorical, learn: 7}", "true or a section"),
        ("{kind: categorical, learn: true}", "at least a name"),
        ("{name: a, kind: numeric, lower: 0, upper: 1, learn: {unit: x}}", "must be a number"),
        ("{name: a, kind: categorical, levels: [x]}", "No column is to be learned"),
        ("7", "at least a name"),
    ],
)
def test_mistakes_in_an_outline_are_named(entry, says):
    with pytest.raises(SchemaError, match=says):
        loads_outline(f"one_row_per_person: true\ncolumns:\n  - {entry}\n")


def test_a_schema_with_open_places_says_what_to_do():
    with pytest.raises(SchemaError, match="learn-domain"):
        schema_file.loads(TEXT)


def test_names_are_found_by_the_cell_alone():
    cells = pd.Series([" a ", "a", "other", "NA", "x" * 201, "tab\there", "é", "\xa0b", "\x1f"])
    assert learning.categories(WARD, cells) == ["a", "a", None, None, None, None, "é", "b", None]
    for pair in itertools.permutations(cells, 2):
        alone = [learning.categories(WARD, pd.Series([cell]))[0] for cell in pair]
        assert learning.categories(WARD, pd.Series(pair)) == alone


@pytest.mark.parametrize("counts", [(0, 0, 0), (9, 0, 1), (0, 90, 0)])
def test_a_grid_of_one_cell_is_a_column_whatever_the_counts_say(counts):
    """Two whole numbers, one of them special: what was charged must not end in an error."""
    request = NumericRequest(name="x", lower=0, upper=1, special=(0,), decimals=0, bins=2, cells=2)
    assert request.grid.level_count == 1
    found = learned_column(request, np.array(counts), 3.0, 100)
    assert (found.bounds, found.edges, found.special) == ((0, 1), (), (0,))
