"""T-RECORD of people with several rows: a person replaced by one with more rows, or with fewer.

As `test_record`, with the number of rows private: the neighbours have not even as many. Every
true vector, whole, is on the tape, so a parameter that follows the number of rows is a difference.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from prism_core.comparators import design_comparator, run_comparator
from prism_core.planning import adaptive_rounds, ties
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.regression import regression_of
from prism_core.planning.wishes.task import REGIMES, Budget, Synthesis, Task
from prism_core.privacy.scores import (
    association_sensitivity,
    interaction_sensitivity,
    model_error_sensitivity,
)
from prism_core.structure.dag import Dag
from prism_core.synthesis import release
from tests.support.noise import Tape
from tests.support.people import schema_of, table_of

pytestmark = pytest.mark.privacy

SIZES = (2, 3, 4, 2, 2)
M, PERSONS = 4, 20
KINDS = [(M, "rows"), (M, "persons")]
DAG = Dag(nodes=tuple("abcdy"), edges=(("a", "y"), ("b", "y"), ("y", "c"), ("d", "c")))


def neighbours(max_rows, weighting, seed):
    """One person has one row in a corner, and `max_rows` in the other corner next door."""
    rng = np.random.default_rng(seed)
    schema = schema_of(SIZES, max_rows, weighting, PERSONS)
    people = [
        tuple(tuple(rng.integers(0, SIZES)) for _ in range(rng.integers(1, max_rows + 1)))
        for _ in range(PERSONS - 1)
    ]
    corner = tuple(size - 1 for size in SIZES)
    worlds = [[((0,) * 5,), *people], [(corner,) * max_rows, *people]]
    tables = [table_of(schema, world, public=False) for world in worlds]
    assert tables[0].n != tables[1].n
    return tables[:: 1 if seed % 2 else -1]


def replayed(tables, run, moved_by):
    """Record on one table, replay on the other, and fail on a difference that is not allowed.

    Args:
        tables: the neighbours.
        run: from a table and a tape to what came out, in values that can be compared.
        moved_by: by how much a vector may move, from the scale of its noise.

    Returns:
        The tape that was recorded.
    """
    tapes, results = [], []
    for table in tables:
        tapes.append(Tape(tapes[0].outputs if tapes else None, seed=5))
        results.append(run(table, tapes[-1]))
    assert results[0] == results[1]
    assert tapes[1].played
    for one, other in zip(tapes[0].asked, tapes[1].asked, strict=True):
        assert (one.kind, one.scales) == (other.kind, other.scales)
        assert one.value.shape == other.value.shape
        change = (one.value - other.value).astype(float)
        if one.kind == "gaussian":
            assert np.linalg.norm(change) <= moved_by(one.scales[0]) * (1 + 1e-12)
        else:
            assert np.abs(change).max() <= one.scales[1] * (1 + 1e-9)
    return tapes[0]


def planned(tables, task, budget):
    return design(
        Brief(tables[0].schema, task, budget, PERSONS, dag=DAG, synthesis=Synthesis(rows=20))
    )


def released(plan, tables):
    """Replay a release, and hold what was asked of the noise against what the plan says."""
    made = []

    def run(table, tape):
        rng = np.random.default_rng(1)
        made.append(release.release(plan, table, ledger=None, noise=tape, rng=rng))
        return made[-1].plan, made[-1].plan.hash, made[-1].codes.tolist()

    gradients = {
        choice.event.sigma: regression_of(plan.schema, choice.candidates, "y").moved(
            plan.contribution
        )
        for choice in plan.selections
        if choice.rule == "logistic"
    }

    def moved_by(sigma):
        return gradients.get(sigma, plan.contribution.l2)

    tape = replayed(tables, run, moved_by)
    check(made[0].plan, tape, moved_by)
    return made[0].plan


def check(plan, tape, moved_by):
    """Sensitivities of choices are those of the people, and what was asked adds up to the spend."""
    given = plan.contribution
    allowed = {
        association_sensitivity(plan.n, given),
        model_error_sensitivity(given),
        interaction_sensitivity(given),
    }
    choices = [asked.scales for asked in tape.asked if asked.kind == "choice"]
    assert {sensitivity for _, sensitivity, *_ in choices} <= allowed
    rho = [epsilon**2 / 8.0 * (rest[0] if rest else 1) for epsilon, _, *rest in choices]
    rho += [(moved_by(sigma) / sigma) ** 2 / 2.0 for _, sigma in tape.counts]
    assert math.fsum(rho) <= plan.spent.rho * (1 + 1e-9)
    assert plan.spent.epsilon <= plan.budget.epsilon


@pytest.mark.parametrize(("max_rows", "weighting"), KINDS)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("selection", ["greedy", "one_shot", "logistic"])
def test_every_way_of_choosing_features_replays(max_rows, weighting, seed, selection):
    tables = neighbours(max_rows, weighting, seed)
    task = Task(target="y", regime="predictive", k=2, selection=selection, joint="never")
    synthesis = Synthesis(model="naive_bayes", rows=20)
    released(design(Brief(tables[0].schema, task, Budget(), PERSONS, synthesis=synthesis)), tables)


@pytest.mark.parametrize(("max_rows", "weighting"), KINDS)
@pytest.mark.parametrize("accountant", ["zcdp", "basic"])
@pytest.mark.parametrize("regime", REGIMES)
def test_a_release_replays(max_rows, weighting, accountant, regime):
    tables = neighbours(max_rows, weighting, 3)
    task = Task(target="y", regime=regime, k=2)
    budget = Budget(epsilon=20.0, accountant=accountant)
    released(planned(tables, task, budget), tables)


@pytest.mark.parametrize(("max_rows", "weighting"), KINDS)
@pytest.mark.parametrize("three_way", ["adaptive", "model_error"])
def test_choosing_three_way_marginals_replays(max_rows, weighting, three_way, monkeypatch):
    monkeypatch.setattr(adaptive_rounds, "NOISE_LIMIT", math.inf)
    monkeypatch.setattr(adaptive_rounds, "FIRST_NOISE_LIMIT", math.inf)
    tables = neighbours(max_rows, weighting, 4)
    task = Task(
        target="y", regime="graphical", three_way=three_way, max_three_way=2, max_joint_cells=0
    )
    plan = planned(tables, task, Budget(epsilon=50.0))
    assert plan.three_way is not None
    released(plan, tables)


@pytest.mark.parametrize(("max_rows", "weighting"), KINDS)
def test_ties_replay(max_rows, weighting, monkeypatch):
    monkeypatch.setattr(adaptive_rounds, "NOISE_LIMIT", -math.inf)
    monkeypatch.setattr(ties, "may_tie", lambda frame, features: True)
    monkeypatch.setattr(ties, "FALSE_TIES", 2.0)
    tables = neighbours(max_rows, weighting, 5)
    task = Task(target="y", regime="graphical", joint="never")
    plan = planned(tables, task, Budget(epsilon=50.0))
    assert plan.three_way is not None
    released(plan, tables)


@pytest.mark.parametrize(("max_rows", "weighting"), KINDS)
@pytest.mark.parametrize("method", ["mst", "aim", "independent"])
def test_comparators_replay(max_rows, weighting, method):
    tables = neighbours(max_rows, weighting, 6)
    plan = design_comparator(method, tables[0].schema, PERSONS, 20.0, rows=20)

    def run(table, tape):
        rng = np.random.default_rng(1)
        return run_comparator(plan, table, ledger=None, noise=tape, rng=rng).codes.tolist()

    replayed(tables, run, lambda _: plan.schema.contribution.l2)
