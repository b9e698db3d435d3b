"""Linear queries: what they measure, how far a row can move them, and the noise they get."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from prism_core.data.encoding import EncodedTable
from prism_core.data.linear_queries import GRID, LinearQuery, basis, linear_query, query_with_bases
from prism_core.data.schema.column import Column, equal_edges
from prism_core.data.schema.log_bins import log_edges
from prism_core.data.schema.schema import Schema
from prism_core.errors import PlanError, PrivacyError
from prism_core.privacy.mechanisms import noisy_query
from prism_core.privacy.noise import SecureNoise, SeededNoise
from prism_core.synthesis.measure import Measurement
from tests.support.enumeration import moves, tables
from tests.support.noise import Exact, Unasked


def schema(bins=3, levels=2, *, nullable=False, decimals=None, special=()):
    edges = equal_edges(0.0, 10.0, bins, decimals)
    return Schema(
        columns=(
            Column(
                name="x",
                kind="numeric",
                lower=0.0,
                upper=10.0,
                edges=edges,
                decimals=decimals,
                nullable=nullable,
                special=special,
            ),
            Column(
                name="z",
                kind="numeric",
                lower=-1.0,
                upper=1.0,
                edges=equal_edges(-1.0, 1.0, 2, None),
            ),
            Column(name="y", kind="categorical", levels=tuple(range(levels))),
        ),
        one_row_per_person=True,
    )


SPECS = {
    "moments": (("x", "y"), ("moments", "levels")),
    "thresholds": (("x", "y"), ("thresholds 1", "levels")),
    "product": (("x", "z"), ("value", "value")),
}


def query(family, **shape) -> LinearQuery:
    return linear_query(schema(**shape), *SPECS[family])


@pytest.mark.privacy
@pytest.mark.parametrize("family", SPECS)
@pytest.mark.parametrize(
    "shape",
    [
        {"bins": 2},
        {"bins": 3},
        {"bins": 2, "levels": 3},
        {"bins": 3, "levels": 1},
        {"bins": 2, "nullable": True},
        {"bins": 2, "special": (-9,)},
    ],
    ids=str,
)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_no_replaced_row_moves_an_answer_further_than_its_sensitivity(family, shape, n):
    """T-SENS: all tables of n rows, every replace-one move; the bound is reached."""
    found = query(family, **shape)
    sizes = tuple(b.size for b in found.bases)
    answers = {
        counts: found.of(np.array(counts).reshape(sizes)).ravel()
        for counts in tables(math.prod(sizes), n)
    }
    worst = max(int(((answers[a] - answers[b]) ** 2).sum()) for a in answers for b in moves(a))
    assert math.sqrt(worst) <= found.sensitivity
    assert found.sensitivity <= math.sqrt(worst) * (1.0 + 1e-15)


@pytest.mark.privacy
@pytest.mark.parametrize("bins", [2, 7, 50])
@pytest.mark.parametrize("nullable", [False, True])
@pytest.mark.parametrize("family", SPECS)
def test_the_sensitivity_is_that_of_the_whole_matrix(family, bins, nullable):
    found = query(family, bins=bins, nullable=nullable)
    columns = found.matrix.T
    worst = max(int(((a - b) ** 2).sum()) for a, b in itertools.combinations(columns, 2))
    assert found.sensitivity >= math.sqrt(worst)
    assert found.sensitivity == pytest.approx(math.sqrt(worst), rel=1e-15)


@pytest.mark.privacy
def test_rounding_phi_to_the_grid_is_in_the_sensitivity():
    """x of 3 bins is -2/3, 0, 2/3; on the grid -683, 0, 683 of 1,024: 2 / 3 rounded up."""
    found = query("product")
    assert found.sensitivity == 683 * 512 * 2
    assert found.sensitivity / found.grid > 2 / 3


@pytest.mark.parametrize("family", SPECS)
@pytest.mark.parametrize("nullable", [False, True])
def test_an_answer_is_the_matrix_times_the_counts(family, nullable):
    found = query(family, bins=5, nullable=nullable)
    sizes = tuple(b.size for b in found.bases)
    counts = np.random.default_rng(0).integers(0, 9, sizes)
    answer = found.of(counts)
    assert answer.shape == found.shape
    assert answer.dtype == np.int64
    assert (answer.ravel() == found.matrix @ counts.ravel()).all()


def test_moments_are_sums_of_powers_of_the_scaled_value():
    found = query("moments", bins=4)
    x = np.array([-0.75, -0.25, 0.25, 0.75])
    assert found.bases[0].matrix.tolist() == [(GRID * x**p).tolist() for p in (0, 1, 2)]


def test_missing_has_no_value_and_a_count_of_its_own():
    found = query("moments", bins=2, nullable=True).bases[0]
    assert found.matrix[:, 2].tolist() == [0, 0, 0, GRID]
    counts = found.matrix[list(found.count_rows)].sum(axis=0)
    assert counts.tolist() == [GRID] * 3


SPECIAL = {"bins": 4, "nullable": True, "special": (-9, 97, ".a")}


@pytest.mark.privacy
@pytest.mark.parametrize("family", SPECS)
def test_special_values_are_in_no_moment_and_in_no_group_of_thresholds(family):
    """Each has a count of its own beside them; nothing adds a special value to an ordered one."""
    found = query(family, **SPECIAL).bases[0]
    beside = query(family, bins=4).bases[0].matrix
    rows = len(beside)
    assert (found.matrix[:rows, :4] == beside).all()
    assert not found.matrix[:rows, 4:].any()
    own = [] if family == "product" else (found.grid * np.eye(4)).tolist()
    assert found.matrix[rows:, 4:].tolist() == own
    assert not found.matrix[rows:, :4].any()
    if found.count_rows is not None:
        total = found.matrix[list(found.count_rows)].sum(axis=0)
        assert total.tolist() == [found.grid] * 8


@pytest.mark.privacy
@pytest.mark.parametrize("family", SPECS)
def test_with_special_values_the_sensitivity_is_that_of_the_whole_matrix(family):
    found = query(family, **SPECIAL)
    columns = found.matrix.T
    worst = max(int(((a - b) ** 2).sum()) for a, b in itertools.combinations(columns, 2))
    assert found.sensitivity >= math.sqrt(worst)
    assert found.sensitivity == pytest.approx(math.sqrt(worst), rel=1e-15)


@pytest.mark.parametrize("count", [1, 3, 15, 500])
def test_thresholds_part_the_bins_evenly(count):
    found = basis(schema(bins=200), "x", f"thresholds {count}")
    assert found.matrix.sum(axis=0).tolist() == [1] * 200
    sizes = found.matrix.sum(axis=1)
    assert len(sizes) == min(200, count + 1)
    assert sizes.max() - sizes.min() <= 1


def test_a_bin_of_zero_stays_a_group_of_its_own():
    gain = Column(
        name="gain",
        kind="numeric",
        lower=0.0,
        upper=99_999.0,
        decimals=0,
        edges=log_edges(0.0, 99_999.0, 40, 0, zero=True),
    )
    found = basis(Schema(columns=(gain,)), "gain", "thresholds 3")
    assert found.matrix.sum(axis=1)[0] == 1
    assert len(found.starts) == 4


def test_counts_between_thresholds_answer_counts_above_them_better_than_prefixes():
    """Why the query is not (x > t_k, y) itself: its sensitivity grows with the thresholds.

    Error of all counts above a threshold by least squares, rows of each class known in all (the
    model has them from all features), noise in proportion to the sensitivity; binary target.
    """
    groups = 16
    above, between = np.triu(np.ones((groups, groups)))[1:], np.eye(groups)

    def error(strategy):
        every = np.kron(strategy, np.eye(2)).T
        apart = max(np.linalg.norm(a - b) for a in every for b in every)
        known = np.vstack([strategy, np.full(groups, 1e5)])
        answers = (above @ np.linalg.pinv(known))[:, :-1]
        return apart * np.linalg.norm(answers)

    halves = [np.kron(np.eye(2**level), np.ones(groups // 2**level)) for level in range(1, 5)]
    assert error(between) < 0.7 * error(above)
    assert error(between) < 1.1 * error(np.vstack(halves))  # a binary tree, with twice the rows


@pytest.mark.parametrize(
    ("name", "text"), [("y", "moments"), ("x", "cubes"), ("x", "thresholds 0"), ("x", "thresholds")]
)
def test_what_cannot_be_asked_is_refused(name, text):
    with pytest.raises(PlanError):
        basis(schema(), name, text)


def test_a_constant_query_is_refused():
    with pytest.raises(PlanError, match="two bins or more"):
        query("moments", bins=1)


@pytest.mark.parametrize("family", SPECS)
def test_a_spec_gives_the_query_back(family):
    found = query(family, bins=40, nullable=True)
    again = linear_query(schema(bins=40, nullable=True), found.clique, found.spec())
    assert again == found
    assert again.kind == family


def test_only_asked_columns_have_a_query():
    wanted = {"x": "moments"}
    assert query_with_bases(schema(), ("z", "y"), wanted) is None
    found = query_with_bases(schema(), ("x", "y"), wanted)
    assert found is not None
    assert found.spec() == ["moments", "levels"]


def table(*, public=True):
    codes = np.random.default_rng(1).integers(0, [3, 2, 2], (60, 3))
    return EncodedTable(schema=schema(), codes=codes, public=public)


@pytest.mark.privacy
@pytest.mark.parametrize("bad", [None, math.nan, 0.0, -1.0, math.inf, True, "1"], ids=repr)
def test_unusable_scales_are_refused(bad):
    """T-CLOSED."""
    found = query("moments")
    for sigma, sensitivity in ((bad, found.sensitivity), (1.0, bad)):
        with pytest.raises(PrivacyError, match="nothing was measured"):
            noisy_query(table(), found, sigma, sensitivity, Unasked())


@pytest.mark.privacy
@pytest.mark.parametrize("family", SPECS)
def test_a_sensitivity_below_the_querys_is_refused(family):
    found = query(family)
    with pytest.raises(PrivacyError, match="more than its declared sensitivity"):
        noisy_query(table(), found, 1.0, math.nextafter(found.sensitivity, 0.0), Unasked())


@pytest.mark.privacy
def test_known_noise_on_private_rows_is_refused():
    found = query("moments")
    noise = SeededNoise(np.random.default_rng(0))
    with pytest.raises(PrivacyError, match="Seeded noise"):
        noisy_query(table(public=False), found, 1.0, found.sensitivity, noise)


@pytest.mark.privacy
@pytest.mark.parametrize("family", SPECS)
def test_the_noise_is_added_to_the_exact_answer(family):
    found = query(family)
    rows = table()
    (counts,) = rows.counts([found.clique])

    noise = Exact(add=1)
    got = noisy_query(rows, found, 7.5, found.sensitivity, noise)
    ((exact, sigma),) = noise.calls
    assert sigma == 7.5
    assert exact.dtype == np.int64
    assert (exact == found.of(counts)).all()
    assert (got == found.of(counts) + 1).all()


@pytest.mark.privacy
def test_the_secure_source_takes_answers_on_the_grid():
    found = query("moments")
    got = noisy_query(table(public=False), found, 3_000.0, found.sensitivity, SecureNoise())
    assert got.dtype == np.int64
    assert got.shape == (3, 2)


def test_a_measurement_of_another_shape_is_refused():
    with pytest.raises(ValueError, match="shape of the query"):
        Measurement(
            clique=("x", "y"),
            values=np.zeros((3, 3), dtype=np.int64),
            sigma=1.0,
            query=query("moments"),
        )
