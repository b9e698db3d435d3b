"""Synthesizers of other packages, run by a Python of their own on public rows only.

They are not dependencies: each is used where a curator installed it, and named by an environment
variable. Nothing of them is vouched for; see `run_external`.
"""

from prism_core.experiments.comparators.external.methods import (
    EXTERNAL,
    External,
    ExternalName,
    about,
    external,
)
from prism_core.experiments.comparators.external.neighbours import (
    Converted,
    Part,
    Stated,
    converted,
)
from prism_core.experiments.comparators.external.process import python_of
from prism_core.experiments.comparators.external.run import (
    ExternalPlan,
    Foreign,
    design_external,
    run_external,
)

__all__ = [
    "EXTERNAL",
    "Converted",
    "External",
    "ExternalName",
    "ExternalPlan",
    "Foreign",
    "Part",
    "Stated",
    "about",
    "converted",
    "design_external",
    "external",
    "python_of",
    "run_external",
]
