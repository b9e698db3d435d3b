"""One run and its scores: train on synthetic rows, test on real ones, beside the ceilings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from prism_core.errors import EvaluationError
from prism_core.evaluation import scoring
from prism_core.evaluation.learners import fit, labelled
from prism_core.experiments.reproduce.make import make
from prism_core.experiments.reproduce.outcomes import Outcome, Scored

if TYPE_CHECKING:
    from prism_core.data.encoding import EncodedTable
    from prism_core.experiments.reproduce.benchmark import Case
    from prism_core.experiments.reproduce.make import Asked

ONEHOT, STANDARDISED = "logistic_onehot", "logistic_standardised"

_CASES = 4  # of this process, the last ones used


@dataclass
class Bench:
    """The tables of a process with their ceilings, which runs share; all public."""

    _cases: dict[tuple[str, int], Case] = field(default_factory=dict)
    _known: dict[tuple[str, int, str, tuple[str, ...] | None], float] = field(default_factory=dict)

    def run(self, asked: Asked) -> tuple[Outcome, ...]:
        """One outcome for every number of synthetic rows. Spends nothing: the rows are public.

        The same whatever ran before, and in whichever process.
        """
        case = self._case(asked)
        made = make(asked, case)
        return tuple(
            Outcome(
                benchmark=asked.benchmark.name, method=asked.method.name,
                setting=asked.setting.name, epsilon=asked.epsilon, rows=table.n, seed=asked.seed,
                onehot=self._scored(asked, case, table, made.protected, ONEHOT),
                standardised=self._scored(asked, case, table, made.protected, STANDARDISED),
                l1=mean_l1(table, case.train), seconds=made.seconds,
            )
            for table in made.tables
        )  # fmt: skip

    def _case(self, asked: Asked) -> Case:
        key = _place(asked)
        if key not in self._cases:
            while len(self._cases) >= _CASES:
                self._cases.pop(next(iter(self._cases)))
            self._cases[key] = asked.benchmark.draw(key[1])
        return self._cases[key]

    def _scored(
        self, asked: Asked, case: Case, table: EncodedTable, s: tuple[str, ...] | None,
        learner: str,
    ) -> Scored:  # fmt: skip
        target = asked.benchmark.target
        auc, accuracy = reached(learner, table, case.test, target, None)
        every = self._ceiling(asked, case, learner, None)
        return Scored(
            auc=auc, accuracy=accuracy, ceiling_all=every,
            ceiling=every if s is None else self._ceiling(asked, case, learner, s),
        )  # fmt: skip

    def _ceiling(self, asked: Asked, case: Case, learner: str, s: tuple[str, ...] | None) -> float:
        key = (*_place(asked), learner, s)
        if key not in self._known:
            target = asked.benchmark.target
            self._known[key] = reached(learner, case.train, case.test, target, s)[0]
        return self._known[key]


def _place(asked: Asked) -> tuple[str, int]:
    return asked.benchmark.name, asked.seed


def reached(
    learner: str, table: EncodedTable, test: EncodedTable, target: str,
    features: tuple[str, ...] | None,
) -> tuple[float, float]:  # fmt: skip
    """AUC and accuracy on the test rows of a learner trained on a table.

    Rows of one class teach to rank everybody alike, which is an AUC of one half. For public
    benchmark rows; spends nothing.

    Raises:
        EvaluationError: when the test rows show a single class.
    """
    known, rows = labelled(table, target), labelled(test, target)
    y = rows.column(target)
    shown = np.unique(known.column(target))
    if len(shown) < 2:
        share = float(np.mean(y == shown[0])) if len(shown) else 0.0
        return 0.5, share
    proba = fit(learner, known, target=target, features=features).probabilities(rows)
    auc, accuracy = scoring.macro_auc(y, proba), scoring.accuracy(y, proba)
    if auc is None or accuracy is None:
        raise EvaluationError("The test rows must show at least two classes.", field="target")
    return auc, accuracy


def mean_l1(synthetic: EncodedTable, real: EncodedTable) -> float:
    """Mean over the columns of the l1 distance of their shares, 0 to 2.

    For public benchmark rows; spends nothing.
    """
    names = [(name,) for name in real.schema.names]
    pairs = zip(synthetic.counts(names), real.counts(names), strict=True)
    return float(np.mean([np.abs(a / synthetic.n - b / real.n).sum() for a, b in pairs]))
