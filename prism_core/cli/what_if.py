"""Designs that a what-if file sets beside the configuration's, each with its plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.errors import ConfigError, PrismError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.brief import Brief
    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.config import RunConfig
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.structure.dag import Dag

BASE = "as configured"


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


def add_persons_option(parser: argparse.ArgumentParser) -> None:
    """Add the option by which a design is made before its table is there."""
    parser.add_argument(
        "--persons",
        type=int,
        metavar="N",
        help="how many people the table will hold; it is not opened and need not be there yet",
    )


def plan_inputs(config: RunConfig, arguments: argparse.Namespace) -> PlanInputs:
    """What a design needs beside a configuration. Spends nothing.

    With `--persons` the table is not opened; else its rows are counted, and go no further.

    Raises:
        ConfigError: when the number of persons is not usable, or is not the schema's.
    """
    from prism_core.data.schema import schema_file
    from prism_core.runs.inputs import gather
    from prism_core.structure import formats

    persons = arguments.persons
    if persons is None:
        found = gather(config, arguments.workspace)
        return PlanInputs(schema=found.schema, dag=found.dag, n=found.n)
    schema = schema_file.load(config.table.schema)
    if persons < 1:
        raise ConfigError("persons must be a whole number above 0.", field="persons")
    if schema.persons not in (None, persons):
        raise ConfigError(
            f"persons must be {schema.persons:,}, as the schema declares.", field="persons"
        )
    dag = formats.read(config.table.dag) if config.table.dag is not None else None
    return PlanInputs(schema=schema, dag=dag, n=persons)


def considered(path: Path, config: RunConfig, facts: PlanInputs) -> list[tuple[Scenario, Plan]]:
    """The configuration and the scenarios of a file, each with its plan.

    Raises:
        ConfigError: when a scenario cannot be read or planned; it is named.
    """
    from prism_core.planning.wishes import scenario_files
    from prism_core.planning.wishes.scenario import Scenario

    # The first, so that each scenario is told by what differs from the configuration.
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
