"""Features that act together: found where they do, and nothing where they do not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from prism_core.bundle.reader import read_bundle
from prism_core.bundle.verify.verification import verify
from prism_core.bundle.write import bundle_folder
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import PrivacyError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.structure.dag import Dag
from prism_core.synthesis.measure import Measurement, combined
from prism_core.synthesis.release import release
from prism_core.synthesis.select import choose_interaction
from tests.support.verified import wrong

if TYPE_CHECKING:
    from prism_core.planning.wishes.task import Regime

COLUMNS = 9


def table(causes: int, *, seed: int = 0, n: int = 6_000, public: bool = True) -> EncodedTable:
    """Fair columns and the parity of the first of them, 5% flipped; of none a fair coin."""
    rng = np.random.default_rng([seed, causes])
    codes = rng.integers(0, 2, (n, COLUMNS))
    parity = codes[:, :causes].sum(axis=1) % 2 if causes else rng.integers(0, 2, n)
    y = parity ^ (rng.random(n) < 0.05)
    columns = [Column(name=f"x{i}", kind="boolean") for i in range(COLUMNS)]
    schema = Schema(columns=(*columns, Column(name="y", kind="boolean")), one_row_per_person=True)
    return EncodedTable(
        schema=schema, codes=np.column_stack([codes, y]).astype(np.int32), public=public
    )


def run(rows: EncodedTable, seed: int = 0, regime: Regime = "predictive", causes=(), epsilon=1.0):
    dag = Dag(nodes=rows.schema.names, edges=tuple((name, "y") for name in causes))
    task = Task(target="y", regime=regime)
    plan = design(Brief(rows.schema, task, Budget(epsilon=epsilon), rows.n, dag=dag))
    noise, rng = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
    return release(plan, rows, ledger=None, noise=SeededNoise(noise), rng=rng)


def parity_kept(codes: np.ndarray, causes: int) -> float:
    """Share of rows whose target is the parity; .95 in the real ones, .5 by chance."""
    return float(np.mean(codes[:, :causes].sum(axis=1) % 2 == codes[:, -1]))


@pytest.mark.statistical
@pytest.mark.parametrize("causes", [3, 4])
def test_a_parity_is_found_without_a_graph(causes):
    made = run(table(causes))
    together = [query.clique for query in made.plan.queries if query.kind == "interaction"]
    assert together == [(*(f"x{i}" for i in range(causes)), "y")]
    assert parity_kept(made.codes, causes) > 0.9


def test_a_bundle_with_a_set_that_was_found_verifies(tmp_path):
    made = run(table(3))
    folder = bundle_folder.write(made, tmp_path / "run")
    assert read_bundle(folder).stages() == made.stages
    report = verify(folder)
    assert not wrong(report), report.findings


@pytest.mark.statistical
@pytest.mark.parametrize("causes", [4, 5])
def test_a_parity_survives_where_a_graph_names_its_causes(causes):
    made = run(table(causes), regime="causal", causes=[f"x{i}" for i in range(causes)])
    assert parity_kept(made.codes, causes) > 0.9


@pytest.mark.statistical
def test_where_nothing_acts_together_nothing_is_found():
    """The bar lets a set pass with probability .05 at most; here it is far less."""
    rows = table(0)
    plan = design(
        Brief(rows.schema, Task(target="y", regime="predictive"), Budget(epsilon=1.0), rows.n)
    )

    class Even:
        """The model of columns that say nothing."""

        def marginal(self, clique):
            shape = [rows.schema.size(name) for name in clique]
            return np.full(shape, rows.n / math.prod(shape))

    noise = SeededNoise(np.random.default_rng(3))
    found = [choose_interaction(rows, plan, Even(), noise) for _ in range(60)]
    # 13 or more of 60 have a chance below 1e-5 at .05 each.
    assert sum(one is not None for one in found) < 13


def test_known_noise_never_meets_private_rows():
    rows = table(3, public=False)
    plan = design(
        Brief(rows.schema, Task(target="y", regime="predictive"), Budget(epsilon=1.0), rows.n)
    )

    class Unread:
        def marginal(self, clique):
            raise AssertionError("looked at")

    with pytest.raises(PrivacyError):
        choose_interaction(rows, plan, Unread(), SeededNoise(np.random.default_rng(0)))


def test_what_was_measured_twice_counts_as_one_measurement():
    values = np.array([[10, 30], [50, 70]])
    one = Measurement(clique=("a", "y"), values=values, sigma=3.0)
    other = Measurement(clique=("b", "y"), values=values, sigma=2.0)
    again = Measurement(clique=("a", "y"), values=values + 8, sigma=6.0)
    found = combined([one, other, again])
    assert [m.clique for m in found] == [("a", "y"), ("b", "y")]
    # Weights 1/9 and 1/36: a fifth of the way to the second.
    assert np.array_equal(found[0].values, values + 2)
    assert found[0].sigma == pytest.approx(1.0 / math.sqrt(1 / 9 + 1 / 36))
    assert found[1] is other


@pytest.mark.statistical
def test_two_measurements_have_the_noise_of_one_with_both_budgets():
    rng = np.random.default_rng(1)
    zeros = np.zeros((40, 50), dtype=np.int64)
    parts = [
        Measurement(
            clique=("a", "b"),
            values=zeros + np.rint(rng.normal(0.0, sigma, zeros.shape)).astype(np.int64),
            sigma=sigma,
        )
        for sigma in (20.0, 30.0)
    ]
    (found,) = combined(parts)
    # The standard error of a deviation of 2,000 draws is 1.6%.
    assert found.values.std() == pytest.approx(found.sigma, rel=0.08)
    assert 1.0 / found.sigma**2 == pytest.approx(1 / 400 + 1 / 900)
