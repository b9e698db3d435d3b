"""Marginals: the shape is declared, and one replaced row moves two cells by one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from prism_core.data import counts as counting
from prism_core.data.counts import MANY, WIDE, by_blocks, covering, marginal_counts, products_for
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.source import BatchedRows

TWO_BY_THREE = Schema(
    columns=(
        Column(name="a", kind="boolean"),
        Column(name="b", kind="ordinal", levels=(1, 2), nullable=True),
    )
)


def ordinals(sizes) -> Schema:
    return Schema(
        columns=tuple(
            Column(name=f"x{i}", kind="ordinal", levels=tuple(range(size)))
            for i, size in enumerate(sizes)
        )
    )


def encoded(schema: Schema, rows) -> EncodedTable:
    return EncodedTable(
        schema=schema, codes=np.array(rows, dtype=np.int32).reshape(-1, len(schema.columns))
    )


@pytest.mark.privacy
@pytest.mark.parametrize("clique", [("a", "b"), ("b", "a"), ("a",), ("b",)])
def test_a_replaced_row_moves_the_counts_by_sqrt_2_at_most(clique):
    """All tables of at most 4 rows over 2x3 cells, and every replacement of one row."""
    records = list(itertools.product(range(2), range(3)))
    worst_l1, worst_square = 0, 0
    for n in range(1, 5):
        counts = {
            rows: marginal_counts(encoded(TWO_BY_THREE, rows), clique)
            for rows in itertools.product(records, repeat=n)
        }
        for rows, before in counts.items():
            for place, record in itertools.product(range(n), records):
                after = counts[(*rows[:place], record, *rows[place + 1 :])]
                move = before - after
                worst_l1 = max(worst_l1, int(np.abs(move).sum()))
                worst_square = max(worst_square, int((move**2).sum()))
    assert worst_l1 == 2
    assert math.sqrt(worst_square) == math.sqrt(2)


def test_counts_equal_counting_by_hand():
    rng = np.random.default_rng(3)
    schema = Schema(
        columns=tuple(
            Column(name=name, kind="ordinal", levels=tuple(range(size)), nullable=size == 3)
            for name, size in (("a", 2), ("b", 3), ("c", 5), ("d", 1))
        )
    )
    sizes = [column.size for column in schema.columns]
    rows = np.column_stack([rng.integers(0, max(1, size - 1), 200) for size in sizes])
    table = encoded(schema, rows)
    for length in range(1, 5):
        for clique in itertools.permutations(schema.names, length):
            counts = marginal_counts(table, clique)
            assert counts.dtype == np.int64
            assert counts.shape == schema.shape(clique)
            expected = np.zeros(counts.shape, dtype=np.int64)
            for row in rows[:, [schema.index(name) for name in clique]]:
                expected[tuple(row)] += 1
            assert (counts == expected).all()


def test_levels_that_no_row_holds_are_zeros():
    counts = marginal_counts(encoded(TWO_BY_THREE, [[1, 2]]), ("a", "b"))
    assert counts.tolist() == [[0, 0, 0], [0, 0, 1]]
    assert marginal_counts(encoded(TWO_BY_THREE, []), ("b", "a")).tolist() == [[0, 0]] * 3


@pytest.mark.privacy
def test_the_order_of_the_rows_does_not_count():
    rng = np.random.default_rng(4)
    rows = np.column_stack([rng.integers(0, 2, 50), rng.integers(0, 3, 50)])
    whole = marginal_counts(encoded(TWO_BY_THREE, rows), ("a", "b"))
    shuffled = encoded(TWO_BY_THREE, rows).take(rng.permutation(50))
    assert (marginal_counts(shuffled, ("a", "b")) == whole).all()


def test_a_wide_marginal_does_not_overflow_its_index():
    names = [f"x{i}" for i in range(4)]
    schema = Schema(
        columns=tuple(Column(name=name, kind="ordinal", levels=tuple(range(60))) for name in names)
    )
    rows = [[59] * 4, [0] * 4]
    counts = marginal_counts(encoded(schema, rows), names)
    assert counts[59, 59, 59, 59] == counts[0, 0, 0, 0] == 1
    assert counts.sum() == 2


class Spy:
    """A table that remembers what was asked of it."""

    def __init__(self, table: EncodedTable) -> None:
        self.schema, self.public, self.people = table.schema, table.public, table.people
        self.table, self.asked = table, []

    def counts(self, cliques):
        self.asked.append([tuple(clique) for clique in cliques])
        return self.table.counts(cliques)


@pytest.mark.privacy
def test_a_batch_reads_nothing_before_it_is_asked_and_then_once():
    table = encoded(TWO_BY_THREE, [[0, 1], [1, 2], [1, 1]])
    spy = Spy(table)
    batch = BatchedRows(rows=spy, planned=[("a",), ("a", "b")])
    assert (batch.people, batch.schema, batch.public, spy.asked) == (3, TWO_BY_THREE, False, [])
    first = marginal_counts(batch, ("a",))
    first[:] = 99  # whoever adds to it changes nothing for the next
    assert (marginal_counts(batch, ("a", "b")) == marginal_counts(table, ("a", "b"))).all()
    assert marginal_counts(batch, ("a",)).tolist() == [1, 2]
    assert spy.asked == [[("a",), ("a", "b")]]
    assert marginal_counts(batch, ("b",)).tolist() == [0, 2, 1]
    assert spy.asked[1:] == [[("b",)]]


def test_wide_tables_are_summed_out_to_the_same_counts():
    rng = np.random.default_rng(4)
    sizes = (2, 3, 70, 5, 60, 4)
    schema = Schema(
        columns=tuple(
            Column(name=name, kind="ordinal", levels=tuple(range(size)))
            for name, size in zip("abcdef", sizes, strict=True)
        )
    )
    codes = np.column_stack([rng.integers(0, size, 150_000) for size in sizes])
    table = EncodedTable(schema=schema, codes=codes)
    pairs = [(x, y) for x in "fedcba" for y in "abcdef" if x != y]
    cliques = [*pairs, ("c",), ("c", "e", "b"), ("d", "a", "f"), ("a", "b", "c", "d", "e", "f")]
    wide = covering(schema, [schema.canonical(clique) for clique in cliques[:-1]])
    assert len(wide) < len(pairs) // 2
    for clique, counts in zip(cliques, table.counts(cliques), strict=True):
        places = tuple(codes[:, "abcdef".index(name)] for name in clique)
        by_hand = np.zeros(schema.shape(clique), dtype=np.int64)
        np.add.at(by_hand, places, 1)
        assert counts.dtype == np.int64
        assert (counts == by_hand).all()


@pytest.mark.parametrize("clique", [("a", "a"), ("b", "a", "b")])
def test_a_column_twice_is_no_clique(clique):
    with pytest.raises(ValueError, match="each of its columns once"):
        marginal_counts(encoded(TWO_BY_THREE, [[0, 0]]), clique)


def test_all_pairs_of_a_wide_table_are_those_counted_one_by_one(monkeypatch):
    """Products of matrices, taken in pieces; two large columns and single marginals among them."""
    monkeypatch.setattr(counting, "_PRODUCT_ROWS", 128)
    rng = np.random.default_rng(8)
    sizes = [*rng.integers(1, 9, 34).tolist(), 900, 70]
    schema = ordinals(sizes)
    table = encoded(schema, np.column_stack([rng.integers(0, size, 300) for size in sizes]))
    cliques = [*itertools.combinations(schema.names, 2), ("x5", "x0"), ("x3", "x2", "x1"), ("x7",)]
    assert len(cliques) > MANY
    products = products_for(schema, cliques)
    assert products is not None
    assert products.columns == schema.names[:34]
    for clique, counts in zip(cliques, table.counts(cliques), strict=True):
        assert counts.dtype == np.int64
        assert (counts == marginal_counts(table, clique)).all()


def test_a_few_of_many_pairs_and_a_domain_too_large_are_not_multiplied():
    schema = Schema(columns=tuple(Column(name=f"x{i}", kind="boolean") for i in range(60)))
    pairs = list(itertools.combinations(schema.names, 2))
    assert products_for(schema, pairs) is not None
    assert products_for(schema, pairs[::3]) is None
    assert products_for(schema, [(*pair, "x0") for pair in pairs[60:]]) is None
    wide = ordinals([16] * 257)
    assert products_for(wide, itertools.combinations(wide.names, 2)) is None


def test_many_marginals_of_three_columns_share_wider_tables():
    rng = np.random.default_rng(9)
    sizes = [*rng.integers(1, 9, 18).tolist(), 900, 70]
    schema = ordinals(sizes)
    table = encoded(schema, np.column_stack([rng.integers(0, size, 300) for size in sizes]))
    cliques = [("x2", *pair) for pair in itertools.combinations(schema.names[3:], 2)] * 2
    cliques = [
        *cliques,
        *itertools.combinations(schema.names[:12], 3),
        *itertools.combinations(schema.names, 2),
    ]
    assert len(cliques) > MANY
    for clique, counts in zip(cliques, table.counts(cliques), strict=True):
        assert (counts == marginal_counts(table, clique)).all()
    wide = by_blocks(schema, [schema.canonical(clique) for clique in cliques])
    assert all(set(clique) <= set(inside) for clique, inside in wide.items())
    assert len(set(wide.values())) < 0.6 * len(set(cliques))
    alone = [clique for clique, inside in wide.items() if clique == inside]
    assert all(schema.cells(c) <= WIDE for c in set(wide.values()) if c not in alone)
