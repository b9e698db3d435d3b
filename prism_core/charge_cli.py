"""What the commands that may charge an asset share: the seed's rule and the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.errors import ConfigError, PrivacyError

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.config import RunConfig
    from prism_core.privacy.ledger import Ledger


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
    from prism_core.privacy.ledger import Ledger

    if config.table.public:
        return None, ""
    if name is not None:
        ledger = Ledger(workspace)
        return ledger, ledger.balance(name).asset.name
    if config.asset is None:
        raise PrivacyError(
            "A private table needs an [asset] section with a name and a lifetime_epsilon, so that "
            "its releases are charged.",
            field="asset",
        )
    ledger = Ledger(workspace)
    asset = ledger.register(
        config.asset.name,
        epsilon=config.asset.lifetime_epsilon,
        delta=delta if config.asset.lifetime_delta is None else config.asset.lifetime_delta,
    )
    return ledger, asset.name
