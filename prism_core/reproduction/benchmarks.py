"""The paper's benchmarks as tables by seed. Every row is generated or public."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.encoding import EncodedTable, encode
from prism_core.data.tables.raw_table import from_frame
from prism_core.errors import ConfigError, PrivacyError
from prism_core.samples import readmission, readmission_stays, scm
from prism_core.structure.dag import Dag

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

    from prism_core.data.schema.schema import Schema

PAPER_EPSILONS = (0.2, 0.5, 1.0, 2.0, 4.0)
PAPER_ROWS = 5_000
"""Synthetic rows of every run of the paper."""

_TABLE = 2  # stream of a seed; noise is 0, sampling 1, the paid scores 3
_ROWS_OF_PERSONS = 4


@dataclass(frozen=True, kw_only=True)
class Case:
    """The tables of one seed.

    Attributes:
        train: what is measured.
        test: what is scored on.
        dag: the graph: true where the rows are generated.
    """

    train: EncodedTable = field(repr=False)
    test: EncodedTable = field(repr=False)
    dag: Dag

    def __post_init__(self) -> None:
        if not (self.train.public and self.test.public):
            raise PrivacyError("Experiments run on public rows only.", field="train")

    @property
    def schema(self) -> Schema:
        """The declared domain."""
        return self.train.schema


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """One experiment.

    Attributes:
        name: in rows and commands; a network's has a colon in it.
        title: a heading.
        target: Y.
        draw: the tables of a seed.
        methods: run unless others are asked for.
        sizes: numbers of synthetic rows; None: as many as training rows.
        epsilons: run unless others are asked for.
        settings: run unless others are asked for.
        weights: public importance of features, by name; pairs, so that processes can be sent it.
        k: features of the predictive regime, as in the paper.
        k_ours: the same in `ours`, all of them where there are no more; None: the budget
            decides, as a plan does by itself.
        top_k: features of the oracle by correlation.
    """

    name: str
    title: str
    target: str
    draw: Callable[[int], Case] = field(repr=False)
    methods: tuple[str, ...]
    sizes: tuple[int | None, ...] = (PAPER_ROWS,)
    epsilons: tuple[float, ...] = PAPER_EPSILONS
    settings: tuple[str, ...] = ("paper", "ours")
    weights: tuple[tuple[str, float], ...] = field(default=(), repr=False)
    k: int = 8
    k_ours: int | None = 8
    top_k: int = 2

    def features(self, setting: str, most: int) -> int | None:
        """How many the predictive regime asks for in a setting, of `most` there are."""
        wished = self.k_ours if setting == "ours" else self.k
        return None if wished is None else min(wished, most)


def _encoded(schema: Schema, frame: pd.DataFrame) -> EncodedTable:
    return encode(schema, from_frame(frame), public=True)


def _generated(
    seed: int,
    *,
    tables: Callable[[np.random.Generator], tuple[pd.DataFrame, pd.DataFrame]],
    schema: Callable[[], Schema],
    edges: Callable[[], tuple[tuple[str, str], ...]],
) -> Case:
    declared = schema()
    train, test = tables(np.random.default_rng([seed, _TABLE]))
    return Case(
        train=_encoded(declared, train),
        test=_encoded(declared, test),
        dag=Dag(nodes=declared.names, edges=edges()),
    )


_SCM_METHODS = (
    "causal-opt",
    "causal-unif",
    "graphical-opt",
    "graphical-unif",
    "all-features",
    "independence",
    "corr-top-k",
    "mst",
)


def scm_spurious_benchmark() -> Benchmark:
    """The paper's spurious shift: the children of Y say nothing in the test rows."""
    return Benchmark(
        name="scm-spurious",
        title="SCM, spurious shift",
        target=scm.TARGET,
        methods=_SCM_METHODS,
        draw=partial(
            _generated, tables=scm.spurious_tables, schema=scm.scm_schema, edges=scm.scm_edges
        ),
    )


def scm_marginal_benchmark() -> Benchmark:
    """The paper's marginal shift: the causes of Y are higher in the test rows."""
    return Benchmark(
        name="scm-marginal",
        title="SCM, marginal shift",
        target=scm.TARGET,
        methods=_SCM_METHODS,
        draw=partial(
            _generated, tables=scm.marginal_tables, schema=scm.scm_schema, edges=scm.scm_edges
        ),
    )


