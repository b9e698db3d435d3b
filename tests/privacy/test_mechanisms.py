"""T-CLOSED and the guard: what is not certainly usable is refused before a row is read."""

from __future__ import annotations

import math

import numpy as np
import pytest

from prism_core.data.counts import marginal_counts
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError, PrivacyError
from prism_core.planning.wishes.task import Budget
from prism_core.privacy import mechanisms
from prism_core.privacy.events import ExponentialEvent, GaussianEvent
from prism_core.privacy.mechanisms import (
    check_noise_of_table,
    noisy_marginal,
    private_choice,
    private_top_k,
)
from prism_core.privacy.noise import SecureNoise, SeededNoise
from prism_core.privacy.parameters import delta_value, epsilon_value, positive
from prism_core.synthesis.measure import Measurement
from tests.support.noise import Unasked
from tests.support.refusals import refused

pytestmark = pytest.mark.privacy

BAD = [None, math.nan, 0, 0.0, -1.0, math.inf, -math.inf, True, False, "1.0", [1.0], 1j]
SCHEMA = Schema(
    columns=(
        Column(name="a", kind="categorical", levels=("x", "y", "z")),
        Column(name="y", kind="boolean"),
    )
)


class Untouchable:
    """A table whose rows must not be read."""

    schema = SCHEMA
    n = people = 10
    contribution = SCHEMA.contribution

    def __init__(self, *, public: bool) -> None:
        self.public = public

    @property
    def codes(self):
        raise AssertionError("a row was read")

    def column(self, name):
        raise AssertionError("a row was read")


def read(table):
    table.column("a")
    return [0.0]


@pytest.mark.parametrize("bad", BAD, ids=repr)
def test_unusable_scales_are_refused_before_a_row_is_read(bad):
    table = Untouchable(public=False)
    with pytest.raises(PrivacyError, match="nothing was measured"):
        noisy_marginal(table, ("a",), bad, Unasked())
    with pytest.raises(PrivacyError, match="nothing was measured"):
        private_choice(table, read, sensitivity=bad, epsilon=1.0, noise=Unasked())
    with pytest.raises(PrivacyError, match="nothing was measured"):
        private_choice(table, read, sensitivity=1.0, epsilon=bad, noise=Unasked())
    with pytest.raises(PrivacyError, match="nothing was measured"):
        private_top_k(table, read, 1, sensitivity=bad, epsilon=1.0, noise=Unasked())
    with pytest.raises(PrivacyError, match="nothing was measured"):
        private_top_k(table, read, 1, sensitivity=1.0, epsilon=bad, noise=Unasked())


@pytest.mark.parametrize("bad", BAD, ids=repr)
def test_unusable_scales_make_no_event_and_no_measurement(bad):
    with pytest.raises(PrivacyError, match="sigma must be"):
        GaussianEvent(sigma=bad)
    with pytest.raises(PrivacyError, match="sensitivity must be"):
        GaussianEvent(sigma=1.0, sensitivity=bad)
    with pytest.raises(PrivacyError, match="epsilon must be"):
        ExponentialEvent(epsilon=bad)
    with pytest.raises(PrivacyError, match="count must be"):
        ExponentialEvent(epsilon=1.0, count=bad)
    with pytest.raises(PrivacyError, match="sigma must be"):
        Measurement(clique=("a",), values=np.zeros(3, dtype=np.int64), sigma=bad)
    with pytest.raises(BudgetError):
        epsilon_value(bad)
    with pytest.raises(BudgetError):
        delta_value(bad)
    with pytest.raises(BudgetError):
        Budget(epsilon=bad)
    if bad is not None:
        with pytest.raises(BudgetError):
            Budget(delta=bad)


def test_usable_values_pass():
    assert positive(2, "x") == 2.0
    assert positive(np.float64(0.5), "x") == 0.5
    assert epsilon_value(3) == 3.0
    assert delta_value(0.5) == 0.5
    with pytest.raises(BudgetError, match="strictly between 0 and 1"):
        delta_value(1.0)


def test_known_noise_on_private_rows_is_refused_before_a_row_is_read():
    table, noise = Untouchable(public=False), SeededNoise(np.random.default_rng(0))
    for attempt in (
        lambda: check_noise_of_table(table, noise),
        lambda: noisy_marginal(table, ("a",), 1.0, noise),
        lambda: private_choice(table, read, sensitivity=1.0, epsilon=1.0, noise=noise),
        lambda: private_top_k(table, read, 1, sensitivity=1.0, epsilon=1.0, noise=noise),
    ):
        with pytest.raises(PrivacyError, match="Seeded noise can be subtracted") as caught:
            attempt()
        assert caught.value.field == "noise"


def test_the_guard_lets_the_rest_through():
    seeded = SeededNoise(np.random.default_rng(0))
    check_noise_of_table(Untouchable(public=True), seeded)
    check_noise_of_table(Untouchable(public=True), SecureNoise())
    check_noise_of_table(Untouchable(public=False), SecureNoise())


@pytest.mark.parametrize("scores", [[], [math.nan], [0.0, math.inf], [0.0, -math.inf]], ids=repr)
def test_unusable_scores_choose_nothing(scores):
    table = EncodedTable(schema=SCHEMA, codes=np.zeros((4, 2)))
    with pytest.raises(PrivacyError, match="nothing was chosen"):
        private_choice(table, lambda _: scores, sensitivity=1.0, epsilon=1.0, noise=Unasked())
    with pytest.raises(PrivacyError, match="nothing was chosen"):
        private_top_k(table, lambda _: scores, 1, sensitivity=1.0, epsilon=1.0, noise=Unasked())


