"""The search for a blanket: its score, how far one row moves it, and what is found."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core.data.encoding import EncodedTable
from prism_core.errors import PrivacyError, TaskError
from prism_core.learning.graph.learned_graph import BlanketScores, graph_of_public, learn_graph
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.privacy.scores import (
    association,
    conditional_association,
    conditional_association_sensitivity,
)
from prism_core.structure import formats
from tests.support.blankets import NAMES, SCHEMA, SIZES, STAR, TASK, people, plan_for, seeded
from tests.support.enumeration import worst_move

# --- the score -------------------------------------------------------------------------------


@pytest.mark.privacy
@pytest.mark.parametrize(
    ("shape", "largest"),
    [((2, 2, 1), 8), ((2, 2, 2), 7), ((2, 3, 1), 7), ((2, 3, 2), 4), ((3, 3, 1), 5)],
)
def test_conditional_association_moves_by_at_most_its_sensitivity(shape, largest):
    ratios = []
    for n in range(1, largest + 1):
        worst = worst_move(shape, n, conditional_association)
        declared = conditional_association_sensitivity(n)
        assert worst <= declared * (1 + 1e-12)
        ratios.append(worst / declared)
    assert max(ratios) >= (0.5 if shape == (2, 2, 2) else 0.35)


@pytest.mark.privacy
def test_the_constant_cannot_be_three():
    """The witness of the proof: both strata lose nearly 2 when one row moves between them."""
    s = 100
    before = np.stack([[[s * s, 0], [0, 1]], [[0, s], [s, s * s - 2 * s]]], axis=2)
    after = before.copy()
    after[1, 1, 0] -= 1
    after[0, 0, 1] += 1
    n = int(before.sum())
    move = abs(conditional_association(before) - conditional_association(after))
    assert 3.9 / n < move <= conditional_association_sensitivity(n)


def test_conditional_association_is_what_it_says():
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 5, (2, 3, 4))
    counts[:, :, 1] = 0  # an empty stratum
    p = counts / counts.sum()
    brute = 0.5 * sum(
        abs(p[x, y, z] - p[x, :, z].sum() * p[:, y, z].sum() / p[:, :, z].sum())
        for x, y, z in itertools.product(range(2), range(3), (0, 2, 3))
    )
    assert conditional_association(counts) == pytest.approx(brute)
    assert conditional_association(counts[:, :, :1]) == pytest.approx(association(counts[:, :, 0]))


@pytest.mark.privacy
def test_the_score_of_the_search_moves_by_at_most_its_sensitivity():
    """Every column's score, for members none, one and two, under random replaced rows."""
    rng = np.random.default_rng(3)
    plan, worst = plan_for(n=12), 0.0
    for _ in range(200):
        codes = np.column_stack([rng.integers(0, size, 12) for size in SIZES])
        if rng.random() < 0.5:
            codes[:, :] = codes[0]
        other = codes.copy()
        other[0] = [rng.integers(0, size) for size in SIZES]
        for members in ([], ["cause"], ["cause", "effect"]):
            left = [name for name in plan.candidates if name not in members]
            a, b = (
                np.array(
                    BlanketScores(plan).of(EncodedTable(schema=SCHEMA, codes=c), left, members)
                )
                for c in (codes, other)
            )
            worst = max(worst, float(np.abs(a - b).max()) / plan.sensitivity)
    assert 0.25 < worst <= 1.0


@pytest.mark.statistical
def test_chance_alone_stays_below_its_bound_on_average():
    """Uniform margins meet the bound; the mean of 400 tables has a standard error of 1% of it, so
    10% off has a false-alarm rate below 1e-20."""
    rng = np.random.default_rng(4)
    plan = plan_for(n=2_000)
    found = []
    for _ in range(400):
        codes = np.column_stack([rng.integers(0, size, 2_000) for size in SIZES])
        counts = EncodedTable(schema=SCHEMA, codes=codes).counts([("effect", "y", "wide")])[0]
        found.append(conditional_association(counts))
    bound = plan.by_chance("effect", ("wide",))
    assert 0.9 * bound < np.mean(found) < 1.1 * bound


# --- the search ------------------------------------------------------------------------------


def test_members_are_found_and_what_they_explain_is_not():
    found = learn_graph(
        plan_for(n=20_000, epsilon=20.0), people(20_000, public=True), ledger=None, noise=seeded()
    )
    assert set(found.members) == {"cause", "effect"}
    assert found.dag.edges == (("cause", "y"), ("effect", "y"))
    assert found.dag.markov_blanket("y") == ("cause", "effect")
    assert found.dag.nodes == NAMES
    assert (found.dag.provenance, found.stamp) == ("dp", "rehearsal, not learned")
    exact = graph_of_public(plan_for(n=20_000), people(20_000, public=True))
    assert set(exact.members) == {"cause", "effect"}


def test_nothing_to_find_gives_an_empty_graph_and_the_cost_stands():
    table = replace(people(public=True), codes=np.zeros((4_000, 6), dtype=np.int32))
    found = learn_graph(plan_for(epsilon=20.0), table, ledger=None, noise=seeded())
    assert found.members == found.dag.edges == ()
    assert found.dag.prior is not None
    with pytest.raises(TaskError, match="no neighbours"):
        design(Brief(SCHEMA, TASK, Budget(), 4_000, dag=found.dag))


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(1, 9))
def test_any_rows_give_a_graph_whose_blanket_is_what_was_found(seed, n, members):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, size, n) for size in SIZES])
    table = EncodedTable(schema=SCHEMA, codes=codes, public=True)
    noise = SeededNoise(rng)
    found = learn_graph(plan_for(n=n, members=members), table, ledger=None, noise=noise)
    assert len(set(found.members)) == len(found.members) <= members
    assert set(found.dag.markov_blanket("y")) == set(found.members) <= set(NAMES) - {"y"}
    assert formats.read(formats.write(found.dag, "node-link")) == found.dag


def test_tables_that_are_too_large_are_not_conditioned_on(monkeypatch):
    monkeypatch.setattr("prism_core.learning.graph.learned_graph.MAX_CELLS", 16)
    scores = BlanketScores(plan_for())
    assert scores._tests("copy", ["wide", "cause"]) == [("copy", "cause")]
    assert scores._tests("noise", ["wide", "effect"]) == [("noise",)]


@pytest.mark.privacy
def test_rows_read_exactly_must_be_public_and_cost_nothing():
    with pytest.raises(PrivacyError, match="public table"):
        graph_of_public(plan_for(), people())
    found = graph_of_public(plan_for(), people(public=True))
    assert (found.spent, found.events, found.charge) == (None, (), None)
    assert (found.dag.provenance, found.dag.prior) == ("public twin", None)
    later = design(Brief(SCHEMA, TASK, Budget(delta=1e-6), 4_000, dag=found.dag, synthesis=STAR))
    assert later.prior is None
    with pytest.raises(TaskError, match="causal"):
        design(Brief(SCHEMA, Task(target="y"), Budget(), 4_000, dag=found.dag))
