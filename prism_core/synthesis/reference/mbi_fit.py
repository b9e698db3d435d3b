"""Reference engine: Private-PGM by mbi's mirror descent.

mbi and jax are imported here only, when they are asked for. They compile a program for each new
graph, which takes seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.planning.tree.junction_tree import (
    Clique,
    JunctionTree,
    junction_tree,
    maximal_cliques,
)
from prism_core.synthesis.engine.answer_map import factors_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.data.linear_queries import LinearQuery
    from prism_core.synthesis.measure import Measurement

_BLOCK = 50  # mbi calls back once per block of this many iterations


@dataclass(frozen=True, kw_only=True)
class MbiFit:
    """What mbi found, as plain arrays.

    Attributes:
        tree: junction tree over the maximal cliques.
        tables: marginal counts of every clique of the tree.
        potentials: clique -> log potentials.
        loss: half the sum of squared standardised residuals.
    """

    tree: JunctionTree
    tables: tuple[NDArray[np.float64], ...] = field(repr=False)
    potentials: Mapping[Clique, NDArray[np.float64]] = field(repr=False)
    loss: float


def fit_mbi(
    sizes: Mapping[str, int],
    last: Sequence[str],
    n: int,
    measurements: Sequence[Measurement],
    *,
    iterations: int = 1_000,
    tolerance: float = 1e-7,
    progress: Callable[[float], None] = lambda _: None,
) -> MbiFit:
    """Fit the graphical model by mirror descent; post-processing, spends nothing.

    Potentials live on the maximal cliques of our own triangulation, start at zero and move
    only along measured marginals, so the model factorises over the measured cliques.

    Args:
        sizes: codes per column, in schema order.
        last: targets, eliminated last by the bounded triangulation.
        n: training rows; the model's total.
        measurements: noisy marginals.
        iterations: at most this many; stops early when the loss no longer falls.
        tolerance: relative fall of the loss in a block of iterations at which mbi stops.
        progress: called with the share of iterations done; may raise to stop.
    """
    mbi = load_mbi()
    cliques = maximal_cliques(sizes, [m.clique for m in measurements], last=last)
    domain = mbi.Domain(tuple(sizes), tuple(sizes.values()))
    observed = [_observed(mbi, m) for m in measurements]
    loss = mbi.MarginalLossFn(
        cliques, _squared_error, tuple(observed), _lipschitz(sizes, cliques, measurements)
    )
    done = 0

    def report(_: object) -> None:
        nonlocal done
        done += _BLOCK
        progress(min(1.0, done / iterations))

    # n is public. Without it mbi would estimate the total from the noisy tables.
    fitted = mbi.estimation.MirrorDescent().estimate(
        domain, loss, known_total=float(n), iters=iterations, callback_fn=report, tol=tolerance
    )
    tree = junction_tree(cliques)
    tables = tuple(
        np.clip(np.asarray(fitted.marginals[clique].values, dtype=np.float64), 0.0, None)
        for clique in tree.cliques
    )
    potentials = {
        clique: np.asarray(fitted.potentials[clique].values, dtype=np.float64) for clique in cliques
    }
    return MbiFit(
        tree=tree, tables=tables, potentials=potentials, loss=float(loss(fitted.marginals))
    )


def as_markov_random_field(
    sizes: Mapping[str, int],
    n: int,
    cliques: Sequence[Clique],
    tables: Sequence[NDArray[np.float64]],
    potentials: Mapping[Clique, NDArray[np.float64]],
) -> Any:  # noqa: ANN401  (mbi ships no types)
    """A fitted model as an `mbi.MarkovRandomField` over the maximal cliques.

    Args:
        sizes: codes per column, in schema order.
        n: the model's total.
        cliques: maximal cliques of the junction tree.
        tables: counts of every clique.
        potentials: set of columns -> log potentials; each goes to one clique that holds it.
    """
    mbi = load_mbi()
    domain = mbi.Domain(tuple(sizes), tuple(sizes.values()))
    factors = {clique: mbi.Factor.zeros(domain.project(clique)) for clique in cliques}
    for names, values in potentials.items():
        # Any clique that holds the set will do, as potentials of all cliques are added up.
        home = next(clique for clique in cliques if set(names) <= set(clique))
        part = mbi.Factor(domain.project(names), values)
        factors[home] = factors[home] + part.expand(domain.project(home))
    marginals = {
        clique: mbi.Factor(domain.project(clique), table)
        for clique, table in zip(cliques, tables, strict=True)
    }
    return mbi.MarkovRandomField(
        potentials=mbi.CliqueVector(domain, list(cliques), factors),
        marginals=mbi.CliqueVector(domain, list(cliques), marginals),
        total=float(n),
    )


def load_mbi() -> Any:  # noqa: ANN401  (mbi ships no types)
    """Mbi with 64-bit floats and without jax's compilation cache."""
    import jax

    # jax computes in 32 bits unless told otherwise before its first array, so mbi comes later.
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_enable_compilation_cache", False)
    import mbi

    return mbi


def _observed(mbi: Any, m: Measurement) -> Any:  # noqa: ANN401  (mbi ships no types)
    """A measurement as mbi's, in units of 1."""
    query = {} if m.query is None else {"query": _Query(m.query)}
    return mbi.LinearMeasurement(m.unit_values.ravel(), m.clique, m.unit_sigma, **query)


@dataclass(frozen=True)
class _Query:
    """A linear query as mbi's: a function of a factor; equal ones compile once."""

    query: LinearQuery

    def __call__(self, factor: Any) -> Any:  # noqa: ANN401  (jax tracers)
        import jax.numpy as jnp

        table = factor.values
        for axis, part in enumerate(factors_of(self.query)):
            table = jnp.moveaxis(jnp.tensordot(part, table, (1, axis)), 0, axis)
        return table.ravel()


def _squared_error(marginals: Any, observed: Any) -> Any:  # noqa: ANN401  (jax tracers)
    total = 0.0
    for m in observed:
        residual = (m.query(marginals.project(m.clique)) - m.noisy_measurement) / m.stddev
        total = total + 0.5 * (residual @ residual)
    return total


def _lipschitz(
    sizes: Mapping[str, int],
    cliques: Sequence[tuple[str, ...]],
    measurements: Sequence[Measurement],
) -> float:
    """Largest curvature of the loss over the clique that mbi projects each marginal from.

    The Hessian is block-diagonal over cliques; marginalising a clique C onto q has squared
    norm |C| / |q|, so a block is at most the sum of |C| / (|q| sigma^2) of its marginals; times the
    squared norm of Q for a linear query.
    """
    cells = {clique: math.prod(sizes[name] for name in clique) for clique in cliques}
    blocks = dict.fromkeys(cliques, 0.0)
    for m in measurements:
        # mbi projects a marginal from the smallest clique that holds it.
        home = min(
            (clique for clique in cliques if set(m.clique) <= set(clique)), key=cells.__getitem__
        )
        volume = math.prod(sizes[name] for name in m.clique)
        blocks[home] += cells[home] / volume * _norm(m) / m.unit_sigma**2
    return max(blocks.values())


def _norm(m: Measurement) -> float:
    """Squared spectral norm of what is measured of a marginal: that of a Kronecker product."""
    if m.query is None:
        return 1.0
    return math.prod(float(np.linalg.norm(part, 2)) ** 2 for part in factors_of(m.query))
