"""Fit of Private-PGM with a prior: noisy counts of several features move a model of the rest.

Counts of two or more features are noisier, cell by cell, than the pairs with the target, and a fit
follows their noise wherever they have the last word. So the model of everything else is fitted
first, and they move it only as far as they speak against `PULL` people of it: the fit minimises

sum_q ||M_q(P) n - y_q||^2 / (2 sigma_q^2) + PULL KL(P || model of everything else).

The model of everything else is held near columns that stand alone in the same way, by `BASE_PULL`
people. A pair with the target is drawn to what the model of all but this pair expects of it (see
`empirical_bayes`): a relationship to the household says most of what marital status says. All of it
reads noisy counts only: post-processing, spends nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.errors import PlanError
from prism_core.planning.shrinkage import may_move_pairs, target_of_pair
from prism_core.planning.tree.junction_tree import Clique, forecast
from prism_core.synthesis.empirical_bayes import shrunk
from prism_core.synthesis.measure import Measurement
from prism_core.synthesis.pgm import Pgm, fit_pgm
from prism_core.synthesis.totals import total_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.planning.plan import Plan

_LEAST = 1e-9
"""Share of a level that noise has put at 0 or below: it may come back where a table says so."""


def independent_model(
    sizes: Mapping[str, int], targets: Sequence[str], n: int, measurements: Sequence[Measurement]
) -> Pgm:
    """Columns independent of each other, as near as can be to the totals of all tables.

    Post-processing, spends nothing. Its potentials are those of the measured sets, so that a fit
    to the tables can begin at it or be held near it.

    Args:
        sizes: codes per column, in schema order.
        targets: Y, or several.
        n: training rows.
        measurements: noisy tables, none of them a linear query; every column stands in one.
    """
    totals = [_totals(m, axis) for m in measurements for axis in range(len(m.clique))]
    apart = fit_pgm(sizes, targets, n, totals, engine="fast")
    new = set(sizes)  # columns that no set before has told of
    potentials: dict[Clique, np.ndarray] = {}
    for m in measurements:
        names = tuple(name for name in sizes if name in m.clique)
        # One potential a set: a second table of the same columns adds nothing to single columns.
        if names in potentials:
            continue
        potential = np.zeros([sizes[name] for name in names])
        for axis, name in enumerate(names):
            # Each column in one set only: the potentials add up, and twice would square its shares.
            if name in new:
                shares = np.maximum(apart.marginal((name,)) / n, _LEAST)
                along = [-1 if place == axis else 1 for place in range(len(names))]
                potential = potential + np.log(shares).reshape(along)
                new.discard(name)
        potentials[names] = potential
    return replace(apart, potentials=potentials)


def _totals(m: Measurement, axis: int) -> Measurement:
    """What a table says of one of its columns."""
    others = tuple(place for place in range(m.values.ndim) if place != axis)
    return Measurement(
        clique=(m.clique[axis],),
        values=m.values.sum(axis=others),
        # A sum of k noisy cells has k times their variance.
        sigma=m.sigma * math.sqrt(m.values.size / m.values.shape[axis]),
    )


PULL = 100.0
"""People as which the model without them counts against the counts of several features.

AUC at epsilon 1 with 30, 100 and 300: Adult .8983, .8987, .8988 (14 splits), hepar2 .9691, .9693,
.9654 (8 seeds). At epsilon 4 it matters less."""

BASE_PULL = 20.0
"""People as which single columns alone count against the pairs with the target.

