"""Special values in rows: which cell is one, what is written for one, and that none is a number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core.data.coverage import rows_outside
from prism_core.data.decoding import decode_column
from prism_core.data.encoding import EncodedTable, encode_column
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import SchemaError
from tests.support import special

AGE = replace(special.AGE, special=(*special.AGE.special, "098"), value_labels=())
REFUSED, NOT_ASKED, DOT_A, TEXT, MISSING = 3, 4, 5, 6, 7


def codes(column: Column, *cells: str) -> list[int]:
    return encode_column(column, pd.Series(cells, dtype=object)).tolist()


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("-9", REFUSED),
        (" -9 ", REFUSED),
        ("-9.0", REFUSED),
        ("-9.00", REFUSED),
        ("-09", REFUSED),
        ("-9e0", REFUSED),
        ("-9.5", 0),
        ("-8", 0),
        ("97", NOT_ASKED),
        ("97.0", NOT_ASKED),
        ("96", 2),
        ("98", 2),
        ("098", TEXT),
        ("98.0", 2),
        (".a", DOT_A),
        (".A", MISSING),
        (".b", MISSING),
        ("", MISSING),
        ("nan", MISSING),
        (".", MISSING),
    ],
)
def test_a_cell_is_a_special_value_by_its_text_or_by_its_number(cell, code):
    assert codes(AGE, cell) == [code]


def test_without_missing_only_the_declared_ones_are_special():
    column = replace(AGE, nullable=False, fill=50)
    assert codes(column, "-9", ".a", ".b", "") == [REFUSED, DOT_A, 1, 1]


def test_a_special_value_is_never_clipped():
    """Below, above and at the bounds; without it all are numbers of the nearest bin."""
    special = (-999, 0, 120, 9999)
    column = replace(AGE, special=special)
    assert codes(column, *map(str, special)) == [3, 4, 5, 6]
    assert codes(replace(AGE, special=()), *map(str, special)) == [0, 0, 2, 2]


def test_whole_numbers_from_2_53_on_are_met_by_their_text_alone():
    column = replace(AGE, special=(2**53 + 1,))
    assert codes(column, str(2**53 + 1), str(2**53), str(2**53 + 2)) == [3, 2, 2]


DAY = Column(
    name="day",
    kind="date",
    lower=0,
    upper=20_000,
    edges=(9_000,),
    special=("9999-12-31", -9, 2020, ".a"),
)


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("9999-12-31", 2),
        ("99991231", 2),
        ("9999-12-31 00:00:00", 2),
        ("-9", 3),
        ("-9.0", 3),
        ("2020", 4),
        ("2020-01-01", 1),
        (".a", 5),
        ("9999-12-30", 1),
        ("1970-01-02", 0),
        ("x", 0),
    ],
)
def test_a_special_day_is_met_by_every_writing_of_it(cell, code):
    assert codes(DAY, cell) == [code]


WRITTEN = [
    (AGE, "str", ["-9", "97", ".a", "098"]),
    (replace(AGE, special=(-9, 97)), "Int64", [-9, 97]),
    (replace(AGE, special=("-9", 97.0), nullable=False), "int64", [-9, 97]),
    (replace(AGE, special=(-9.5,)), "float64", [-9.5]),
    (replace(AGE, decimals=None, special=(-9,)), "float64", [-9.0]),
    (replace(AGE, decimals=1, special=(2**60,)), "str", [str(2**60)]),
    (DAY, "str", ["9999-12-31", "-9", "2020", ".a"]),
]


@pytest.mark.parametrize(("column", "dtype", "written"), WRITTEN, ids=lambda each: str(each)[:40])
def test_a_special_value_is_written_back_as_it_was_declared(column, dtype, written):
    rng = np.random.default_rng(1)
    every = np.array([*column.special_codes, 0, 1])
    cells = decode_column(column, every, rng)
    assert str(cells.dtype) == dtype
    assert cells.tolist()[: len(column.special)] == written
    assert codes(column, *cells.astype(str)) == every.tolist()


@given(
    taken=st.sets(st.integers(0, 30), max_size=20),
    edges=st.sets(st.integers(0, 29), max_size=4),
    decimals=st.sampled_from([0, None]),
)
def test_no_number_that_is_made_is_special_and_every_other_one_can_be(taken, edges, decimals):
    try:
        column = Column(
            name="x",
            kind="numeric",
            lower=0,
            upper=30,
            edges=tuple(sorted(edges)),
            decimals=decimals,
            special=tuple(sorted(taken)),
        )
    except SchemaError:
        return
    rows = np.repeat(np.arange(column.level_count), 3_000)
    values = decode_column(column, rows, np.random.default_rng(0)).to_numpy()
    assert not np.isin(values, list(taken)).any()
    assert encode_column(column, pd.Series(values).astype(str)).tolist() == rows.tolist()
    if decimals == 0:
        # 3,000 draws of at most 31 values: one is missed with a chance below 1e-40.
        assert set(values.tolist()) == set(range(31)) - taken


def test_a_draft_of_edges_leaves_no_bin_of_special_values_alone():
    column = replace(AGE, edges=(), special=(0, 97, 98, 120))
    every = tuple(float(edge) for edge in range(120))
    found = replace(column, edges=column.roomy(every))
    # 121 numbers, of which four have no bin of their own.
    assert found.level_count == 117
    assert replace(column, decimals=None, special=(0,)).roomy((0.0, 1.0)) == (1.0,)
    assert replace(AGE, special=(".a",)).roomy(every) == every


def test_a_special_cell_fits_its_declaration():
    cells = ["-9", "97", ".a", "098", "50", "200", ".b", ""]
    assert rows_outside(AGE, cells) == 2  # 200 and .b
    assert rows_outside(replace(AGE, special=()), ["-9", ".a", "50"]) == 2


def test_only_values_have_an_order():
    plain = Column(name="y", kind="ordinal", levels=(1, 2), nullable=True)
    schema = Schema(columns=(AGE, plain), one_row_per_person=True)
    table = EncodedTable(schema=schema, codes=np.array([[2, 2], [3, 0], [7, 1]]))
    # Where no special values are declared, missing counts as the code that it is.
    assert table.ordered.tolist() == [[True, True], [False, True], [False, True]]
