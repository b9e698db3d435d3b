"""The command `prism learn-domain`: columns learned with part of the budget."""

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

    from prism_core.data.schema.schema import Schema
    from prism_core.learning.domain.requests import Outline


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `learn-domain` to the program's commands."""
    learn = commands.add_parser(
        "learn-domain",
        help="learn bounds, bins, categories and rows per person with part of the budget",
    )
    learn.add_argument("config", type=Path, metavar="CONFIG.toml")
    learn.add_argument("--out", type=Path, required=True, metavar="SCHEMA.yaml")
    add_seed_option(learn)
    add_workspace_option(learn)
    add_limit_option(learn)
    learn.set_defaults(run=_learn)
    learn.add_argument("--json", action="store_true", help="print JSON")


def _learn(arguments: argparse.Namespace) -> None:
    from prism_core.learning.domain.outline_io import load_outline
    from prism_core.planning.wishes import config as configs
    from prism_core.privacy.ledger import default_workspace
    from prism_core.privacy.ledger.charging import check_account
    from prism_core.runs.charged_learning import (
        check_schema_place,
        countable,
        domain_plan,
        run_learn_domain,
    )
    from prism_core.runs.inputs import configured_rows

    config, out = within_limit(configs.load(arguments.config), arguments), arguments.out
    public = config.table.public
    check_seed(arguments.seed, public=public)
    check_schema_place(out, config.table.schema)
    outline = load_outline(config.table.schema)
    raw = configured_rows(config, config.table.train, arguments.workspace, columns=outline.header)
    plan = domain_plan(config, outline, raw.rows)
    say_unchecked(outline.looks, public=public, when=", once the columns are learned")
    say_warnings(plan.warnings)
    # What the ledger refuses is refused before anything is counted.
    if not public:
        check_account(config.asset, plan.delta, arguments.workspace or default_workspace())
    counts = countable(plan, raw)
    account = account_for(config, plan.delta, arguments)
    found = run_learn_domain(plan, counts, out, account, public=public, remember=raw)
    document = {
        "out": str(out),
        "columns": [request.name for request in outline.columns_to_learn],
        **({} if outline.learn_rows is None else {"max_rows": found.schema.max_rows}),
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
        f"{found.stamp}: {_what(outline, found.schema)} in {out} (epsilon "
        f"{found.spent.epsilon:.3g} of {plan.epsilon:g}, delta {plan.delta:.3g}). Name this "
        "schema in [table] for the release."
    )
    emit(arguments, document, text)


def _what(outline: Outline, schema: Schema) -> str:
    """What came out, for the last line."""
    from prism_core.text.numbers import count_text

    columns = len(outline.columns_to_learn)
    parts = [count_text(columns, "column")] if columns else []
    if outline.learn_rows is not None:
        parts.append(f"max_rows = {schema.max_rows}")
    return " and ".join(parts)
