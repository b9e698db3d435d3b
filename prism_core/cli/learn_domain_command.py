"""The command `prism learn-domain`: columns learned with part of the budget."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

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


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `learn-domain` to the program's commands."""
    learn = commands.add_parser(
        "learn-domain", help="learn bounds, bins and categories with part of the budget"
    )
    learn.add_argument("config", type=Path, metavar="CONFIG.toml")
    learn.add_argument("--out", type=Path, required=True, metavar="SCHEMA.yaml")
    add_seed_option(learn)
    add_workspace_option(learn)
    add_limit_option(learn)
    learn.set_defaults(run=_learn)
    learn.add_argument("--json", action="store_true", help="print JSON")


def _learn(arguments: argparse.Namespace) -> None:
    import numpy as np

    from prism_core.bundle.write import bundle_folder
    from prism_core.data.schema import schema_file
    from prism_core.data.table_identity import remember_private
    from prism_core.learning.domain.domain_plan import design_domain
    from prism_core.learning.domain.learned_domain import learn_domain
    from prism_core.learning.domain.outline_io import load_outline
    from prism_core.planning.wishes import config as configs
    from prism_core.privacy.noise import SecureNoise, SeededNoise
    from prism_core.runs import recovery_file
    from prism_core.runs.inputs import fresh_rng, read_rows
    from prism_core.text.numbers import count_text

    config = within_limit(configs.load(arguments.config), arguments)
    seed, out = arguments.seed, arguments.out
    check_seed(seed, public=config.table.public)
    if out.is_dir() or out.resolve() == config.table.schema.resolve():
        raise ConfigError("--out must name a new file for the learned schema.", field="out")
    bundle_folder.check_bundle_folder(out.parent)
    outline = load_outline(config.table.schema)
    raw = read_rows(config, config.table.train, arguments.workspace, columns=outline.header)
    plan = design_domain(
        outline,
        config.budget.epsilon,
        config.budget.delta,
        outline.persons or raw.rows,
        share=config.domain.share,
        delta_share=config.domain.delta_share,
        above_limit=config.budget.above_limit,
    )
    say_unchecked(outline.looks, public=config.table.public, when=", once the columns are learned")
    say_warnings(plan.warnings)
    rng = fresh_rng() if seed is None else np.random.default_rng(seed)
    ledger, asset = ledger_for(config, plan.delta, arguments.workspace)
    if ledger is not None:
        remember_private(ledger, asset, raw, plan.hash)
    with recovery_file.reserved_space(ledger, recovery_file.SMALL) as room:
        found = learn_domain(
            plan,
            raw,
            ledger=ledger,
            asset=asset,
            why=config.asset.why if config.asset else "",
            noise=SecureNoise() if seed is None else SeededNoise(rng),
            rng=rng,
            public=config.table.public,
        )
        room.keep("domain", found.charge, {out.name: schema_file.dumps(found.schema)})
        out.parent.mkdir(parents=True, exist_ok=True)
        schema_file.save(found.schema, out)
    document = {
        "out": str(out),
        "columns": [request.name for request in outline.requests],
        "spent": {
            "epsilon": found.spent.epsilon,
            "delta": found.spent.delta,
            "rho": found.spent.rho,
        },
        "charge": found.charge,
        "stamp": found.stamp,
        "warnings": list(plan.warnings),
    }
    text = (
        f"{found.stamp}: {count_text(len(outline.requests), 'column')} in {out} (epsilon "
        f"{found.spent.epsilon:.3g} of {plan.epsilon:g}, delta {plan.delta:.3g}). Name this "
        "schema in [table] for the release."
    )
    emit(arguments, document, text)
