"""The five stories that the gallery tells: a sentence, one number, stored results, a small run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from prism_core.data.tables.raw_table import from_frame
from prism_core.errors import ConfigError
from prism_core.planning.wishes.task import Regime, Synthesis, Task
from prism_core.reproduction.benchmarks import PAPER_ROWS, benchmark
from prism_core.reproduction.experiments import spread, wanted
from prism_core.reproduction.results import Results, Stored, stored
from prism_core.samples import catalogue, scm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prism_core.reproduction.benchmark_run import RunRequest
    from prism_core.reproduction.outcomes import ResultRow, RunOutcome
    from prism_core.samples.catalogue import Sample

Line: TypeAlias = tuple[str, str]
"""A method and its setting."""

_ALLOCATION_SEED = 2033

COIN = 50
"""Pairs of 100 that a toss of a coin ranks right."""


@dataclass(frozen=True, kw_only=True)
class Headline:
    """The one number of a story, beside the one it is told against.

    Attributes:
        ours, rival: AUC.
        ours_label, rival_label: the two methods in plain words.
        epsilon: of both.
    """

    ours: float
    rival: float
    ours_label: str
    rival_label: str
    epsilon: float

    @property
    def number(self) -> str:
        """Pairs ranked right, of 100."""
        return of_hundred(self.ours)

    @property
    def sentence(self) -> str:
        """What the number counts, and what it is to be held against."""
        return (
            "of 100 pairs, each of a person with the outcome and one without, are ranked right "
            f"by a model that learned from a table {self.ours_label}. A table "
            f"{self.rival_label}: {of_hundred(self.rival)}. A coin: {COIN}."
        )


def of_hundred(auc: float) -> str:
    """An AUC as pairs ranked right, of 100; never rounded up to all of them."""
    # Rounded it would be 100, which says that nobody is ever ranked wrong.
    return "over 99" if auc >= 0.995 else f"{100 * auc:.0f}"


@dataclass(frozen=True, kw_only=True)
class Story:
    """One experiment, of the paper or of our own, told to a committee.

    Attributes:
        name: of the benchmark.
        title: a heading.
        sentence: why it matters to a hospital.
        notes: for the speaker: what to say, what will be asked, what is not shown.
        regime: how S is found in the project.
        labels: what the figure compares, from top to bottom, and each in plain words. The first
            is the story's number.
        rival: the line that the number is held against.
        epsilon: of the number and the figure.
        slow: the lines that a small run leaves out, so that it takes seconds.
        live_seeds: of the small run.
    """

    name: str
    title: str
    sentence: str
    notes: tuple[str, ...] = field(repr=False)
    regime: Regime
    labels: dict[Line, str] = field(repr=False)
    rival: Line
    epsilon: float = 1.0
    slow: tuple[Line, ...] = field(default=(), repr=False)
    live_seeds: int = 2

    @property
    def lines(self) -> tuple[Line, ...]:
        """The methods and settings of the figure, from top to bottom."""
        return tuple(self.labels)

    @property
    def live(self) -> tuple[Line, ...]:
        """The lines that a small run makes."""
        return tuple(line for line in self.lines if line not in self.slow)

    def label(self, row: ResultRow) -> str:
        """A line of results in plain words."""
        return self.labels[row.method, row.setting].removeprefix("that ")

    def headline(self, rows: Sequence[ResultRow]) -> Headline | None:
        """The story's number from these rows; None where they lack one of its two lines."""
        known = {(row.method, row.setting): row for row in self.at_epsilon(rows)}
        first = self.lines[0]
        if first not in known or self.rival not in known:
            return None
        return Headline(
            ours=known[first].onehot.auc_mean,
            rival=known[self.rival].onehot.auc_mean,
            ours_label=self.labels[first],
            rival_label=self.labels[self.rival],
            epsilon=self.epsilon,
        )

    def at_epsilon(self, rows: Sequence[ResultRow]) -> tuple[ResultRow, ...]:
        """The rows of the figure, in its order."""
        return tuple(row for row in self.shown(rows) if row.epsilon == self.epsilon)

    def asked(self) -> tuple[RunRequest, ...]:
        """The runs of the small run: the first seeds of the long one, so the same numbers."""
        return tuple(
            one
            for one in wanted(
                benchmark(self.name),
                methods=[method for method, _ in self.live],
                settings=[setting for _, setting in self.live],
                epsilons=(self.epsilon,),
                seeds=self.live_seeds,
                sizes=(PAPER_ROWS,),
            )
            # `wanted` pairs every method with every setting; a story has some of these lines only.
            if (one.method.name, one.setting.name) in self.live
        )

    def run(self) -> Iterator[RunOutcome]:
        """The small run, in this process. Spends nothing: every row is generated."""
        return spread(self.asked(), 1)

    def shown(self, rows: Sequence[ResultRow]) -> tuple[ResultRow, ...]:
        """The rows that belong into the figure, in the order of `lines`."""
        return tuple(
            row
            for line in self.lines
            for row in sorted(rows, key=lambda row: row.epsilon)
            # By all that a line is of: a file of results holds other sizes and benchmarks, too.
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
        """The story's table, for a project."""
        return _SAMPLES[self.name]()

    def project(self, sample: Sample) -> tuple[Task, Synthesis]:
        """What a project begins with: the story's regime and weights, `PAPER_ROWS` rows."""
        bench = benchmark(self.name)
        k = bench.features("ours", len(sample.schema.names) - 1)
        task = Task(
            target=bench.target,
            regime=self.regime,
            weights=dict(bench.weights),
            # Elsewhere the graph decides how many.
            k=k if self.regime == "predictive" else None,
        )
        return task, Synthesis(rows=PAPER_ROWS)


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


_SAMPLES: dict[str, Callable[[], Sample]] = {
    "scm-spurious": lambda: catalogue.load("scm_spurious"),
    "scm-marginal": lambda: catalogue.load("scm_marginal"),
    "allocation-wins": _allocation,
    "readmission": lambda: catalogue.load("readmission"),
    "readmission-stays": lambda: catalogue.load("readmission_stays"),
}

_NO_TARGET = "that knows no target (MST)"

STORIES: tuple[Story, ...] = (
    Story(
        name="scm-spurious",
        title="When habits change",
        regime="causal",
        sentence="What follows an outcome changes with a hospital's routine: who is sent for which "
        "test, who is called afterwards. A table made for the causes still predicts next year.",
        notes=(
            "Say: the two causes work the same next year. The ten consequences were tied to this "
            "year's routine. The table for the causes leaves the consequences alone, so nothing "
            "that will change is learned from it.",
            "If asked “so why not keep everything?”: a model that learns from everything relies on "
            "the consequences, and next year they say nothing. Even the real rows fail there.",
            "Not shown: without a change of routine, the consequences predict well, and a table "
            "made for the causes gives that up.",
        ),
        labels={
            ("causal-opt", "ours"): "made for the causes",
            ("causal-opt", "paper"): "made for the causes, as first published",
            ("all-features", "ours"): "made for all columns",
            ("mst", "ours"): _NO_TARGET,
        },
        rival=("all-features", "ours"),
    ),
    Story(
        name="scm-marginal",
        title="When the next hospital treats other patients",
        regime="graphical",
        sentence="Patients are sicker there, but illness works as it does here. Consequences "
        "predict as well as causes do, so a table made for both serves that hospital better.",
        notes=(
            "Say: choose by what will change. In the first story the routine changed, here only "
            "the patients do.",
            "If asked about the table that knows no target: here it does as well, because ten "
            "copies of one outcome are easy to find. In the third story it does not.",
            "Not shown: no table protects against a change that nobody foresaw.",
        ),
        labels={
            ("graphical-opt", "ours"): "made for causes and consequences",
            ("graphical-opt", "paper"): "made for both, as first published",
            ("causal-opt", "ours"): "made for the causes alone",
            ("mst", "ours"): _NO_TARGET,
        },
        rival=("causal-opt", "ours"),
    ),
    Story(
        name="allocation-wins",
        title="When few signs matter",
        regime="graphical",
        epsilon=0.2,
        sentence="Four findings tell nearly everything and sixteen next to nothing, as in many "
        "diagnoses. A small privacy budget is enough when the four get more of it.",
        notes=(
            "Say: 400 patients and epsilon 0.2 are little. Where the budget goes decides how much "
            "of the four findings is left under the noise.",
            "If asked who decides which findings get more: it is rehearsed on rows that are made "
            "up, before the private ones are read. Known weights do no better here than an even "
            "split: their intervals overlap.",
            "The lines “as first published” use the accounting and the model of the first paper. "
            "Our own even split stands beside them, so that each step can be seen.",
        ),
        labels={
            ("graphical-auto", "ours"): "with a budget that was rehearsed",
            ("graphical-opt", "ours"): "with a budget by known weights",
            ("graphical-unif", "ours"): "with a budget spread evenly",
            ("graphical-opt", "paper"): "by known weights, as first published",
            ("graphical-unif", "paper"): "spread evenly, as first published",
            ("mst", "ours"): _NO_TARGET,
        },
        rival=("graphical-unif", "ours"),
        slow=(("graphical-auto", "ours"),),
    ),
    Story(
        name="readmission",
        title="When nobody knows the graph",
        regime="predictive",
        epsilon=0.2,
        sentence="For most tables nobody has drawn what causes what. Here 23 clinical columns are "
        "given, and what matters for readmission is chosen within the privacy budget itself.",
        notes=(
            "Say: the hollow mark is a model that learned from the real rows. The distance to it "
            "is the price of privacy.",
            "If asked about real patients: the table is generated, nobody is behind any row. Its "
            "risks follow published scores; the sizes of the effects are invented.",
            "Not shown: such a table keeps what goes along with readmission, whether it causes it "
            "or not. The first story says when that fails.",
        ),
        labels={
            ("predictive-opt", "ours"): "whose columns were chosen for the target",
            ("all-features", "ours"): "made for the target from all columns",
            ("mst", "ours"): _NO_TARGET,
        },
        rival=("mst", "ours"),
        slow=(("all-features", "ours"),),
    ),
    Story(
        name="readmission-stays",
        title="When patients come back",
        regime="graphical",
        sentence="Many patients come back. With one stay of each, more than half of the stays are "
        "thrown away. Here up to three stays of each patient are used, and what is protected is "
        "still the whole patient.",
        notes=(
            "Say: privacy counts people, not stays. The noise grows with the number of stays that "
            "may be used of one patient, so the number is chosen before anything is read.",
            "If asked what more stays bring: look at the second line, which is one stay of each "
            "patient. The gain is small, and it is there in every run.",
            "Not shown: later stays were made to differ from first ones in this table. Where they "
            "are alike, one stay of each patient may do as well. Synthetic stays are not linked "
            "into patients.",
        ),
        labels={
            ("graphical-opt", "ours"): "made from up to three stays of each patient",
            ("graphical-one-row", "ours"): "made from one stay of each patient",
            ("mst", "ours"): _NO_TARGET,
        },
        rival=("mst", "ours"),
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
