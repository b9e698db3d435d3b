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
