"""Private-PGM by mbi: the maximum-entropy distribution nearest to the noisy marginals.

Minimises sum_q ||M_q(P) n - y_q||^2 / (2 sigma_q^2) over distributions (McKenna, Sheldon,
Miklau 2019). mbi and jax are imported here only, when a fit is asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.planning.junction_tree import JunctionTree, junction_tree, maximal_cliques
from prism_core.synthesis.sample import sample_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.planning.task import SamplingRule
    from prism_core.synthesis.measure import Measurement

_BLOCK = 50  # mbi calls back once per block of this many iterations


@dataclass(frozen=True, kw_only=True)
class Pgm:
    """A fitted graphical model.

    Attributes:
        sizes: codes per column, in schema order.
        n: training rows.
        tree: junction tree over the maximal cliques.
        tables: marginal counts of every clique of the tree.
        field_: the mbi MarkovRandomField, for marginals that no clique covers.
        loss: half the sum of squared standardised residuals at the end of the fit.
    """

    sizes: Mapping[str, int]
    n: int
    tree: JunctionTree
    tables: tuple[NDArray[np.float64], ...] = field(repr=False)
    field_: Any = field(repr=False)
    loss: float

    def marginal(self, clique: Sequence[str]) -> NDArray[np.float64]:
        """Expected counts over `clique`, in its order."""
        wanted = set(clique)
        for names, table in zip(self.tree.cliques, self.tables, strict=True):
            if wanted.issubset(names):
                drop = tuple(i for i, name in enumerate(names) if name not in wanted)
                kept = [name for name in names if name in wanted]
                return np.transpose(table.sum(axis=drop), [kept.index(name) for name in clique])
        return np.asarray(self.field_.project(tuple(clique)).values, dtype=np.float64)

    def sample(
        self, rows: int, rng: np.random.Generator, rule: SamplingRule = "rounded"
    ) -> NDArray[np.int32]:
        """Rows of codes in schema order."""
        return sample_tree(self.tree, self.tables, self.sizes, rows, rng, rule)


def fit_pgm(
    sizes: Mapping[str, int],
    target: str,
    n: int,
    measurements: Sequence[Measurement],
    *,
    iterations: int = 1_000,
    progress: Callable[[float], None] = lambda _: None,
) -> Pgm:
    """Fit the graphical model by mirror descent; post-processing, spends nothing.

    Potentials live on the maximal cliques of our own triangulation, start at zero and move
    only along measured marginals, so the model factorises over the measured cliques.

    Args:
        sizes: codes per column, in schema order.
        target: Y, eliminated last by the bounded triangulation.
        n: training rows; the model's total.
        measurements: noisy marginals.
        iterations: at most this many; stops early when the loss no longer falls.
        progress: called with the share of iterations done; may raise to stop.
    """
    mbi = load_mbi()
    cliques = maximal_cliques(sizes, [m.clique for m in measurements], last=(target,))
    domain = mbi.Domain(tuple(sizes), tuple(sizes.values()))
    observed = [
        mbi.LinearMeasurement(m.values.astype(np.float64).ravel(), m.clique, m.sigma)
        for m in measurements
    ]
    loss = mbi.MarginalLossFn(
        cliques, _squared_error, tuple(observed), _lipschitz(sizes, cliques, measurements)
    )
    done = 0

    def report(_: object) -> None:
        nonlocal done
        done += _BLOCK
        progress(min(1.0, done / iterations))

    fitted = mbi.estimation.MirrorDescent().estimate(
        domain, loss, known_total=float(n), iters=iterations, callback_fn=report, tol=1e-7
    )
    tree = junction_tree(cliques)
    tables = tuple(
        np.clip(np.asarray(fitted.marginals[clique].values, dtype=np.float64), 0.0, None)
        for clique in tree.cliques
    )
    return Pgm(
        sizes=sizes, n=n, tree=tree, tables=tables, field_=fitted,
        loss=float(loss(fitted.marginals)),
    )  # fmt: skip


def load_mbi() -> Any:  # noqa: ANN401  (mbi ships no types)
    """Mbi with 64-bit floats and without jax's compilation cache."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_enable_compilation_cache", False)
    import mbi

    return mbi


def _squared_error(marginals: Any, observed: Any) -> Any:  # noqa: ANN401  (jax tracers)
    total = 0.0
    for m in observed:
        residual = (marginals.project(m.clique).datavector() - m.noisy_measurement) / m.stddev
        total = total + 0.5 * (residual @ residual)
    return total


def _lipschitz(
    sizes: Mapping[str, int],
    cliques: Sequence[tuple[str, ...]],
    measurements: Sequence[Measurement],
) -> float:
    """Largest curvature of the loss over the clique that mbi projects each marginal from.

    The Hessian is block-diagonal over cliques; marginalising a clique C onto q has squared
    norm |C| / |q|, so a block is at most the sum of |C| / (|q| sigma^2) of its marginals.
    """
    cells = {clique: math.prod(sizes[name] for name in clique) for clique in cliques}
    blocks = dict.fromkeys(cliques, 0.0)
    for m in measurements:
        home = min(
            (clique for clique in cliques if set(m.clique) <= set(clique)), key=cells.__getitem__
        )
        blocks[home] += cells[home] / math.prod(m.values.shape) / m.sigma**2
    return max(blocks.values())
