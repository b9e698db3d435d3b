"""Figures of results. Plotly is imported when a figure is drawn, not before.

Backgrounds are transparent: figures stand on light and on dark pages.
"""

from prism_core.figures.bounds import bounds_figure, erm_figure
from prism_core.figures.budget import BudgetLine, BudgetRow, budget_figure, error_figure
from prism_core.figures.columns import column_figure
from prism_core.figures.heatmap import pair_heatmap, task_tv_figure
from prism_core.figures.metrics import METRIC_TITLES, metric_figure
from prism_core.figures.roc import roc_figure
from prism_core.figures.theme import PALETTE, safe
from prism_core.figures.trade_off import odds_figure, trade_off_figure

__all__ = [
    "METRIC_TITLES",
    "PALETTE",
    "BudgetLine",
    "BudgetRow",
    "bounds_figure",
    "budget_figure",
    "column_figure",
    "erm_figure",
    "error_figure",
    "metric_figure",
    "odds_figure",
    "pair_heatmap",
    "roc_figure",
    "safe",
    "task_tv_figure",
    "trade_off_figure",
]
