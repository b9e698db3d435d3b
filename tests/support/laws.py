"""Goodness of fit with a false-alarm rate so small that no run of a correct program sees one."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy import stats

ACCEPT = 1e-12
"""p-values below reject. Cells are merged until 200 are expected in each, where the chi-square
law holds this far out: a correct source is rejected with probability below 1e-9 per suite."""

REJECT = 20.0
"""Expected counts from which cells stay apart when a wrong law is to be rejected."""


def fit_p_value(observed, probabilities, least: float = 200.0) -> float:
    """p-value of counts under a law; cells with fewer than `least` expected are merged."""
    observed = np.asarray(observed, dtype=float)
    expected = np.asarray(probabilities, dtype=float) * observed.sum()
    order = np.argsort(expected)
    merged_observed, merged_expected = [], []
    seen = wanted = 0.0
    for index in order:
        seen += observed[index]
        wanted += expected[index]
        if wanted >= least:
            merged_observed.append(seen)
            merged_expected.append(wanted)
            seen = wanted = 0.0
    if seen or wanted:  # only when all of them together are too few
        merged_observed.append(seen)
        merged_expected.append(wanted)
    found, hoped = np.array(merged_observed), np.array(merged_expected)
    statistic = float(((found - hoped) ** 2 / hoped).sum())
    return float(stats.chi2.sf(statistic, max(1, len(found) - 1)))


def discrete_gaussian(values: np.ndarray, sigma: float) -> np.ndarray:
    """pmf of the discrete Gaussian at integers (Canonne, Kamath, Steinke 2020, Definition 1)."""
    reach = math.ceil(40 * sigma) + 40
    norm = np.exp(-(np.arange(-reach, reach + 1.0) ** 2) / (2 * sigma**2)).sum()
    return np.exp(-(values.astype(float) ** 2) / (2 * sigma**2)) / norm


def gaussian_p_value(samples: np.ndarray, sigma: float, least: float = 200.0) -> float:
    """p-value of integer samples under the discrete Gaussian of scale sigma."""
    reach = max(math.ceil(8 * sigma) + 2, int(np.abs(samples).max()))
    values = np.arange(-reach, reach + 1)
    observed = np.bincount(samples + reach, minlength=values.size)
    law = discrete_gaussian(values, sigma)
    return fit_p_value(observed, law / law.sum(), least)


def exponential_law(scores, epsilon: float, sensitivity: float) -> np.ndarray:
    """Of the exponential mechanism: softmax(epsilon u / (2 sensitivity))."""
    logits = epsilon * np.asarray(scores, dtype=float) / (2 * sensitivity)
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def permute_and_flip_law(scores, epsilon: float, sensitivity: float) -> np.ndarray:
    """Of permute-and-flip (McKenna and Sheldon 2020), by walking every permutation."""
    scores = np.asarray(scores, dtype=float)
    heads = np.exp(epsilon * (scores - scores.max()) / (2 * sensitivity))
    law = np.zeros(scores.size)
    orders = list(itertools.permutations(range(scores.size)))
    for order in orders:
        still = 1.0
        for index in order:
            law[index] += still * heads[index]
            still *= 1.0 - heads[index]
    return law / len(orders)
