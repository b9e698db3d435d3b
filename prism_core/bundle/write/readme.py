"""`README.md` of a bundle: the data sheet, in words, from the plan alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    REFIT,
    REPORT,
    RUN,
    SCENARIOS,
    SCHEMA,
    SYNTHETIC,
)
from prism_core.bundle.certificate import NAME, REHEARSAL, Facts
from prism_core.data.schema.code_groups import grouped
from prism_core.data.schema.looks import sentences
from prism_core.explain.column_use import not_preserved
from prism_core.explain.features_statement import features_statement
from prism_core.explain.meaning import WARNINGS, meaning
from prism_core.planning.regimes import features_for
from prism_core.planning.wishes.curator_statement import LABELS
from prism_core.text import documents

if TYPE_CHECKING:
    from collections.abc import Collection

    from prism_core.planning.plan import Plan

_SHOWN = 30
"""How many names are written out."""
_FILES = {
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
        files=[(name, text) for name, text in _FILES.items() if name in files],
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
