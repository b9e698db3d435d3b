"""The command `prism learn-dag`: a blanket of the target, learned with part of the budget."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.cli.common import (
    account_for,
    add_limit_option,
    add_seed_option,
    add_workspace_option,
    check_seed,
    emit,
    say_unchecked,
    say_warnings,
    within_limit,
)

if TYPE_CHECKING:
    import argparse

    from prism_core.learning.graph.graph_plan import GraphPlan
    from prism_core.learning.graph.learned_graph import LearnedDag


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `learn-dag` to the program's commands."""
    learn = commands.add_parser(
        "learn-dag", help="learn the target's blanket with part of the budget; not causal"
    )
    learn.add_argument("config", type=Path, metavar="CONFIG.toml")
    learn.add_argument("--out", type=Path, required=True, metavar="DAG.json")
    how = learn.add_mutually_exclusive_group()
    add_seed_option(how)
    how.add_argument(
        "--exact", action="store_true", help="no noise and no cost, for tables marked public only"
    )
    add_workspace_option(learn)
    add_limit_option(learn)
    learn.add_argument("--json", action="store_true", help="print JSON")
    learn.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from prism_core.learning.graph.learned_graph import graph_of_public
    from prism_core.planning.wishes import config as configs
    from prism_core.privacy.ledger import default_workspace
    from prism_core.privacy.ledger.charging import check_account
    from prism_core.runs.charged_learning import (
        check_graph_place,
        graph_plan,
        run_learn_graph,
        write_graph,
    )
    from prism_core.runs.inputs import gather, ready
    from prism_core.runs.step_account import step_rng
    from prism_core.structure import formats

    config, out = within_limit(configs.load(arguments.config), arguments), arguments.out
    public = config.table.public
    check_seed(arguments.seed, public=public)
    # Before the rows are read, which may take long.
    check_graph_place(out)
    # The graph that the configuration names is what is to be learned.
    inputs = gather(config, arguments.workspace, graph=False)
    plan = graph_plan(config, inputs.schema, inputs.n)
    say_unchecked(inputs.schema.looks, public=public)
    say_warnings(plan.warnings)
    if arguments.exact:
        table = ready(inputs.schema, inputs.raw, public=public, rng=step_rng(arguments.seed))
        found = graph_of_public(plan, table)
        write_graph(formats.write(found.dag, "node-link"), out)
    else:
        if not public:
            # What the ledger refuses is refused before the rows are read.
            check_account(config.asset, plan.delta, arguments.workspace or default_workspace())
        # One generator for the row of a person and for known noise: a rehearsal has one seed.
        rng = step_rng(arguments.seed)
        table = ready(inputs.schema, inputs.raw, public=public, rng=rng)
        account = account_for(config, plan.delta, arguments, rng=rng)
        found = run_learn_graph(plan, table, out, account, remember=inputs.raw)
    document = _document(found, out) | {"warnings": list(plan.warnings)}
    text = _text(found, plan, out)
    emit(arguments, document, text)


def _document(found: LearnedDag, out: Path) -> dict[str, Any]:
    spent = found.spent
    return {
        "out": str(out),
        "members": list(found.members),
        "spent": None
        if spent is None
        else {"epsilon": spent.epsilon, "delta": spent.delta, "rho": spent.rho},
        "charge": found.charge,
        "stamp": found.stamp,
    }


def _text(found: LearnedDag, plan: GraphPlan, out: Path) -> str:
    cost = (
        "no cost"
        if found.spent is None
        else f"epsilon {found.spent.epsilon:.3g} of {plan.epsilon:g}, delta {plan.delta:.3g}"
    )
    if not found.members:
        return (
            f"{found.stamp}: no column stood out of the noise, so {out} has no edge ({cost}). Use "
            "the predictive regime, or draw the graph."
        )
    return (
        f"{found.stamp}: MB({plan.target}) = {{{', '.join(found.members)}}} in {out} ({cost}). "
        "Not causal: the direction of its edges means nothing. Name it as dag in [table] for a "
        "release in the graphical regime."
    )
