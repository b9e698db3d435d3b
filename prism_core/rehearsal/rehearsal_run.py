"""Running a rehearsal: the real pipeline on stand-in rows, over processes of one thread each."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from prism_core.child_processes import spawning
from prism_core.errors import ConfigError
from prism_core.rehearsal.points import PointStore, RehearsalPoint
from prism_core.rehearsal.stand_in_rows import StandIn, load, save
from prism_core.rehearsal.trial import SharedRows, TrialResult
from prism_core.rehearsal.variants import Rehearsal, RehearsalRun, run_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from prism_core.samples.additive_scm import Shift


@dataclass(frozen=True, kw_only=True)
class RehearsalRequest:
    """What a screen needs of a rehearsal while it runs elsewhere: no rows.

    Attributes:
        rehearsal: the designs.
        title, notes, shifts: of the stand-in rows.
        keys: where the points of each design are kept.
    """

    rehearsal: Rehearsal
    title: str
    notes: tuple[str, ...]
    shifts: tuple[Shift, ...]
    keys: Mapping[str, str]

    @classmethod
    def of(cls, rehearsal: Rehearsal, stand_in: StandIn) -> RehearsalRequest:
        """A rehearsal on these rows.

        Raises:
            PrismError: where a design cannot be planned for them.
        """
        rehearsal.check(stand_in)
        return cls(
            rehearsal=rehearsal,
            title=stand_in.title,
            notes=stand_in.notes,
            shifts=stand_in.shifts,
            keys={v.name: run_key(v, stand_in, rehearsal.learner) for v in rehearsal.variants},
        )

    def points(self, kept: PointStore) -> list[RehearsalPoint]:
        """The points that are there; runs of which a shift is missing are left out."""
        wanted, found = set(self.rehearsal.tasks()), []
        for name, place in self.keys.items():
            runs: dict[RehearsalRun, list[RehearsalPoint]] = {}
            for point in kept.read(place, name):
                runs.setdefault((name, point.epsilon, point.seed), []).append(point)
            for task, points in runs.items():
                if task in wanted and {p.shift for p in points} == set(self.shifts):
                    found += points
        return found

    def done(self, points: Iterable[RehearsalPoint]) -> int:
        """How many runs stand behind these points."""
        return len({(p.variant, p.epsilon, p.seed) for p in points})


def run_rehearsal(
    rehearsal: Rehearsal,
    stand_in: StandIn,
    *,
    kept: PointStore | None = None,
    jobs: int | None = None,
) -> Iterator[RehearsalPoint]:
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
    # It plans every design, so that one which has no plan is refused before anything runs.
    asked = RehearsalRequest.of(rehearsal, stand_in)
    done: set[RehearsalRun] = set()
    for point in asked.points(kept) if kept is not None else ():
        done.add((point.variant, point.epsilon, point.seed))
        yield point
    left = [task for task in rehearsal.tasks() if task not in done]
    if not left:
        return
    for task, made in spread(rehearsal, stand_in, left, workers):
        name, epsilon, seed = task
        points = [
            RehearsalPoint(
                variant=name,
                epsilon=epsilon,
                seed=seed,
                shift=shift,
                metric=made.metric,
                score=score,
                ceiling=made.ceilings[shift],
                seconds=made.seconds,
            )
            for shift, score in made.scores.items()
        ]
        if kept is not None:
            kept.add(asked.keys[name], points)
        yield from points
    if kept is not None:
        kept.prune()


_WORTH = 20  # runs for which it pays to start another process


def spread(
    rehearsal: Rehearsal, stand_in: StandIn, runs: Sequence[RehearsalRun], jobs: int
) -> Iterator[tuple[RehearsalRun, TrialResult]]:
    """What every run reached, as it comes. Stops between runs when the caller stops asking.

    Args:
        rehearsal: the designs.
        stand_in: the public rows.
        runs: those to make.
        jobs: processes, this one among them; each uses one core.
    """
    stage = SharedRows(stand_in, rehearsal)
    with threadpool_limits(limits=1):
        others = min(jobs - 1, len(runs) // _WORTH)
        if others < 1:
            for run in runs:
                yield run, stage.run(run)
            return
        # By a file: through a pipe we would wait until the others have imported everything.
        with tempfile.TemporaryDirectory(prefix="prism-rehearsal-") as name:
            save(stand_in, Path(name))
            yield from _shared(stage, runs, others, name)


def _shared(
    stage: SharedRows, runs: Sequence[RehearsalRun], others: int, folder: str
) -> Iterator[tuple[RehearsalRun, TrialResult]]:
    """The other processes take runs from the front, this one from the back."""
    with spawning():
        pool = ProcessPoolExecutor(
            others,
            # Not fork, which copies the locks that other threads hold just then.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=(folder, stage.rehearsal.to_dict()),
        )
        given: dict[Future[TrialResult], RehearsalRun] = {
            pool.submit(_work, run): run for run in runs
        }
    try:
        while given:
            # What can be cancelled no other process has begun.
            mine = next((future for future in reversed(given) if future.cancel()), None)
            if mine is not None:
                run = given.pop(mine)
                yield run, stage.run(run)
            left = None if mine is None else 0.0  # nothing to do here: wait for the others
            done, _ = wait(given, timeout=left, return_when=FIRST_COMPLETED)
            for future in done:
                yield given.pop(future), future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_shared_rows: SharedRows | None = None  # of a process that was started here


def _begin(folder: str, document: dict[str, Any]) -> None:
    global _shared_rows
    threadpool_limits(limits=1)
    _shared_rows = SharedRows(load(Path(folder)), Rehearsal.from_dict(document))


def _work(run: RehearsalRun) -> TrialResult:
    assert _shared_rows is not None
    return _shared_rows.run(run)
