"""R^2 and RMSE of a numeric target inside epsilon, from two noisy sums of bounded squares."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from prism_core.evaluation.inside_epsilon.private_plan import FIRM, STEPS, PrivateNumber
from prism_core.evaluation.tstr.learners import labelled
from prism_core.evaluation.tstr.regressors import code_values, fit_numeric
from prism_core.evaluation.tstr.squared_loss import target_values
from prism_core.privacy.mechanisms import noisy_cells, noisy_sum

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prism_core.data.encoding import EncodedTable
    from prism_core.evaluation.inside_epsilon.private_plan import PrivatePlan
    from prism_core.evaluation.tstr.regressors import Regressor


@dataclass(frozen=True, kw_only=True)
class NumericModel:
    """What is fixed before a holdout row is read; all of it follows from released rows.

    Attributes:
        fitted: the regression, trained on the synthetic rows.
        mean: of the target among the synthetic rows: what R^2 compares with.
        largest: the largest squared error of the regression and of the mean that a row can have,
            by the declared bounds alone.
    """

    fitted: Regressor = field(repr=False)
    mean: float
    largest: tuple[float, float]


def numeric_model(plan: PrivatePlan, synthetic: EncodedTable) -> NumericModel:
    """Fit the regression. Spends nothing: a release paid for these rows already.

    Raises:
        EvaluationError: when no synthetic row has a known target.
    """
    fitted = fit_numeric(plan.learner, synthetic, target=plan.target)
    # Of the synthetic rows: the mean of the holdout would cost a part of epsilon.
    mean = float(target_values(labelled(synthetic, plan.target), plan.target).mean())
    # The farthest that a declared value can be from this mean.
    reach = max(mean - fitted.low, fitted.high - mean)
    return NumericModel(
        fitted=fitted, mean=mean, largest=((fitted.high - fitted.low) ** 2, reach**2)
    )


def row_steps(
    plan: PrivatePlan, model: NumericModel, holdout: EncodedTable
) -> list[NDArray[np.int64]]:
    """The two squared errors of every holdout row, in steps of 1/`STEPS` of the largest.

    Proof that each sum moves by at most `STEPS` when one row is replaced. The regression, the mean
    and `largest` are functions of the synthetic rows and the declaration: fixed here. Values of
    the target and predictions lie within its declared values, so a squared error is between 0 and
    `largest`, and a step between 0 and `STEPS` (it is clipped to that, too). A row's step is a
    function of that row; one whose target is missing or a special value counts 0 and is not left
    out. `noisy_sum` does the rest.

    Reads private rows; spends nothing by itself and must not be shown or stored without noise.
    """
    column = plan.schema[plan.target]
    codes = holdout.column(plan.target)
    known = codes < column.level_count
    y = code_values(column)[codes]
    errors = (model.fitted.predictions(holdout) - y, model.mean - y)
    found: list[NDArray[np.int64]] = []
    for error, largest in zip(errors, model.largest, strict=True):
        # Clipped last, so that the bound of the proof holds whatever floats lost before.
        steps = np.clip(np.rint(error**2 / largest * STEPS), 0, STEPS).astype(np.int64)
        found.append(np.where(known, steps, 0))
    return found


def numeric_queries(
    plan: PrivatePlan, model: NumericModel, holdout: EncodedTable
) -> list[Callable[..., NDArray[np.int64]]]:
    """One query an event: both sums, and where the target may be no number the rows that have it.

    Reads private rows; spends nothing until a query is given its event.
    """
    queries: list[Callable[..., NDArray[np.int64]]] = [
        partial(noisy_sum, steps, STEPS) for steps in row_steps(plan, model, holdout)
    ]
    column = plan.schema[plan.target]
    if column.valueless_codes:
        # The first cell holds the rows with a number: `numeric_numbers` takes it as their count.
        codes = (holdout.column(plan.target) >= column.level_count).astype(np.int64)
        queries.append(partial(noisy_cells, codes, 2))
    return queries


def numeric_numbers(
    plan: PrivatePlan, model: NumericModel, noisy: Sequence[NDArray[np.int64]]
) -> tuple[PrivateNumber, ...]:
    """R^2 and RMSE from the noisy sums alone, with the deviation of their noise (first order)."""
    sums = [
        float(answer[0]) * largest / STEPS
        for answer, largest in zip(noisy[:2], model.largest, strict=True)
    ]
    spread = [
        event.sigma * largest / STEPS
        for event, largest in zip(plan.events[:2], model.largest, strict=True)
    ]
    # Where every target is known the number of rows is public, and costs nothing.
    rows, blur = float(plan.n), 0.0
    if len(noisy) > 2:
        rows, blur = float(noisy[2][0]), plan.events[2].sigma
    return _r_squared(plan, sums, spread), _rmse(plan, model, sums[0], spread[0], rows, blur)


def _r_squared(plan: PrivatePlan, sums: Sequence[float], spread: Sequence[float]) -> PrivateNumber:
    """1 - a/b; its noise is that of a over b, and a/b times that of b over b."""
    if not sums[1] > FIRM * spread[1]:
        return _too_noisy(plan, "r2")
    lost = sums[0] / sums[1]
    return PrivateNumber(
        name="r2",
        subject=plan.target,
        # Not cut at 0: a model may do worse than the mean.
        value=min(1.0, 1.0 - lost),
        deviation=math.hypot(spread[0], lost * spread[1]) / sums[1],
        limits=(-math.inf, 1.0),
        note="Against the mean of the synthetic rows, which has an R² of 0.",
    )


def _rmse(
    plan: PrivatePlan, model: NumericModel, total: float, spread: float, rows: float, blur: float
) -> PrivateNumber:
    """sqrt(a/n); its noise is that of a/n over twice the root."""
    if not (total > FIRM * spread and rows > FIRM * blur):
        return _too_noisy(plan, "rmse")
    mean = total / rows
    largest = math.sqrt(model.largest[0])
    return PrivateNumber(
        name="rmse",
        subject=plan.target,
        # Noise may carry it beyond what a declared value can be off by.
        value=min(largest, math.sqrt(mean)),
        deviation=math.hypot(spread, mean * blur) / rows / (2.0 * math.sqrt(mean)),
        limits=(0.0, largest),
        note="In the unit of the column.",
    )


def _too_noisy(plan: PrivatePlan, name: str) -> PrivateNumber:
    return PrivateNumber(
        name=name,
        subject=plan.target,
        value=None,
        deviation=None,
        note="The noise is too large beside the sum: spend more epsilon, or none.",
    )
