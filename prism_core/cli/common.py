"""What the commands share: options, what they print, seed, ledger, limit of epsilon, warnings."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.errors import ConfigError, PrivacyError
from prism_core.text import untrusted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    import numpy as np

    from prism_core.comparators.comparator_plan import ComparatorPlan
    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.schema.looks import Looks
    from prism_core.data.schema.schema import Schema
    from prism_core.data.source import Rows
    from prism_core.data.tables.raw_table import RawTable
    from prism_core.planning.asked_marginals import AskedMarginals
    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.config import RunConfig
    from prism_core.planning.wishes.curator_statement import CuratorStatement
    from prism_core.privacy.learning_charge import LearningCharge
    from prism_core.rehearsal.estimates import Estimate
    from prism_core.runs.inputs import Inputs
    from prism_core.runs.step_account import StepAccount


def emit(arguments: argparse.Namespace, document: Any, text: str) -> None:  # noqa: ANN401
    """Print what a command made: as JSON where that was asked for, else as text.

    JSON that nobody asked for is not made: it could fail, and what is told may be paid for.
    """
    if arguments.json:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    sys.stdout.write(f"{text}\n")


def add_seed_option(parser: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add the option of known noise."""
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="known noise, for tables marked public only: a rehearsal, not charged",
    )


def add_language_option(parser: Any) -> None:  # noqa: ANN401
    """Add the option of the language of a paper."""
    from prism_core.text.languages import LANGUAGES

    parser.add_argument(
        "--language",
        default="en",
        metavar="|".join(LANGUAGES),
        help="of the paper (default en)",
    )


def add_workspace_option(parser: Any) -> None:  # noqa: ANN401
    """Add the option of the workspace."""
    parser.add_argument(
        "--workspace", type=Path, metavar="DIR", help="folder of the ledger (default ~/.prism)"
    )


