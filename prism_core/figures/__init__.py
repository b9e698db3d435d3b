"""Figures of results. Plotly is imported when a figure is drawn, not before.

Backgrounds are transparent: figures stand on light and on dark pages.
"""

from prism_core.figures.bounds import bounds_figure, erm_figure
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
from prism_core.figures.rehearsal import lowest, rehearsal_figure, rehearsal_text
from prism_core.figures.roc import roc_figure
from prism_core.figures.theme import PALETTE, safe
from prism_core.figures.trade_off import odds_figure, trade_off_figure

__all__ = [
    "METRIC_TITLES",
    "PALETTE",
    "BudgetLine",
    "BudgetRow",
    "ErrorPoint",
    "bounds_figure",
    "budget_figure",
    "column_figure",
    "erm_figure",
    "error_curve_figure",
    "error_figure",
    "lowest",
    "metric_figure",
    "odds_figure",
    "pair_heatmap",
    "pool_style",
    "rehearsal_figure",
    "rehearsal_text",
    "roc_figure",
    "safe",
    "task_tv_figure",
    "trade_off_figure",
]
