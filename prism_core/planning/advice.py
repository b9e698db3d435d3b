"""A sentence where a plan's expected error is large, before anything is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.planning.scenario import figures
from prism_core.planning.words import error_text

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan

LARGE_ERROR = 1.0
"""Mean expected l1 error of the task marginals, over n, above which the curator is told.

The noise then comes to more than there are rows.
"""


def large_error(plan: Plan) -> str:
    """What a large task error means and what lowers it; "" where it is not large.

    It says what follows from the plan alone: how much noise is drawn. How much of it fitting the
    model takes out again, and how much a prediction suffers, depends on rows not yet read.
    """
    error = figures(plan).mean_error
    if not error > LARGE_ERROR:
        return ""
    which = "" if plan.s_is_final else ", for the columns with most levels that may be chosen"
    return (
        f"The task error is large: added up over all that is measured of it, the noise in a "
        f"marginal with {plan.task.target_text} comes to {error_text(error)} of the number of rows "
        f"on average{which}. Relations may drown in it, weak ones first; what the synthetic rows "
        "still say about the target is not known before. It gets smaller with a larger epsilon, "
        "fewer features, fewer bins or levels, or more rows. A rehearsal on stand-in rows shows "
        "what may be left."
    )
