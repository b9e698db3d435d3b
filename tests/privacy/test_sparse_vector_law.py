"""The sparse vector's own law: transcripts, noise, and a game between neighbours.

The exact law is computed here by its own sum over the threshold's noise.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.privacy.noise import SecureNoise, SeededNoise
from prism_core.privacy.sparse_vector import SparseVector, asked, opened
from tests.support.games import MISS
from tests.support.laws import ACCEPT, REJECT, fit_p_value

pytestmark = [pytest.mark.privacy, pytest.mark.statistical]

SCALES = SparseVector(
    sensitivity=1, threshold_scale=2.0, question_scale=3.0, answer_scale=1.5, answers=2
)
HALVED = replace(SCALES, threshold_scale=1.0, question_scale=1.5)
SCHEMA = Schema(columns=(Column(name="x", kind="boolean"),), one_row_per_person=True)
PUBLIC = EncodedTable(schema=SCHEMA, codes=np.zeros((1, 1), dtype=np.int32), public=True)
TOLERANCE = 1


class Stock(SeededNoise):
    """Seeded noise, drawn in blocks: thousands of sessions in a second."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.default_rng(seed))
        self.blocks = {}

    def add_discrete_laplace(self, counts, scale):
        if not self.blocks.get(scale):
            zeros = np.zeros(50_000, dtype=np.int64)
            self.blocks[scale] = super().add_discrete_laplace(zeros, scale).tolist()
        return counts + self.blocks[scale].pop()


def laplace_law(values, scale):
    """pmf of the discrete Laplace: tanh(1 / (2 scale)) exp(-|k| / scale)."""
    return math.tanh(0.5 / scale) * np.exp(-np.abs(values) / scale)


def at_least(x, scale):
    """P(N >= x), from the geometric tails."""
    q = math.exp(-1.0 / scale)
    return np.where(x > 0, q ** np.maximum(x, 0) / (1 + q), 1 - q ** np.maximum(1 - x, 0) / (1 + q))


def round_law(gaps, above, scales) -> float:
    """Probability of one round's comparisons coming out like this."""
    reach = math.ceil(60 * scales.threshold_scale)
    r = np.arange(-reach, reach + 1)
    weight = laplace_law(r, scales.threshold_scale)
    for gap, up in zip(gaps, above, strict=True):
        high = at_least(TOLERANCE + r - gap, scales.question_scale)
        weight = weight * (high if up else 1.0 - high)
    return float(weight.sum())


def session_law(gaps, above, scales, *, refreshed: bool = True) -> float:
    """Of a whole session's comparisons: a new threshold after each one above."""
    if not refreshed:
        return round_law(gaps, above, scales)
    law, start = 1.0, 0
    for end in [i + 1 for i, up in enumerate(above) if up] + [len(above)]:
        law *= round_law(gaps[start:end], above[start:end], scales)
        start = end
    return law


def session(gaps, scales, noise):
    """What is above, by the mechanism itself; ends with its answers."""
    now, seen = opened(scales, PUBLIC, noise), []
    for gap in gaps:
        if now.left < 1:
            break
        told, now = asked(
            scales,
            now,
            PUBLIC,
            lambda _table, gap=gap: 10 + gap,
            expected=10,
            tolerance=TOLERANCE,
            noise=noise,
        )
        seen.append(told is not None)
    return tuple(seen)


@pytest.mark.parametrize("scale", [0.6, 3.3, 50.0])
@pytest.mark.parametrize("name", ["seeded", "secure"])
def test_the_noise_is_a_discrete_laplace_of_the_declared_scale(name, scale):
    rows = 100_000 if name == "seeded" else 10_000
    source = SecureNoise() if name == "secure" else SeededNoise(np.random.default_rng(4))
    drawn = source.add_discrete_laplace(np.full(rows, 10**9, dtype=np.int64), scale) - 10**9
    reach = max(int(np.abs(drawn).max()), math.ceil(40 * scale))
    values = np.arange(-reach, reach + 1)
    observed = np.bincount(drawn + reach, minlength=values.size)
    assert fit_p_value(observed, laplace_law(values, scale)) > ACCEPT
    for wrong in (1.3 * scale, scale / 1.3):
        assert fit_p_value(observed, laplace_law(values, wrong), REJECT) < ACCEPT


def test_transcripts_have_the_law_of_the_proof_with_a_new_threshold_a_round():
    """20,000 sessions of four questions; another threshold rule or half the noise is rejected."""
    gaps, wide = (3, 0, 3, 1), replace(SCALES, answers=4)
    outcomes = list(itertools.product((False, True), repeat=4))
    noise, seen = Stock(8), dict.fromkeys(outcomes, 0)
    for _ in range(20_000):
        seen[session(gaps, wide, noise)] += 1
    observed = [seen[outcome] for outcome in outcomes]
    law = [session_law(gaps, outcome, wide) for outcome in outcomes]
    assert sum(law) == pytest.approx(1.0, abs=1e-9)
    assert fit_p_value(observed, law) > ACCEPT
    kept = [session_law(gaps, outcome, wide, refreshed=False) for outcome in outcomes]
    assert fit_p_value(observed, kept, REJECT) < ACCEPT
    half = [session_law(gaps, o, replace(HALVED, answers=4)) for o in outcomes]
    assert fit_p_value(observed, half, REJECT) < ACCEPT


def test_no_transcript_of_neighbours_is_beyond_the_declared_epsilon():
    """The exact law of a round on every pair of close gaps; the bound is nearly reached."""
    epsilon, worst = SCALES.round[0].epsilon, 0.0
    for length in (1, 2, 3):
        for below in (*[False] * (length - 1), True), (False,) * length:
            for gaps in itertools.product((0, 1, 3), repeat=length):
                for moves in itertools.product((-1, 0, 1), repeat=length):
                    moved = [max(0, gap + move) for gap, move in zip(gaps, moves, strict=True)]
                    ratio = round_law(gaps, below, SCALES) / round_law(moved, below, SCALES)
                    worst = max(worst, abs(math.log(ratio)))
    assert worst <= epsilon
    many = [0] * 30, [1] * 30
    above = (*[False] * 30, True)
    far = round_law([*many[0], 1], above, SCALES) / round_law([*many[1], 0], above, SCALES)
    assert 0.99 * epsilon < math.log(far) <= epsilon


GAMES = 12_000


def bound(scales, seed: int) -> float:
    """A lower bound on the privacy loss, from how often one transcript is seen on two neighbours.

    Each Clopper-Pearson bound fails with probability `MISS`, 5e-11.
    """
    above, noise, counts = (False, False, False, True), Stock(seed), []
    for gaps in ((0, 0, 0, 1), (1, 1, 1, 0)):
        counts.append(sum(session(gaps, scales, noise) == above for _ in range(GAMES)))
    most, least = counts
    low = float(stats.beta.ppf(MISS, most, GAMES - most + 1))
    high = float(stats.beta.ppf(1 - MISS, least + 1, GAMES - least))
    return math.log(low / high)


def test_a_game_between_neighbours_is_within_epsilon_and_finds_half_the_noise():
    """T-AUDIT on the event that tells neighbours apart best; false alarms below 1e-9."""
    epsilon = SCALES.round[0].epsilon
    assert 0.3 * epsilon < bound(SCALES, 5) <= epsilon
    assert bound(HALVED, 6) > epsilon
