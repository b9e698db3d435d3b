"""Learning a graph where there is none: a charged step of its own, before the release is planned.

What comes out is a blanket, not a causal graph: every member points to the target, because edges
must have a direction and parents are the one form whose blanket is the members alone. The
direction means nothing, and `design` refuses the graph for the causal regime.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prism_core.data.source import check_fits
from prism_core.errors import PrivacyError
from prism_core.learning.blanket import Scores, choose_members
from prism_core.learning.graph_plan import LEAST
from prism_core.privacy.ledger.charging import Price, Steps, charging
from prism_core.privacy.mechanisms import guard
from prism_core.privacy.noise import SecureNoise
from prism_core.structure.dag import Dag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prism_core.data.source import Rows
    from prism_core.learning.graph_plan import GraphPlan
    from prism_core.privacy.accountants import Spent
    from prism_core.privacy.events import ExponentialEvent
    from prism_core.privacy.ledger import Ledger
    from prism_core.privacy.noise import NoiseSource
    from prism_core.privacy.prior import Prior
    from prism_core.structure.dag import DagProvenance


@dataclass(frozen=True, kw_only=True)
class LearnedDag:
    """What learning gives out; differentially private, unless the rows are public.

    Attributes:
        dag: over all columns, with an edge from every member to the target; carries its
            provenance and its cost, which `design` deducts.
        members: the blanket in the order it was found. Empty when nothing stood out of the
            noise: then the graphical regime has nothing to protect, and the cost stands.
        spent: what it cost, stated at the plan's delta; None for public rows read exactly.
        events: the same as events.
        charge: number of the ledger's charge, None where there was none.
        stamp: what kind of run it was.
    """

    dag: Dag
    members: tuple[str, ...]
    spent: Spent | None
    events: tuple[ExponentialEvent, ...] = field(repr=False)
    charge: int | None
    stamp: str


def learn_graph(
    plan: GraphPlan,
    table: Rows,
    *,
    ledger: Ledger | None,
    asset: str = "",
    why: str = "",
    noise: NoiseSource | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> LearnedDag:
    """Learn the blanket of the plan's target. Reads private rows.

    Spends: `plan.spent`. With a ledger the charge is written and synced before the first
    mechanism; it stands whatever happens later, unless no mechanism ran.

    Args:
        plan: from `design_graph`.
        table: the training rows, encoded in the plan's schema.
        ledger: the workspace's ledger. None has to be written out and is stamped on the result.
        asset: the data asset's name in the ledger.
        why: purpose, for the ledger.
        noise: secure by default. A seeded source is for public tables only and makes the run a
            rehearsal, which is not charged.
        progress: told the share of rounds done before each round; may raise to stop.

    Raises:
        PlanError: when the table does not fit the plan.
        PrivacyError: for seeded noise on a private table.
        OverspentError: when the asset's lifetime budget is too small; nothing was read.
    """
    source = noise or SecureNoise()
    guard(table, source)
    check_fits(table, plan.schema, plan.n)
    price = Price(
        spent=plan.spent, events=plan.events, plan=plan.hash, declared=plan.epsilon,
        above_limit=plan.above_limit,
    )  # fmt: skip
    with charging(
        "graph", price, ledger, asset, public=table.public, noise=source,
        why=why or f"learning the blanket of {plan.target}",
    ) as charge:  # fmt: skip
        members = choose_members(table, plan, source, Steps(charge, plan.members, progress))
        dag = _dag(plan, members, "dp", plan.prior(charge.number, charge.receipt))
    return LearnedDag(
        dag=dag, members=members, spent=plan.spent, events=plan.events, charge=charge.number,
        stamp=charge.stamp,
    )  # fmt: skip


def graph_of_public(plan: GraphPlan, table: Rows) -> LearnedDag:
    """The same search without noise on public rows of the same schema. Spends nothing.

    Raises:
        PrivacyError: when the table is not public; nothing is read.
        PlanError: when it is encoded in another schema than the plan's.
    """
    if not table.public:
        raise PrivacyError(
            "Only a public table may be read without noise. Learn with budget, or mark the table "
            "public if it really is.",
            field="public",
        )
    check_fits(table, plan.schema, plan.n)
    scores, left = Scores(plan), list(plan.candidates)
    members: list[str] = []
    while len(members) < plan.members:
        found = scores.of(table, left, members)
        best = max(range(len(left)), key=found.__getitem__)
        if not found[best] > LEAST:
            break
        members.append(left.pop(best))
    return LearnedDag(
        dag=_dag(plan, members, "public twin", None), members=tuple(members), spent=None,
        events=(), charge=None, stamp="learned from public rows",
    )  # fmt: skip


def _dag(
    plan: GraphPlan, members: Sequence[str], provenance: DagProvenance, prior: Prior | None
) -> Dag:
    edges = tuple((member, plan.target) for member in plan.schema.canonical(members))
    return Dag(nodes=plan.schema.names, edges=edges, provenance=provenance, prior=prior)
