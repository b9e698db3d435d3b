"""The command `prism`: the same work as the dashboard, without a screen."""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.cli import (
    bench_command,
    check_command,
    comparator_command,
    dag_command,
    doctor_command,
    evaluate_command,
    holdout_command,
    learn_dag_command,
    ledger_command,
    plan_command,
    protocol_command,
    rehearse_command,
    report_command,
    reproduce_command,
    verify_command,
)
from prism_core.cli.common import (
    add_limit_option,
    check_seed,
    ledger_for,
    say_owed,
    say_warnings,
    within_limit,
)
from prism_core.errors import ConfigError, PrismError
from prism_core.planning.wishes.task import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.config import RunConfig
    from prism_core.planning.wishes.scenario import Scenario


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status.

    0: done; 1: unexpected; 2: refused, or not as it should be: the caller can mend it. `verify` has
    one of its own, `verify_cli.UNAUTHENTICATED`.
    """
    # Imports alone make half a million objects that stay: looking through them again and again
    # takes a tenth of the time of a release.
    gc.set_threshold(200_000, 20, 20)
    arguments = _parser().parse_args(argv)
    try:
        status: int | None = arguments.run(arguments)
    except PrismError as error:
        where = f"{error.field}: " if error.field else ""
        print(f"prism: {where}{error}", file=sys.stderr)
        return 2
    except OSError as error:  # the disk is full, for example; its number's words hold no value
        print(
            f"prism: a file or folder cannot be read or written ({_words(error)}). If a charge was "
            "written, it stands; what was paid for and is not written is kept: `prism doctor` "
            "lists it and `prism recover` writes it.",
            file=sys.stderr,
        )
        return 2
    except Exception as error:  # noqa: BLE001  (its text could hold a value; its type cannot)
        print(
            f"prism: stopped for an unexpected reason ({type(error).__name__}). If a charge was "
            "written, it stands.",
            file=sys.stderr,
        )
        return 1
    return status or 0


def _words(error: OSError) -> str:
    return type(error).__name__ if error.errno is None else os.strerror(error.errno)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="prism", description="Differentially private synthetic tables for one prediction task."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    plan = _add_plan(commands)
    learn, release = _add_learn(commands), _add_release(commands)
    recover = commands.add_parser(
        "recover", help="write what was paid for and could not be written; spends nothing"
    )
    recover.add_argument("charge", type=int, metavar="CHARGE", help="its number in the ledger")
    recover.add_argument("--out", type=Path, required=True, metavar="PATH")
    recover.add_argument(
        "--workspace", type=Path, metavar="DIR", help="folder of the ledger (default ~/.prism)"
    )
    recover.set_defaults(run=_recover)
    for command in (plan, learn, release, recover, *_unspent(commands)):
        command.add_argument("--json", action="store_true", help="print JSON")
    for part in (
        check_command,
        dag_command,
        learn_dag_command,
        rehearse_command,
        protocol_command,
        ledger_command,
        verify_command,
        report_command,
        comparator_command,
        reproduce_command,
        bench_command,
        holdout_command,
        doctor_command,
    ):
        part.add(commands)
    return parser


def _add_learn(commands: Any) -> argparse.ArgumentParser:  # noqa: ANN401
    learn = commands.add_parser(
        "learn-domain", help="learn bounds, bins and categories with part of the budget"
    )
    learn.add_argument("config", type=Path, metavar="CONFIG.toml")
    learn.add_argument("--out", type=Path, required=True, metavar="SCHEMA.yaml")
    learn.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="known noise, for tables marked public only: a rehearsal, not charged",
    )
    learn.add_argument(
        "--workspace", type=Path, metavar="DIR", help="folder of the ledger (default ~/.prism)"
    )
    add_limit_option(learn)
    learn.set_defaults(run=_learn)
    return learn


def _add_release(commands: Any) -> argparse.ArgumentParser:  # noqa: ANN401
    release = commands.add_parser("release", help="measure, fit and write synthetic rows")
    release.add_argument("config", type=Path, metavar="CONFIG.toml")
    release.add_argument("--out", type=Path, required=True, metavar="DIR")
    release.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="known noise, for tables marked public only: a rehearsal, not charged",
    )
    release.add_argument(
        "--workspace", type=Path, metavar="DIR", help="folder of the ledger (default ~/.prism)"
    )
    release.add_argument(
        "--what-if",
        type=Path,
        metavar="FILE.toml",
        help="scenarios that were considered, as for `prism plan`; written beside the release",
    )
    engine = OPTIONS["synthesis.engine"]
    release.add_argument("--engine", choices=tuple(engine.choices), help=engine.help)
    release.add_argument(
        "--replace", action="store_true", help="put this run in the place of the one in DIR"
    )
    add_limit_option(release)
    protocol_command.add_option(release)
    report_command.add_said(release, asset="--data-asset")
    release.set_defaults(run=_release)
    return release


def _unspent(commands: Any) -> tuple[argparse.ArgumentParser, ...]:  # noqa: ANN401
    """The commands after a run, and the samples: without --private they spend nothing."""
    evaluate = commands.add_parser(
        "evaluate", help="compare a run with real rows; outside epsilon, for the curator only"
    )
    evaluate.add_argument("dir", type=Path, metavar="DIR")
    evaluate.add_argument("--holdout", required=True, metavar="TABLE")
    evaluate.add_argument(
        "--train", metavar="TABLE", help="real training rows (default: the run's own)"
    )
    evaluate.add_argument(
        "--classes",
        action="store_true",
        help="tell the bins of a numeric target apart as classes (default: R^2 and RMSE)",
    )
    evaluate.set_defaults(run=_evaluate)
    evaluate_command.add_options(evaluate)
    sample = commands.add_parser("sample-data", help="write one of the packaged samples")
    sample.add_argument("name", metavar="NAME")
    sample.add_argument("--out", type=Path, required=True, metavar="DIR")
    sample.set_defaults(run=_sample)
    return evaluate, sample


def _add_plan(commands: Any) -> argparse.ArgumentParser:  # noqa: ANN401  (argparse names no type)
    plan = commands.add_parser("plan", help="show what a run would measure; reads no row")
    plan.add_argument("config", type=Path, metavar="CONFIG.toml")
    plan_command.add_options(plan)
    plan.add_argument(
        "--meaning", action="store_true", help="say what the plan's epsilon means, for a committee"
    )
    plan.add_argument(
        "--workspace", type=Path, metavar="DIR", help="whose rules hold (default ~/.prism)"
    )
    add_limit_option(plan)
    plan.set_defaults(run=_plan)
    return plan


def _emit(arguments: argparse.Namespace, document: dict[str, Any], text: str) -> None:
    print(json.dumps(document, ensure_ascii=False, allow_nan=False) if arguments.json else text)


def _plan(arguments: argparse.Namespace) -> None:
    from prism_core.planning.design import design
    from prism_core.planning.wishes import config as configs
    from prism_core.runs.inputs import gather

    config = within_limit(configs.load(arguments.config), arguments)
    # n has to be counted; the rows go no further
    inputs = gather(config, arguments.workspace)
    facts = plan_command.PlanInputs(schema=inputs.schema, dag=inputs.dag, n=inputs.n)
    check_command.say_unchecked(inputs.schema.looks, public=config.table.public)
    if arguments.what_if is not None:
        _emit(arguments, *plan_command.side_by_side(arguments.what_if, config, facts))
        return
    config, facts, found, what = plan_command.granted(arguments, config, facts)
    plan = design(facts.brief(config))
    if arguments.meaning:
        from prism_core.explain.meaning import meaning

        said = meaning(plan)
        _emit(arguments, said.to_dict(), said.to_markdown())
        return
    text = _plan_text(plan)
    if found:
        from prism_core.planning.search.inverse import task_error

        found["expected_error"] = task_error(plan)
        text = (
            f"{what}: expected error of the task marginals {task_error(plan):.4%} of n, "
            f"at most {found['target_error']:.4%}\n\n{text}"
        )
    _emit(arguments, plan.to_dict() | found, text)


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
        for query in plan.queries
    ]
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
    check_command.say_unchecked(
        outline.looks, public=config.table.public, when=", once the columns are learned"
    )
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
    _emit(arguments, document, text)


def _release(arguments: argparse.Namespace) -> None:
    import numpy as np

    from prism_core.planning.wishes import config as configs
    from prism_core.synthesis.engine.cache import load_meanwhile

    config = within_limit(configs.load(arguments.config), arguments)
    if arguments.engine is not None:
        config = replace(config, synthesis=replace(config.synthesis, engine=arguments.engine))
    load_meanwhile(config.synthesis)  # before the other imports, which take as long

    from prism_core.bundle.write import bundle_folder
    from prism_core.privacy.noise import SecureNoise, SeededNoise
    from prism_core.runs.charged_release import run_release
    from prism_core.runs.inputs import fresh_rng, gather, plan_for, ready, recognise

    seed, said = arguments.seed, report_command.said_of(arguments)
    check_seed(seed, public=config.table.public)
    bundle_folder.check_out_folder(arguments.out, again=arguments.replace)
    inputs = gather(config, arguments.workspace)
    plan = plan_for(config, inputs)
    say_warnings(plan.warnings)
    scenarios: list[tuple[Scenario, Plan]] = []
    if arguments.what_if is not None:  # before anything is spent
        facts = plan_command.PlanInputs(schema=inputs.schema, dag=inputs.dag, n=inputs.n)
        scenarios = plan_command.considered(arguments.what_if, config, facts)
    rng = fresh_rng() if seed is None else np.random.default_rng(seed)
    approval = protocol_command.approval_for(
        arguments.protocol, plan, config.asset.name if config.asset else "", arguments.workspace
    )
    ledger, asset = ledger_for(config, plan.delta, arguments.workspace)
    say_owed(ledger, asset, plan.prior)
    check_command.say_unchecked(inputs.schema.looks, public=config.table.public)
    table = ready(inputs.schema, inputs.raw, public=config.table.public, rng=rng)
    twin = ""
    if ledger is not None:
        twin = recognise(ledger, asset, inputs.schema, inputs.raw, table, plan.hash)
    if twin:  # for the curator's eyes; the run goes on as it is
        print(f"prism: note: {twin}", file=sys.stderr)
    noise = SecureNoise() if seed is None else SeededNoise(rng)
    made = run_release(
        plan,
        table,
        arguments.out,
        ledger=ledger,
        asset=asset,
        noise=noise,
        rng=rng,
        why=config.asset.why if config.asset else "",
        approval=approval,
        scenarios=scenarios,
        local={
            "config": str(arguments.config.resolve()),
            "separator": config.table.separator,
            "train": _place(config),
            "encoding": config.table.encoding,
        },
        said=said,
        workspace=arguments.workspace,
        again=arguments.replace,
    )
    document = {
        "out": str(arguments.out),
        "rows": len(made.table),
        "epsilon": made.plan.budget.epsilon,
        "delta": made.plan.delta,
        "seconds": round(made.seconds),
        "stamp": made.stamp,
        "warnings": list(made.plan.warnings),
    }
    text = (
        f"{made.stamp}: {len(made.table):,} rows in {arguments.out} (epsilon "
        f"{made.plan.budget.epsilon:g}, delta {made.plan.delta:.3g})"
    )
    _emit(arguments, document, text)


def _recover(arguments: argparse.Namespace) -> None:
    from prism_core.privacy.ledger import default_workspace
    from prism_core.runs.charged_release import recover

    recover(arguments.workspace or default_workspace(), arguments.charge, arguments.out)
    document = {"out": str(arguments.out), "charge": arguments.charge}
    _emit(arguments, document, f"charge {arguments.charge}: written to {arguments.out}")


def _place(config: RunConfig) -> str:
    """Where the training rows stand, for this machine; without a password."""
    train = config.table.train
    return str(train.resolve()) if isinstance(train, Path) else str(train)


def _evaluate(arguments: argparse.Namespace) -> None:
    from prism_core.bundle.write import bundle_folder
    from prism_core.data.tables.raw_table import read_table
    from prism_core.evaluation.evaluate import evaluate_targets
    from prism_core.evaluation.evaluate import evaluation_document as targets_document
    from prism_core.evaluation.score_text import score_lines
    from prism_core.runs.inputs import (
        address,
        aims_of_run,
        encode_holdout,
        encode_synthetic,
        fresh_rng,
        open_rows,
    )

    if arguments.private is not None:
        document, text = evaluate_command.run(arguments)
        _emit(arguments, document, text)
        return
    evaluate_command.check_unused(arguments)
    folder = bundle_folder.read(arguments.dir)
    style = {key: folder.local[key] for key in ("separator", "encoding") if key in folder.local}

    def real(place: str) -> Any:  # noqa: ANN401
        raw = open_rows(address(place), columns=folder.schema.header, **style)
        check_command.say_misfits(folder.schema, raw)
        return encode_holdout(folder.schema, raw, rng=fresh_rng())

    train = arguments.train
    if train is None and "train" in folder.local and Path(folder.local["train"]).is_file():
        train = folder.local["train"]
    aims = aims_of_run(folder)
    found = evaluate_targets(
        encode_synthetic(folder.schema, read_table(folder.synthetic)),
        real(arguments.holdout),
        aims,
        train=None if train is None else real(train),
        as_classes=arguments.classes,
    )
    document = targets_document(found, aims)
    _emit(arguments, document, "\n".join(score_lines(document["metrics"])))


def _sample(arguments: argparse.Namespace) -> None:
    from prism_core.samples import catalogue

    paths = catalogue.write(arguments.name, arguments.out)
    names = [path.name for path in paths]
    _emit(
        arguments,
        {"out": str(arguments.out), "files": names},
        f"wrote {', '.join(names)} to {arguments.out}",
    )


if __name__ == "__main__":
    sys.exit(main())
