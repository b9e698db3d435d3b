"""What an inspection found, in a sentence or two: the headline, and the words beside each figure.

The words say what the figure shows, so that nobody has to see it. Outside epsilon wherever the
result is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.evaluation.agreement import Agreement
    from prism_core.evaluation.calibration import CalibrationCurve
    from prism_core.evaluation.error_split import TaskError, TaskMarginal
    from prism_core.evaluation.pairs import JointShares, PairStatistics
    from prism_core.evaluation.prediction import Confusion, Prediction
    from prism_core.evaluation.preserved import NotMeasured
    from prism_core.evaluation.records import ColumnShape, MetricRow
    from prism_core.evaluation.subgroups import Subgroup


def leading(found: Prediction, regime: str = "") -> MetricRow:
    """The AUC or R^2 of the headline: from S alone where all else is left out on purpose.

    In the causal regime the synthetic rows say nothing on the target beyond S. What real rows
    reach with children and other columns is no ceiling that they were made for.
    """
    inner = _from_s(found)
    if regime == "causal" and inner is not None and inner.value is not None:
        return inner
    return found.row(found.score)


def _from_s(found: Prediction) -> MetricRow | None:
    return next((row for row in found.rows if row.name == f"{found.score}_from_s"), None)


def score_name(name: str) -> str:
    """A score as a reader knows it."""
    short = {
        "auc": "AUC", "auc_from_s": "AUC from S", "r2": "R²", "r2_from_s": "R² from S",
        "rmse": "RMSE", "level_error": "mean level error", "weighted_kappa": "weighted kappa",
    }  # fmt: skip
    return short.get(name, name.replace("_", " "))


def trust(found: Prediction, regime: str = "") -> str:
    """The headline: TSTR beside its ceiling and its floor.

    Args:
        found: one learner in full.
        regime: of the release; see `leading`.
    """
    row = leading(found, regime)
    score = "R²" if found.numeric else "AUC"
    if row.value is None:
        return f"There is no {score}. {row.note}"
    text = (
        f"{'From the protected features S alone, a' if row is _from_s(found) else 'A'} model "
        f"trained on the synthetic rows reaches an {score} of {row.value:z.3f} on real rows that "
        "took no part in making them"
    )
    if row.ceiling is None or row.floor is None:
        return f"{text}. {row.note}"
    guess = "always giving the mean" if found.numeric else "guessing"
    text += (
        f"; trained on the real rows it reaches {row.ceiling:z.3f}, and {guess} {row.floor:z.3f}."
    )
    room = row.ceiling - row.floor
    if room <= 0.02:
        return f"{text} There is next to nothing to learn from these columns, real or synthetic."
    kept = (row.value - row.floor) / room
    return f"{text} {_kept(kept)}"


def _kept(kept: float) -> str:
    if kept >= 1.0:
        return "The synthetic rows carry all that this model can learn from the real ones."
    if kept <= 0.0:
        return "The synthetic rows carry nothing that this model could learn from the real ones."
    return f"The synthetic rows carry {kept:.0%} of what this model can learn from the real ones."


def beside(found: Prediction, regime: str = "") -> str:
    """The comparison that the headline is not about, with the reason; "" where there is none."""
    inner, whole = _from_s(found), found.row(found.score)
    if inner is None or inner.value is None or inner.ceiling is None:
        return ""
    if leading(found, regime) is not inner:
        return (
            f"From the protected features S alone: {inner.value:z.3f} trained on synthetic rows, "
            f"{inner.ceiling:z.3f} trained on real rows. Columns outside S carry no extra "
            "information on the target in the synthetic rows."
        )
    if whole.value is None or whole.ceiling is None:
        return ""
    return (
        f"From all columns: {whole.value:z.3f} trained on synthetic rows, {whole.ceiling:z.3f} "
        "trained on real rows. That second number is no ceiling for this release: it uses effects "
        "of the target and other columns outside S, which the causal regime leaves out on purpose "
        "because what they say changes where the data come from elsewhere."
    )


def off_by(found: Prediction) -> str:
    """How far a prediction is off, in the target's own unit; "" where it is not known."""
    row = found.row("rmse")
    if row.value is None:
        return ""
    text = f"Its predictions of {found.target} are off by {amount(row.value)} (root mean square)"
    others = [
        f"{words} {amount(value)}"
        for words, value in (("trained on real rows", row.ceiling), ("by the mean", row.floor))
        if value is not None
    ]
    return f"{text}; {', '.join(others)}." if others else f"{text}."


