"""Figures of results. Plotly is imported when a figure is drawn, not before.

Backgrounds are transparent: figures stand on light and on dark pages.
"""

from prism_core.figures.agreement import agreement_figure
from prism_core.figures.bounds import bounds_figure, erm_figure
from prism_core.figures.budget import (
    BudgetLine,
    BudgetRow,
    budget_figure,
    error_figure,
    pool_style,
)
from prism_core.figures.calibration import calibration_figure, confusion_figure
from prism_core.figures.columns import column_figure
from prism_core.figures.error_curve import ErrorPoint, error_curve_figure
from prism_core.figures.error_split import error_split_figure, task_marginal_figure
from prism_core.figures.heatmap import pair_heatmap, task_tv_figure
from prism_core.figures.metrics import METRIC_TITLES, learners_figure, metric_figure
from prism_core.figures.predicted import predicted_figure
from prism_core.figures.rehearsal import lowest, rehearsal_figure, rehearsal_text
from prism_core.figures.reproduced import Drawn, paper_figures, story_figure, story_low
from prism_core.figures.roc import curves_figure, roc_figure
from prism_core.figures.subgroups import subgroup_figure
from prism_core.figures.theme import PALETTE, safe
from prism_core.figures.trade_off import odds_figure, trade_off_figure
from prism_core.figures.triptych import association_figure, joint_figure

__all__ = [
    "METRIC_TITLES",
    "PALETTE",
    "BudgetLine",
    "BudgetRow",
    "Drawn",
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
    "joint_figure",
    "learners_figure",
    "lowest",
    "metric_figure",
    "odds_figure",
    "pair_heatmap",
    "paper_figures",
    "pool_style",
    "predicted_figure",
    "rehearsal_figure",
    "rehearsal_text",
    "roc_figure",
    "safe",
    "story_figure",
    "story_low",
    "subgroup_figure",
    "task_marginal_figure",
    "task_tv_figure",
    "trade_off_figure",
]
