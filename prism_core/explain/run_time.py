"""Run time in processor seconds on one core: from the plan alone, no row is read.

A run starts and loads libraries; reads, encodes, draws and writes cells; counts pairs and chooses
among them; in adaptive rounds asks the model about every candidate and fits it again; fits it at
the end, and once more for every pair with a target that the other marginals say something about
(`synthesis.prior_fit`). A fit takes more steps the clearer the counts stand out from their noise.

How large the model gets in adaptive rounds depends on what is picked, which no plan knows. So picks
are drawn by chance, in a few orders, within the limits of a run (`synthesis.select.adaptive`). Two
tables of the same numbers of levels may end with models of which one has sixty times the cells of
the other, so a plan with rounds tells a range: of few picks as they come, and of as many as there
are rounds with large ones first.

The constants were fitted to 22 runs of `prism release` with seeded noise on one core of the
reference machine, stage by stage (`time.process_time`, best of several): 9 to 200 columns, 7,000
to 262,000 rows, epsilon 0.3 to 10. docs/wide.md shows what was said and measured,
and where it is off. Other machines
are slower or faster: a calibration of some hundredths of a second says by how much. Secure noise
takes a fifth more, which is not counted.
"""

from __future__ import annotations

import math
import random
import time
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from prism_core.planning.adaptive_rounds import GROWTH_CELLS, WATCHED, Candidates
from prism_core.planning.shrinkage import FEWEST_LEVELS, may_move_pairs
from prism_core.planning.tree.junction_tree import Clique, forecast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.planning.plan import Plan
    from prism_core.planning.queries import ThreeWayChoice

_START = 2.0  # seconds, of which most load libraries and compiled kernels
_PER_VALUE = 0.16e-6  # of a cell of the table or of the synthetic rows, read or written
_PER_PAIR, _PER_PAIR_AND_ROW = 15e-6, 0.75e-9  # of a pair that may be chosen
_PER_CANDIDATE = 220e-6  # of a candidate in one adaptive round
# Of a cell of the model in one round, and in one fit: times the square root of n / sigma, as the
# steps to a share of the loss grow with the condition of the problem.
_PER_CELL_OF_ROUND, _PER_CELL_OF_FIT = 0.11e-6, 0.09e-6
_USUAL = 1_000.0  # n / sigma where there are no rounds to read it from

