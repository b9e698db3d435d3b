"""Special values in scores: rows whose target is one are left out, and a mean is over numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from prism_core.data.encoding import EncodedTable
from prism_core.evaluation import LEARNERS, REGRESSORS, fit, fit_numeric, predict
from prism_core.evaluation.fidelity.distances import RowComparison, correlation_rows
from prism_core.evaluation.inside_epsilon.holdout_question import UNITS, most_frequent, scores
from prism_core.evaluation.inside_epsilon.private_numbers import BINS, cell_codes
from prism_core.evaluation.inside_epsilon.private_plan import design_private
from prism_core.evaluation.tstr.learners import labelled
from prism_core.evaluation.tstr.regressors import code_values, representatives, ridge_terms
from tests.support.numeric_rows import rows, schema_of, subject

SPECIAL = (-9, ".a")


def with_special(table: EncodedTable, bins: int = 10, *, every: int = 3) -> EncodedTable:
    """The table with special values (or missing) as the target of every third row."""
    schema = schema_of(bins, nullable=True, special=SPECIAL)
    codes = np.array(table.codes)
    some = np.arange(0, table.n, every)
    codes[some, 2] = bins + some // every % 3
    return EncodedTable(schema=schema, codes=codes, public=table.public)


def without(table: EncodedTable) -> EncodedTable:
    """The rows with a number alone, in the same schema."""
    return table.take(np.flatnonzero(table.column("y") < table.schema["y"].level_count))


def test_a_code_without_a_number_has_no_value():
    column = schema_of(4, nullable=True, special=SPECIAL)["y"]
    assert code_values(column).tolist() == [*representatives(column), 0.0, 0.0, 0.0]


def test_rows_whose_target_is_special_are_left_out_of_every_score():
    entries = {
        "synthetic": with_special(rows(900, 1)),
        "holdout": with_special(rows(450, 2)),
        "train": with_special(rows(900, 3)),
    }
    assert labelled(entries["train"], "y").n == 600
    found = predict(subject(**entries))
    alone = predict(subject(**{name: without(table) for name, table in entries.items()}))
    assert found.test.n == 300
    assert [(row.name, row.value, row.ceiling, row.floor) for row in found.rows] == [
        (row.name, row.value, row.ceiling, row.floor) for row in alone.rows
    ]
    assert any(row.value is not None for row in found.rows)


@pytest.mark.parametrize("learner", REGRESSORS)
def test_a_regression_knows_numbers_from_special_values_among_the_features(learner):
    """A feature that is special in half of the rows: its mean is that of its numbers."""
    table = with_special(rows(600, 1), every=2)
    fitted = fit_numeric(learner, table, target="x", features=["y", "g"])
    if fitted.scale is not None:
        known = without(labelled(table, "x"))
        values = representatives(table.schema["y"])[known.column("y")]
        assert fitted.scale[0][0] == pytest.approx(values.mean())
    terms = [level for name, level in ridge_terms(table, ["y"]) if level]
    assert terms == ["-9", ".a", "(missing)"]


@pytest.mark.parametrize("learner", LEARNERS)
def test_classes_are_learned_from_rows_that_have_one(learner):
    table = with_special(rows(600, 1, schema=schema_of(2)), 2)
    fitted = fit(learner, table, target="y")
    assert fitted.classes == 2
    alone = fit(learner, without(table), target="y")
    asked = rows(50, 5, schema=schema_of(2))
    asked = EncodedTable(schema=table.schema, codes=asked.codes)
    np.testing.assert_array_equal(fitted.probabilities(asked), alone.probabilities(asked))


def test_codes_as_numbers_are_standardised_by_the_numbers():
    table = with_special(rows(600, 1), every=2)
    fitted = fit("logistic_standardised", table, target="g", features=["y"])
    known = without(table).column("y")
    assert fitted.scale is not None
    assert fitted.scale[:, 0].tolist() == pytest.approx([known.mean(), known.std()])


@pytest.mark.privacy
def test_a_special_target_is_in_the_cell_of_those_without_one_inside_epsilon():
    table = with_special(rows(300, 1, schema=schema_of(2), public=True), 2)
    plan = design_private(table.schema, "y", table.n, 1.0, 1e-6)
    fitted = fit(plan.learner, table, target="y")
    edges = [np.linspace(0.0, 1.0, BINS - 1)] * len(plan.classes)
    *histograms, (right, size) = cell_codes(plan, fitted, table, edges)
    special = table.column("y") >= 2
    assert size == 3
    assert ((right == 2) == special).all()
    for cells, count in histograms:
        assert ((cells == count - 1) == special).all()


@pytest.mark.privacy
@pytest.mark.parametrize(("metric", "worst"), [("accuracy", 0), ("log_loss", UNITS)])
def test_a_special_target_scores_as_badly_as_can_be_on_the_holdout(metric, worst):
    table = with_special(rows(300, 1, schema=schema_of(2)), 2)
    fitted = fit(LEARNERS[0], table, target="y")
    found = scores(fitted, metric, table, "y")
    special = table.column("y") >= 2
    assert (found[special] == worst).all()
    known = without(table)
    assert (found[~special] == scores(fitted, metric, known, "y")).all()
    counts = np.bincount(known.column("y"))
    assert most_frequent(table, "y") == counts.max() / table.n


def test_correlations_are_over_rows_with_numbers():
    real, made = with_special(rows(900, 3)), with_special(rows(900, 1))
    found = correlation_rows(RowComparison(synthetic=made, real=real))
    pair = correlation_rows(RowComparison(synthetic=without(made), real=without(real)))
    assert "a number" in found[0].note
    # The largest difference is of a pair with y here; every pair with y is over the same rows.
    for table in (made, real):
        known = without(table)
        expected = np.corrcoef(known.column("x"), known.column("y"))[0, 1]
        mine = replace(table, codes=table.codes)
        assert correlation(mine, "x", "y") == pytest.approx(expected)
    assert pair[0].value is not None


def correlation(table: EncodedTable, a: str, b: str) -> float:
    from prism_core.evaluation.fidelity.distances import _correlations

    i, j = table.schema.index(a), table.schema.index(b)
    return float(_correlations(table.codes, table.ordered)[i, j])