@pytest.mark.parametrize("k", [0, 3, -1, True, 1.0, None])
def test_no_more_is_chosen_than_there_is(k):
    table = EncodedTable(schema=SCHEMA, codes=np.zeros((4, 2)))
    with refused(PrivacyError, "k"):
        private_top_k(table, lambda _: [0.0, 1.0], k, sensitivity=1.0, epsilon=1.0, noise=Unasked())


def test_counts_are_integers_over_the_declared_domain():
    """T-INT: unseen levels stay, so shape and sensitivity do not depend on the rows."""
    table = EncodedTable(schema=SCHEMA, codes=np.array([[0, 1], [0, 1], [1, 0]]))
    counts = marginal_counts(table, ("y", "a"))
    assert counts.dtype == np.int64
    np.testing.assert_array_equal(counts, [[0, 1, 0], [2, 0, 0]])
    shuffled = table.take(np.array([2, 0, 1]))
    np.testing.assert_array_equal(marginal_counts(shuffled, ("y", "a")), counts)


def test_a_marginal_gets_fresh_noise_of_the_asked_scale():
    table = EncodedTable(schema=SCHEMA, codes=np.zeros((4, 2)))
    asked = []

    class Recorder(Unasked):
        def add_discrete_gaussian(self, counts, sigma):
            asked.append((counts.copy(), sigma))
            return counts + 1

    noisy = noisy_marginal(table, ("a",), 7.5, Recorder())
    np.testing.assert_array_equal(noisy, [5, 1, 1])
    assert asked[0][1] == 7.5
    np.testing.assert_array_equal(asked[0][0], [4, 0, 0])


# --- what may not be chosen --------------------------------------------------------------------


class Scripted(SeededNoise):
    """Draws what a script says and keeps the chance of it; asks for more script where it ends."""

    def __init__(self, script) -> None:
        super().__init__(np.random.default_rng(0))
        self.script, self.chance = list(script), 1.0

    def exponential_choice(self, scores, epsilon, sensitivity):
        law = np.exp(epsilon * scores / (2.0 * sensitivity))
        law /= law.sum()
        if not self.script:
            raise Asked(len(law))
        drawn = self.script.pop(0)
        self.chance *= law[drawn]
        return drawn


class Asked(Exception):
    """How many could be drawn where the script ended."""


def law_of_choice(scores, allowed, epsilon, sensitivity):
    """The exact law of what `private_choice` gives: every way of drawing, with its chance."""
    found = np.zeros(len(scores))
    scripts = [()]
    while scripts:
        script = scripts.pop()
        noise = Scripted(script)
        try:
            index = private_choice(
                Untouchable(public=True),
                lambda _: scores,
                sensitivity=sensitivity,
                epsilon=epsilon,
                noise=noise,
                allowed=allowed.__contains__,
            )
        except Asked as asked:
            scripts += [(*script, drawn) for drawn in range(asked.args[0])]
        else:
            found[index] += noise.chance
    return found


@pytest.mark.parametrize("aside", [0, 1, 2, 200])
@pytest.mark.parametrize("allowed", [{0}, {4}, {1, 3}, {0, 2, 4}, {0, 1, 2, 3, 4}])
def test_what_is_chosen_has_the_law_of_the_mechanism_among_the_allowed(allowed, aside, monkeypatch):
    """Drawn among all and put aside where not allowed, to the last digit."""
    monkeypatch.setattr(mechanisms, "_PUT_ASIDE", aside)
    scores, epsilon, sensitivity = np.array([3.0, -1.0, 0.5, 2.0, 7.0]), 1.3, 2.0
    wanted = np.exp(epsilon * scores / (2.0 * sensitivity))
    wanted[[index for index in range(5) if index not in allowed]] = 0.0
    found = law_of_choice(scores, allowed, epsilon, sensitivity)
    assert found == pytest.approx(wanted / wanted.sum(), rel=1e-12, abs=0.0)


@pytest.mark.parametrize("aside", [1, 200])
@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(np.random.default_rng(0))])
def test_where_nothing_is_allowed_there_is_a_sentence(noise, aside, monkeypatch):
    monkeypatch.setattr(mechanisms, "_PUT_ASIDE", aside)
    with pytest.raises(PrivacyError, match="no candidate"):
        private_choice(
            Untouchable(public=True),
            lambda _: np.zeros(3),
            sensitivity=1.0,
            epsilon=1.0,
            noise=noise,
            allowed=lambda _: False,
        )


def test_few_are_asked_whether_they_are_allowed():
    """Looking takes long: the others of ten thousand are not looked at."""
    asked = []

    def allowed(index):
        asked.append(index)
        return index % 2 == 0

    for seed in range(20):
        private_choice(
            Untouchable(public=True),
            lambda _: np.zeros(10_000),
            sensitivity=1.0,
            epsilon=1.0,
            noise=SeededNoise(np.random.default_rng(seed)),
            allowed=allowed,
        )
    assert len(asked) < 200


def test_of_private_rows_all_are_asked_before_the_one_draw():
    """How often was drawn would depend on the rows, and take its time."""
    drawn, asked = [], []

    class Counting(SecureNoise):
        def exponential_choice(self, scores, epsilon, sensitivity):
            assert len(asked) == 50  # all, before
            drawn.append(len(scores))
            return super().exponential_choice(scores, epsilon, sensitivity)

    def allowed(index):
        asked.append(index)
        return index >= 40

    index = private_choice(
        Untouchable(public=False),
        lambda _: np.linspace(9.0, 0.0, 50),
        sensitivity=1.0,
        epsilon=9.0,
        noise=Counting(),
        allowed=allowed,
    )
    assert index >= 40
    assert (drawn, asked) == ([10], list(range(50)))
