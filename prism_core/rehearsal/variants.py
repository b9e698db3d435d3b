"""Variants to be rehearsed: designs to be compared, over epsilons and seeds. All public."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from prism_core.errors import BudgetError, ConfigError, PrismError
from prism_core.evaluation.tstr.learners import LEARNERS, check_learners
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.regimes import given_by
from prism_core.planning.wishes import scenario_files
from prism_core.privacy.parameters import epsilon_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.planning.wishes.task import Regime
    from prism_core.rehearsal.stand_in_rows import StandIn
    from prism_core.structure.dag import Dag

MOST_VARIANTS = 11
MOST_EPSILONS = 12
MOST_SEEDS = 100

FITTED_ROWS = 20_000
"""Synthetic rows that a run draws and a learner is fitted to, at most. A plan that asks for more
is rehearsed with these; the noise, which is what is compared, does not depend on it."""

PLANNED = "the plan as it is"
"""The first of the designs that are compared: papers tell its score."""

RehearsalRun: TypeAlias = tuple[str, float, int]
"""Name of the design, epsilon, seed."""

_VERSION = 2  # of what a run does; kept points of another version are not used


def epsilons_of(text: str) -> tuple[float, ...]:
    """Increasing values of epsilon from a text like "0.2, 0.5, 1", or "0,2; 0,5; 1".

    Raises:
        BudgetError: when a part is no number above 0; 0,5 would be read as 0 and 5.
    """
    # A semicolon says that commas are decimal ones.
    parts = text.replace(",", ".").split(";") if ";" in text else text.split(",")
    try:
        found = tuple(sorted({float(part) for part in parts if part.strip()}))
    except ValueError:
        found = (math.nan,)
    if not all(value > 0.0 for value in found):
        raise BudgetError(
            "The values of epsilon must be numbers above 0 with commas between, such as 0.2, 0.5, "
            "1. With decimal commas, write semicolons between: 0,2; 0,5; 1.",
            field="epsilon",
        )
    return found


def plan_on(scenario: Scenario, stand_in: StandIn, epsilon: float) -> Plan:
    """The plan of a scenario for the stand-in rows, at another epsilon.

    Entries about columns that these rows lack (weights, locks, further targets) are left out.

    Raises:
        PrismError: naming the scenario, where it cannot be planned.
    """
    schema, target = stand_in.schema, stand_in.target
    task, budget, synthesis = scenario.task, scenario.budget, scenario.synthesis
    further = tuple(each for each in task.further if each.name in schema and each.name != target)
    # Of several targets one may be a feature of another, and have a weight as such.
    features = set(schema.names) - (set() if further else {target})
    weights = {name: weight for name, weight in task.weights.items() if name in features}
    locks = tuple(lock for lock in budget.locks if lock.key <= set(schema.names))
    # Stand-in rows may have fewer features than the design asks for.
    k = None if task.k is None else min(task.k, len(schema.columns) - 1 - len(further))
    rows = min(synthesis.rows or stand_in.train.people, FITTED_ROWS)
    try:
        return design(
            Brief(
                schema,
                replace(task, target=target, weights=weights, further=further, k=k),
                replace(budget, epsilon=epsilon, locks=locks),
                stand_in.train.people,
                dag=stand_in.dag,
                synthesis=replace(synthesis, rows=rows),
            )
        )
    except PrismError as error:
        raise ConfigError(f"{scenario.name}: {error}", field=error.field) from None


def run_key(scenario: Scenario, stand_in: StandIn, learner: str) -> str:
    """SHA-256 of what the points of a scenario depend on, besides their epsilon and seed."""
    # Without name and epsilon: a design that is renamed keeps its points, and they say their
    # epsilon.
    plain = replace(scenario, name="-", budget=replace(scenario.budget, epsilon=1.0))
    parts = [_VERSION, FITTED_ROWS, stand_in.hash, scenario_files.to_dict(plain), learner]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """Designs to be run on stand-in rows, each with every epsilon and every seed.

    Seeds are paired: run number i has the same seed in every variant, so differences between
    variants are known better than the variants themselves.

    Attributes:
        variants: the designs; their own epsilon is replaced by those below.
        epsilons: increasing.
        seeds: runs of every design and epsilon.
        learner: trained on the synthetic rows; for a numeric target see `trial`.

    Raises:
        ConfigError, BudgetError, EvaluationError: naming the field.
    """

    variants: tuple[Scenario, ...]
    epsilons: tuple[float, ...] = (0.2, 0.5, 1.0, 2.0, 4.0)
    seeds: int = 10
    learner: str = LEARNERS[0]

    def __post_init__(self) -> None:
        names = [variant.name for variant in self.variants]
        if not 1 <= len(names) <= MOST_VARIANTS or len(set(names)) != len(names):
            raise ConfigError(
                f"A rehearsal compares 1 to {MOST_VARIANTS} variants with different names.",
                field="variants",
            )
        if not 1 <= len(self.epsilons) <= MOST_EPSILONS:
            raise BudgetError(
                f"A rehearsal takes 1 to {MOST_EPSILONS} values of epsilon.", field="epsilon"
            )
        for epsilon in self.epsilons:
            epsilon_value(epsilon)
        if any(not low < high for low, high in itertools.pairwise(self.epsilons)):
            raise BudgetError("The values of epsilon must increase.", field="epsilon")
        if isinstance(self.seeds, bool) or not isinstance(self.seeds, int):
            raise ConfigError("seeds must be a whole number.", field="seeds")
        if not 1 <= self.seeds <= MOST_SEEDS:
            raise ConfigError(f"seeds must be between 1 and {MOST_SEEDS}.", field="seeds")
        check_learners((self.learner,))

    @property
    def runs(self) -> int:
        """How many runs it takes when none is kept from before."""
        return len(self.variants) * len(self.epsilons) * self.seeds

    def variant(self, name: str) -> Scenario:
        """The design of that name."""
        return next(variant for variant in self.variants if variant.name == name)

    def tasks(self) -> Iterator[RehearsalRun]:
        """Every run: seed by seed, so that all curves grow together."""
        for seed in range(self.seeds):
            for epsilon in self.epsilons:
                for variant in self.variants:
                    yield variant.name, epsilon, seed

    def check(self, stand_in: StandIn) -> None:
        """Refuse a design that cannot be planned for these rows, before anything runs.

        Raises:
            PrismError: naming the variant.
        """
        for variant in self.variants:
            for epsilon in self.epsilons:
                plan_on(variant, stand_in, epsilon)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "variants": [scenario_files.to_dict(variant) for variant in self.variants],
            "epsilons": list(self.epsilons),
            "seeds": self.seeds,
            "learner": self.learner,
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Rehearsal:
        """A rehearsal from what `to_dict` gave.

        Raises:
            PrismError: naming the entry that is missing or not usable.
        """
        try:
            variants, epsilons = document["variants"], document["epsilons"]
            seeds, learner = document["seeds"], document["learner"]
            lists = isinstance(variants, list) and isinstance(epsilons, list)
        except (KeyError, TypeError):
            lists, variants, epsilons, seeds, learner = False, [], [], 0, ""
        if not lists:
            raise ConfigError(
                "A rehearsal has the entries variants, epsilons, seeds and learner.",
                field="rehearsal",
            )
        return cls(
            variants=tuple(map(scenario_files.from_dict, variants)),
            epsilons=tuple(epsilons),
            seeds=seeds,
            learner=learner,
        )


def by_allocation(scenario: Scenario) -> tuple[Scenario, ...]:
    """The plan as it is against the closed form and equal shares, all else equal."""
    planned = replace(scenario, name=PLANNED)
    others = (
        replace(scenario, name=name, budget=replace(scenario.budget, allocation=rule))
        for name, rule in (("closed form", "closed_form"), ("uniform", "uniform"))
    )
    # What is the same but for its name would be run twice.
    return (planned, *(one for one in others if replace(one, name=PLANNED) != planned))


def by_regime(scenario: Scenario, dag: Dag | None, target: str) -> tuple[Scenario, ...]:
    """Every regime that the graph allows, all else equal; that of the design first.

    Args:
        scenario: the design.
        dag: the graph of the stand-in rows.
        target: their target.
    """
    regimes: list[Regime] = []
    if dag is not None:
        # What was learned is a blanket: it does not say which of its columns are causes.
        if given_by(dag, "causal", target) and not dag.learned:
            regimes.append("causal")
        if given_by(dag, "graphical", target):
            regimes.append("graphical")
    regimes.append("predictive")
    # False comes before True, and sorting is stable: the others keep their order.
    regimes.sort(key=lambda regime: regime != scenario.task.regime)
    return tuple(
        replace(scenario, name=regime, task=replace(scenario.task, regime=regime))
        for regime in regimes
    )
