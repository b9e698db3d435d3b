"""A learned blanket as a graph: a charged step of its own, before the release is planned.

What comes out is a blanket, not a causal graph: every member points to the target, because edges
must have a direction and parents are the one form whose blanket is the members alone. The direction
means nothing, and `design` refuses the graph for the causal regime.

Why this way. A Markov blanket is usually found by conditional independence tests of many sizes;
their statistics (chi-square, mutual information) move by ln n / n or more when one row is replaced,
and large conditioning sets have more cells than rows. Here the test statistic is R, the total
variation distance from independence, which moves by 4/n; one member at a time is conditioned on;
and the tests are one exponential mechanism a round, whose price does not grow with the number of
columns. Max-min over single members is the first step of MMPC (Tsamardinos, Brown and Aliferis
2006) cut at depth one. It drops what a member explains: copies of members and descendants behind
them. It misses co-parents that only show with a child and against every other member they do not,
and members that are weak once another one is known. There is no second phase that drops members:
measuring their conditional tables would cost as much again as finding them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prism_core.data.encoding import EncodedTable
from prism_core.data.engines.stored_table import StoredTable
from prism_core.data.source import Rows, check_fits
from prism_core.errors import PrivacyError
from prism_core.learning.graph.graph_plan import LEAST, MAX_CELLS, GraphPlan
from prism_core.privacy.ledger.charging import ChargeProgress, charging
from prism_core.privacy.mechanisms import check_noise_of_table, private_choice
from prism_core.privacy.noise import NoiseSource, SecureNoise
from prism_core.privacy.scores import conditional_association
from prism_core.structure.dag import Dag, DagProvenance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prism_core.privacy.accountants.accountant import Spent
    from prism_core.privacy.events import ExponentialEvent
    from prism_core.privacy.learning_charge import LearningCharge
    from prism_core.privacy.ledger import Ledger


def choose_members(
    table: Rows, plan: GraphPlan, noise: NoiseSource, step: Callable[[], None] = lambda: None
) -> tuple[str, ...]:
    """The members of the blanket, in the order they were found; there may be none.

    Each round is an exponential mechanism over the columns left and "nobody else", which has a
    public score and ends the search. Rounds that are not run are paid for.

    Spends: the plan's event, `members` rounds of the same epsilon.

    Proof. Every column's score moves by at most `plan.sensitivity` (see `Scores`) and that of
    "nobody else" not at all; members found before are outputs, so the rounds compose adaptively.

    Args:
        table: the private rows.
        plan: holds candidates, threshold, sensitivity and budget.
        noise: where the randomness comes from.
        step: called before each round; may raise to stop.
    """
    check_noise_of_table(table, noise)
    scores = BlanketScores(plan)
    left = list(plan.candidates)
    members: list[str] = []
    for _ in range(plan.members):
        # Before the rows are asked: it says that the charge stands from here on, or stops the run.
        step()
        index = private_choice(
            table,
            lambda rows: [*scores.of(rows, left, members), plan.threshold],
            sensitivity=plan.sensitivity,
            epsilon=plan.event.epsilon,
            noise=noise,
        )
        # The last score is that of "nobody else".
        if index == len(left):
            break
        members.append(left.pop(index))
    return tuple(members)


@dataclass
class BlanketScores:
    """Scores of columns given members; keeps what it computed, which is as private as the rows.

    A column's score is its least excess association with Y given one member:
    min over members Z of R(X; Y | Z) less what chance would give, and R(X; Y) less chance while
    there is no member. Tables of more than MAX_CELLS are left out, by the declared domain.

    Sensitivity: that of R(X; Y | Z), 4 / n. Proof. R(X; Y) is the case of one stratum, what chance
    gives is data-free, and a minimum of functions that move by at most c moves by at most c.
    """

    plan: GraphPlan
    _known: dict[tuple[str, ...], float] = field(default_factory=dict, repr=False)

    def of(self, rows: Rows, names: Sequence[str], members: Sequence[str]) -> list[float]:
        """The score of every name.

        Reads private rows and spends nothing by itself: for `private_choice` only.
        """
        wanted = {name: self._tests(name, members) for name in names}
        # Scores given earlier members stay as they are, so each round counts only its newest
        # member's tables.
        missing = [test for tests in wanted.values() for test in tests if test not in self._known]
        cliques = [(name, self.plan.target, *given) for name, *given in missing]
        for test, counts in zip(missing, rows.counts(cliques), strict=True):
            # Without a member there is one stratum.
            found = conditional_association(counts.reshape(*counts.shape[:2], -1))
            self._known[test] = found - self.plan.by_chance(test[0], test[1:])
        return [min(self._known[test] for test in tests) for tests in wanted.values()]

    def _tests(self, name: str, members: Sequence[str]) -> list[tuple[str, ...]]:
        cells = self.plan.schema.cells
        fitting = [
            (name, member)
            for member in members
            if cells((name, self.plan.target, member)) <= MAX_CELLS
        ]
        # Without a member, or one small enough, a column is judged by itself.
        return fitting or [(name,)]


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
    keep: Callable[[LearnedDag], None] = lambda _: None,
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
        keep: told what was paid for while the charge is open: it must outlive a ledger that does
            not answer when it is closed.

    Raises:
        PlanError: when the table does not fit the plan.
        PrivacyError: for seeded noise on a private table.
        OverspentError: when the asset's lifetime budget is too small; nothing was read.
    """
    source = noise or SecureNoise()
    check_noise_of_table(table, source)
    table = _one_row_each(table)
    # Before the charge: a table that does not fit costs nothing.
    check_fits(table, plan.schema, plan.n)
    with charging(
        "graph",
        plan.price,
        ledger,
        asset,
        public=table.public,
        noise=source,
        why=why or f"learning the blanket of {plan.target}",
    ) as charge:
        members = choose_members(
            table, plan, source, ChargeProgress(charge, plan.members, progress)
        )
        found = LearnedDag(
            dag=_dag(plan, members, "dp", plan.prior(charge.number, charge.receipt)),
            members=members,
            spent=plan.spent,
            events=plan.events,
            charge=charge.number,
            stamp=charge.stamp,
        )
        keep(found)
    return found


def _one_row_each(table: Rows) -> Rows:
    """The rows that are looked at: one of each person. Spends nothing."""
    # Rows that stay in their database are one a person or none: with more their schema is not the
    # plan's, and `check_fits` refuses them.
    return table.one_row_each if isinstance(table, EncodedTable | StoredTable) else table


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
    table = _one_row_each(table)
    check_fits(table, plan.schema, plan.n)
    scores, left = BlanketScores(plan), list(plan.candidates)
    members: list[str] = []
    while len(members) < plan.members:
        # `left` is never empty: there are no more rounds than candidates (`design_graph`).
        found = scores.of(table, left, members)
        best = max(range(len(left)), key=found.__getitem__)
        # Without noise the bar is LEAST alone: what noise would reach does not count.
        if not found[best] > LEAST:
            break
        members.append(left.pop(best))
    return LearnedDag(
        dag=_dag(plan, members, "public twin", None),
        members=tuple(members),
        spent=None,
        events=(),
        charge=None,
        stamp="learned from public rows",
    )


def _dag(
    plan: GraphPlan, members: Sequence[str], provenance: DagProvenance, prior: LearningCharge | None
) -> Dag:
    # Schema order: the same members make the same graph in whichever order they were found.
    edges = tuple((member, plan.target) for member in plan.schema.canonical(members))
    return Dag(nodes=plan.schema.names, edges=edges, provenance=provenance, prior=prior)
