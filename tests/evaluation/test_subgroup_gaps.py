"""Gaps between subgroups: by hand on small tables, their intervals, and what is suppressed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from prism_core.errors import EvaluationError
from prism_core.evaluation import predict, subgroup_gaps
from prism_core.evaluation.tstr.subgroup_gaps import difference_interval, gap_words
from tests.support.inspected import rows, subject


@pytest.fixture(scope="module")
def found():
    return predict(subject(holdout=rows(2_000, seed=2)))


def test_the_gaps_are_those_counted_by_hand(found):
    y, group = found.test.column("Y") == 1, found.test.column("a")
    for side, made in found.sides:
        chance = made.proba[:, 1]
        flagged = chance >= np.sort(chance)[len(y) - y.sum()]
        gaps = [gap for gap in subgroup_gaps(found, "a") if gap.trained_on == side]
        assert [gap.label for gap in gaps] == ["0", "1", "2"]
        for level, gap in enumerate(gaps):
            inside = group == level
            here, there = (flagged[y & part].mean() for part in (inside, ~inside))
            assert gap.found == pytest.approx(here)
            assert gap.found_gap == pytest.approx(here - there)
            assert gap.off == pytest.approx(y[inside].mean() - chance[inside].mean())
            assert gap.found_interval[0] <= gap.found_gap <= gap.found_interval[1]
            assert gap.off_interval[0] <= gap.off <= gap.off_interval[1]
            assert gap.outside_epsilon


def test_small_groups_are_not_told_and_rates_of_few_cases_neither(found):
    assert {gap.rows for gap in subgroup_gaps(found, "a", 100_000)} == {None}
    assert "levels of a" not in gap_words(subgroup_gaps(found, "a", 100_000), "a")
    few = np.array(found.test.codes)
    assert (few[:, 4] == 1).sum() > 100
    flat = [gap for gap in subgroup_gaps(found, "flat", 2) if gap.label == "y"]
    assert all(gap.found is None and gap.note for gap in flat)


def test_a_group_that_is_not_told_is_in_no_gap_of_another(found):
    """What it is compared with would tell it."""
    cases = np.flatnonzero(found.test.column("Y") == 1)
    for levels in (1, 2):
        codes = np.array(found.test.codes)
        group = codes[:, found.test.schema.index("a")]
        group[:] = np.arange(len(group)) % levels
        group[cases[:30]] = 2
        changed = replace(found, test=replace(found.test, codes=codes))
        gaps = subgroup_gaps(changed, "a", 50)
        one, other, small = (gap for gap in gaps if gap.trained_on == "synthetic")
        assert small.rows is None
        if levels == 1:
            assert one.found_gap is None
        else:
            assert one.found_gap == pytest.approx(one.found - other.found)
            assert other.found_gap == pytest.approx(other.found - one.found)


def test_a_target_of_more_classes_has_no_gaps():
    assert subgroup_gaps(predict(subject(classes=3)), "a") == ()


@pytest.mark.parametrize(("column", "least"), [("Y", 50), ("nothing", 50), ("a", 1), ("a", True)])
def test_unusable_groups_are_refused(found, column, least):
    with pytest.raises(EvaluationError) as raised:
        subgroup_gaps(found, column, least)
    assert raised.value.field == ("least" if column == "a" else "column")


@pytest.mark.statistical
def test_the_interval_of_a_difference_covers_it():
    rng = np.random.default_rng(0)
    kept = 0
    for _ in range(2_000):
        one, other = rng.binomial(40, 0.3), rng.binomial(60, 0.5)
        low, high = difference_interval((one, 40), (other, 60))
        kept += low <= -0.2 <= high
    assert 0.93 < kept / 2_000 < 0.975
