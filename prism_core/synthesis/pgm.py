"""Private-PGM: the maximum-entropy distribution nearest to the noisy marginals.

Minimises sum_q ||Q_q M_q(P) n - y_q||^2 / (2 sigma_q^2) over distributions (McKenna, Sheldon,
Miklau 2019); Q_q is 1 for counts. Our own engine works on flat arrays; mbi, which compiles a
program for every graph, is the reference that it is compared with. `fit_many` fits one graph to
many draws of the noise at once.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.errors import PlanError, PrivacyError
from prism_core.planning.wishes.task import ENGINES, EngineName, SamplingRule
from prism_core.synthesis.engine.fit import TOLERANCE, EngineFit, FitPrior, Structure, fit
from prism_core.synthesis.engine.tree_marginals import marginals_of
from prism_core.synthesis.engine.variable_elimination import marginal_of
from prism_core.synthesis.reference.mbi_fit import as_markov_random_field, fit_mbi
from prism_core.synthesis.sample import sample_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.planning.tree.junction_tree import Clique, JunctionTree
    from prism_core.synthesis.measure import Measurement


@dataclass(frozen=True, kw_only=True)
class Pgm:
    """A fitted graphical model.

    Attributes:
        sizes: codes per column, in schema order.
        n: training rows.
        tree: junction tree over the maximal cliques.
        tables: marginal counts of every clique of the tree.
        loss: half the sum of squared standardised residuals at the end of the fit.
        gap: upper bound on how far `loss`, with a prior's share, is above the least possible;
            None from mbi.
        engine: which engine fitted it.
        potentials: set of columns -> log potentials, whose sum is log P up to a constant.
        targets: Y, or several; their classes are spread evenly over the rows that are drawn.
    """

    sizes: Mapping[str, int]
    n: int
    tree: JunctionTree
    tables: tuple[NDArray[np.float64], ...] = field(repr=False)
    loss: float
    gap: float | None = None
    engine: EngineName = "fast"
    potentials: Mapping[Clique, NDArray[np.float64]] = field(default_factory=dict, repr=False)
    targets: Clique = ()

    @classmethod
    def of(cls, sizes: Mapping[str, int], n: int, made: EngineFit, targets: Clique = ()) -> Pgm:
        """The model that our own engine fitted."""
        return cls(
            sizes=sizes,
            n=n,
            tree=made.tree,
            tables=made.tables,
            loss=made.loss,
            gap=made.gap,
            engine="fast",
            potentials=made.potentials,
            targets=targets,
        )

    def marginal(self, clique: Sequence[str]) -> NDArray[np.float64]:
        """Expected counts over `clique`, in its order.

        Raises:
            PlanError: when no clique of the tree covers it and the way there is too large.
        """
        return marginal_of(self.tree, self.tables, self.sizes, self.n, clique)

    def marginals(self, cliques: Iterable[Clique]) -> dict[Clique, NDArray[np.float64]]:
        """Expected counts of many marginals; those are absent that need too large a table.

        More are there than `marginal` gives one by one.
        """
        wanted = tuple(dict.fromkeys(cliques))
        found = marginals_of(self.tree, self.tables, self.sizes, self.n, wanted)
        # One by one for what the joint walk left out: the way to a single marginal may be small
        # enough.
        for clique in wanted:
            if clique not in found:
                try:
                    found[clique] = self.marginal(clique)
                # Too large a table on the way, which sizes alone decide.
                except PlanError:
                    continue
        return found

    def sample(
        self, rows: int, rng: np.random.Generator, rule: SamplingRule = "rounded"
    ) -> NDArray[np.int32]:
        """Rows of codes in schema order."""
        return sample_tree(self.tree, self.tables, self.sizes, rows, rng, rule, self.targets)

    def markov_random_field(self) -> Any:  # noqa: ANN401  (mbi ships no types)
        """The same model as an `mbi.MarkovRandomField`, for mbi's own tools."""
        return as_markov_random_field(
            self.sizes, self.n, self.tree.cliques, self.tables, self.potentials
        )


