"""Measuring: in order, with the planned noise, integers only."""

from __future__ import annotations

import numpy as np
import pytest

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import CancelledError, PrivacyError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.noise import SecureNoise, SeededNoise
from prism_core.synthesis.measure import Measurement, measure
from tests.support.noise import Exact

pytestmark = pytest.mark.privacy

SCHEMA = Schema(
    columns=tuple(Column(name=name, kind="categorical", levels=(0, 1, 2)) for name in "aby"),
    one_row_per_person=True,
)
TABLE = EncodedTable(schema=SCHEMA, codes=np.random.default_rng(0).integers(0, 3, (50, 3)))
PLAN = design(
    Brief(
        SCHEMA,
        Task(target="y", regime="predictive", k=1),
        Budget(),
        50,
        synthesis=Synthesis(model="naive_bayes"),
    )
)


def test_measurements_are_int64_in_the_shape_of_the_domain():
    """T-INT."""
    found = measure(TABLE, PLAN.queries, SecureNoise())
    assert [m.clique for m in found] == [query.clique for query in PLAN.queries]
    for m, query in zip(found, PLAN.queries, strict=True):
        assert m.values.dtype == np.int64
        assert m.values.shape == SCHEMA.shape(m.clique)
        assert m.sigma == query.sigma


def test_a_step_comes_before_every_measurement_and_may_stop():
    noise = Exact()

    def stop():
        if noise.calls:
            raise CancelledError("stop")

    with pytest.raises(CancelledError):
        measure(TABLE, PLAN.queries, noise, stop)
    assert len(noise.calls) == 1


def test_nothing_is_measured_for_no_query():
    assert measure(TABLE, (), SecureNoise()) == []


@pytest.mark.parametrize(
    "values", [np.zeros(3), np.zeros((3, 3), dtype=np.int64), np.array([1.0, np.nan, 2.0])]
)
def test_values_that_are_no_integer_counts_are_refused(values):
    with pytest.raises(ValueError, match="integer counts"):
        Measurement(clique=("a",), values=values, sigma=1.0)


def test_known_noise_on_private_rows():
    noise = SeededNoise(np.random.default_rng(0))
    with pytest.raises(PrivacyError, match="Seeded noise"):
        measure(TABLE, PLAN.queries, noise)
