"""Private numbers: a few headline scores of TSTR inside epsilon, for others than the curator.

Only the model that was trained on synthetic rows is scored (TSTR). A model trained on real rows
is itself private, so there is no private TRTR here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.evaluation.inside_epsilon.private_numeric import (
    numeric_model,
    numeric_numbers,
    numeric_queries,
)
from prism_core.evaluation.inside_epsilon.private_plan import BINS, FIRM, PrivateNumber, PrivatePlan
from prism_core.evaluation.inside_epsilon.released_tables import check_released_tables
from prism_core.evaluation.tstr.learners import LEARNER_LABELS, FittedLearner, fit
from prism_core.evaluation.tstr.scoring import macro_auc
from prism_core.privacy.ledger.charging import charging
from prism_core.privacy.ledger.rules import CHARGED_STEPS
from prism_core.privacy.mechanisms import check_noise_of_table, noisy_cells
from prism_core.privacy.noise import NoiseSource, SecureNoise

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prism_core.data.encoding import EncodedTable
    from prism_core.privacy.accountants.accountant import Spent
    from prism_core.privacy.ledger import Ledger

INSIDE_EPSILON = (
    "Computed from noisy counts of the holdout rows: differentially private, and covered by the "
    "charge that stands beside them."
)

WITHOUT_A_CHARGE = (
    "From noisy counts of the holdout rows, but covered by no charge: there was no ledger. "
    "Nothing bounds what these and other numbers of the same people say together."
)
KNOWN_NOISE = (
    "A rehearsal with known noise, for public rows only: these numbers are not private and no "
    "charge covers them. Do not pass them on as numbers of a private evaluation."
)

CLASS_MECHANISM = (
    "integer counts of the holdout rows by class and bin of the model's score, and of right and "
    "wrong predictions, with discrete Gaussian noise; l2 sensitivity sqrt(2) each"
)
NUMERIC_MECHANISM = (
    "sums of squared errors of the model and of the mean of the synthetic rows over the holdout "
    "rows, in whole steps of a declared largest value, with discrete Gaussian noise; the "
    "sensitivity is that largest value"
)

PRIVATE = CHARGED_STEPS["evaluation"].charged
"""The stamp of an evaluation that was charged to a ledger."""
REHEARSED = CHARGED_STEPS["evaluation"].rehearsed


@dataclass(frozen=True, kw_only=True)
class PrivateEvaluation:
    """What a private evaluation gives out; differentially private.

    Attributes:
        plan: its plan.
        numbers: the AUC (of each class, and their mean), then the accuracy; of a numeric target
            R^2 and RMSE.
        binning: AUC on the synthetic rows less the same from the binned scores: about what the
            bins take off the AUC; public. None without an AUC.
        spent: what it cost, stated at the plan's delta.
        charge: number of the ledger's charge, None where there was none.
        stamp: what kind of run it was.
    """

    plan: PrivatePlan = field(repr=False)
    numbers: tuple[PrivateNumber, ...]
    binning: float | None
    spent: Spent
    charge: int | None
    stamp: str

    @property
    def rehearsal(self) -> bool:
        """Whether the noise was known, so that nothing is private."""
        return self.stamp == REHEARSED

    @property
    def covered(self) -> bool:
        """Whether a charge of a ledger covers the numbers: no others go into a report."""
        return self.stamp == PRIVATE and self.charge is not None

    @property
    def notice(self) -> str:
        """What covers the numbers, in a sentence."""
        if self.rehearsal:
            return KNOWN_NOISE
        return INSIDE_EPSILON if self.covered else WITHOUT_A_CHARGE

    def find(self, name: str) -> PrivateNumber:
        """The headline number of that name: of several AUCs the mean over classes."""
        # The mean stands behind the single classes, and is called the same.
        return next(number for number in reversed(self.numbers) if number.name == name)

    def to_dict(self) -> dict[str, Any]:
        """The certificate's entry: numbers, mechanism, events and charge, as plain values."""
        return {
            "private_evaluation": self.stamp,
            "notice": self.notice,
            "learner": LEARNER_LABELS[self.plan.learner],
            "trained_on": "the synthetic rows of the release alone",
            "numbers": [number.to_dict() for number in self.numbers],
            "auc_lost_to_bins": self.binning,
            "mechanism": NUMERIC_MECHANISM if self.plan.numeric else CLASS_MECHANISM,
            "neighbours": "replace one person; the number of persons is public",
            "guarantee": None
            if self.rehearsal
            else {"epsilon": self.spent.epsilon, "delta": self.spent.delta, "rho": self.spent.rho},
            "charge": self.charge,
            "plan_sha256": self.plan.hash,
            **({"warnings": list(self.plan.warnings)} if self.plan.warnings else {}),
            "plan": self.plan.to_dict(),
        }


