"""A facade for people used to scikit-learn and SDV."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from prism_core.data.schema.looks import unchecked
from prism_core.data.tables.header import check_columns
from prism_core.data.tables.raw_table import RawTable, from_frame
from prism_core.errors import PlanError, TableError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.targets import Target
from prism_core.planning.wishes.task import (
    Budget,
    Regime,
    SelectionRule,
    Synthesis,
    Task,
    ThreeWayRule,
)
from prism_core.privacy.ledger import Ledger, rules
from prism_core.privacy.ledger.charging import owed
from prism_core.runs.inputs import encode_rows, fresh_rng, recognise
from prism_core.runs.step_account import checked_approval
from prism_core.scalars import plain
from prism_core.synthesis.fine_counts import values_of
from prism_core.synthesis.release import Release, release

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import pandas as pd

    from prism_core.bundle.protocol.approval_file import ApprovedPlan
    from prism_core.data.encoding import EncodedTable
    from prism_core.data.schema.schema import Schema
    from prism_core.privacy.accountants.accountant import AccountantName
    from prism_core.structure.dag import Dag


_HOW_TO_CHECK = (
    "`prism check` counts the cells that do not, as does `prism_core.data.coverage.coverage`; a "
    "`Look` in `schema.looks` says that it was done."
)


class SameRowsWarning(UserWarning):
    """The rows were charged under another asset's name before; for the curator's eyes."""


class PlanWarning(UserWarning):
    """What the plan of a `fit` warns of; see `Plan.warnings`."""


class UncheckedWarning(UserWarning):
    """Nobody has looked whether the cells fit the declaration."""


class LearningOwedWarning(UserWarning):
    """What learning the domain or the graph cost is charged with the release."""


class PrismSynthesizer:
    """Fit once on private rows, sample as often as wanted.

    Spends: `fit` spends (epsilon, delta) and charges the ledger before the first mechanism;
    `sample` spends nothing.

    Args:
        schema: the declared public domain, of `load_schema` or `read_codebook(...).schema()`.
        target: the column Y.
        regime: causal, graphical or predictive.
        dag: the public graph, for the causal and graphical regimes.
        epsilon: privacy loss bound of one fit.
        delta: 1/n^2 when None.
        k: features chosen in the predictive regime; None: the budget decides.
        selection: how they are chosen: greedy, one_shot, mutual_information or logistic (see
            `Task`).
        three_way: how marginals of the target with two features are chosen privately: none,
            cmi (conditional mutual information), model_error or adaptive (see `Task`); auto:
            adaptive where model and accountant allow it.
        accountant: zcdp; pld (the extra `pld`) for less noise where nothing is chosen at run
            time; basic without a ledger only.
        ledger: the workspace's ledger. None has to be written out: `ledger=None`; the release
            is then stamped as made without one.
        asset: the data asset's name in the ledger.
        synthesis: model and sampling.
        further: more columns to be predicted, with weights beside the 1 of `target`.
        epsilon_above_limit: exceed the maximum of epsilon that the ledger's workspace sets
            ([limits] max_epsilon); the release then says so.

    Attributes:
        release_: what `fit` made, None before.
        notice_: after a `fit` with a ledger, a sentence when the same rows were charged under
            another asset's name before, else "". It depends on the private rows: it is for the
            curator, and no part of the release. `fit` also warns with it (`SameRowsWarning`).
    """

    def __init__(
        self,
        *,
        schema: Schema,
        target: str,
        ledger: Ledger | None,
        regime: Regime = "causal",
        dag: Dag | None = None,
        epsilon: float = 1.0,
        delta: float | None = None,
        k: int | None = None,
        selection: SelectionRule = "greedy",
        three_way: ThreeWayRule = "auto",
        accountant: AccountantName = "zcdp",
        asset: str = "",
        synthesis: Synthesis | None = None,
        further: Mapping[str, float] | None = None,
        epsilon_above_limit: bool = False,
    ) -> None:
        self.schema = schema
        self.task = Task(
            target=target,
            regime=regime,
            k=k,
            selection=selection,
            three_way=three_way,
            further=tuple(Target(name=n, weight=w) for n, w in (further or {}).items()),
        )
        self.budget = Budget(epsilon=epsilon, delta=delta, accountant=accountant)
        self.synthesis = synthesis or Synthesis()
        self.dag = dag
        self.ledger = ledger
        self.asset = asset
        self.epsilon_above_limit = epsilon_above_limit
        self.release_: Release | None = None
        self.notice_ = ""

    def fit(
        self, table: pd.DataFrame | RawTable, *, approval: ApprovedPlan | None = None
    ) -> PrismSynthesizer:
        """Measure the rows with secure noise and fit the model. Spends (epsilon, delta).

        Args:
            table: the private rows.
            approval: of this plan and asset (`bundle.protocol.approval_file.load`), where a
                committee was asked; a workspace may require one.

        Raises:
            TableError: when a declared column is not in the table's header.
            PrivacyError: when the ledger's workspace requires an approval and there is none.
            PlanError: when another plan or asset was approved.
            BudgetError: when epsilon is above the maximum of the ledger's workspace, and
                `epsilon_above_limit` does not say that it may be.

        Warns:
            PlanWarning: for each sentence of `Plan.warnings`, before anything is charged.
            UncheckedWarning: before anything is charged, where `schema.looks` tells of no check
                that the cells fit the declaration.
            SameRowsWarning: when the ledger knows these rows under another asset's name. The
                run goes on all the same.
            LearningOwedWarning: when the cost of learning the domain or the graph is charged
                with this run.
        """
        raw = _rows(table)
        # Before the plan: a misspelt column is found without a word about the budget.
        check_columns(self.schema.header, raw.header, raw.name)
        plan = design(
            Brief(
                self.schema,
                self.task,
                self._within_limit(),
                # Where persons are declared they are who is protected and counted; else each row is
                # a person.
                self.schema.persons or raw.rows,
                dag=self.dag,
                synthesis=self.synthesis,
            )
        )
        for sentence in plan.warnings:
            warnings.warn(sentence, PlanWarning, stacklevel=2)
        if note := unchecked(self.schema.looks):
            warnings.warn(f"{note}; {_HOW_TO_CHECK}", UncheckedWarning, stacklevel=2)
        workspace = None if self.ledger is None else self.ledger.folder
        # Before the rows are encoded; `release` asks once more.
        approved = checked_approval(approval, plan, self.asset, workspace)
        if self.ledger is not None:
            earlier = owed(self.ledger, self.asset, plan.prior)
            if earlier is not None:
                warnings.warn(earlier.sentence, LearningOwedWarning, stacklevel=2)
        # Nobody can predict it: it draws the row of a person and the seed of the synthetic rows.
        rng = fresh_rng()
        encoded = encode_rows(self.schema, raw, public=False, rng=rng)
        # Before the charge: a run killed right after it must not leave rows that pass for public.
        self._recognise(raw, encoded, plan.hash)
        self.release_ = release(
            plan,
            encoded,
            ledger=self.ledger,
            asset=self.asset,
            rng=rng,
            approval=approved,
        )
        return self

    def _within_limit(self) -> Budget:
        """The budget, which says so where it exceeds the workspace's maximum."""
        if self.ledger is None:
            return self.budget
        most = rules.above_limit(
            self.budget.epsilon, self.ledger.folder, allowed=self.epsilon_above_limit
        )
        return replace(self.budget, above_limit=most)

    def _recognise(self, raw: RawTable, encoded: EncodedTable, plan: str) -> None:
        self.notice_ = ""
        if self.ledger is not None and self.asset.strip():
            self.notice_ = recognise(self.ledger, self.asset, self.schema, raw, encoded, plan)
        if self.notice_:
            # One frame deeper than those of `fit`, so that it points at the caller's line, too.
            warnings.warn(self.notice_, SameRowsWarning, stacklevel=3)

    def sample(self, rows: int, rng: np.random.Generator | None = None) -> pd.DataFrame:
        """Synthetic rows; post-processing, spends nothing.

        Raises:
            PlanError: before `fit`, or for a number of rows below 1.
        """
        if self.release_ is None:
            raise PlanError("Call fit before sample.", field="fit")
        # numpy's integers are no int to Python, and callers often have one of them.
        rows = plain(rows)
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
            raise PlanError("rows must be a whole number above 0.", field="rows")
        # Nobody can predict it: whoever knew the seed could draw these rows from the model again.
        source = rng or fresh_rng()
        made = self.release_
        codes = made.model.sample(rows, source, self.synthesis.sampling)
        # By the plan that ran: where bins were found, the model's codes are those of the parts.
        return values_of(made.plan, codes, made.measurements, source)[1]


def _rows(table: object) -> RawTable:
    import pandas as pd

    if isinstance(table, RawTable):
        return table
    if isinstance(table, pd.DataFrame):
        return from_frame(table)
    raise TableError(
        "fit takes a pandas DataFrame or a RawTable (`read_table`). Make one of these rows first: "
        "a DataFrame has the names of the columns, too.",
        field="table",
    )
