"""The certificate: what was done, what it guarantees, and what it was done with.

All of it follows from the plan and a few facts; `prism verify` makes it again and compares.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from prism_core.data.schema.looks import sentences, to_list
from prism_core.planning.plan import Plan, targets_dict
from prism_core.planning.wishes.curator_statement import CuratorStatement
from prism_core.privacy.events import event_dict
from prism_core.privacy.ledger.rules import CHARGED_STEPS
from prism_core.structure.independence import changes_not_covered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.approval import Approval
    from prism_core.planning.choices import Stages
    from prism_core.privacy.learning_charge import LearningCharge
    from prism_core.synthesis.release import ReleasedMeasurements

NAME = "prism-dashboard"
_LIBRARIES = ("numpy", "scipy", "pandas", "pyarrow", "numba", "mbi", "opendp")
NEIGHBOURS = "replace one person; the number of persons is public"
_RELEASE = CHARGED_STEPS["release"]
REHEARSAL = _RELEASE.rehearsed
STAMPS = (_RELEASE.charged, _RELEASE.uncharged, REHEARSAL)
_NOISE = {
    True: "seeded numpy generator: known noise, on public rows only, protects nobody",
    False: "OpenDP, entropy of the operating system; integer discrete Gaussian on counts",
}


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a certificate says beyond its plan.

    Attributes:
        plan_sha256, planned_sha256: hashes of the plan, and of the plan before its choices. They
            cover the last digits of every float, so another machine may not find them again.
        stamp: what kind of run it was.
        charge: number of the ledger's charge, None where there was none.
        entry: digest of that charge's entry in the ledger's chain, "" where there was none.
        seed: what the synthetic rows were drawn with.
        versions: of this program, Python and the libraries.
        approval: who approved the plan before its choices, None where nobody was asked.
        said: who releases what for which purpose, as the curator typed it before the run.
    """

    plan_sha256: str
    planned_sha256: str
    stamp: str
    charge: int | None
    entry: str
    seed: int
    # A lambda, because the function is defined further down.
    versions: Mapping[str, str] = field(default_factory=lambda: versions())
    approval: Approval | None = None
    said: CuratorStatement = field(default_factory=CuratorStatement)

    @property
    def number(self) -> str:
        """The plan's number for people: of the plan before its choices, as approved and charged."""
        return self.planned_sha256[:12]

    @classmethod
    def of(cls, release: ReleasedMeasurements, said: CuratorStatement | None = None) -> Facts:
        """Those of a release that is made just now, with the versions that are installed."""
        return cls(
            plan_sha256=release.stages.final.hash,
            planned_sha256=release.stages.planned.hash,
            stamp=release.stamp,
            charge=release.charge,
            entry=release.entry,
            seed=release.seed,
            approval=release.approval,
            said=said or CuratorStatement(),
        )


def versions() -> dict[str, str]:
    """Versions of this program, of Python and of the libraries that numbers depend on."""
    found = {NAME: installed(NAME), "python": platform.python_version()}
    return found | {name: installed(name) for name in _LIBRARIES}


