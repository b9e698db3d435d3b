"""T-SENS: sensitivities by enumeration of every small table and every replaced row."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from prism_core.data.counts import marginal_counts
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.privacy.scores import (
    association,
    association_sensitivity,
    chance_association,
    model_error,
    model_error_sensitivity,
)
from prism_core.synthesis.select.features import net_association
from tests.support.enumeration import worst_move

pytestmark = pytest.mark.privacy

SHAPES = [((2, 2), 8), ((2, 3), 8), ((3, 2), 6), ((3, 3), 5)]


@pytest.mark.parametrize("score", [association, net_association])
@pytest.mark.parametrize(("shape", "largest"), SHAPES)
def test_association_moves_by_at_most_its_sensitivity(shape, largest, score):
    ratios = []
    for n in range(1, largest + 1):
        scored = score if score is association else lambda counts, n=n: net_association(counts, n)
        worst, declared = worst_move(shape, n, scored), association_sensitivity(n)
        assert worst <= declared * (1 + 1e-12)
        ratios.append(worst / declared)
    assert max(ratios) >= 0.5  # a score that silently returns 0 would pass otherwise


@pytest.mark.parametrize(("shape", "largest"), SHAPES)
def test_model_error_moves_by_at_most_its_sensitivity(shape, largest):
    rng = np.random.default_rng(5)
    worst = 0.0
    for n in range(1, largest + 1):
        uniform = np.full(shape, n / math.prod(shape))
        for expected in (
            uniform,
            np.zeros(shape),
            rng.dirichlet(np.ones(uniform.size)).reshape(shape) * n,
        ):
            found = worst_move(shape, n, lambda counts, e=expected: model_error(counts, e))
            assert found <= model_error_sensitivity() * (1 + 1e-12)
            worst = max(worst, found)
    assert worst >= model_error_sensitivity() / 2


@pytest.mark.parametrize(("sizes", "n"), [((2, 3), 3), ((2, 2, 2), 2), ((3, 2), 3)])
def test_counts_move_by_exactly_sqrt_two(sizes, n):
    """Every table of n rows, every replaced row, every marginal: l1 2 and l2 sqrt(2), exactly."""
    names = tuple("abc"[: len(sizes)])
    schema = Schema(
        columns=tuple(
            Column(name=name, kind="categorical", levels=tuple(range(size)))
            for name, size in zip(names, sizes, strict=True)
        )
    )
    rows = list(itertools.product(*(range(size) for size in sizes)))
    cliques = [c for k in range(1, len(names) + 1) for c in itertools.combinations(names, k)]
    found: dict[tuple[tuple[int, ...], ...], dict] = {}
    for chosen in itertools.product(rows, repeat=n):
        table = EncodedTable(schema=schema, codes=np.array(chosen))
        found[chosen] = {clique: marginal_counts(table, clique) for clique in cliques}
    worst = dict.fromkeys(cliques, 0)
    for chosen, before in found.items():
        for position, row in itertools.product(range(n), rows):
            after = found[(*chosen[:position], row, *chosen[position + 1 :])]
            for clique in cliques:
                change = before[clique] - after[clique]
                assert np.abs(change).sum() in (0, 2)
                worst[clique] = max(worst[clique], int((change**2).sum()))
    assert set(worst.values()) == {2}


def test_association_is_total_variation_from_independence():
    assert association(np.array([[4, 4], [4, 4]])) == pytest.approx(0.0)
    assert association(np.array([[5, 0], [0, 5]])) == pytest.approx(0.5)
    assert association(np.diag([2, 2, 2])) == pytest.approx(2 / 3)
    counts = np.array([[3, 1, 0], [2, 2, 2]])
    joint = counts / 10
    brute = 0.5 * sum(
        abs(joint[x, y] - joint[x].sum() * joint[:, y].sum()) for x in range(2) for y in range(3)
    )
    assert association(counts) == pytest.approx(brute)


def test_chance_gives_the_association_that_is_taken_off():
    rng, n = np.random.default_rng(0), 5_000
    for shape in ((2, 2), (12, 2), (20, 5)):
        cells = math.prod(shape)
        drawn = rng.multinomial(n, np.full(cells, 1 / cells), 200).reshape(200, *shape)
        mean = np.mean([association(counts) for counts in drawn])
        assert chance_association(shape, n) == pytest.approx(mean, rel=0.1)


def test_model_error_is_the_distance_in_counts():
    assert model_error(np.array([3, 0, 1]), np.array([1.5, 1.5, 1.0])) == pytest.approx(3.0)
    assert association_sensitivity(100) == pytest.approx(0.03)
