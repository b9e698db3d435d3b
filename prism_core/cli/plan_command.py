"""The command `prism plan`: the plan, scenarios side by side, and what a wish comes to."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.cli.common import add_limit_option, emit, say_unchecked, within_limit
from prism_core.cli.what_if import BASE, PlanInputs, add_persons_option, considered, plan_inputs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from prism_core.planning.plan import Plan
    from prism_core.planning.search.comparison import Difference, Value
    from prism_core.planning.wishes.config import RunConfig

_WIDTH = 24


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `plan` to the program's commands."""
    plan = commands.add_parser("plan", help="show what a run would measure; reads no row")
    plan.add_argument("config", type=Path, metavar="CONFIG.toml")
    _add_wishes(plan)
    plan.add_argument(
        "--meaning", action="store_true", help="say what the plan's epsilon means, for a committee"
    )
    plan.add_argument(
        "--workspace", type=Path, metavar="DIR", help="whose rules hold (default ~/.prism)"
    )
    add_persons_option(plan)
    add_limit_option(plan)
    plan.set_defaults(run=_plan)
    plan.add_argument("--json", action="store_true", help="print JSON")


def _add_wishes(parser: argparse.ArgumentParser) -> None:
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


def _plan(arguments: argparse.Namespace) -> None:
    from prism_core.planning.asked_marginals import most_passes, passes_text
    from prism_core.planning.design import design
    from prism_core.planning.wishes import config as configs
    from prism_core.runs.inputs import fits_memory

    config = within_limit(configs.load(arguments.config), arguments)
    facts = plan_inputs(config, arguments)
    say_unchecked(facts.schema.looks, public=config.table.public)
    if arguments.what_if is not None:
        emit(arguments, *_side_by_side(arguments.what_if, config, facts))
        return
    config, facts, found, what = _granted(arguments, config, facts)
    plan = design(facts.brief(config))
    if arguments.meaning:
        from prism_core.explain.meaning import meaning

        said = meaning(plan)
        emit(arguments, said.to_dict(), said.to_markdown())
        return
    text = _plan_text(plan)
    if not fits_memory(config.table.train):
        text = f"{passes_text(plan)}\n{text}"
    if found:
        from prism_core.planning.search.inverse import task_error

        found["expected_error"] = task_error(plan)
        text = (
            f"{what}: expected error of the task marginals {task_error(plan):.4%} of n, "
            f"at most {found['target_error']:.4%}\n\n{text}"
        )
    found["passes"] = most_passes(plan)
    emit(arguments, plan.to_dict() | found, text)


def _plan_text(plan: Plan) -> str:
    from prism_core.data.schema.code_groups import grouped
    from prism_core.data.schema.looks import sentences
    from prism_core.explain.run_time import size_text

    lines = [
        f"target {plan.task.target}, regime {plan.task.regime}, n = {plan.n:,}",
        *(
            f"target {aim.target} (weight {aim.weight:g}): {{{', '.join(aim.s)}}}"
            for aim in plan.several
        ),
        f"S = {{{', '.join(plan.s)}}}"
        + (
            ""
            if plan.s_is_final
            else "  (worst case: S is chosen "
            f"privately at run time, {plan.task.k} of {len(plan.schema.columns) - len(plan.aims)})"
        ),
        f"epsilon {plan.budget.epsilon:g}, delta {plan.delta:.3g}, accountant "
        f"{plan.budget.accountant}; spends epsilon {plan.spent.epsilon:.6g}",
        *_learned_lines(plan),
        f"model: {size_text(plan)}",
        *grouped(plan.schema),
        *sentences(plan.schema.looks),
        "",
        f"{'marginal':44} {'pool':11} {'cells':>7} {'share':>7} {'sigma':>9} {'rel. error':>10}",
    ]
    lines += [
        f"{query.label[:44]:44} {query.pool:11} {query.cells:7,} {query.share:7.2%} "
        f"{query.noise:9.2f} {query.relative_error:10.2%}{'  locked' if query.locked else ''}"
        # Fine counts too: they are measured, and paid for.
        for query in plan.with_fine
    ]
    if plan.interactions is not None:
        # What is chosen privately is not known here, but what its counts will cost is.
        look = plan.interactions
        what = f"a set of {len(look.candidates):,} that acts together"
        lines.append(
            f"{f'{what}, or pairs again'[:44]:44} {'task':11} {'':7} {look.measure_share:7.2%} "
            f"{look.sigma:9.2f}"
        )
    if plan.three_way is not None:
        three = plan.three_way
        lines.append(
            f"{f'{three.rounds} {three.words}, chosen privately':44} {'task':11} "
            f"{three.cells:7,.0f} {three.measure_share:7.2%} {three.sigma:9.2f}"
        )
    if plan.tree is not None:
        lines.append(
            f"{f'{plan.tree.rounds} background pairs, chosen privately':44} {'background':11} "
            f"{plan.tree.cells:7,.0f} {plan.tree.measure_share:7.2%} {plan.tree.sigma:9.2f}"
        )
    if plan.coarsening is not None:
        lines.append(plan.coarsening.sentence(plan.schema))
    if plan.joint is not None:
        at_once = ", ".join(plan.joint.features) or "none"
        lines.append(f"measured with the target at once: {at_once}. {plan.joint.reason}")
    lines += [f"warning: {warning}" for warning in plan.warnings]
    return "\n".join(lines)


def _learned_lines(plan: Plan) -> list[str]:
    parts = {"domain": plan.schema.prior, "graph": None if plan.dag is None else plan.dag.prior}
    spent = [
        f"learning the {what} spent epsilon {prior.spent.epsilon:.6g}"
        for what, prior in parts.items()
        if prior is not None
    ]
    return (
        [f"{'; '.join(spent)}; all together epsilon {plan.guarantee.epsilon:.6g}"] if spent else []
    )


def _granted(
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
        # Bins are the schema's, so the configuration stays as it is.
        return config, replace(facts, schema=schema), found, f"{bins} bins"
    return config, facts, {}, ""


def _side_by_side(path: Path, config: RunConfig, facts: PlanInputs) -> tuple[dict[str, Any], str]:
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


def _table(rows: dict[str, tuple[Difference, ...]]) -> str:
    """A line for every entry that differs somewhere, and for every outcome."""
    whats: dict[str, Difference] = {}
    # Wishes stand above what comes of them, whichever scenario changes them first.
    for kind in ("entry", "outcome"):
        for found in rows.values():
            whats |= {row.what: row for row in found if row.kind == kind and row.what not in whats}
    by_what = {name: {row.what: row for row in found} for name, found in rows.items()}
    wide = max(_WIDTH, *(len(what) + 2 for what in whats))
    lines = [_line("", [BASE, *rows], wide)]
    for what, example in whats.items():
        # The first plan is the same in every difference, so any of them shows its value.
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