def evaluate_private(
    plan: PrivatePlan,
    synthetic: EncodedTable,
    holdout: EncodedTable,
    *,
    ledger: Ledger | None,
    asset: str = "",
    why: str = "",
    noise: NoiseSource | None = None,
    keep: Callable[[PrivateEvaluation], None] = lambda _: None,
) -> PrivateEvaluation:
    """Score the synthetic-trained model on the holdout by noisy counts.

    Spends: `plan.spent`, charged to the asset of the training rows: the holdout has the same
    people's data and shares their lifetime budget. With a ledger the charge is written and synced
    before the first mechanism; it stands whatever happens later, unless no mechanism ran.

    Args:
        plan: from `design_private`.
        synthetic: the released rows; the model and the bins come from them alone, before the
            charge.
        holdout: the real rows that took no part in the release, one a person.
        ledger: the workspace's ledger. None has to be written out and is stamped on the result.
        asset: the data asset's name in the ledger.
        why: purpose, for the ledger.
        noise: secure by default. A seeded source is for public tables only and makes the run a
            rehearsal, which is not charged.
        keep: told what was paid for while the charge is open: it must outlive a ledger that does
            not answer when it is closed.

    Raises:
        PlanError: when the tables do not fit the plan.
        PrivacyError: for seeded noise on private rows, or a model that would be trained on rows
            that are not a release's.
        EvaluationError: when the synthetic rows show one class only.
        OverspentError: when the asset's lifetime budget is too small; nothing was read.
    """
    source = noise or SecureNoise()
    _check(plan, synthetic, holdout, source)
    # Before the charge: it needs synthetic rows alone, and what fails here has cost nothing.
    step = (_numeric_step if plan.numeric else _class_step)(plan, synthetic)
    with charging(
        "evaluation",
        plan.price,
        ledger,
        asset,
        public=holdout.public,
        noise=source,
        why=why or "private evaluation",
    ) as charge:
        queries = step.read(holdout)
        # Counts alone give nothing away. From here on noise is drawn, so the charge stands.
        charge.touch()
        noisy = [
            query(event, source, public=holdout.public)
            for query, event in zip(queries, plan.events, strict=True)
        ]
        found = PrivateEvaluation(
            plan=plan,
            numbers=step.numbers(noisy),
            binning=step.binning,
            spent=plan.spent,
            charge=charge.number,
            stamp=charge.stamp,
        )
        keep(found)
    return _unprotected(found) if found.rehearsal else found


@dataclass(frozen=True, kw_only=True)
class _NumberStep:
    """What is fixed by the synthetic rows before a holdout row is read.

    Attributes:
        read: for a holdout, a query an event of the plan: what adds its noise.
        numbers: what comes out of the noisy answers alone.
        binning: as in `PrivateEvaluation`.
    """

    read: Callable[[EncodedTable], Sequence[Callable[..., NDArray[np.int64]]]]
    numbers: Callable[[Sequence[NDArray[np.int64]]], tuple[PrivateNumber, ...]]
    binning: float | None = None


def _class_step(plan: PrivatePlan, synthetic: EncodedTable) -> _NumberStep:
    fitted = fit(plan.learner, synthetic, target=plan.target)
    edges = score_edges(plan, fitted, synthetic)
    return _NumberStep(
        read=lambda holdout: [
            partial(noisy_cells, codes, size)
            for codes, size in cell_codes(plan, fitted, holdout, edges)
        ],
        numbers=lambda noisy: _numbers(plan, noisy),
        binning=_binning(plan, fitted, synthetic, edges),
    )


