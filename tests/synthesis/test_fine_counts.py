"""Fine counts in the model and in the rows: averaged with the parts', and drawn inside them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from prism_core.data.encoding import encode
from prism_core.data.schema.fine_grid import fine_column
from prism_core.data.tables.raw_table import RawTable, from_frame
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.synthesis.fine_counts import fine_of, found_parts, known_marginals, values_of
from prism_core.synthesis.release import draw, fit_model, release
from tests.support.tables import small_frame, small_schema


@pytest.fixture(scope="module")
def made():
    table = encode(small_schema(), RawTable(small_frame(4_000)), public=True)
    plan = design(
        Brief(
            table.schema,
            Task(target="readmitted", regime="predictive", coarsen="auto"),
            Budget(epsilon=4.0),
            table.n,
            synthesis=Synthesis(rows=3_000),
        )
    )
    noise = SeededNoise(np.random.default_rng(3))
    return release(plan, table, ledger=None, noise=noise, rng=np.random.default_rng(4))


def test_the_step_of_the_rows_is_found(made):
    """Above 60 years the risk is higher; the declared bins end at 53 and 71."""
    assert "age" in made.plan.coarsening.names
    parts = dict(zip(made.plan.coarsening.names, made.plan.parts, strict=True))["age"]
    fine = fine_column(made.plan.schema["age"])
    cuts = [
        edge
        for edge, one, other in zip(fine.edges, parts.parts, parts.parts[1:], strict=False)
        if one != other
    ]
    assert any(57 <= cut <= 63 for cut in cuts)


def test_what_was_paid_for_twice_has_less_noise_and_the_right_mean(made):
    known = {m.clique: m for m in known_marginals(made.plan, made.measurements)}
    for fine in fine_of(made.measurements):
        coarse = next(m for m in made.measurements if not m.fine and m.clique == fine.clique)
        both = known[fine.clique]
        assert 0.0 < both.sigma < coarse.sigma
        assert both.values.shape == coarse.values.shape
        assert both.values.sum() == pytest.approx(made.plan.n, abs=12 * coarse.sigma * 8)


def test_a_part_of_one_cell_is_averaged_by_the_inverse_of_the_variances(made):
    fine = fine_of(made.measurements)[0]
    one = replace(made.plan.parts[0], parts=tuple(range(12)) + (11,) * 100)
    size = len(made.plan.parts[0].parts)
    one = replace(one, parts=one.parts[:size])
    plan = replace(made.plan, parts=(one, *made.plan.parts[1:]))
    coarse = np.zeros((12, 2), dtype=np.int64)
    other = replace(fine, values=coarse, sigma=2 * fine.sigma, fine=False)
    (found,) = known_marginals(plan, (other, fine))
    weight = fine.sigma**2 / (fine.sigma**2 + other.sigma**2)
    expected = np.rint((1.0 - weight) * fine.values[:11])
    assert np.array_equal(found.values[:11], expected)


def test_rows_lie_in_their_parts_and_their_codes_are_those_of_their_values(made):
    again = encode(made.plan.schema, from_frame(made.table))
    assert np.array_equal(again.codes, made.codes)
    model = fit_model(made.plan, made.measurements)
    codes, table = draw(made.plan, model, made.seed, made.measurements)
    assert np.array_equal(codes, made.codes)
    assert table.equals(made.table)


def test_within_a_part_values_follow_the_fine_counts(made):
    """Of a part of many cells the crowded ones get the values."""
    plan, fine = made.plan, fine_of(made.measurements)
    place = plan.coarsening.names.index("dose")
    name = plan.coarsening.names[place]
    counts = np.zeros_like(fine[place].values)
    counts[10:12] = 5_000
    crowded = [m if m.clique != fine[place].clique else replace(m, values=counts) for m in fine]
    one = replace(plan.parts[place], parts=(0,) * len(plan.parts[place].parts))
    parts = tuple(one if p.name == name else p for p in plan.parts)
    coarse = replace(plan, parts=parts)
    codes = np.zeros((500, len(plan.schema.columns)), dtype=np.int32)
    _, table = values_of(coarse, codes, crowded, np.random.default_rng(1))
    edges = fine_column(plan.schema[name]).edges
    values = table[name].astype(float)
    assert values.between(edges[9], edges[11]).all()


def test_naive_bayes_and_a_graph_go_with_it():
    from prism_core.structure.dag import Dag

    table = encode(small_schema(), RawTable(small_frame(4_000)), public=True)
    dag = Dag(nodes=table.schema.names, edges=(("age", "readmitted"), ("smoker", "readmitted")))
    plan = design(
        Brief(
            table.schema,
            Task(target="readmitted", coarsen="auto"),
            Budget(epsilon=4.0),
            table.n,
            dag=dag,
            synthesis=Synthesis(model="naive_bayes", rows=200),
        )
    )
    noise = SeededNoise(np.random.default_rng(3))
    found = release(plan, table, ledger=None, noise=noise, rng=np.random.default_rng(4))
    assert found.plan.coarsening.names == ("age",)
    assert len(found.table) == 200


def test_what_is_drawn_of_parts_is_what_the_rows_have(made):
    """Above 60 years the risk is higher; fine counts are listed part by part."""
    found = {
        one.name: one for one in found_parts(made.plan.schema, made.plan.parts, made.measurements)
    }
    assert list(found) == list(made.plan.coarsening.names)
    age = found["age"]
    column = fine_column(made.plan.schema["age"])
    assert age.cells == tuple(column.code_names()[: column.level_count])
    fine = next(m for m in fine_of(made.measurements) if "age" in m.clique)
    assert sum(age.counts) == fine.values[: column.level_count].sum()
    assert age.parts == tuple(sorted(age.parts))
    assert age.share[-1] - age.share[0] > 4 * max(age.deviation[0], age.deviation[-1])


def test_a_part_with_nothing_but_noise_has_no_share(made):
    fine = [replace(m, values=np.zeros_like(m.values)) for m in fine_of(made.measurements)]
    for one in found_parts(made.plan.schema, made.plan.parts, fine):
        assert set(one.share) == set(one.deviation) == {None}
