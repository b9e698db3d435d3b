"""Rehearsal from the entries, in a process of its own; the private table is not touched."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.jobs import worker
from dashboard.session.designs import design_name
from dashboard.session.rehearsals import RehearsalEntries, scenario_of
from dashboard.session.shelf import project
from prism_core.errors import TableError
from prism_core.privacy.ledger.ledger import default_workspace
from prism_core.rehearsal import (
    FOLDER,
    Estimate,
    PointStore,
    Rehearsal,
    RehearsalRequest,
    StandIn,
    estimates,
    from_graph,
    from_rows,
    from_sample,
)
from prism_core.rehearsal.allocation_choice import trial
from prism_core.rehearsal.variants import by_allocation, by_regime, epsilons_of
from prism_core.text.numbers import count_text

if TYPE_CHECKING:
    from prism_core.planning.wishes.scenario import Scenario


def kept() -> PointStore:
    """Where points are kept by content, so that a second run is there at once."""
    return PointStore(default_workspace() / FOLDER)


@st.cache_resource(max_entries=4, show_spinner=False)  # public rows, the same for everybody
def _sample(name: str) -> StandIn:
    return from_sample(name)


def stand_in() -> StandIn:
    """The stand-in rows of the entries, made once for the same ones.

    They come from the declared domain, the graph and the number of rows; or from public rows.

    Raises:
        PrismError: when something is missing or not usable.
    """
    state = project()
    entries, schema, target = state.rehearsing, state.data.schema, state.structure.target
    assert schema is not None and target is not None
    if entries.source == "sample":
        return _sample(entries.sample)
    if entries.source == "file" and entries.public is None:
        raise TableError("Upload a public file, or choose other rows.", field="stand_in")
    made_from = _made_from()
    if entries.built is None or entries.built[0] != made_from:
        if entries.source == "file":
            assert entries.public is not None
            made = from_rows(schema, target, entries.public, state.dag, seed=entries.world)
        else:
            made = from_graph(
                schema,
                target,
                state.data.n,
                state.dag,
                strength=entries.strength,
                strengths=entries.strengths,
                seed=entries.world,
            )
        entries.built = (made_from, made)
    return entries.built[1]


def _made_from() -> object:
    """All that the stand-in rows follow from."""
    state = project()
    entries = state.rehearsing
    if entries.source == "sample":
        return entries.sample
    return (
        entries.source,
        state.data.schema,
        state.structure.target,
        state.dag,
        state.data.n,
        entries.world,
        entries.strength,
        # Sorted: strengths typed in another order give the same rows.
        tuple(sorted(entries.strengths.items())),
        entries.public_sha256,
    )


def of_plan() -> tuple[Estimate, ...]:
    """What the last comparison found so far; empty where its first design is not today's plan.

    A committee's paper calls the first design the plan, so figures of an older plan, of other
    columns or of another graph must not stand in it. Another epsilon than the plan's may.
    """
    state = project()
    entries, asked = state.rehearsing, state.rehearsing.asked
    if asked is None or entries.asked_on != _made_from():
        return ()
    plan = scenario_of(state.designs.plan, state.structure.target or "")
    first = asked.rehearsal.variants[0]
    budget = replace(first.budget, epsilon=plan.budget.epsilon)
    if replace(first, name=plan.name, budget=budget) != plan:
        return ()
    return estimates(asked.points(kept()), rows=asked.title)


def _designs(entries: RehearsalEntries, rows: StandIn) -> tuple[Scenario, ...]:
    state = project()
    target = state.structure.target or ""
    if entries.comparison == "designs":
        # By name, which is all that a finished rehearsal knows of a design.
        letters = {design_name(letter): letter for letter in state.designs.letters}
        entries.letters = letters
        return tuple(
            scenario_of(state.designs.entries(letter), target, name)
            for name, letter in letters.items()
        )
    plan = scenario_of(state.designs.plan, target)
    if entries.comparison == "allocation":
        return by_allocation(plan)
    return by_regime(plan, rows.dag, rows.target)


def estimate(entries: RehearsalEntries) -> str:
    """How many runs the entries ask for.

    Raises:
        PrismError: for unusable entries.
    """
    values = epsilons_of(entries.epsilons)
    return (
        f"{count_text(len(values) * entries.seeds, 'run')} of every design. What ran before is not "
        "run again."
    )


def start_plan() -> None:
    """Begin the rehearsal of the plan alone, at its own epsilon: what a committee's paper needs.

    Raises:
        PrismError: when something is missing or not usable.
    """
    state = project()
    rows = stand_in()
    plan = scenario_of(state.designs.plan, state.structure.target or "")
    state.rehearsing.letters = {}
    only = Rehearsal(
        variants=(plan,), epsilons=(plan.budget.epsilon,), seeds=state.rehearsing.seeds
    )
    _begin(only, rows, choosing=False)


def start(*, choosing: bool) -> None:
    """Begin a rehearsal; one whose points are all kept needs no process.

    Args:
        choosing: whether to choose an allocation for the plan instead of comparing designs.

    Raises:
        PrismError: when something is missing or not usable.
    """
    state = project()
    entries = state.rehearsing
    rows = stand_in()
    if choosing:
        plan = scenario_of(state.designs.plan, state.structure.target or "")
        rehearsal = trial(plan, rows, plan.budget.epsilon, seeds=entries.seeds)
        entries.choosing = plan
    else:
        entries.letters = {}
        rehearsal = Rehearsal(
            variants=_designs(entries, rows),
            epsilons=epsilons_of(entries.epsilons),
            seeds=entries.seeds,
        )
    _begin(rehearsal, rows, choosing=choosing)


def _begin(rehearsal: Rehearsal, rows: StandIn, *, choosing: bool) -> None:
    entries = project().rehearsing
    asked = RehearsalRequest.of(rehearsal, rows)
    if choosing:
        entries.trial, entries.view = asked, "allocation"
    else:
        entries.asked, entries.view = asked, "comparison"
        # Noted now: what is entered may change while the process runs.
        entries.asked_on = _made_from()
    entries.message = ""
    # For the time that is left: what was kept from earlier took none of this run's.
    entries.before = asked.done(asked.points(kept()))
    if entries.before < rehearsal.runs:
        entries.job = worker.rehearse(rehearsal, rows)
