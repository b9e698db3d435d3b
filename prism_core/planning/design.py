"""From the curator's wishes to a plan. No row is read, nothing is spent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from prism_core.errors import BudgetError
from prism_core.planning.adaptive import ROUNDS_SHARE
from prism_core.planning.automatic import settled
from prism_core.planning.background_pool import background_queries, forest_for, ties_pay
from prism_core.planning.calibration import calibrated
from prism_core.planning.cautions import cautions
from prism_core.planning.frame import Frame
from prism_core.planning.numeric import Products, check_numeric, fine, products
from prism_core.planning.opening import check_any_s, check_prior, delta_of
from prism_core.planning.plan import Plan
from prism_core.planning.selection_pool import selections_of
from prism_core.planning.size import size_of
from prism_core.planning.targets import (
    aims_of,
    check_model,
    target_pairs,
    union,
    widest,
    with_s,
)
from prism_core.planning.task import Synthesis
from prism_core.planning.task_pool import (
    check_products,
    joint_cells,
    may_grow,
    rounds_for,
    star_and_rounds,
    task_queries,
    triples_for,
)
from prism_core.planning.workload import one_ways
from prism_core.scalars import plain
from prism_core.text.suggest import suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.data.schema import Schema
    from prism_core.planning.junction_tree import Clique
    from prism_core.planning.plan import Pool
    from prism_core.planning.task import Budget, Task
    from prism_core.structure.dag import Dag


def design(
    schema: Schema,
    task: Task,
    budget: Budget,
    n: int,
    *,
    dag: Dag | None = None,
    synthesis: Synthesis | None = None,
) -> Plan:
    """The plan for a table of n training rows. Spends nothing and reads no row.

    Args:
        schema: the declared public domain.
        task: target, regime, number of features.
        budget: epsilon, delta, accountant, allocation, shares, locks.
        n: number of training rows (persons); public.
        dag: the public graph; needed in the causal and graphical regimes.
        synthesis: model and sampling.

    Raises:
        TaskError, BudgetError, PlanError, StructureError: naming the field and what to do.
    """
    n = plain(n)
    _check_names(schema, budget)
    check_numeric(schema, task, budget)
    synthesis = synthesis or Synthesis()
    check_model(task, synthesis)
    aims_of(schema, task, dag)  # its mistakes come before those of the budget
    delta = delta_of(budget, n)
    task = settled(schema, task, budget, n, delta)
    known = aims_of(schema, task, dag)
    final = known is not None
    check_prior(schema, dag, budget, delta)
    frame = Frame(
        schema=schema, task=task, budget=budget, synthesis=synthesis, n=n,
        delta=delta, dag=dag if dag is None else dag.over(schema.names),
        aims=widest(schema, task) if known is None else known,
    )  # fmt: skip
    if not final:
        check_any_s(frame)
    return _plan(frame, final=final)


def with_features(plan: Plan, s: Sequence[str], further: Sequence[Sequence[str]] = ()) -> Plan:
    """The plan once S was chosen privately; the same budget, shared out over the real S.

    Args:
        plan: with a selection.
        s: the features of the target.
        further: those of the further targets, in their order.
    """
    frame = Frame(
        schema=plan.schema, task=plan.task, budget=plan.budget, synthesis=plan.synthesis,
        n=plan.n, delta=plan.delta, dag=plan.dag,
        aims=with_s(plan.task, plan.schema, (s, *further)),
    )  # fmt: skip
    return _plan(frame, final=True)


def _check_names(schema: Schema, budget: Budget) -> None:
    """Locks name columns that there are; that of a marginal nobody measures is only warned of."""
    for lock in budget.locks:
        for name in lock.columns:
            if name not in schema:
                raise BudgetError(
                    f"The lock on {lock.label} names {name!r}, which is no column of the schema."
                    f"{suggestion(name, schema.names)}",
                    field="locks",
                )


@dataclass(frozen=True, kw_only=True)
class _Workload:
    """The marginals that are known before any choice.

    Attributes:
        s: the features S.
        task: pairs with Y, or (S, Y) at once; products of two features.
        singles: one-way marginals.
        squares: the products among `task`.
        joint: whether (S, Y) is measured at once.
        other_joint: most cells of a joint that another, smaller S may have.
    """

    s: tuple[str, ...]
    task: tuple[Clique, ...]
    singles: tuple[Clique, ...]
    squares: Products
    joint: bool
    other_joint: int

    @property
    def cliques(self) -> tuple[Clique, ...]:
        return (*self.task, *self.singles)

    @classmethod
    def of(cls, frame: Frame) -> _Workload:
        schema, task = frame.schema, frame.task
        s = union(schema, frame.aims)
        pairs = target_pairs(schema, frame.aims)
        cells = joint_cells(frame, s, pairs, frame.pools()["task"])
        joint = cells == schema.cells((*s, task.target))
        singles = (*one_ways(schema, s, task.target_names), *fine(schema, task, s))
        cliques = (schema.canonical((*s, task.target)),) if joint else pairs
        squares = Products() if joint else products(schema, task, s, cliques)
        check_products(frame, some=bool(squares.pairs))
        return cls(
            s=s, task=(*cliques, *squares.pairs), singles=frame.schema_order(singles),
            squares=squares, joint=joint, other_joint=0 if joint else cells,
        )  # fmt: skip


def _plan(frame: Frame, *, final: bool) -> Plan:
    known = _Workload.of(frame)
    adaptive = None if known.joint else rounds_for(frame, known.s)
    triples = None if known.joint else triples_for(frame, known.s, known.cliques)
    # S counts as one node: measured as one, or tied together round by round where that is worth
    # its noise. Where it is not, the forest's pairs within S, which are smaller, may be.
    alone = frame.by_rounds and (
        adaptive is not None or not ties_pay(frame, known.cliques, known.singles)
    )
    tied = known.joint or alone or bool(known.squares.pairs)
    forest = forest_for(frame, known.cliques, known.s if tied else (), triples)
    rounds = 0 if forest is None else forest.rounds
    pools = frame.pools(background=bool(known.singles or rounds), choice=triples is not None)
    # Headroom keeps the float sum of the parts below delta.
    parts = len(known.cliques) + rounds + (triples.rounds if triples else 0)
    delta = (frame.delta * (1.0 - 1e-12) - frame.taken) / parts
    if adaptive is None:
        queries, three = task_queries(frame, known.task, triples, pools, delta)
    else:
        queries, three = star_and_rounds(frame, known.task, adaptive, pools["task"])
    background, tree = background_queries(frame, known.singles, forest, pools["background"], delta)
    selections = selections_of(frame, pools["selection"])
    queries += background
    later: tuple[tuple[Pool, object], ...] = (("task", three), ("background", tree))
    shares: dict[Pool, float] = {pool: pools[pool] for pool, choice in later if choice is None}
    if adaptive is not None:  # the pairs share what the rounds leave to them
        shares["task"] = pools["task"] * (1.0 - ROUNDS_SHARE)
    size = size_of(
        frame, known.cliques, tree, three, other_joint=0 if final else known.other_joint,
        grows=adaptive is not None or (not final and may_grow(frame)), final=final,
    )  # fmt: skip
    plan = calibrated(
        Plan(
            schema=frame.schema, task=frame.task, budget=frame.budget, synthesis=frame.synthesis,
            dag=frame.dag, n=frame.n, delta=frame.delta, total=frame.total, s=known.s,
            s_is_final=final, queries=queries, selection=selections[0] if selections else None,
            further_selections=selections[1:], several=frame.aims if frame.task.further else (),
            tree=tree, tree_event=None if tree is None else tree.event, three_way=three,
            three_way_event=None if three is None else three.event, forecast=size,
        )
    )  # fmt: skip
    return replace(plan, warnings=cautions(plan, shares, known.squares))
