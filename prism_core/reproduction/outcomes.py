"""What one run reached, and what the runs of a line reached together."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.errors import EvaluationError
from prism_core.rehearsal.estimates import half_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Key = tuple[str, str, str, float, int]
"""Benchmark, method, setting, epsilon, synthetic rows."""


@dataclass(frozen=True, kw_only=True)
class Scored:
    """One learner, trained on synthetic rows and scored on real ones.

    Attributes:
        auc: area under the ROC curve; macro one-vs-rest with many classes.
        accuracy: share of test rows with the right class.
        ceiling: AUC of the same learner trained on the real rows, from the features that the
            method protects (all of them where they are chosen at run time).
        ceiling_all: the same from all features.
    """

    auc: float
    accuracy: float
    ceiling: float
    ceiling_all: float

    def __post_init__(self) -> None:
        if not all(0.0 <= value <= 1.0 for value in vars(self).values()):
            raise EvaluationError("A score must lie between 0 and 1.", field="auc")


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """One run.

    Attributes:
        benchmark, method, setting, epsilon: what ran.
        rows: synthetic rows that were drawn.
        seed: of tables, noise and rows.
        onehot, standardised: the two logistic regressions.
        l1: mean over the columns of the l1 distance of shares from the training rows, 0 to 2.
        seconds: from the plan to the synthetic rows.
    """

    benchmark: str
    method: str
    setting: str
    epsilon: float
    rows: int
    seed: int
    onehot: Scored
    standardised: Scored
    l1: float
    seconds: float

    @property
    def key(self) -> Key:
        """The line it belongs to."""
        return (self.benchmark, self.method, self.setting, self.epsilon, self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> RunOutcome:
        """From what `to_dict` gave.

        Raises:
            EvaluationError: when it is not usable.
        """
        try:
            scored = {name: Scored(**document[name]) for name in ("onehot", "standardised")}
            return cls(**{**document, **scored})
        except (KeyError, TypeError):
            raise EvaluationError("A run of results lacks a field.", field="outcome") from None


@dataclass(frozen=True, kw_only=True)
class Summary:
    """One learner over the seeds of a line.

    Attributes:
        auc_mean: mean AUC.
        auc_ci: half the width of its 95% t-interval; None with a single seed.
        accuracy, ceiling, ceiling_all: means; see `Scored`.
        aucs: by seed, in the line's order of seeds, for paired comparisons.
    """

    auc_mean: float
    auc_ci: float | None
    accuracy: float
    ceiling: float
    ceiling_all: float
    aucs: tuple[float, ...] = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "aucs", tuple(self.aucs))
        numbers = (self.auc_mean, self.accuracy, self.ceiling, self.ceiling_all, *self.aucs)
        if not self.aucs or not all(0.0 <= number <= 1.0 for number in numbers):
            raise EvaluationError("A score must lie between 0 and 1.", field="auc_mean")
        if self.auc_ci is not None and not 0.0 <= self.auc_ci < math.inf:
            raise EvaluationError("auc_ci must be a number from 0 on.", field="auc_ci")


@dataclass(frozen=True, kw_only=True)
class ResultRow:
    """One line of a table: a method at one epsilon, over its seeds.

    Attributes:
        benchmark, method, setting, epsilon: what ran.
        rows: synthetic rows.
        seeds: in increasing order.
        onehot, standardised: the two logistic regressions.
        l1: mean; see `RunOutcome`.
        seconds: median.
    """

    benchmark: str
    method: str
    setting: str
    epsilon: float
    rows: int
    seeds: tuple[int, ...]
    onehot: Summary
    standardised: Summary
    l1: float
    seconds: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "seeds", tuple(self.seeds))
        if not len(self.seeds) == len(self.onehot.aucs) == len(self.standardised.aucs):
            raise EvaluationError("A row needs one AUC for every seed.", field="seeds")
        if not (self.epsilon > 0.0 and self.l1 >= 0.0 and self.seconds >= 0.0 and self.rows > 0):
            raise EvaluationError("A row needs usable numbers.", field="rows")

    @property
    def key(self) -> Key:
        """What tells it from other rows."""
        return (self.benchmark, self.method, self.setting, self.epsilon, self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; the one-hot learner has the plain names."""
        return {
            "benchmark": self.benchmark,
            "method": self.method,
            "setting": self.setting,
            "epsilon": self.epsilon,
            "rows": self.rows,
            "seeds": list(self.seeds),
            **_flat(self.onehot, ""),
            **_flat(self.standardised, "_standardised"),
            "l1": _short(self.l1),
            "seconds": round(self.seconds, 2),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> ResultRow:
        """From what `to_dict` gave.

        Raises:
            EvaluationError: when it is not usable.
        """
        try:
            names = ("benchmark", "method", "setting", "epsilon", "rows", "l1", "seconds")
            return cls(
                **{name: document[name] for name in names},
                seeds=tuple(document["seeds"]),
                onehot=_lifted(document, ""),
                standardised=_lifted(document, "_standardised"),
            )
        except (KeyError, TypeError):
            raise EvaluationError("A row of results lacks a field.", field="rows") from None


_SCORES = ("auc_mean", "auc_ci", "accuracy", "ceiling", "ceiling_all")


def _flat(summary: Summary, suffix: str) -> dict[str, Any]:
    plain: dict[str, Any] = {f"{name}{suffix}": _short(getattr(summary, name)) for name in _SCORES}
    return plain | {f"aucs{suffix}": [_short(value) for value in summary.aucs]}


def _lifted(document: Mapping[str, Any], suffix: str) -> Summary:
    scores = {name: document[f"{name}{suffix}"] for name in _SCORES}
    return Summary(**scores, aucs=tuple(document[f"aucs{suffix}"]))


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 5)


def rows(outcomes: Iterable[RunOutcome]) -> tuple[ResultRow, ...]:
    """One row a line, in the order in which lines appear; the same in whatever order runs came.

    A run that appears twice counts once.
    """
    lines: dict[Key, dict[int, RunOutcome]] = {}
    for outcome in outcomes:
        lines.setdefault(outcome.key, {})[outcome.seed] = outcome
    return tuple(_row(key, [some[seed] for seed in sorted(some)]) for key, some in lines.items())


def _row(key: Key, some: list[RunOutcome]) -> ResultRow:
    benchmark, method, setting, epsilon, drawn = key
    return ResultRow(
        benchmark=benchmark,
        method=method,
        setting=setting,
        epsilon=epsilon,
        rows=drawn,
        seeds=tuple(one.seed for one in some),
        onehot=_summary([one.onehot for one in some]),
        standardised=_summary([one.standardised for one in some]),
        l1=float(np.mean([one.l1 for one in some])),
        seconds=float(np.median([one.seconds for one in some])),
    )


def _summary(some: list[Scored]) -> Summary:
    aucs = [one.auc for one in some]
    return Summary(
        auc_mean=float(np.mean(aucs)),
        auc_ci=half_width(aucs),
        aucs=tuple(aucs),
        accuracy=float(np.mean([one.accuracy for one in some])),
        ceiling=float(np.mean([one.ceiling for one in some])),
        ceiling_all=float(np.mean([one.ceiling_all for one in some])),
    )