def amount(value: float) -> str:
    """A number in the unit of a column, with four digits."""
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"


def predicted(found: Prediction) -> str:
    """Predicted against actual values in words."""
    if not found.predicted:
        return found.row("r2").note
    parts = [
        f"trained on {curve.trained_on} rows {amount(curve.predicted[0])} where it is "
        f"{amount(curve.actual[0])} and {amount(curve.predicted[-1])} where it is "
        f"{amount(curve.actual[-1])}"
        for curve in found.predicted
    ]
    return (
        f"Mean prediction in the lowest and in the highest bin of {found.target}: "
        f"{'; '.join(parts)}. Predictions lie closer to the mean than the values do; the nearer "
        "the two sides are to each other, the better the synthetic rows."
    )


def curves(found: Prediction) -> str:
    """The ROC figure in words."""
    if not found.roc:
        return found.row("auc").note
    parts = [
        f"{curve.auc:z.3f} for {curve.class_label} trained on {curve.trained_on} rows"
        for curve in found.roc
    ]
    return f"Area under the ROC curve: {'; '.join(parts)}; guessing gives 0.500."


def calibration(found: Sequence[CalibrationCurve]) -> str:
    """The calibration figure in words."""
    if not found:
        return "There are no scored rows, so there is no calibration."
    parts = [
        f"{curve.error:z.3f} trained on {curve.trained_on} rows ({_leaning(curve)})"
        for curve in found
    ]
    return f"Expected calibration error: {'; '.join(parts)}. 0 is best."


def _leaning(curve: CalibrationCurve) -> str:
    gap = float(
        np.average(np.array(curve.predicted) - np.array(curve.observed), weights=curve.rows)
    )
    if abs(gap) < 0.01:
        return "right on average"
    return f"on average {abs(gap):z.3f} too {'high' if gap > 0 else 'low'}"


def confusion(found: Confusion) -> str:
    """A confusion matrix in words."""
    counts = np.array(found.counts)
    rows = int(counts.sum())
    if not rows:
        return "There are no rows to classify."
    right = int(np.trace(counts))
    text = (
        f"Trained on {found.trained_on} rows: {right:,} of {rows:,} holdout rows are taken for "
        "what they are"
    )
    wrong = counts - np.diag(np.diag(counts))
    if not wrong.any():
        return f"{text}."
    true, taken = np.unravel_index(int(wrong.argmax()), wrong.shape)
    return (
        f"{text}; most often {found.labels[true]} is taken for {found.labels[taken]} "
        f"({int(wrong.max()):,} rows)."
    )


def agreement(found: Agreement) -> str:
    """What both models rely on, in words."""
    if found.rank_correlation is None:
        return found.note or "There is nothing to compare."
    same = "" if found.same_sign is None else f"; {found.same_sign:.0%} have the same sign"
    noun = "levels" if found.weights[0].term else "columns"
    return (
        f"Rank correlation of the {found.kind}s of {len(found.weights):,} {noun}: "
        f"{found.rank_correlation:.2f}{same}. 1 means that both models rely on the same things "
        f"in the same order. {found.note}"
    ).strip()


def error_split(errors: Sequence[TaskError]) -> str:
    """Where the error of the task marginals comes from, in words."""
    known = [error for error in errors if error.total is not None]
    if not known:
        return "There are no rows to compare on one of the sides."
    total = sum(error.total or 0.0 for error in known)
    noise = sum(error.from_noise for error in known)
    measured = [error for error in known if error.sigma is not None]
    beyond = [error for error in measured if error.beyond_noise]
    text = (
        f"Of the error of the pairs with the target, noise explains {noise / total:.0%} and "
        f"structure {1 - noise / total:.0%}."
        if total
        else "There is no error in the pairs with the target."
    )
    text += (
        f" {len(measured):,} of {len(known):,} pairs were measured; "
        f"{len(beyond):,} of these are farther off than noise alone would put them."
    )
    unmeasured = [error for error in known if error.sigma is None]
    if unmeasured:
        worst = ", ".join(f"{error.name} ({error.total:z.3f})" for error in unmeasured[:3])
        text += f" Farthest off among the others: {worst}."
    return text


