"""A bundle's files as values. Nothing of it is believed yet; see `verify`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.bundle import measurements_file
from prism_core.bundle.bundle_files import (
    CERTIFICATE,
    GRAPH,
    NEEDED,
    OPTIONAL,
    PLAN,
    RUN,
    SCENARIOS,
    SCHEMA,
    read_json,
)
from prism_core.bundle.certificate import Facts
from prism_core.data.schema import schema_file
from prism_core.errors import BundleError
from prism_core.planning.adaptive_rounds import Pick
from prism_core.planning.approval import approval_from
from prism_core.planning.brief import Brief
from prism_core.planning.choices import Choices, Stages, replay
from prism_core.planning.coarsening import ColumnParts, coarse_schema
from prism_core.planning.design import design
from prism_core.planning.wishes import config as configs
from prism_core.planning.wishes import scenario_files
from prism_core.planning.wishes.curator_statement import CuratorStatement, statement_from
from prism_core.structure import formats
from prism_core.text import untrusted

if TYPE_CHECKING:
    from prism_core.data.schema.schema import Schema
    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.structure.dag import Dag
    from prism_core.synthesis.measure import Measurement


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """What the files of a bundle say.

    Attributes:
        path: the folder.
        schema, dag: the public inputs.
        brief: what the plan was made from.
        choices: what was chosen at run time.
        plan, certificate: as they stand in their files.
        measurements: the noisy counts.
        facts: what the certificate says beyond the plan.
        scenarios: what else was considered.
    """

    path: Path
    schema: Schema
    dag: Dag | None
    brief: Brief
    choices: Choices
    plan: dict[str, Any] = field(repr=False)
    certificate: dict[str, Any] = field(repr=False)
    measurements: tuple[Measurement, ...] = field(repr=False)
    facts: Facts
    scenarios: tuple[Scenario, ...] = ()

    def stages(self) -> Stages:
        """The plan made again. Spends nothing.

        Raises:
            PrismError: when wishes and choices fit no plan.
        """
        return replay(self.brief, self.choices)

    def considered(self) -> list[tuple[Scenario, Plan]]:
        """The scenarios with their plans, made again.

        Raises:
            PrismError: when a scenario makes no plan.
        """
        return [
            (each, design(self.brief.with_wishes(each.task, each.budget, each.synthesis)))
            for each in self.scenarios
        ]


def read_bundle(path: str | Path) -> Bundle:
    """Read the folder of a bundle. The private rows are not needed.

    Raises:
        PrismError: naming the file that is missing or not usable.
    """
    folder = Path(path)
    for name in (*NEEDED, *OPTIONAL):  # a pipe would keep the reader waiting for ever
        entry = folder / name
        if entry.is_symlink() or (entry.exists() and not entry.is_file()):
            raise BundleError(f"{name} is not a plain file.", field=name)
    schema = schema_file.load(folder / SCHEMA)
    dag = formats.read(folder / GRAPH) if (folder / GRAPH).exists() else None
    plan = read_json(folder / PLAN)
    certificate = read_json(folder / CERTIFICATE)
    task, budget, synthesis = configs.wishes_from(_toml(folder / RUN))
    n = plan.get("n")
    # By its type: a true in the file would be the number 1.
    if type(n) is not int or n < 2:
        raise BundleError("plan.json does not say how many people there are.", field="n")
    choices = _choices(plan, task.target)
    # Everything but the fine counts was counted by the parts that were found.
    domain = coarse_schema(schema, choices.parts) if choices.parts else schema
    return Bundle(
        path=folder,
        schema=schema,
        dag=dag,
        plan=plan,
        certificate=certificate,
        brief=Brief(schema, task, budget, n, dag=dag, synthesis=synthesis),
        choices=choices,
        measurements=measurements_file.read_measurements(folder, schema, domain),
        facts=_facts(certificate),
        scenarios=_scenarios(folder / SCENARIOS),
    )


def read_said(path: str | Path) -> CuratorStatement:
    """What a bundle says of who releases it for which purpose. Reads its certificate alone.

    Raises:
        BundleError: when that is not usable.
    """
    return statement_from(read_json(Path(path) / CERTIFICATE).get("said", {}))


def _choices(plan: dict[str, Any], target: str) -> Choices:
    try:
        cliques = {
            kind: tuple(
                tuple(query["clique"]) for query in plan["queries"] if query["kind"] == kind
            )
            # What a run chooses alone; all other queries follow from the plan.
            for kind in ("interaction", "three-way", "tree")
        }
        picks = tuple(
            Pick(clique=tuple(query["clique"]), parts=query["parts"])
            for query in plan["queries"]
            if query["kind"] == "adaptive"
        )
        s = tuple(plan["s"])
        by_target = tuple(tuple(each["s"]) for each in plan.get("targets", ()))
        parts = _parts(plan["coarsening"]["columns"]) if "coarsening" in plan else None
    except (KeyError, TypeError):
        raise BundleError("plan.json does not list S and its queries.", field=PLAN) from None
    found = cliques["interaction"]
    named = (s, *by_target, *cliques["tree"], *found)
    if not all(isinstance(name, str) for part in named for name in part):
        raise BundleError("plan.json names columns that are no text.", field=PLAN)
    return Choices(
        s=s,
        parts=parts,
        by_target=by_target,
        # Its clique holds the target beside the features; a choice names these alone.
        interaction=tuple(name for name in found[0] if name != target) if found else None,
        triples=cliques["three-way"],
        picks=picks,
        pairs=cliques["tree"],
    )


def _parts(columns: list[dict[str, Any]]) -> tuple[ColumnParts, ...]:
    """The parts of coarsened columns.

    Raises:
        PlanError: for numbers that are no parts.
    """
    return tuple(ColumnParts(name=one["name"], parts=tuple(one["parts"])) for one in columns)


def _facts(certificate: dict[str, Any]) -> Facts:
    given = certificate.get("approval")
    try:
        facts = Facts(
            plan_sha256=certificate["plan_sha256"],
            planned_sha256=certificate["planned_sha256"],
            stamp=certificate["stamp"],
            charge=certificate["charge"],
            entry=certificate["ledger_entry_sha256"],
            seed=certificate["sampling"]["seed"],
            versions=dict(certificate["software"]["versions"]),
            approval=None if given is None else approval_from(given),
            said=statement_from(certificate.get("said", {})),
        )
    except (KeyError, TypeError, ValueError):
        facts = None
    if facts is None or not _usable(facts):
        raise BundleError(
            "certificate.json does not name its stamp, hashes, charge, ledger entry, seed and "
            "versions.",
            field=CERTIFICATE,
        )
    return facts


def _usable(facts: Facts) -> bool:
    texts = (facts.plan_sha256, facts.planned_sha256, facts.stamp, facts.entry)
    named = (part for item in facts.versions.items() for part in item)
    return (
        all(isinstance(text, str) for text in (*texts, *named))
        and (facts.charge is None or type(facts.charge) is int)
        and type(facts.seed) is int
        and 0 <= facts.seed < 2**63
    )


def _scenarios(path: Path) -> tuple[Scenario, ...]:
    if not path.exists():
        return ()
    listed = read_json(path).get("scenarios")
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise BundleError("scenarios.json lists no scenarios.", field=SCENARIOS)
    # Written beside the wishes for people; the plans are made again from the wishes alone.
    added = ("figures", "plan_sha256")
    return tuple(
        scenario_files.from_dict({key: value for key, value in entry.items() if key not in added})
        for entry in listed
    )


def _toml(path: Path) -> dict[str, Any]:
    try:
        return untrusted.from_toml(untrusted.text_of(path, untrusted.CONFIG), untrusted.CONFIG)
    except (OSError, ValueError):
        raise BundleError(f"{path.name} is not readable as TOML.", field=RUN) from None
