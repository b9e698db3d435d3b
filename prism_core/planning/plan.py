"""The plan: everything about a release that can be known without a row."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from prism_core.data.schema import looks, schema_file
from prism_core.errors import TaskError
from prism_core.planning.brief import Brief
from prism_core.planning.regimes import Aim
from prism_core.planning.wishes.options import in_plan, write
from prism_core.privacy.accountants.accountant import Accountant, Spent, accountant
from prism_core.privacy.events import event_dict
from prism_core.privacy.learning_charge import LearningCharge, combined_charge
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from prism_core.data.linear_queries import LinearQuery
    from prism_core.data.schema.schema import Schema
    from prism_core.planning.tree.junction_tree import Clique, Forecast
    from prism_core.planning.wishes.task import Budget, SelectionRule, Synthesis, Task, ThreeWayRule
    from prism_core.privacy.events import ApproximateEvent, Event, ExponentialEvent, GaussianEvent
    from prism_core.structure.dag import Dag

Pool: TypeAlias = Literal["selection", "choice", "task", "background"]
QueryKind: TypeAlias = Literal[
    "pair", "joint", "three-way", "adaptive", "one-way", "tree", "moments", "thresholds", "product"
]


@dataclass(frozen=True, kw_only=True)
class Query:
    """One marginal to be measured.

    Attributes:
        clique: its columns, in schema order.
        kind: pair (X_j, Y), joint (S, Y), three-way (X_i, X_j, Y), adaptive (either of the
            two, picked round by round), one-way X_j, or tree (X_i, X_j); or a linear query:
            moments or thresholds of X_j with Y, or the product X_i X_j.
        pool: the pool that pays.
        cells: cells of the marginal; of a linear query how many numbers are measured.
        weight: task weight, mean 1 within a pool.
        share: of the whole budget (rho or epsilon).
        event: what measuring it spends; holds sigma in counts, or in units of 1 / grid of a linear
            query.
        relative_error: expected l1 error divided by n.
        locked: whether its share is fixed by hand.
        parts: of an adaptive marginal: equal parts of the rounds' budget that it took.
        linear: what of the marginal is measured; its counts when None.
    """

    clique: Clique
    kind: QueryKind
    pool: Pool
    cells: int
    weight: float
    share: float
    event: GaussianEvent
    relative_error: float
    locked: bool = False
    parts: int = 1
    linear: LinearQuery | None = None

    @property
    def sigma(self) -> float:
        """Scale of the noise as it is drawn: in counts, or in units of 1 / grid."""
        return self.event.sigma

    @property
    def noise(self) -> float:
        """Scale of the noise for people to read: in counts, or in sums of phi (|phi| <= 1)."""
        return self.sigma if self.linear is None else self.sigma / self.linear.grid

    @property
    def unit(self) -> float:
        """Noise at equal spending, beside that of counts: sensitivity over sqrt(2)."""
        return 1.0 if self.linear is None else self.linear.unit

    @property
    def label(self) -> str:
        """The marginal in words."""
        name = " × ".join(self.clique)
        return name if self.linear is None else f"{name}, {self.kind}"


@dataclass(frozen=True, kw_only=True)
class SelectionChoice:
    """k features to be chosen privately at run time (predictive regime).

    Attributes:
        candidates: all features.
        k: features chosen.
        rule: round by round, or in one shot; and by which score.
        sensitivity: of the score: 3 / n for R, in nats for mutual information; of
            the gradient for a regression.
        share: of the whole budget.
        event: the k rounds, or the private regression.
    """

    candidates: tuple[str, ...]
    k: int
    rule: SelectionRule
    sensitivity: float
    share: float
    event: ExponentialEvent | ApproximateEvent

    @property
    def steps(self) -> int:
        """How often the rows are asked."""
        return self.k if self.rule == "greedy" else 1


@dataclass(frozen=True, kw_only=True)
class ThreeWayChoice:
    """Marginals (X_i, X_j, Y) within S to be chosen privately at run time.

    The chosen pairs (X_i, X_j) form a forest over S, so that with Y on top no clique of the
    junction tree outgrows the largest candidate. The rule `adaptive` picks marginals (X_i, X_j),
    too, may close cycles, and stops where the junction tree has grown enough.

    Attributes:
        candidates: pairs (X_i, X_j) of features in S; Y comes to each. Of `adaptive`: the
            marginals themselves.
        rounds: how many are chosen; the same whatever the rows hold. Of `adaptive`: the equal
            parts of the budget, of which a round takes one or more, so at most as many are chosen.
        rule: the score: conditional mutual information, or the error of the model so far.
        sensitivity: of the score: in nats for `cmi`, 2 (in counts) for `model_error`.
        choice_share: of the whole budget, for choosing.
        measure_share: of the whole budget, for measuring the chosen marginals.
        amount: rho or epsilon for measuring them.
        delta: for each of them (basic composition only).
        sigma: noise of each if all had equal cells, in counts. Of `adaptive`: of one part.
        cells: mean cells of a candidate with Y; of `adaptive` the median cells of a candidate.
        event: the choice.
    """

    candidates: Sequence[Clique]
    rounds: int
    rule: ThreeWayRule
    sensitivity: float
    choice_share: float
    measure_share: float
    amount: float
    delta: float
    sigma: float
    cells: float
    event: ExponentialEvent

    @property
    def words(self) -> str:
        """What is chosen, in words."""
        return "adaptive marginals" if self.rule == "adaptive" else "3-way marginals"

    @property
    def pool(self) -> Pool:
        """The pool that pays for the choice."""
        return "task" if self.rule == "adaptive" else "choice"


@dataclass(frozen=True, kw_only=True)
class TreeChoice:
    """Background pairs to be chosen privately at run time as a spanning forest.

    Attributes:
        candidates: pairs that may be chosen; the target is in none of them.
        joined: columns already tied together (S when its joint is measured).
        rounds: number of pairs in the forest; the same whatever the rows hold.
        choice_share: of the whole budget, for choosing.
        measure_share: of the whole budget, for measuring the chosen pairs.
        amount: rho or epsilon for measuring them.
        delta: for each of them (basic composition only).
        sigma: noise of each if all had equal cells, in counts.
        cells: mean cells of a candidate.
        event: the choice.
        tied: pairs of columns tied together by a chosen 3-way marginal.
    """

    candidates: Sequence[Clique]
    joined: tuple[str, ...]
    rounds: int
    choice_share: float
    measure_share: float
    amount: float
    delta: float
    sigma: float
    cells: float
    event: ExponentialEvent
    tied: tuple[Clique, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What will be measured, with how much noise, for what.

    Attributes:
        schema, task, budget, synthesis, dag: the inputs, all public.
        n: training rows (persons), public.
        delta: in force (the default filled in).
        total: amount that (epsilon, delta) buys, without what learning before it cost: rho or
            epsilon (pld: rho of its events).
        s: the features S; in the predictive regime, before the run, the k largest columns as
            the worst case.
        s_is_final: False while S is only the worst case.
        queries: marginals known now.
        selection: the private choice of S, if any.
        three_way: the private choice of 3-way marginals, if any and not made yet.
        three_way_event: what that choice spends, made or not.
        tree: the private choice of background pairs, if any and not made yet.
        tree_event: what that choice spends, made or not.
        forecast: size of the junction tree.
        warnings: sentences for the curator.
        unused: parts of the adaptive rounds that measured nothing, as a round found nothing or
            no candidate was left. That depends on the rows, so they count as spent.
        several: of several targets each with its own S, first target first; empty for one.
            `s` is their union.
        further_selections: the private choices of S for the further targets.
    """

    schema: Schema
    task: Task
    budget: Budget
    synthesis: Synthesis
    dag: Dag | None
    n: int
    delta: float
    total: float
    s: tuple[str, ...]
    s_is_final: bool
    queries: tuple[Query, ...]
    selection: SelectionChoice | None
    tree: TreeChoice | None
    tree_event: ExponentialEvent | None
    forecast: Forecast
    warnings: tuple[str, ...] = ()
    three_way: ThreeWayChoice | None = None
    three_way_event: ExponentialEvent | None = None
    unused: tuple[GaussianEvent, ...] = ()
    several: tuple[Aim, ...] = ()
    further_selections: tuple[SelectionChoice, ...] = ()

    @property
    def brief(self) -> Brief:
        """What the plan was designed from, with the number of features settled."""
        return Brief(
            self.schema, self.task, self.budget, self.n, dag=self.dag, synthesis=self.synthesis
        )

    @property
    def aims(self) -> tuple[Aim, ...]:
        """Every target with its own S, first target first."""
        return self.several or (Aim(target=self.task.target, weight=1.0, s=self.s),)

    @property
    def selections(self) -> tuple[SelectionChoice, ...]:
        """The private choices of S, one a target; empty where nothing is chosen."""
        return () if self.selection is None else (self.selection, *self.further_selections)

    def for_target(self, name: str) -> Plan:
        """The same measurements as a plan for one of the targets, to read bounds off.

        It is no plan that could be run: its S and its target are those of `name` alone.

        Raises:
            TaskError: when it is no target.
        """
        aim = next((aim for aim in self.aims if aim.target == name), None)
        if aim is None:
            close = suggestion(name, [aim.target for aim in self.aims])
            raise TaskError(f"{name!r} is no target of this plan.{close}", field="target")
        task = replace(self.task, target=name, further=())
        return replace(self, task=task, s=aim.s, several=())

    @property
    def accountant(self) -> Accountant:
        """The accountant in force."""
        return accountant(self.budget.accountant)

    @property
    def rows(self) -> int:
        """Synthetic rows to be made."""
        return self.synthesis.rows or self.n

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Codes per column, in schema order."""
        return {column.name: column.size for column in self.schema.columns}

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Everything the run spends; marginals still to be chosen count with equal noise."""
        events: list[Event] = []
        events.extend(choice.event for choice in self.selections)
        events.extend(query.event for query in self.queries)
        events.extend(self.unused)
        for made, choice, label in (
            (self.three_way_event, self.three_way, "3-way marginal"),
            (self.tree_event, self.tree, "background pair"),
        ):
            if made is not None:
                events.append(made)
            if choice is not None:
                part = choice.amount / choice.rounds
                event = self.accountant.gaussian(part, choice.delta, label)
                events.extend([event] * choice.rounds)
        return tuple(events)

    @cached_property
    def spent(self) -> Spent:
        """What the run spends by its accountant; never above (epsilon, delta)."""
        return self.accountant.spent(self.events, self.delta)

    @cached_property
    def prior(self) -> LearningCharge | None:
        """What was spent before on learning the domain and the graph; it is deducted."""
        return combined_charge(self.schema.prior, None if self.dag is None else self.dag.prior)

    @cached_property
    def guarantee(self) -> Spent:
        """What the run and the learning before it spend together; never above either."""
        prior = self.prior
        if prior is None:
            return self.spent
        return self.accountant.spent((*prior.events, *self.events), self.delta)

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """Cliques of the measurement graph known now."""
        return tuple(query.clique for query in self.queries)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; holds no fact about the rows but their number."""
        return {
            "target": self.task.target,
            **targets_dict(self.several),
            "regime": self.task.regime,
            "k": self.task.k if self.task.regime == "predictive" else None,
            "s": list(self.s),
            "s_is_final": self.s_is_final,
            "n": self.n,
            "rows": self.rows,
            **self._budget(),
            "total": self.total,
            "spent": {
                "epsilon": self.spent.epsilon,
                "delta": self.spent.delta,
                "rho": self.spent.rho,
            },
            # Files of plans have these in another order than settings, and keep it.
            **dict.fromkeys(("model", "sampling", "pairs")),
            **in_plan(self.synthesis),
            "queries": [_query_dict(query) for query in self.queries],
            "deferred": self._deferred(),
            "junction_tree": {
                "largest_clique_cells": self.forecast.largest_clique,
                "cells": self.forecast.cells,
                "megabytes": round(self.forecast.megabytes, 3),
                "exact": self.forecast.exact,
            },
            "events": [event_dict(event) for event in self.events],
            "warnings": list(self.warnings),
            **self._learned(),
            **({"looks": looks.to_list(self.schema.looks)} if self.schema.looks else {}),
        }

    def _budget(self) -> dict[str, Any]:
        """The budget's options in force, and the locks."""
        found = in_plan(self.budget) | {"delta": self.delta}
        if self.budget.locks:
            found["locks"] = [write(lock) for lock in self.budget.locks]
        return found

    def _learned(self) -> dict[str, Any]:
        if self.prior is None:
            return {}
        parts = {"domain": self.schema.prior, "graph": None if self.dag is None else self.dag.prior}
        whole = self.guarantee
        return {
            **{name: part.to_dict() for name, part in parts.items() if part is not None},
            "with_learning": {"epsilon": whole.epsilon, "delta": whole.delta, "rho": whole.rho},
        }

    def _deferred(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for choice, aim in zip(self.selections, self.aims, strict=False):
            found.append(
                {
                    "name": f"features of {aim.target}" if self.several else "features",
                    "rule": choice.rule,
                    "rounds": choice.k,
                    "candidates": len(choice.candidates),
                    "epsilon_per_round"
                    if choice.rule != "logistic"
                    else "epsilon": choice.event.epsilon,
                    "sensitivity": choice.sensitivity,
                    "share": choice.share,
                }
            )
        if self.three_way is not None:
            three = self.three_way
            found.append(
                {
                    "name": three.words,
                    "rule": three.rule,
                    "rounds": three.rounds,
                    "candidates": len(three.candidates),
                    "epsilon_per_round": three.event.epsilon,
                    "sensitivity": three.sensitivity,
                    "share": three.choice_share,
                    "measure_share": three.measure_share,
                    "sigma": three.sigma,
                }
            )
        if self.tree is not None:
            found.append(
                {
                    "name": "background pairs",
                    "rounds": self.tree.rounds,
                    "candidates": len(self.tree.candidates),
                    "epsilon_per_round": self.tree.event.epsilon,
                    "sensitivity": 2.0,
                    "share": self.tree.choice_share,
                    "measure_share": self.tree.measure_share,
                    "sigma": self.tree.sigma,
                }
            )
        return found

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the plan and its schema, for the ledger and the certificate."""
        return plan_digest(self.to_dict(), self.schema, self.dag)


def plan_digest(document: Mapping[str, Any], schema: Schema, dag: Dag | None) -> str:
    """SHA-256 of a plan as `Plan.to_dict` writes it, its schema and its graph."""
    return plain_digest(document, schema_file.to_dict(schema), None if dag is None else dag.edges)


def plain_digest(
    document: Mapping[str, Any], schema: Mapping[str, Any], edges: Iterable[tuple[str, str]] | None
) -> str:
    """The same of plain values, as a protocol holds them; None for edges without a graph."""
    whole: dict[str, Any] = {"plan": document, "schema": schema}
    if edges is not None:
        whole["edges"] = sorted(edges)
    text = json.dumps(whole, sort_keys=True, ensure_ascii=False, default=list)
    return hashlib.sha256(text.encode()).hexdigest()


def targets_dict(several: Sequence[Aim]) -> dict[str, Any]:
    """Every target with its own S; nothing for one, whose S stands beside it."""
    if not several:
        return {}
    listed = [{"name": aim.target, "weight": aim.weight, "s": list(aim.s)} for aim in several]
    return {"targets": listed}


def _query_dict(query: Query) -> dict[str, Any]:
    return {
        "clique": list(query.clique),
        "kind": query.kind,
        "pool": query.pool,
        "cells": query.cells,
        "weight": query.weight,
        "share": query.share,
        "sigma": query.sigma,
        "relative_error": query.relative_error,
        **({"locked": True} if query.locked else {}),
        **({"parts": query.parts} if query.kind == "adaptive" else {}),
        **_linear_dict(query.linear),
    }


def _linear_dict(linear: LinearQuery | None) -> dict[str, Any]:
    """What a linear query is; nothing for counts."""
    if linear is None:
        return {}
    return {
        "query": linear.spec(),
        "grid": linear.grid,
        "sensitivity": linear.sensitivity,
        "unit": linear.unit,
    }


def expected_relative_error(cells: float, sigma: float, n: int) -> float:
    """Expected l1 error of a marginal over n: cells sigma sqrt(2 / pi) / n.

    E|N(0, sigma^2)| = sigma sqrt(2 / pi); an expectation, not a guarantee.
    """
    return cells * sigma * math.sqrt(2.0 / math.pi) / n
