"""The four stories that the gallery tells: a sentence, stored results, a small run, a project."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from prism_core.data.tables.raw_table import from_frame
from prism_core.errors import ConfigError, TableError
from prism_core.planning.wishes.task import Synthesis, Task
from prism_core.reproduction import adult_table
from prism_core.reproduction.benchmarks import PAPER_ROWS, benchmark
from prism_core.reproduction.experiments import spread, wanted
from prism_core.reproduction.results import Stored, stored
from prism_core.samples import catalogue, scm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prism_core.planning.wishes.task import Regime
    from prism_core.reproduction.benchmark_run import RunRequest
    from prism_core.reproduction.outcomes import ResultRow, RunOutcome
    from prism_core.reproduction.results import Results
    from prism_core.samples.catalogue import Sample

Line: TypeAlias = tuple[str, str]
"""A method and its setting."""

_ALLOCATION_SEED = 2033

_NO_ADULT = (
    "The census table is not shipped. Take `adult.csv` from the data folder of Private-PGM "
    f"(github.com/ryan112358/private-pgm), set {adult_table.PATH_VARIABLE} to its path and "
    "start the app again."
)


@dataclass(frozen=True, kw_only=True)
class Story:
    """One experiment of the paper, told to a committee.

    Attributes:
        name: of the benchmark.
        title: a heading.
        sentence: why it matters to a hospital.
        regime: how S is found in the project.
        lines: what the figure compares, in the order of its colours.
        live: the lines that a small run makes, so that it takes seconds.
        live_epsilons, live_seeds: of the small run.
        takes: how long it takes on two cores, in words.
    """

    name: str
    title: str
    sentence: str
    regime: Regime
    lines: tuple[Line, ...] = field(repr=False)
    live: tuple[Line, ...] = field(repr=False)
    live_epsilons: tuple[float, ...] = (0.2, 1.0)
    live_seeds: int = 2
    takes: str = "some seconds, most of them to load"

    @property
    def missing(self) -> str:
        """What it takes to run the story here, "" where nothing is missing."""
        if self.name != "adult" or Path(os.environ.get(adult_table.PATH_VARIABLE, "")).is_file():
            return ""
        return _NO_ADULT

    def asked(self) -> tuple[RunRequest, ...]:
        """The runs of the small run: the first seeds of the long one, so the same numbers.

        Raises:
            TableError: when the file is missing; nothing is fetched.
        """
        self._check()
        return tuple(
            one
            for one in wanted(
                benchmark(self.name),
                methods=[method for method, _ in self.live],
                settings=[setting for _, setting in self.live],
                epsilons=self.live_epsilons,
                seeds=self.live_seeds,
                sizes=(PAPER_ROWS,),
            )
            if (one.method.name, one.setting.name) in self.live
        )

    def run(self) -> Iterator[RunOutcome]:
        """The small run, in this process. Spends nothing: every row is public.

        Raises:
            TableError: when the file is missing; nothing is fetched.
        """
        return spread(self.asked(), 1)

    def shown(self, rows: Sequence[ResultRow]) -> tuple[ResultRow, ...]:
        """The rows that belong into the figure, in the order of `lines`."""
        return tuple(
            row
            for line in self.lines
            for row in sorted(rows, key=lambda row: row.epsilon)
            if (row.method, row.setting) == line
            and row.benchmark == self.name
            and row.rows == PAPER_ROWS
        )

    def stored(self, book: Results | None = None) -> Stored:
        """What the last complete run reached in this story, with the commands that made it.

        Args:
            book: instead of the file that comes with the package.

        Raises:
            EvaluationError: when the file is not usable.
        """
        return stored(self.name, book).only(self.shown)

    def sample(self) -> Sample:
        """The story's table, for a project.

        Raises:
            TableError: when the file is missing; nothing is fetched.
        """
        self._check()
        return _SAMPLES[self.name]()

    def project(self, sample: Sample) -> tuple[Task, Synthesis]:
        """What a project begins with: the story's regime and weights, `PAPER_ROWS` rows."""
        bench = benchmark(self.name)
        k = bench.features("ours", len(sample.schema.names) - 1)
        task = Task(
            target=bench.target,
            regime=self.regime,
            weights=dict(bench.weights),
            k=k if self.regime == "predictive" else None,
        )
        return task, Synthesis(rows=PAPER_ROWS)

    def _check(self) -> None:
        if self.missing:
            raise TableError(self.missing, field=adult_table.PATH_VARIABLE)


