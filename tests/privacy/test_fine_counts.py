"""Fine counts: their sensitivity on every small table, and a run on neighbours, noise frozen."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from prism_core.data.encoding import EncodedTable, from_fine
from prism_core.data.schema.column import Column
from prism_core.data.schema.fine_grid import fine_column, fine_schema
from prism_core.data.schema.schema import Schema
from prism_core.planning import coarsening
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.events import L2_SENSITIVITY
from prism_core.synthesis.fine_counts import column_maps, fine_of, parts_of
from prism_core.synthesis.release import release
from tests.support.noise import Tape

pytestmark = pytest.mark.privacy

SCHEMA = Schema(
    columns=(
        Column(name="dose", kind="numeric", lower=0, upper=9, decimals=1, edges=(3.0, 6.0)),
        Column(name="ward", kind="categorical", levels=tuple(f"w{i}" for i in range(30))),
        Column(name="sex", kind="categorical", levels=("f", "m")),
        Column(name="y", kind="boolean"),
    ),
    one_row_per_person=True,
)
SIZES = [fine_column(column).size for column in SCHEMA.columns]


@pytest.fixture(autouse=True)
def any_noise(monkeypatch):
    """Small tables are coarsened, too: here it is not asked whether that pays."""
    monkeypatch.setattr(coarsening, "NOISE_LIMIT", math.inf)


def wish(regime="predictive", **task):
    return Task(target="y", regime=regime, coarsen="auto", **task)


def planned(n, epsilon=1.0, **task):
    return design(
        Brief(SCHEMA, wish(**task), Budget(epsilon=epsilon), n, synthesis=Synthesis(rows=30))
    )


def test_every_replaced_row_moves_fine_and_mapped_counts_by_their_sensitivity():
    """Every pair of rows of a small grid, all pairs of codes in two columns and of Y."""
    plan = planned(50)
    cliques = [query.clique for query in plan.coarsening.queries]
    rng = np.random.default_rng(2)
    base = np.column_stack([rng.integers(0, size, 12) for size in SIZES])
    worst = 0.0
    doses, wards = (0, 1, 17, SIZES[0] - 1), (0, 5, SIZES[1] - 1)
    rows = [*itertools.product(doses, wards, (0, 1), (0, 1))]
    for old, new in itertools.permutations(rows, 2):
        tables = []
        for row in (old, new):
            codes = base.copy()
            codes[0] = row
            tables.append(from_fine(SCHEMA, codes, public=False).on_fine_grid())
        before, after = (table.counts(cliques) for table in tables)
        for one, other in zip(before, after, strict=True):
            moved = math.sqrt(float(((one - other) ** 2).sum()))
            assert moved <= L2_SENSITIVITY + 1e-12
            worst = max(worst, moved)
    assert worst == pytest.approx(L2_SENSITIVITY)
    assert all(query.event.sensitivity == L2_SENSITIVITY for query in plan.coarsening.queries)


def neighbours(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 90))
    codes = np.column_stack([rng.integers(0, size, n) for size in SIZES])
    if seed % 3 == 0:
        codes[:] = 0
    other = codes.copy()
    other[rng.integers(n)] = [size - 1 for size in SIZES]
    return (from_fine(SCHEMA, codes, public=False), from_fine(SCHEMA, other, public=False))


def play(plan, table, frozen=None):
    tape, steps = Tape(frozen), []
    made = release(
        plan,
        table,
        ledger=None,
        noise=tape,
        rng=np.random.default_rng(1),
        progress=lambda stage, share: steps.append((stage, share)),
    )
    return made, tape, steps


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [None, 1])
def test_replayed_on_a_neighbour_only_true_vectors_move(seed, k):
    before, after = neighbours(seed)
    plan = planned(before.n, epsilon=3.0, k=k)
    made, tape, steps = play(plan, before)
    again, other, same = play(plan, after, tape.outputs)
    assert other.played
    assert steps == same
    assert made.plan == again.plan
    assert made.plan.parts == again.plan.parts
    assert np.array_equal(made.codes, again.codes)
    assert made.table.equals(again.table)
    for one, two in zip(tape.asked, other.asked, strict=True):
        assert (one.kind, one.scales, one.value.shape) == (two.kind, two.scales, two.value.shape)
        if one.kind == "gaussian":
            moved = math.sqrt(float(((one.value - two.value) ** 2).sum()))
            assert moved <= L2_SENSITIVITY + 1e-12
    counted = [scale for _, scale in tape.counts]
    rho = math.fsum(L2_SENSITIVITY**2 / (2.0 * sigma**2) for sigma in counted)
    chosen = [scales for kind, _, scales in tape.asked if kind == "choice"]
    rho += math.fsum(scales[0] ** 2 / 8.0 for scales in chosen)
    assert rho <= plan.total * (1.0 + 1e-9)


def test_the_parts_follow_from_the_noisy_counts_alone():
    before, _ = neighbours(1)
    made, tape, _ = play(planned(before.n), before)
    fine = fine_of(made.measurements)
    assert [m.clique for m in fine] == [q.clique for q in made.plan.coarsening.queries]
    assert all(np.array_equal(m.values, out) for m, out in zip(fine, tape.outputs, strict=False))
    assert parts_of(made.stages.planned, made.measurements) == made.plan.parts


def test_whatever_is_chosen_no_count_of_a_feature_outside_s_with_y_is_in_the_model():
    """k = 1 of three: the fine counts of the others go in without Y, or not at all."""
    before, _ = neighbours(4)
    made, _, _ = play(planned(before.n, epsilon=3.0, k=1), before)
    outside = set(SCHEMA.names) - {*made.plan.s, "y"}
    from prism_core.synthesis.fine_counts import known_marginals

    for m in known_marginals(made.plan, made.measurements):
        assert not ("y" in m.clique and outside.intersection(m.clique))


def test_rows_are_counted_in_the_parts_of_the_plan():
    before, _ = neighbours(2)
    made, _, _ = play(planned(before.n), before)
    maps = column_maps(made.plan)
    assert fine_schema(SCHEMA)["dose"].size == len(maps["dose"])
    for name in SCHEMA.names:
        assert set(maps[name].tolist()) == set(range(made.plan.sizes[name]))


def test_a_table_without_fine_codes_is_coarsened_by_the_codes_it_has():
    before, _ = neighbours(2)
    table = EncodedTable(schema=SCHEMA, codes=before.codes)
    made, _, _ = play(planned(table.n), table)
    assert made.plan.parts is not None
