"""Figures of results. Plotly is imported when a figure is drawn, not before.

Backgrounds are transparent: figures stand on light and on dark pages.
"""

from prism_core.figures.epsilon_curves import (
    legend_marks,
    lowest,
    paper_figures,
    rehearsal_figure,
    rehearsal_text,
)
from prism_core.figures.fidelity_panels import (
    association_figure,
    column_figure,
    error_split_figure,
    joint_figure,
    task_marginal_figure,
)
from prism_core.figures.found_parts import parts_figure, parts_words
from prism_core.figures.guarantees import bounds_figure, erm_figure, odds_figure, trade_off_figure
from prism_core.figures.learner_scores import (
    METRIC_TITLES,
    gaps_figure,
    learners_figure,
    subgroup_figure,
)
from prism_core.figures.predictions import (
    agreement_figure,
    calibration_figure,
    confusion_figure,
    curves_figure,
    predicted_figure,
)
from prism_core.figures.shares import (
    BudgetLine,
    BudgetRow,
    ErrorPoint,
    budget_figure,
    error_curve_figure,
    error_figure,
    pool_style,
)
from prism_core.figures.story_dots import story_dots
from prism_core.figures.theme import PALETTE, CaptionedFigure, safe

__all__ = [
    "METRIC_TITLES",
    "PALETTE",
    "BudgetLine",
    "BudgetRow",
    "CaptionedFigure",
    "ErrorPoint",
    "agreement_figure",
    "association_figure",
    "bounds_figure",
    "budget_figure",
    "calibration_figure",
    "column_figure",
    "confusion_figure",
    "curves_figure",
    "erm_figure",
    "error_curve_figure",
    "error_figure",
    "error_split_figure",
    "gaps_figure",
    "joint_figure",
    "learners_figure",
    "legend_marks",
    "lowest",
    "odds_figure",
    "paper_figures",
    "parts_figure",
    "parts_words",
    "pool_style",
    "predicted_figure",
    "rehearsal_figure",
    "rehearsal_text",
    "safe",
    "story_dots",
    "subgroup_figure",
    "task_marginal_figure",
    "trade_off_figure",
]