def _numeric_step(plan: PrivatePlan, synthetic: EncodedTable) -> _NumberStep:
    model = numeric_model(plan, synthetic)
    return _NumberStep(
        read=lambda holdout: numeric_queries(plan, model, holdout),
        numbers=lambda noisy: numeric_numbers(plan, model, noisy),
    )


def _unprotected(found: PrivateEvaluation) -> PrivateEvaluation:
    """The same with every number marked outside epsilon: known noise can be subtracted."""
    return replace(
        found, numbers=tuple(replace(number, outside_epsilon=True) for number in found.numbers)
    )


def _check(
    plan: PrivatePlan, synthetic: EncodedTable, holdout: EncodedTable, noise: NoiseSource
) -> None:
    check_noise_of_table(holdout, noise)
    check_released_tables(plan.schema, plan.n, synthetic, holdout, "Make the plan for this table.")


def score_edges(
    plan: PrivatePlan, fitted: FittedLearner, synthetic: EncodedTable
) -> tuple[NDArray[np.float64], ...]:
    """Where the bins of every class's score are cut: quantiles among the synthetic rows.

    Fixed before a holdout row is read. Spends nothing: a release paid for these rows already.
    """
    proba = fitted.probabilities(synthetic)
    # Inner cuts only: the outer bins are open, so that no score of a holdout row falls outside.
    levels = np.arange(1, BINS) / BINS
    # Equal scores give equal quantiles, between which no row falls.
    return tuple(np.unique(np.quantile(proba[:, code], levels)) for code in plan.classes)


def cell_codes(
    plan: PrivatePlan,
    fitted: FittedLearner,
    holdout: EncodedTable,
    edges: Sequence[NDArray[np.float64]],
) -> list[tuple[NDArray[np.int64], int]]:
    """For every event of the plan the cell of each holdout row, and the number of cells.

    A histogram has `BINS` cells for rows of the class, `BINS` for the others, and one for rows
    whose target is missing or special; the accuracy has right, wrong and these.

    Proof that each table of counts has l2 sensitivity sqrt(2). The model and the edges are
    functions of the synthetic rows, which a release paid for: fixed here. A row's cell is a
    function of the row (its codes give its score, its score the bin, its target the side), of its
    place and of the number of rows, both public; no row is left out, so none changes another's
    place. Replacing one row therefore takes 1 from one cell and gives 1 to another, or changes
    nothing. The tables are composed: each has its own event.

    Reads private rows; spends nothing by itself and must not be shown or stored without noise.
    """
    proba = fitted.probabilities(holdout)
    y = holdout.column(plan.target)
    # Not by `missing_code`: special values have codes above the levels, too, and are no class.
    known = y < holdout.schema[plan.target].level_count
    found: list[tuple[NDArray[np.int64], int]] = []
    for code, cuts in zip(plan.classes, edges, strict=True):
        bins = np.searchsorted(cuts, proba[:, code], side="left")
        # Rows of the class come first, those of the others behind them: so `_auc` reads them.
        cells = np.where(known, bins + BINS * (y != code), 2 * BINS)
        found.append((cells.astype(np.int64), 2 * BINS + 1))
    # 0: right, 1: wrong, 2: the target is unknown, and there is nothing to be right about.
    right = np.where(known, (proba.argmax(axis=1) != y).astype(np.int64), 2)
    found.append((right, 3))
    return found


def binned_auc(inside: NDArray[Any], others: NDArray[Any]) -> float:
    """AUC of counts by ascending bin, ties counting half; both must have a sum above 0."""
    below = np.cumsum(others) - others / 2.0
    return float(inside @ below / (inside.sum() * others.sum()))


