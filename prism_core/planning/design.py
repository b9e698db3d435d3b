"""Design: the plan that follows from the curator's wishes. No row is read, nothing is spent."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from prism_core.errors import BudgetError, PlanError
from prism_core.planning.adaptive_rounds import ROUNDS_SHARE, AdaptiveRounds
from prism_core.planning.candidates import ForestCandidates, ThreeWayCandidates, one_ways
from prism_core.planning.coarsening import ColumnParts, check_parts
from prism_core.planning.feature_count import settled
from prism_core.planning.frame import Frame
from prism_core.planning.interactions import InteractionChoice, look_for, worst_cells
from prism_core.planning.joint import Joint, joint_of, other_cells
from prism_core.planning.numeric_queries import (
    Products,
    bases,
    check_numeric,
    fine,
    products,
    second_moments,
)
from prism_core.planning.plan import Plan
from prism_core.planning.plan_warnings import cautions
from prism_core.planning.pools import (
    TREE_CHOICE_SHARE,
    background_queries,
    check_choice_share,
    check_products,
    forest_for,
    may_grow,
    rounds_for,
    selections_of,
    star_and_rounds,
    task_queries,
    ties_pay,
    triples_for,
)
from prism_core.planning.queries import Pool, Query, ThreeWayChoice, expected_relative_error
from prism_core.planning.regimes import aims_of, check_model, target_pairs, union, widest, with_s
from prism_core.planning.step_plan import check_rows, delta_in_force
from prism_core.planning.tree.size import size_of
from prism_core.planning.wishes.locks import check_any_choice
from prism_core.privacy.accountants.accountant import accountant
from prism_core.privacy.learning_charge import amount_left, combined_charge
from prism_core.scalars import plain
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.brief import Brief
    from prism_core.planning.tree.junction_tree import Clique
    from prism_core.planning.wishes.task import Budget
    from prism_core.structure.dag import Dag


def design(brief: Brief) -> Plan:
    """The plan for a table of n training rows. Spends nothing and reads no row.

    Raises:
        TaskError, BudgetError, PlanError, StructureError: naming the field and what to do.
    """
    schema, dag, budget = brief.schema, brief.dag, brief.budget
    _check_names(schema, budget)
    check_numeric(schema, brief.task, budget)
    check_model(brief.task, brief.synthesis)
    aims_of(schema, brief.task, dag)  # its mistakes come before those of the budget
    delta = delta_of(budget, brief.n)
    check_prior(schema, dag, budget, delta)
    # Without features: what is coarsened depends on them where a graph gives them only.
    measured = Frame(brief=brief, delta=delta, aims=()).schema
    # Of the columns as they are measured: coarser ones have less noise, so more of them fit.
    task = settled(measured, brief.task, budget, brief.n, delta)
    known = aims_of(schema, task, dag)
    final = known is not None
    frame = Frame(
        brief=replace(brief, task=task, dag=dag if dag is None else dag.over(schema.names)),
        delta=delta,
        # Of the columns as they are measured, which coarsening may have made wider.
        aims=widest(measured, task) if known is None else known,
    )
    # Now and not in the run: one that is charged must not stop after it chose S.
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
        brief=plan.brief,
        delta=plan.delta,
        aims=with_s(plan.task, plan.schema, (s, *further)),
        parts=plan.parts,
    )
    return _plan(frame, final=True)


def with_parts(plan: Plan, parts: Sequence[ColumnParts]) -> Plan:
    """The plan once the parts of coarsened columns were found in noisy counts.

    Post-processing: the same budget, shared out over the cells there really are.

    Raises:
        PlanError: when no run could have found these parts.
    """
    if plan.coarsening is None or plan.parts is not None:
        raise PlanError("The plan coarsens no column.", field="coarsen")
    check_parts(plan.schema, plan.coarsening, parts)
    frame = Frame(brief=plan.brief, delta=plan.delta, aims=plan.aims, parts=tuple(parts))
    return _plan(frame, final=plan.s_is_final)


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
        task: pairs with Y, beside or in place of them a joint; products of two features.
        singles: one-way marginals.
        squares: the products among `task`.
        joint: features that are measured with Y at once, and why; None where none is thought of.
        other_joint: most cells of a joint that another, smaller S may have.
    """

    s: tuple[str, ...]
    task: tuple[Clique, ...]
    singles: tuple[Clique, ...]
    squares: Products
    joint: Joint | None
    other_joint: int

    @property
    def cliques(self) -> tuple[Clique, ...]:
        return (*self.task, *self.singles)

    @property
    def at_once(self) -> tuple[str, ...]:
        """Features measured with Y at once."""
        return self.joint.features if self.joint is not None else ()

    @property
    def whole(self) -> bool:
        """Whether these are all of S."""
        return bool(self.at_once) and self.at_once == self.s

    @classmethod
    def of(cls, frame: Frame, *, final: bool) -> _Workload:
        schema, task = frame.schema, frame.task
        s = union(schema, frame.aims)
        pairs = target_pairs(schema, frame.aims)
        share = frame.pools()["task"]
        joint = joint_of(frame, s, pairs, share, final=final)
        singles = (*one_ways(schema, s, task.target_names), *fine(schema, task, s))
        cliques = pairs
        if joint is not None and joint.features:
            together = schema.canonical((*joint.features, task.target))
            cliques = (together,) if joint.alone else (*pairs, together)
        alone = joint is not None and joint.alone
        squares = Products() if alone else products(schema, task, s, cliques)
        check_products(frame, some=bool(squares.pairs))
        return cls(
            s=s,
            task=(*cliques, *squares.pairs),
            singles=frame.schema_order(singles),
            squares=squares,
            joint=joint,
            other_joint=0 if alone or final else other_cells(frame, s, pairs, share),
        )


