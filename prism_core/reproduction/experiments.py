"""Experiments of the paper, one function each: runs come one by one, the same for the same seeds.

Runs are spread over processes; each depends on its own seed alone, so any number of processes gives
the same.
"""

from __future__ import annotations

import itertools
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TYPE_CHECKING, TypedDict, Unpack

from threadpoolctl import threadpool_limits

from prism_core.child_processes import spawning
from prism_core.comparators.external import EXTERNAL
from prism_core.comparators.external.interpreter import required_python
from prism_core.errors import ConfigError
from prism_core.privacy.parameters import epsilon_value
from prism_core.reproduction.benchmark_run import RunRequest, RunScorer
from prism_core.reproduction.benchmarks import (
    Benchmark,
    adult_benchmark,
    allocation_wins_benchmark,
    scm_marginal_benchmark,
    scm_spurious_benchmark,
)
from prism_core.reproduction.networks import network_benchmark
from prism_core.reproduction.paper_methods import method, setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from prism_core.reproduction.outcomes import RunOutcome


def spread(asked: Sequence[RunRequest], jobs: int) -> Iterator[RunOutcome]:
    """The outcomes as they come. Stops between runs when the caller stops asking.

    Args:
        asked: the runs; those that share tables stand together.
        jobs: processes of one thread each; with 1 everything runs in this one.
    """
    if jobs == 1 or len(asked) < 2:
        bench = RunScorer()
        # As in the processes below: on busy cores more threads wait for each other by spinning.
        with threadpool_limits(limits=1):
            for one in asked:
                yield from bench.run(one)
        return
    # Here, because a run that cannot be sent would keep the pool waiting for ever.
    sent = [pickle.dumps(one) for one in asked]
    with spawning():
        pool = ProcessPoolExecutor(
            min(jobs, len(asked)),
            # Not fork, which copies the locks that other threads hold just then.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
        )
        given = [pool.submit(_work, one) for one in sent]
    try:
        for future in as_completed(given):
            # As they end and not in order: whoever watches sees that it goes on.
            yield from future.result()
    finally:
        # Also where the caller stops asking, which closes this generator.
        pool.shutdown(wait=True, cancel_futures=True)


_bench: RunScorer | None = None  # of a process that was started here


def _begin() -> None:
    global _bench
    threadpool_limits(limits=1)
    _bench = RunScorer()


def _work(sent: bytes) -> tuple[RunOutcome, ...]:
    assert _bench is not None
    return _bench.run(pickle.loads(sent))  # noqa: S301  (made by the process that started this one)


SEEDS = 10
"""Runs of every line, as in the paper."""


class Options(TypedDict, total=False):
    """What an experiment may be asked for; see `run`."""

    methods: Sequence[str]
    settings: Sequence[str]
    epsilons: Sequence[float]
    seeds: int | Sequence[int]
    sizes: Sequence[int | None]
    jobs: int


def scm_spurious(**options: Unpack[Options]) -> Iterator[RunOutcome]:
    """The paper's spurious shift; options as for `run`."""
    return run(scm_spurious_benchmark(), **options)


def scm_marginal(**options: Unpack[Options]) -> Iterator[RunOutcome]:
    """The paper's marginal shift; options as for `run`."""
    return run(scm_marginal_benchmark(), **options)


def allocation_wins(**options: Unpack[Options]) -> Iterator[RunOutcome]:
    """The paper's heterogeneous features; options as for `run`."""
    return run(allocation_wins_benchmark(), **options)


def adult(path: str | Path | None = None, **options: Unpack[Options]) -> Iterator[RunOutcome]:
    """The paper's Adult run.

    Args:
        path: the integer-coded CSV; else PRISM_ADULT_CSV, else OpenML.
        options: as for `run`.
    """
    return run(adult_benchmark(path), **options)


def bayes_network(
    network: str, target: str | None = None, **options: Unpack[Options]
) -> Iterator[RunOutcome]:
    """A published network, whose parents and blankets are known.

    Args:
        network: one of `networks.NETWORKS`.
        target: the node to predict; the network's default when None.
        options: as for `run`.
    """
    return run(network_benchmark(network, target), **options)


def run(
    benchmark: Benchmark,
    *,
    methods: Sequence[str] = (),
    settings: Sequence[str] = (),
    epsilons: Sequence[float] = (),
    seeds: int | Sequence[int] = SEEDS,
    sizes: Sequence[int | None] = (),
    jobs: int = 1,
) -> Iterator[RunOutcome]:
    """The runs of a benchmark as they come. Spends nothing: every row is public.

    An outcome is the same whatever `jobs` is and whatever else is asked for, but for its seconds.

    Args:
        benchmark: which one.
        methods: by name; the benchmark's own where empty, like the next three.
        settings: `paper`, `ours`.
        epsilons: of the runs.
        seeds: how many, or which.
        sizes: numbers of synthetic rows; None is as many as there are training rows.
        jobs: processes.

    Raises:
        ConfigError, BudgetError: before the first run, naming what is allowed.
    """
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise ConfigError("jobs must be a whole number above 0.", field="jobs")
    asked = wanted(
        benchmark, methods=methods, settings=settings, epsilons=epsilons, seeds=seeds, sizes=sizes
    )
    return spread(asked, jobs)


def wanted(
    benchmark: Benchmark,
    *,
    methods: Sequence[str] = (),
    settings: Sequence[str] = (),
    epsilons: Sequence[float] = (),
    seeds: int | Sequence[int] = SEEDS,
    sizes: Sequence[int | None] = (),
) -> tuple[RunRequest, ...]:
    """The runs that `run` makes, those of a seed together.

    Raises:
        ConfigError, BudgetError: naming what is allowed.
    """
    chosen = [method(name) for name in dict.fromkeys(methods or benchmark.methods)]
    for about in EXTERNAL.values():
        if about.name in {one.name for one in chosen}:
            required_python(about)  # what is missing shows now, not after hours
    ways = [setting(name) for name in dict.fromkeys(settings or benchmark.settings)]
    wishes = [epsilon_value(value) for value in dict.fromkeys(epsilons or benchmark.epsilons)]
    drawn = tuple(dict.fromkeys(sizes or benchmark.sizes))
    for size in drawn:
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
            raise ConfigError("Synthetic rows must be a whole number above 0.", field="sizes")
    found = tuple(
        RunRequest(
            benchmark=benchmark, method=one, setting=way, epsilon=epsilon, seed=seed, sizes=drawn
        )
        # Seeds outermost: a process keeps the tables of the last few.
        for seed, way, epsilon, one in itertools.product(_seeds(seeds), ways, wishes, chosen)
        if way.name in one.settings
    )
    if not found:
        raise ConfigError("None of these methods runs in this setting.", field="methods")
    return found


def _seeds(seeds: int | Sequence[int]) -> tuple[int, ...]:
    listed = tuple(range(seeds)) if isinstance(seeds, int) else tuple(dict.fromkeys(seeds))
    # True and False are whole numbers to Python.
    whole = all(isinstance(seed, int) and not isinstance(seed, bool) for seed in listed)
    if not listed or not whole or min(listed) < 0:
        raise ConfigError(
            "seeds must be a whole number above 0, or seeds from 0 on.", field="seeds"
        )
    return listed
