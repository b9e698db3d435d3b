"""Runs spread over processes; each depends on its own seed alone, so any number gives the same."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TYPE_CHECKING

from threadpoolctl import threadpool_limits

from prism_core.children import spawning
from prism_core.experiments.reproduce.runs import Bench

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prism_core.experiments.reproduce.make import Asked
    from prism_core.experiments.reproduce.outcomes import Outcome


def spread(asked: Sequence[Asked], jobs: int) -> Iterator[Outcome]:
    """The outcomes as they come. Stops between runs when the caller stops asking.

    Args:
        asked: the runs; those that share tables stand together.
        jobs: processes of one thread each; with 1 everything runs in this one.
    """
    if jobs == 1 or len(asked) < 2:
        bench = Bench()
        with threadpool_limits(limits=1):
            for one in asked:
                yield from bench.run(one)
        return
    # Here, because a run that cannot be sent would keep the pool waiting for ever.
    sent = [pickle.dumps(one) for one in asked]
    with spawning():
        pool = ProcessPoolExecutor(
            min(jobs, len(asked)), mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
        )  # fmt: skip
        given = [pool.submit(_work, one) for one in sent]
    try:
        for future in as_completed(given):
            yield from future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_bench: Bench | None = None  # of a process that was started here


def _begin() -> None:
    global _bench
    threadpool_limits(limits=1)
    _bench = Bench()


def _work(sent: bytes) -> tuple[Outcome, ...]:
    assert _bench is not None
    return _bench.run(pickle.loads(sent))  # noqa: S301  (made by the process that started this one)
