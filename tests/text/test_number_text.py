"""Numbers as text: never on the unsafe side, and as short as people write them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core.text.markdown import plain
from prism_core.text.numbers import (
    delta_text,
    down,
    eps_text,
    error_text,
    left_text,
    one_in,
    out_of,
    percent,
    seldom,
    share_text,
    sigma_text,
    small,
    up,
)

LEAST = 1.0 - 1e-11  # the last digits of a float that stands for a decimal
numbers = st.floats(1e-12, 1e12)
chances = st.floats(1e-12, 1.0)


@given(numbers, st.integers(1, 6))
def test_up_is_never_less_and_hardly_more(value, digits):
    shown = float(up(value, digits))
    assert shown >= value * LEAST
    assert shown <= value * (1 + 10.0 ** (1 - digits)) * (1 + 1e-9)


@given(numbers, st.integers(1, 6))
def test_down_is_never_more_and_hardly_less(value, digits):
    shown = float(down(value, digits))
    assert shown <= value / LEAST
    assert shown >= value * (1 - 10.0 ** (1 - digits)) * (1 - 1e-9)


@given(numbers)
def test_what_is_spent_is_up_and_what_is_left_is_down(value):
    assert float(eps_text(value)) >= value * LEAST
    assert float(sigma_text(value)) >= value * LEAST
    assert float(delta_text(value)) >= value * LEAST
    assert float(error_text(value)[:-1]) >= 100 * value * LEAST
    assert float(left_text(value)) <= value / LEAST


def test_the_same_number_reads_the_same():
    assert (eps_text(math.inf), error_text(1.234), share_text(0.151594)) == ("∞", "130%", "15.16%")


@given(chances)
def test_percent_is_never_less(share):
    text = percent(share)
    assert text.endswith("%")
    assert share * LEAST <= float(text[:-1]) / 100 <= 1.0


@given(numbers)
def test_small_is_never_less(value):
    assert value * LEAST <= float(small(value)) <= value * 1.1 + 1e-300


@given(chances)
def test_one_in_is_never_less(chance):
    shown, many = one_in(chance).split(" in ")
    assert int(shown) / int(many.replace(",", "")) >= chance * LEAST


@given(chances)
def test_seldom_is_never_less(chance):
    many = seldom(chance).removeprefix("1 in ").replace(",", "").split()
    scale = {"million": 1e6, "billion": 1e9, "trillion": 1e12}.get(many[-1], 1.0)
    assert 1 / (float(many[0]) * scale) >= chance * (1 - 1e-9)


@given(chances, st.sampled_from([100, 1_000, 10_000]))
def test_people_are_never_less(chance, people):
    assert chance * people * LEAST <= out_of(chance, people) <= min(people, chance * people + 1)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (up(0.1), "0.1"),
        (up(0.0), "0"),
        (up(1234567.0), "1240000"),
        (percent(0.05), "5%"),
        (percent(1.0), "100%"),
        (percent(0.99951), "100%"),
        (one_in(1 / 3), "34 in 100"),
        (one_in(1 / 1_000), "1 in 1,000"),
        (one_in(1.0), "100 in 100"),
        (small(1e-10), "1e-10"),
        (small(0.25), "0.25"),
        (seldom(1 / 20_000**2), "1 in 400 million"),
        (seldom(0.05), "1 in 20"),
        (seldom(1e-13), "1 in 10 trillion"),
    ],
)
def test_as_people_write_them(text, wanted):
    assert text == wanted


@given(st.text(max_size=30))
def test_plain_text_leaves_no_mark_of_markdown(text):
    shown = plain(text)
    assert "\n" not in shown
    bare = shown
    for mark in "\\`*_{}[]()#+-.!|<>$~:&":
        bare = bare.replace(f"\\{mark}", "")
    assert not set(bare) & set("`*_{}[]()#|<>$&")
    assert shown.isprintable()


def test_up_has_no_exponent():
    assert "e" not in up(1e-9) + up(1e15)
    assert math.isclose(float(up(1e-9)), 1e-9)