_FEW, _ALL, _CLEAR = 0.75, 1.0, 50.0
"""Share of the rounds that find something; all of them from so large an n / sigma a cell on."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """How adaptive rounds may go.

    Attributes:
        share: of the rounds that find something; None: as usual, by how clear the counts are.
        large: power of a pair's cells by which it is picked early; 0 is any order.
        factor: by which a cell may take longer than usual in rounds and fits.
    """

    share: float | None = None
    large: float = 0.0
    factor: float = 1.0


USUAL = Found()
LITTLE = Found(share=0.5, factor=0.6)
MUCH = Found(share=1.0, large=1.0, factor=1.5)
"""On six tables with nine targets at epsilon 1 to 10, all 13 runs ended between these two."""

# Few: each order sizes a tree for every edge it tries, while a page waits.
_ORDERS = 3
_MOST_EXPECTED = 3_000_000  # cells of the fits that say what pairs are expected to be; else none


def parts(plan: Plan, found: Found = USUAL) -> dict[str, float]:
    """Seconds on the reference machine by stage: start, rows, choices, rounds, fit.

    Args:
        plan: before the run or after it; nothing else is asked.
        found: how adaptive rounds go.
    """
    three = plan.three_way
    cells, clear = typical_cells(plan), _USUAL
    rounds = 0.0
    if three is not None and three.rule == "adaptive":
        clear = plan.mass / three.sigma
        cells, path = _growth(plan, three, found)
        # Pairs of the features watched, with and without the target: 2 x 45 x 44 / 2.
        asked = three.rounds * min(len(three.candidates), WATCHED * (WATCHED - 1))
        rounds = asked * _PER_CANDIDATE + path * _PER_CELL_OF_ROUND * math.sqrt(clear)
    fits = 1 + _expected(plan, cells)
    return {
        "start": _START,
        # As many rows as there can be: how many there are is private where people have several.
        "rows": _PER_VALUE
        * len(plan.schema.columns)
        * (plan.contribution.max_rows * plan.n + plan.rows),
        "choices": _pairs(plan)
        * (_PER_PAIR + _PER_PAIR_AND_ROW * plan.contribution.max_rows * plan.n),
        "rounds": found.factor * rounds,
        "fit": found.factor * fits * cells * _PER_CELL_OF_FIT * math.sqrt(clear),
    }


def run_seconds(plan: Plan) -> float:
    """How long a run takes on one core of this machine, in seconds; see `seconds_range`.

    From the plan alone, no row is read.
    """
    return math.fsum(parts(plan).values()) * slowness()


def _has_rounds(plan: Plan) -> bool:
    return plan.three_way is not None and plan.three_way.rule == "adaptive"


def seconds_range(plan: Plan) -> tuple[float, float]:
    """Between how many seconds a run with adaptive rounds takes; without rounds half and twice."""
    # Without rounds the model is known beforehand, and only the machine is not.
    if not _has_rounds(plan):
        return run_seconds(plan) / 2.0, run_seconds(plan) * 2.0
    little, much = (math.fsum(parts(plan, way).values()) for way in (LITTLE, MUCH))
    if plan.three_way is not None and plan.three_way.bar is not None:
        little /= 2.0  # ties may end at the first look
    return little * slowness(), much * slowness()


def size_text(plan: Plan) -> str:
    """The forecast in a line: cells, memory, time."""
    size = plan.forecast
    most = "" if size.exact else " at most"
    about = f"about {_duration(run_seconds(plan))}"
    if not size.exact:
        least, longest = map(_duration, seconds_range(plan))
        about += f" (between {least} and {longest}, as the choices fall)"
    return (
        f"{size.cells:,} cells{most}, {size.largest_clique:,}{most} of them in the largest group "
        f"of columns modelled together (clique); about {max(1.0, size.megabytes):,.0f} MiB{most} "
        f"and {about} on one core"
    )


def _duration(seconds: float) -> str:
    number, unit = (seconds, "second") if seconds < 100.0 else (seconds / 60.0, "minute")
    return f"{number:,.0f} {unit}{'' if round(number) == 1 else 's'}"


def typical_cells(plan: Plan) -> float:
    """Cells of the model as it will probably be: pairs still to be chosen count as typical ones."""
    if plan.forecast.exact:
        return float(plan.forecast.cells)
    known = math.fsum(query.cells for query in plan.with_fine)
    target = plan.domain.size(plan.task.target)
    later = math.fsum(
        choice.rounds * choice.cells for choice in (plan.tree, plan.three_way) if choice is not None
    )
    return min(float(plan.forecast.cells), known + target * later)


def _pairs(plan: Plan) -> int:
    """Pairs that a private choice looks at, each time it does."""
    found = 0 if plan.tree is None else len(plan.tree.candidates)
    found += sum(len(choice.candidates) * choice.steps for choice in plan.selections)
    three = plan.three_way
    if three is None:
        return found
    return found + len(three.candidates) * (three.rounds if three.rule == "model_error" else 1)


def _expected(plan: Plan, cells: float) -> int:
    """Fits that say what a pair with the target is expected to be."""
    if not may_move_pairs(plan):
        return 0
    asked = sum(plan.domain.size(name) >= FEWEST_LEVELS for name in plan.s)
    # As `prior_fit` does, which asks nothing of larger models.
    return asked if asked * cells <= _MOST_EXPECTED else 0


def _growth(plan: Plan, three: ThreeWayChoice, found: Found = USUAL) -> tuple[float, float]:
    """Cells of the model after the rounds, and those of all rounds together, as they may come."""
    candidates = three.candidates
    if len(plan.s) > WATCHED and isinstance(candidates, Candidates):
        # A run watches those that tell most about Y. A plan knows none of that: the first stand for
        # them.
        candidates = candidates.within(plan.s[:WATCHED])
    clear = plan.mass / three.sigma / three.cells
    usual = _ALL if clear > _CLEAR else _FEW
    picks = round((usual if found.share is None else found.share) * three.rounds)
    return _drawn_growth(
        tuple(plan.sizes.items()),
        plan.cliques,
        plan.task.target,
        tuple(candidates),
        picks,
        found.large,
    )


@lru_cache(maxsize=64)  # the pages ask for it with every move of a slider
def _drawn_growth(
    # Tuples throughout: the cache needs arguments that can be hashed.
    columns: tuple[tuple[str, int], ...],
    known: tuple[Clique, ...],
    target: str,
    candidates: tuple[Clique, ...],
    picks: int,
    large: float,
) -> tuple[float, float]:
    """Geometric means over the orders: one of them may grow far beyond the others."""
    sizes = dict(columns)
    grown = [
        _one_order(sizes, known, target, _order(candidates, sizes, target, large, seed), picks)
        for seed in range(_ORDERS)
    ]
    # 1 at least: without a pick the path is 0, which has no logarithm.
    end, path = np.exp(np.log(np.maximum(1.0, grown)).mean(axis=0))
    return float(end), float(path)


def _order(
    candidates: Sequence[Clique], sizes: dict[str, int], target: str, large: float, seed: int
) -> list[Clique]:
    """The candidates in an order by chance, large ones rather early."""
    # Seeded, so that a plan is told the same time whenever it is asked.
    rng = random.Random(seed)
    if not large:
        return rng.sample(candidates, len(candidates))
    # Exponential waits put the candidates in an order by chance in which each comes next with a
    # chance in proportion to its rate.
    waits = {
        clique: rng.expovariate(math.prod(sizes[n] for n in clique if n != target) ** large)
        for clique in candidates
    }
    return sorted(candidates, key=waits.__getitem__)


def _one_order(
    sizes: dict[str, int], known: Sequence[Clique], target: str, order: Sequence[Clique], picks: int
) -> tuple[int, int]:
    now = forecast(sizes, known, last=(target,)).cells
    limit, path = now + GROWTH_CELLS, 0
    picked: list[Clique] = []
    edges: set[Clique] = set()
    for clique in order:
        if len(picked) == picks:
            break
        edge = tuple(name for name in clique if name != target)
        if edge not in edges:  # with and without Y it is the same edge
            cells = forecast(sizes, [*known, *picked, edge], last=(target,)).cells
            if cells > limit:
                continue
            edges.add(edge)
            now = cells
        picked.append(clique)
        path += now
    return now, path


_REFERENCE = 0.0032  # seconds that the work below takes on the reference machine


@cache
def slowness() -> float:
    """How many times longer than the reference machine this one takes; measured once a process.

    The best of some repeats, in processor time, so that other work counts little; a quarter to
    eight times.
    """
    # Bounded, so that one odd measurement does not promise seconds for hours.
    return min(8.0, max(0.25, min(_calibrate() for _ in range(5)) / _REFERENCE))


def _calibrate() -> float:
    """Seconds of some work of the kind that a run does: loops of Python, and of arrays."""
    began = time.process_time()
    held: dict[int, int] = {}
    for place in range(20_000):
        held[place % 997] = held.get(place % 991, 0) + place
    values = np.linspace(-5.0, 5.0, 100_000)
    for _ in range(3):
        values = np.exp(-np.abs(values))
        values.cumsum()
    return time.process_time() - began
