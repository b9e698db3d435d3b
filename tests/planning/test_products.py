"""Products of two numeric features: measured within S, paid from the task pool, verified."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from prism_core.bundle.reader import read_bundle
from prism_core.bundle.verify import verification
from prism_core.bundle.verify.counts_check import measured_findings
from prism_core.bundle.write import bundle_folder
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import PlanError, PrismError
from prism_core.planning.brief import Brief
from prism_core.planning.choices import Choices, replay
from prism_core.planning.design import design
from prism_core.planning.wishes import config
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.task import Budget, Shares, Synthesis, Task
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.noise import SeededNoise
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import release
from tests.support.numeric_plans import DAG, N, planned, schema, table

NO_TREE = Shares(selection=0.0, choice=0.0, task=0.95, background=0.05)


def squares(**wishes):
    return planned("second_moments", **wishes)


@pytest.mark.privacy
def test_products_of_two_features_are_measured_within_s_and_paid_from_the_task_pool():
    plan = squares(epsilon=4.0)
    kinds = {query.clique: query for query in plan.queries}
    product = kinds["age", "dose"]
    assert (product.kind, product.pool, product.cells) == ("product", "task", 1)
    assert kinds["age", "y"].kind == kinds["dose", "y"].kind == "moments"
    assert kinds["few", "y"].kind == "pair"
    assert product.event.sensitivity == product.linear.sensitivity
    assert plan.spent.epsilon <= 4.0
    assert math.fsum(q.share for q in plan.queries if q.pool == "task") <= 0.8 + 1e-9
    moments = planned("moments", epsilon=4.0)
    assert kinds["age", "y"].sigma > {q.clique: q for q in moments.queries}["age", "y"].sigma
    # S counts as one node: the forest ties the ward to it, and closes no circle.
    assert plan.tree.joined == ("age", "dose", "few")
    weighed = {q.clique: q for q in squares(weights={"age": 3.0}).queries}
    assert weighed["age", "dose"].weight / weighed["dose", "y"].weight == pytest.approx(2.0)


def test_a_product_says_how_two_columns_go_together():
    """In these rows dose rises with age; only the product tells the model so."""
    rng = np.random.default_rng(5)
    n = 4_000
    base = rng.integers(0, 12, n)
    codes = np.column_stack(
        [base, base, rng.integers(0, 4, n), rng.integers(0, 3, n), rng.integers(0, 2, n)]
    )
    rows = EncodedTable(schema=schema(), codes=codes, public=True)

    def tied(rule):
        task = Task(target="y", numeric_queries=rule, numeric_bins=10, three_way="none")
        plan = design(Brief(schema(), task, Budget(epsilon=8.0, shares=NO_TREE), n, dag=DAG))
        rng = np.random.default_rng(1)
        made = release(plan, rows, ledger=None, noise=SeededNoise(rng), rng=rng).codes
        known = made[:, 1] < 12  # the last code means missing
        return np.corrcoef(made[known, 0], made[known, 1])[0, 1]

    assert tied("second_moments") > 0.8


def test_products_need_what_they_need():
    with pytest.raises(PlanError, match="graphical model"):
        design(
            Brief(
                schema(),
                squares().task,
                Budget(),
                N,
                dag=DAG,
                synthesis=Synthesis(model="naive_bayes"),
            )
        )
    with pytest.raises(PlanError, match="do not go together"):
        squares(three_way="cmi", max_joint_cells=0)


# The two columns with most levels are no numbers, so that they look harmless as the worst case.
CODED = Schema(
    columns=(
        *(Column(name=name, kind="categorical", levels=tuple(range(900))) for name in ("u", "v")),
        *schema().columns,
    ),
    one_row_per_person=True,
)


@pytest.mark.parametrize(
    ("wishes", "budget", "synthesis", "words"),
    [
        ({}, {}, {"model": "naive_bayes"}, "graphical model"),
        ({"three_way": "cmi"}, {}, {}, "do not go together"),
        (
            {"three_way": "cmi", "numeric_queries": "full"},
            {"shares": Shares(selection=0.1, choice=0.0, task=0.7, background=0.2)},
            {},
            "choice share",
        ),
        ({}, {"locks": (Lock(columns=("age", "dose"), share=0.5),)}, {}, "The locks may take"),
        (
            {},
            {
                "locks": tuple(
                    Lock(columns=(name,), share=0.03)
                    for name in ("u", "v", "age", "dose", "few", "ward")
                )
            },
            {},
            "background pool",
        ),
    ],
)
def test_what_some_choice_of_features_could_not_keep_is_refused_before_the_charge(
    wishes, budget, synthesis, words
):
    task = Task(
        target="y",
        regime="predictive",
        k=2,
        max_joint_cells=0,
        **{"numeric_queries": "second_moments", "numeric_bins": 4, **wishes},
    )
    with pytest.raises(PrismError, match=words):
        design(Brief(CODED, task, Budget(**budget), 20_000, synthesis=Synthesis(**synthesis)))


def test_products_that_would_make_the_model_too_large_are_left_out_and_said():
    names = [f"c{i}" for i in range(5)]
    wide = Schema(
        columns=(
            *(replace(schema(60).columns[0], name=name) for name in names),
            Column(name="y", kind="boolean"),
        ),
        one_row_per_person=True,
    )
    dag = Dag(nodes=wide.names, edges=tuple((name, "y") for name in names))
    plan = design(
        Brief(wide, Task(target="y", numeric_queries="second_moments"), Budget(), N, dag=dag)
    )
    kept = [query.clique for query in plan.queries if query.kind == "product"]
    assert 0 < len(kept) < 10
    assert f"{10 - len(kept)} products of two numeric columns" in " ".join(plan.warnings)
    assert plan.forecast.cells < 2_000_000


def test_a_bundle_with_products_verifies(tmp_path):
    plan = squares(epsilon=2.0)
    ledger = Ledger(tmp_path / "workspace")
    ledger.register("ward 7", epsilon=9.0, delta=plan.delta)
    made = release(
        plan, table(public=False), ledger=ledger, asset="ward 7", rng=np.random.default_rng()
    )
    path = bundle_folder.write(made, tmp_path / "bundle")
    report = verification.verify(path)
    assert report.ok, report
    assert "product" in [m.query.kind for m in read_bundle(path).measurements if m.query]
    assert replay(made.plan.brief, Choices.of(made.plan)).final.hash == made.plan.hash
    wishes = config.wishes_dict(plan.task, plan.budget, plan.synthesis)
    assert config.wishes_from(json.loads(json.dumps(wishes)))[0] == plan.task


def test_a_bundle_verifies_where_the_counts_of_a_product_were_picked_as_well(tmp_path):
    """A product sees no parabola; the adaptive rounds do, and the same two columns stand twice."""
    rng = np.random.default_rng(5)
    n = 20_000
    base = rng.integers(0, 12, n)
    y = rng.random(n) < 0.3 + 0.04 * base
    codes = np.column_stack(
        [base, np.minimum(2 * abs(base - 6), 11), rng.integers(0, 4, n), rng.integers(0, 3, n), y]
    )
    rows = EncodedTable(schema=schema(), codes=codes, public=True)
    task = Task(
        target="y",
        numeric_queries="second_moments",
        numeric_bins=10,
        max_joint_cells=0,
        max_three_way=3,
    )
    few = Synthesis(iterations=30, rows=200)
    plan = design(Brief(schema(), task, Budget(epsilon=8.0), n, dag=DAG, synthesis=few))
    made = release(plan, rows, ledger=None, noise=SeededNoise(rng), rng=rng)
    kinds = [query.kind for query in made.plan.queries if query.clique == ("age", "dose")]
    assert kinds == ["product", "adaptive"]
    plans, measured = made.plan, made.measurements
    assert measured_findings(plans, measured) == []
    assert measured_findings(plans, (*measured, measured[-1])) == [
        "The marginal age × ward was measured more often than planned."
    ]
    place = next(i for i, m in enumerate(measured) if m.clique == ("age", "dose"))
    assert measured_findings(plans, (*measured[:place], *measured[place + 1 :])) != []
    path = bundle_folder.write(made, tmp_path / "bundle")
    assert [c.name for c in verification.verify(path).checks if c.findings] == []
