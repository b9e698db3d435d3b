"""The contents of a bundle: every file that follows from plan, facts and noisy counts.

`README.md` is the data sheet, in words, from the plan alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.bundle import measurements_file
from prism_core.bundle.bundle_files import (
    CERTIFICATE,
    DATAPACKAGE,
    DOT,
    GRAPH,
    MANIFEST,
    MEANING,
    MEASUREMENTS,
    PARQUET,
    PLAN,
    README,
    REFIT,
    REPORT,
    RUN,
    SCENARIOS,
    SCHEMA,
    SYNTHETIC,
    json_text,
)
from prism_core.bundle.certificate import NAME, REHEARSAL, Facts, certificate
from prism_core.bundle.report.report_html import report
from prism_core.bundle.write import refit_script
from prism_core.data.schema import schema_file
from prism_core.data.schema.code_groups import grouped
from prism_core.data.schema.level import day_text, level_text
from prism_core.data.schema.looks import sentences
from prism_core.data.tables.spreadsheet import neutral
from prism_core.explain.column_use import column_uses, not_preserved
from prism_core.explain.features_statement import features_statement
from prism_core.explain.meaning import WARNINGS, meaning
from prism_core.planning.regimes import features_for
from prism_core.planning.wishes.config import RunConfig, TableConfig, dumps
from prism_core.planning.wishes.curator_statement import LABELS
from prism_core.planning.wishes.scenario_files import exported
from prism_core.structure import formats
from prism_core.text import documents

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from prism_core.data.schema.column import Column
    from prism_core.planning.choices import Stages
    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.synthesis.measure import Measurement

_RUN_NOTE = (
    "# The settings of this run. Where the private table stands, and whose it is, is left out:\n"
    "# `train` is a name only.\n\n"
)
_SHOWN = 30
"""How many names are written out."""
_README_FILES = {
    SYNTHETIC: "the synthetic rows",
    PARQUET: "the same rows with their types, no cell changed",
    SCHEMA: "the declared columns",
    GRAPH: "the graph, as node-link JSON",
    DOT: "the graph, for Graphviz",
    PLAN: "what was measured, with how much noise, for what",
    MEASUREMENTS: "the noisy counts: all that the rows were made from",
    CERTIFICATE: "what is guaranteed, every step that spent something, versions",
    MEANING: "what epsilon means, for people who decide",
    REPORT: "all of it for a privacy committee, to be read or printed",
    SCENARIOS: "what else was considered, with its figures",
    RUN: "the settings; where the private table stands is left out",
    REFIT: "fits and draws again from the noisy counts, spending nothing",
    DATAPACKAGE: "the columns for machines (Frictionless Data Package)",
    MANIFEST: "checksums; signed where there is a manifest.sig",
}
_KINDS = {
    "fine": "of the target with one feature on its fine grid, to find the feature's parts",
    "pair": "of the target with one feature of S",
    "product": "of two features of S, as the product of their places among their bins",
    "moments": "of the target with one feature of S, as moments of its place among its bins",
    "thresholds": "of the target with one feature of S, as counts between public thresholds",
    "joint": "of the target with several features of S at once",
    "interaction": "of the target with features that were found privately to act together",
    "again": "of the target with one feature of S once more, with what was kept back",
    "three-way": "of the target with two features of S",
    "adaptive": "of two features of S, with or without the target, picked round by round",
    "one-way": "of a single other column",
    "tree": "of two features",
}
"""What a marginal is of, by kind, in the order of the data sheet."""


def texts(
    stages: Stages,
    facts: Facts,
    measurements: Sequence[Measurement],
    scenarios: Sequence[tuple[Scenario, Plan]] = (),
) -> dict[str, str]:
    """Name and text of each such file. Reads no row.

    Args:
        stages: the plan on its way.
        facts: what the certificate says beyond the plan.
        measurements: the noisy counts.
        scenarios: what else was considered, each with its plan.
    """
    plan = stages.final
    found = sources(stages, facts, measurements, scenarios) | {
        MEANING: meaning(plan).to_markdown(stamp=facts.stamp),
        # The module itself, so that the script handed over is the one that linters and tests see.
        REFIT: Path(refit_script.__file__).read_text(encoding="utf-8"),
        DATAPACKAGE: json_text(datapackage(plan, facts)),
        REPORT: report(stages, facts, scenarios),
    }
    if plan.dag is not None and not plan.dag.learned:  # DOT cannot say what a learned graph cost
        found[DOT] = formats.write(plan.dag, "dot")
    # Rows and manifest are not written yet, but the data sheet lists them, too.
    files = {*found, SYNTHETIC, PARQUET, MANIFEST}
    return {**found, README: readme(plan, facts, files)}


def sources(
    stages: Stages,
    facts: Facts,
    measurements: Sequence[Measurement],
    scenarios: Sequence[tuple[Scenario, Plan]] = (),
) -> dict[str, str]:
    """The files that `reader.read_bundle` reads: all others, and the rows, follow from them."""
    plan = stages.final
    found = {
        SCHEMA: schema_file.dumps(plan.schema),
        PLAN: json_text(plan.to_dict()),
        MEASUREMENTS: measurements_file.measurements_text(measurements),
        CERTIFICATE: json_text(certificate(stages, facts)),
        RUN: _RUN_NOTE + run_text(plan, facts.stamp),
    }
    if plan.dag is not None:
        found[GRAPH] = formats.write(plan.dag, "node-link")
    if scenarios:
        found[SCENARIOS] = json_text({"scenarios": exported(scenarios)})
    return found


def run_text(plan: Plan, stamp: str) -> str:
    """The settings as TOML that `prism release` reads once the table's place is filled in."""
    table = TableConfig(
        train=Path("train.csv"),
        schema=Path(SCHEMA),
        dag=None if plan.dag is None else Path(GRAPH),
        # Only public tables are rehearsed, and only they take known noise.
        public=stamp == REHEARSAL,
    )
    return dumps(
        RunConfig(table=table, task=plan.task, budget=plan.budget, synthesis=plan.synthesis)
    )


