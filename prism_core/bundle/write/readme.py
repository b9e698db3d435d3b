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
from prism_core.bundle.certificate import NAME, REHEARSAL
from prism_core.bundle.curator_statement import LABELS
from prism_core.data.schema.code_groups import grouped
from prism_core.data.schema.looks import sentences
from prism_core.explain.features_statement import features_statement
from prism_core.explain.meaning import WARNINGS, meaning
from prism_core.planning.regimes import features_for
from prism_core.text.markdown import plain
from prism_core.text.numbers import count_text, error_text, small, up

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from prism_core.bundle.certificate import Facts
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


def readme(plan: Plan, facts: Facts, files: Collection[str]) -> str:
    """The data sheet of a bundle. Reads no row.

    Args:
        plan: with every private choice filled in.
        facts: stamp, charge and versions.
        files: names of the bundle's other files.
    """
    blocks = [
        f"# Synthetic rows for predicting {plain(plan.task.target_text)}",
        *_stamp(facts),
        _use(plan),
        *_said(facts),
        *_warned(plan),
        _features(plan),
        _preserved(plan),
        _privacy(plan, facts),
        _rows(plan),
        "## Files\n\n"
        + "\n".join(f"- `{name}`: {text}" for name, text in _FILES.items() if name in files),
        _check(),
        _cite(plan, facts),
    ]
    return "\n\n".join(blocks) + "\n"


def _stamp(facts: Facts) -> list[str]:
    if facts.stamp == REHEARSAL:
        return [
            "**This is a rehearsal on public rows with known noise, not a release. It protects "
            "nobody.** What is said below about privacy is what the same plan promises when it is "
            "run as a release."
        ]
    if facts.stamp == "release":
        return [f"A release; charge {facts.charge} in the ledger of the workspace that made it."]
    return [
        "**Made without a ledger:** nobody kept count of what else was released from the same "
        "people's data."
    ]


def _use(plan: Plan) -> str:
    return (
        "## Intended use\n\n"
        f"{plan.rows:,} rows, made from the rows of {plan.n:,} people for one task: training and "
        f"comparing models that predict {plain(plan.task.target_text)}. No row is a person's. "
        "The rows are not made for other questions, for looking for rare cases, or for decisions "
        "about single people; test a model on real rows before it is used."
    )


def _said(facts: Facts) -> list[str]:
    """Who releases it and why, where the curator said so before the run."""
    lines = [f"- {LABELS[name][0]}: {plain(text)}" for name, text in facts.said.to_dict().items()]
    return ["## Who releases it, and why\n\n" + "\n".join(lines)] if lines else []


def _warned(plan: Plan) -> list[str]:
    """What the curator was warned of before the run, where there was anything."""
    lines = [f"- {plain(warning)}" for warning in plan.warnings]
    return [f"## {WARNINGS}\n\n" + "\n".join(lines)] if lines else []


def _features(plan: Plan) -> str:
    why = (
        plain(features_statement(plan.task, plan.dag, len(plan.schema.columns) - len(plan.aims)))
        if plan.selection is None
        else "S was chosen privately, with part of the budget: the "
        f"{count_text(len(plan.s), 'feature')} most associated with "
        f"{plain(plan.task.target_text)}. Nothing is claimed about causes."
    )
    each = "".join(
        f"- {plain(aim.target)} (weight {aim.weight:g}): {_names(aim.s)}; predict it from "
        f"{_names(features_for(plan.schema, plan.aims, aim.target))}\n"
        for aim in plan.several
    )
    own = f"Of each target:\n\n{each}\n" if each else ""
    return f"## The features S, and why these\n\nS = {_names(plan.s)}\n\n{own}{why}"


