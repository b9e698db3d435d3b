"""Running a rehearsal: the real pipeline on stand-in rows, with known noise. Spends nothing."""

from __future__ import annotations

import multiprocessing
import os
import time
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.errors import ConfigError
from prism_core.evaluation.learners import fit, labelled
from prism_core.evaluation.scoring import macro_auc
from prism_core.pipeline import release
from prism_core.privacy.noise import SeededNoise
from prism_core.rehearsal.points import Point

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.data.schema import Schema
    from prism_core.planning.plan import Plan
    from prism_core.planning.stand_in import Shift
    from prism_core.rehearsal.design import Rehearsal, Variant
    from prism_core.rehearsal.points import Kept
    from prism_core.rehearsal.stand_in import StandIn

_Task = tuple["Variant", float, int]


@dataclass
class Counted:
    """Public rows whose counts are taken once; satisfies `data.source.Rows`.

    Attributes:
        rows: the table.
    """

    rows: EncodedTable
    _known: dict[tuple[str, ...], NDArray[np.int64]] = field(default_factory=dict, repr=False)

    @property
    def schema(self) -> Schema:
        """The declared domain."""
        return self.rows.schema

    @property
    def public(self) -> bool:
        """Whether the rows are public; in a rehearsal they are."""
        return self.rows.public

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.rows.n

    def counts(self, cliques: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        """See `data.source.Rows`. Spends nothing: the rows are public."""
        wanted = [tuple(clique) for clique in cliques]
        new = [clique for clique in dict.fromkeys(wanted) if clique not in self._known]
        if new:
            self._known.update(zip(new, self.rows.counts(new), strict=True))
        return [self._known[clique].copy() for clique in wanted]


@dataclass
class Stage:
    """The stand-in rows with what every run on them shares.

    Attributes:
        stand_in: the public rows.
        learner: trained on what the runs make.
    """

    stand_in: StandIn
    learner: str

    def __post_init__(self) -> None:
        self.rows = Counted(self.stand_in.train)
        self._ceiling = lru_cache(maxsize=None)(self._reached)
        self._plans: dict[tuple[str, float], Plan] = {}

    def _plan(self, variant: Variant, epsilon: float) -> Plan:
        place = (variant.name, epsilon)
        if place not in self._plans:
            self._plans[place] = variant.plan(self.stand_in, epsilon)
        return self._plans[place]

    def ceiling(self, variant: Variant, epsilon: float) -> Mapping[Shift, float]:
        """The AUC without noise by shift, from the features that the design protects."""
        plan = self._plan(variant, epsilon)
        return self._ceiling(plan.s if plan.s_is_final else None)

    def _reached(self, features: tuple[str, ...] | None) -> Mapping[Shift, float]:
        return self._scores(self.stand_in.train, features)

    def run(self, task: _Task) -> tuple[dict[Shift, float], float]:
        """One release on the stand-in rows and its AUC by shift; seconds it took."""
        variant, epsilon, seed = task
        started = time.monotonic()
        plan = self._plan(variant, epsilon)
        # One stream for the noise and one for the rows, the same for every variant.
        noise, sampling = (np.random.default_rng([seed, part]) for part in (0, 1))
        made = release(plan, self.rows, ledger=None, noise=SeededNoise(noise), rng=sampling)
        rows = EncodedTable(schema=plan.schema, codes=made.codes, public=True)
        return self._scores(rows, None), time.monotonic() - started

    def _scores(
        self, rows: EncodedTable, features: tuple[str, ...] | None
    ) -> dict[Shift, float]:
        target = self.stand_in.target
        known = labelled(rows, target)
        # Rows of one class teach to rank everybody alike, which is an AUC of one half.
        if len(np.unique(known.column(target))) < 2:
            return dict.fromkeys(self.stand_in.shifts, 0.5)
        fitted = fit(self.learner, known, target=target, features=features)
        found: dict[Shift, float] = {}
        for shift, holdout in self.stand_in.holdouts.items():
            test = labelled(holdout, target)
            area = macro_auc(test.column(target), fitted.probabilities(test))
            assert area is not None, "a stand-in shows two classes at least"
            found[shift] = area
        return found


def run(
    rehearsal: Rehearsal, stand_in: StandIn, *, kept: Kept | None = None, jobs: int | None = None
) -> Iterator[Point]:
    """The points of a rehearsal as they come: those kept from before first.

    Stops between runs when the caller stops asking. Every point is the same whatever `jobs` is.
    Spends nothing: the rows are public.

    Args:
        rehearsal: what to run.
        stand_in: the public rows.
        kept: where points are kept; runs that are there are not run again.
        jobs: processes; as many as there are cores for this process when None. With 1 everything
            runs in this process.

    Raises:
        PrismError: before the first point, where a design cannot be planned.
    """
    workers = len(os.sched_getaffinity(0)) if jobs is None else jobs
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ConfigError("jobs must be a whole number above 0.", field="jobs")
    rehearsal.check(stand_in)
    keys = {v.name: v.key(stand_in, rehearsal.learner) for v in rehearsal.variants}
    done: set[tuple[str, float, int]] = set()
    for point in _known(rehearsal, stand_in, kept, keys):
        done.add((point.variant, point.epsilon, point.seed))
        yield point
    left = [task for task in rehearsal.tasks() if (task[0].name, *task[1:]) not in done]
    if not left:
        return
    work = _here if workers == 1 or len(left) == 1 else _spread
    for task, areas, ceilings, seconds in work(rehearsal, stand_in, left, workers):
        variant, epsilon, seed = task
        points = [
            Point(
                variant=variant.name, epsilon=epsilon, seed=seed, shift=shift, auc=area,
                ceiling=ceilings[shift], seconds=seconds,
            )
            for shift, area in areas.items()
        ]  # fmt: skip
        if kept is not None:
            kept.add(keys[variant.name], points)
        yield from points
    if kept is not None:
        kept.prune()


def _known(
    rehearsal: Rehearsal, stand_in: StandIn, kept: Kept | None, keys: Mapping[str, str]
) -> Iterator[Point]:
    """Kept points of this rehearsal; runs of which a shift is missing are left out."""
    if kept is None:
        return
    wanted = {(v.name, epsilon, seed) for v, epsilon, seed in rehearsal.tasks()}
    for name, key in keys.items():
        runs: dict[tuple[str, float, int], list[Point]] = {}
        for point in kept.read(key, name):
            runs.setdefault((name, point.epsilon, point.seed), []).append(point)
        for place, points in runs.items():
            if place in wanted and {p.shift for p in points} == set(stand_in.shifts):
                yield from points


_Made = tuple[_Task, dict["Shift", float], "Mapping[Shift, float]", float]


def _here(
    rehearsal: Rehearsal, stand_in: StandIn, tasks: Sequence[_Task], workers: int  # noqa: ARG001
) -> Iterator[_Made]:
    stage = Stage(stand_in, rehearsal.learner)
    for task in tasks:
        areas, seconds = stage.run(task)
        yield task, areas, stage.ceiling(task[0], task[1]), seconds


def _spread(
    rehearsal: Rehearsal, stand_in: StandIn, tasks: Sequence[_Task], workers: int
) -> Iterator[_Made]:
    """In processes of one thread each, which compile nothing: kernels come from the cache."""
    from prism_core.synthesis.engine.cache import compile_kernels

    compile_kernels()
    pool = ProcessPoolExecutor(
        min(workers, len(tasks)), mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin, initargs=(stand_in, rehearsal.learner),
    )  # fmt: skip
    try:
        first = {task[0].name: task for task in reversed(tasks)}
        ceilings = {name: pool.submit(_ceiling, *task[:2]) for name, task in first.items()}
        futures: dict[Future[Any], _Task] = {pool.submit(_run, task): task for task in tasks}
        for future in as_completed(futures):
            task = futures.pop(future)
            areas, seconds = future.result()
            yield task, areas, ceilings[task[0].name].result(), seconds
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_stage: Stage | None = None  # of this worker process


def _begin(stand_in: StandIn, learner: str) -> None:
    global _stage  # noqa: PLW0603  (what an initializer can set)
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1)
    _stage = Stage(stand_in, learner)


def _run(task: _Task) -> tuple[dict[Shift, float], float]:
    assert _stage is not None
    return _stage.run(task)


def _ceiling(variant: Variant, epsilon: float) -> Mapping[Shift, float]:
    assert _stage is not None
    return _stage.ceiling(variant, epsilon)
