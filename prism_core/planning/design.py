"""From the curator's wishes to a plan. No row is read, nothing is spent."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import networkx as nx

from prism_core.errors import BudgetError, PlanError
from prism_core.planning.adaptive import (
    CHOICE_SHARE,
    GROWTH_CELLS,
    NOISE_LIMIT,
    ROUNDS_SHARE,
    AdaptiveRounds,
    adaptive_rounds,
    check_picks,
)
from prism_core.planning.allocation import allocate
from prism_core.planning.automatic import settled
from prism_core.planning.calibration import calibrated
from prism_core.planning.junction_tree import Forecast, forecast
from prism_core.planning.locks import check_any_choice, held, lock_warnings, unused_warning
from prism_core.planning.numeric import (
    Products,
    bases,
    check_numeric,
    cost,
    fine,
    kind_of,
    linear_queries,
    numbers,
    products,
    second_moments,
    stretched,
)
from prism_core.planning.pairs import Pairs
from prism_core.planning.plan import (
    Plan,
    Query,
    SelectionChoice,
    ThreeWayChoice,
    TreeChoice,
    expected_relative_error,
)
from prism_core.planning.targets import (
    Aim,
    aims_of,
    check_model,
    free_features,
    marginal_weight,
    selection_parts,
    target_pairs,
    union,
    widest,
    with_s,
)
from prism_core.planning.task import Synthesis
from prism_core.planning.wide import blame, crowded
from prism_core.planning.workload import (
    MAX_CLIQUE_CELLS,
    MAX_TREE_CELLS,
    ForestCandidates,
    ThreeWayCandidates,
    forest_candidates,
    one_ways,
    three_way_candidates,
)
from prism_core.privacy.accountants import Accountant, accountant
from prism_core.privacy.information import (
    conditional_information_sensitivity,
    mutual_information_sensitivity,
)
from prism_core.privacy.prior import amount_left, together
from prism_core.privacy.regression import GRADIENT_SENSITIVITY
from prism_core.privacy.scores import MODEL_ERROR_SENSITIVITY, association_sensitivity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prism_core.data.schema import Schema
    from prism_core.planning.adaptive import Pick
    from prism_core.planning.junction_tree import Clique
    from prism_core.planning.plan import Pool, QueryKind
    from prism_core.planning.task import Budget, Task
    from prism_core.structure.dag import Dag

_WEAK_EPSILON = 10.0
_REGRESSION_DELTA_SHARE = 0.1  # of delta, for choosing features by a private regression
_TREE_CHOICE_SHARE = 1.0 / 3.0  # of the background pool, as in MST (McKenna et al. 2021)


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
    check_numeric(schema, task, budget)
    synthesis = synthesis or Synthesis()
    check_model(task, synthesis)
    aims_of(schema, task, dag)  # its mistakes come before those of the budget
    delta, warnings = _delta(budget, n)
    task = settled(schema, task, budget, n, delta)
    known = aims_of(schema, task, dag)
    final = known is not None
    _check_prior(schema, dag, budget, delta)
    builder = _Builder(
        schema=schema, task=task, budget=budget, synthesis=synthesis, n=n,
        delta=delta, dag=dag if dag is None else dag.over(schema.names), warnings=warnings,
        aims=widest(schema, task) if known is None else known,
    )  # fmt: skip
    if not final:
        builder.check_any_choice()
    return builder.plan(final=final)


def with_features(plan: Plan, s: Sequence[str], further: Sequence[Sequence[str]] = ()) -> Plan:
    """The plan once S was chosen privately; the same budget, shared out over the real S.

    Args:
        plan: with a selection.
        s: the features of the target.
        further: those of the further targets, in their order.
    """
    builder = _Builder(
        schema=plan.schema, task=plan.task, budget=plan.budget, synthesis=plan.synthesis,
        n=plan.n, delta=plan.delta, dag=plan.dag, warnings=_delta(plan.budget, plan.n)[1],
        aims=with_s(plan.task, plan.schema, (s, *further)),
    )  # fmt: skip
    return builder.plan(final=True)


def with_forest(plan: Plan, pairs: Sequence[Clique]) -> Plan:
    """The plan once the background pairs were chosen privately.

    Raises:
        PlanError: when the number of pairs is not the planned one.
    """
    tree = plan.tree
    if tree is None or len(pairs) != tree.rounds:
        raise PlanError("The forest does not have the planned number of pairs.", field="tree")
    every = (*plan.queries, *_chosen(plan, tree, pairs, "tree", "background"))
    size = forecast(plan.sizes, [query.clique for query in every], last=plan.task.target_names)
    return replace(plan, queries=every, tree=None, forecast=size)


def _epsilon_warning(budget: Budget) -> tuple[str, ...]:
    if budget.epsilon <= _WEAK_EPSILON:
        return ()
    return (
        f"epsilon = {budget.epsilon:g} protects very little: the odds of a guess about one person "
        "may change by a factor of e to that power. Releases commonly stay at or below "
        f"{_WEAK_EPSILON:g}.",
    )


def with_three_way(plan: Plan, pairs: Sequence[Clique]) -> Plan:
    """The plan once the pairs (X_i, X_j) of the 3-way marginals were chosen privately.

    Raises:
        PlanError: when they are not as many as planned, or no forest of candidates.
    """
    three = plan.three_way
    if three is None or len(pairs) != three.rounds:
        raise PlanError("There are not as many 3-way marginals as planned.", field="three_way")
    joined = nx.utils.UnionFind(plan.s)
    for pair in pairs:
        if pair not in three.candidates or joined[pair[0]] == joined[pair[1]]:
            raise PlanError("The 3-way marginals are no forest over S.", field="three_way")
        joined.union(*pair)
    cliques = [plan.schema.canonical((*pair, plan.task.target)) for pair in pairs]
    every = (*plan.queries, *_chosen(plan, three, cliques, "three-way", "task"))
    tree = None if plan.tree is None else replace(plan.tree, tied=tuple(pairs))
    size = plan.forecast
    if tree is None:
        size = forecast(plan.sizes, [query.clique for query in every], last=(plan.task.target,))
    return replace(plan, queries=every, three_way=None, tree=tree, forecast=size)


def with_adaptive(plan: Plan, picks: Sequence[Pick]) -> Plan:
    """The plan once the adaptive rounds have picked their marginals privately.

    Parts of the budget of the rounds that measured nothing count as spent.

    Raises:
        PlanError: when they take more than planned, or one is no candidate or picked twice.
    """
    three = plan.three_way
    if three is None or three.rule != "adaptive":
        raise PlanError("The plan has no adaptive marginals.", field="three_way")
    check_picks(picks, three.candidates, three.rounds)
    part = three.amount / three.rounds
    every = (*plan.queries, *(_adaptive_query(plan, pick, part) for pick in picks))
    idle = three.rounds - sum(pick.parts for pick in picks)
    event = plan.accountant.gaussian(part, three.delta, "part of the rounds not needed")
    size = forecast(plan.sizes, [query.clique for query in every], last=(plan.task.target,))
    worst = plan.forecast if plan.tree is not None else size
    return replace(plan, queries=every, three_way=None, unused=(event,) * idle, forecast=worst)


def _adaptive_query(plan: Plan, pick: Pick, part: float) -> Query:
    amount = part * pick.parts
    cells = plan.schema.cells(pick.clique)
    event = plan.accountant.gaussian(amount, 0.0, " × ".join(pick.clique))
    return Query(
        clique=pick.clique, kind="adaptive", pool="task", cells=cells, weight=1.0,
        share=amount / plan.total, event=event, parts=pick.parts,
        relative_error=expected_relative_error(cells, event.sigma, plan.n),
    )  # fmt: skip


def _chosen(
    plan: Plan, choice: TreeChoice | ThreeWayChoice, cliques: Sequence[Clique], kind: QueryKind,
    pool: Pool,
) -> tuple[Query, ...]:  # fmt: skip
    """Queries for what was chosen: the planned amount, shared out by the real cells."""
    cells = [plan.schema.cells(clique) for clique in cliques]
    amounts = _allocate(choice.amount, cells, plan.budget)
    share = choice.measure_share / choice.amount
    return tuple(
        Query(
            clique=clique, kind=kind, pool=pool, cells=size, weight=1.0, share=amount * share,
            event=(event := plan.accountant.gaussian(amount, choice.delta, " × ".join(clique))),
            relative_error=expected_relative_error(size, event.sigma, plan.n),
        )
        for clique, size, amount in zip(cliques, cells, amounts, strict=True)
    )  # fmt: skip


def _delta(budget: Budget, n: int) -> tuple[float, tuple[str, ...]]:
    if isinstance(n, bool) or not isinstance(n, int) or n < 2:
        raise BudgetError("The table needs at least 2 rows.", field="n")
    warnings = _epsilon_warning(budget)
    if budget.delta is None:
        return 1.0 / n**2, warnings
    if budget.delta >= 1.0 / n:
        return budget.delta, (
            f"delta = {budget.delta:g} is not below 1/n = {1 / n:.2g}: with such a delta a "
            "mechanism may publish one whole row. Use 1/n² or smaller.",
            *warnings,
        )
    return budget.delta, warnings


def _allocate(
    amount: float, costs: Sequence[float], budget: Budget, locked: Mapping[int, float] | None = None
) -> tuple[float, ...]:
    """Shared out as the budget says."""
    return allocate(
        amount, costs, budget.allocation, accountant(budget.accountant).exponent,
        tilt=budget.tilt, locked=locked,
    )  # fmt: skip


def _check_prior(schema: Schema, dag: Dag | None, budget: Budget, delta: float) -> None:
    """What learning cost must be known, accounted under zCDP, and leave something to spend."""
    if dag is not None and dag.provenance == "dp" and dag.prior is None:
        raise BudgetError(
            "The graph was learned with privacy budget and does not say what it cost, so it cannot "
            "be deducted. Use the graph as `prism learn-dag` wrote it.",
            field="learned",
        )
    prior = together(schema.prior, None if dag is None else dag.prior)
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
    if not amount_left(accountant("zcdp"), budget.epsilon, delta, prior) > 0.0:
        raise BudgetError(
            f"Learning the {what} cost epsilon {prior.spent.epsilon:.3g} at delta "
            f"{prior.delta:.3g}, and nothing is left of the declared budget. Raise epsilon, or "
            "learn with a smaller share.",
            field="epsilon",
        )


@dataclass(frozen=True, kw_only=True)
class _Builder:
    schema: Schema
    task: Task
    budget: Budget
    synthesis: Synthesis
    n: int
    delta: float
    dag: Dag | None
    warnings: tuple[str, ...]
    aims: tuple[Aim, ...]

    @property
    def accountant(self) -> Accountant:
        return accountant(self.budget.accountant)

    def plan(self, *, final: bool) -> Plan:
        s = union(self.schema, self.aims)
        pairs = target_pairs(self.schema, self.aims)
        joint_cells = self._joint_cells(s, pairs, self._pools()["task"])
        joint = joint_cells == self.schema.cells((*s, self.task.target))
        singles = one_ways(self.schema, s, self.task.target_names)
        singles = self.schema_order((*singles, *fine(self.schema, self.task, s)))
        task_cliques = (self.schema.canonical((*s, self.task.target)),) if joint else pairs
        squares = Products() if joint else products(self.schema, self.task, s, task_cliques)
        self._check_products(some=bool(squares.pairs))
        task_cliques = (*task_cliques, *squares.pairs)
        measured = (*task_cliques, *singles)
        adaptive = None if joint else self._adaptive(s)
        triples = None if joint else self._triples(s, measured)
        # S counts as one node: measured as one, or tied together round by round where that is worth
        # its noise. Where it is not, neither are the forest's pairs within S.
        tied = joint or self._by_rounds or bool(squares.pairs)
        forest = self._forest(measured, s if tied else (), triples)
        rounds = 0 if forest is None else forest.rounds
        pools = self._pools(background=bool(singles or rounds), choice=triples is not None)
        # Headroom keeps the float sum of the parts below delta.
        parts = len(task_cliques) + len(singles) + rounds + (triples.rounds if triples else 0)
        delta = (self.delta * (1.0 - 1e-12) - self._taken) / parts
        if adaptive is None:
            queries, three = self._task_queries(task_cliques, triples, pools, delta)
        else:
            queries, three = self._star_and_rounds(task_cliques, adaptive, pools["task"])
        background, tree = self._background(singles, forest, pools["background"], delta)
        selections = self._selections(pools["selection"])
        queries += background
        known: tuple[tuple[Pool, object], ...] = (("task", three), ("background", tree))
        shares: dict[Pool, float] = {pool: pools[pool] for pool, later in known if later is None}
        if adaptive is not None:  # the pairs share what the rounds leave to them
            shares["task"] = pools["task"] * (1.0 - ROUNDS_SHARE)
        idle = self._lock_warnings(queries, shares, final=final)
        plan = Plan(
            schema=self.schema, task=self.task, budget=self.budget, synthesis=self.synthesis,
            dag=self.dag, n=self.n, delta=self.delta, total=self._total, s=s, s_is_final=final,
            queries=queries, selection=selections[0] if selections else None, tree=tree,
            further_selections=selections[1:],
            several=self.aims if self.task.further else (),
            tree_event=None if tree is None else tree.event, three_way=three,
            three_way_event=None if three is None else three.event,
            forecast=self._forecast(
                measured, tree, three,
                other_joint=0 if final or joint else joint_cells, final=final,
            ),
            warnings=(
                *self.warnings, *idle, *self._no_rounds(s, joint=joint, adaptive=adaptive),
                *squares.warnings,
                *crowded(self.schema, queries),
            ),
        )  # fmt: skip
        return calibrated(plan)

    def schema_order(self, singles: tuple[Clique, ...]) -> tuple[Clique, ...]:
        """One-way marginals in the order of the schema."""
        return tuple((name,) for name in self.schema.canonical(name for (name,) in singles))

    def check_any_choice(self) -> None:
        """Whatever features are chosen at run time, a plan can be made of them.

        A run that is charged must not stop after it chose S: the largest columns, which are looked
        at as the worst case of memory, may have no products, no 3-way marginals and no locks.
        """
        rule, multiplied = self.task.three_way, second_moments(self.schema, self.task)
        most = self.task.count * len(self.task.target_names)
        self._check_products(some=min(most, len(multiplied)) >= 2)
        triples = rule not in ("auto", "none", "adaptive")
        if triples and self.task.count >= 2:
            self._check_choice_share(self.budget.shares.choice)
        pools = self._pools(choice=triples)
        measured = 1.0 if self.synthesis.model == "naive_bayes" else 1.0 - _TREE_CHOICE_SHARE
        check_any_choice(
            self.budget.locks,
            self.schema,
            self.task,
            pools["task"] * (1.0 - ROUNDS_SHARE if self._by_rounds else 1.0),
            pools["background"] * measured,
            linear=bases(self.schema, self.task),
            multiplied=multiplied,
        )

    def _lock_warnings(
        self, queries: Sequence[Query], shares: Mapping[Pool, float], *, final: bool
    ) -> tuple[str, ...]:
        """What locks do not do; `shares` of the pools whose marginals are all known."""
        locks = self.budget.locks
        if not locks:
            return ()
        idle = lock_warnings(locks, [query.clique for query in queries], final=final)
        for pool, share in shares.items():
            idle += unused_warning(pool, share, queries)
        return idle

    @cached_property
    def _total(self) -> float:
        delta = self.delta - self._taken
        prior = together(self.schema.prior, None if self.dag is None else self.dag.prior)
        return amount_left(self.accountant, self.budget.epsilon, delta, prior)

    @property
    def _chooses(self) -> bool:
        """Whether features are chosen privately: not where all of them are wanted."""
        predictive = self.task.regime == "predictive"
        return predictive and self.task.count < len(free_features(self.schema, self.task))

    @property
    def _taken(self) -> float:
        """Delta that a private regression takes before the rest is shared out."""
        regression = self._chooses and self.task.selection == "logistic"
        return self.delta * _REGRESSION_DELTA_SHARE if regression else 0.0

    def _pools(self, *, background: bool = True, choice: bool = False) -> dict[str, float]:
        shares = self.budget.shares
        found = {
            "selection": shares.selection if self._chooses else 0.0,
            "choice": shares.choice if choice else 0.0,
            "background": shares.background if background else 0.0,
        }
        # A hair less than what is left, so that the float sum of the pools stays below the whole.
        return {**found, "task": math.fsum([1.0, -1e-15, *(-part for part in found.values())])}

    def _joint_cells(self, s: tuple[str, ...], pairs: tuple[Clique, ...], share: float) -> int:
        """Cells of (S, Y) when measuring it at once has less expected error than its pairs.

        Otherwise the most cells that a joint of another, smaller S could have (0 for none).
        """
        if len(s) < 2 or self.task.weights or self.task.further:
            return 0
        delta = self.delta / len(pairs)
        amount = self._total * share
        sigma = self.accountant.gaussian(amount, delta, "").sigma
        if any(linear_queries(self.schema, self.task, pairs, "task")):  # wanted instead of cells
            most = min(self.schema.cells((*s, self.task.target)) - 1, self.task.max_joint_cells)
            return max(0, most)
        sizes = [self.schema.cells(pair) for pair in pairs]
        amounts = _allocate(amount, sizes, self.budget)
        apart = math.fsum(
            size * self.accountant.gaussian(part, delta, "").sigma
            for size, part in zip(sizes, amounts, strict=True)
        )
        cells = self.schema.cells((*s, self.task.target))
        if cells <= self.task.max_joint_cells and cells * sigma < apart:
            return cells
        return min(cells - 1, max(0, self.task.max_joint_cells), math.floor(apart / sigma))

    def _check_products(self, *, some: bool) -> None:
        """Products tie features of S together; so do 3-way marginals, which count on a forest."""
        if not some:
            return
        if self.task.three_way in ("cmi", "model_error"):
            raise PlanError(
                "Products of numeric columns do not go together with 3-way marginals that form a "
                "tree. Choose adaptive marginals or none, or moments without products.",
                field="three_way",
            )
        if self.synthesis.model == "naive_bayes":
            raise PlanError(
                "Products of numeric columns need the graphical model: naive Bayes takes features "
                "to be independent given the target. Choose the model pgm, or moments alone.",
                field="numeric_queries",
            )

    def _needs_pgm(self) -> None:
        if self.synthesis.model == "naive_bayes":
            raise PlanError(
                "3-way marginals need the graphical model: naive Bayes takes features to be "
                "independent given the target. Choose the model pgm, or no 3-way marginals.",
                field="three_way",
            )

    def _adaptive(self, s: tuple[str, ...]) -> AdaptiveRounds | None:
        """The adaptive rounds; None when not asked for or when the noise would outweigh them."""
        if not self._by_rounds:
            return None
        self._needs_pgm()
        if self.budget.accountant != "zcdp":
            raise BudgetError(
                "Adaptive marginals are accounted for under zcdp; choose this accountant, or "
                "another rule for 3-way marginals.",
                field="accountant",
            )
        background = len(s) < len(self.schema.columns) - 1
        pool = self._total * self._pools(background=background)["task"] * ROUNDS_SHARE
        amount = pool * (1.0 - CHOICE_SHARE)
        return adaptive_rounds(
            self.schema, s, self.task.target, self.n, self.task.max_three_way,
            lambda parts: self.accountant.gaussian(amount / parts, 0.0, "").sigma,
        )  # fmt: skip

    @property
    def _by_rounds(self) -> bool:
        """Whether S is looked at in rounds, if any fit; locks share the task pool out by hand."""
        if self.task.three_way != "auto":
            return self.task.three_way == "adaptive"
        held_there = any(self.task.target in lock.key for lock in self.budget.locks)
        pgm, zcdp = self.synthesis.model == "pgm", self.budget.accountant == "zcdp"
        return pgm and zcdp and not held_there and not self.task.further

    def _no_rounds(
        self, s: tuple[str, ...], *, joint: bool, adaptive: AdaptiveRounds | None
    ) -> tuple[str, ...]:
        if self.task.three_way != "adaptive" or joint or adaptive is not None or len(s) < 2:
            return ()
        return (
            "No adaptive round fits: at this budget the noise of one more marginal would exceed "
            f"{NOISE_LIMIT:.0%} of the rows, and do more harm than good. Of S the pairs with the "
            "target are measured, and nothing else.",
        )

    def _star_and_rounds(
        self, cliques: tuple[Clique, ...], adaptive: AdaptiveRounds, share: float
    ) -> tuple[tuple[Query, ...], ThreeWayChoice]:
        """The pairs with the target, and the rounds after them, from the task pool."""
        rounds = share * ROUNDS_SHARE
        queries, _ = self._queries(
            cliques, self._weights(cliques), self._total * (share - rounds), "pair", "task", 0.0
        )
        choosing = rounds * CHOICE_SHARE
        amount = self._total * (rounds - choosing)
        return queries, ThreeWayChoice(
            candidates=adaptive.candidates, rounds=adaptive.parts, rule="adaptive",
            sensitivity=MODEL_ERROR_SENSITIVITY, choice_share=choosing,
            measure_share=rounds - choosing, amount=amount, delta=0.0,
            sigma=self.accountant.gaussian(amount / adaptive.parts, 0.0, "").sigma,
            cells=adaptive.candidates.typical,
            event=self.accountant.exponential(
                self._total * choosing, adaptive.parts, "choosing adaptive marginals"
            ),
        )  # fmt: skip

    def _weights(self, cliques: Sequence[Clique]) -> list[float]:
        raw = [self._weight(clique) for clique in cliques]
        mean = math.fsum(raw) / len(raw)
        return [weight / mean for weight in raw]

    def _triples(
        self, s: tuple[str, ...], measured: tuple[Clique, ...]
    ) -> ThreeWayCandidates | None:
        if self.task.three_way in ("auto", "none", "adaptive"):
            return None
        self._needs_pgm()
        base = sum(map(self.schema.cells, measured))
        loose = forest_candidates(self.schema, self.task.target, (), base)
        found = three_way_candidates(s, loose, self.task.max_three_way)
        return found if found.rounds else None

    def _forest(
        self, measured: tuple[Clique, ...], joined: tuple[str, ...],
        triples: ThreeWayCandidates | None,
    ) -> ForestCandidates | None:  # fmt: skip
        if self.synthesis.model == "naive_bayes" or self.budget.shares.background == 0.0:
            return None
        base = sum(map(self.schema.cells, measured))
        found = forest_candidates(self.schema, self.task.target_names, joined, base)
        if triples is not None:  # its pairs are the first of the same forest
            found = replace(found, rounds=found.rounds - triples.rounds)
        return found if found.rounds else None

    def _task_queries(
        self, cliques: tuple[Clique, ...], triples: ThreeWayCandidates | None,
        pools: dict[str, float], delta: float,
    ) -> tuple[tuple[Query, ...], ThreeWayChoice | None]:  # fmt: skip
        weights = self._weights(cliques)
        kind: QueryKind = "pair" if len(cliques[0]) == 2 else "joint"
        pool = self._total * pools["task"]
        if triples is None:
            return self._queries(cliques, weights, pool, kind, "task", delta)[0], None
        # Shared between pairs and 3-way marginals not known yet: these count with mean cells.
        target = self.schema.size(self.task.target)
        typical = target * math.fsum(map(self.schema.cells, triples.pairs)) / len(triples.pairs)
        queries, amount = self._queries(
            cliques, weights, pool, kind, "task", delta, [typical] * triples.rounds
        )
        return queries, self._three_way(triples, pools["choice"], amount, typical, delta)

    def _check_choice_share(self, share: float) -> None:
        if share <= 0.0:
            raise BudgetError(
                "Choosing 3-way marginals needs a choice share above 0.", field="shares"
            )

    def _three_way(
        self, triples: ThreeWayCandidates, share: float, amount: float, cells: float,
        delta: float,
    ) -> ThreeWayChoice:  # fmt: skip
        self._check_choice_share(share)
        by_error = self.task.three_way == "model_error"
        return ThreeWayChoice(
            candidates=triples.pairs, rounds=triples.rounds, rule=self.task.three_way,
            sensitivity=MODEL_ERROR_SENSITIVITY if by_error
            else conditional_information_sensitivity(self.n),
            choice_share=share, measure_share=amount / self._total, amount=amount, delta=delta,
            sigma=self.accountant.gaussian(amount / triples.rounds, delta, "").sigma, cells=cells,
            event=self.accountant.exponential(
                self._total * share, triples.rounds, "choosing 3-way marginals"
            ),
        )  # fmt: skip

    def _weight(self, clique: Clique) -> float:
        targets = {aim.target for aim in self.aims}
        if not targets.intersection(clique):  # a product of two features
            return math.fsum(self.task.weights.get(name, 1.0) for name in clique) / len(clique)
        return marginal_weight(clique, self.aims, self.task.weights)

    def _queries(
        self, cliques: Sequence[Clique], weights: Sequence[float], amount: float,
        kind: QueryKind, pool: Pool, delta: float, later: Sequence[float] = (),
    ) -> tuple[tuple[Query, ...], float]:  # fmt: skip
        """Queries of a pool, and what is kept for marginals of the costs `later`."""
        linear = linear_queries(self.schema, self.task, cliques, pool)
        cells = [
            numbers(self.schema, clique, query)
            for clique, query in zip(cliques, linear, strict=True)
        ]
        costs = list(map(cost, weights, cells, linear))
        shares = held(self.budget.locks, cliques)
        locked = {place: share * self._total for place, share in shares.items()}
        parts = _allocate(amount, [*costs, *later], self.budget, locked)
        queries: list[Query] = []
        for place, (clique, weight, size) in enumerate(zip(cliques, weights, cells, strict=True)):
            part = parts[place]
            event = self.accountant.gaussian(part, delta, " × ".join(clique))
            query = linear[place]
            error = cost(1.0, size, query)
            error = expected_relative_error(error, event.sigma, self.n)
            event = stretched(event, query)
            queries.append(
                Query(
                    clique=clique,
                    kind=kind_of(kind, query),
                    pool=pool,
                    cells=size,
                    weight=weight,
                    share=shares.get(place, part / self._total),
                    event=event,
                    relative_error=error,
                    locked=place in locked,
                    linear=query,
                )
            )
        return tuple(queries), math.fsum(parts[len(costs) :])

    def _background(
        self, singles: tuple[Clique, ...], forest: ForestCandidates | None, share: float,
        delta: float,
    ) -> tuple[tuple[Query, ...], TreeChoice | None]:  # fmt: skip
        pool = self._total * share
        if singles and share <= 0.0:
            raise BudgetError(
                "The background pool needs a share above 0: some columns are in no task marginal.",
                field="shares",
            )
        if forest is None:
            if not singles:
                return (), None
            weights = [1.0] * len(singles)
            return self._queries(singles, weights, pool, "one-way", "background", delta)[0], None
        choosing = pool * _TREE_CHOICE_SHARE
        # Shared between one-ways and pairs not known yet: these count with their mean cells.
        mean = forest.pairs.cells / len(forest.pairs)
        queries, tree_amount = self._queries(
            singles, [1.0] * len(singles), pool - choosing, "one-way", "background", delta,
            [mean] * forest.rounds,
        )  # fmt: skip
        typical = self.accountant.gaussian(tree_amount / forest.rounds, delta, "")
        tree = TreeChoice(
            candidates=forest.pairs, joined=forest.joined, rounds=forest.rounds,
            choice_share=choosing / self._total, measure_share=tree_amount / self._total,
            amount=tree_amount, delta=delta, sigma=typical.sigma, cells=mean,
            event=self.accountant.exponential(
                choosing, forest.rounds, "choosing background pairs"
            ),
        )  # fmt: skip
        return queries, tree

    def _selections(self, share: float) -> tuple[SelectionChoice, ...]:
        """The choice of each target; they share the pool by the targets' weights."""
        if share <= 0.0:
            if self._chooses:
                raise BudgetError(
                    "The predictive regime needs a selection share above 0.", field="shares"
                )
            return ()
        parts = selection_parts([target.weight for target in self.task.targets])
        return tuple(
            self._selection(target.name, share * part, self._taken * part)
            for target, part in zip(self.task.targets, parts, strict=True)
        )

    def _selection(self, target: str, share: float, taken: float) -> SelectionChoice:
        amount = self._total * share
        return SelectionChoice(
            candidates=free_features(self.schema, self.task),
            k=self.task.count,
            rule=self.task.selection,
            sensitivity=self._score_sensitivity(target),
            share=share,
            event=self.accountant.approximate(amount, taken, "regression to choose features")
            if taken
            else self.accountant.exponential(amount, self.task.count, "choosing features"),
        )

    def _score_sensitivity(self, target: str) -> float:
        """The largest sensitivity of any candidate's score, by the declared domain alone."""
        if self.task.selection == "logistic":
            return GRADIENT_SENSITIVITY
        if self.task.selection != "mutual_information":
            return association_sensitivity(self.n)
        features = map(self.schema.size, free_features(self.schema, self.task))
        binary = self.schema.size(target) <= 2 or max(features) <= 2
        return mutual_information_sensitivity(self.n, binary=binary)

    def _forecast(
        self, cliques: tuple[Clique, ...], tree: TreeChoice | None,
        three: ThreeWayChoice | None, *, other_joint: int, final: bool,
    ) -> Forecast:  # fmt: skip
        sizes = {column.name: column.size for column in self.schema.columns}
        known = forecast(sizes, cliques, last=self.task.target_names)
        if three is not None and three.rule == "adaptive":
            known = Forecast(
                largest_clique=max(known.largest_clique, GROWTH_CELLS),
                cells=known.cells + GROWTH_CELLS,
            )
            three = None
            if tree is None:
                self._check_size(known)
                return replace(known, exact=False)
        if other_joint:  # a smaller S chosen at run time may be measured jointly
            largest = max(known.largest_clique, other_joint)
            known = Forecast(largest_clique=largest, cells=known.cells + other_joint)
        choices = [choice for choice in (tree, three) if choice is not None]
        if not choices:
            size = replace(known, exact=final)
        else:  # pairs of both choices make one forest, see three_way_candidates
            rounds = sum(choice.rounds for choice in choices)
            pairs = choices[
                0
            ].candidates  # of the tree: those of the 3-way marginals are among them
            if not final:  # another S ties other columns together
                loose = forest_candidates(self.schema, self.task.target_names, (), known.cells)
                pairs, rounds = loose.pairs, loose.rounds
            worst = self._worst(pairs, rounds)
            size = Forecast(
                largest_clique=max([known.largest_clique, *worst[:1]]),
                cells=known.cells + sum(worst) + self._roots(),
                exact=False,
            )
        self._check_size(size)
        return size

    def _worst(self, pairs: Sequence[Clique], count: int) -> list[int]:
        """Cells of the largest pairs together with the target, descending."""
        target = self.schema.cells(self.task.target_names)
        if isinstance(pairs, Pairs):
            return [target * cells for cells in pairs.largest(count)]
        return sorted((target * self.schema.cells(pair) for pair in pairs), reverse=True)[:count]

    def _roots(self) -> int:
        """Cells that a forest may add to several targets beside its edges: a root with them all."""
        if not self.task.further:
            return 0
        free = free_features(self.schema, self.task)
        return self.schema.cells(self.task.target_names) * sum(map(self.schema.size, free))

    def _check_size(self, size: Forecast) -> None:
        if size.largest_clique > MAX_CLIQUE_CELLS or size.cells > MAX_TREE_CELLS:
            raise PlanError(
                f"The model would need {size.cells:,} cells (at most {MAX_TREE_CELLS:,}; its "
                f"largest clique {size.largest_clique:,} of at most {MAX_CLIQUE_CELLS:,}) and "
                f"would not fit in memory. {blame(self.schema)}",
                field="levels",
            )
