"""The command `prism rehearse`: designs tried out on stand-in rows. Spends nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.errors import ConfigError
from prism_core.samples.additive_scm import SHIFTS, STRENGTHS, Edge, Shift, Strength

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from prism_core.planning.wishes.config import RunConfig, TableConfig
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.rehearsal import Estimate, PointStore, Rehearsal, RehearsalPoint, StandIn
    from prism_core.rehearsal.allocation_choice import AllocationChoice

_DESCRIPTION = """
Runs the real pipeline on public rows in place of the private table, with known noise, and
shows the AUC (of a numeric target R^2) against epsilon. The private table is not opened; only
where neither --rows nor the schema says how many people it holds, its rows are counted, as `prism
plan` does.
"""


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `rehearse` to the program's commands."""
    parser = commands.add_parser(
        "rehearse", help="try designs on stand-in rows; spends nothing", description=_DESCRIPTION
    )
    parser.add_argument("config", type=Path, metavar="CONFIG.toml")
    parser.add_argument("--epsilon", default="0.2,0.5,1,2,4", metavar="E,E,...")
    parser.add_argument("--seeds", type=int, default=10, metavar="N", help="runs of each")
    parser.add_argument(
        "--stand-in",
        default="dag",
        metavar="dag|sample:NAME|FILE",
        help="rows drawn from the graph (default), of a packaged sample, or of a public file",
    )
    parser.add_argument(
        "--although-charged",
        action="store_true",
        help="the public FILE is public although its rows were charged here before",
    )
    parser.add_argument("--strength", choices=STRENGTHS, default="medium", help="of the edges")
    parser.add_argument(
        "--edge",
        action="append",
        default=[],
        metavar="CAUSE,EFFECT=STRENGTH",
        help="the strength of one edge; may be repeated",
    )
    parser.add_argument("--world", type=int, default=0, metavar="N", help="seed of the drawn rows")
    parser.add_argument(
        "--shift",
        action="append",
        choices=SHIFTS,
        metavar="none|children|parents",
        help="score on rows where the target's children do not follow it, or its parents have "
        "moved; may be repeated (default none)",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--what-if", type=Path, metavar="FILE", help="scenarios to compare with the configuration"
    )
    what.add_argument(
        "--compare",
        choices=("allocation", "regime"),
        default="allocation",
        help="the plan, closed form and uniform (default), or the regimes that the graph allows",
    )
    what.add_argument(
        "--auto",
        action="store_true",
        help="choose the allocation, and whether to measure 3-ways, at every epsilon",
    )
    parser.add_argument("--rows", type=int, metavar="N", help="training rows of the real table")
    parser.add_argument("--jobs", type=int, metavar="N", help="processes (default: all cores)")
    parser.add_argument("--workspace", type=Path, metavar="DIR", help="where points are kept")
    parser.add_argument("--json", action="store_true", help="one JSON line a point, then the sum")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from prism_core.planning.wishes import config as configs
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.privacy.ledger.ledger import default_workspace
    from prism_core.rehearsal import FOLDER, PointStore, Rehearsal
    from prism_core.rehearsal.variants import epsilons_of

    config = configs.load(arguments.config)
    epsilons = epsilons_of(arguments.epsilon)
    rows = _stand_in(arguments, config)
    shifts: tuple[Shift, ...] = tuple(dict.fromkeys(arguments.shift or ("none",)))
    _check_shifts(rows, shifts)
    kept = PointStore((arguments.workspace or default_workspace()) / FOLDER)
    plan = Scenario(
        name="this plan", task=config.task, budget=config.budget, synthesis=config.synthesis
    )
    if arguments.auto:
        _auto(arguments, plan, rows, epsilons, shifts, kept)
        return
    rehearsal = Rehearsal(
        variants=_variants(arguments, plan, rows), epsilons=epsilons, seeds=arguments.seeds
    )
    _rehearse(arguments, rehearsal, rows, shifts, kept)


