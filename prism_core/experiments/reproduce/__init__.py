"""The paper's tables and figures made anew, and the same methods as this product runs them.

Every function of an experiment yields outcomes as they come; `rows` makes lines of a table of them.
All tables are generated or public: nothing is charged, and no release can be made from here.
"""

from prism_core.experiments.reproduce.benchmark import Benchmark, Case, benchmark
from prism_core.experiments.reproduce.book import Book, here, load
from prism_core.experiments.reproduce.experiments import (
    SEEDS,
    adult,
    allocation_wins,
    bayes_network,
    run,
    scm_marginal,
    scm_spurious,
    wanted,
)
from prism_core.experiments.reproduce.methods import METHODS, Method
from prism_core.experiments.reproduce.networks import NETWORKS, network_benchmark
from prism_core.experiments.reproduce.outcomes import Outcome, Row, Scored, Summary, rows
from prism_core.experiments.reproduce.settings import SETTINGS, Setting
from prism_core.experiments.reproduce.stored import Stored, packaged
from prism_core.experiments.reproduce.stories import STORIES, Story, story
from prism_core.experiments.reproduce.targets import TARGETS, Duel, Target, Verdict, duels, verdicts

__all__ = [
    "METHODS",
    "NETWORKS",
    "SEEDS",
    "SETTINGS",
    "STORIES",
    "TARGETS",
    "Benchmark",
    "Book",
    "Case",
    "Duel",
    "Method",
    "Outcome",
    "Row",
    "Scored",
    "Setting",
    "Stored",
    "Story",
    "Summary",
    "Target",
    "Verdict",
    "adult",
    "allocation_wins",
    "bayes_network",
    "benchmark",
    "duels",
    "here",
    "load",
    "network_benchmark",
    "packaged",
    "rows",
    "run",
    "scm_marginal",
    "scm_spurious",
    "story",
    "verdicts",
    "wanted",
]
