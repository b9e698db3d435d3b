"""The plan: everything about a release that can be known without a row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from prism_core.data.schema import looks, schema_file
from prism_core.errors import TaskError
from prism_core.planning.brief import Brief
from prism_core.planning.queries import (
    Query,
    SelectionChoice,
    ThreeWayChoice,
    TreeChoice,
    query_dict,
)
from prism_core.planning.regimes import Aim
from prism_core.planning.step_plan import StepPlan, digest
from prism_core.planning.wishes.options import in_plan, write
from prism_core.privacy.accountants.accountant import CHARGEABLE, Accountant, Spent, accountant
from prism_core.privacy.events import Event, ExponentialEvent, GaussianEvent, event_dict
from prism_core.privacy.learning_charge import LearningCharge, amount_left, combined_charge
from prism_core.privacy.ledger.charging import Price
from prism_core.privacy.scores import model_error_sensitivity
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.coarsening import Coarsening, ColumnParts
    from prism_core.planning.interactions import InteractionChoice
    from prism_core.planning.joint import Joint
    from prism_core.planning.tree.junction_tree import Clique, Forecast
    from prism_core.planning.wishes.task import Budget, Synthesis, Task
    from prism_core.privacy.contribution import Contribution
    from prism_core.structure.dag import Dag


@dataclass(frozen=True, kw_only=True)
class Plan(StepPlan):
    """What will be measured, with how much noise, for what.

    Attributes:
        schema, task, budget, synthesis, dag: the inputs, all public.
        domain: the schema that is measured: coarsened columns by their parts, or before the run by
            as many as there may be; else the declared schema.
        coarsening: the columns whose parts are found privately, if any.
        parts: those parts; None before they were found.
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
        interactions: the private look for features that act together, if any and not made yet.
        interactions_event: what that look spends, made or not.
        joint: which features are measured with the target at once, or why none; None where there
            is none to think of.
    """

    schema: Schema
    domain: Schema
    task: Task
    budget: Budget
    synthesis: Synthesis
    dag: Dag | None
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
    joint: Joint | None = None
    coarsening: Coarsening | None = None
    parts: tuple[ColumnParts, ...] | None = None
    interactions: InteractionChoice | None = None
    interactions_event: ExponentialEvent | None = None

    @property
    def measures_all_at_once(self) -> bool:
        """Whether the joint (S, Y) is measured, beside the pairs or in their place."""
        return self.joint is not None and self.joint.features == self.s

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
        return accountant(self.budget.accountant, self.contribution)

    @property
    def contribution(self) -> Contribution:
        """What one person adds to the counts."""
        return self.schema.contribution

    @property
    def mass(self) -> int:
        """What the counts of a marginal add up to at least; public.

        Errors over it are errors over the table or more. With several rows a person and each
        counting one it is the number of persons: how many rows they have is private.
        """
        return self.contribution.totals(self.n)[0]

    @property
    def rows(self) -> int:
        """Synthetic rows to be made; as many as persons where nothing is wished."""
        # `or` is safe: 0 rows are refused where the wish is made.
        return self.synthesis.rows or self.n

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Codes per column, in schema order."""
        return {column.name: column.size for column in self.domain.columns}

    @property
    def with_fine(self) -> tuple[Query, ...]:
        """The marginals known now, with the fine counts that are measured before them."""
        return (*(() if self.coarsening is None else self.coarsening.queries), *self.queries)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Everything the run spends; marginals still to be chosen count with equal noise."""
        events: list[Event] = []
        events.extend(event for choice in self.selections for event in choice.events)
        events.extend(query.event for query in self.with_fine)
        events.extend(self.unused)
        if self.interactions_event is not None:
            events.append(self.interactions_event)
        if self.interactions is not None:
            label = "features that act together, or the pairs again"
            events.append(self.accountant.gaussian(self.interactions.amount, 0.0, label))
        for made, choice, label in (
            (self.three_way_event, self.three_way, "3-way marginal"),
            (self.tree_event, self.tree, "background pair"),
        ):
            if made is not None:
                events.append(made)
            if choice is not None:
                # Rho (or epsilon) of the marginals adds up, so equal parts cost what unequal ones
                # will.
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
        # Composed as one list: the sum of two epsilons would claim more than both cost together.
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
            # As for the joint below: plans without it keep their hash.
            **(
                {"coarsening": self.coarsening.to_dict(self.schema, self.parts)}
                if self.coarsening is not None
                else {}
            ),
            "queries": [query_dict(query) for query in self.queries],
            # Absent where there is none to think of, as for looks below.
            **({"joint": self.joint.to_dict()} if self.joint is not None else {}),
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
            # Absent, not empty: an entry more would change the hash that ledgers hold for plans
            # without it.
            **({"looks": looks.to_list(self.schema.looks)} if self.schema.looks else {}),
        }

    def _budget(self) -> dict[str, Any]:
        """The budget's options in force, and the locks."""
        found = in_plan(self.budget) | {"delta": self.delta}
        # As above for looks: plans without locks keep their hash.
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
        # Not strict: where nothing is chosen there are targets and no choices.
        for choice, aim in zip(self.selections, self.aims, strict=False):
            found.append(
                {
                    "name": f"features of {aim.target}" if self.several else "features",
                    "rule": choice.rule,
                    "rounds": choice.k,
                    "candidates": len(choice.candidates),
                    **(
                        {"epsilon_per_round": choice.event.epsilon}
                        if isinstance(choice.event, ExponentialEvent)
                        else {"steps": choice.steps, "sigma": choice.event.sigma}
                    ),
                    "sensitivity": choice.sensitivity,
                    "share": choice.share,
                }
            )
        if self.interactions is not None:
            found.append(self.interactions.to_dict())
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
                    **({} if three.bar is None else {"bar": three.bar}),
                }
            )
        if self.tree is not None:
            found.append(
                {
                    "name": "background pairs",
                    "rounds": self.tree.rounds,
                    "candidates": len(self.tree.candidates),
                    "epsilon_per_round": self.tree.event.epsilon,
                    "sensitivity": model_error_sensitivity(self.contribution),
                    "share": self.tree.choice_share,
                    "measure_share": self.tree.measure_share,
                    "sigma": self.tree.sigma,
                }
            )
        return found

    @property
    def price(self) -> Price:
        """What a release is charged: the whole amount, which choices at run time share out.

        What learning before it cost is its `prior`.
        """
        price = Price(
            spent=self.spent,
            events=self.events,
            plan=self.hash,
            accountant=self.budget.accountant,
            declared=self.budget.epsilon,
            above_limit=self.budget.above_limit,
        )
        if self.budget.accountant not in CHARGEABLE:  # for public rows; the ledger refuses it
            return price
        # The rho of a pld plan's events lies above it, and is charged.
        whole = amount_left(self.accountant, self.budget.epsilon, self.delta, self.prior)
        spent = replace(self.spent, rho=max(self.spent.rho, whole))
        return replace(price, spent=spent, prior=self.prior, whole=self.guarantee.epsilon)

    def document(self) -> dict[str, Any]:
        """See `StepPlan.document`."""
        edges = None if self.dag is None else self.dag.edges
        return plan_document(self.to_dict(), schema_file.to_dict(self.schema), edges)


def plan_digest(document: Mapping[str, Any], schema: Schema, dag: Dag | None) -> str:
    """SHA-256 of a plan as `Plan.to_dict` writes it, its schema and its graph."""
    return plain_digest(document, schema_file.to_dict(schema), None if dag is None else dag.edges)


def plain_digest(
    document: Mapping[str, Any], schema: Mapping[str, Any], edges: Iterable[tuple[str, str]] | None
) -> str:
    """The same of plain values, as a protocol holds them; None for edges without a graph."""
    return digest(plan_document(document, schema, edges))


def plan_document(
    document: Mapping[str, Any], schema: Mapping[str, Any], edges: Iterable[tuple[str, str]] | None
) -> dict[str, Any]:
    """What the hash of a release's plan is of."""
    # Sorted, so that the hash does not depend on the order in which edges were drawn.
    graph = {} if edges is None else {"edges": sorted(edges)}
    return {"plan": document, "schema": schema, **graph}


def targets_dict(several: Sequence[Aim]) -> dict[str, Any]:
    """Every target with its own S; nothing for one, whose S stands beside it."""
    if not several:
        return {}
    listed = [{"name": aim.target, "weight": aim.weight, "s": list(aim.s)} for aim in several]
    return {"targets": listed}
