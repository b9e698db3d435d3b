"""What `prism plan` says beside the plan: scenarios side by side, and what a wish comes to."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.errors import ConfigError, PrismError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.brief import Brief
    from prism_core.planning.plan import Plan
    from prism_core.planning.search.comparison import Difference, Value
    from prism_core.planning.wishes.config import RunConfig
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.structure.dag import Dag

BASE = "as configured"
_WIDTH = 24


@dataclass(frozen=True, kw_only=True)
class PlanInputs:
    """What is public of a table. The rows stay outside: no what-if may see them.

    Attributes:
        schema, dag: as declared.
        n: number of training rows or declared persons.
    """

    schema: Schema
    dag: Dag | None
    n: int

    def brief(self, wishes: RunConfig | Scenario) -> Brief:
        """The brief of a wish for this table."""
        from prism_core.planning.brief import Brief

        return Brief(
            self.schema,
            wishes.task,
            wishes.budget,
            self.n,
            dag=self.dag,
            synthesis=wishes.synthesis,
        )


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `prism plan` that ask for something else than the plan."""
    wish = parser.add_mutually_exclusive_group()
    wish.add_argument(
        "--target-error",
        type=float,
        metavar="E",
        help="find the least epsilon whose task marginals have an expected l1 error of E (of n)",
    )
    wish.add_argument(
        "--most-features",
        type=float,
        metavar="E",
        help="find the most features (predictive regime) with an expected l1 error of at most E",
    )
    wish.add_argument(
        "--most-bins",
        type=float,
        metavar="E",
        help="find the most equal bins of columns with bounds for an expected l1 error of E",
    )
    wish.add_argument(
        "--what-if",
        type=Path,
        metavar="FILE.toml",
        help="put scenarios beside the plan: [[scenario]] tables with a name and entries of "
        "[task], [budget] or [synthesis] instead of the configuration's",
    )
    parser.add_argument(
        "--column", metavar="NAME", help="with --most-bins: only this column is binned anew"
    )


def granted(
    arguments: argparse.Namespace, config: RunConfig, facts: PlanInputs
) -> tuple[RunConfig, PlanInputs, dict[str, Any], str]:
    """The run that grants a wish, what was found and a sentence; the run itself without a wish."""
    from prism_core.planning.search.inverse import (
        epsilon_for_error,
        most_bins,
        most_features,
        with_bins,
    )

    brief = facts.brief(config)
    if arguments.target_error is not None:
        found = epsilon_for_error(brief, arguments.target_error)
        changed = replace(config, budget=replace(config.budget, epsilon=found))
        return changed, facts, {"target_error": arguments.target_error}, f"epsilon {found:g}"
    if arguments.most_features is not None:
        wanted = arguments.most_features
        k = most_features(brief, wanted)
        changed = replace(config, task=replace(config.task, k=k))
        return changed, facts, {"target_error": wanted, "most_features": k}, f"k {k}"
    if arguments.most_bins is not None:
        wanted, column = arguments.most_bins, arguments.column
        bins = most_bins(brief, wanted, column=column)
        names = tuple(one.name for one in facts.schema.columns if one.binned)
        schema = with_bins(facts.schema, bins, names if column is None else (column,))
        found = {"target_error": wanted, "most_bins": bins}
        return config, replace(facts, schema=schema), found, f"{bins} bins"
    return config, facts, {}, ""


def side_by_side(path: Path, config: RunConfig, facts: PlanInputs) -> tuple[dict[str, Any], str]:
    """The scenarios of a file beside the configuration's plan, as JSON values and as text.

    Raises:
        ConfigError: when a scenario cannot be read or planned; it is named.
    """
    from prism_core.planning.search.comparison import differences
    from prism_core.planning.wishes import scenario_files

    pairs = considered(path, config, facts)
    first = pairs[0][1]
    rows = {scenario.name: differences(first, plan) for scenario, plan in pairs[1:]}
    document = {
        "scenarios": scenario_files.exported(pairs),
        "differences": [
            {"a": BASE, "b": name, "rows": [asdict(row) for row in found]}
            for name, found in rows.items()
        ],
        "warnings": {scenario.name: list(plan.warnings) for scenario, plan in pairs},
    }
    warnings = [
        f"warning ({scenario.name}): {warning}"
        for scenario, plan in pairs
        for warning in plan.warnings
    ]
    return document, "\n".join([_table(rows), *warnings])


def considered(path: Path, config: RunConfig, facts: PlanInputs) -> list[tuple[Scenario, Plan]]:
    """The configuration and the scenarios of a file, each with its plan.

    Raises:
        ConfigError: when a scenario cannot be read or planned; it is named.
    """
    from prism_core.planning.wishes import scenario_files
    from prism_core.planning.wishes.scenario import Scenario

    base = Scenario(name=BASE, task=config.task, budget=config.budget, synthesis=config.synthesis)
    scenarios = (base, *scenario_files.load(path, base=base))
    return [(scenario, plan_of(scenario, facts)) for scenario in scenarios]


def plan_of(scenario: Scenario, facts: PlanInputs) -> Plan:
    """The plan of a scenario.

    Raises:
        ConfigError: when there is none; the scenario is named.
    """
    from prism_core.planning.design import design

    try:
        return design(facts.brief(scenario))
    except PrismError as error:
        raise ConfigError(f"Scenario {scenario.name!r}: {error}", field=error.field) from None


def _table(rows: dict[str, tuple[Difference, ...]]) -> str:
    """A line for every entry that differs somewhere, and for every outcome."""
    whats: dict[str, Difference] = {}
    for kind in ("entry", "outcome"):
        for found in rows.values():
            whats |= {row.what: row for row in found if row.kind == kind and row.what not in whats}
    by_what = {name: {row.what: row for row in found} for name, found in rows.items()}
    wide = max(_WIDTH, *(len(what) + 2 for what in whats))
    lines = [_line("", [BASE, *rows], wide)]
    for what, example in whats.items():
        cells = [_cell(example.what, example.a)]
        for found in by_what.values():
            row = found.get(what)
            mark = {"a": " -", "b": " +", None: ""}[None if row is None else row.better]
            cells.append(_cell(what, example.a if row is None else row.b) + mark)
        lines.append(_line(what, cells, wide))
    lines += ["", "+ better than as configured, - worse; entries without a mark are wishes"]
    return "\n".join(lines)


def _line(what: str, cells: Sequence[str], wide: int) -> str:
    fitted = [cell if len(cell) <= _WIDTH else f"{cell[: _WIDTH - 1]}…" for cell in cells]
    return f"{what:{wide}}" + "".join(f" {cell:>{_WIDTH}}" for cell in fitted)


def _cell(what: str, value: Value) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if " error " in what:
        return f"{value:.2%}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.5g}"
