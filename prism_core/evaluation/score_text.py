"""Text of scores and their intervals, as a reader knows them: in text, tables and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prism_core.evaluation.results import FROM_S
from prism_core.text.numbers import score_text as three
from prism_core.text.numbers import whole_percent as percent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from prism_core.evaluation.tstr.intervals import Interval


def score_name(name: str) -> str:
    """A score as a reader knows it."""
    short = {
        "auc": "AUC",
        "r2": "R²",
        "rmse": "RMSE",
        "level_error": "mean level error",
        "weighted_kappa": "weighted kappa",
        "discriminator_auc": "AUC, synthetic or real",
    }
    own = name.removesuffix(FROM_S)
    return short.get(own, own.replace("_", " ")) + (" from S" if own != name else "")


def ends(interval: Interval | None, form: Callable[[float], str] = three) -> str:
    """The ends of an interval, as "0.731 to 0.867"; "" where there is none."""
    return "" if interval is None else f"{form(interval[0])} to {form(interval[1])}"


def scored(value: float, interval: Interval | None, form: Callable[[float], str] = three) -> str:
    """A score with its interval; a number that is the same on all rows, such as 0.500, has none."""
    if interval is None or interval[0] == interval[1]:
        return form(value)
    return f"{form(value)} (95% interval {ends(interval, form)})"


def amount(value: float) -> str:
    """A number in the unit of a column, with four digits."""
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"


def score_lines(metrics: Sequence[Mapping[str, Any]]) -> list[str]:
    """The rows of an evaluation as lines of text, which `prism evaluate` prints.

    A score without a number is followed by the reason, a headline score by the share of what can
    be learned; what else is noted of scores (why a ceiling is missing) stands at the end, once.
    Outside epsilon.

    Args:
        metrics: of `MetricRow.to_dict`.
    """
    lines = [
        "outside epsilon: these numbers read real rows without noise",
        "95% intervals are over the test rows; the fitted models are held fixed",
        "",
        f"{'score':24} {'learner':22} {'of':30} {'synthetic':>9} {'95% interval':18} "
        f"{'floor':>9} {'real rows':>9} 95% interval",
    ]
    for row in metrics:
        place = f"{row['name']:24} {row['learner'] or '':22} {row['subject'][:30]:30}"
        lines.append(
            f"{place} {_number(row['value'])} {_ends(row['interval']):18} "
            f"{_number(row['floor'])} {_number(row['ceiling'])} {_ends(row['ceiling_interval'])}"
        )
        if row["value"] is None:
            lines.append(f"  {row['note']}")
        elif row["kept"] is not None and row["kept_interval"] is not None:
            share = scored(row["kept"], row["kept_interval"], percent)
            lines.append(
                f"  The synthetic rows carry {share} of what this model can learn from the real "
                "ones."
            )
    # Each once: most scores have the same notes.
    notes = dict.fromkeys(row["note"] for row in metrics if row["value"] is not None)
    return [*lines, *(f"note: {note}" for note in notes if note)]


def _number(value: float | None) -> str:
    return f"{'-':>9}" if value is None else f"{value:z9.4f}"


def _ends(interval: Interval | None) -> str:
    return "-" if interval is None else ends(interval, lambda value: f"{value:z.4f}")
