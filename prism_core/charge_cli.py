"""What the commands that may charge an asset share: the seed's rule and the ledger."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from prism_core.errors import ConfigError, PrivacyError

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.config import RunConfig
    from prism_core.privacy.ledger import Ledger
    from prism_core.privacy.prior import Prior


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


def say_owed(ledger: Ledger | None, asset: str, prior: Prior | None) -> None:
    """Tell the curator beforehand where learning is charged with the step. Spends nothing."""
    from prism_core.privacy.ledger.charging import owed

    found = None if ledger is None else owed(ledger, asset, prior)
    if found is not None:
        sys.stderr.write(f"prism: note: {found.sentence}\n")
