"""Noise that is smaller than claimed is found; noise that is what it claims is not."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from prism_core.bundle.verify import counts_check
from prism_core.bundle.verify.counts_check import noise_findings
from prism_core.privacy.contribution import ONE_ROW
from prism_core.privacy.noise import SeededNoise
from prism_core.synthesis.measure import Measurement

SIZES = {"a": 3, "b": 4, "c": 2, "y": 2}
CLIQUES = (("a", "y"), ("b", "y"), ("c", "y"), ("a", "b"), ("b", "c"), ("a",), ("a", "c", "y"))
PEOPLE = 500


def plan(cliques=CLIQUES, kind="pair"):
    queries = tuple(SimpleNamespace(clique=clique, kind=kind) for clique in cliques)
    return SimpleNamespace(n=PEOPLE, sizes=SIZES, queries=queries, contribution=ONE_ROW)


def measured(sigma: float, noise: float, rng, cliques=CLIQUES) -> list[Measurement]:
    """Counts of one table with noise of one scale that claim another."""
    codes = {name: rng.integers(0, size, PEOPLE) for name, size in SIZES.items()}
    found = []
    for clique in cliques:
        counts = np.zeros([SIZES[name] for name in clique], dtype=np.int64)
        np.add.at(counts, tuple(codes[name] for name in clique), 1)
        if noise:
            counts = SeededNoise(rng).add_discrete_gaussian(counts, noise)
        found.append(Measurement(clique=clique, values=counts, sigma=sigma))
    return found


@pytest.mark.privacy
@pytest.mark.parametrize("share", [0.0, 0.01, 0.05])
def test_too_little_noise_is_found(share):
    rng = np.random.default_rng(3)
    (found,) = noise_findings(plan(), measured(40.0, 40.0 * share, rng))
    assert "less noise than they claim" in found


@pytest.mark.statistical
@pytest.mark.parametrize("sigma", [0.3, 1.0, 1.7, 40.0])
def test_as_much_noise_as_claimed_passes(sigma):
    """False alarms: 4 x 25 tables at 1e-9 each; the seed is fixed."""
    rng = np.random.default_rng(5)
    for _ in range(25):
        assert noise_findings(plan(), measured(sigma, sigma, rng)) == []


@pytest.mark.statistical
@pytest.mark.parametrize("sigma", [1.0, 1.7, 40.0])
def test_the_lower_tail_is_no_more_often_than_stated(monkeypatch, sigma):
    """At 10% in place of 1e-9. False alarms: below 1e-9 for 75 or more of 300 at 10%."""
    monkeypatch.setattr(counts_check, "RARE", 0.1)
    rng = np.random.default_rng(11)
    alarms = sum(bool(noise_findings(plan(), measured(sigma, sigma, rng))) for _ in range(300))
    assert alarms < 75
    if sigma == 40.0:  # and where whole numbers hardly matter, about as often
        assert alarms > 3


@pytest.mark.privacy
def test_of_marginals_chosen_by_noise_only_the_sums_count():
    rng = np.random.default_rng(7)
    cliques = CLIQUES[:4]
    exact = measured(40.0, 0.0, rng, cliques)
    assert noise_findings(plan(cliques), exact)
    assert noise_findings(plan(cliques, kind="tree"), exact) == []  # 4 degrees are too few


def test_few_marginals_prove_nothing():
    rng = np.random.default_rng(7)
    for cliques in ((("a", "y"),), (("a", "b"), ("c", "y"))):
        assert noise_findings(plan(cliques), measured(40.0, 0.0, rng, cliques)) == []
    assert noise_findings(plan(()), []) == []
