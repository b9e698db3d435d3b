"""Running a rehearsal: the real pipeline on stand-in rows, with known noise. Spends nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.errors import ConfigError
from prism_core.rehearsal.design import key
from prism_core.rehearsal.points import Point
from prism_core.rehearsal.processes import spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from prism_core.planning.stand_in import Shift
    from prism_core.rehearsal.design import Rehearsal, Run
    from prism_core.rehearsal.points import Kept
    from prism_core.rehearsal.stand_in import StandIn


@dataclass(frozen=True, kw_only=True)
class Asked:
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
    def of(cls, rehearsal: Rehearsal, stand_in: StandIn) -> Asked:
        """A rehearsal on these rows.

        Raises:
            PrismError: where a design cannot be planned for them.
        """
        rehearsal.check(stand_in)
        return cls(
            rehearsal=rehearsal, title=stand_in.title, notes=stand_in.notes,
            shifts=stand_in.shifts,
            keys={v.name: key(v, stand_in, rehearsal.learner) for v in rehearsal.variants},
        )  # fmt: skip

    def points(self, kept: Kept) -> list[Point]:
        """The points that are there; runs of which a shift is missing are left out."""
        wanted, found = set(self.rehearsal.tasks()), []
        for name, place in self.keys.items():
            runs: dict[Run, list[Point]] = {}
            for point in kept.read(place, name):
                runs.setdefault((name, point.epsilon, point.seed), []).append(point)
            for task, points in runs.items():
                if task in wanted and {p.shift for p in points} == set(self.shifts):
                    found += points
        return found

    def done(self, points: Iterable[Point]) -> int:
        """How many runs stand behind these points."""
        return len({(p.variant, p.epsilon, p.seed) for p in points})


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
    asked = Asked.of(rehearsal, stand_in)
    done: set[Run] = set()
    for point in asked.points(kept) if kept is not None else ():
        done.add((point.variant, point.epsilon, point.seed))
        yield point
    left = [task for task in rehearsal.tasks() if task not in done]
    if not left:
        return
    for task, made in spread(rehearsal, stand_in, left, workers):
        name, epsilon, seed = task
        points = [
            Point(
                variant=name, epsilon=epsilon, seed=seed, shift=shift, metric=made.metric,
                score=score, ceiling=made.ceilings[shift], seconds=made.seconds,
            )
            for shift, score in made.scores.items()
        ]  # fmt: skip
        if kept is not None:
            kept.add(asked.keys[name], points)
        yield from points
    if kept is not None:
        kept.prune()
