"""T-EM: the law of the private choice is the exponential mechanism's and no other's."""

from __future__ import annotations

import numpy as np
import pytest

from prism_core.privacy.noise import SecureNoise, SeededNoise
from statistical.laws import ACCEPT, REJECT, exponential_law, fit_p_value, permute_and_flip_law

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
    for wrong in (permute_and_flip_law(scores, epsilon, sensitivity),
                  exponential_law(scores, 2 * epsilon, sensitivity)):  # fmt: skip
        assert np.abs(wrong - right).max() > 0.04
        assert wrong.sum() == pytest.approx(1.0)
