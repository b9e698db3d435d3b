"""`prism evaluate DIR --holdout F --private EPSILON`: headline numbers inside epsilon."""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.cli.check_command import say_unchecked
from prism_core.cli.common import (
    above_limit,
    add_limit_option,
    check_seed,
    ledger_for,
    say_warnings,
)
from prism_core.errors import ConfigError, PrismError, PrivacyError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import BinaryIO

    from prism_core.bundle.write.bundle_folder import BundleFolder
    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.schema.looks import Looks
    from prism_core.data.tables.address import Address
    from prism_core.data.tables.raw_table import RawTable
    from prism_core.evaluation.inside_epsilon.private_numbers import PrivateEvaluation
    from prism_core.planning.wishes.config import RunConfig
    from prism_core.privacy.ledger import Ledger


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of a private evaluation."""
    parser.add_argument(
        "--private",
        type=float,
        metavar="EPSILON",
        help="instead, buy AUC and accuracy (R^2 and RMSE of a numeric target) inside epsilon; "
        "charged to the run's asset",
    )
    parser.add_argument("--delta", type=float, help="with --private (default: the run's)")
    parser.add_argument(
        "--asset",
        metavar="NAME",
        help="with --private: an asset of the ledger, where the run's configuration is gone",
    )
    parser.add_argument(
        "--workspace",
        type=Path,
        metavar="DIR",
        help="with --private: folder of the ledger (default ~/.prism)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="with --private: known noise, for public holdouts only; not charged",
    )
    parser.add_argument(
        "--holdout-public",
        action="store_true",
        default=None,
        help="with --private: the holdout's rows are public; nobody is charged for them",
    )
    parser.add_argument(
        "--although-charged",
        action="store_true",
        default=None,
        help="with --private: these public rows are public although they were charged here before",
    )
    add_limit_option(parser, when="with --private: ")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="with --private: where to write them (default: DIR-private-evaluation.json)",
    )


def check_unused(arguments: argparse.Namespace) -> None:
    """Refuse options that mean something with --private only.

    Raises:
        ConfigError: naming the option.
    """
    for name in (
        "delta",
        "asset",
        "workspace",
        "seed",
        "holdout_public",
        "although_charged",
        "epsilon_above_limit",
        "out",
    ):
        if getattr(arguments, name) is not None:
            raise ConfigError(f"--{name.replace('_', '-')} needs --private EPSILON.", field=name)


def run(arguments: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Evaluate privately; gives the certificate's entry and a text.

    Spends: what `design_private` plans for --private, charged before the first count. Whatever
    can be refused is refused before.

    Raises:
        BundleError: when the folder is not as its manifest says, or the place to write to is in it.
        PrivacyError: when it is not known whom to charge.
    """
    import numpy as np

    from prism_core.bundle import manifest
    from prism_core.bundle.write import bundle_folder
    from prism_core.evaluation.inside_epsilon.private_numbers import evaluate_private
    from prism_core.evaluation.inside_epsilon.private_plan import design_private
    from prism_core.privacy.noise import SecureNoise, SeededNoise
    from prism_core.runs import recovery_file
    from prism_core.runs.inputs import encode_holdout, fresh_rng, synthetic_rows

    folder = bundle_folder.read(arguments.dir)
    manifest.check_manifest(folder.path, signed=was_charged(folder))
    config = config_of(folder)
    public = is_public(arguments, folder, config)
    check_seed(arguments.seed, public=public)
    most = above_limit(arguments.private, arguments, public=public)
    out = _place(arguments.out, folder)
    rng = fresh_rng() if arguments.seed is None else np.random.default_rng(arguments.seed)
    raw = opened(arguments.holdout, folder, arguments, public=public)
    holdout = encode_holdout(folder.schema, raw, rng=rng, public=public)
    plan = design_private(
        folder.schema,
        folder.certificate["task"]["target"],
        holdout.n,
        arguments.private,
        delta_of(folder) if arguments.delta is None else arguments.delta,
        release=str(folder.certificate.get("plan_sha256", "")),
        as_classes=arguments.classes,
        above_limit=most,
    )
    say_unchecked(looks_of(folder, config), public=public)
    say_warnings(plan.warnings)
    ledger, asset = ledger_of(arguments, config, plan.delta, public=public)
    remember(ledger, asset, raw, plan.hash)
    # Whether it can be written is known before the charge; that it could not, before the room goes.
    with recovery_file.reserved_space(ledger, recovery_file.SMALL) as room, _written(out) as file:
        found = evaluate_private(
            plan,
            synthetic_rows(folder),
            holdout,
            ledger=ledger,
            asset=asset,
            noise=SecureNoise() if arguments.seed is None else SeededNoise(rng),
        )
        text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n"
        room.keep("evaluation", found.charge, {out.name: text})
        file.write(text.encode("utf-8"))
    return found.to_dict(), _text(found, Path(out.name))


