"""Runs spread over processes of one thread each; this one works, too, while the others start."""

from __future__ import annotations

import multiprocessing
import tempfile
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from prism_core.children import spawning
from prism_core.rehearsal.design import Rehearsal, Run
from prism_core.rehearsal.stage import Made, Stage
from prism_core.rehearsal.stand_in import load, save

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prism_core.rehearsal.stand_in import StandIn

_WORTH = 20  # runs for which it pays to start another process


def spread(
    rehearsal: Rehearsal, stand_in: StandIn, runs: Sequence[Run], jobs: int
) -> Iterator[tuple[Run, Made]]:
    """What every run reached, as it comes. Stops between runs when the caller stops asking.

    Args:
        rehearsal: the designs.
        stand_in: the public rows.
        runs: those to make.
        jobs: processes, this one among them; each uses one core.
    """
    stage = Stage(stand_in, rehearsal)
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
    stage: Stage, runs: Sequence[Run], others: int, folder: str
) -> Iterator[tuple[Run, Made]]:
    """The other processes take runs from the front, this one from the back."""
    with spawning():
        pool = ProcessPoolExecutor(
            others, mp_context=multiprocessing.get_context("spawn"), initializer=_begin,
            initargs=(folder, stage.rehearsal.to_dict()),
        )  # fmt: skip
        given: dict[Future[Made], Run] = {pool.submit(_work, run): run for run in runs}
    try:
        while given:
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


_stage: Stage | None = None  # of a process that was started here


def _begin(folder: str, document: dict[str, Any]) -> None:
    global _stage
    threadpool_limits(limits=1)
    _stage = Stage(load(Path(folder)), Rehearsal.from_dict(document))


def _work(run: Run) -> Made:
    assert _stage is not None
    return _stage.run(run)
