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
from prism_core.bundle.write import bundle_folder
from prism_core.data.encoding import EncodedTable
from prism_core.errors import BudgetError, PlanError, TaskError
from prism_core.explain.error_bounds import bounds
from prism_core.explain.plan_lines import against_uniform, lines
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.numeric_queries import cost
from prism_core.planning.wishes import config
from prism_core.planning.wishes.targets import Target
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.events import L2_SENSITIVITY
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.noise import SeededNoise
from prism_core.synthesis.naive_bayes import fit_naive_bayes
from prism_core.synthesis.release import release
from prism_core.synthesis.totals import counted_measurements
from tests.support.noise import Tape
from tests.support.numeric_plans import DAG, N, planned, schema, table

RULES = ("moments", "thresholds")


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
