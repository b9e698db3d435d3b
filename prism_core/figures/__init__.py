"""Figures of results. Plotly is imported when a figure is drawn, not before.

Backgrounds are transparent: figures stand on light and on dark pages.
"""

from prism_core.figures.budget import (
    BudgetLine,
    BudgetRow,
    budget_figure,
    error_figure,
    pool_style,
)
from prism_core.figures.columns import column_figure
from prism_core.figures.error_curve import ErrorPoint, error_curve_figure
from prism_core.figures.heatmap import pair_heatmap, task_tv_figure
from prism_core.figures.metrics import METRIC_TITLES, metric_figure
from prism_core.figures.roc import roc_figure
from prism_core.figures.theme import PALETTE, safe

__all__ = [
    "METRIC_TITLES",
    "PALETTE",
    "BudgetLine",
    "BudgetRow",
    "ErrorPoint",
    "budget_figure",
    "column_figure",
    "error_curve_figure",
    "error_figure",
    "metric_figure",
    "pair_heatmap",
    "pool_style",
    "roc_figure",
    "safe",
    "task_tv_figure",
]
