"""Tests of memorisation: copies are found, fresh rows are not, and nothing is told without rows."""

from __future__ import annotations

import numpy as np
import pytest

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.evaluation import Subject, memorisation
from tests.support.inspected import subject

SCHEMA = Schema(
    columns=tuple(
        Column(name=f"c{i}", kind="categorical", levels=tuple(range(6))) for i in range(12)
    ),
    one_row_per_person=True,
)


def table(seed: int, n: int = 400) -> EncodedTable:
    """Rows of twelve independent columns: two rows are equal by no chance worth naming."""
    codes = np.random.default_rng(seed).integers(0, 6, (n, 12))
    return EncodedTable(schema=SCHEMA, codes=codes)


def asked(made: EncodedTable, train: EncodedTable | None) -> Subject:
    return Subject(synthetic=made, holdout=table(9), train=train, target="c0", n=400)


@pytest.mark.privacy
def test_a_release_that_copies_its_rows_is_found_out():
    found = memorisation(asked(table(1), table(1)), np.random.default_rng(0))
    assert found.closer == 1.0
    assert found.copies == 1.0
    assert found.copies_aside == 0.0
    assert found.membership == 1.0
    assert found.membership_interval[0] > 0.9
    assert "lies outside the interval" in found.sentence


def test_a_release_of_fresh_rows_is_as_near_to_both():
    found = memorisation(asked(table(2), table(1)), np.random.default_rng(0))
    low, high = found.closer_interval
    assert low < 0.5 < high
    low, high = found.membership_interval
    assert low < 0.5 < high
    assert "lies in the interval" in found.sentence


def test_distances_are_the_columns_that_differ():
    made, real = table(4, 130), table(5, 150)
    from prism_core.evaluation.fidelity.memorisation import _nearest

    whole = (made.codes[:, None, :] != real.codes[None, :, :]).sum(axis=2)
    of_made, of_real = _nearest(made.codes, real.codes)
    assert (of_made == whole.min(axis=1)).all()
    assert (of_real == whole.min(axis=0)).all()


def test_without_training_rows_or_with_few_there_is_nothing_to_say():
    assert memorisation(subject(train=False), np.random.default_rng(0)) is None
    assert memorisation(asked(table(1, 10), table(2)), np.random.default_rng(0)) is None