def datapackage(plan: Plan, facts: Facts) -> dict[str, Any]:
    """The package's description. Reads no row."""
    target = plan.task.target_text
    # Features of S and targets need none: what they are for is kept.
    cautions = {
        one.name: not_preserved(target) for one in column_uses(plan) if one.use == "context"
    }
    return {
        "profile": "tabular-data-package",
        "name": f"prism-{facts.plan_sha256[:12]}",
        "title": f"Synthetic rows for predicting {target}",
        "description": (
            f"{facts.stamp}. Differentially private, epsilon {plan.guarantee.epsilon:.6g}, delta "
            f"{plan.delta:.3g}, neighbours replace one person. See README.md."
        ),
        "resources": [
            {
                "profile": "tabular-data-resource",
                "name": "synthetic",
                "path": SYNTHETIC,
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "schema": {
                    "fields": [
                        _field(column, cautions.get(column.name, ""))
                        for column in plan.schema.columns
                    ],
                    "missingValues": [""],
                },
            },
            {
                "profile": "data-resource",
                "name": "synthetic-parquet",
                "path": PARQUET,
                "format": "parquet",
                "mediatype": "application/vnd.apache.parquet",
            },
        ],
    }


def _field(column: Column, caution: str) -> dict[str, Any]:
    """One column as it stands in the CSV, with what it must not be used for."""
    # As the CSV has it, whose cells are made harmless for spreadsheets.
    found: dict[str, Any] = {"name": neutral(column.name), "type": _type(column)}
    description = " ".join(part for part in (column.description, caution) if part)
    if description:
        found["description"] = description
    constraints: dict[str, Any] = {"required": not (column.nullable or column.special)}
    if column.special:
        # To a data package what is no number is missing; with its text the file still says why.
        found["missingValues"] = ["", *(neutral(level_text(value)) for value in column.special)]
    if column.kind == "date":
        low, high = column.bounds
        constraints |= {"minimum": day_text(low), "maximum": day_text(high)}
    elif column.binned:
        low, high = column.bounds
        whole = column.decimals == 0
        constraints |= {
            # A data package wants constraints in the type of their field.
            "minimum": int(low) if whole else low,
            "maximum": int(high) if whole else high,
        }
    elif column.kind == "boolean":
        found |= {"trueValues": ["true"], "falseValues": ["false"]}
    else:
        constraints["enum"] = [neutral(level_text(level)) for level, _ in column.values]
    return found | {"constraints": constraints}


def _type(column: Column) -> str:
    if column.kind == "date":
        return "date"
    if column.binned:
        return "integer" if column.decimals == 0 else "number"
    return "boolean" if column.kind == "boolean" else "string"


def readme(plan: Plan, facts: Facts, files: Collection[str]) -> str:
    """The data sheet of a bundle. Reads no row.

    Args:
        plan: with every private choice filled in.
        facts: stamp, charge and versions.
        files: names of the bundle's other files.
    """
    outside = [name for name in plan.schema.names if name not in {*plan.s, *plan.task.target_names}]
    chosen = plan.selection is not None
    return documents.render(
        "readme.md",
        plan=plan,
        facts=facts,
        rehearsal=facts.stamp == REHEARSAL,
        said=[(LABELS[name][0], text) for name, text in facts.said.to_dict().items()],
        warnings=WARNINGS,
        several=[(aim, features_for(plan.schema, plan.aims, aim.target)) for aim in plan.several],
        why="" if chosen else features_statement(plan.task, plan.dag, _others(plan)),
        measured=_measured(plan),
        outside=outside,
        caution=not_preserved(plan.task.target_text),
        grouped=grouped(plan.schema),
        meaning=meaning(plan),
        opened=sentences(plan.schema.looks),
        files=[(name, text) for name, text in _README_FILES.items() if name in files],
        rows_file=SYNTHETIC,
        typed_file=PARQUET,
        meaning_file=MEANING,
        most_names=_SHOWN,
        program=NAME,
    )


def _others(plan: Plan) -> int:
    """How many columns could be features."""
    return len(plan.schema.columns) - len(plan.aims)


def _measured(plan: Plan) -> list[tuple[int, str, float]]:
    """How many marginals of each kind were measured, and their worst expected error."""
    found = []
    for kind, words in _KINDS.items():
        errors = [query.relative_error for query in plan.with_fine if query.kind == kind]
        if errors:
            found.append((len(errors), words, max(errors)))
    return found
