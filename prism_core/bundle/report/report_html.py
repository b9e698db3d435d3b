"""`report.html`: what a privacy committee, a statistician and an auditor read, in this order.

One file without a script: it opens in any browser, mail program or document store, prints as it
stands, and asks no other host for anything (a content policy in the file forbids it). Figures are
tables whose cells hold bars, and one drawing of the graph; so every figure is its own text
alternative, and `prism verify` can write the report again to the byte, which a plotting library of
another version, and a script of five megabytes, would prevent.

Jinja fills the template and escapes every value: names of columns come from files.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prism_core.bundle.certificate import NAME, REHEARSAL, Facts, certificate
from prism_core.bundle.paper_values import paper_values
from prism_core.bundle.report import registry_entry
from prism_core.bundle.report.approved_done import approved_done
from prism_core.bundle.report.graph_picture import Picture, picture
from prism_core.bundle.report.report_extras import Extras, metric_title, usefulness
from prism_core.data.schema.code_groups import sentence
from prism_core.data.schema.level import day_text
from prism_core.data.schema.looks import sentences
from prism_core.explain.error_bounds import bounds
from prism_core.explain.features_statement import features_statement
from prism_core.explain.meaning import WARNINGS, meaning
from prism_core.explain.plan_lines import PlanLine, lines, look_line
from prism_core.planning.coarsening import parts_text
from prism_core.planning.search.comparison import figures
from prism_core.planning.wishes.curator_statement import LABELS
from prism_core.structure.routing.node_boxes import IN_S, NODE_STYLES
from prism_core.text import documents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.data.schema.column import Column
    from prism_core.planning.choices import Stages
    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.scenario import Scenario

_POOLS = {
    "selection": "choosing the features",
    "choice": "choosing 3-way marginals",
    "task": "marginals with the target",
    "background": "other columns",
}
PROMISED = (
    "legal_basis",
    "accountable",
    "rows_kept",
    "ledger_kept",
    "incident",
)
"""Entries of the statement that a run cannot keep by itself; people answer for them."""

MOST_BARS = 40
"""Most marginals in a figure; the annex lists every one."""


def report(
    stages: Stages,
    facts: Facts,
    scenarios: Sequence[tuple[Scenario, Plan]] = (),
    *,
    extras: Extras | None = None,
) -> str:
    """The report as HTML. Reads no row, spends nothing; the same values give the same text.

    Args:
        stages: the plan on its way.
        facts: what the certificate says beyond it.
        scenarios: what else was considered, each with its plan.
        extras: what a copy says beyond the bundle's report.

    Raises:
        BundleError: when private numbers among the extras are of another release.
    """
    extras = extras or Extras()
    extras.check_release(facts.plan_sha256)
    plan = stages.final
    spent = _spent(stages)
    said = facts.said.over(extras.said)
    entry = registry_entry.registry(plan, facts, extras.date, said)
    meant = meaning(plan)
    compared = approved_done(stages, facts)
    return documents.paper(
        "report",
        extras.language,
        plan=plan,
        number=facts.number,
        paper=paper_values(plan, meant, said),
        compared=compared,
        agreed=not any(item.agrees is False for item in compared),
        noisier=any(item.agrees is None for item in compared),
        useful=usefulness(extras, said.least, plan.budget.epsilon),
        labels={name: label for name, (label, _) in LABELS.items()},
        promised=[name for name in PROMISED if getattr(said, name)],
        facts=facts,
        certificate=certificate(stages, facts),
        extras=extras,
        rehearsal=facts.stamp == REHEARSAL,
        meaning=meant,
        opened=sentences(plan.schema.looks),
        said=said,
        warned=WARNINGS,
        why=features_statement(plan.task, plan.dag, len(plan.schema.columns) - len(plan.aims)),
        budget=_bars(spent),
        pools=_pools(spent),
        bounds=bounds(plan),
        most_bars=MOST_BARS,
        wholes=[(aim.target, bounds(plan, target=aim.target)) for aim in plan.aims],
        pictures=_pictures(plan),
        looks=NODE_STYLES,
        in_s=IN_S,
        scenarios=[(scenario.name, figures(made)) for scenario, made in scenarios],
        own=figures(plan),
        registry=list(registry_entry.fields(entry)),
        registry_json=_data_block(entry),
        columns=[(column, Domain.of(plan, column)) for column in plan.schema.columns],
        program=NAME,
        css=documents.style(),
        title_of=metric_title,
    )


def _data_block(entry: dict[str, Any]) -> str:
    """JSON that may stand inside a script element: no character there ends it or is markup."""
    text = json.dumps(entry, indent=1, ensure_ascii=True, allow_nan=False)
    for character in "<>&'":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _spent(stages: Stages) -> list[PlanLine]:
    """The lines of the budget, the largest share first, with the choices that were made."""
    opened, final = stages.opened, stages.final
    found = list(lines(final))
    look, three, tree = opened.interactions, opened.three_way, opened.tree
    # Its choice was paid for, and the final plan lists only what was measured.
    if look is not None and final.interactions is None:
        found.append(look_line(look))
    # A plan whose choices are still open has their lines already.
    if final.three_way is not None or final.tree is not None:
        return sorted(found, key=lambda line: -line.share)
    for choice, event, what, pool in (
        (three, final.three_way_event, three.words if three else "", three.pool if three else ""),
        (tree, final.tree_event, "background pairs", "background"),
    ):
        # A set that was found ties its columns, so fewer pairs than planned may be chosen, or none.
        if choice is not None and event is not None:
            found.append(
                PlanLine(
                    label=f"choosing {event.count} {what}",
                    pool=pool,
                    cells=None,
                    # Each pick was planned for the same part, so fewer cost less.
                    share=choice.choice_share * event.count / choice.rounds,
                    sigma=None,
                    relative_error=None,
                )
            )
    return sorted(found, key=lambda line: -line.share)


def _pictures(plan: Plan) -> list[tuple[str, Picture]]:
    """The graph as each target sees it; none where there is no graph."""
    found = [(aim.target, picture(plan.for_target(aim.target))) for aim in plan.aims]
    return [(name, drawn) for name, drawn in found if drawn is not None]


def _bars(spent: Sequence[PlanLine]) -> list[dict[str, Any]]:
    """Every line with a bar relative to the longest."""
    # Where no line has a share there is no longest bar to divide by.
    top = max((line.share for line in spent), default=0.0) or 1.0
    return [{"line": line, "bar": line.share / top} for line in spent]


def _pools(spent: Sequence[PlanLine]) -> list[tuple[str, str, float]]:
    """Key, words and share of every pool that spends; learning before the plan is not in it."""
    shares = dict.fromkeys(_POOLS, 0.0)
    for line in spent:
        shares[line.pool] += line.share
    return [(key, _POOLS[key], share) for key, share in shares.items() if share > 0.0]


@dataclass(frozen=True, kw_only=True)
class Domain:
    """What a column may hold, for a line of a table.

    Attributes:
        low, high: ends of a column of bins; "" where it has levels.
        bins: how many; 0 where it has levels.
        special: labels of special values beside the bins.
        levels: labels of the levels, or names of the groups of codes.
        groups: a sentence on the groups; "" where there are none.
        parts: the parts that the run found and measured; "" where there are none.
    """

    low: str = ""
    high: str = ""
    bins: int = 0
    special: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    groups: str = ""
    parts: str = ""

    @classmethod
    def of(cls, plan: Plan, column: Column) -> Domain:
        """The domain of a column in a plan."""
        labels, count = column.labels(), column.level_count
        parts = next((one for one in plan.parts or () if one.name == column.name), None)
        found = "" if parts is None else parts_text(column, parts)
        if not column.binned:
            groups = "" if column.groups is None else sentence(column.groups)
            return cls(levels=labels[:count], groups=groups, parts=found)
        ends = (day_text(end) if column.kind == "date" else f"{end:,.10g}" for end in column.bounds)
        low, high = ends
        return cls(
            low=low,
            high=high,
            bins=len(column.edges) + 1,
            special=labels[count : count + len(column.special)],
            parts=found,
        )