@dataclass(frozen=True, kw_only=True)
class _Choices:
    """What is chosen privately of the workload, and the pools that pay for all.

    Attributes:
        adaptive: the rounds; None where there are none.
        triples: 3-way marginals chosen in one go.
        forest: pairs between features.
        look: for features that act together.
        pools: shares of the whole budget.
        left: of the task pool, for what is known: rounds and look are taken off.
        in_rounds: of the task pool, for the rounds.
        delta: of one marginal.
    """

    adaptive: AdaptiveRounds | None
    triples: ThreeWayCandidates | None
    forest: ForestCandidates | None
    look: InteractionChoice | None
    pools: dict[str, float]
    left: float
    in_rounds: float
    delta: float

    @classmethod
    def of(cls, frame: Frame, known: _Workload) -> _Choices:
        adaptive = None if known.whole else rounds_for(frame, known.s)
        triples = None if known.whole else triples_for(frame, known.s, known.cliques)
        # S counts as one node: measured as one, or tied together round by round where that is
        # worth its noise. Where it is not, the forest's pairs within S, which are smaller, may be.
        tied = known.whole or bool(known.squares.pairs)
        # Not where S is one node anyway: `ties_pay` holds for zCDP, which a joint does without.
        if not tied and frame.by_rounds:
            tied = adaptive is not None or not ties_pay(
                frame, known.cliques, known.singles, known.at_once
            )
        forest = forest_for(frame, known.cliques, known.s if tied else known.at_once, triples)
        rounds = 0 if forest is None else forest.rounds
        pools = frame.pools(background=bool(known.singles or rounds), choice=triples is not None)
        in_rounds = 0.0 if adaptive is None else pools["task"] * adaptive.share
        left = pools["task"] - in_rounds
        look = None
        if not known.whole:
            look = look_for(
                frame, known.s, rounds=adaptive is not None and not adaptive.ties, share=left
            )
        if look is not None:
            left -= look.choice_share + look.measure_share
        # Headroom keeps the float sum of the parts below delta.
        parts = len(known.cliques) + rounds + (triples.rounds if triples else 0)
        delta = (frame.delta * (1.0 - 1e-12) - frame.taken) / parts
        return cls(
            adaptive=adaptive,
            triples=triples,
            forest=forest,
            look=look,
            pools=pools,
            left=left,
            in_rounds=in_rounds,
            delta=delta,
        )

    def task_queries(
        self, frame: Frame, known: _Workload
    ) -> tuple[tuple[Query, ...], ThreeWayChoice | None]:
        """What is measured of the task, and what is still to be chosen of it."""
        if self.adaptive is None:
            pools = self.pools | {"task": self.left}
            return task_queries(frame, known.task, self.triples, pools, self.delta)
        return star_and_rounds(frame, known.task, self.adaptive, self.left, self.in_rounds)


