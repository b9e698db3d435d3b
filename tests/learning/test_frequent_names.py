"""Frequent names in memory that does not grow: none with enough rows is ever lost."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from prism_core.learning.domain.frequent_names import FrequentNames

BATCH = st.lists(
    st.tuples(st.sampled_from([*"abcdefgh", None]), st.integers(1, 9)), min_size=1, max_size=12
)


def filled(into: FrequentNames, batches) -> FrequentNames:
    for batch in batches:
        into.add([name for name, _ in batch], np.array([rows for _, rows in batch]))
    return into


@given(st.lists(BATCH, min_size=1, max_size=8), st.integers(1, 9))
def test_every_name_of_more_than_its_share_is_kept_and_counted_in_a_second_pass(batches, most):
    true = Counter()
    for batch in batches:
        for name, rows in batch:
            true[name] += rows
    whole = sum(true.values())
    first = filled(FrequentNames(most=most), batches)
    assert first.rows == whole
    assert len(first.counts) <= most
    least = whole // (most + 1) + 1  # more than one in `most` + 1
    wanted = {name: n for name, n in true.items() if name is not None and n >= least}
    assert wanted.keys() <= first.counts.keys()
    if first.exact:
        assert first.counts == {name: n for name, n in true.items() if name is not None}
    second = filled(first.again(), batches[::-1])
    assert first.same_rows(second)
    assert second.above(least) == wanted


def test_other_rows_in_the_second_pass_are_noticed():
    first = filled(FrequentNames(most=2), [[("a", 3), ("b", 2), ("c", 1)]])
    for other in ([("a", 3), ("b", 2), ("d", 1)], [("a", 2), ("b", 3), ("c", 1)], [("a", 6)]):
        assert not first.same_rows(filled(first.again(), [other]))
    assert not first.same_rows(filled(first.again(), [[("a", 3), ("b", 2), ("c", 1), (None, 1)]]))