It keeps what noise has put below 0: without it a rare level may lose a class for good. AUC with and
without is in docs/pairs.md. A hundred are better yet for 20,000 rows, and too many for 1,500."""

MOST_CELLS = 3_000_000
"""Cells of all models together that tell what pairs are expected to be; of more none is asked."""

MOST_STEPS = 1_000
"""Of one fit, as far as the plan allows them."""

_BASE = 1e-5  # share of the loss that may be missing in the model that the others move
_NEAR = 1e-6  # share of what they lower the loss by
_SKETCH = 1e-4  # the same between rounds: below what one of many marginals moves
_ROUGH = 1e-2  # the same for what a pair is expected to be
_ROUGH_STEPS = 15  # of such a fit, at most: what is expected need not be exact


def split_relations(
    measurements: Sequence[Measurement], targets: Sequence[str]
) -> tuple[tuple[Measurement, ...], tuple[Measurement, ...]]:
    """Everything else, and the counts of two or more features that move its model.

    Counts of columns that nothing else counts are part of everything else.
    """
    several = [
        m.query is None and sum(name not in targets for name in m.clique) > 1 for m in measurements
    ]
    known = {
        name
        for m, of_several in zip(measurements, several, strict=True)
        if not of_several
        for name in m.clique
    }
    moves = [
        of_several and known.issuperset(m.clique)
        for m, of_several in zip(measurements, several, strict=True)
    ]
    return (
        tuple(m for m, yes in zip(measurements, moves, strict=True) if not yes),
        tuple(m for m, yes in zip(measurements, moves, strict=True) if yes),
    )


def fit_with_prior(
    plan: Plan,
    measurements: Sequence[Measurement],
    progress: Callable[[float], None] = lambda _: None,
) -> Pgm:
    """The model of noisy marginals, drawn to what the others say.

    Args:
        plan: with every private choice filled in.
        measurements: as measured.
        progress: called with the share done; may raise to stop.
    """
    fits = _Fits(plan, total_of(plan.contribution, plan.n, measurements))
    others, relations = split_relations(measurements, fits.targets)
    # Nothing would move the base, so it is the model.
    if not relations:
        return fits.base(fits.pairs(others), progress=progress)
    expected = _expected(fits, others, relations, lambda share: progress(0.6 * share))
    pairs = fits.pairs(others, expected)
    base = fits.base(pairs, progress=lambda share: progress(0.6 + 0.1 * share))
    return fits.near(
        base, pairs, relations, _NEAR, progress=lambda share: progress(0.7 + 0.3 * share)
    )


@dataclass
class Sketches:
    """Models between rounds, each good enough to see what is wrong with it.

    Attributes:
        plan: before the rounds.
    """

    plan: Plan
    _base: Pgm | None = field(default=None, init=False)
    _last: Pgm | None = field(default=None, init=False)

    def of(self, measurements: Sequence[Measurement]) -> Pgm:
        """The model of what was measured so far, which only counts of several features extend."""
        plan = self.plan
        # The total anew: where it is private, each round's counts tell it better.
        fits = _Fits(plan, total_of(plan.contribution, plan.n, measurements))
        others, relations = split_relations(measurements, fits.targets)
        pairs = fits.pairs(others)
        # Rounds bring counts of several features only, which are no part of the base.
        if self._base is None:
            self._base = fits.base(pairs)
        if not relations:
            return self._base
        self._last = fits.near(self._base, pairs, relations, _SKETCH, start=self._last)
        return self._last


@dataclass(frozen=True)
class _Fits:
    """The fits of a plan to a table of this total."""

    plan: Plan
    total: int

    @property
    def targets(self) -> Clique:
        return self.plan.task.target_names

    def pairs(
        self,
        others: Sequence[Measurement],
        expected: dict[Clique, NDArray[np.float64]] | None = None,
    ) -> tuple[Measurement, ...]:
        return shrunk(others, self.plan.domain, self.targets, self.total, expected)

    def base(
        self,
        measurements: Sequence[Measurement],
        tolerance: float = _BASE,
        *,
        most: int = MOST_STEPS,
        progress: Callable[[float], None] = lambda _: None,
    ) -> Pgm:
        plan = self.plan
        tables = [m.clique for m in measurements if len(m.clique) > 1]
        # Without tables nothing is to be held: single columns are what the prior is made of.
        held = bool(tables) and self._holds(measurements)
        return fit_pgm(
            plan.sizes,
            self.targets,
            self.total,
            measurements,
            tolerance=tolerance,
            iterations=min(most, plan.synthesis.iterations),
            engine="fast",
            progress=progress,
            prior=independent_model(plan.sizes, self.targets, self.total, measurements)
            if held
            else None,
            pull=BASE_PULL,
            moves=tables,
        )

    def _holds(self, measurements: Sequence[Measurement]) -> bool:
        """Whether tables move the model of single columns as little as they must.

        Where all that is measured is tables, and the plan's pairs may be moved at all; not for a
        numeric target, whose scale would be drawn to the middle.
        """
        plan = self.plan
        return (
            all(m.query is None for m in measurements)
            and not any(plan.domain[name].is_number for name in self.targets)
            and may_move_pairs(plan)
        )

    def near(
        self,
        base: Pgm,
        others: Sequence[Measurement],
        relations: Sequence[Measurement],
        tolerance: float,
        *,
        start: Pgm | None = None,
        most: int = MOST_STEPS,
        progress: Callable[[float], None] = lambda _: None,
    ) -> Pgm:
        plan = self.plan
        return fit_pgm(
            plan.sizes,
            self.targets,
            self.total,
            [*others, *relations],
            tolerance=tolerance,
            iterations=min(most, plan.synthesis.iterations),
            start=start,
            prior=base,
            pull=PULL,
            moves=[m.clique for m in relations],
            engine="fast",
            progress=progress,
        )


def _expected(
    fits: _Fits,
    others: Sequence[Measurement],
    relations: Sequence[Measurement],
    progress: Callable[[float], None],
) -> dict[Clique, NDArray[np.float64]]:
    """What the rest expects of the pairs with a target that it says something about."""
    told = {name for m in relations for name in m.clique if name not in fits.targets}
    known = fits.pairs(others)
    asked = [
        (place, target)
        for place, m in enumerate(others)
        if m.query is None
        and told.intersection(m.clique)
        and (target := target_of_pair(fits.plan.domain, m.clique, fits.targets)) is not None
    ]
    rests = [_rest(known, relations, place, target) for place, target in asked]
    # With nothing expected, `shrunk` draws a pair to the shares of all rows.
    if _cells(fits, rests) > MOST_CELLS:
        return {}
    found: dict[Clique, NDArray[np.float64]] = {}
    for done, ((place, _), (some, more)) in enumerate(zip(asked, rests, strict=True)):

        def step(share: float, done: int = done) -> None:
            progress((done + share) / len(asked))

        base = fits.base(some, _ROUGH, most=_ROUGH_STEPS, progress=lambda s: step(0.3 * s))
        model = fits.near(
            base, some, more, _ROUGH, most=_ROUGH_STEPS, progress=lambda s: step(0.3 + 0.7 * s)
        )
        try:
            found[others[place].clique] = np.asarray(model.marginal(others[place].clique))
        except PlanError:  # too large a table on the way, which sizes alone decide
            continue
    return found


def _rest(
    others: Sequence[Measurement], relations: Sequence[Measurement], place: int, target: str
) -> tuple[list[Measurement], list[Measurement]]:
    """Everything but one pair, of which the totals of its levels stay, and but what holds it."""
    pair = others[place]
    axis = pair.clique.index(target)
    # They stay, or a column that this pair alone counts would be missing from the model.
    totals = Measurement(
        clique=(pair.clique[1 - axis],),
        values=pair.values.sum(axis=axis),
        sigma=pair.sigma * math.sqrt(pair.values.shape[axis]),
    )
    # In the pair's place, so that the order of the others, and with it the fit, stays.
    some = [*others[:place], totals, *others[place + 1 :]]
    return some, [m for m in relations if not set(pair.clique).issubset(m.clique)]


def _cells(
    fits: _Fits, rests: Iterable[tuple[Sequence[Measurement], Sequence[Measurement]]]
) -> int:
    """Of the models of all of them."""
    return sum(
        forecast(fits.plan.sizes, [m.clique for m in (*some, *more)], last=fits.targets).cells
        for some, more in rests
    )