def add_limit_option(parser: argparse.ArgumentParser, *, when: str = "") -> None:
    """Add the option by which the workspace's maximum of epsilon is exceeded on purpose."""
    parser.add_argument(
        "--epsilon-above-limit",
        action="store_true",
        # None, not False: `prism evaluate` tells an option that was not given from one that was.
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
    # numpy refuses negative seeds, but its words do not name the option.
    if seed is not None and seed < 0:
        raise ConfigError("--seed must be 0 or more.", field="seed")


def account_for(
    config: RunConfig,
    delta: float,
    arguments: argparse.Namespace,
    *,
    rng: np.random.Generator | None = None,
    name: str | None = None,
) -> StepAccount:
    """The account of a step on a configuration's table; nothing is charged yet.

    Args:
        config: names the asset.
        delta: at which a new asset's lifetime is stated.
        arguments: name the workspace and the seed.
        rng: the generator of the step, where it has drawn already.
        name: of an asset that the ledger knows, instead of the configuration's.

    Raises:
        PrivacyError: when the configuration names no asset.
    """
    from prism_core.runs.step_account import open_account

    public = config.table.public
    return open_account(
        config.asset,
        delta,
        public=public,
        seed=arguments.seed,
        rng=rng,
        workspace=arguments.workspace,
        # Public rows are not charged, whatever asset is named.
        known=None if public else name,
    )


def say_owed(account: StepAccount, prior: LearningCharge | None) -> None:
    """Tell the curator beforehand where learning is charged with the step. Spends nothing."""
    from prism_core.privacy.ledger.charging import owed

    found = None if account.ledger is None else owed(account.ledger, account.asset, prior)
    if found is not None:
        sys.stderr.write(f"prism: note: {found.sentence}\n")


def account_and_rows(
    config: RunConfig,
    inputs: Inputs,
    plan: Plan | ComparatorPlan,
    prior: LearningCharge | None,
    arguments: argparse.Namespace,
    *,
    name: str | None = None,
    asked: AskedMarginals | None = None,
) -> tuple[StepAccount, Rows]:
    """The account of a step, and the rows as codes, which are remembered. Spends nothing.

    The asset is registered once the rows are read, so that a database that fails before leaves
    nothing behind. Where the ledger knows the rows under another asset the curator is told, and the
    run goes on as it is.

    Args:
        config: names the asset.
        inputs: schema and rows.
        plan: that will be charged.
        prior: what was learned before, which may be charged with the step.
        arguments: name the workspace and the seed.
        name: of an asset that the ledger knows, instead of the configuration's.
        asked: the marginals of a release; None where the rows themselves are needed.
    """
    from prism_core.privacy.ledger import default_workspace
    from prism_core.privacy.ledger.charging import check_account
    from prism_core.runs.inputs import ready, recognise
    from prism_core.runs.step_account import step_rng

    public = config.table.public
    # Before the rows are read, which may take long: what the ledger refuses is refused now.
    if not public and name is None:
        check_account(config.asset, plan.delta, arguments.workspace or default_workspace())
    rng = step_rng(arguments.seed)
    table = ready(inputs.schema, inputs.raw, public=public, rng=rng, asked=asked)
    account = account_for(config, plan.delta, arguments, rng=rng, name=name)
    say_owed(account, prior)
    # Without a ledger there are no other rows to recognise these among.
    if account.ledger is None:
        return account, table
    twin = recognise(account.ledger, account.asset, inputs.schema, inputs.raw, table, plan.hash)
    if twin:
        sys.stderr.write(f"prism: note: {twin}\n")
    return account, table


def say_unchecked(looks: Looks, *, public: bool, when: str = "") -> None:
    """Tell the curator before a charge that nobody looked whether private rows fit. Reads no row.

    Every command that charges calls it, and `prism plan`. Where columns are still to be learned
    nothing can be counted yet: `when` says from when on.
    """
    from prism_core.data.schema.looks import unchecked

    if note := unchecked(looks, public=public):
        sys.stderr.write(f"prism: note: {note}; prism check does{when}\n")


def say_misfits(schema: Schema, raw: RawTable | BigTable) -> None:
    """Tell the curator which columns the declaration cannot be meant for.

    Spends nothing and reads the rows: only for what reads them outside epsilon anyway, such as an
    evaluation.
    """
    from prism_core.data.coverage import coverage
    from prism_core.runs.inputs import some_rows

    for found in coverage(schema, some_rows(raw)):
        if found.misfit:
            sys.stderr.write(f"prism: note: {raw.name}: {found.advice}\n")


def add_said(command: argparse.ArgumentParser, *, asset: str = "--asset") -> None:
    """An option for everything that a person has to say of a release: who, what and why.

    Args:
        command: what takes them.
        asset: the option of the data asset in words, where `--asset` would name one to charge.
    """
    from prism_core.planning.wishes.curator_statement import LABELS

    said = command.add_argument_group("what you say about the release (public once handed over)")
    for name, (label, text) in LABELS.items():
        option = asset if name == "asset" else f"--{name}"
        said.add_argument(option, dest=name, default="", metavar="TEXT", help=f"{label}: {text}")


def said_of(arguments: argparse.Namespace) -> CuratorStatement:
    """What is said with the options of `add_said`.

    Raises:
        BundleError: naming the entry that is not usable.
    """
    from prism_core.planning.wishes.curator_statement import LABELS, CuratorStatement

    # Every option is there, "" where nothing was said: `add_said` made one for each.
    return CuratorStatement(**{name: getattr(arguments, name).strip() for name in LABELS})


def rehearsal_from(path: Path | None) -> tuple[Estimate, ...]:
    """The summary that `prism rehearse --json` prints last."""
    from prism_core.rehearsal.estimates import estimates_from

    if path is None:
        return ()
    text = untrusted.read_text(
        path, replace(untrusted.DOCUMENT, field="rehearsal", error=ConfigError)
    )
    try:
        # Points come first, one a line; the summary is the last line.
        last = text.strip().splitlines()[-1]
        return estimates_from(untrusted.from_json(last, untrusted.DOCUMENT)["estimates"])
    except (ValueError, IndexError, KeyError, TypeError):
        raise ConfigError(
            f"{path.name!r} does not hold what `prism rehearse --json` printed.", field="rehearsal"
        ) from None
