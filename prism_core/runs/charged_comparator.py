"""The run of a comparator: gate, work, and its folder; another package runs on public rows alone.

What is paid for is kept (`runs.recovery_file`) until the folder is whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.bundle.write.bundle_folder import check_bundle_folder
from prism_core.comparators import ComparatorPlan, ComparatorResult, folder, run_comparator
from prism_core.comparators.external import ExternalPlan, ExternalResult, run_external
from prism_core.errors import ConfigError
from prism_core.runs import recovery_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy as np

    from prism_core.data.source import Rows
    from prism_core.runs.step_account import StepAccount


def check_comparator_place(out: Path) -> None:
    """Refuse a folder that a comparator may not write, before any row is read.

    Raises:
        ConfigError: for a folder that holds something else, a run among it, or cannot be written.
    """
    if out.is_dir() and any(out.iterdir()) and not folder.is_folder(out):
        raise ConfigError(
            "--out must name a new folder, or one of an earlier comparator.", field="out"
        )
    check_bundle_folder(out)


def run_charged_comparator(
    plan: ComparatorPlan,
    table: Rows,
    out: Path,
    account: StepAccount,
    *,
    written: Callable[[ComparatorResult], None] = lambda _: None,
) -> ComparatorResult:
    """Run a comparator and write its folder.

    Spends: `plan.spent`, see `run_comparator`.

    Args:
        plan: from `design_comparator`.
        table: the training rows.
        out: the folder.
        account: who is charged.
        written: told the result once its folder is written; until it returns the result is kept.

    Raises:
        PrismError: as `run_comparator`, and before anything is charged where the disk has no room.
        BundleError: when the folder could not be written after all; what was paid for is kept.
    """

    def keep(result: ComparatorResult) -> None:
        room.keep("comparator", result.charge, folder.contents(result))

    # Before the charge: a full disk must be known while nothing is spent.
    with recovery_file.reserved_space(account.ledger, folder.size(plan)) as room:
        result = run_comparator(
            plan,
            table,
            ledger=account.ledger,
            asset=account.asset,
            rng=account.rng,
            noise=account.noise,
            why=account.why,
            keep=keep,
        )
        folder.write(result, out)
        written(result)
    return result


def run_external_comparator(
    plan: ExternalPlan,
    table: Rows,
    out: Path,
    rng: np.random.Generator,
    *,
    python: str | None = None,
) -> ExternalResult:
    """Run another package on public rows and write its folder. Spends nothing.

    Args:
        plan: from `design_external`.
        table: public rows; private ones are refused unread.
        out: the folder.
        rng: gives the seed of the package.
        python: the interpreter that has the package, where it is not the one of the environment.
    """
    result = run_external(plan, table, rng=rng, python=python)
    folder.write(result, out)
    return result
