"""What an inspection looks at: one release beside the real rows it stands for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from prism_core.errors import EvaluationError
from prism_core.evaluation.evaluate import check_evaluated_tables
from prism_core.evaluation.fidelity.distances import RowComparison
from prism_core.evaluation.tstr.regressors import by_squared_loss, learners_of
from prism_core.privacy.parameters import positive

if TYPE_CHECKING:
    from prism_core.data.encoding import EncodedTable
    from prism_core.data.schema.schema import Schema


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A marginal that the release measured with noise; a public fact of its plan.

    Attributes:
        clique: its columns.
        sigma: scale of the noise of each cell, in rows.
    """

    clique: tuple[str, ...]
    sigma: float

    def __post_init__(self) -> None:
        positive(self.sigma, "sigma")


@dataclass(frozen=True, kw_only=True)
class Subject:
    """The synthetic rows, the real rows, and the public facts of the release.

    Attributes:
        synthetic: the synthetic rows.
        holdout: real rows that took no part in making them.
        train: the real rows they were made from, None when not at hand.
        target: the column that is predicted.
        s: the protected features.
        s_alone: whether the target is predicted from them alone; see `from_s`.
        hidden: columns it is not predicted from: other targets of the release that are not in S.
        measured: what was measured, with how much noise; empty when it is not known.
        n: training rows of the release; public.
        sampling: how the synthetic rows were drawn.
        as_classes: the bins of a numeric target are told apart as classes.

    Raises:
        EvaluationError: when the tables do not have the same columns or a name is unknown.
    """

    synthetic: EncodedTable = field(repr=False)
    holdout: EncodedTable = field(repr=False)
    train: EncodedTable | None = field(default=None, repr=False)
    target: str
    s: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    measured: tuple[Measured, ...] = ()
    n: int
    sampling: Literal["iid", "rounded"] = "rounded"
    as_classes: bool = False
    s_alone: bool = False

    def __post_init__(self) -> None:
        check_evaluated_tables(
            self.synthetic, self.holdout, self.train, target=self.target, features=None, s=self.s
        )
        if self.s_alone and not self.s:
            raise EvaluationError("There are no protected features to learn from.", field="s")
        if self.n < 1:
            raise EvaluationError("n must be a whole number above 0.", field="n")
        for query in self.measured:
            for name in query.clique:
                if name not in self.schema:
                    raise EvaluationError(
                        f"A measured marginal names {name!r}, which is no column of the schema.",
                        field="measured",
                    )

    @property
    def schema(self) -> Schema:
        """The declared domain."""
        return self.synthetic.schema

    @property
    def mass(self) -> int:
        """What the counts that were measured added up to at least; public."""
        return self.real.contribution.totals(self.n)[0]

    @property
    def features(self) -> tuple[str, ...]:
        """All columns but the target and what is hidden, in schema order; or S alone."""
        if self.s_alone:
            return tuple(name for name in self.schema.names if name in self.s)
        out = {self.target, *self.hidden}
        return tuple(name for name in self.schema.names if name not in out)

    @property
    def from_s(self) -> Subject | None:
        """The same with S alone to predict from; None where S is empty or leaves nothing out."""
        # Of all columns, whichever this subject learns from.
        whole = set(replace(self, s_alone=False).features)
        return replace(self, s_alone=True) if self.s and set(self.s) < whole else None

    @property
    def numeric(self) -> bool:
        """Whether the target is predicted as a number, by squared loss."""
        return by_squared_loss(self.schema[self.target], as_classes=self.as_classes)

    @property
    def learners(self) -> tuple[str, ...]:
        """The learners of the target, the default first."""
        return learners_of(self.schema[self.target], as_classes=self.as_classes)

    @property
    def real(self) -> EncodedTable:
        """The rows that distances are measured against: training rows, else the holdout."""
        return self.train if self.train is not None and self.train.n else self.holdout

    @property
    def comparison(self) -> RowComparison:
        """The tables as `fidelity` takes them."""
        both = self.train is not None and self.train.n > 0
        return RowComparison(
            synthetic=self.synthetic, real=self.real, other=self.holdout if both else None
        )
