"""`prism evaluate DIR --holdout F --private EPSILON`: headline numbers inside epsilon."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.charge_cli import check_seed, ledger_for
from prism_core.errors import ConfigError, PrivacyError

if TYPE_CHECKING:
    import argparse

    from prism_core.bundle.writer import Folder
    from prism_core.config import RunConfig
    from prism_core.evaluation.private import PrivateEvaluation
    from prism_core.privacy.ledger import Ledger


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of a private evaluation."""
    parser.add_argument(
        "--private", type=float, metavar="EPSILON",
        help="instead, buy AUC and accuracy inside epsilon; charged to the run's asset",
    )  # fmt: skip
    parser.add_argument("--delta", type=float, help="with --private (default: the run's)")
    parser.add_argument(
        "--asset", metavar="NAME",
        help="with --private: an asset of the ledger, where the run's configuration is gone",
    )  # fmt: skip
    parser.add_argument(
        "--workspace", type=Path, metavar="DIR",
        help="with --private: folder of the ledger (default ~/.prism)",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=int, metavar="N",
        help="with --private: known noise, for tables marked public only; not charged",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, metavar="FILE",
        help="with --private: where to write them (default: DIR-private-evaluation.json)",
    )  # fmt: skip


def check_unused(arguments: argparse.Namespace) -> None:
    """Refuse options that mean something with --private only.

    Raises:
        ConfigError: naming the option.
    """
    for name in ("delta", "asset", "workspace", "seed", "out"):
        if getattr(arguments, name) is not None:
            raise ConfigError(f"--{name} needs --private EPSILON.", field=name)


def run(arguments: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Evaluate privately; gives the certificate's entry and a text.

    Spends: what `design_private` plans for --private, charged before the first count.
    """
    import numpy as np

    from prism_core.bundle import writer
    from prism_core.evaluation.private import evaluate_private
    from prism_core.evaluation.private_plan import design_private
    from prism_core.privacy.noise import SecureNoise, SeededNoise
    from prism_core.workspace import (
        address,
        encode_holdout,
        fresh_rng,
        open_rows,
        synthetic_rows,
    )

    folder = writer.read(arguments.dir)
    config = _config(folder)
    public = config is not None and config.table.public
    check_seed(arguments.seed, public=public)
    # Beside the folder, not in it: the folder is finished, and whoever checks it counts its files.
    place = folder.path.resolve()
    out = arguments.out or place.with_name(f"{place.name}-{writer.PRIVATE_EVALUATION}")
    writer.check_target(out.parent)
    style = {key: folder.local[key] for key in ("separator", "encoding") if key in folder.local}
    rng = fresh_rng() if arguments.seed is None else np.random.default_rng(arguments.seed)
    holdout = encode_holdout(
        folder.schema, open_rows(address(arguments.holdout), **style), rng=rng, public=public
    )
    plan = design_private(
        folder.schema, folder.certificate["task"]["target"], holdout.n, arguments.private,
        _delta(folder) if arguments.delta is None else arguments.delta,
        release=str(folder.certificate.get("plan_sha256", "")),
    )  # fmt: skip
    ledger, asset = _ledger(arguments, config, plan.delta)
    found = evaluate_private(
        plan, synthetic_rows(folder), holdout,
        ledger=ledger, asset=asset,
        noise=SecureNoise() if arguments.seed is None else SeededNoise(rng),
    )  # fmt: skip
    document = found.to_dict()
    out.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return document, _text(found, out)


def _config(folder: Folder) -> RunConfig | None:
    from prism_core import config as configs

    path = Path(str(folder.local.get("config", "")))
    return configs.load(path) if path.is_file() else None


def _delta(folder: Folder) -> float | None:
    return folder.certificate.get("guarantee", {}).get("delta")


def _ledger(
    arguments: argparse.Namespace, config: RunConfig | None, delta: float
) -> tuple[Ledger | None, str]:
    from prism_core.privacy.ledger import Ledger

    if arguments.asset is not None:
        ledger = Ledger(arguments.workspace)
        return ledger, ledger.balance(arguments.asset).asset.name
    if config is None:
        raise PrivacyError(
            "The configuration of this run is not at hand, so it is not known whom to charge. "
            "Name the asset with --asset.",
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
            lines.append(f"{what} {number.value:.4f}  95% {low:.4f} to {high:.4f}")
    return "\n".join([*lines, f"written to {out}"])
