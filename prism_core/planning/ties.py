"""Ties: features that are near copies of each other, found in short rounds where no others fit.

Features that are taken for independent given Y count as often as there are copies of them. Where
the noise of a typical marginal is too much for adaptive rounds, a smaller share of the task pool
looks for ties. A round takes a marginal of two features, with or without Y, that the model gets
wrong by more than the tie costs; the first round that finds none ends them, and what is left
measures the pairs with Y again. So where there is nothing to tie, one look is paid.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from prism_core.planning.adaptive_rounds import WATCHED, AdaptiveRounds, Candidates
from prism_core.planning.regimes import free_features
from prism_core.privacy.scores import model_error_sensitivity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.planning.frame import Frame

TIES_SHARE = 0.3
"""Part of the task pool that waits for ties; see docs/defaults.md for these four."""

TIES_CHOICE_SHARE = 1.0 / 3.0
"""Part of a tie for the choice; the measurement gets the rest."""

WORTH = 0.5
"""How far a tie must stand out of its noise, see `cost_of_tie`."""

FALSE_TIES = 0.05
"""Chance, at most, that the draw of a round takes a tie that is not worth its noise."""


def ties_for(frame: Frame, s: Sequence[str]) -> AdaptiveRounds | None:
    """The ties within S; None where none is to be had, or the target has more than two classes."""
    features = frame.task.count if frame.chooses else len(s)
    if not may_tie(frame, features):
        return None
    candidates = Candidates.of(frame.schema, s, frame.task.target)
    parts = min(frame.task.most_ties(len(s)), len(candidates))
    if not parts:
        return None
    return AdaptiveRounds(
        candidates=candidates,
        parts=parts,
        share=TIES_SHARE,
        choice_share=TIES_CHOICE_SHARE,
        ties=True,
    )


def may_tie(frame: Frame, features: int) -> bool:
    """Whether near copies would exceed the bar and what they cost, whatever S; no row is read.

    Copies have about as many levels as each other, so neighbours by size are looked at.

    Args:
        frame: the wishes.
        features: of S.
    """
    # A number has its forest. Of several classes a rare one has too few rows to spare any budget:
    # covid (docs/defaults.md), the rarest of three 2% of the rows, lost what the others gained.
    if frame.schema[frame.task.target].size > 2 or not frame.may_keep_back:
        return False
    sizes = sorted(map(frame.schema.size, free_features(frame.schema, frame.task)))
    part = frame.total * frame.pools()["task"] * TIES_SHARE / frame.task.most_ties(features)
    sigma = frame.accountant.gaussian(part * (1.0 - TIES_CHOICE_SHARE), 0.0, "").sigma
    epsilon = frame.accountant.exponential(part * TIES_CHOICE_SHARE, 1, "").epsilon
    least = bar_of(features, model_error_sensitivity(frame.contribution), epsilon)
    return any(
        copies_error(pair, frame.mass)
        >= least + cost_of_tie(math.prod(pair), sigma, frame.contribution.variance(frame.n))
        for pair in itertools.pairwise(sizes)
    )


def cost_of_tie(cells: int, sigma: float, variance: float) -> float:
    """What the l1 error of a model has to exceed for a tie to be worth measuring, in counts.

    Two parts. A model that is right is off by luck and by the noise of the pairs with Y: the l1
    norm of cells of the variances v_i is at most sqrt(2 / pi cells sum v_i) on average. And the
    tie must stand out of its noise: d cells of noise have a squared norm of d sigma^2 give or take
    sigma^2 sqrt(2 d). An error D stands out where its squared norm comes to sigma^2 sqrt(d), and
    that of near copies of m levels, d = m^2, is (their l1 norm)^2 / (4 m) or so: 2 sigma sqrt(d),
    of which `WORTH` asks for a part.

    Args:
        cells: of the tie.
        sigma: its noise.
        variance: sum over the cells, of the draw of the people and of what the model expects;
            noisy or public numbers only.
    """
    luck = math.sqrt(2.0 / math.pi * cells * variance)
    return luck + WORTH * 2.0 * sigma * math.sqrt(cells)


def bar_of(features: int, sensitivity: float, epsilon: float) -> float:
    """The score of finding no tie, in counts; it follows from public facts.

    A tie is worth its noise where its score is above 0. Among M whose score is 0 or less the
    mechanism takes one in place of nothing with probability at most
    M exp(-epsilon bar / (2 sensitivity)), which is `FALSE_TIES` here. M is the number of pairs of
    the features that are watched, with and without Y.

    Args:
        features: of S.
        sensitivity: of the score, in counts.
        epsilon: of the choice.
    """
    watched = min(features, WATCHED)
    # Twice the number of pairs, as each may be taken without Y and with it.
    count = max(1, watched * (watched - 1))
    return 2.0 * sensitivity / epsilon * math.log(count / FALSE_TIES)


def copies_error(sizes: Sequence[int], n: int) -> float:
    """The l1 distance, in counts, of two columns that are copies from independent ones.

    Of m equally frequent levels: 2 n (1 - 1 / m).
    """
    # Of two columns the one with fewer levels bounds what a copy can share.
    return 2.0 * n * (1.0 - 1.0 / min(sizes))
