"""The account of a charged step: ledger, asset and purpose, and the noise that it measures with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.table_identity import remember_private
from prism_core.privacy.ledger import Ledger, rules
from prism_core.privacy.ledger.charging import account
from prism_core.privacy.noise import NoiseSource, SecureNoise, SeededNoise
from prism_core.runs.inputs import fresh_rng

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.bundle.protocol.approval_file import ApprovedPlan
    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.tables.raw_table import RawTable
    from prism_core.planning.approval import Approval
    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.config import AssetConfig


@dataclass(frozen=True, kw_only=True)
class StepAccount:
    """Whom a step charges, for which purpose, and with which noise it measures.

    Attributes:
        ledger: the workspace's, with the asset in it; None where nobody is charged.
        asset: the data asset's name in the ledger.
        why: purpose, for the ledger.
        seed: of known noise, for public rows only; None where the noise is secure.
        rng: gives what is no noise: the seed of synthetic rows, the row of a person.
        noise: secure, or known where there is a seed.
    """

    ledger: Ledger | None
    asset: str = ""
    why: str = ""
    seed: int | None = None
    rng: np.random.Generator = field(default_factory=fresh_rng)
    noise: NoiseSource = field(default_factory=SecureNoise)

    def remember(self, raw: RawTable | BigTable | None, plan: str) -> None:
        """Remember rows that are charged, so that they do not pass for public later.

        Spends nothing: what is remembered stays in the workspace, under its key.

        Args:
            raw: the rows as they were read; nothing is remembered where there are none.
            plan: SHA-256 of the plan: it counts once that is charged.
        """
        if self.ledger is not None and raw is not None:
            remember_private(self.ledger, self.asset, raw, plan)


def step_rng(seed: int | None) -> np.random.Generator:
    """A generator that nobody can predict; a known one where a seed is given."""
    return fresh_rng() if seed is None else np.random.default_rng(seed)


def open_account(
    asset: AssetConfig | None,
    delta: float,
    *,
    public: bool,
    seed: int | None = None,
    rng: np.random.Generator | None = None,
    workspace: Path | None = None,
    ledger: Ledger | None = None,
    known: str | None = None,
) -> StepAccount:
    """The account of a step, with its asset registered; nothing is charged yet.

    Args:
        asset: as the configuration or the form names it.
        delta: at which a new asset's lifetime is stated where `asset` does not say.
        public: whether the rows are public; then nobody is charged.
        seed: of known noise, for public rows only.
        rng: the generator of the step, where it has drawn already; by default `step_rng(seed)`.
        workspace: folder of the ledger; the default one when None.
        ledger: an open one, instead.
        known: the name of an asset that the ledger holds already, instead of `asset`.

    Raises:
        PrivacyError: when no asset is named for private rows.
        LedgerError: when it cannot be registered, or is not known.
    """
    opened, name = account(
        asset, delta, public=public, workspace=workspace, ledger=ledger, known=known
    )
    # One generator for rows and known noise: a rehearsal is repeated by its one seed.
    rng = step_rng(seed) if rng is None else rng
    return StepAccount(
        ledger=opened,
        asset=name,
        why=asset.why if asset else "",
        seed=seed,
        rng=rng,
        noise=SecureNoise() if seed is None else SeededNoise(rng),
    )


def checked_approval(
    found: ApprovedPlan | None, plan: Plan, asset: str, workspace: Path | None
) -> Approval | None:
    """The approval that a release is given; the gate asks once more, here no row is read yet.

    Args:
        found: what a committee approved, None where nobody was asked.
        plan: what is to be released.
        asset: the data asset's name.
        workspace: whose rules hold; None where nobody is charged.

    Raises:
        PlanError: when another plan, other settings or another asset were approved.
        PrivacyError: when the workspace asks for an approval and there is none.
    """
    if found is not None:
        found.check(plan, asset)
        return found.approval
    if workspace is not None:
        rules.check_rules("release", workspace)
    return None