def task_marginal(found: TaskMarginal, code: int) -> str:
    """One task marginal in words."""
    real, made = (np.array(side)[:, code] for side in (found.real, found.synthetic))
    worst = int(np.abs(real - made).argmax())
    text = (
        f"{found.target} = {found.classes[code]}: the largest gap is at {found.name} = "
        f"{found.levels[worst]}, {real[worst]:.2%} of real and {made[worst]:.2%} of synthetic rows."
    )
    if found.band is None:
        return f"{text} This pair was not measured, so there is no noise band."
    half = np.array(found.band)[:, code]
    outside = int((np.abs(real - made) > half).sum())
    return f"{text} {outside:,} of {len(real):,} levels lie outside the 95% noise band."


def associations(found: PairStatistics) -> str:
    """The heatmaps of Cramér's V in words."""
    if len(found.names) < 2:
        return "Choose at least two columns."
    rows, columns = np.triu_indices(len(found.names), k=1)
    gap = (found.synthetic - found.real)[rows, columns]
    place = int(np.abs(gap).argmax())
    a, b = rows[place], columns[place]
    return (
        f"Mean Cramér's V over {len(gap):,} pairs: {found.real[rows, columns].mean():z.3f} real, "
        f"{found.synthetic[rows, columns].mean():z.3f} synthetic. Farthest apart: "
        f"{found.names[a]} × {found.names[b]}, {found.real[a, b]:.2f} real and "
        f"{found.synthetic[a, b]:.2f} synthetic."
    )


def joint(found: JointShares) -> str:
    """The heatmaps of one pair in words."""
    gap = found.synthetic - found.real
    a, b = np.unravel_index(int(np.abs(gap).argmax()), gap.shape)
    return (
        f"Total variation distance {float(np.abs(gap).sum()) / 2:z.3f}. Largest gap at {found.a} = "
        f"{found.labels_a[a]}, {found.b} = {found.labels_b[b]}: {found.real[a, b]:.2%} of real and "
        f"{found.synthetic[a, b]:.2%} of synthetic rows."
    )


def column(found: ColumnShape) -> str:
    """One column's bars in words."""
    if found.l1 is None:
        return "There are no rows to compare on one of the sides."
    gap = np.array(found.synthetic) - np.array(found.real)
    worst = int(np.abs(gap).argmax())
    return (
        f"Distance (l1) {found.l1:z.3f}. Largest gap at {found.labels[worst]}: "
        f"{found.real[worst]:.2%} of real and {found.synthetic[worst]:.2%} of synthetic rows."
    )


def discriminator(row: MetricRow) -> str:
    """The discriminator test in words."""
    if row.value is None:
        return row.note
    verdict = (
        "it cannot tell them apart" if row.value < 0.55
        else "it tells them apart a little" if row.value < 0.75
        else "it tells them apart well"
    )  # fmt: skip
    ceiling = "" if row.ceiling is None else f" Real rows against real rows: {row.ceiling:z.3f}."
    return (
        f"A classifier that is shown both kinds of rows has an AUC of {row.value:z.3f}: {verdict}."
        f"{ceiling} {row.note} Being told apart is no privacy leak: it says that relations are "
        "missing which this release does not promise."
    )


def subgroups(groups: Sequence[Subgroup], column: str, *, numeric: bool = False) -> str:
    """The subgroup figure in words; `numeric` says that the scores are RMSEs."""
    known = [group for group in groups if group.synthetic is not None]
    hidden = sum(group.rows is None for group in groups)
    tail = f" {hidden:,} small groups are suppressed." if hidden else ""
    if not known:
        return f"No level of {column} can be scored.{tail}"
    low = min(known, key=lambda group: group.synthetic or 0.0)
    high = max(known, key=lambda group: group.synthetic or 0.0)
    first, last = (
        amount(group.synthetic or 0.0) if numeric else f"{group.synthetic:z.3f}"
        for group in (low, high)
    )
    return (
        f"By {column}, the {'RMSE' if numeric else 'AUC'} of the model trained on synthetic rows "
        f"goes from {first} ({low.label}) to {last} ({high.label}).{tail}"
    )


def not_preserved(found: NotMeasured) -> str:
    """What the plan alone says, in words."""
    apart = f"; {found.untied:,} of them come out independent: nothing ties their columns together"
    text = (
        f"{found.pairs:,} of {found.all_pairs:,} pairs of columns were not measured"
        f"{apart if found.untied else ''}. "
        f"{found.triples:,} of {found.all_triples:,} 3-way marginals with the target were not "
        "measured."
    )
    if found.without_target:
        shown = ", ".join(found.without_target[:8])
        more = len(found.without_target) - 8
        text += f" Not measured with the target: {shown}" + (
            f" and {more:,} more." if more > 0 else "."
        )
    return text
