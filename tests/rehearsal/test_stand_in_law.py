"""The odds that are stated are the odds that are drawn, and a shift moves what it says alone.

200,000 rows: the standard error of a log odds ratio is below 0.02, and what is allowed is 0.16, or
8 standard errors. A false alarm of any comparison has a probability below 1e-14; there are 21.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.samples.additive_scm import MOVED_ODDS, ODDS, STRENGTHS, AdditiveScm
from prism_core.structure.dag import Dag

pytestmark = pytest.mark.statistical
ROWS = 200_000
ALLOWED = 0.16
NAMES = ("A", "Y", "C", "Z")


def rows(shift="none", **more) -> dict[str, np.ndarray]:
    made = AdditiveScm(
        schema=Schema(columns=tuple(Column(name=n, kind="boolean") for n in NAMES)),
        dag=Dag(nodes=NAMES, edges=(("A", "Y"), ("Y", "C"), ("C", "Z"))),
        target="Y",
        **more,
    )
    codes = made.draw(ROWS, np.random.default_rng(4), shift)
    return dict(zip(NAMES, codes.T, strict=True))


def log_odds(x: np.ndarray) -> float:
    return math.log(x.mean() / (1.0 - x.mean()))


def log_ratio(cause: np.ndarray, effect: np.ndarray) -> float:
    return log_odds(effect[cause == 1]) - log_odds(effect[cause == 0])


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("edge", [("A", "Y"), ("Y", "C"), ("C", "Z")])
def test_an_edge_multiplies_the_odds_as_stated(strength, edge):
    made = rows(strength=strength)
    assert abs(log_ratio(made[edge[0]], made[edge[1]])) == pytest.approx(
        math.log(ODDS[strength]), abs=ALLOWED
    )


def test_an_edge_of_its_own_strength_has_that_one_and_the_others_keep_theirs():
    made = rows(strength="weak", strengths={("Y", "C"): "strong"})
    assert abs(log_ratio(made["Y"], made["C"])) == pytest.approx(math.log(20), abs=ALLOWED)
    assert abs(log_ratio(made["A"], made["Y"])) == pytest.approx(math.log(2), abs=ALLOWED)


def test_without_an_edge_there_is_no_relation():
    made = rows()
    for value in (0, 1):  # A and C given Y
        kept = made["Y"] == value
        assert log_ratio(made["A"][kept], made["C"][kept]) == pytest.approx(0.0, abs=ALLOWED)


def test_children_are_cut_from_the_target_and_keep_their_margins_and_effects():
    before, after = rows(), rows("children")
    assert log_ratio(after["Y"], after["C"]) == pytest.approx(0.0, abs=ALLOWED)
    assert log_odds(after["C"]) == pytest.approx(log_odds(before["C"]), abs=ALLOWED)
    for edge in (("A", "Y"), ("C", "Z")):
        ratios = [log_ratio(made[edge[0]], made[edge[1]]) for made in (before, after)]
        assert ratios[0] == pytest.approx(ratios[1], abs=ALLOWED)


def test_parents_move_and_the_target_given_them_stays():
    before, after = rows(), rows("parents")
    assert log_odds(after["A"]) - log_odds(before["A"]) == pytest.approx(
        math.log(MOVED_ODDS), abs=ALLOWED
    )
    for value in (0, 1):
        given = [log_odds(made["Y"][made["A"] == value]) for made in (before, after)]
        assert given[0] == pytest.approx(given[1], abs=ALLOWED)
