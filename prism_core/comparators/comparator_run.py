"""A comparator on rows: charge, measure, fit and draw, as a release does it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prism_core.comparators.adaptive_run import AdaptiveRun
from prism_core.comparators.comparator_plan import ComparatorPlan, RhoFilter
from prism_core.comparators.mst_aim import aim, independent, mst
from prism_core.data.decoding import decode
from prism_core.data.source import Rows, check_fits
from prism_core.errors import PrivacyError
from prism_core.privacy.accountants.accountant import Spent, accountant
from prism_core.privacy.ledger.charging import charging
from prism_core.privacy.mechanisms import check_noise_of_table
from prism_core.privacy.noise import NoiseSource, SecureNoise
from prism_core.synthesis.sample import publishable_seed

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from prism_core.comparators.methods import MethodName
    from prism_core.privacy.events import Event
    from prism_core.privacy.ledger import Ledger

_METHODS: dict[MethodName, Callable[[AdaptiveRun], None]] = {
    "independent": independent,
    "mst": mst,
    "aim": aim,
}


@dataclass(frozen=True, kw_only=True)
class ComparatorResult:
    """What a comparator gives out. Everything here but `seconds` is differentially private.

    Attributes:
        plan: public.
        codes: synthetic rows as codes, shape (rows, columns).
        table: the same with the declared labels, dtypes and column order.
        events: what was run, in order; replace-one neighbours.
        spent: what that cost, stated at the plan's delta; never above the plan's.
        measurements: how many marginals were measured.
        stamp: what kind of run it was.
        charge: number of the ledger's charge, None where there was none.
        seed: what the rows were drawn with; may be published, like a release's.
        seconds: wall time; not for export beside private tables.
    """

    plan: ComparatorPlan
    codes: NDArray[np.int32] = field(repr=False)
    table: pd.DataFrame = field(repr=False)
    events: tuple[Event, ...] = field(repr=False)
    spent: Spent
    measurements: int
    stamp: str
    charge: int | None
    seed: int
    seconds: float


def run_comparator(
    plan: ComparatorPlan,
    table: Rows,
    *,
    ledger: Ledger | None,
    asset: str = "",
    why: str = "",
    noise: NoiseSource | None = None,
    rng: np.random.Generator,
    progress: Callable[[float], None] = lambda _: None,
    keep: Callable[[ComparatorResult], None] = lambda _: None,
) -> ComparatorResult:
    """Run a comparator on rows. Reads private rows; neighbours replace one person.

    Spends: at most `plan.spent`, all of which is charged. With a ledger the charge is written
    and synced before the first mechanism; it stands whatever happens later, unless no mechanism
    ran. Before that nothing depends on the rows.

    Args:
        plan: from `design_comparator`.
        table: the training rows, encoded in the plan's schema.
        ledger: the workspace's ledger. None has to be written out and is stamped on the result.
        asset: the data asset's name in the ledger.
        why: purpose, for the ledger.
        noise: secure by default. A seeded source is for public tables only and makes the run a
            rehearsal, which is not charged.
        rng: gives the seed of the synthetic rows (post-processing).
        progress: told the share of the budget used before each mechanism; may raise to stop.
        keep: told what was paid for while the charge is open: it must outlive a ledger that does
            not answer when it is closed.

    Raises:
        PlanError: when the table does not fit the plan.
        PrivacyError: for seeded noise on a private table.
        OverspentError: when the asset's lifetime budget is too small; nothing was read.
    """
    source = noise or SecureNoise()
    check_noise_of_table(table, source)
    check_fits(table, plan.schema, plan.n)
    why = f"comparator {plan.about.title}" + (f": {why}" if why else "")
    started = time.monotonic()

    def step(share: float) -> None:
        # Told first: who cancels here does so before the mechanism, and the charge need not stand.
        progress(share)
        charge.touch()

    with charging(
        "comparator", plan.price, ledger, asset, public=table.public, noise=source, why=why
    ) as charge:
        state = AdaptiveRun.of(plan, table, source, RhoFilter(plan.rho), step)
        _METHODS[plan.method](state)
        # Before anything is drawn from it: a run that overspent gives nothing out.
        spent = _checked(plan, state)
        seed = publishable_seed(rng)
        codes, frame = draw(plan, state, seed)
        found = ComparatorResult(
            plan=plan,
            codes=codes,
            table=frame,
            events=tuple(state.purse.events),
            spent=spent,
            measurements=len(state.measurements),
            stamp=charge.stamp,
            charge=charge.number,
            seed=seed,
            seconds=time.monotonic() - started,
        )
        keep(found)
    return found


def draw(
    plan: ComparatorPlan, state: AdaptiveRun, seed: int
) -> tuple[NDArray[np.int32], pd.DataFrame]:
    """The synthetic rows, as codes and as values. Post-processing, spends nothing."""
    import numpy as np

    rng = np.random.default_rng(seed)
    # From zeros: cells that fits between rounds brought to 0 come back with difficulty.
    model = state.fit()
    codes = model.sample(plan.rows, rng, "rounded")
    return codes, decode(plan.schema, codes, rng)


def _checked(plan: ComparatorPlan, state: AdaptiveRun) -> Spent:
    """What was run, added up once more by the accountant."""
    prior = () if plan.schema.prior is None else plan.schema.prior.events
    # With what learning the domain cost: the declared epsilon holds both.
    whole = accountant("zcdp").spent((*prior, *state.purse.events), plan.delta)
    if not whole.epsilon <= plan.epsilon:
        raise PrivacyError("The comparator spent more than was declared.", field="plan")
    return accountant("zcdp").spent(state.purse.events, plan.delta)
