"""Every file of a bundle that follows from its plan, its facts and its noisy counts.

The writer writes them; `prism verify` makes them again and compares.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from prism_core.bundle import noisy, refit_script
from prism_core.bundle.certificate import REHEARSAL, certificate
from prism_core.bundle.datapackage import datapackage
from prism_core.bundle.layout import (
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
from prism_core.bundle.readme import readme
from prism_core.bundle.report import report
from prism_core.config import RunConfig, TableConfig, dumps
from prism_core.data import schema_io
from prism_core.planning.meaning import meaning
from prism_core.scenario_io import exported
from prism_core.structure import formats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.bundle.certificate import Facts
    from prism_core.planning.plan import Plan
    from prism_core.planning.replay import Stages
    from prism_core.planning.scenario import Scenario
    from prism_core.synthesis.measure import Measurement

_RUN_NOTE = (
    "# The settings of this run. Where the private table stands, and whose it is, is left out:\n"
    "# `train` is a name only.\n\n"
)


def texts(
    stages: Stages, facts: Facts, measurements: Sequence[Measurement],
    scenarios: Sequence[tuple[Scenario, Plan]] = (),
) -> dict[str, str]:  # fmt: skip
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
        REFIT: Path(refit_script.__file__).read_text(encoding="utf-8"),
        DATAPACKAGE: json_text(datapackage(plan, facts)),
        REPORT: report(stages, facts, scenarios),
    }
    if plan.dag is not None and not plan.dag.learned:  # DOT cannot say what a learned graph cost
        found[DOT] = formats.write(plan.dag, "dot")
    files = {*found, SYNTHETIC, PARQUET, MANIFEST}
    return {**found, README: readme(plan, facts, files)}


def sources(
    stages: Stages, facts: Facts, measurements: Sequence[Measurement],
    scenarios: Sequence[tuple[Scenario, Plan]] = (),
) -> dict[str, str]:  # fmt: skip
    """The files that `reader.read_bundle` reads: all others, and the rows, follow from them."""
    plan = stages.final
    found = {
        SCHEMA: schema_io.dumps(plan.schema),
        PLAN: json_text(plan.to_dict()),
        MEASUREMENTS: noisy.text(measurements),
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
        train=Path("train.csv"), schema=Path(SCHEMA),
        dag=None if plan.dag is None else Path(GRAPH), public=stamp == REHEARSAL,
    )  # fmt: skip
    return dumps(
        RunConfig(table=table, task=plan.task, budget=plan.budget, synthesis=plan.synthesis)
    )
