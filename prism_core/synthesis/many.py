"""Many fits of one graph at once, for sweeps over noise."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from prism_core.errors import PlanError
from prism_core.synthesis.engine.fit import Structure
from prism_core.synthesis.pgm import Pgm, check_measurements

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prism_core.synthesis.measure import Measurement


def fit_many(
    sizes: Mapping[str, int],
    target: str,
    n: int,
    draws: Sequence[Sequence[Measurement]],
    *,
    iterations: int = 1_000,
    jobs: int | None = None,
) -> list[Pgm]:
    """Fit one graph to many draws of the noise; post-processing, spends nothing.

    The structure (triangulation, tree, maps) is made once. The kernels hold no lock of the
    interpreter and start no threads of their own, so `jobs` threads use `jobs` cores and no more.
    Every fit is the one that `fit_pgm(engine="fast")` makes, whatever `jobs` is.

    Args:
        sizes: codes per column, in schema order.
        target: Y.
        n: training rows.
        draws: measurements of the same cliques with the same sigmas, in the same order.
        iterations: at most so many steps for each.
        jobs: threads; as many as there are cores for this process when None.

    Raises:
        PlanError: when the draws are not of one graph, or `jobs` is below 1.
        PrivacyError: when a noisy marginal is not finite.
    """
    workers = len(os.sched_getaffinity(0)) if jobs is None else jobs
    if isinstance(workers, bool) or not workers >= 1:
        raise PlanError("jobs must be a whole number above 0.", field="jobs")
    if not draws:
        return []
    kinds = {tuple((m.clique, m.sigma, m.query) for m in draw) for draw in draws}
    if len(kinds) != 1:
        raise PlanError(
            "The draws measure different cliques or with different sigmas. Fit them one by one.",
            field="draws",
        )
    for draw in draws:
        check_measurements(sizes, n, draw)
    first = draws[0]
    structure = Structure(
        sizes, [m.clique for m in first], [m.sigma for m in first], last=(target,),
        queries=[m.query for m in first],
    )  # fmt: skip

    def one(draw: Sequence[Measurement]) -> Pgm:
        made = structure.fit(n, [m.values for m in draw], iterations=iterations)
        return Pgm.of(sizes, n, made, (target,))

    with ThreadPoolExecutor(max_workers=min(workers, len(draws))) as pool:
        return list(pool.map(one, draws))