def allocation_wins_benchmark() -> Benchmark:
    """The paper's table of four strong and sixteen weak features, with its oracle weights."""
    return Benchmark(
        name="allocation-wins",
        title="Allocation wins",
        target=scm.TARGET,
        methods=("graphical-opt", "graphical-unif", "graphical-auto", "mst"),
        weights=tuple(scm.allocation_weights().items()),
        draw=partial(
            _generated,
            tables=scm.allocation_tables,
            schema=scm.allocation_schema,
            edges=scm.allocation_edges,
        ),
    )


def readmission_benchmark() -> Benchmark:
    """A hospital table of our own, not in the paper: 24 columns, of which many say little.

    In `ours` the predictive regime takes as many features as the budget carries, of all there are.
    """
    return Benchmark(
        name="readmission",
        title="Hospital readmission",
        target=readmission.TARGET,
        k_ours=None,
        methods=("predictive-opt", "all-features", "independence", "mst"),
        settings=("ours",),
        epsilons=(0.2,),
        draw=partial(
            _generated,
            tables=readmission.tables,
            schema=readmission.schema,
            edges=readmission.edges,
        ),
    )


def readmission_stays_benchmark() -> Benchmark:
    """A hospital table of our own whose patients come back, with up to three stays of each.

    Scored on every stay of other patients.
    """
    return Benchmark(
        name="readmission-stays",
        title="Hospital stays of patients who come back",
        target=readmission_stays.TARGET,
        methods=("graphical-opt", "graphical-one-row", "mst"),
        settings=("ours",),
        epsilons=(0.5, 1.0, 3.0),
        draw=_stays,
    )


def _stays(seed: int) -> Case:
    schema = readmission_stays.schema()
    train, test = readmission_stays.tables(np.random.default_rng([seed, _TABLE]))
    # A stream of its own: the same tables are drawn whichever rows of a person are kept.
    chosen = np.random.default_rng([seed, _ROWS_OF_PERSONS])
    # Without persons, so that no stay of a test patient is left out.
    every = replace(schema, person_id=None, persons=None, max_rows=1, one_row_per_person=True)
    return Case(
        train=encode(schema, from_frame(train), rng=chosen, public=True),
        test=_encoded(every, test),
        dag=Dag(nodes=schema.names, edges=readmission_stays.edges()),
    )


def adult_benchmark(path: str | Path | None = None) -> Benchmark:
    """Adult, prepared as in the paper; a split of its own for every seed.

    In `ours` the predictive regime takes all features: which of them matter is left to the rounds.

    Args:
        path: the integer-coded CSV; else PRISM_ADULT_CSV, else OpenML.
    """
    from prism_core.reproduction import adult_table

    return Benchmark(
        name="adult",
        title="Adult Income",
        target=adult_table.TARGET,
        top_k=8,
        # All columns but the target.
        k_ours=11,
        methods=(
            "predictive-opt",
            "predictive-unif",
            "all-features",
            "independence",
            "corr-top-k",
            "mst",
        ),
        sizes=(PAPER_ROWS, None),
        draw=partial(_adult, path=None if path is None else str(path)),
    )


def _adult(seed: int, *, path: str | None) -> Case:
    from prism_core.reproduction import adult_table

    data = adult_table.load(path, seed=seed)
    schema = adult_table.schema(data.train)
    edges = tuple((cause, name) for name, causes in adult_table.CAUSES.items() for cause in causes)
    return Case(
        train=encode(schema, data.train, public=True),
        test=encode(schema, data.test, public=True),
        dag=Dag(nodes=schema.names, edges=edges),
    )


def benchmark(name: str, adult: str | Path | None = None) -> Benchmark:
    """The generated or public table of that name: the paper's, or the gallery's own.

    Raises:
        ConfigError: when there is none.
    """
    made: dict[str, Callable[[], Benchmark]] = {
        "scm-spurious": scm_spurious_benchmark,
        "scm-marginal": scm_marginal_benchmark,
        "adult": partial(adult_benchmark, adult),
        "allocation-wins": allocation_wins_benchmark,
        "readmission": readmission_benchmark,
        "readmission-stays": readmission_stays_benchmark,
    }
    if name not in made:
        raise ConfigError(f"The benchmark must be one of {', '.join(made)}.", field="benchmark")
    return made[name]()
