"""The command `prism learn-dag`: a blanket of the target, learned with part of the budget."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.cli.common import (
    add_limit_option,
    add_seed_option,
    add_workspace_option,
    check_seed,
    emit,
    ledger_for,
    say_unchecked,
    say_warnings,
    within_limit,
)
from prism_core.errors import ConfigError

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
    import numpy as np

    from prism_core.bundle.write import bundle_folder
    from prism_core.data.table_identity import remember_private
    from prism_core.learning.graph.graph_plan import design_graph
    from prism_core.learning.graph.learned_graph import graph_of_public, learn_graph
    from prism_core.planning.wishes import config as configs
    from prism_core.privacy.noise import SecureNoise, SeededNoise
    from prism_core.runs import recovery_file
    from prism_core.runs.inputs import fresh_rng, gather, ready
    from prism_core.structure import formats

    config = within_limit(configs.load(arguments.config), arguments)
    seed, out = arguments.seed, arguments.out
    check_seed(seed, public=config.table.public)
    _check_out(out)
    bundle_folder.check_bundle_folder(out.parent)
    inputs = gather(config, arguments.workspace, graph=False)
    plan = design_graph(
        inputs.schema,
        config.task.target,
        config.budget.epsilon,
        config.budget.delta,
        inputs.n,
        share=config.graph.share,
        members=config.graph.members,
        above_limit=config.budget.above_limit,
    )
    say_unchecked(inputs.schema.looks, public=config.table.public)
    say_warnings(plan.warnings)
    rng = fresh_rng() if seed is None else np.random.default_rng(seed)
    if arguments.exact:
        table = ready(inputs.schema, inputs.raw, public=config.table.public, rng=rng)
        found = graph_of_public(plan, table)
    else:
        ledger, asset = ledger_for(config, plan.delta, arguments.workspace)
        if ledger is not None:
            remember_private(ledger, asset, inputs.raw, plan.hash)
        table = ready(inputs.schema, inputs.raw, public=config.table.public, rng=rng)
        with recovery_file.reserved_space(ledger, recovery_file.SMALL) as room:
            found = learn_graph(
                plan,
                table,
                ledger=ledger,
                asset=asset,
                why=config.asset.why if config.asset else "",
                noise=SecureNoise() if seed is None else SeededNoise(rng),
            )
            text = formats.write(found.dag, "node-link")
            room.keep("graph", found.charge, {out.name: text})
            _put(text, out)
    if arguments.exact:
        _put(formats.write(found.dag, "node-link"), out)
    document = _document(found, out) | {"warnings": list(plan.warnings)}
    text = _text(found, plan, out)
    emit(arguments, document, text)


def _put(text: str, out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    files.give(out, text.encode("utf-8"))


def _check_out(out: Path) -> None:
    if out.exists() or out.suffix != ".json":
        raise ConfigError(
            "--out must name a new .json file: no other format holds what the graph cost.",
            field="out",
        )


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
