"""What the commands that may charge an asset share: seed, ledger, limit of epsilon, warnings."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from prism_core.errors import ConfigError, PrivacyError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable
    from pathlib import Path

    from prism_core.planning.wishes.config import RunConfig
    from prism_core.privacy.learning_charge import LearningCharge
    from prism_core.privacy.ledger import Ledger


def add_limit_option(parser: argparse.ArgumentParser, *, when: str = "") -> None:
    """Add the option by which the workspace's maximum of epsilon is exceeded on purpose."""
    parser.add_argument(
        "--epsilon-above-limit",
        action="store_true",
        default=None,
        help=f"{when}exceed the workspace's maximum epsilon ([limits] max_epsilon) on purpose; "
        "every paper says so",
    )


def above_limit(
    epsilon: float, arguments: argparse.Namespace, *, public: bool, said: float | None = None
) -> float | None:
    """The workspace's maximum where this epsilon exceeds it on purpose; None where it does not.

    Public rows have no maximum: nobody is charged for them.

    Raises:
        BudgetError: when it is exceeded and that was not said, before any row is read.
    """
    from prism_core.privacy.ledger import default_workspace, rules

    if public:
        return None
    return rules.above_limit(
        epsilon,
        arguments.workspace or default_workspace(),
        allowed=bool(arguments.epsilon_above_limit),
        said=said,
    )


def within_limit(config: RunConfig, arguments: argparse.Namespace) -> RunConfig:
    """The configuration, whose budget says so where it exceeds the workspace's maximum.

    Raises:
        BudgetError: when it does and that was not said, before any row is read.
    """
    budget = config.budget
    most = above_limit(
        budget.epsilon, arguments, public=config.table.public, said=budget.above_limit
    )
    return replace(config, budget=replace(budget, above_limit=most))


def say_warnings(warnings: Iterable[str]) -> None:
    """What a plan warns of, on standard error; to be called before anything is charged."""
    for warning in warnings:
        sys.stderr.write(f"warning: {warning}\n")


def check_seed(seed: int | None, *, public: bool) -> None:
    """Refuse a seed for a private table, or one that is no seed.

    Raises:
        PrivacyError, ConfigError: naming the option.
    """
    if seed is not None and not public:
        raise PrivacyError(
            "--seed is for tables marked public only: noise that is known can be subtracted.",
            field="seed",
        )
    if seed is not None and seed < 0:
        raise ConfigError("--seed must be 0 or more.", field="seed")


def ledger_for(
    config: RunConfig, delta: float, workspace: Path | None, *, name: str | None = None
) -> tuple[Ledger | None, str]:
    """The ledger and the registered asset of a private table; nothing is charged yet.

    Args:
        config: names the asset.
        delta: at which a new asset's lifetime is stated.
        workspace: folder of the ledger.
        name: of an asset that the ledger knows, instead of the configuration's.

    Raises:
        PrivacyError: when the configuration names no asset.
    """
    from prism_core.privacy.ledger.charging import account

    public = config.table.public
    return account(
        config.asset, delta, public=public, workspace=workspace, known=None if public else name
    )


def say_owed(ledger: Ledger | None, asset: str, prior: LearningCharge | None) -> None:
    """Tell the curator beforehand where learning is charged with the step. Spends nothing."""
    from prism_core.privacy.ledger.charging import owed

    found = None if ledger is None else owed(ledger, asset, prior)
    if found is not None:
        sys.stderr.write(f"prism: note: {found.sentence}\n")
