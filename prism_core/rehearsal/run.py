"""Running a rehearsal: the real pipeline on stand-in rows, with known noise. Spends nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prism_core.errors import ConfigError
from prism_core.rehearsal.design import key
from prism_core.rehearsal.points import Point
from prism_core.rehearsal.processes import spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prism_core.rehearsal.design import Rehearsal
    from prism_core.rehearsal.points import Kept
    from prism_core.rehearsal.stand_in import StandIn


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
    keys = {v.name: key(v, stand_in, rehearsal.learner) for v in rehearsal.variants}
    done: set[tuple[str, float, int]] = set()
    for point in _known(rehearsal, stand_in, kept, keys):
        done.add((point.variant, point.epsilon, point.seed))
        yield point
    left = [task for task in rehearsal.tasks() if task not in done]
    if not left:
        return
    for task, made in spread(rehearsal, stand_in, left, workers):
        name, epsilon, seed = task
        points = [
            Point(
                variant=name, epsilon=epsilon, seed=seed, shift=shift, auc=area,
                ceiling=made.ceilings[shift], seconds=made.seconds,
            )
            for shift, area in made.areas.items()
        ]  # fmt: skip
        if kept is not None:
            kept.add(keys[name], points)
        yield from points
    if kept is not None:
        kept.prune()


def _known(
    rehearsal: Rehearsal, stand_in: StandIn, kept: Kept | None, keys: Mapping[str, str]
) -> Iterator[Point]:
    """Kept points of this rehearsal; runs of which a shift is missing are left out."""
    if kept is None:
        return
    wanted = set(rehearsal.tasks())
    for name, place_of in keys.items():
        runs: dict[tuple[str, float, int], list[Point]] = {}
        for point in kept.read(place_of, name):
            runs.setdefault((name, point.epsilon, point.seed), []).append(point)
        for task, points in runs.items():
            if task in wanted and {p.shift for p in points} == set(stand_in.shifts):
                yield from points
