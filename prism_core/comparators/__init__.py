"""General-purpose private synthesizers behind one interface, on our own engine.

None of them knows the target. All run under the neighbours of a release (replace one person) and
the zCDP accountant, so a comparison at equal (epsilon, delta) is one at equal protection. As
published, MST and AIM take neighbours by adding or removing a person, with sqrt(2) less noise at
the same numbers.
"""

from prism_core.comparators import folder
from prism_core.comparators.comparator_plan import ComparatorPlan, design_comparator
from prism_core.comparators.comparator_run import ComparatorResult, run_comparator
from prism_core.comparators.methods import AS_PUBLISHED, COMPARATORS, NEIGHBOURS, Comparator

__all__ = [
    "AS_PUBLISHED",
    "COMPARATORS",
    "NEIGHBOURS",
    "Comparator",
    "ComparatorPlan",
    "ComparatorResult",
    "design_comparator",
    "folder",
    "run_comparator",
]