def _stand_in(arguments: argparse.Namespace, config: RunConfig) -> StandIn:
    from prism_core.data.schema import schema_file
    from prism_core.data.table_identity import check_public
    from prism_core.data.tables.header import check_columns
    from prism_core.data.tables.raw_table import read_table
    from prism_core.rehearsal import from_graph, from_rows, from_sample
    from prism_core.structure import formats

    place: str = arguments.stand_in
    if place.startswith("sample:"):
        return from_sample(place.removeprefix("sample:"))
    schema = schema_file.load(config.table.schema)
    dag = None if config.table.dag is None else formats.read(config.table.dag)
    if place != "dag":
        table = config.table
        _check_public(Path(place), table)
        raw = read_table(Path(place), separator=table.separator, encoding=table.encoding)
        # Without the person ID: in a stand-in every row counts as a person.
        check_columns(schema.names, raw.header, raw.name)
        if not arguments.although_charged:
            check_public(raw, private=_private_marks(table), workspace=arguments.workspace)
        return from_rows(schema, config.task.target, raw, dag, seed=arguments.world)
    return from_graph(
        schema,
        config.task.target,
        _training_rows(arguments, config, schema.persons),
        dag,
        strength=arguments.strength,
        strengths=_edges(arguments.edge),
        seed=arguments.world,
    )


def _private_marks(table: TableConfig) -> frozenset[str]:
    """Of the files that the configuration holds as private: a copy of one is one of them."""
    from prism_core.data.table_identity import file_mark

    if table.public:
        return frozenset()
    files = [path for path in (table.train, table.holdout) if isinstance(path, Path)]
    # A file that is not there has no mark, and nothing can be a copy of it.
    return frozenset(filter(None, map(file_mark, files)))


def _check_public(path: Path, table: TableConfig) -> None:
    """Refuse the private files of the configuration as stand-in rows."""
    from prism_core.data.tables.address import split_sheet

    private = [] if table.public else [table.train, table.holdout]
    own, _ = split_sheet(path)
    # A database has no file that could be named as one.
    others = [split_sheet(other)[0] for other in private if isinstance(other, Path)]
    if any(
        # samefile, not equal paths: by a link or another spelling they are the same rows. Of a
        # workbook every sheet: they are often about the same people.
        other.exists() and own.exists() and own.samefile(other)
        for other in others
    ):
        raise ConfigError(
            "--stand-in names a file that the configuration holds as private. Name rows that "
            "everybody may see, `dag`, or `sample:NAME`; nothing was read.",
            field="stand_in",
        )


def _training_rows(arguments: argparse.Namespace, config: RunConfig, persons: int | None) -> int:
    from prism_core.runs.inputs import gather

    # What is asked for or declared comes first: then the private table is not opened.
    found = arguments.rows if arguments.rows is not None else persons
    if found is None:
        return gather(config, arguments.workspace).n
    if not 2 <= found <= 10**9:
        raise ConfigError("--rows must be between 2 and 1,000,000,000.", field="rows")
    return found


def _edges(texts: Sequence[str]) -> dict[Edge, Strength]:
    found: dict[Edge, Strength] = {}
    for text in texts:
        # From the right, because a column's name may hold an equals sign.
        edge, _, strength = text.rpartition("=")
        cause, _, effect = edge.partition(",")
        if strength not in STRENGTHS or not cause or not effect:
            raise ConfigError(
                "--edge must read CAUSE,EFFECT=STRENGTH with a strength of "
                f"{', '.join(STRENGTHS)}.",
                field="edge",
            )
        found[cause, effect] = strength
    return found


def _check_shifts(rows: StandIn, shifts: Sequence[Shift]) -> None:
    undefined = [shift for shift in shifts if shift not in rows.shifts]
    if undefined:
        raise ConfigError(
            f"The shift {undefined[0]!r} is not defined for these stand-in rows. Defined: "
            f"{', '.join(rows.shifts)}. {' '.join(rows.notes)}",
            field="shift",
        )


