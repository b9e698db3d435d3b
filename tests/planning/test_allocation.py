"""Allocation of an amount: formulas, sums, refusals, and that the closed form is the optimum."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core.errors import BudgetError
from prism_core.planning.allocation import allocate
from prism_core.planning.wishes.task import ALLOCATIONS


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
    [
        {0: 1.0},
        {0: 0.5, 1: 0.5},
        {0: 2.0},
        {0: 1.0 - 1e-9},
        {0: 0.0},
        {0: -0.1},
        {0: math.nan},
        {0: math.inf},
        {3: 0.1},
        {-1: 0.1},
    ],
)
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


costs = st.lists(st.floats(0.01, 1e6), min_size=1, max_size=40)
amounts = st.floats(1e-9, 1e3)

# exponent of the closed form, power of the noise in the amount: sigma = amount ** -power
ZCDP, BASIC = (2 / 3, 0.5), (1 / 2, 1.0)
EVERY = pytest.mark.parametrize(("exponent", "power"), [ZCDP, BASIC], ids=["zcdp", "basic"])


def error(costs, parts, power):
    return math.fsum(cost * part**-power for cost, part in zip(costs, parts, strict=True))


@EVERY
@given(costs=costs, amount=amounts, seed=st.integers(0, 2**32))
def test_no_other_split_is_better(exponent, power, costs, amount, seed):
    best = error(costs, allocate(amount, costs, "closed_form", exponent), power)
    even = error(costs, allocate(amount, costs, "uniform", exponent), power)
    assert best <= even * (1 + 1e-9)
    rng = np.random.default_rng(seed)
    mine = np.array(allocate(amount, costs, "closed_form", exponent))
    for other in (
        rng.dirichlet(np.ones(len(costs)), 20) * amount,
        # Near by: the optimum is a stationary point.
        [(near := mine * rng.uniform(0.98, 1.02, mine.size)) * amount / near.sum()],
    ):
        for parts in other:
            if (parts > 0).all():
                assert best <= error(costs, parts, power) * (1 + 1e-9)


@EVERY
@given(costs=costs, amount=amounts)
def test_the_optimum_is_the_formula(exponent, power, costs, amount):
    found = error(costs, allocate(amount, costs, "closed_form", exponent), power)
    total = math.fsum(cost**exponent for cost in costs)
    formula = total ** (1 / exponent) / amount**power
    assert found == pytest.approx(formula, rel=1e-6)


@EVERY
@given(costs=costs, amount=amounts, rule=st.sampled_from(ALLOCATIONS))
def test_the_float_sum_never_exceeds_the_amount(exponent, power, costs, amount, rule):
    parts = allocate(amount, costs, rule, exponent)
    assert math.fsum(parts) <= amount
    assert math.fsum(parts) >= amount * (1 - 1e-9)
    assert min(parts) > 0.0
    if rule == "uniform":
        assert len(set(parts)) == 1


@EVERY
@given(
    costs=costs,
    amount=amounts,
    rule=st.sampled_from(ALLOCATIONS),
    tilt=st.floats(0.0, 1.0),
    data=st.data(),
)
def test_locks_are_kept_and_no_sum_exceeds_the_amount(
    exponent, power, costs, amount, rule, tilt, data
):
    places = data.draw(st.sets(st.integers(0, len(costs) - 1), max_size=max(0, len(costs) - 1)))
    cuts = data.draw(st.lists(st.floats(0.001, 1.0), min_size=len(places), max_size=len(places)))
    part = data.draw(st.sampled_from([1e-9, 0.1, 0.5, 0.999]))
    whole = math.fsum(cuts)
    locked = {
        place: amount * part * (cut / whole)
        for place, cut in zip(sorted(places), cuts, strict=True)
    }
    parts = allocate(amount, costs, rule, exponent, tilt=tilt, locked=locked)
    assert {place: parts[place] for place in locked} == locked
    plain = 0.0
    for one in parts:
        plain += one
    assert plain <= amount
    assert math.fsum(parts) <= amount
    assert math.fsum(parts) >= amount * (1 - 1e-9)
    assert min(parts) > 0.0
    free = [place for place in range(len(costs)) if place not in locked]
    alone = allocate(
        amount - math.fsum(locked.values()),
        [costs[place] for place in free],
        rule,
        exponent,
        tilt=tilt,
    )
    assert [parts[place] for place in free] == pytest.approx(list(alone), rel=1e-6)


@given(amount=amounts, shares=st.lists(st.floats(0.01, 1.0), min_size=1, max_size=30))
def test_everything_locked_by_hand_stays_within_the_amount(amount, shares):
    """Shares that add up to the whole but for rounding: what a person types who locks all."""
    whole = math.fsum(shares)
    locked = {place: amount * (share / whole) for place, share in enumerate(shares)}
    parts = allocate(amount, [1.0] * len(shares), "uniform", 0.5, locked=locked)
    plain = 0.0
    for one in parts:
        plain += one
    assert max(plain, math.fsum(parts)) <= amount
    assert list(parts) == pytest.approx(list(locked.values()), rel=1e-9)
