"""The fine grid: a public division of declared bins, and rows on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from prism_core.data.encoding import EncodedTable, encode, encode_column, set_aside
from prism_core.data.engines.out_of_core import open_table
from prism_core.data.engines.stored_table import from_dict, to_dict
from prism_core.data.schema.column import Column, equal_edges
from prism_core.data.schema.fine_grid import (
    FINE_CELLS,
    declared_codes,
    fine_column,
    fine_schema,
    middle_codes,
)
from prism_core.data.schema.log_bins import log_edges
from prism_core.data.source import MappedRows
from prism_core.data.tables.address import Address
from prism_core.data.tables.raw_table import RawTable
from tests.support.cells import CELLS
from tests.support.tables import small_frame, small_schema

AMOUNT = Column(
    name="amount",
    kind="numeric",
    lower=0,
    upper=99_999,
    decimals=0,
    edges=equal_edges(0, 99_999, 8, 0),
)
COLUMNS = (
    *small_schema().columns,
    AMOUNT,
    replace(AMOUNT, nullable=True, special=(-9, "refused", 97)),
    replace(AMOUNT, decimals=None, edges=(0.0, 17.5)),
    replace(AMOUNT, lower=-5_000, edges=log_edges(-5_000, 99_999, 9, 0, zero=True)),
    replace(AMOUNT, lower=3, upper=6, edges=(4.0,)),
    replace(AMOUNT, lower=0, upper=9, edges=()),
)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: f"{column.name}-{column.size}")
def test_a_declared_bin_is_a_union_of_cells(column):
    fine = fine_column(column)
    assert set(column.edges) <= set(fine.edges)
    assert fine.level_count <= 2 * FINE_CELLS or fine == column
    codes = declared_codes(column)
    assert np.array_equal(codes[middle_codes(column)], np.arange(column.size))
    assert len(codes) == fine.size


@pytest.mark.privacy
@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: f"{column.name}-{column.size}")
def test_a_cell_has_the_declared_code_that_it_always_had(column):
    hard = [str(value) for cells in CELLS.values() for value in cells.hard]
    values = [str(value) for value in (*column.edges, *np.linspace(-6e3, 1.1e5, 400).round(2))]
    cells = pd.Series([*hard, *values], dtype=object)
    fine = encode_column(fine_column(column), cells)
    assert np.array_equal(declared_codes(column)[fine], encode_column(column, cells))


def test_small_values_of_a_wide_range_are_told_apart():
    cells = np.searchsorted(fine_column(AMOUNT).edges, [0, 2, 30, 400, 1_500, 60_000])
    assert len(set(cells)) == 6


def test_columns_that_compare_equal_keep_their_own_levels():
    one = Column(name="x", kind="categorical", levels=(0, 1))
    other = Column(name="x", kind="categorical", levels=(0.0, 1.0))
    assert fine_column(one).levels[0] is one.levels[0]
    assert fine_column(other).levels[0] is other.levels[0]


def test_rows_keep_their_cells_where_they_are_taken_and_set_aside():
    schema, raw = small_schema(), RawTable(small_frame(60))
    table = encode(schema, raw)
    fine = encode(fine_schema(schema), raw).codes
    assert np.array_equal(table.on_fine_grid().codes, fine)
    part = table.take(np.array([5, 3, 9]))
    assert np.array_equal(part.on_fine_grid().codes, fine[[5, 3, 9]])
    train, _ = set_aside(table, 20, np.random.default_rng(1))
    assert np.array_equal(
        [declared_codes(c)[train.on_fine_grid().column(c.name)] for c in schema.columns],
        train.codes.T,
    )


def test_where_only_codes_are_known_rows_stand_in_the_middle_of_their_bins():
    table = encode(small_schema(), RawTable(small_frame(60)))
    known = EncodedTable(schema=table.schema, codes=table.codes)
    found = known.on_fine_grid()
    age = found.column("age")
    assert np.array_equal(age, middle_codes(table.schema["age"])[table.column("age")])


def test_a_stored_table_has_the_same_cells(tmp_path):
    frame, schema = small_frame(80), small_schema()
    frame.to_csv(tmp_path / "rows.csv", index=False)
    big = open_table(Address("file", str(tmp_path / "rows.csv")), tmp_path)
    try:
        stored = big.store(schema, public=True)
        memory = encode(schema, RawTable(frame), public=True)
        cliques = [(name, "readmitted") for name in schema.names if name != "readmitted"]
        again = from_dict(to_dict(stored), schema, public=True)
        for table in (stored, again):
            for own, other in ((table, memory), (table.on_fine_grid(), memory.on_fine_grid())):
                assert own.schema == other.schema
                pairs = zip(own.counts(cliques), other.counts(cliques), strict=True)
                assert all(np.array_equal(a, b) for a, b in pairs)
    finally:
        big.close()


def test_mapped_rows_count_the_codes_that_they_are_mapped_to():
    table = encode(small_schema(), RawTable(small_frame(60)))
    maps = {column.name: declared_codes(column) for column in table.schema.columns}
    mapped = MappedRows(rows=table.on_fine_grid(), schema=table.schema, maps=maps)
    cliques = [("age",), ("dose", "readmitted"), ("age", "seen", "ward")]
    for own, other in zip(mapped.counts(cliques), table.counts(cliques), strict=True):
        assert np.array_equal(own, other)
    assert (mapped.people, mapped.public) == (table.people, table.public)