def _plan(frame: Frame, *, final: bool) -> Plan:
    known = _Workload.of(frame, final=final)
    chosen = _Choices.of(frame, known)
    pools, look = chosen.pools, chosen.look
    queries, three = chosen.task_queries(frame, known)
    background, tree = background_queries(
        frame, known.singles, chosen.forest, pools["background"], chosen.delta
    )
    selections = selections_of(frame, pools["selection"])
    later: tuple[tuple[Pool, object], ...] = (("task", three), ("background", tree))
    shares: dict[Pool, float] = {pool: pools[pool] for pool, choice in later if choice is None}
    if chosen.adaptive is not None or look is not None:
        shares["task"] = chosen.left
    size = size_of(
        frame,
        known.cliques,
        tree,
        three,
        other_joint=max(known.other_joint, _of_look(frame, look, final=final)),
        grows=chosen.adaptive is not None or (not final and may_grow(frame)),
        final=final,
    )
    plan = calibrated(
        Plan(
            schema=frame.brief.schema,
            domain=frame.schema,
            coarsening=frame.coarsening,
            parts=frame.parts,
            task=frame.task,
            budget=frame.budget,
            synthesis=frame.synthesis,
            dag=frame.dag,
            n=frame.n,
            delta=frame.delta,
            total=frame.total,
            s=known.s,
            s_is_final=final,
            queries=queries + background,
            selection=selections[0] if selections else None,
            further_selections=selections[1:],
            several=frame.aims if frame.task.further else (),
            tree=tree,
            tree_event=None if tree is None else tree.event,
            three_way=three,
            three_way_event=None if three is None else three.event,
            forecast=size,
            joint=_with_error(known.joint, queries),
            interactions=look,
            interactions_event=None if look is None else look.event,
        )
    )
    return replace(plan, warnings=cautions(plan, shares, known.squares))


def _with_error(joint: Joint | None, queries: tuple[Query, ...]) -> Joint | None:
    """The joint with the error of its query: before the pools are known it is an upper estimate."""
    measured = [query for query in queries if query.kind == "joint"]
    if joint is None or not measured:
        return joint
    return replace(joint, error=measured[0].relative_error)


def _of_look(frame: Frame, look: InteractionChoice | None, *, final: bool) -> int:
    """The most cells of what the look may find, of this S or another."""
    if not final:
        return worst_cells(frame)
    if look is None:
        return 0
    return max(frame.schema.cells((*names, frame.task.target)) for names in look.candidates)


def delta_of(budget: Budget, n: int) -> float:
    """Delta as declared, or 1/n².

    Raises:
        BudgetError: for fewer than two rows.
    """
    n = plain(n)
    check_rows(n)
    return delta_in_force(budget.delta, n)


