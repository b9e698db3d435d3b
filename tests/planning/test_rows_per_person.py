"""Choice of how many rows of a person are used: noise against rows, from public facts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from prism_core.errors import SchemaError
from prism_core.planning.brief import Brief
from prism_core.planning.search.rows_per_person import CHOICES, rows_choices, table_error, used_rows
from prism_core.planning.wishes.task import Budget, Task
from prism_core.rehearsal.stand_in_rows import people_of
from tests.support.tables import small_schema


def brief(**more) -> Brief:
    schema = replace(
        small_schema(), one_row_per_person=False, person_id="pid", persons=5_000, **more
    )
    task = Task(target="readmitted", regime="predictive", k=2, three_way="none", joint="never")
    return Brief(schema, task, Budget(epsilon=1.0), 5_000)


def test_noise_grows_with_the_rows_and_rows_less_and_less():
    found = rows_choices(brief(), 2.3)
    assert [one.max_rows for one in found] == list(CHOICES)
    first = found[0]
    assert first.rows == 5_000
    for one in found:
        assert one.sigma == pytest.approx(one.max_rows * first.sigma, rel=1e-6)
        expected = one.max_rows * first.noise_error * 5_000 / one.rows
        assert one.noise_error == pytest.approx(expected, rel=1e-6)
        assert one.noise_error < one.error
        for (name, sigma), (same, before) in zip(one.sigmas, first.sigmas, strict=True):
            assert name == same
            assert sigma == pytest.approx(one.max_rows * before, rel=1e-6)
    rows = [one.rows for one in found]
    assert rows == sorted(rows)
    assert rows[-1] < 2.3 * 5_000


def test_rows_are_those_of_the_invented_people():
    for most in (2, 3, 10):
        drawn = people_of(50_000, most)
        assert len(np.asarray(drawn)) == pytest.approx(used_rows(50_000, most, 2.3), rel=0.001)


def test_where_every_person_weighs_one_more_rows_cost_no_noise():
    one, many = rows_choices(brief(weighting="persons", max_rows=2), 2.3, (1, 5))
    assert many.sigma == pytest.approx(one.sigma, rel=1e-6)
    assert many.noise_error == pytest.approx(one.noise_error, rel=1e-6)
    assert many.error < one.error  # they are a larger sample


def test_the_error_of_a_table_is_what_noise_and_sample_make():
    """Against 4,000 drawn tables: never above, and close where the cells are alike."""
    rng, rows, noise = np.random.default_rng(5), 400, 6.0
    for shares, close in ((np.full(8, 1 / 8), 0.97), (np.array([0.9, *[0.1 / 7] * 7]), 0.5)):
        counts = rng.multinomial(rows, shares, 4_000) + rng.normal(0.0, noise, (4_000, 8))
        found = np.abs(counts / rows - shares).sum(axis=1).mean()
        bound = table_error(8, rows, noise)
        assert close * bound < found < 1.01 * bound


def test_what_cannot_be_planned_is_left_out():
    task = replace(brief().task, selection="mutual_information")
    assert [one.max_rows for one in rows_choices(replace(brief(), task=task), 2.3)] == [1]
    basic = replace(brief(), budget=Budget(accountant="basic"))
    assert [one.max_rows for one in rows_choices(basic, 2.3)] == list(CHOICES)


@pytest.mark.parametrize("mean", [0.5, float("nan"), 1e9])
def test_an_unusable_mean_is_refused(mean):
    with pytest.raises(SchemaError) as caught:
        rows_choices(brief(), mean)
    assert caught.value.field == "mean_rows"


def test_it_needs_a_column_that_names_the_person():
    with pytest.raises(SchemaError) as caught:
        rows_choices(replace(brief(), schema=small_schema()), 2.0)
    assert caught.value.field == "person_id"
