"""Sharing an amount out: formulas, sums, refusals."""

from __future__ import annotations

import math

import pytest

from prism_core.errors import BudgetError
from prism_core.planning.allocation import allocate


def test_closed_forms_by_hand():
    assert allocate(6.0, [1.0, 4.0], "closed_form", 0.5) == pytest.approx((2.0, 4.0))
    assert allocate(5.0, [1.0, 8.0], "closed_form", 2 / 3) == pytest.approx((1.0, 4.0))
    assert allocate(6.0, [1.0, 4.0], "uniform", 0.5) == pytest.approx((3.0, 3.0))
    assert allocate(1.0, [7.0], "closed_form", 0.5) == pytest.approx((1.0,))
    assert allocate(1.0, [], "closed_form", 0.5) == ()


def test_equal_costs_get_equal_amounts():
    assert len(set(allocate(0.3, [5.0] * 7, "closed_form", 2 / 3))) == 1


@pytest.mark.parametrize("amount", [0.0, -1.0, math.nan, math.inf])
def test_unusable_amounts(amount):
    with pytest.raises(BudgetError) as caught:
        allocate(amount, [1.0], "closed_form", 0.5)
    assert caught.value.field == "shares"


@pytest.mark.parametrize("cost", [0.0, -1.0, math.nan, math.inf])
def test_unusable_costs(cost):
    with pytest.raises(BudgetError):
        allocate(1.0, [1.0, cost], "closed_form", 0.5)


def plain_sum(parts):
    total = 0.0
    for part in parts:
        total += part
    return total


@pytest.mark.parametrize("exponent", [1 / 2, 2 / 3])
@pytest.mark.parametrize("rule", ["closed_form", "uniform", "tilted"])
def test_five_queries_raised_to_a_half_with_one_locked(rule, exponent):
    """.25 over 5 queries is .05 each; at .5 with one held at .05 the others share .45."""
    costs = [6.0, 10.0, 15.0, 40.0, 7.0]
    before = allocate(0.25, costs, "uniform", exponent)
    assert before == pytest.approx([0.05] * 5)
    after = allocate(0.5, costs, rule, exponent, tilt=0.5, locked={2: 0.05})
    assert after[2] == 0.05
    others = [part for place, part in enumerate(after) if place != 2]
    assert plain_sum(after) <= 0.5
    assert math.fsum(after) <= 0.5
    assert math.fsum(others) == pytest.approx(0.45)
    alone = allocate(0.45, [6.0, 10.0, 40.0, 7.0], rule, exponent, tilt=0.5)
    assert others == pytest.approx(alone)  # the same rule, for what is left
    if rule == "uniform":
        assert others == pytest.approx([0.1125] * 4)


def test_tilt_goes_from_uniform_to_the_closed_form():
    costs = [1.0, 8.0, 27.0]
    closed, even = (allocate(1.0, costs, rule, 2 / 3) for rule in ("closed_form", "uniform"))
    assert allocate(1.0, costs, "tilted", 2 / 3, tilt=1.0) == closed
    assert allocate(1.0, costs, "tilted", 2 / 3, tilt=0.0) == even
    between = allocate(1.0, costs, "tilted", 2 / 3, tilt=0.5)
    assert closed[0] < between[0] < even[0]
    assert between[2] / between[0] == pytest.approx(27 ** (1 / 3))
    # tilt belongs to its rule alone
    assert allocate(1.0, costs, "closed_form", 2 / 3, tilt=0.0) == closed
    for tilt in (-0.1, 1.1, math.nan):
        with pytest.raises(BudgetError) as caught:
            allocate(1.0, costs, "tilted", 2 / 3, tilt=tilt)
        assert caught.value.field == "tilt"


@pytest.mark.parametrize(
    "locked",
    [{0: 1.0}, {0: 0.5, 1: 0.5}, {0: 2.0}, {0: 1.0 - 1e-9}, {0: 0.0}, {0: -0.1}, {0: math.nan},
     {0: math.inf}, {3: 0.1}, {-1: 0.1}],
)  # fmt: skip
def test_locks_that_leave_nothing_or_mean_nothing(locked):
    with pytest.raises(BudgetError) as caught:
        allocate(1.0, [1.0, 2.0, 3.0], "uniform", 2 / 3, locked=locked)
    assert caught.value.field == "locks"


def test_all_locked():
    found = allocate(1.0, [1.0, 2.0], "closed_form", 2 / 3, locked={0: 0.25, 1: 0.5})
    assert found == (0.25, 0.5)  # what is not wished for is not spent
    tenths = dict.fromkeys(range(10), 0.1)
    found = allocate(1.0, [1.0] * 10, "uniform", 0.5, locked=tenths)
    assert plain_sum(found) <= 1.0
    assert math.fsum(found) <= 1.0
    assert found == pytest.approx([0.1] * 10, rel=1e-12)
    with pytest.raises(BudgetError, match="locks take 110"):
        allocate(1.0, [1.0] * 2, "uniform", 0.5, locked={0: 0.6, 1: 0.5})
