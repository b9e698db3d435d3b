"""What an inspection found, in a sentence or two: the headline, and the words beside each figure.

The words say what the figure shows, so that nobody has to see it. Outside epsilon wherever the
result is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prism_core.evaluation.score_text import amount, percent, scored, three

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.evaluation.fidelity.pair_statistics import JointShares, PairStatistics
    from prism_core.evaluation.fidelity.preserved import NotMeasured
    from prism_core.evaluation.fidelity.task_error import TaskMarginal, TaskMarginalError
    from prism_core.evaluation.results import ColumnShape, MetricRow
    from prism_core.evaluation.tstr.calibration_curve import CalibrationCurve
    from prism_core.evaluation.tstr.model_agreement import ModelAgreement
    from prism_core.evaluation.tstr.prediction import Confusion, Prediction
    from prism_core.evaluation.tstr.subgroup_scores import Subgroup


NO_CEILING = (
    "What real rows reach with all columns is no ceiling for this release: it uses effects of the "
    "target and other columns outside S, which the causal regime leaves out on purpose because "
    "what they say changes where the data come from elsewhere."
)


def s_first(regime: str) -> bool:
    """Whether scores from S alone are those to read first.

    In the causal regime the synthetic rows say nothing on the target beyond S. What real rows
    reach with children and other columns is no ceiling that they were made for.
    """
    return regime == "causal"


def trust(found: Prediction) -> str:
    """The headline of one model: how much of what it can learn the synthetic rows carry."""
    row = found.row(found.score)
    score = "R²" if found.numeric else "AUC"
    if row.value is None:
        return f"There is no {score}. {row.note}"
    start = f"From {found.learned_from}, a model trained on the synthetic rows"
    if row.ceiling is None or row.floor is None:
        return f"{start} reaches an {score} of {scored(row.value, row.interval)}. {row.note}"
    if row.kept is None or row.kept_interval is None:
        return f"{start} reaches an {score} of {scored(row.value, row.interval)}. {_no_share(row)}"
    share = scored(row.kept, row.kept_interval, percent)
    guess = "always giving the mean" if found.numeric else "guessing"
    return (
        f"From {found.learned_from}, the synthetic rows carry {share} of what a model learns from "
        f"the real ones: {score} {three(row.value)} against {three(row.ceiling)}; {guess} gives "
        f"{three(row.floor)}."
    )


def _no_share(row: MetricRow) -> str:
    """Why it cannot be said how much of what can be learned the synthetic rows carry."""
    if row.kept is None:
        return "There is next to nothing to learn from these columns, real or synthetic."
    return (
        "How much of what real rows teach the synthetic rows carry cannot be told from so few "
        "test rows."
    )


def difference(row: MetricRow) -> str:
    """Whether the test rows tell both sides apart; "" where it is not known."""
    if row.difference is None or row.difference_interval is None:
        return ""
    low, high = row.difference_interval
    alike = low <= 0.0 <= high
    return (
        f"The score trained on synthetic rows less that trained on real rows is "
        f"{scored(row.difference, row.difference_interval)}, on the same test rows. "
        + (
            "0 lies inside: the test rows do not tell the two apart."
            if alike
            else "0 lies outside: the test rows tell the two apart."
        )
    )


def beside(other: Prediction | None, regime: str = "") -> str:
    """The comparison that the headline is not about, with the reason; "" where there is none.

    Args:
        other: the same learner with the other columns: all of them, or S alone.
        regime: of the release.
    """
    row = None if other is None else other.row(other.score)
    if other is None or row is None or row.value is None or row.ceiling is None:
        return ""
    text = (
        f"From {other.learned_from}: {scored(row.value, row.interval)} trained on synthetic rows, "
        f"{scored(row.ceiling, row.ceiling_interval)} trained on real rows."
    )
    if other.s_alone:
        reason = "Columns outside S carry no extra information on the target in the synthetic rows."
        return f"{text} {reason}" + (f" {NO_CEILING}" if s_first(regime) else "")
    return f"{text} {NO_CEILING}" if s_first(regime) else text


def off_by(found: Prediction) -> str:
    """How far a prediction is off, in the target's own unit; "" where it is not known."""
    row = found.row("rmse")
    if row.value is None:
        return ""
    text = (
        f"Its predictions of {found.target} from {found.learned_from} are off by "
        f"{scored(row.value, row.interval, amount)} (root mean square)"
    )
    others = [
        f"{words} {scored(value, interval, amount)}"
        for words, value, interval in (
            ("trained on real rows", row.ceiling, row.ceiling_interval),
            ("by the mean", row.floor, row.floor_interval),
        )
        if value is not None
    ]
    return f"{text}; {', '.join(others)}." if others else f"{text}."


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
        f"{found.target} = {label}: "
        + ", ".join(
            f"{scored(curve.auc, curve.interval)} trained on {curve.trained_on} rows"
            for curve in found.roc
            if curve.class_label == label
        )
        for label in dict.fromkeys(curve.class_label for curve in found.roc)
    ]
    return (
        f"Area under the ROC curve, learned from {found.learned_from}. {'; '.join(parts)}. "
        "Guessing gives 0.500."
    )


