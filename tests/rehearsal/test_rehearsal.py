"""Rehearsals: what is refused, what is run, what is kept, and that it is the real pipeline."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError, ConfigError, EvaluationError
from prism_core.planning.wishes import scenario_files
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.scenario import Scenario
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.events import GaussianEvent
from prism_core.privacy.learning_charge import LearningCharge
from prism_core.rehearsal import (
    PointStore,
    Rehearsal,
    RehearsalPoint,
    RehearsalRequest,
    from_graph,
    run_rehearsal,
    verdict,
)
from prism_core.rehearsal.trial import CountedRows, SharedRows
from prism_core.rehearsal.variants import MOST_SEEDS, by_allocation, by_regime, epsilons_of, plan_on
from prism_core.structure.dag import Dag

NAMES = ("A", "B", "C", "D", "Y")
_FEATURES = [Column(name=name, kind="ordinal", levels=(0, 1, 2)) for name in NAMES[:-1]]
SCHEMA = Schema(columns=(*_FEATURES, Column(name="Y", kind="boolean")), one_row_per_person=True)
DAG = Dag(nodes=NAMES, edges=(("A", "Y"), ("B", "Y"), ("Y", "C")))
ROWS = from_graph(SCHEMA, "Y", 400, DAG, strength="strong", holdout=400)
PLAN = Scenario(name="plan", task=Task(target="Y"), synthesis=Synthesis(model="naive_bayes"))


def small(seeds: int = 2, **more) -> Rehearsal:
    return Rehearsal(
        variants=by_regime(PLAN, DAG, "Y")[:2], epsilons=(0.5, 4.0), seeds=seeds, **more
    )


def plain(points) -> list[tuple]:
    return sorted((p.variant, p.epsilon, p.seed, p.shift, p.score, p.ceiling) for p in points)


# --- what is asked for -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "error", "words"),
    [
        ({"variants": ()}, ConfigError, "1 to 11 variants"),
        ({"variants": (PLAN, PLAN)}, ConfigError, "different names"),
        ({"epsilons": ()}, BudgetError, "1 to 12 values"),
        ({"epsilons": (1.0, 1.0)}, BudgetError, "must increase"),
        ({"epsilons": (2.0, 1.0)}, BudgetError, "must increase"),
        ({"epsilons": (0.0, 1.0)}, BudgetError, "epsilon must be"),
        ({"epsilons": (float("nan"),)}, BudgetError, "epsilon must be"),
        ({"seeds": 0}, ConfigError, "between 1 and"),
        ({"seeds": MOST_SEEDS + 1}, ConfigError, "between 1 and"),
        ({"seeds": True}, ConfigError, "whole number"),
        ({"seeds": 2.0}, ConfigError, "whole number"),
        ({"learner": "oracle"}, EvaluationError, "must be one of"),
    ],
)
def test_an_unusable_rehearsal_is_refused_at_birth(more, error, words):
    with pytest.raises(error, match=words):
        replace(small(), **more)


def test_runs_are_counted_and_come_seed_by_seed():
    made = small(seeds=3)
    assert made.runs == len(list(made.tasks())) == 12
    assert [seed for _, _, seed in made.tasks()] == sorted(seed for _, _, seed in made.tasks())


def test_a_rehearsal_travels_as_plain_values():
    locked = replace(
        PLAN,
        budget=Budget(locks=(Lock(columns=("A", "Y"), share=0.1),), epsilon=3.0),
        task=Task(target="Y", weights={"A": 2.0}),
    )
    made = replace(small(), variants=(locked, *by_allocation(PLAN)))
    document = json.loads(json.dumps(made.to_dict()))
    assert Rehearsal.from_dict(document) == made


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1", (1.0,)),
        ("2, .5,2", (0.5, 2.0)),
        ("", ()),
        (" , ", ()),
        ("0,5; 1", (0.5, 1.0)),
        ("2;", (2.0,)),
    ],
)
def test_epsilons_are_read_from_text(text, values):
    assert epsilons_of(text) == values


def test_epsilons_that_are_no_numbers_are_a_sentence():
    for text in ("one, two", "0,5", "-1", "nan", "0,5,1", "1; two"):
        with pytest.raises(BudgetError, match="numbers above 0 with commas"):
            epsilons_of(text)


def test_a_design_is_fitted_to_the_columns_of_the_rows():
    """A sample has other columns: what does not apply is left out, not refused."""
    wide = replace(
        PLAN,
        task=Task(target="other", regime="predictive", k=30, weights={"A": 2.0, "gone": 3.0}),
        budget=Budget(
            epsilon=9.0,
            locks=(Lock(columns=("gone", "other"), share=0.2), Lock(columns=("A", "Y"), share=0.1)),
        ),
        synthesis=Synthesis(rows=90_000),
    )
    plan = plan_on(wide, ROWS, 2.0)
    assert plan.task.target == "Y"
    assert plan.task.k == 4
    assert dict(plan.task.weights) == {"A": 2.0}
    assert [lock.label for lock in plan.budget.locks] == ["A × Y"]
    assert plan.budget.epsilon == 2.0
    assert plan.rows == 20_000


def test_a_design_that_cannot_be_planned_is_named_before_anything_runs():
    rows = from_graph(SCHEMA, "Y", 50, holdout=50)
    with pytest.raises(ConfigError, match=r"causal: The causal regime needs a graph"):
        next(run_rehearsal(replace(small(), variants=by_regime(PLAN, DAG, "Y")), rows, jobs=1))


def test_regimes_are_those_that_the_graph_allows():
    assert [v.name for v in by_regime(PLAN, DAG, "Y")] == ["causal", "graphical", "predictive"]
    assert [v.name for v in by_regime(PLAN, None, "Y")] == ["predictive"]
    learned = replace(DAG, provenance="public twin")
    assert [v.name for v in by_regime(PLAN, learned, "Y")] == ["graphical", "predictive"]
    assert [v.name for v in by_regime(PLAN, DAG, "D")] == ["predictive"]


def test_the_plan_itself_comes_first_and_nothing_is_run_twice():
    """Papers tell the score of the first design."""
    graphical = replace(PLAN, task=replace(PLAN.task, regime="graphical"))
    names = [v.name for v in by_regime(graphical, DAG, "Y")]
    assert names == ["graphical", "causal", "predictive"]
    first, *others = by_allocation(PLAN)
    assert replace(first, name=PLAN.name) == PLAN
    assert [v.budget.allocation for v in others] == ["closed_form", "uniform"]
    for rule, left in (("closed_form", ["uniform"]), ("uniform", ["closed_form"])):
        planned = replace(PLAN, budget=replace(PLAN.budget, allocation=rule))
        assert [v.budget.allocation for v in by_allocation(planned)] == [rule, *left]


# --- running -----------------------------------------------------------------------------------


def test_points_are_those_of_the_real_pipeline():
    """One run by hand: design, release with seeded noise, a learner on what it makes."""
    from prism_core.data.encoding import EncodedTable
    from prism_core.evaluation.tstr.learners import fit
    from prism_core.evaluation.tstr.scoring import macro_auc
    from prism_core.privacy.noise import SeededNoise
    from prism_core.synthesis.release import release

    made = small(seeds=1)
    points = {(p.variant, p.epsilon, p.shift): p for p in run_rehearsal(made, ROWS, jobs=1)}
    variant = made.variants[1]
    plan = plan_on(variant, ROWS, 4.0)
    noise, sampling = (np.random.default_rng([0, part]) for part in (0, 1))
    released = release(plan, ROWS.train, ledger=None, noise=SeededNoise(noise), rng=sampling)
    assert released.stamp == "rehearsal, not a release"
    codes = EncodedTable(schema=SCHEMA, codes=released.codes, public=True)
    fitted = fit("logistic_onehot", codes, target="Y")
    real = fit("logistic_onehot", ROWS.train, target="Y", features=plan.s)
    for shift, holdout in ROWS.holdouts.items():
        y = holdout.column("Y")
        point = points[variant.name, 4.0, shift]
        assert point.score == macro_auc(y, fitted.probabilities(holdout))
        assert point.ceiling == macro_auc(y, real.probabilities(holdout))


def test_a_numeric_target_is_scored_by_how_well_its_numbers_are_predicted():
    """By hand: a ridge regression on what one run makes, and its R² on the rows kept aside."""
    from prism_core.data.encoding import EncodedTable
    from prism_core.evaluation.tstr.regressors import fit_numeric, representatives
    from prism_core.evaluation.tstr.scoring import r_squared
    from prism_core.privacy.noise import SeededNoise
    from prism_core.synthesis.release import release

    days = Column(
        name="Y", kind="numeric", lower=0.0, upper=40.0, edges=(2.0, 5.0, 10.0, 20.0), decimals=0
    )
    schema = replace(SCHEMA, columns=tuple(days if c.name == "Y" else c for c in SCHEMA.columns))
    rows = from_graph(schema, "Y", 2_000, DAG, holdout=500, strength="strong")
    made = Rehearsal(variants=by_regime(PLAN, DAG, "Y")[:2], epsilons=(4.0,), seeds=1)
    points = {(p.variant, p.shift): p for p in run_rehearsal(made, rows, jobs=1)}
    plan = plan_on(made.variants[1], rows, 4.0)
    noise, sampling = (np.random.default_rng([0, part]) for part in (0, 1))
    released = release(plan, rows.train, ledger=None, noise=SeededNoise(noise), rng=sampling)
    codes = EncodedTable(schema=schema, codes=released.codes, public=True)
    fitted = fit_numeric("ridge", codes, target="Y")
    real = fit_numeric("ridge", rows.train, target="Y", features=plan.s)
    for shift, holdout in rows.holdouts.items():
        y = representatives(days)[holdout.column("Y")]
        point = points[made.variants[1].name, shift]
        assert point.metric == "r2"
        assert point.score == pytest.approx(r_squared(y, fitted.predictions(holdout)))
        assert point.ceiling == pytest.approx(r_squared(y, real.predictions(holdout)))
    assert 0.1 < points["graphical", "none"].score < points["graphical", "none"].ceiling + 0.05
    assert "R²" in verdict([*points.values()], "none") or "no design" in verdict(
        [*points.values()], "none"
    )


def test_every_run_gives_a_point_for_every_shift():
    points = list(run_rehearsal(small(), ROWS, jobs=1))
    assert len(points) == 8 * 3
    assert {p.shift for p in points} == {"none", "children", "parents"}
    assert plain(points) == plain(run_rehearsal(small(), ROWS, jobs=1))


def test_the_paper_in_small_children_cut_causal_stands_graphical_falls():
    """20 rows of noise would blur it: n = 400, strong edges, epsilon 4, three seeds."""
    points = [p for p in run_rehearsal(small(seeds=3), ROWS, jobs=1) if p.epsilon == 4.0]
    mean = {
        (variant, shift): np.mean([p.score for p in points if (p.variant, p.shift) == key])
        for variant, shift in itertools.product(("causal", "graphical"), ("none", "children"))
        if (key := (variant, shift))
    }
    assert mean["graphical", "none"] > mean["causal", "none"]
    assert mean["causal", "children"] > mean["graphical", "children"]


@pytest.mark.long
@pytest.mark.slow
def test_points_do_not_depend_on_the_number_of_processes():
    made = small(seeds=12)  # enough that a second process is started
    assert plain(run_rehearsal(made, ROWS, jobs=2)) == plain(run_rehearsal(made, ROWS, jobs=1))


@pytest.mark.parametrize("jobs", [0, -1, True, 1.5])
def test_an_unusable_number_of_processes_is_refused(jobs):
    with pytest.raises(ConfigError, match="jobs must be"):
        next(run_rehearsal(small(), ROWS, jobs=jobs))


def test_rows_of_one_class_rank_everybody_alike():
    stage = SharedRows(ROWS, small())
    one = replace(ROWS.train, codes=np.zeros_like(ROWS.train.codes))
    assert set(stage._scores(one, None).values()) == {0.5}


def test_counts_are_taken_once_and_cannot_be_spoilt():
    class Asking:
        calls = 0

        def __getattr__(self, name):
            return getattr(ROWS.train, name)

        def counts(self, cliques):
            Asking.calls += 1
            return ROWS.train.counts(cliques)

    rows = CountedRows(Asking())
    first = rows.counts([("A", "Y"), ("B",), ("A", "Y")])
    first[0][:] = -1
    assert (rows.counts([("A", "Y")])[0] == ROWS.train.counts([("A", "Y")])[0]).all()
    assert Asking.calls == 1
    rows.counts([("Y", "A")])  # other axes are another table
    assert Asking.calls == 2


# --- kept --------------------------------------------------------------------------------------


def test_what_ran_is_not_run_again(tmp_path, monkeypatch):
    kept = PointStore(tmp_path / "kept")
    first = list(run_rehearsal(small(seeds=1), ROWS, kept=kept, jobs=1))
    ran = []
    real = SharedRows.run
    monkeypatch.setattr(
        SharedRows, "run", lambda self, task: (ran.append(task), real(self, task))[1]
    )
    more = list(run_rehearsal(small(seeds=2), ROWS, kept=kept, jobs=1))
    assert {seed for _, _, seed in ran} == {1}
    assert plain(first) == plain(p for p in more if p.seed == 0)
    ran.clear()
    assert plain(run_rehearsal(small(seeds=2), ROWS, kept=kept, jobs=1)) == plain(more)
    assert ran == []


def test_a_name_or_an_epsilon_of_its_own_changes_no_key_and_everything_else_does(tmp_path):
    made = small()
    keys = RehearsalRequest.of(made, ROWS).keys
    other = replace(made.variants[0], name="again", budget=replace(PLAN.budget, epsilon=77.0))
    assert (
        RehearsalRequest.of(replace(made, variants=(other,)), ROWS).keys["again"] == keys["causal"]
    )
    changed = [
        replace(made.variants[0], budget=Budget(allocation="uniform")),
        replace(made.variants[0], synthesis=Synthesis(model="naive_bayes", rows=50)),
        replace(made.variants[0], task=Task(target="Y", regime="causal", weights={"A": 2.0})),
    ]
    found = {RehearsalRequest.of(replace(made, variants=(v,)), ROWS).keys[v.name] for v in changed}
    found.add(
        RehearsalRequest.of(replace(made, learner="logistic_standardised"), ROWS).keys["causal"]
    )
    other_rows = from_graph(SCHEMA, "Y", 400, DAG, strength="strong", holdout=400, seed=1)
    found.add(RehearsalRequest.of(made, other_rows).keys["causal"])
    assert len(found | {keys["causal"]}) == 6


def test_points_of_a_free_graph_do_not_serve_for_one_that_was_paid_for():
    rows = from_graph(SCHEMA, "Y", 2_000, DAG)
    prior = LearningCharge(events=(GaussianEvent(sigma=20.0),), delta=1e-9)
    paid = replace(rows, dag=replace(DAG, provenance="dp", prior=prior))
    assert len({rows.hash, paid.hash, replace(rows, dag=replace(DAG, provenance="dp")).hash}) == 3


def test_stopping_keeps_what_ran(tmp_path):
    kept = PointStore(tmp_path / "kept")
    points = run_rehearsal(small(), ROWS, kept=kept, jobs=1)
    for _ in range(3):  # one run: three shifts
        next(points)
    points.close()
    asked = RehearsalRequest.of(small(), ROWS)
    found = asked.points(kept)
    assert asked.done(found) == 1
    assert len(found) == 3


def test_half_a_line_and_half_a_run_are_passed_over(tmp_path):
    kept = PointStore(tmp_path / "kept")
    made = small(seeds=1)
    all_of_it = list(run_rehearsal(made, ROWS, kept=kept, jobs=1))
    asked = RehearsalRequest.of(made, ROWS)
    path = tmp_path / "kept" / f"{asked.keys['causal']}.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], lines[2][:20], "{}", "null", "[1]", *lines[3:]]) + "\n")
    assert len(asked.points(kept)) == len(all_of_it) - 3
    assert plain(run_rehearsal(made, ROWS, kept=kept, jobs=1)) == plain(all_of_it)


def test_the_folder_is_for_this_user_only_and_does_not_grow_for_ever(tmp_path, monkeypatch):
    from prism_core.rehearsal import points as module

    monkeypatch.setattr(module, "MOST_FILES", 2)
    kept = PointStore(tmp_path / "kept")
    point = next(run_rehearsal(small(seeds=1), ROWS, jobs=1))
    for name in ("a", "b", "c"):
        kept.add(name, [point])
    kept.prune()
    assert len(list((tmp_path / "kept").iterdir())) == 2
    assert (tmp_path / "kept").stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "kept").iterdir())


@pytest.mark.parametrize(
    "more",
    [
        {"score": float("nan")},
        {"ceiling": 1.5},
        {"shift": "sideways"},
        {"score": -0.1},
        {"metric": "luck"},
        {"metric": "r2", "score": 1.1},
        {"metric": "r2", "ceiling": -float("inf")},
    ],
)
def test_an_impossible_point_is_refused(more):
    fine = {
        "variant": "v",
        "epsilon": 1.0,
        "seed": 0,
        "shift": "none",
        "metric": "auc",
        "score": 0.5,
        "ceiling": 0.5,
        "seconds": 0.1,
    }
    RehearsalPoint(**fine)
    RehearsalPoint(**(fine | {"metric": "r2", "score": -3.0}))
    with pytest.raises(ValueError, match="a point needs"):
        RehearsalPoint(**(fine | more))


def test_scenarios_of_a_file_are_designs(tmp_path):
    path = tmp_path / "what-if.toml"
    path.write_text(
        '[[scenario]]\nname = "less noise"\n[scenario.budget]\nallocation = "uniform"\n'
    )
    (other,) = scenario_files.load(path, base=PLAN)
    assert other.synthesis == PLAN.synthesis
    assert list(RehearsalRequest.of(replace(small(), variants=(PLAN, other)), ROWS).keys) == [
        "plan",
        "less noise",
    ]
