"""What is rehearsed: designs to be compared, over epsilons and seeds. All public."""

from __future__ import annotations

import hashlib
import itertools
import json
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core import config as configs
from prism_core.config import RunConfig, TableConfig
from prism_core.errors import BudgetError, ConfigError, PrismError
from prism_core.evaluation.learners import LEARNERS, check_learners
from prism_core.planning.design import design
from prism_core.planning.task import Budget, Synthesis, Task
from prism_core.privacy.checks import epsilon_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prism_core.planning.plan import Plan
    from prism_core.rehearsal.stand_in import StandIn

MOST_VARIANTS = 8
MOST_EPSILONS = 12
MOST_SEEDS = 100

FITTED_ROWS = 20_000
"""Synthetic rows that a run draws and a learner is fitted to, at most. A plan that asks for more
is rehearsed with these; the noise, which is what is compared, does not depend on it."""

_VERSION = 1  # of what a run does; kept points of another version are not used


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One design, under a name. Its epsilon is replaced by those of the rehearsal.

    Attributes:
        name: as the figure shows it.
        task, budget, synthesis: as for `design`.
    """

    name: str
    task: Task
    budget: Budget = field(default_factory=Budget)
    synthesis: Synthesis = field(default_factory=Synthesis)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ConfigError("Every variant needs a name.", field="variants")

    def __reduce__(self) -> tuple[Any, ...]:
        return Variant.loads, (self.name, self.dumps())  # weights are a read-only mapping

    def plan(self, stand_in: StandIn, epsilon: float) -> Plan:
        """The plan for the stand-in rows. Entries about columns that these lack are left out.

        Raises:
            PrismError: naming the variant, where the design cannot be planned.
        """
        schema, target = stand_in.schema, stand_in.target
        weights = {n: w for n, w in self.task.weights.items() if n in schema and n != target}
        k = min(self.task.k, len(schema.columns) - 1)
        rows = min(self.synthesis.rows or stand_in.train.n, FITTED_ROWS)
        try:
            return design(
                schema, replace(self.task, target=target, weights=weights, k=k),
                replace(self.budget, epsilon=epsilon), stand_in.train.n, dag=stand_in.dag,
                synthesis=replace(self.synthesis, rows=rows),
            )  # fmt: skip
        except PrismError as error:
            raise type(error)(f"{self.name}: {error}", field=error.field) from None

    def dumps(self) -> str:
        """Everything but the name, as TOML."""
        nowhere = TableConfig(train=Path("-"), schema=Path("-"))
        return configs.dumps(
            RunConfig(table=nowhere, task=self.task, budget=self.budget, synthesis=self.synthesis)
        )

    @classmethod
    def loads(cls, name: str, text: str) -> Variant:
        """A variant from what `dumps` wrote."""
        found = configs.from_dict(tomllib.loads(text), folder=Path())
        return cls(name=name, task=found.task, budget=found.budget, synthesis=found.synthesis)

    def key(self, stand_in: StandIn, learner: str) -> str:
        """SHA-256 of what its points depend on, besides their epsilon and seed."""
        plain = replace(self, name="-", budget=replace(self.budget, epsilon=1.0))
        parts = [_VERSION, FITTED_ROWS, stand_in.hash, plain.dumps(), learner]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """Designs to be run on stand-in rows, each with every epsilon and every seed.

    Seeds are paired: run number i has the same seed in every variant, so differences between
    variants are known better than the variants themselves.

    Attributes:
        variants: the designs.
        epsilons: increasing.
        seeds: runs of every design and epsilon.
        learner: trained on the synthetic rows.

    Raises:
        ConfigError, BudgetError, EvaluationError: naming the field.
    """

    variants: tuple[Variant, ...]
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

    def tasks(self) -> Iterator[tuple[Variant, float, int]]:
        """Every run: seed by seed, so that all curves grow together."""
        for seed in range(self.seeds):
            for epsilon in self.epsilons:
                for variant in self.variants:
                    yield variant, epsilon, seed

    def check(self, stand_in: StandIn) -> None:
        """Refuse a design that cannot be planned for these rows, before anything runs.

        Raises:
            PrismError: naming the variant.
        """
        for variant in self.variants:
            for epsilon in self.epsilons:
                variant.plan(stand_in, epsilon)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "variants": [{"name": v.name, "design": v.dumps()} for v in self.variants],
            "epsilons": list(self.epsilons),
            "seeds": self.seeds,
            "learner": self.learner,
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Rehearsal:
        """A rehearsal from what `to_dict` gave."""
        return cls(
            variants=tuple(Variant.loads(v["name"], v["design"]) for v in document["variants"]),
            epsilons=tuple(document["epsilons"]), seeds=document["seeds"],
            learner=document["learner"],
        )  # fmt: skip
