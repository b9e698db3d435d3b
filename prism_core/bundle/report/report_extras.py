"""What a copy of the report may say beyond its bundle: names, a date, rehearsals, numbers.

The report in a bundle follows from plan, facts and scenarios alone, so that `prism verify` can
write it again and compare. Everything here goes into a copy that the curator makes.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from prism_core.bundle.paper_values import headline
from prism_core.errors import BundleError
from prism_core.evaluation.inside_epsilon.private_numbers import INSIDE_EPSILON, PRIVATE, REHEARSED
from prism_core.evaluation.results import FROM_S, INTERVALS, OUTSIDE_EPSILON
from prism_core.planning.wishes.curator_statement import CuratorStatement
from prism_core.text.languages import language

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prism_core.bundle.account import Account
    from prism_core.evaluation.results import MetricRow
    from prism_core.rehearsal.estimates import Estimate
    from prism_core.text.languages import LanguageCode

_PARTS = ("value", "floor", "ceiling", "kept")
_TITLES = {
    "auc": "Area under the ROC curve (AUC)",
    "accuracy": "Accuracy",
    "log_loss": "Log loss",
    "brier": "Brier score",
    "calibration_error": "Expected calibration error",
    "level_error": "Mean number of levels off (ordered classes)",
    "weighted_kappa": "Kappa with quadratic weights (ordered classes)",
    "r2": "R² of a numeric target (1 is perfect, 0 is always giving the mean)",
    "rmse": "Root mean squared error (RMSE), in the unit of the target",
    "l1_1way": "Distance of a single column (l1)",
    "tv_2way": "Distance of a pair (total variation)",
    "task_tv": "Distance of a pair with the target (total variation)",
    "task_tv_mean": "Mean distance of pairs with the target",
    "task_tv_max": "Largest distance of a pair with the target",
    "task_tv_joint": "Distance of S and target together",
    "correlation_difference": "Mean difference of correlations, over pairs that have one",
    "correlation_difference_max": "Largest difference of correlations",
    "discriminator_auc": "AUC of telling synthetic from real rows",
}


@dataclass(frozen=True, kw_only=True)
class Extras:
    """What a copy says beyond the bundle's report.

    Attributes:
        said: who released what for which purpose, as the curator types it.
        date: the day that is printed, as YYYY-MM-DD; "" prints none.
        rehearsed: means of rehearsals on stand-in rows; no real row was read for them.
        evaluation: `Evaluation.to_dict()`, only if the curator opted in: outside epsilon.
        private: entries of private evaluations of this release, each covered by a charge.
        account: every charge on the same people, as the ledger has them.
        language: of its pages; the bundle's own report is in English.
    """

    said: CuratorStatement = field(default_factory=CuratorStatement)
    date: str = ""
    rehearsed: tuple[Estimate, ...] = ()
    evaluation: Mapping[str, Any] | None = field(default=None, repr=False)
    private: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    account: Account | None = None
    language: LanguageCode = "en"

    @property
    def some(self) -> bool:
        """Whether there is anything beyond the bundle's report."""
        own = self.said.some or self.date or self.rehearsed or self.private
        more = self.evaluation is not None or self.account is not None
        return bool(own) or more or self.language != "en"

    def __post_init__(self) -> None:
        """Refuse what this program did not write.

        Raises:
            BundleError: naming the part.
        """
        language(self.language)
        if self.date and not _day(self.date):
            raise BundleError("The date must be a day, written YYYY-MM-DD.", field="date")
        if self.evaluation is not None:
            _check_outside(self.evaluation)
        for entry in self.private:
            _check_inside(entry)

    def check_release(self, plan_sha256: str) -> None:
        """Refuse private numbers that were bought for another release.

        Args:
            plan_sha256: hash of the plan of the bundle that the copy is of.

        Raises:
            BundleError: when they do not name that plan.
        """
        for entry in self.private:
            plan = entry.get("plan")
            named = plan.get("release_plan_sha256") if isinstance(plan, dict) else None
            # A bundle without a hash would take numbers that name none.
            if not plan_sha256 or named != plan_sha256:
                raise BundleError(
                    "The private numbers are of another release than this bundle. Add those that "
                    "`prism evaluate --private` wrote for this folder.",
                    field="private",
                )


_HEADLINES = {"auc": "AUC", "r2": "R²"}
"""Scores that a threshold of usefulness is held against."""


@dataclass(frozen=True, kw_only=True)
class Usefulness:
    """What is known of the usefulness.

    Attributes:
        score: the headline; None where there is none.
        unit: as people write it.
        ends: of its interval.
        measured: whether on real rows inside the budget; else in a rehearsal.
        reached: whether it reaches the threshold; None where nothing is decided.
    """

    score: float | None = None
    unit: str = ""
    ends: tuple[float, float] | None = None
    measured: bool = False
    reached: bool | None = None