def _binning(
    plan: PrivatePlan,
    fitted: FittedLearner,
    synthetic: EncodedTable,
    edges: Sequence[NDArray[np.float64]],
) -> float | None:
    """What the bins take off the AUC, on the synthetic rows."""
    # The last of them holds hits and misses, and no scores.
    cells = cell_codes(plan, fitted, synthetic, edges)[:-1]
    y = synthetic.column(plan.target)
    known = y < synthetic.schema[plan.target].level_count
    # By the same rows as the binned one, so that the bins alone make the difference.
    whole = macro_auc(y[known], fitted.probabilities(synthetic)[known])
    areas: list[float] = []
    for codes, size in cells:
        counts = np.bincount(codes, minlength=size)
        inside, others = counts[:BINS], counts[BINS : 2 * BINS]
        # A class that the synthetic rows never show has no AUC to lose.
        if inside.sum() and others.sum():
            areas.append(binned_auc(inside, others))
    return whole - float(np.mean(areas)) if areas and whole is not None else None


def _numbers(plan: PrivatePlan, noisy: Sequence[NDArray[np.int64]]) -> tuple[PrivateNumber, ...]:
    """From the noisy counts alone."""
    labels = plan.schema[plan.target].labels()
    areas = [
        _auc(labels[code], counts, event.sigma)
        for code, counts, event in zip(plan.classes, noisy[:-1], plan.events[:-1], strict=True)
    ]
    numbers = [*areas]
    if len(areas) > 1:
        numbers.append(_mean(areas))
    return (*numbers, _accuracy(plan, noisy[-1], plan.events[-1].sigma))


def _auc(label: str, counts: NDArray[np.int64], sigma: float) -> PrivateNumber:
    """AUC and its noise: d AUC / d cell is (rank of the cell - AUC) / (rows of its class)."""
    inside, others = counts[:BINS].astype(float), counts[BINS : 2 * BINS].astype(float)
    rows = inside.sum(), others.sum()
    # sigma sqrt(BINS) is the noise of the sum of a class's cells.
    if not min(rows) > FIRM * sigma * math.sqrt(BINS):
        note = "Too few rows of this class beside the noise: spend more epsilon, or none."
        return PrivateNumber(name="auc", subject=label, value=None, deviation=None, note=note)
    area = binned_auc(inside, others)
    # Of every cell the share of the other class that lies on its good side.
    below = (np.cumsum(others) - others / 2.0) / rows[1]
    above = (rows[0] - np.cumsum(inside) + inside / 2.0) / rows[0]
    slopes = np.concatenate([(below - area) / rows[0], (above - area) / rows[1]])
    return PrivateNumber(
        name="auc",
        subject=label,
        # Noise may carry it outside. Cutting what is noisy already costs nothing.
        value=min(1.0, max(0.0, area)),
        deviation=sigma * float(np.sqrt((slopes**2).sum())),
    )


def _mean(areas: Sequence[PrivateNumber]) -> PrivateNumber:
    known = [area for area in areas if area.value is not None and area.deviation is not None]
    subject = "mean over classes"
    if not known:
        note = "No class has enough rows beside the noise."
        return PrivateNumber(name="auc", subject=subject, value=None, deviation=None, note=note)
    left_out = len(areas) - len(known)
    return PrivateNumber(
        name="auc",
        subject=subject,
        value=math.fsum(area.value or 0.0 for area in known) / len(known),
        # Each class has an event of its own: independent noise, whose variances add up.
        deviation=math.sqrt(math.fsum((a.deviation or 0.0) ** 2 for a in known)) / len(known),
        note=f"{left_out:,} classes are too small beside the noise." if left_out else "",
    )


def _accuracy(plan: PrivatePlan, counts: NDArray[np.int64], sigma: float) -> PrivateNumber:
    right, wrong = float(counts[0]), float(counts[1])
    rows = right + wrong
    # sigma sqrt(2) is the noise of the sum of the two cells.
    if not rows > FIRM * sigma * math.sqrt(2.0):
        note = "Too few rows beside the noise: spend more epsilon, or none."
        return PrivateNumber(
            name="accuracy", subject=plan.target, value=None, deviation=None, note=note
        )
    share = right / rows
    return PrivateNumber(
        name="accuracy",
        subject=plan.target,
        value=min(1.0, max(0.0, share)),
        # To first order: the share moves by (1 - share) / rows with a hit, by -share / rows with a
        # miss.
        deviation=sigma * math.hypot(1.0 - share, share) / rows,
    )