@cache
def installed(name: str) -> str:
    """The version of a package, "unknown" where it is not installed as one."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


def other_versions(facts: Facts) -> str:
    """A sentence on libraries that are of another version here, "" when none is."""
    here = versions()
    changed = [
        f"{name} {was} (here {here.get(name, 'unknown')})"
        for name, was in facts.versions.items()
        if here.get(name) != was
    ]
    return f"It was made with {', '.join(changed)}, which may be the reason." if changed else ""


def certificate(stages: Stages, facts: Facts) -> dict[str, Any]:
    """The certificate as plain values."""
    plan = stages.final
    return {
        "stamp": facts.stamp,
        "guarantee": {
            "epsilon": plan.guarantee.epsilon,
            "delta": plan.delta,
            "rho": plan.guarantee.rho,
            "declared_epsilon": plan.budget.epsilon,
            "accountant": plan.budget.accountant,
            "neighbours": NEIGHBOURS,
            "unit": _unit(plan.schema),
            "n": plan.n,
        },
        "task": {
            "target": plan.task.target,
            "regime": plan.task.regime,
            "s": list(plan.s),
            **targets_dict(plan.several),
        },
        "schema_provenance": plan.schema.provenance,
        "schema_provenance_text": plan.schema.provenance_text,
        **_codebook(plan),
        **({"warnings": list(plan.warnings)} if plan.warnings else {}),
        **_opened(plan),
        "domain": _learned(plan.schema.prior),
        **_grouped(plan),
        **_coarsened(plan),
        "graph_provenance": None if plan.dag is None else plan.dag.provenance,
        "graph": None if plan.dag is None else _learned(plan.dag.prior),
        **_unmeasured(plan),
        "events": _events(plan),
        # Of the plan that was opened: the final one has nothing left to choose.
        "choices": stages.opened.to_dict()["deferred"],
        "noise": _NOISE[facts.stamp == REHEARSAL],
        "sampling": {"rule": plan.synthesis.sampling, "rows": plan.rows, "seed": facts.seed},
        "plan_sha256": facts.plan_sha256,
        "planned_sha256": facts.planned_sha256,
        "approval": None if facts.approval is None else facts.approval.certified(),
        **({"said": facts.said.to_dict()} if facts.said.some else {}),
        "charge": facts.charge,
        "ledger_entry_sha256": facts.entry,
        "software": {
            "name": NAME,
            "version": facts.versions.get(NAME, "unknown"),
            "versions": dict(facts.versions),
        },
    }


def _unit(schema: Schema) -> str:
    """Whose rows count, how many of them, and whether that was learned."""
    learned = "; rows per person were counted with noise, for a part of the budget"
    return f"{_kept_rows(schema)}{learned if schema.rows_learned else ''}"


def _kept_rows(schema: Schema) -> str:
    if schema.one_row_per_person:
        return "one row per person declared"
    if schema.contribution.single:
        return "one uniformly chosen row per person ID"
    weight = "every person weighs one" if schema.contribution.shared else "every row weighs one"
    return (
        f"a person with all rows, by person ID, of which up to {schema.max_rows} uniformly chosen "
        f"ones are used; {weight}; the number of rows is private"
    )


def _codebook(plan: Plan) -> dict[str, Any]:
    """The file that the columns were read from, where there is one."""
    source = plan.schema.codebook
    return {} if source is None else {"schema_codebook": source.to_dict()}


def _opened(plan: Plan) -> dict[str, Any]:
    """What opened the rows before the plan, where anything did."""
    looks = plan.schema.looks
    return {"looks": to_list(looks), "looks_text": list(sentences(looks))} if looks else {}


def _grouped(plan: Plan) -> dict[str, Any]:
    """Columns of which groups were measured, where there are any."""
    found = {
        column.name: {
            "groups": len(column.groups.groups),
            "codes": column.groups.count,
            "within_a_group": column.groups.law,
        }
        for column in plan.schema.columns
        if column.groups is not None
    }
    return {"grouped_codes": found} if found else {}


def _coarsened(plan: Plan) -> dict[str, Any]:
    """Columns whose bins or groups were found in noisy counts, where there are any."""
    if plan.coarsening is None:
        return {}
    return {"coarsening": plan.coarsening.to_dict(plan.schema, plan.parts)}


def _unmeasured(plan: Plan) -> dict[str, Any]:
    """Nodes of the graph that are no column, where there are any, and what S leaves open."""
    dag = plan.dag
    if dag is None or not dag.unmeasured or plan.task.regime == "predictive":
        return {}
    return {
        "unmeasured": list(dag.unmeasured),
        "changes_not_covered": {
            aim.target: list(changes_not_covered(dag, aim.target, aim.s)) for aim in plan.aims
        },
    }


def _learned(prior: LearningCharge | None) -> dict[str, Any] | None:
    return None if prior is None else prior.to_dict()


def _events(plan: Plan) -> list[dict[str, Any]]:
    """Everything that was spent, with what learning before the plan cost."""
    parts = {
        "learning the domain": plan.schema.prior,
        "learning the graph": None if plan.dag is None else plan.dag.prior,
    }
    found = [
        {"step": step, **event_dict(event), "rho": event.rho}
        for step, prior in parts.items()
        if prior is not None
        for event in prior.events
    ]
    return found + [
        {"step": "release", **event_dict(event), "rho": event.rho} for event in plan.events
    ]