def check_prior(schema: Schema, dag: Dag | None, budget: Budget, delta: float) -> None:
    """What learning cost must be known, accounted under zCDP, and leave something to spend."""
    if dag is not None and dag.provenance == "dp" and dag.prior is None:
        raise BudgetError(
            "The graph was learned with privacy budget and does not say what it cost, so it cannot "
            "be deducted. Use the graph as `prism learn-dag` wrote it.",
            field="learned",
        )
    prior = combined_charge(schema.prior, None if dag is None else dag.prior)
    if prior is None:
        return
    if dag is not None and dag.prior is not None and dag.prior.person_id != schema.person_id:
        raise BudgetError(
            "The graph was learned with another declaration of people, and its cost holds for "
            "that only. Declare people as then, or draw the graph.",
            field="person_id",
        )
    learned = (("domain", schema), ("graph", dag))
    what = " and ".join(name for name, value in learned if value is not None and value.prior)
    if budget.accountant != "zcdp":
        raise BudgetError(
            "What was learned with budget is accounted for under zcdp; choose this accountant.",
            field="accountant",
        )
    # `not >` instead of `<=`, so that NaN is refused as well.
    if not amount_left(accountant("zcdp"), budget.epsilon, delta, prior) > 0.0:
        raise BudgetError(
            f"Learning the {what} cost epsilon {prior.spent.epsilon:.3g} at delta "
            f"{prior.delta:.3g}, and nothing is left of the declared budget. Raise epsilon, or "
            "learn with a smaller share.",
            field="epsilon",
        )


def check_any_s(frame: Frame) -> None:
    """Whatever features are chosen at run time, a plan can be made of them.

    A run that is charged must not stop after it chose S: the largest columns, which are looked
    at as the worst case of memory, may have no products, no 3-way marginals and no locks.

    Raises:
        PlanError, BudgetError: when some S could not be planned for.
    """
    task, multiplied = frame.task, second_moments(frame.schema, frame.task)
    most = task.count * len(task.target_names)
    check_products(frame, some=min(most, len(multiplied)) >= 2)
    triples = task.three_way not in ("auto", "none", "adaptive")
    if triples and task.count >= 2:
        check_choice_share(frame.budget.shares.choice)
    pools = frame.pools(choice=triples)
    # Naive Bayes has no forest, so nothing of its background goes into choosing one.
    measured = 1.0 if frame.synthesis.model == "naive_bayes" else 1.0 - TREE_CHOICE_SHARE
    check_any_choice(
        frame.budget.locks,
        frame.schema,
        frame.task,
        # The least there may be for the pairs: rounds, where they fit the S chosen, take their
        # part.
        pools["task"] * (1.0 - ROUNDS_SHARE if frame.by_rounds else 1.0),
        pools["background"] * measured,
        linear=bases(frame.schema, task),
        multiplied=multiplied,
    )


def calibrated(plan: Plan) -> Plan:
    """The plan with the noise its accountant really needs; unchanged under `zcdp` and `basic`.

    `total` becomes the rho of the events: it is what the ledger is charged, and lies above the
    rho that zCDP gives for the same (epsilon, delta).

    Raises:
        BudgetError: when something is chosen at run time. The noise then follows from what the
            rows made the mechanism choose, and composing loss distributions is proven for noise
            fixed beforehand.
    """
    rule = plan.accountant
    if not rule.fixed_only:
        return plan
    if plan.selection is not None or plan.three_way is not None or plan.tree is not None:
        raise BudgetError(
            "The accountant pld needs a plan whose noise is all fixed beforehand, and this one "
            "chooses features or pairs when it runs. Choose zcdp; or a causal or "
            "graphical regime with the model naive_bayes.",
            field="accountant",
        )
    if plan.prior is not None:
        raise BudgetError(
            "What learning the domain or the graph cost is deducted under zcdp. Choose zcdp, or "
            "declare them.",
            field="accountant",
        )
    # One factor for all: the shares of rho between marginals stay as they were wished.
    factor = rule.factor(plan.events, plan.budget.epsilon, plan.delta)
    queries = tuple(
        replace(
            query,
            event=(event := replace(query.event, sigma=query.event.sigma * factor)),
            relative_error=expected_relative_error(query.cells, event.sigma, plan.mass),
        )
        for query in plan.queries
    )
    return replace(plan, queries=queries, total=math.fsum(query.event.rho for query in queries))
