"""A facade for people used to scikit-learn and SDV."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.data.encoding import decode
from prism_core.data.tables import RawTable, from_frame
from prism_core.errors import PlanError
from prism_core.pipeline import Release, design, release
from prism_core.planning.task import Budget, Synthesis, Task
from prism_core.workspace import encode_rows, fresh_rng

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from prism_core.data.schema import Schema
    from prism_core.planning.task import Regime
    from prism_core.privacy.ledger import Ledger
    from prism_core.structure.dag import Dag


class PrismSynthesizer:
    """Fit once on private rows, sample as often as wanted.

    Spends: `fit` spends (epsilon, delta) and charges the ledger before the first mechanism;
    `sample` spends nothing.

    Args:
        schema: the declared public domain.
        target: the column Y.
        regime: causal, graphical or predictive.
        dag: the public graph, for the causal and graphical regimes.
        epsilon: privacy loss bound of one fit.
        delta: 1/n^2 when None.
        k: features chosen in the predictive regime.
        ledger: the workspace's ledger. None has to be written out: `ledger=None`; the release
            is then stamped as made without one.
        asset: the data asset's name in the ledger.
        synthesis: model and sampling.
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
        k: int = 8,
        asset: str = "",
        synthesis: Synthesis | None = None,
    ) -> None:
        self.schema = schema
        self.task = Task(target=target, regime=regime, k=k)
        self.budget = Budget(epsilon=epsilon, delta=delta)
        self.synthesis = synthesis or Synthesis()
        self.dag = dag
        self.ledger = ledger
        self.asset = asset
        self.release_: Release | None = None

    def fit(self, table: pd.DataFrame | RawTable) -> PrismSynthesizer:
        """Measure the rows with secure noise and fit the model. Spends (epsilon, delta)."""
        raw = table if isinstance(table, RawTable) else from_frame(table)
        plan = design(
            self.schema, self.task, self.budget, self.schema.persons or raw.rows,
            dag=self.dag, synthesis=self.synthesis,
        )  # fmt: skip
        rng = fresh_rng()
        encoded = encode_rows(self.schema, raw, public=False, rng=rng)
        self.release_ = release(plan, encoded, ledger=self.ledger, asset=self.asset, rng=rng)
        return self

    def sample(self, rows: int, rng: np.random.Generator | None = None) -> pd.DataFrame:
        """Synthetic rows; post-processing, spends nothing.

        Raises:
            PlanError: before `fit`, or for a number of rows below 1.
        """
        if self.release_ is None:
            raise PlanError("Call fit before sample.", field="fit")
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
            raise PlanError("rows must be a whole number above 0.", field="rows")
        source = rng or fresh_rng()
        codes = self.release_.model.sample(rows, source, self.synthesis.sampling)
        return decode(self.schema, codes, source)