def calibration(found: Sequence[CalibrationCurve], learned_from: str = "", note: str = "") -> str:
    """The calibration figure in words.

    Args:
        found: a curve a side.
        learned_from: the columns that both learned from, in words.
        note: says why there are none.
    """
    if not found:
        return note or "There are no scored rows, so there is no calibration."
    parts = [
        f"{scored(curve.error, curve.interval)} trained on {curve.trained_on} rows "
        f"({_leaning(curve)})"
        for curve in found
    ]
    learned = f", learned from {learned_from}" if learned_from else ""
    return f"Expected calibration error{learned}: {'; '.join(parts)}. 0 is best."


def _leaning(curve: CalibrationCurve) -> str:
    # By rows: a mean over people, and not over groups.
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
    # In rows and not as a share: a rare class would be named for a handful of people.
    true, taken = np.unravel_index(int(wrong.argmax()), wrong.shape)
    return (
        f"{text}; most often {found.labels[true]} is taken for {found.labels[taken]} "
        f"({int(wrong.max()):,} rows)."
    )


def agreement(found: ModelAgreement) -> str:
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


def error_split(errors: Sequence[TaskMarginalError]) -> str:
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
    # Nothing was paid for these, so their whole error is that of the structure.
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
    real, made = found.real, found.synthetic
    # What the rows do not tell from 0 is not called farthest apart.
    gap = np.where(found.alike, 0.0, made.v - real.v)[rows, columns]
    said = int((~real.within_chance[rows, columns]).sum())
    text = (
        f"Mean Cramér's V over {len(gap):,} pairs, without the bias of few rows: "
        f"{real.v[rows, columns].mean():z.3f} real, {made.v[rows, columns].mean():z.3f} synthetic. "
        f"{said:,} pairs of the real rows go together beyond chance (19 of 20 independent pairs "
        "stay below it)."
    )
    place = int(np.abs(gap).argmax())
    if not gap[place]:
        return f"{text} The rows tell no pair apart, real from synthetic."
    a, b = rows[place], columns[place]
    first, last = (
        scored(float(side.v[a, b]), (float(side.low[a, b]), float(side.high[a, b])))
        for side in (real, made)
    )
    return (
        f"{text} Farthest apart: {found.names[a]} × {found.names[b]}, {first} real and {last} "
        "synthetic."
    )


def joint(found: JointShares) -> str:
    """The heatmaps of one pair in words."""
    gap = found.synthetic - found.real
    a, b = np.unravel_index(int(np.abs(gap).argmax()), gap.shape)
    return (
        f"Total variation distance {float(np.abs(gap).sum()) / 2:z.3f}; two samples of one "
        f"population would be {found.by_chance:z.3f} apart by chance. Largest gap at {found.a} = "
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
        f"Distance (l1) {found.l1:z.3f}; two samples of one population would be "
        f"{found.by_chance or 0.0:z.3f} apart by chance. Largest gap at {found.labels[worst]}: "
        f"{found.real[worst]:.2%} of real and {found.synthetic[worst]:.2%} of synthetic rows."
    )


def discriminator(row: MetricRow) -> str:
    """The discriminator test in words."""
    if row.value is None:
        return row.note
    verdict = (
        "it cannot tell them apart"
        if row.value < 0.55
        else "it tells them apart a little"
        if row.value < 0.75
        else "it tells them apart well"
    )
    ceiling = (
        ""
        if row.ceiling is None
        else f" Real rows against real rows: {scored(row.ceiling, row.ceiling_interval)}."
    )
    return (
        f"A classifier that is shown both kinds of rows has an AUC of "
        f"{scored(row.value, row.interval)}: {verdict}."
        f"{ceiling} {row.note} Being told apart is no privacy leak: it says that relations are "
        "missing which this release does not promise."
    )


def subgroups(
    groups: Sequence[Subgroup], column: str, learned_from: str = "", *, numeric: bool = False
) -> str:
    """The subgroup figure in words; `numeric` says that the scores are RMSEs."""
    known = [group for group in groups if group.synthetic is not None]
    hidden = sum(group.rows is None for group in groups)
    few = sum(group.rows is not None and group.synthetic is None for group in groups)
    tail = f" {hidden:,} small groups are suppressed." if hidden else ""
    if few:
        have = "group has" if few == 1 else "groups have"
        tail += f" {few:,} {have} no number; the note says why."
    if not known:
        return f"No level of {column} can be scored.{tail}"
    low = min(known, key=lambda group: group.synthetic or 0.0)
    high = max(known, key=lambda group: group.synthetic or 0.0)
    first, last = (
        scored(group.synthetic or 0.0, group.synthetic_interval, amount if numeric else three)
        for group in (low, high)
    )
    learned = f", learned from {learned_from}," if learned_from else ""
    return (
        f"By {column}, the {'RMSE' if numeric else 'AUC'} of the model trained on synthetic rows"
        f"{learned} goes from {first} for {column} = {low.label} to {last} for {column} = "
        f"{high.label}.{tail}"
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
