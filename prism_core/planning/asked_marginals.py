"""Marginals that a release will ask its rows for, as far as the plan tells. No row is read.

With the passes over a table that is not read into memory. No database is asked: which cells have to
be read at home depends on the types of its columns, so these figures are upper bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.data.engines.engine_table import count_scans
from prism_core.data.engines.stored_table import MOST_ROWS

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan
    from prism_core.planning.tree.junction_tree import Clique


@dataclass(frozen=True, kw_only=True)
class AskedMarginals:
    """What a release will ask for.

    Attributes:
        cliques: marginals that are measured, or looked at by a private choice; some may not be.
        complete: whether no other can be asked for. Not so where a choice decides what is measured
            of what it did not look at.
        rows: whether it asks for the rows themselves, too: a private regression does, and whoever
            finds bins.
    """

    cliques: tuple[Clique, ...]
    complete: bool
    rows: bool


def asked_marginals(plan: Plan) -> AskedMarginals:
    """The marginals that a release of this plan will ask for."""
    found = [query.clique for query in plan.queries]
    # Not strict: where nothing is chosen there are aims and no choices.
    for choice, aim in zip(plan.selections, plan.aims, strict=False):
        found += [(name, aim.target) for name in choice.candidates]
    if plan.interactions is not None:
        found += [(*names, plan.task.target) for names in plan.interactions.candidates]
    if plan.three_way is not None:
        adaptive = plan.three_way.rule == "adaptive"
        # Adaptive candidates are whole marginals; those of the other rules are pairs to which Y
        # comes.
        target = () if adaptive else (plan.task.target,)
        found += [(*clique, *target) for clique in plan.three_way.candidates]
    if plan.tree is not None:
        found += plan.tree.candidates
    # Features that are found to act together change which background pairs are looked at.
    moved = plan.interactions is not None and plan.tree is not None
    return AskedMarginals(
        cliques=tuple(dict.fromkeys(map(plan.schema.canonical, found))),
        complete=not plan.selections and not moved,
        rows=plan.coarsening is not None
        or any(choice.rule == "logistic" for choice in plan.selections),
    )


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
    many, large = most_passes(plan), plan.n > MOST_ROWS
    if large and asked_marginals(plan).rows:
        return (
            f"table: this plan needs the rows at home, and more than {MOST_ROWS:,} are not kept. "
            "Choose another selection, or declare the bins"
        )
    if many == 1:
        return "table: one pass, which brings its codes home"
    counts = f"table: at most {many} passes, if its database counts where the rows are"
    return counts if large else f"{counts}; else one"
