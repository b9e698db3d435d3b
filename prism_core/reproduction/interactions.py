"""Causes that act together: what is left of them in synthetic rows, with a graph and without.

The learner is gradient boosting; a logistic regression on single columns cannot learn a parity.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Regime, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.rehearsal.estimates import half_width
from prism_core.reproduction.benchmark_run import reached
from prism_core.samples.scm import TARGET, bernoulli
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import release

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

ROWS = 10_000  # of the training and of the test table alike
COLUMNS = 10
FLIPPED = 0.05
DOSE_CAUSES = ("dose", "weight", "age")
_LEVELS = 4
_HARM, _NO_HARM = 0.85, 0.10  # chance of harm outside the window and inside


def parity_causes(causes: int) -> tuple[str, ...]:
    """Names of the causes of a parity: the first columns."""
    return tuple(f"X{place}" for place in range(1, causes + 1))


def parity(rng: np.random.Generator, causes: int, rows: int = ROWS) -> EncodedTable:
    """Ten fair binary columns, and Y the parity of the first `causes`, 5% flipped.

    No marginal of Y with fewer than all causes tells anything of Y.
    """
    codes = bernoulli(rng, 0.5, rows * COLUMNS).reshape(rows, COLUMNS)
    # The parity of all causes is independent of any fewer of them, as the columns are fair coins.
    target = codes[:, :causes].sum(axis=1) % 2 ^ bernoulli(rng, FLIPPED, rows)
    columns = [
        Column(name=name, kind="categorical", levels=(0, 1)) for name in parity_causes(COLUMNS)
    ]
    return _table(columns, np.column_stack([codes, target]))


def dose_by_weight_by_age(rng: np.random.Generator, rows: int = ROWS) -> EncodedTable:
    """A drug that harms where the dose does not fit the weight; what fits is less for the old.

    Dose and weight have four levels; the dose fits where it is at the level of the weight, for
    those of the two upper levels of age one below. Five columns of three levels tell nothing.
    """
    # By `random` alone, whose stream numpy keeps stable.
    draw = rng.random((rows, 8))
    dose, weight, age = (np.floor(draw[:, place] * _LEVELS).astype(int) for place in range(3))
    other = np.floor(draw[:, 3:] * 3).astype(int)
    fitting = np.where(age >= _LEVELS // 2, np.maximum(weight - 1, 0), weight)
    harm = bernoulli(rng, np.where(dose == fitting, _NO_HARM, _HARM), rows)
    columns = [
        *(Column(name=name, kind="ordinal", levels=tuple(range(_LEVELS))) for name in DOSE_CAUSES),
        *(Column(name=f"other{i}", kind="categorical", levels=(0, 1, 2)) for i in range(1, 6)),
    ]
    return _table(columns, np.column_stack([dose, weight, age, other, harm]))


def _table(columns: list[Column], codes: NDArray[np.int64]) -> EncodedTable:
    target = Column(name=TARGET, kind="categorical", levels=(0, 1))
    schema = Schema(columns=(*columns, target), one_row_per_person=True)
    return EncodedTable(schema=schema, codes=codes.astype(np.int32), public=True)


LEARNER = "gradient_boosting"
REGIMES: tuple[Regime, ...] = ("causal", "predictive")


@dataclass(frozen=True, kw_only=True)
class InteractionTable:
    """One generated table.

    Attributes:
        name: in words.
        causes: of Y; the graph of the causal regime names them.
        draw: rows from a generator.
        quoted: AUC that the authors of Tab-PE report at epsilon 1 with 1,000 rows (ICML 2026); not
            run here. None where they report none.
    """

    name: str
    causes: tuple[str, ...]
    draw: Callable[[np.random.Generator], EncodedTable]
    quoted: float | None = None


TABLES: tuple[InteractionTable, ...] = (
    *(
        InteractionTable(
            name=f"parity of {k}",
            causes=parity_causes(k),
            draw=partial(parity, causes=k),
            quoted={3: 0.756, 4: 0.604}.get(k),
        )
        for k in (2, 3, 4, 5)
    ),
    InteractionTable(
        name="dose by weight by age",
        causes=DOSE_CAUSES,
        draw=dose_by_weight_by_age,
    ),
)


@dataclass(frozen=True, kw_only=True)
class InteractionLine:
    """AUC of one table, by seed.

    Attributes:
        table: which.
        real: of the learner on the real training rows.
        synthetic: on synthetic rows, by regime.
    """

    table: InteractionTable
    real: tuple[float, ...]
    synthetic: dict[str, tuple[float, ...]]

    def cells(self) -> tuple[str, ...]:
        """Of a table: name, real rows, each regime, the quoted number."""
        quoted = "-" if self.table.quoted is None else f"{self.table.quoted:.3f}"
        return (
            self.table.name,
            _mean(self.real),
            *(_mean(self.synthetic[regime]) for regime in REGIMES),
            quoted,
        )


def interactions(
    epsilon: float = 1.0, seeds: int = 3, tables: tuple[InteractionTable, ...] = TABLES
) -> Iterator[InteractionLine]:
    """One line a table. Spends nothing: every row is generated.

    Args:
        epsilon: of every run.
        seeds: how many; each draws training rows, noise and synthetic rows anew.
        tables: which.
    """
    for table in tables:
        # A seed that no run has, so that no test row is a training row.
        test = table.draw(np.random.default_rng([10_000, 2]))
        real: list[float] = []
        found: dict[str, list[float]] = {regime: [] for regime in REGIMES}
        for seed in range(seeds):
            # Stream 2 of a seed, as 0 and 1 are those of noise and rows.
            train = table.draw(np.random.default_rng([seed, 2]))
            real.append(_score(train, test))
            for regime in REGIMES:
                found[regime].append(_score(_synthetic(table, train, regime, epsilon, seed), test))
        yield InteractionLine(
            table=table,
            real=tuple(real),
            synthetic={regime: tuple(aucs) for regime, aucs in found.items()},
        )


def _synthetic(
    table: InteractionTable, train: EncodedTable, regime: Regime, epsilon: float, seed: int
) -> EncodedTable:
    edges = tuple((cause, TARGET) for cause in table.causes)
    dag = Dag(nodes=train.schema.names, edges=edges) if regime == "causal" else None
    task, budget = Task(target=TARGET, regime=regime), Budget(epsilon=epsilon)
    plan = design(Brief(train.schema, task, budget, train.n, dag=dag))
    noise, rows = (np.random.default_rng([seed, part]) for part in (0, 1))
    made = release(plan, train, ledger=None, noise=SeededNoise(noise), rng=rows)
    return EncodedTable(schema=train.schema, codes=made.codes, public=True)


def _score(train: EncodedTable, test: EncodedTable) -> float:
    return reached(LEARNER, train, test, TARGET, None)[0]


def _mean(aucs: tuple[float, ...]) -> str:
    half = half_width(list(aucs))
    return f"{np.mean(aucs):.3f}" + ("" if half is None else f" ± {half:.3f}")
