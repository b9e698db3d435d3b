"""Passes over a table that is not read into memory: how many a release needs, from the plan alone.

No row is read, and no database asked: which cells have to be read at home depends on the types of
its columns, so the figures are upper bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.data.engines.engine_table import count_scans
from prism_core.data.engines.stored_table import MOST_ROWS
from prism_core.planning.asked_marginals import asked_marginals

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan


def most_passes(plan: Plan) -> int:
    """The most passes of a release over rows that stay in a file, a pattern or a database.

    One of the odd cells and one of the counts, or one that brings the codes home. In a table of
    more rows than can be kept, of which a choice decides what is measured: one more for each
    choice, and what follows it.
    """
    asked = asked_marginals(plan)
    scans = count_scans(plan.schema, asked.cliques)
    if plan.n > MOST_ROWS and not asked.rows:
        choices = len(plan.selections) + (plan.interactions is not None)
        return 1 + scans + (0 if asked.complete else 2 * choices)
    return 2 if asked.complete and not asked.rows and scans == 1 else 1


def passes_text(plan: Plan) -> str:
    """The same for people."""
    many = most_passes(plan)
    if many == 1:
        return "table: one pass, which brings its codes home"
    return f"table: at most {many} passes, if its database counts where the rows are; else one"
