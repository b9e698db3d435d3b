"""The experiments of the paper: what is asked, made, scored, summed up and kept."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core import reproduction
from prism_core.comparators.external import EXTERNAL
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError, ConfigError, EvaluationError, PrivacyError
from prism_core.privacy.scores import mutual_information
from prism_core.reproduction import benchmark_run, experiments
from prism_core.reproduction.benchmarks import Benchmark, Case
from prism_core.reproduction.networks import Network, NodeDistribution, case_of
from prism_core.reproduction.paper_methods import information_scores, l1_sensitivity
from prism_core.structure.dag import Dag


def small(seed: int) -> Case:
    """A causes Y, Y causes S; N stands alone."""
    rng = np.random.default_rng([seed, 2])
    schema = Schema(
        columns=tuple(Column(name=n, kind="categorical", levels=(0, 1)) for n in "ASNY"),
        one_row_per_person=True,
    )

    def rows(count: int) -> EncodedTable:
        a, noise = rng.integers(0, 2, count), rng.integers(0, 2, count)
        y = a ^ (rng.random(count) < 0.2)
        s = y ^ (rng.random(count) < 0.1)
        codes = np.column_stack([a, s, noise, y]).astype(np.int32)
        return EncodedTable(schema=schema, codes=codes, public=True)

    dag = Dag(nodes=schema.names, edges=(("A", "Y"), ("Y", "S")))
    return Case(train=rows(400), test=rows(400), dag=dag)


BENCH = Benchmark(
    name="small",
    title="Small",
    target="Y",
    draw=small,
    methods=("causal-opt", "graphical-opt"),
    sizes=(300,),
    epsilons=(4.0,),
    k=2,
    k_ours=3,
    weights=(("S", 2.0),),
)


def outcome(**changes) -> reproduction.RunOutcome:
    scored = reproduction.Scored(auc=0.7, accuracy=0.6, ceiling=0.8, ceiling_all=0.9)
    plain = reproduction.RunOutcome(
        benchmark="scm-spurious",
        method="causal-opt",
        setting="ours",
        epsilon=1.0,
        rows=5_000,
        seed=0,
        onehot=scored,
        standardised=scored,
        l1=0.1,
        seconds=1.0,
    )
    return replace(plain, **changes)


def scored(auc: float) -> reproduction.Scored:
    return reproduction.Scored(auc=auc, accuracy=0.6, ceiling=0.8, ceiling_all=0.9)


@pytest.mark.parametrize(
    "method", sorted(set(reproduction.METHODS) - {"graphical-auto", "aim", *EXTERNAL})
)
def test_every_method_runs_in_its_settings(method):  # aim goes the way of mst, slower
    settings = reproduction.METHODS[method].settings
    bench = replace(BENCH, weights=()) if method != "graphical-opt" else BENCH
    made = list(reproduction.run(bench, methods=[method], seeds=1, sizes=(300, None)))
    assert [(one.setting, one.rows) for one in made] == [
        (setting, rows) for setting in settings for rows in (300, 400)
    ]
    assert {one.method for one in made} == {method}
    assert all(0.0 <= one.l1 <= 2.0 and one.seconds > 0.0 for one in made)
    if method == "causal-opt":
        assert made[0].onehot.ceiling < made[0].onehot.ceiling_all
        assert made[-1].onehot.auc > 0.7


def test_a_run_depends_on_nothing_but_itself():
    one = list(reproduction.run(BENCH, seeds=[1], settings=["ours"]))
    methods = ["independence", *BENCH.methods]
    more = list(reproduction.run(BENCH, seeds=3, settings=["ours"], methods=methods))
    again = [found for found in more if found.seed == 1 and found.method in BENCH.methods]
    assert [replace(o, seconds=0.0) for o in one] == [replace(o, seconds=0.0) for o in again]


@pytest.mark.parametrize("name", ["scm-spurious", "scm-marginal", "adult", "allocation-wins"])
def test_runs_can_be_sent_to_a_process(name):
    asked = reproduction.wanted(reproduction.benchmark(name, "adult.csv"), seeds=1)
    sent = pickle.loads(pickle.dumps(asked))  # noqa: S301
    assert len(sent) == len(asked)
    for one, was in zip(sent, asked, strict=True):
        assert replace(one, benchmark=was.benchmark) == was
        draw = one.benchmark.draw, was.benchmark.draw
        assert draw[0].keywords == draw[1].keywords
        assert draw[0].func is draw[1].func


@pytest.mark.long
@pytest.mark.slow
def test_outcomes_do_not_depend_on_the_number_of_processes():
    asked = {"seeds": 2, "epsilons": [4.0], "settings": ["paper"], "sizes": [200]}
    found = [
        sorted(
            (replace(one, seconds=0.0) for one in reproduction.allocation_wins(**asked, jobs=jobs)),
            key=lambda one: (one.key, one.seed),
        )
        for jobs in (1, 2)
    ]
    assert len(found[0]) == 4
    assert found[0] == found[1]


def test_what_cannot_be_asked_says_so():
    for wrong in (
        {"methods": ["magic"]},
        {"settings": ["theirs"]},
        {"seeds": 0},
        {"seeds": [-1]},
        {"sizes": [0]},
        {"jobs": 0},
        {"methods": ["mst"], "settings": ["paper"]},
    ):
        with pytest.raises(ConfigError):
            reproduction.run(BENCH, **wrong)
    with pytest.raises(BudgetError):
        reproduction.run(BENCH, epsilons=[float("nan")])
    with pytest.raises(ConfigError, match="benchmark"):
        reproduction.benchmark("nothing")


def test_no_line_of_the_paper_setting_spends_more_than_epsilon():
    from prism_core.planning.brief import Brief
    from prism_core.planning.design import design
    from prism_core.privacy.accountants.accountant import accountant

    case = small(0)
    for name in ("causal-opt", "predictive-opt", "all-features"):
        asked = experiments.wanted(
            replace(BENCH, weights=()), methods=[name], settings=["paper"], seeds=1
        )[0]
        dag, scenario = benchmark_run._wishes(asked, case)
        plan = design(
            Brief(
                case.schema,
                scenario.task,
                scenario.budget,
                case.train.n,
                dag=dag,
                synthesis=scenario.synthesis,
            )
        )
        spent = accountant("basic").spent(plan.events, plan.delta)
        paid = benchmark_run.SELECTION_SHARE * 4.0 if name == "predictive-opt" else 0.0
        assert 0.99 * 4.0 < spent.epsilon + paid <= 4.0 * (1.0 + 1e-9)
        assert plan.synthesis.model == "naive_bayes"
        assert {query.kind for query in plan.queries} <= {"pair", "one-way"}


@pytest.mark.privacy
def test_private_rows_are_refused():
    case = small(0)
    private = EncodedTable(schema=case.schema, codes=case.train.codes, public=False)
    with pytest.raises(PrivacyError, match="public rows only"):
        Case(train=private, test=case.test, dag=case.dag)
    with pytest.raises(PrivacyError, match="public benchmark rows"):
        information_scores(private, "Y", 1.0, np.random.default_rng(0))
    with pytest.raises(ConfigError, match="public benchmark rows"):
        benchmark_run.most_correlated_not_private(private, "Y", 1)


@pytest.mark.privacy
def test_the_scores_move_by_no_more_than_their_sensitivity():
    """All tables of four rows over two binary features and Y, and every neighbour of each."""
    n, cells = 4, list(itertools.product((0, 1), repeat=3))
    scores = {}
    for rows in itertools.combinations_with_replacement(range(8), n):
        table = np.array([cells[row] for row in rows])
        counts = [np.zeros((2, 2), dtype=np.int64) for _ in range(2)]
        for x1, x2, y in table:
            counts[0][x1, y] += 1
            counts[1][x2, y] += 1
        scores[rows] = np.array([mutual_information(one) for one in counts])
    bound = l1_sensitivity(n, [2, 2], 2)
    largest = max(
        float(np.abs(scores[rows] - scores[tuple(sorted((*rows[:i], *rows[i + 1 :], new)))]).sum())
        for rows in scores
        for i in range(n)
        for new in range(8)
    )
    assert largest <= bound * (1.0 + 1e-12)
    assert largest > 0.9 * bound


def test_paid_scores_choose_and_weigh():
    found = information_scores(small(0).train, "Y", 1e6, np.random.default_rng(0))
    assert set(found.top(2)) == {"A", "S"}
    weights = found.weights(("A", "S", "N"))
    assert weights["S"] > weights["A"] > weights["N"] > 0.0
    noisy = information_scores(small(0).train, "Y", 1e-3, np.random.default_rng(1))
    assert min(noisy.weights(tuple(noisy.scores)).values()) > 0.0


def test_the_oracle_takes_the_strongest():
    assert benchmark_run.most_correlated_not_private(small(0).train, "Y", 2) == ("S", "A")


def test_rows_are_means_with_t_intervals_whatever_the_order():
    some = [outcome(seed=seed, onehot=scored(auc)) for seed, auc in enumerate((0.6, 0.7, 0.8))]
    (row,) = reproduction.rows(reversed(some))
    assert row == reproduction.rows(some)[0]
    assert row.seeds == (0, 1, 2)
    assert row.onehot.auc_mean == pytest.approx(0.7)
    assert row.onehot.auc_ci == pytest.approx(4.302652729911275 * 0.1 / np.sqrt(3))
    assert reproduction.rows([outcome()])[0].onehot.auc_ci is None
    assert len(reproduction.rows([*some, outcome(epsilon=2.0)])) == 2


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=5), st.floats(0.01, 10.0))
def test_what_is_written_of_a_row_is_read_again(aucs, epsilon):
    some = [outcome(seed=i, onehot=scored(auc), epsilon=epsilon) for i, auc in enumerate(aucs)]
    kept = reproduction.ResultRow.from_dict(reproduction.rows(some)[0].to_dict())
    assert reproduction.ResultRow.from_dict(kept.to_dict()) == kept
    assert kept.onehot.auc_mean == pytest.approx(np.mean(aucs), abs=1e-5)


def test_scores_out_of_range_are_refused():
    with pytest.raises(EvaluationError):
        scored(float("nan"))
    with pytest.raises(EvaluationError):
        replace(reproduction.rows([outcome()])[0], seeds=(0, 1))
    with pytest.raises(EvaluationError, match="lacks a field"):
        reproduction.ResultRow.from_dict({"benchmark": "adult"})


def network() -> Network:
    rain = NodeDistribution(
        name="rain", levels=("no", "yes"), parents=(), values=np.array([0.8, 0.2])
    )
    wet = NodeDistribution(
        name="wet",
        levels=("dry", "damp", "wet"),
        parents=("rain",),
        values=np.array([[0.7, 0.1], [0.2, 0.3], [0.1, 0.6]]),
    )
    return Network(tables=(rain, wet))


@pytest.mark.statistical
def test_rows_of_a_network_follow_its_tables():
    """200,000 rows: a share off by 0.01 lies 8 standard deviations away; false alarm < 1e-13."""
    case = case_of(network(), np.random.default_rng(7), 200_000, 10)
    assert case.dag.edges == (("rain", "wet"),)
    shares = case.train.counts([("rain", "wet")])[0] / 200_000
    expected = np.array([[0.8 * 0.7, 0.8 * 0.2, 0.8 * 0.1], [0.2 * 0.1, 0.2 * 0.3, 0.2 * 0.6]])
    assert np.abs(shares - expected).max() < 0.01


def test_a_table_that_does_not_fit_is_refused():
    for values in (np.array([0.5, 0.6]), np.array([0.5]), np.array([np.nan, 1.0])):
        with pytest.raises(ConfigError):
            NodeDistribution(name="rain", levels=("no", "yes"), parents=(), values=values)
    with pytest.raises(ConfigError, match="network"):
        reproduction.network_benchmark("titanic")


@pytest.mark.long
@pytest.mark.slow
def test_the_networks_of_pgmpy():
    pytest.importorskip("pgmpy")
    from prism_core.reproduction.networks import load

    found = load("child")
    assert (len(found.dag.nodes), len(found.dag.edges)) == (20, 25)
    assert found.dag.parents("Disease") == ("BirthAsphyxia",)
    case = case_of(found, np.random.default_rng(0), 500, 500)
    disease = case.schema["Disease"]
    assert list(disease.labels()[:2]) == ["PFC", "TGA"]
    with pytest.raises(ConfigError, match="no node"):
        reproduction.network_benchmark("child", "Weight")


class _MeasuredError(Exception):
    """Carries what would have been measured."""


def _measured(plan, table, **_):
    raise _MeasuredError(plan.n, table.people, table.n, table.schema.max_rows)


def _asked(method: str) -> benchmark_run.RunRequest:
    (one,) = reproduction.wanted(
        reproduction.benchmark("readmission-stays"), methods=[method], epsilons=[1.0], seeds=1
    )
    return one


def test_one_row_of_each_person_is_measured_where_a_method_says_so(monkeypatch):
    monkeypatch.setattr(benchmark_run, "release", _measured)
    case = _asked("graphical-opt").benchmark.draw(0)
    with pytest.raises(_MeasuredError) as several:
        benchmark_run.make(_asked("graphical-opt"), case)
    n, people, rows, most = several.value.args
    assert (n, people, most) == (20_000, 20_000, 3)
    assert rows == case.train.n > 25_000
    with pytest.raises(_MeasuredError) as alone:
        benchmark_run.make(_asked("graphical-one-row"), case)
    assert alone.value.args == (20_000, 20_000, 20_000, 1)


def test_a_method_that_counts_one_row_of_a_person_is_refused_where_there_are_several():
    asked = _asked("independence")
    with pytest.raises(ConfigError, match="one row of each person"):
        benchmark_run.make(asked, asked.benchmark.draw(0))
