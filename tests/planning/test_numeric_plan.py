"""Numeric columns by moments or thresholds: from the plan to a bundle that verifies."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from prism_core.bundle import bundle_files, manifest
from prism_core.bundle.reader import read_bundle
from prism_core.bundle.verify import verification
from prism_core.bundle.verify.counts_check import counted_measurements, measured_findings
from prism_core.bundle.write import bundle_folder
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column, equal_edges
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError, PlanError, PrismError, TaskError
from prism_core.explain.error_bounds import bounds
from prism_core.explain.plan_lines import against_uniform, lines
from prism_core.planning.brief import Brief
from prism_core.planning.choices import Choices, replay
from prism_core.planning.design import design
from prism_core.planning.numeric_queries import cost
from prism_core.planning.wishes import config
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.targets import Target
from prism_core.planning.wishes.task import Budget, Shares, Synthesis, Task
from prism_core.privacy.events import L2_SENSITIVITY
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.noise import SeededNoise
from prism_core.structure.dag import Dag
from prism_core.synthesis.naive_bayes import fit_naive_bayes
from prism_core.synthesis.release import release
from tests.support.noise import Tape

N = 400
RULES = ("moments", "thresholds")
NO_TREE = Shares(selection=0.0, choice=0.0, task=0.95, background=0.05)


def schema(bins=12):
    def numeric(name, count, **more):
        edges = equal_edges(0.0, 100.0, count, None)
        return Column(name=name, kind="numeric", lower=0.0, upper=100.0, edges=edges, **more)

    return Schema(
        columns=(
            numeric("age", bins),
            numeric("dose", bins, nullable=True),
            numeric("few", 4),
            Column(name="ward", kind="categorical", levels=("a", "b", "c")),
            Column(name="y", kind="boolean"),
        ),
        one_row_per_person=True,
    )


DAG = Dag(nodes=schema().names, edges=(("age", "y"), ("dose", "y"), ("few", "y")))


def table(*, public=True, n=N, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    columns = [
        np.clip(rng.normal(3 + 5 * y, 1.5), 0, 11),
        rng.integers(0, 13, n),
        rng.integers(0, 4, n),
        rng.integers(0, 3, n),
        y,
    ]
    codes = np.column_stack(columns).astype(int)
    return EncodedTable(schema=schema(), codes=codes, public=public)


def planned(rule, *, epsilon=1.0, **wishes):
    wishes = {"numeric_queries": rule, "numeric_bins": 10, "thresholds": 3, **wishes}
    return design(
        Brief(
            schema(),
            Task(target="y", **wishes),
            Budget(epsilon=epsilon),
            N,
            dag=DAG,
            synthesis=Synthesis(iterations=30),
        )
    )


def rehearsed(plan, seed=0):
    rng = np.random.default_rng(seed)
    return release(plan, table(), ledger=None, noise=SeededNoise(rng), rng=rng)


@pytest.mark.parametrize("rule", RULES)
def test_only_columns_with_many_bins_are_asked_so(rule):
    kinds = {query.clique: query.kind for query in planned(rule).queries}
    assert kinds["age", "y"] == kinds["dose", "y"] == rule
    assert kinds["few", "y"] == "pair"
    assert kinds[("age",)] == kinds[("dose",)] == kinds[("ward",)] == "one-way"
    assert ("few",) not in kinds


def test_a_column_may_have_a_rule_of_its_own():
    rules = {"few": "moments", "age": "full"}
    kinds = {q.clique: q.kind for q in planned("thresholds", numeric_columns=rules).queries}
    assert kinds["age", "y"] == "pair"
    assert kinds["few", "y"] == "moments"
    assert kinds["dose", "y"] == "thresholds"


@pytest.mark.parametrize("rule", [*RULES, "second_moments"])
def test_a_further_target_is_measured_level_by_level_too(rule):
    """Its bins are what is predicted: moments of them would leave its shape to the model."""
    further = (Target(name="dose"),)
    task = Task(
        target="y", regime="predictive", k=2, numeric_queries=rule, numeric_bins=10, further=further
    )
    queries = {query.clique: query for query in design(Brief(schema(), task, Budget(), N)).queries}
    assert queries["age", "dose"].linear.spec()[1] == "levels"
    assert queries["dose", "few"].kind == "pair"
    assert ("dose",) not in queries
    with pytest.raises(TaskError, match="level by level"):
        Task(target="y", further=further, numeric_columns={"dose": rule})


def test_the_default_changes_no_plan():
    plain = design(
        Brief(schema(), Task(target="y"), Budget(), N, dag=DAG, synthesis=Synthesis(iterations=30))
    )
    assert planned("full").hash == plain.hash
    assert all(query.linear is None for query in plain.queries)
    assert (
        "numeric_queries"
        not in config.wishes_dict(plain.task, plain.budget, plain.synthesis)["task"]
    )


@pytest.mark.privacy
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 7.3])
def test_each_query_pays_with_its_own_sensitivity(rule, epsilon):
    plan = planned(rule, epsilon=epsilon)
    for query in plan.queries:
        wanted = L2_SENSITIVITY if query.linear is None else query.linear.sensitivity
        assert query.event.sensitivity == wanted
        assert query.event.rho <= query.share * plan.total * (1.0 + 1e-12)
        assert query.event.rho >= query.share * plan.total * (1.0 - 1e-9)
    assert math.fsum(event.rho for event in plan.events) <= plan.total
    assert plan.spent.epsilon <= epsilon


@pytest.mark.parametrize("rule", RULES)
def test_the_allocation_is_the_closed_form_with_each_querys_own_term(rule):
    plan = planned(rule)
    task = [query for query in plan.queries if query.pool == "task"]
    terms = [cost(query.weight, query.cells, query.linear) ** (2 / 3) for query in task]
    parts = [query.share for query in task]
    expected = [term * sum(parts) / sum(terms) for term in terms]
    assert parts == pytest.approx(expected, rel=1e-9)
    # No other split of the same amount has less expected error.
    rng = np.random.default_rng(0)

    def error(shares):
        each = zip(task, shares, strict=True)
        return sum(cost(q.weight, q.cells, q.linear) / math.sqrt(share) for q, share in each)

    for _ in range(50):
        other = np.array(parts) * np.exp(rng.normal(0.0, 0.3, len(parts)))
        assert error(parts) <= error(other * sum(parts) / other.sum())


@pytest.mark.parametrize("rule", RULES)
def test_noise_and_error_are_told_in_units_of_one(rule):
    plan = planned(rule)
    query = next(query for query in plan.queries if query.kind == rule)
    assert query.linear is not None
    sigma = query.event.sigma / query.linear.grid
    assert query.noise == pytest.approx(sigma)
    expected = query.linear.rows * sigma * math.sqrt(2 / math.pi) / N
    assert query.relative_error == pytest.approx(expected)
    line = next(line for line in lines(plan) if rule in line.label)
    assert line.sigma == pytest.approx(sigma)
    compared = next(line for line in against_uniform(plan) if rule in line.label)
    assert compared.now.sigma == pytest.approx(sigma)
    assert compared.closed_form.sigma == pytest.approx(sigma)
    assert compared.now.relative_error == pytest.approx(query.relative_error)


def test_no_distance_is_promised():
    found = bounds(planned("moments"), p_min=0.2)
    assert found.delta_s.raw is None
    assert "Moments" in found.delta_s.sentence


@pytest.mark.parametrize(("accountant"), ["basic", "pld"])
def test_other_accountants_are_refused(accountant):
    task = Task(target="y", numeric_queries="moments", numeric_bins=10)
    with pytest.raises(BudgetError, match="zcdp"):
        design(Brief(schema(), task, Budget(accountant=accountant), N, dag=DAG))


@pytest.mark.parametrize(
    ("wishes", "error"),
    [
        ({"numeric_queries": "cubes"}, TaskError),
        ({"numeric_columns": {"age": "cubes"}}, TaskError),
        ({"numeric_columns": {"y": "moments"}}, TaskError),
        ({"thresholds": 0}, TaskError),
        ({"numeric_bins": True}, TaskError),
        ({"numeric_columns": {"ward": "moments"}}, PlanError),
    ],
)
def test_unusable_wishes_are_refused(wishes, error):
    with pytest.raises(error):
        design(Brief(schema(), Task(target="y", **wishes), Budget(), N, dag=DAG))


def test_wishes_survive_a_configuration():
    task = Task(
        target="y",
        numeric_queries="thresholds",
        thresholds=7,
        numeric_bins=10,
        numeric_columns={"age": "moments"},
    )
    document = config.wishes_dict(task, Budget(), Synthesis())
    assert config.wishes_from(json.loads(json.dumps(document)))[0] == task


@pytest.mark.parametrize("model", ["pgm", "naive_bayes"])
@pytest.mark.parametrize("rule", RULES)
def test_a_run_keeps_what_the_column_says_about_the_target(rule, model):
    """age is 5 bins higher where y is true; so it is in the synthetic rows."""
    plan = replace(
        planned(rule, epsilon=8.0), synthesis=Synthesis(model=model, rows=4_000, iterations=30)
    )
    plan = design(Brief(schema(), plan.task, plan.budget, N, dag=DAG, synthesis=plan.synthesis))
    codes = rehearsed(plan).codes
    y = codes[:, 4] == 1
    assert codes[y, 0].mean() - codes[~y, 0].mean() == pytest.approx(5.0, abs=1.5)


def test_naive_bayes_gives_margins_to_features_outside_its_blocks_only():
    made = rehearsed(planned("moments"))
    model = fit_naive_bayes(made.plan.sizes, "y", N, made.measurements)
    assert set(model.margins) == {"ward"}
    assert set(model.blocks) == {("age",), ("dose",), ("few",)}


@pytest.mark.privacy
@pytest.mark.parametrize("rule", [*RULES, "second_moments"])
@pytest.mark.parametrize("seed", range(3))
def test_replayed_on_a_neighbour_every_answer_moves_by_its_sensitivity_at_most(rule, seed):
    """T-RECORD: frozen outputs; the vectors handed to the noise, the plan and all scales."""
    plan = replace(planned(rule), synthesis=Synthesis(rows=20, iterations=2))
    before = table(public=False)
    codes = before.codes.copy()
    codes[seed] = [11, 12, 3, 2, 1] if seed else [0, 0, 0, 0, 0]
    after = EncodedTable(schema=schema(), codes=codes)
    first, second = Tape(), None
    made = release(plan, before, ledger=None, noise=first, rng=np.random.default_rng(0))
    second = Tape(first.outputs)
    again = release(plan, after, ledger=None, noise=second, rng=np.random.default_rng(0))
    assert again.plan.hash == made.plan.hash
    assert (again.codes == made.codes).all()
    spent = 0.0
    moved = 0
    for query, (a, sigma), (b, other) in zip(
        made.plan.queries, first.counts, second.counts, strict=True
    ):
        assert sigma == other == query.sigma
        assert a.dtype == np.int64
        distance = math.sqrt(int(((a - b) ** 2).sum()))
        assert distance <= query.event.sensitivity
        moved += distance > 0.0
        spent += query.event.sensitivity**2 / (2.0 * sigma**2)
    assert moved >= 3
    assert spent <= made.plan.total


@pytest.fixture(scope="module", params=RULES)
def bundle(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    plan = planned(request.param)
    ledger = Ledger(folder / "workspace")
    ledger.register("ward 7", epsilon=9.0, delta=plan.delta)
    made = release(
        plan, table(public=False), ledger=ledger, asset="ward 7", rng=np.random.default_rng()
    )
    return bundle_folder.write(made, folder / "bundle"), folder / "workspace", request.param


def test_a_bundle_verifies_and_names_the_query(bundle):
    path, _, rule = bundle
    report = verification.verify(path)
    assert report.ok, report
    stages = read_bundle(path)
    kinds = [m.query.kind for m in stages.measurements if m.query is not None]
    assert kinds == [rule, rule]
    certificate = json.loads((path / bundle_files.CERTIFICATE).read_text(encoding="utf-8"))
    assert any(rule in event.get("label", "") for event in certificate["events"])
    assert rule in (path / bundle_files.README).read_text(encoding="utf-8")
    assert rule in (path / bundle_files.REPORT).read_text(encoding="utf-8")


@pytest.mark.parametrize("change", ["query", "values", "counts for a query"])
def test_a_tampered_query_is_found(bundle, tmp_path, change):
    import shutil

    path, workspace, rule = bundle
    forged = tmp_path / "forged"
    shutil.copytree(path, forged)
    file = forged / bundle_files.MEASUREMENTS
    document = json.loads(file.read_text(encoding="utf-8"))
    entry = next(e for e in document["measurements"] if "query" in e)
    if change == "query":
        other = ["moments", "levels"] if rule == "thresholds" else ["thresholds 3", "levels"]
        entry["query"], entry["grid"] = other, 1024 if rule == "thresholds" else 1
    elif change == "values":
        entry["counts"] = [count + 10**9 for count in entry["counts"]]
    else:
        del entry["query"], entry["grid"]
    file.write_text(json.dumps(document), encoding="utf-8")
    manifest.write_manifest(forged, workspace)
    assert not verification.verify(forged).ok


@pytest.mark.parametrize("rule", RULES)
def test_answers_hold_counts_that_add_up(rule):
    """Rows of a query that add up to 1 are counts of the target, missing values among them."""
    plan = planned(rule)
    found = {c.measured: c for c in counted_measurements(rehearsed(plan).measurements)}
    (exact,) = table().counts([("y",)])
    for clique in (("age", "y"), ("dose", "y")):
        counts = found[clique]
        assert counts.clique == ("y",)
        assert np.abs(counts.values - exact).max() <= 6.0 * counts.sigma


# --- products of two columns -----------------------------------------------------------------


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
    assert measured_findings(plans, (*measured, measured[-1])) == ["A marginal was measured twice."]
    place = next(i for i, m in enumerate(measured) if m.clique == ("age", "dose"))
    assert measured_findings(plans, (*measured[:place], *measured[place + 1 :])) != []
    path = bundle_folder.write(made, tmp_path / "bundle")
    assert [c.name for c in verification.verify(path).checks if c.findings] == []