def _allocation() -> Sample:
    train, test = scm.allocation_tables(np.random.default_rng(_ALLOCATION_SEED))
    schema = scm.allocation_schema()
    return catalogue.Sample(
        name="allocation_wins",
        title="Benchmark: four strong signs among twenty",
        description=_BY_NAME["allocation-wins"].sentence,
        schema=schema,
        target=scm.TARGET,
        train=from_frame(train, catalogue.TRAIN_FILE),
        test=from_frame(test, catalogue.TEST_FILE),
        dag_json=catalogue.dag_text(schema.names, scm.allocation_edges()),
        config_toml=catalogue.config_text(
            target=scm.TARGET, regime="graphical", k=8, rows=PAPER_ROWS
        ),
    )


def _adult() -> Sample:
    data = adult_table.load(os.environ[adult_table.PATH_VARIABLE])
    return catalogue.Sample(
        name="adult",
        title="Adult Income",
        description=_BY_NAME["adult"].sentence,
        train=data.train,
        test=data.test,
        schema=adult_table.schema(data.train),
        target=adult_table.TARGET,
        dag_json=adult_table.dag_json(),
        config_toml=adult_table.config_toml(),
    )


_SAMPLES: dict[str, Callable[[], Sample]] = {
    "scm-spurious": lambda: catalogue.load("scm_spurious"),
    "scm-marginal": lambda: catalogue.load("scm_marginal"),
    "allocation-wins": _allocation,
    "adult": _adult,
}

STORIES: tuple[Story, ...] = (
    Story(
        name="scm-spurious",
        title="When habits change",
        regime="causal",
        sentence="What follows an outcome, such as who is sent for which test, changes when a "
        "hospital's routine does, so a table made for the causes still predicts next year, and one "
        "made for everything does not.",
        lines=(
            ("causal-opt", "ours"),
            ("causal-opt", "paper"),
            ("all-features", "ours"),
            ("mst", "ours"),
            ("aim", "ours"),
        ),
        live=(
            ("causal-opt", "ours"),
            ("causal-opt", "paper"),
            ("all-features", "ours"),
            ("mst", "ours"),
        ),
    ),
    Story(
        name="scm-marginal",
        title="When the next hospital treats other patients",
        regime="graphical",
        sentence="Where patients are sicker but illness works as it does here, consequences "
        "predict as well as causes do, so a table made for both serves the next hospital better "
        "than one made for the causes alone.",
        lines=(
            ("graphical-opt", "ours"),
            ("graphical-opt", "paper"),
            ("causal-opt", "ours"),
            ("mst", "ours"),
            ("aim", "ours"),
        ),
        live=(
            ("graphical-opt", "ours"),
            ("graphical-opt", "paper"),
            ("causal-opt", "ours"),
            ("mst", "ours"),
        ),
    ),
    Story(
        name="allocation-wins",
        title="When few signs matter",
        regime="graphical",
        sentence="Four findings tell nearly everything and sixteen next to nothing, as in many "
        "diagnoses, and giving the four more of a small privacy budget keeps them readable under "
        "the noise.",
        lines=(
            ("graphical-auto", "ours"),
            ("graphical-opt", "ours"),
            ("graphical-opt", "paper"),
            ("graphical-unif", "paper"),
            ("mst", "ours"),
            ("aim", "ours"),
        ),
        live=(
            ("graphical-opt", "ours"),
            ("graphical-opt", "paper"),
            ("graphical-unif", "paper"),
            ("mst", "ours"),
        ),
    ),
    Story(
        name="adult",
        title="When nobody knows the graph",
        regime="predictive",
        sentence="In most real tables, like this census of 48,842 people, no graph is known, so "
        "what matters for the prediction is itself chosen within the privacy budget, and is held "
        "against a model trained on the real rows.",
        lines=(
            ("predictive-opt", "ours"),
            ("predictive-opt", "paper"),
            ("all-features", "ours"),
            ("mst", "ours"),
            ("aim", "ours"),
        ),
        live=(("predictive-opt", "ours"), ("mst", "ours")),
        live_epsilons=(1.0,),
        live_seeds=1,
        takes="about half a minute",
    ),
)

_BY_NAME = {story.name: story for story in STORIES}


def story(name: str) -> Story:
    """The story of that name.

    Raises:
        ConfigError: when there is none.
    """
    if name not in _BY_NAME:
        raise ConfigError(f"The story must be one of {', '.join(_BY_NAME)}.", field="story")
    return _BY_NAME[name]
