"""T-EM: the law of the private choice is the exponential mechanism's and no other's."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from prism_core.privacy.noise import SecureNoise, SeededNoise
from tests.support.laws import ACCEPT, REJECT, exponential_law, fit_p_value, permute_and_flip_law

pytestmark = [pytest.mark.privacy, pytest.mark.statistical]

CASES = [
    ([0.0, 1.0, 2.0, 3.0], 2.0, 1.0),
    ([30.0, 29.0, 27.5], 3.0, 2.0),
    ([0.02, 0.05, 0.011, 0.05], 4.0, 0.03),
]


@pytest.mark.parametrize(("scores", "epsilon", "sensitivity"), CASES)
@pytest.mark.parametrize(("name", "draws"), [("seeded", 40_000), ("secure", 4_000)])
def test_the_choice_follows_the_exponential_mechanism(name, draws, scores, epsilon, sensitivity):
    if name == "secure" and scores != CASES[0][0]:
        draws = 1_000  # a millisecond or more each
    source = SecureNoise() if name == "secure" else SeededNoise(np.random.default_rng(9))
    values = np.array(scores)
    picks = [source.exponential_choice(values, epsilon, sensitivity) for _ in range(draws)]
    observed = np.bincount(picks, minlength=len(scores))
    assert fit_p_value(observed, exponential_law(scores, epsilon, sensitivity)) > ACCEPT
    if draws >= 4_000:
        for wrong in (
            permute_and_flip_law(scores, epsilon, sensitivity),
            exponential_law(scores, 2 * epsilon, sensitivity),
            exponential_law(scores, epsilon / 2, sensitivity),
            exponential_law(scores, -epsilon, sensitivity),
        ):
            if np.abs(wrong - exponential_law(scores, epsilon, sensitivity)).max() > 0.04:
                assert fit_p_value(observed, wrong, REJECT) < ACCEPT


def test_the_first_case_tells_all_mistakes_apart():
    scores, epsilon, sensitivity = CASES[0]
    right = exponential_law(scores, epsilon, sensitivity)
    for wrong in (
        permute_and_flip_law(scores, epsilon, sensitivity),
        exponential_law(scores, 2 * epsilon, sensitivity),
    ):
        assert np.abs(wrong - right).max() > 0.04
        assert wrong.sum() == pytest.approx(1.0)


def peeling_law(scores, k: int, epsilon: float, sensitivity: float) -> dict[tuple[int, ...], float]:
    """Of k rounds of the exponential mechanism without replacement, in order."""
    weights = np.exp(epsilon * np.asarray(scores) / (2 * sensitivity))
    law = {}
    for order in itertools.permutations(range(len(scores)), k):
        left, chance = weights.sum(), 1.0
        for index in order:
            chance *= weights[index] / left
            left -= weights[index]
        law[order] = chance
    return law


@pytest.mark.parametrize(("name", "draws"), [("seeded", 20_000), ("secure", 3_000)])
def test_one_shot_has_the_law_of_k_rounds(name, draws):
    """Durfee and Rogers: one draw of Gumbel noise, the k largest in order, equals peeling.

    With 3,000 draws the chi-square statistic against either wrong scale has a noncentrality above
    900, where 81 rejects: it is missed with probability below 1e-60.
    """
    scores, epsilon, sensitivity = CASES[0]
    source = SecureNoise() if name == "secure" else SeededNoise(np.random.default_rng(9))
    values = np.array(scores)
    law = peeling_law(scores, 2, epsilon, sensitivity)
    place = {order: position for position, order in enumerate(law)}
    picks = [place[source.top_k(values, 2, epsilon, sensitivity)] for _ in range(draws)]
    observed = np.bincount(picks, minlength=len(law))
    assert fit_p_value(observed, list(law.values())) > ACCEPT
    # Noise of half and of twice the scale.
    for factor in (2.0, 0.5):
        wrong = peeling_law(scores, 2, factor * epsilon, sensitivity)
        assert fit_p_value(observed, list(wrong.values()), REJECT) < ACCEPT
