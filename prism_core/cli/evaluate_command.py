"""The command `prism evaluate`: a run against real rows; `--private`: numbers inside epsilon."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.cli.common import (
    above_limit,
    add_limit_option,
    check_seed,
    emit,
    say_misfits,
    say_unchecked,
    say_warnings,
)
from prism_core.cli.holdout_rows import (
    account_of_run,
    config_of,
    delta_of,
    is_public,
    looks_of,
    opened,
    was_charged,
)
from prism_core.errors import ConfigError

if TYPE_CHECKING:
    import argparse

    from prism_core.data.encoding import EncodedTable
    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.schema.schema import Schema
    from prism_core.data.tables.raw_table import RawTable
    from prism_core.evaluation.inside_epsilon.private_numbers import PrivateEvaluation
    from prism_core.planning.regimes import Aim


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `evaluate` to the program's commands: without --private it spends nothing."""
    evaluate = commands.add_parser(
        "evaluate", help="compare a run with real rows; outside epsilon, for the curator only"
    )
    evaluate.add_argument("dir", type=Path, metavar="DIR")
    evaluate.add_argument("--holdout", required=True, metavar="TABLE")
    evaluate.add_argument(
        "--train", metavar="TABLE", help="real training rows (default: the run's own)"
    )
    evaluate.add_argument(
        "--target",
        metavar="COLUMN",
        help="of a comparator's folder, which does not name one: the column to predict",
    )
    evaluate.add_argument(
        "--classes",
        action="store_true",
        help="tell the bins of a numeric target apart as classes (default: R^2 and RMSE)",
    )
    evaluate.set_defaults(run=_evaluate)
    _add_private(evaluate)
    evaluate.add_argument("--json", action="store_true", help="print JSON")


def _add_private(parser: argparse.ArgumentParser) -> None:
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
        # None, not False, so that `_check_unused` sees whether it was given.
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


def _check_unused(arguments: argparse.Namespace) -> None:
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


def _what(arguments: argparse.Namespace) -> tuple[Schema, Path, tuple[Aim, ...], dict[str, Any]]:
    """Of a run's or a comparator's folder: schema, synthetic rows, targets, how to read rows.

    Raises:
        ConfigError: when a comparator's target is not named, or that of a run is.
        TaskError: when it is no column.
    """
    from prism_core.bundle.write import bundle_folder
    from prism_core.comparators import folder as comparator_folder
    from prism_core.planning.regimes import Aim
    from prism_core.planning.step_plan import check_declared
    from prism_core.runs.finished_run import aims_of_run

    if not comparator_folder.is_folder(arguments.dir):
        if arguments.target is not None:
            raise ConfigError("A run has its own target; leave --target out.", field="target")
        folder = bundle_folder.read(arguments.dir)
        return folder.schema, folder.synthetic, aims_of_run(folder), folder.local
    if arguments.target is None:
        raise ConfigError(
            "The folder of a comparator names no target. Name a column: --target COLUMN.",
            field="target",
        )
    found = comparator_folder.read(arguments.dir)
    check_declared(arguments.target, found.schema)
    # It protects no features, so no score is from S alone.
    aim = Aim(target=arguments.target, weight=1.0, s=())
    return found.schema, found.path / comparator_folder.SYNTHETIC, (aim,), {}


def _evaluate(arguments: argparse.Namespace) -> None:
    from prism_core.data.table_identity import check_apart
    from prism_core.data.tables.address import split_sheet
    from prism_core.data.tables.raw_table import RawTable, read_table
    from prism_core.evaluation.evaluate import evaluate_targets
    from prism_core.evaluation.evaluate import evaluation_document as targets_document
    from prism_core.evaluation.score_text import score_lines
    from prism_core.runs.finished_run import encode_synthetic
    from prism_core.runs.inputs import address, encode_holdout, fresh_rng, open_rows

    if arguments.private is not None:
        if arguments.target is not None:
            raise ConfigError("--target is for a comparator without --private.", field="target")
        document, text = _private(arguments)
        emit(arguments, document, text)
        return
    _check_unused(arguments)
    schema, synthetic, aims, local = _what(arguments)
    # Other tables of a curator are taken to be written like the run's own.
    style = {key: local[key] for key in ("separator", "encoding") if key in local}

    def opened_rows(place: str) -> RawTable | BigTable:
        raw = open_rows(address(place), columns=schema.header, **style)
        say_misfits(schema, raw)
        return raw

    def real(raw: RawTable | BigTable) -> EncodedTable:
        return encode_holdout(schema, raw, rng=fresh_rng())

    train = arguments.train
    # The run's own rows may have gone since: then there is no ceiling, and no error.
    own = local.get("train")
    if train is None and own is not None and split_sheet(Path(own))[0].is_file():
        train = own
    held = opened_rows(arguments.holdout)
    taught = None if train is None else opened_rows(train)
    if taught is not None and isinstance(held, RawTable):
        check_apart(held, taught, schema.person_id)
    found = evaluate_targets(
        encode_synthetic(schema, read_table(synthetic)),
        real(held),
        aims,
        train=None if taught is None else real(taught),
        as_classes=arguments.classes,
    )
    document = targets_document(found, aims)
    emit(arguments, document, "\n".join(score_lines(document["metrics"])))


def _private(arguments: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Evaluate privately; gives the certificate's entry and a text.

    Spends: what `design_private` plans for --private, charged before the first count. Whatever
    can be refused is refused before.

    Raises:
        BundleError: when the folder is not as its manifest says, or the place to write to is in it.
        PrivacyError: when it is not known whom to charge.
    """
    from prism_core.bundle import manifest
    from prism_core.bundle.write import bundle_folder
    from prism_core.evaluation.inside_epsilon.private_plan import design_private
    from prism_core.runs.charged_evaluation import numbers_place, run_private_numbers
    from prism_core.runs.finished_run import synthetic_rows
    from prism_core.runs.inputs import encode_holdout
    from prism_core.runs.step_account import step_rng

    folder = bundle_folder.read(arguments.dir)
    # Before anything is bought: numbers about a changed folder would be paid for and worthless.
    manifest.check_manifest(folder.path, signed=was_charged(folder))
    config = config_of(folder)
    public = is_public(arguments, folder, config)
    check_seed(arguments.seed, public=public)
    most = above_limit(arguments.private, arguments, public=public)
    out = numbers_place(arguments.out, folder.path)
    # One generator for the rows of persons and known noise: a rehearsal has one seed.
    rng = step_rng(arguments.seed)
    raw = opened(arguments.holdout, folder, arguments, public=public)
    # One row of each person: the proof of private numbers is of one.
    schema = folder.schema.with_one_row()
    holdout = encode_holdout(schema, raw, rng=rng, public=public)
    plan = design_private(
        schema,
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
    account = account_of_run(arguments, config, plan.delta, public=public, rng=rng)
    synthetic = synthetic_rows(folder)
    found = run_private_numbers(plan, synthetic, holdout, out, account, remember=raw)
    return found.to_dict(), _text(found, Path(out.name))


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
            # z: noise may make it slightly negative, and -0.0000 reads like a mistake.
            lines.append(f"{what} {number.value:z.4f}  95% {low:z.4f} to {high:z.4f}")
    return "\n".join([*lines, f"written to {out}"])
