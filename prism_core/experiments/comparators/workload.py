"""What AIM is asked to get right: all marginals of a degree, and what counts how much."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prism_core.data.schema import Schema
    from prism_core.planning.junction_tree import Clique


def weighted_closure(schema: Schema, degree: int, max_cells: int) -> dict[Clique, float]:
    """AIM's candidates with their weights; a fact of the declared domain, no row is looked at.

    The workload W is all marginals of `degree` columns and at most `max_cells` cells; candidates
    are its downward closure, and w_r = sum over s in W of |r intersect s|. Every column is a
    candidate, also where no larger marginal with it is small enough.

    Source: AIM (arXiv 2201.12677), section 4.

    Args:
        schema: the declared domain.
        degree: columns of a marginal of the workload.
        max_cells: larger marginals are left out.
    """
    names = schema.names
    asked = [
        clique for clique in itertools.combinations(names, min(degree, len(names)))
        if schema.cells(clique) <= max_cells
    ]  # fmt: skip
    # The sum counts, for every column of r, the marginals of W that hold it.
    held = Counter(name for clique in asked for name in clique)
    closed: dict[Clique, None] = {(name,): None for name in names}
    for clique in asked:
        for size in range(2, len(clique) + 1):
            closed |= dict.fromkeys(itertools.combinations(clique, size))
    return {r: float(max(1, sum(held[name] for name in r))) for r in closed}
