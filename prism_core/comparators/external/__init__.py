"""Synthesizers of other packages, run by a Python of their own on public rows only.

They are not dependencies: each is used where a curator installed it, and named by an environment
variable. Nothing of them is vouched for; see `run_external`.
"""

from prism_core.comparators.external.external_run import (
    ExternalPlan,
    ExternalResult,
    design_external,
    run_external,
)
from prism_core.comparators.external.interpreter import python_of
from prism_core.comparators.external.neighbours import Converted, GuaranteePart, Stated, converted
from prism_core.comparators.external.packages import (
    EXTERNAL,
    External,
    ExternalName,
    about,
    external,
)

__all__ = [
    "EXTERNAL",
    "Converted",
    "External",
    "ExternalName",
    "ExternalPlan",
    "ExternalResult",
    "GuaranteePart",
    "Stated",
    "about",
    "converted",
    "design_external",
    "external",
    "python_of",
    "run_external",
]