def _place(asked: Path | None, folder: BundleFolder) -> Path:
    """The file of the numbers.

    By default it stands beside the folder, not in it: the folder is finished, and whoever checks
    it counts its files.

    Raises:
        BundleError: when it may not be written.
    """
    from prism_core.bundle.report.report_copy import check_place
    from prism_core.bundle.write import bundle_folder

    place = folder.path.resolve()
    out = asked or place.with_name(f"{place.name}-{bundle_folder.PRIVATE_EVALUATION}")
    check_place(out, folder.path)
    return out


@contextmanager
def _written(out: Path) -> Iterator[BinaryIO]:
    """The file of the numbers, opened before anything is charged; what fails leaves it as it was.

    Raises:
        ConfigError: when it cannot be opened.
    """
    with ExitStack() as held:
        try:
            file = held.enter_context(files.whole(out))
        except OSError:
            raise ConfigError(
                f"{out.name!r} cannot be written. Name another file, or check your permissions; "
                "nothing was charged.",
                field="out",
            ) from None
        yield file


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
    raw = open_rows(address(place), columns=folder.schema.header, **style)
    if public and not arguments.although_charged:
        check_public(raw, workspace=arguments.workspace)
    return raw


def remember(ledger: Ledger | None, asset: str, raw: RawTable | BigTable, plan: str) -> None:
    """Remember a holdout that is charged, so that it does not pass for public later.

    Spends nothing: what is remembered stays in the workspace, under its key.
    """
    from prism_core.data.table_identity import remember_private

    if ledger is not None:
        remember_private(ledger, asset, raw, plan)


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
    return own.looks if own.columns == folder.schema.columns else looks


def delta_of(folder: BundleFolder) -> float | None:
    """The run's delta."""
    return folder.certificate.get("guarantee", {}).get("delta")


def ledger_of(
    arguments: argparse.Namespace, config: RunConfig | None, delta: float, *, public: bool
) -> tuple[Ledger | None, str]:
    """Whom to charge; nobody only where the holdout is public.

    Raises:
        PrivacyError: when that is not known.
    """
    from prism_core.privacy.ledger.charging import account

    if arguments.asset is not None or public:
        return account(
            None, delta, public=public, workspace=arguments.workspace, known=arguments.asset
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
    return ledger_for(config, delta, arguments.workspace)


def _text(found: PrivateEvaluation, out: Path) -> str:
    charge = "" if found.charge is None else f", charge {found.charge}"
    lines = [
        f"{found.stamp}: epsilon {found.spent.epsilon:.4g}, delta {found.spent.delta:.3g}{charge}",
        "trained on synthetic rows, tested on real ones; intervals hold the noise alone",
    ]
    for number in found.numbers:
        what = f"{number.name:9} {number.subject[:40]:40}"
        if number.interval is None or number.value is None:
            lines.append(f"{what} {number.note}")
        else:
            low, high = number.interval
            lines.append(f"{what} {number.value:z.4f}  95% {low:z.4f} to {high:z.4f}")
    return "\n".join([*lines, f"written to {out}"])