def fit_pgm(
    sizes: Mapping[str, int],
    target: str | Sequence[str],
    n: int,
    measurements: Sequence[Measurement],
    *,
    iterations: int = 1_000,
    tolerance: float = TOLERANCE,
    start: Pgm | None = None,
    prior: Pgm | None = None,
    pull: float = 0.0,
    moves: Sequence[Clique] | None = None,
    engine: EngineName = "auto",
    progress: Callable[[float], None] = lambda _: None,
) -> Pgm:
    """Fit the graphical model; post-processing, spends nothing.

    Potentials start at zero and move only along measured marginals, so the model factorises
    over the measured cliques, whatever edges the triangulation adds.

    Args:
        sizes: codes per column, in schema order.
        target: Y, or several, eliminated last by the bounded triangulation.
        n: training rows; the model's total.
        measurements: noisy marginals.
        iterations: at most this many; both engines stop early when the loss no longer falls.
        tolerance: share of the loss that may be missing (our own engine).
        start: a model of fewer of these measurements, to begin at (our own engine).
        prior: a model of some of these measurements that the others move as little as they must:
            `pull` times the Kullback-Leibler divergence from it is added to what is minimised
            (our own engine).
        pull: so many people as the prior's word counts.
        moves: what the prior's measurements lack; None: the sets that it has no potentials of.
        engine: `auto` and `fast` are ours; `mbi` is the reference, asked for by name.
        progress: called with the share done; may raise to stop.

    Raises:
        PlanError: for an unknown engine, or nothing to fit to.
        PrivacyError: when a noisy marginal is not finite.
    """
    if engine not in ENGINES:
        raise PlanError(f"engine must be one of {', '.join(ENGINES)}.", field="engine")
    check_measurements(sizes, n, measurements)
    last = (target,) if isinstance(target, str) else tuple(target)
    # No size of clique was found where mbi is ahead. Seconds from a call in a new process, on two
    # cores, three noisy pairs on a clique of 8,000 / 64,000 / 262,144 / 1,000,000 cells: ours 1.1 /
    # 1.5 / 2.6 / 46, mbi 2.9 / 3.9 / 7.3 / 55, after 1,000 iterations, at a higher loss each time.
    if engine == "mbi":
        found = fit_mbi(sizes, last, n, measurements, iterations=iterations, progress=progress)
        return Pgm(
            sizes=sizes,
            n=n,
            tree=found.tree,
            tables=found.tables,
            loss=found.loss,
            engine="mbi",
            potentials=found.potentials,
            targets=last,
        )
    made = fit(
        sizes,
        n,
        measurements,
        last=last,
        iterations=iterations,
        tolerance=tolerance,
        # Potentials and not tables: those of a smaller tree fit a larger one, too.
        start=None if start is None else start.potentials,
        prior=None
        if prior is None
        else FitPrior(
            potentials=prior.potentials,
            weight=pull,
            moves=None if moves is None else frozenset(map(frozenset, moves)),
        ),
        progress=progress,
    )
    return Pgm.of(sizes, n, made, last)


def check_measurements(
    sizes: Mapping[str, int], n: int, measurements: Sequence[Measurement]
) -> None:
    """Refuse what cannot be fitted, before anything is computed.

    Raises:
        PlanError: when n is not above 0 or a marginal has another shape than the domain.
        PrivacyError: when a noisy marginal or its sigma is not finite.
    """
    if not n > 0:
        raise PlanError("n must be a whole number above 0.", field="n")
    for m in measurements:
        # `not > 0`, so that a NaN is refused, too.
        if not m.sigma > 0.0 or not np.isfinite(m.sigma) or not np.isfinite(m.values).all():
            raise PrivacyError(
                "A noisy marginal or its sigma is not finite; nothing was fitted.", field="values"
            )
        domain = tuple(sizes[name] for name in m.clique)
        known = m.values.shape if m.query is None else tuple(b.size for b in m.query.bases)
        if known != domain:
            raise PlanError("A noisy marginal has another shape than the domain.", field="values")


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
    # Not `cpu_count`: a container or a batch system may allow this process fewer.
    workers = len(os.sched_getaffinity(0)) if jobs is None else jobs
    # True is a whole number to Python.
    if isinstance(workers, bool) or not workers >= 1:
        raise PlanError("jobs must be a whole number above 0.", field="jobs")
    if not draws:
        return []
    # Sigmas too: they are part of the structure that all draws share.
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
        sizes,
        [m.clique for m in first],
        [m.sigma for m in first],
        last=(target,),
        queries=[m.query for m in first],
    )

    def one(draw: Sequence[Measurement]) -> Pgm:
        made = structure.fit(n, [m.values for m in draw], iterations=iterations)
        return Pgm.of(sizes, n, made, (target,))

    with ThreadPoolExecutor(max_workers=min(workers, len(draws))) as pool:
        return list(pool.map(one, draws))