def usefulness(extras: Extras, least: float | None, epsilon: float) -> Usefulness:
    """What is known of the usefulness, and whether it reaches the threshold.

    A score that is covered by the budget comes first, then a rehearsal. A score that was read
    from real rows without noise is never the headline.

    Args:
        extras: of the copy.
        least: the threshold, if any.
        epsilon: of the plan.
    """
    for entry in extras.private:
        for row in entry["numbers"]:
            if row["name"] in _HEADLINES and row.get("value") is not None:
                low, high = row.get("noise_interval_95") or (None, None)
                return Usefulness(
                    score=row["value"],
                    unit=_HEADLINES[row["name"]],
                    ends=None if low is None or high is None else (low, high),
                    measured=True,
                    reached=None if least is None else row["value"] >= least,
                )
    rehearsed = headline(extras.rehearsed, epsilon)
    if rehearsed is None:
        return Usefulness()
    # A rehearsal reads no real row, so it does not say whether the threshold is reached.
    return Usefulness(score=rehearsed.mean, unit=rehearsed.unit, ends=rehearsed.interval)


def outside(rows: Iterable[MetricRow]) -> dict[str, Any]:
    """Numbers read from real rows, with their sentence. For a curator who opts in, nobody else."""
    return {
        "outside_epsilon": True,
        "notice": OUTSIDE_EPSILON,
        "metrics": [row.to_dict() for row in rows],
    }


def _check_outside(document: object) -> None:
    """Numbers that read real rows come in only as this program writes them, sentence and all.

    Raises:
        BundleError: when it is something else.
    """
    rows = document.get("metrics") if isinstance(document, dict) else None
    fits = (
        isinstance(document, dict)
        # Identity: in JSON of somebody else 1 would equal True.
        and document.get("outside_epsilon") is True
        and isinstance(document.get("notice"), str)
        and isinstance(rows, list)
        and all(_metric(row) and row.get("outside_epsilon") is True for row in rows)
    )
    if not fits:
        raise BundleError(
            "The evaluation must be what `prism evaluate --json` prints: its notice, and metrics "
            "that are marked outside epsilon.",
            field="evaluation",
        )


def _check_inside(document: object) -> None:
    """Numbers inside epsilon name their charge and their guarantee.

    Raises:
        BundleError: when it is something else, or no charge covers it.
    """
    if isinstance(document, dict) and document.get("private_evaluation") == REHEARSED:
        raise BundleError(
            "This is a rehearsal with known noise: its numbers are not private, so no report calls "
            "them so. Run `prism evaluate --private` without --seed, charged to the asset.",
            field="private",
        )
    if not _inside(document):
        raise BundleError(
            "A private evaluation must be as this program writes it: numbers inside epsilon with "
            "their guarantee and charge. One without a ledger has no charge; name its asset with "
            "--asset.",
            field="private",
        )


def _inside(document: object) -> bool:
    if not isinstance(document, dict):
        return False
    numbers, guarantee = document.get("numbers"), document.get("guarantee")
    charge = document.get("charge")
    return (
        document.get("private_evaluation") == PRIVATE
        # isinstance would take `true` for charge 1.
        and type(charge) is int
        and charge >= 1
        # To the letter: whoever reads a number reads what it is worth in the same words.
        and document.get("notice") == INSIDE_EPSILON
        and isinstance(guarantee, dict)
        and all(_finite(guarantee.get(key)) for key in ("epsilon", "delta"))
        and isinstance(numbers, list)
        and all(_number(row) and row.get("outside_epsilon") is False for row in numbers)
    )


def _day(text: str) -> bool:
    try:
        # Since Python 3.11 fromisoformat reads 20250131 and 2025-W05-5, too; there and back leaves
        # one form.
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _metric(row: object) -> bool:
    return (
        isinstance(row, dict)
        and all(isinstance(row.get(key), str) for key in ("name", "subject"))
        and isinstance(row.get("note", ""), str)
        and all(row.get(key) is None or _finite(row.get(key)) for key in _PARTS)
        and all(_ends(row.get(key)) for key in INTERVALS)
    )


def _ends(interval: object) -> bool:
    """Whether this is an interval, or none; a document of an earlier version has none."""
    if interval is None:
        return True
    if not isinstance(interval, list) or len(interval) != 2 or not all(map(_finite, interval)):
        return False
    return interval[0] <= interval[1]


def _number(row: object) -> bool:
    if not isinstance(row, dict) or not isinstance(row.get("name"), str):
        return False
    known = row.get("value") is None or _finite(row.get("value"))
    return known and _ends(row.get("noise_interval_95"))


def _finite(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def metric_title(name: str) -> str:
    """A metric in words; its own name where there are none."""
    own = name.removesuffix(FROM_S)
    title = _TITLES.get(own, own.replace("_", " "))
    return title if own == name else f"{title}, from the protected features S alone"
