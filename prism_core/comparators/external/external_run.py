"""A package's synthesizer on public rows, told an epsilon that keeps our neighbours."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from prism_core.comparators.external.interpreter import required_python, synthetic
from prism_core.comparators.external.neighbours import Converted, converted
from prism_core.comparators.external.packages import External, ExternalName, external
from prism_core.comparators.methods import NEIGHBOURS
from prism_core.data.decoding import decode
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema import schema_file
from prism_core.data.source import Rows, check_fits
from prism_core.errors import PlanError, PrivacyError
from prism_core.planning.step_plan import StepPlan, check_counts, check_one_row, delta_in_force
from prism_core.privacy.parameters import delta_value, epsilon_value

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from prism_core.data.schema.schema import Schema

STAMP = "rehearsal of another package"

SECONDS = 3600.0
"""After which a package is ended."""

_SEEDS = 2**31 - 1  # what every package takes


@dataclass(frozen=True, kw_only=True)
class ExternalPlan(StepPlan):
    """A run of a package at epsilon and delta; neighbours replace one person, like a release.

    Attributes:
        method: which one.
        schema: the declared domain.
        epsilon: asked for.
        rows: synthetic rows to draw.

    Raises:
        BudgetError, PlanError: naming what is allowed.
    """

    method: ExternalName
    schema: Schema
    epsilon: float
    rows: int

    def __post_init__(self) -> None:
        external(self.method)
        epsilon_value(self.epsilon)
        delta_value(self.delta)
        check_counts(self.n, self.rows)
        if len(self.schema.names) < 2:
            raise PlanError("A package needs at least two columns.", field="schema")
        # Packages count rows: of several rows a person their noise would hide one.
        check_one_row(self.schema, "A package of others is run")

    @property
    def about(self) -> External:
        """The method in words."""
        return external(self.method)

    @property
    def told(self) -> Converted:
        """What the package is told."""
        return converted(self.about.stated, self.epsilon, self.delta)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "method": self.method,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "n": self.n,
            "rows": self.rows,
        }

    def document(self) -> dict[str, Any]:
        """See `StepPlan.document`."""
        return {"external": self.to_dict(), "schema": schema_file.to_dict(self.schema)}


@dataclass(frozen=True, kw_only=True)
class ExternalResult:
    """What a package gave out, made of public rows.

    Attributes:
        plan: public.
        codes: synthetic rows as codes, shape (rows, columns).
        table: the same with the declared labels, dtypes and column order.
        seed: that it was given.
        seconds: wall time, with the start of its Python.
    """

    plan: ExternalPlan
    codes: NDArray[np.int32] = field(repr=False)
    table: pd.DataFrame = field(repr=False)
    seed: int
    seconds: float

    def document(self) -> dict[str, Any]:
        """What was run and what it was told, as plain values; no wall time."""
        plan, about, told = self.plan, self.plan.about, self.plan.told
        return {
            "stamp": STAMP,
            "method": {
                "name": about.name,
                "title": about.title,
                "sentence": about.sentence,
                "reference": about.reference,
                "package": about.project,
                "read_version": about.version,
                "found": about.found,
            },
            "neighbours": NEIGHBOURS,
            "neighbours_as_published": told.published,
            "guarantee": {
                "declared_epsilon": told.epsilon,
                "delta": told.delta,
                "told_epsilon": told.told_epsilon,
                "told_delta": told.told_delta,
                "rule": told.rule,
                "n": plan.n,
                "vouched_for": False,
            },
            "rows": plan.rows,
            "charge": None,
            "seed": self.seed,
            "repeatable": about.repeatable,
            "plan_sha256": plan.hash,
        }


def design_external(
    method: str,
    schema: Schema,
    n: int,
    epsilon: float,
    delta: float | None = None,
    *,
    rows: int | None = None,
) -> ExternalPlan:
    """The plan for a run of a package. Spends nothing and reads no row.

    Args:
        method: one of `EXTERNAL`.
        schema: the declared domain.
        n: rows; public.
        epsilon: asked for; replace-one neighbours, like a release.
        delta: likewise; 1/n^2 when None.
        rows: synthetic rows; n when None.

    Raises:
        BudgetError, PlanError: naming what is allowed.
    """
    return ExternalPlan(
        method=external(method).name,
        schema=schema,
        n=n,
        epsilon=epsilon,
        delta=delta_in_force(delta, n),
        rows=n if rows is None else rows,
    )


def run_external(
    plan: ExternalPlan,
    table: Rows,
    *,
    rng: np.random.Generator,
    python: str | None = None,
    seconds: float = SECONDS,
    watch: Callable[[], None] = lambda: None,
) -> ExternalResult:
    """Run a package on public rows. Spends nothing, and is refused on private rows.

    Its noise is not of our secure source, its code is not ours, and faults were found in it that
    break what it states: nobody here can vouch for a guarantee. So there is no charge that would
    be honest, and no private row is handed over.

    Args:
        plan: what is asked for.
        table: public rows, encoded in the plan's schema.
        rng: gives the seed for the package, and draws numbers within bins.
        python: that runs it; see `interpreter.python_of`.
        seconds: after which it is ended.
        watch: called while it runs; may raise to stop.

    Raises:
        PrivacyError: for private rows; nothing was read, nothing was started.
        ConfigError, EvaluationError, PlanError: when it cannot run, or failed.
    """
    # First of all: what follows hands the rows to another program.
    if not table.public:
        raise PrivacyError(
            f"{plan.about.title} is another program whose noise nobody here can vouch for. It "
            "runs on public rows and on stand-in rows only; take mst or aim for private rows.",
            field="method",
        )
    check_fits(table, plan.schema, plan.n)
    if not isinstance(table, EncodedTable):
        raise PlanError(
            "Packages are run on tables in memory only, not on one behind files.", field="table"
        )
    # Before the clock: a package that is missing took no time.
    found = required_python(plan.about, python)
    told, started = plan.told, time.monotonic()
    seed = int(rng.integers(_SEEDS))
    codes = synthetic(
        plan.about,
        found,
        table.codes,
        [plan.schema.size(name) for name in plan.schema.names],
        {"rows": plan.rows, "epsilon": told.told_epsilon, "delta": told.told_delta, "seed": seed},
        seconds=seconds,
        watch=watch,
    )
    return ExternalResult(
        plan=plan,
        codes=codes,
        table=decode(plan.schema, codes, rng),
        seed=seed,
        seconds=time.monotonic() - started,
    )