def _variants(arguments: argparse.Namespace, plan: Scenario, rows: StandIn) -> tuple[Scenario, ...]:
    from prism_core.planning.wishes import scenario_files
    from prism_core.rehearsal.variants import by_allocation, by_regime

    if arguments.what_if is not None:
        return (plan, *scenario_files.load(arguments.what_if, base=plan))
    if arguments.compare == "regime":
        return by_regime(plan, rows.dag, rows.target)
    return by_allocation(plan)


def _rehearse(
    arguments: argparse.Namespace,
    rehearsal: Rehearsal,
    rows: StandIn,
    shifts: Sequence[Shift],
    kept: PointStore,
) -> None:
    from prism_core.rehearsal import estimates, run_rehearsal, verdict

    points: list[RehearsalPoint] = []
    for point in run_rehearsal(rehearsal, rows, kept=kept, jobs=arguments.jobs):
        # A run is scored under every shift that its rows have; here only those asked for are told.
        if point.shift not in shifts:
            continue
        points.append(point)
        if arguments.json:
            _line({"point": point.to_dict()})
    # In the order of the command: first of shifts, then of designs.
    order = [variant.name for variant in rehearsal.variants]
    found = sorted(
        estimates(points, rows=rows.title),
        key=lambda one: (shifts.index(one.shift), order.index(one.variant), one.epsilon),
    )
    said = {shift: verdict(points, shift) for shift in shifts}
    if arguments.json:
        facts = {"stand_in": rows.title, "notes": list(rows.notes), "runs": rehearsal.runs}
        _line({"estimates": [one.to_dict() for one in found], "verdicts": said, **facts})
        return
    sys.stdout.write("\n".join([*_head(rows), "", *_table(found), "", *said.values()]) + "\n")


def _auto(
    arguments: argparse.Namespace,
    plan: Scenario,
    rows: StandIn,
    epsilons: Sequence[float],
    shifts: Sequence[Shift],
    kept: PointStore,
) -> None:
    from prism_core.rehearsal.allocation_choice import choose

    if len(shifts) > 1:
        raise ConfigError("--auto chooses under one shift.", field="shift")
    # At once: the first choice takes many runs.
    if not arguments.json:
        sys.stdout.write("\n".join([*_head(rows), ""]) + "\n")
    for epsilon in epsilons:
        choice = choose(
            plan,
            rows,
            epsilon,
            seeds=arguments.seeds,
            shift=shifts[0],
            kept=kept,
            jobs=arguments.jobs,
        )
        if arguments.json:
            _line({"epsilon": epsilon, **choice.to_dict()})
        else:
            sys.stdout.write("\n".join([*_choice(choice), ""]) + "\n")


def _choice(choice: AllocationChoice) -> list[str]:
    from prism_core.rehearsal.points import METRIC_TEXT

    unit = METRIC_TEXT[choice.metric]
    return [
        choice.why,
        *(
            f"  {one.name:24} {unit} {_interval(one.mean, one.half)}  behind by "
            f"{_interval(one.behind, one.behind_half)}{'  level' if one.level else ''}"
            for one in choice.tried
        ),
    ]


def _head(rows: StandIn) -> list[str]:
    return [
        f"rehearsal on {rows.title}: nothing is spent, and nothing here is about the real table",
        *(f"note: {note}" for note in rows.notes),
    ]


def _table(found: Sequence[Estimate]) -> list[str]:
    unit = found[0].unit if found else ""
    head = f"{'shift':9} {'design':28} {'epsilon':>7}  {unit:17} {'without noise':>13} {'runs':>4}"
    return [
        head,
        *(
            f"{one.shift:9} {one.variant[:28]:28} {one.epsilon:7g}  "
            f"{_interval(one.mean, one.half):17} {one.ceiling:13.4f} {one.runs:4}"
            for one in found
        ),
    ]


def _interval(mean: float, half: float | None) -> str:
    # z: a rounded -0.0000 reads like a mistake.
    return f"{mean:z.4f}" if half is None else f"{mean:z.4f} ± {half:.4f}"


def _line(document: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n")
    # Runs take a while: whoever reads the lines gets each point when it is done.
    sys.stdout.flush()
