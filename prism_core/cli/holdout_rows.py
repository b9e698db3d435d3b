"""The rows kept aside of a run's folder: whether they are public, and who is charged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from prism_core.cli.common import account_for
from prism_core.errors import PrismError, PrivacyError

if TYPE_CHECKING:
    import argparse

    import numpy as np

    from prism_core.bundle.write.bundle_folder import BundleFolder
    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.schema.looks import Looks
    from prism_core.data.tables.address import Address
    from prism_core.data.tables.raw_table import RawTable
    from prism_core.planning.wishes.config import RunConfig
    from prism_core.runs.step_account import StepAccount


def opened(
    place: str, folder: BundleFolder, arguments: argparse.Namespace, *, public: bool
) -> RawTable | BigTable:
    """The rows kept aside. Spends nothing.

    Raises:
        KnownPrivateError: for rows that are called public and were charged as private here,
            unless the curator says --although-charged.
    """
    from prism_core.data.table_identity import check_public
    from prism_core.runs.inputs import address, open_rows

    style = {key: folder.local[key] for key in ("separator", "encoding") if key in folder.local}
    # In the workspace that is named: temporary files of a large table hold private rows.
    raw = open_rows(address(place), arguments.workspace, columns=folder.schema.header, **style)
    if public and not arguments.although_charged:
        check_public(raw, workspace=arguments.workspace)
    return raw


def is_public(
    arguments: argparse.Namespace, folder: BundleFolder, config: RunConfig | None
) -> bool:
    """Whether the holdout is public: the caller says so, or the configuration says it of this file.

    No manifest covers local.json, which names the configuration. So a configuration makes no
    other file public than its own holdout, and none where the certificate, which the manifest
    covers, tells of a charge: that table was private.
    """
    if arguments.holdout_public:
        return True
    if was_charged(folder) or config is None or not config.table.public:
        return False
    return _same_place(arguments.holdout, config.table.holdout)


def was_charged(folder: BundleFolder) -> bool:
    """Whether the certificate tells of a charge: the table was private."""
    return folder.certificate.get("stamp") == "release"


def _same_place(text: str, known: Path | Address | None) -> bool:
    from prism_core.runs.inputs import address

    place = address(text)
    if isinstance(place, Path) and isinstance(known, Path):
        return place.resolve() == known.resolve()
    return known is not None and place == known


def config_of(folder: BundleFolder) -> RunConfig | None:
    """The run's configuration, None where it is no longer there."""
    from prism_core.planning.wishes import config as configs

    path = Path(str(folder.local.get("config", "")))
    return configs.load(path) if path.is_file() else None


def looks_of(folder: BundleFolder, config: RunConfig | None) -> Looks:
    """What opened the rows: before the release, or since, by the file of the same declaration.

    `prism check` records its count in the curator's own file, not in a folder that is finished.
    """
    from prism_core.data.schema import schema_file

    looks = folder.schema.looks
    if config is None:
        return looks
    try:
        own = schema_file.load(config.table.schema)
    except PrismError:  # gone or changed since; the run's own copy holds
        return looks
    # Of other columns the count of `prism check` says nothing about this run.
    return own.looks if own.columns == folder.schema.columns else looks


def delta_of(folder: BundleFolder) -> float | None:
    """The run's delta."""
    return folder.certificate.get("guarantee", {}).get("delta")


def account_of_run(
    arguments: argparse.Namespace,
    config: RunConfig | None,
    delta: float,
    *,
    public: bool,
    rng: np.random.Generator | None = None,
) -> StepAccount:
    """Whom to charge; nobody only where the holdout is public.

    Raises:
        PrivacyError: when that is not known.
    """
    from prism_core.runs.step_account import open_account

    if arguments.asset is not None or public:
        return open_account(
            None,
            delta,
            public=public,
            seed=arguments.seed,
            rng=rng,
            workspace=arguments.workspace,
            known=arguments.asset,
        )
    if config is None:
        raise PrivacyError(
            "The configuration of this run is not at hand, so it is not known whom to charge. "
            "Name the asset with --asset.",
            field="asset",
        )
    if config.table.public:
        raise PrivacyError(
            "The run's table is public, but this holdout is not known to be: it is not the "
            "[table] holdout of the run's configuration. Name the asset to charge with --asset, "
            "or say --holdout-public if its rows are public.",
            field="asset",
        )
    # The configuration's purpose is that of the release: the step's own stands in the ledger.
    return replace(account_for(config, delta, arguments, rng=rng), why="")
