"""The closed form is the optimum, and its float sum never exceeds what there is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core.planning.allocation import allocate
from prism_core.planning.task import ALLOCATIONS

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
    costs=costs, amount=amounts, rule=st.sampled_from(ALLOCATIONS), tilt=st.floats(0.0, 1.0),
    data=st.data(),
)  # fmt: skip
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
        amount - math.fsum(locked.values()), [costs[place] for place in free], rule, exponent,
        tilt=tilt,
    )  # fmt: skip
    assert [parts[place] for place in free] == pytest.approx(list(alone), rel=1e-6)


@given(
    amount=amounts, shares=st.lists(st.floats(0.01, 1.0), min_size=1, max_size=30),
)  # fmt: skip
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
