"""The comparisons that are asked for most: one design against its usual alternatives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from prism_core.planning.regimes import given_by

if TYPE_CHECKING:
    from prism_core.planning.scenario import Scenario
    from prism_core.planning.task import Regime
    from prism_core.structure.dag import Dag


def by_allocation(scenario: Scenario) -> tuple[Scenario, ...]:
    """The closed form against equal shares, all else equal."""
    budget = scenario.budget
    return (
        replace(scenario, name="closed form", budget=replace(budget, allocation="closed_form")),
        replace(scenario, name="uniform", budget=replace(budget, allocation="uniform")),
    )


def by_regime(scenario: Scenario, dag: Dag | None, target: str) -> tuple[Scenario, ...]:
    """Every regime that the graph allows, all else equal.

    Args:
        scenario: the design.
        dag: the graph of the stand-in rows.
        target: their target.
    """
    regimes: list[Regime] = []
    if dag is not None:
        if given_by(dag, "causal", target) and not dag.learned:
            regimes.append("causal")
        if given_by(dag, "graphical", target):
            regimes.append("graphical")
    regimes.append("predictive")
    return tuple(
        replace(scenario, name=regime, task=replace(scenario.task, regime=regime))
        for regime in regimes
    )
