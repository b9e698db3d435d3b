"""The paper's tables and figures made anew, and the same methods as this product runs them.

Every function of an experiment yields outcomes as they come; `rows` makes lines of a table of them.
All tables are generated or public: nothing is charged, and no release can be made from here.
"""

from prism_core.reproduction.benchmarks import Benchmark, Case, benchmark
from prism_core.reproduction.experiments import (
    SEEDS,
    adult,
    allocation_wins,
    bayes_network,
    run,
    scm_marginal,
    scm_spurious,
    wanted,
)
from prism_core.reproduction.networks import NETWORKS, network_benchmark
from prism_core.reproduction.outcomes import ResultRow, RunOutcome, Scored, Summary, rows
from prism_core.reproduction.paper_methods import METHODS, SETTINGS, Method, Setting
from prism_core.reproduction.results import Results, Stored, load_results, packaged, this_command
from prism_core.reproduction.stories import STORIES, Story, story
from prism_core.reproduction.verdicts import GOALS, Duel, Goal, Verdict, duels, verdicts

__all__ = [
    "GOALS",
    "METHODS",
    "NETWORKS",
    "SEEDS",
    "SETTINGS",
    "STORIES",
    "Benchmark",
    "Case",
    "Duel",
    "Goal",
    "Method",
    "ResultRow",
    "Results",
    "RunOutcome",
    "Scored",
    "Setting",
    "Stored",
    "Story",
    "Summary",
    "Verdict",
    "adult",
    "allocation_wins",
    "bayes_network",
    "benchmark",
    "duels",
    "load_results",
    "network_benchmark",
    "packaged",
    "rows",
    "run",
    "scm_marginal",
    "scm_spurious",
    "story",
    "this_command",
    "verdicts",
    "wanted",
]
