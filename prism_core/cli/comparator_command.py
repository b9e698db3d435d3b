"""The command `prism comparator`: a general-purpose synthesizer on the table of a configuration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.cli.common import (
    above_limit,
    account_and_rows,
    add_limit_option,
    add_seed_option,
    add_workspace_option,
    check_seed,
    emit,
    say_unchecked,
    say_warnings,
)
from prism_core.errors import PrivacyError

if TYPE_CHECKING:
    import argparse

    from prism_core.comparators import ComparatorResult
    from prism_core.comparators.external import ExternalResult


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `comparator` to the program's commands."""
    parser = commands.add_parser(
        "comparator",
        help="run a synthesizer that knows no target (independent, MST, AIM, or one of another "
        "package), at the same epsilon and the same neighbours as a release",
    )
    parser.add_argument("config", type=Path, metavar="CONFIG.toml")
    parser.add_argument(
        "--method",
        required=True,
        metavar="independent|mst|aim|privbayes|smartnoise-mst|dpmm-mst",
        help="the last three are other packages, for tables marked public only (with --seed)",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--epsilon", type=float, help="instead of the configuration's; it has a charge of its own"
    )
    parser.add_argument("--delta", type=float, help="instead of the configuration's")
    parser.add_argument(
        "--degree", type=int, default=3, help="columns of AIM's workload, 2 or 3 (default 3)"
    )
    parser.add_argument(
        "--rows", type=int, help="synthetic rows (default: the configuration's, else n)"
    )
    parser.add_argument(
        "--asset", metavar="NAME", help="an asset of the ledger, instead of the configuration's"
    )
    add_seed_option(parser)
    add_workspace_option(parser)
    parser.add_argument(
        "--python",
        metavar="FILE",
        help="that has the other package (or PRISM_COMPARATOR_PYTHON_DATASYNTHESIZER, _SMARTNOISE, "
        "_DPMM)",
    )
    add_limit_option(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from prism_core.comparators.external import EXTERNAL

    if arguments.method in EXTERNAL:
        _run_external(arguments)
    else:
        _run_own(arguments)


def _run_own(arguments: argparse.Namespace) -> None:
    from prism_core.comparators import design_comparator, folder
    from prism_core.planning.wishes import config as configs
    from prism_core.privacy.ledger import default_workspace, rules
    from prism_core.runs.charged_comparator import check_comparator_place, run_charged_comparator
    from prism_core.runs.inputs import gather

    config = configs.load(arguments.config)
    public = config.table.public
    check_seed(arguments.seed, public=public)
    if not public:
        # The gate asks again; here the refusal comes before any row is read.
        rules.check_rules("comparator", arguments.workspace or default_workspace())
    check_comparator_place(arguments.out)
    epsilon = config.budget.epsilon if arguments.epsilon is None else arguments.epsilon
    most = above_limit(epsilon, arguments, public=public, said=config.budget.above_limit)
    # Comparators know no graph, so a missing or broken file of one is no matter here.
    inputs = gather(config, arguments.workspace, graph=False)
    plan = design_comparator(
        arguments.method,
        inputs.schema,
        inputs.n,
        epsilon,
        config.budget.delta if arguments.delta is None else arguments.delta,
        degree=arguments.degree,
        above_limit=most,
        rows=config.synthesis.rows if arguments.rows is None else arguments.rows,
    )
    say_unchecked(inputs.schema.looks, public=public)
    say_warnings(plan.warnings)
    account, table = account_and_rows(
        config, inputs, plan, plan.schema.prior, arguments, name=arguments.asset
    )
    made = run_charged_comparator(plan, table, arguments.out, account)
    found = {"out": str(arguments.out), **folder.document(made), "seconds": round(made.seconds)}
    emit(arguments, found, _text(made, arguments.out))


def _run_external(arguments: argparse.Namespace) -> None:
    """Another package, on public rows. Spends nothing; private rows are refused unread."""
    from prism_core.comparators.external import design_external
    from prism_core.planning.wishes import config as configs
    from prism_core.runs.charged_comparator import check_comparator_place, run_external_comparator
    from prism_core.runs.inputs import gather, generator, ready

    config, seed = configs.load(arguments.config), arguments.seed
    if not config.table.public or seed is None:
        raise PrivacyError(
            "Nobody here can vouch for the noise of another package. It runs on tables that are "
            "marked public only, with --seed; take mst or aim for private rows.",
            field="method",
        )
    # For its sign alone: without a seed or with private rows it was refused above.
    check_seed(seed, public=True)
    check_comparator_place(arguments.out)
    inputs = gather(config, arguments.workspace, graph=False)
    plan = design_external(
        arguments.method,
        inputs.schema,
        inputs.n,
        config.budget.epsilon if arguments.epsilon is None else arguments.epsilon,
        config.budget.delta if arguments.delta is None else arguments.delta,
        rows=config.synthesis.rows if arguments.rows is None else arguments.rows,
    )
    rng = generator(seed)
    table = ready(inputs.schema, inputs.raw, public=True, rng=rng)
    made = run_external_comparator(plan, table, arguments.out, rng, python=arguments.python)
    found = {"out": str(arguments.out), **made.document(), "seconds": round(made.seconds)}
    emit(arguments, found, _foreign_text(made, arguments.out))


def _foreign_text(made: ExternalResult, out: Path) -> str:
    plan, about, told = made.plan, made.plan.about, made.plan.told
    return "\n".join(
        (
            f"{made.document()['stamp']}: {about.title}, {plan.rows:,} rows in {out}",
            about.sentence,
            f"asked for: epsilon {told.epsilon:g}, delta {told.delta:.3g}, neighbours: "
            "replace one person",
            f"told: epsilon {told.told_epsilon:.6g}, delta {told.told_delta:.3g}, its neighbours: "
            f"{told.published}; {told.rule}",
            f"nobody here vouches for it: {about.found}",
        )
    )


def _text(made: ComparatorResult, out: Path) -> str:
    plan = made.plan
    charge = "" if made.charge is None else f", charge {made.charge}"
    return "\n".join(
        (
            f"{made.stamp}: {plan.about.title}, {plan.rows:,} rows in {out} (epsilon "
            f"{plan.epsilon:g}, delta {plan.delta:.3g}{charge})",
            plan.about.sentence,
            f"neighbours: {plan.about.neighbours} (as published: "
            f"{plan.about.published_neighbours})",
            f"{made.measurements:,} marginals measured; spent epsilon {made.spent.epsilon:.6g}",
        )
    )