def _preserved(plan: Plan) -> str:
    kinds = {
        "pair": "of the target with one feature of S",
        "product": "of two features of S, as the product of their places among their bins",
        "moments": "of the target with one feature of S, as moments of its place among its bins",
        "thresholds": "of the target with one feature of S, as counts between public thresholds",
        "joint": "of the target with all of S at once",
        "three-way": "of the target with two features of S",
        "adaptive": "of two features of S, with or without the target, picked round by round",
        "one-way": "of a single other column",
        "tree": "of two features",
    }
    lines = []
    for kind, words in kinds.items():
        found = [query for query in plan.queries if query.kind == kind]
        if found:
            worst = max(query.relative_error for query in found)
            lines.append(
                f"- {len(found)} marginal{'s' if len(found) > 1 else ''} {words}; expected error "
                f"from noise at most {error_text(worst)} of the people"
            )
    target = plan.task.target_text
    outside = [name for name in plan.schema.names if name not in {*plan.s, *plan.task.target_names}]
    lost = [
        "- Relations between columns beyond the marginals above: they are as the fitted model "
        "completes them, with the least assumptions.",
        "- Numbers and dates inside their bins: values are spread evenly within each.",
    ]
    lost += [f"- Codes inside their groups, of {plain(line)}." for line in grouped(plan.schema)]
    if outside:
        lost.insert(
            0,
            f"- What these columns say about {plain(target)} beyond S: {_names(outside)}. They "
            "carry no information on it once S is known; that is on purpose.",
        )
    return (
        "## What is preserved\n\n"
        + "\n".join(lines)
        + "\n\n## What is not preserved\n\n"
        + "\n".join(lost)
    )


def _privacy(plan: Plan, facts: Facts) -> str:
    found = meaning(plan)
    conditional = "Run as a release, the plan would promise: " if facts.stamp == REHEARSAL else ""
    approval = facts.approval
    approved = "" if approval is None else f" The plan was {plain(approval.sentence)}."
    opened = "".join(f" {plain(each)}" for each in sentences(plan.schema.looks))
    return (
        f"## Privacy, in words\n\n{conditional}{found.claim}\n\n"
        f"(ε, δ) = ({up(found.epsilon)}, {small(found.delta)}); neighbours replace one person; "
        f"the number of people is public. Protected is {found.unit}. More in `{MEANING}`. The "
        f"columns' description was {plan.schema.provenance_text}.{opened}{approved}"
    )


def _rows(plan: Plan) -> str:
    return (
        f"## Reading `{SYNTHETIC}`\n\n"
        "UTF-8, comma, one header line. So that no spreadsheet executes a cell, a text that starts "
        "with =, +, -, @, a tab or a line break got an apostrophe in front, and so did a text that "
        "starts with an apostrophe; numbers such as -3 are as they are. Taking one apostrophe off "
        f"each cell that starts with one gives the texts back. `{PARQUET}` holds them unchanged. "
        f"There are {len(plan.schema.columns)} columns; an empty cell is a missing value."
    )


def _check() -> str:
    return (
        "## Checking this folder\n\n"
        "```\npip install prism-dashboard\n"
        "prism verify .            # or: python -P refit.py\n```\n\n"
        "`prism verify` needs no private row. It plans anew, composes the privacy loss with two "
        "accountants, fits and draws the rows again, and compares. Whose signature it is, only "
        "the key's fingerprint tells: ask whoever gave you the folder, and pass it with `--key`. "
        "Without it the most that `prism verify` says is *consistent, not authenticated*."
    )


def _cite(plan: Plan, facts: Facts) -> str:
    return (
        "## How to cite\n\n"
        f"Synthetic rows for predicting {plain(plan.task.target_text)}, "
        f"plan {facts.number}, (ε, δ) = ({up(plan.guarantee.epsilon)}, "
        f"{small(plan.delta)}), made with {NAME} {facts.versions.get(NAME, 'unknown')} (PRISM)."
    )


def _names(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    shown = ", ".join(map(plain, names[:_SHOWN] if more > 0 else names))
    return f"{shown} and {more} more" if more > 0 else shown
