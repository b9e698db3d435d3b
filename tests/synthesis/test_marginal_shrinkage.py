"""Marginals drawn to what the others say: what is taken apart, hidden, moved and left alone."""

from __future__ import annotations

import numpy as np
import pytest

from prism_core.data.linear_queries import linear_query
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.explain.error_bounds import bounds
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.shrinkage import may_move_pairs
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.synthesis import prior_fit, release
from prism_core.synthesis.engine import variable_elimination
from prism_core.synthesis.measure import Measurement
from prism_core.synthesis.pgm import fit_pgm
from prism_core.synthesis.prior_fit import (
    Sketches,
    fit_with_prior,
    independent_model,
    split_relations,
)
from prism_core.synthesis.release import fit_model

N = 4_000
SIZES = {"a": 6, "b": 6, "c": 3, "y": 2, "z": 2}
SCHEMA = Schema(
    columns=tuple(
        Column(name=name, kind="categorical", levels=tuple(f"{name}{i}" for i in range(size)))
        for name, size in SIZES.items()
    ),
    one_row_per_person=True,
)


def joint() -> np.ndarray:
    """Counts of 4,000: b is a, but for one row in twenty; y and z depend on a; c on nothing."""
    rate = np.array([0.05, 0.15, 0.3, 0.5, 0.7, 0.9])
    same = 0.95 * np.eye(6) + 0.05 / 6
    of_y = np.stack([1 - rate, rate], axis=1)
    of_z = np.stack([rate, 1 - rate], axis=1)
    rows = np.array([0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
    return N * np.einsum(
        "a,ab,c,ay,az->abcyz", rows, same / same.sum(1), [0.5, 0.3, 0.2], of_y, of_z
    )


def exact(clique: tuple[str, ...]) -> np.ndarray:
    names = list(SIZES)
    return np.einsum(joint(), list(range(5)), [names.index(name) for name in clique])


def noisy(clique: tuple[str, ...], sigma: float, rng: np.random.Generator) -> Measurement:
    table = exact(clique)
    return Measurement(
        clique=clique,
        sigma=sigma,
        values=np.rint(table + rng.normal(0.0, sigma, table.shape)).astype(np.int64),
    )


def plan_for(**synthesis):
    task = Task(target="y", regime="predictive", k=4, three_way="none", max_joint_cells=0)
    return design(Brief(SCHEMA, task, Budget(epsilon=1.0), N, synthesis=Synthesis(**synthesis)))


PAIRS = [("a", "y"), ("b", "y"), ("c", "y"), ("y", "z")]


def measured(
    rng: np.random.Generator, *, pairs: float, ties: float, of=(("a", "b"), ("a", "z"))
) -> list[Measurement]:
    return [noisy(clique, pairs, rng) for clique in PAIRS] + [noisy(t, ties, rng) for t in of]


# --- what is taken apart ---------------------------------------------------------------------


def test_counts_of_several_features_are_apart_where_something_else_counts_their_columns():
    rng = np.random.default_rng(0)
    query = linear_query(SCHEMA, ("a", "c"), ("levels", "levels"))
    product = Measurement(
        clique=("a", "c"), values=rng.integers(0, 9, query.shape), sigma=3.0, query=query
    )
    single = noisy(("z",), 5.0, rng)
    star = [noisy(clique, 5.0, rng) for clique in PAIRS[:3]]
    ties = [noisy(clique, 5.0, rng) for clique in (("a", "b"), ("a", "c", "y"), ("c", "z"))]
    others, relations = split_relations([*ties, *star, single, product], ("y",))
    assert [m.clique for m in relations] == [m.clique for m in ties]
    assert [m.clique for m in others] == [*PAIRS[:3], ("z",), ("a", "c")]
    others, relations = split_relations([*ties, *star], ("y",))  # nothing else counts z
    assert [m.clique for m in relations] == [("a", "b"), ("a", "c", "y")]
    assert ("c", "z") in [m.clique for m in others]
    others, relations = split_relations([*star, noisy(("y", "z"), 5.0, rng)], ("y", "z"))
    assert not relations  # two targets, and no feature beside


def test_what_is_expected_of_a_pair_knows_no_more_of_it_than_the_totals():
    """Other noise on the pair, the same totals: the same is expected of it, bit by bit."""
    rng = np.random.default_rng(1)
    plan = plan_for()
    first = measured(rng, pairs=20.0, ties=30.0, of=(("a", "b"), ("a", "b", "y")))
    shifted = first[1].values + np.array([1, -1]) * rng.integers(-200, 200, (6, 1))
    second = [first[0], Measurement(clique=("b", "y"), values=shifted, sigma=20.0), *first[2:]]
    fits = prior_fit._Fits(plan, plan.n)
    found = [
        prior_fit._expected(fits, *split_relations(ms, ("y",)), lambda _: None)
        for ms in (first, second)
    ]
    np.testing.assert_array_equal(found[0]["b", "y"], found[1]["b", "y"])
    assert (found[0]["a", "y"] != found[1]["a", "y"]).any()
    assert set(found[0]) == {("a", "y"), ("b", "y")}  # nothing is said of c; z has two levels


def test_a_marginal_with_the_target_says_nothing_of_other_features():
    """Y stands in it, and in every pair: only pairs of its features get a fit of their own."""
    rng = np.random.default_rng(8)
    ms = measured(rng, pairs=20.0, ties=30.0, of=(("a", "c", "y"),))
    found = prior_fit._expected(
        prior_fit._Fits(plan_for(), plan_for().n), *split_relations(ms, ("y",)), lambda _: None
    )
    assert set(found) == {("a", "y")}  # b has six levels, and nothing is said of it


def test_counts_are_pulled_also_where_a_linear_query_asked_for_their_columns_before():
    """A pull so large that nothing moves, with the set (a, c) known to both."""
    rng = np.random.default_rng(9)
    query = linear_query(SCHEMA, ("a", "c"), ("levels", "levels"))
    product = Measurement(
        clique=("a", "c"), values=np.zeros(query.shape, dtype=np.int64), sigma=1e9, query=query
    )
    star = [noisy(clique, 5.0, rng) for clique in PAIRS[:3]]
    table = Measurement(clique=("a", "c"), values=np.diag([N, 0, 0, 0, 0, 0])[:, :3], sigma=20.0)
    base = fit_pgm(SIZES, "y", N, [*star, product], engine="fast")
    wish = {"prior": base, "engine": "fast", "moves": [("c", "a")]}
    free = fit_pgm(SIZES, "y", N, [*star, product, table], pull=1e-3, **wish)
    held = fit_pgm(SIZES, "y", N, [*star, product, table], pull=1e9, **wish)
    before = np.asarray(base.marginal(("a", "c")))
    assert np.abs(np.asarray(free.marginal(("a", "c"))) - before).sum() > 0.05 * N
    assert np.abs(np.asarray(held.marginal(("a", "c"))) - before).sum() < 0.001 * N


# --- what it brings --------------------------------------------------------------------------


def test_without_noise_the_marginals_are_those_measured():
    plan = plan_for()
    ms = [
        Measurement(clique=clique, values=np.rint(exact(clique)).astype(np.int64), sigma=1e-2)
        for clique in [*PAIRS, ("a", "b")]
    ]
    model = fit_with_prior(plan, ms)
    for m in ms:
        assert np.abs(model.marginal(m.clique) - m.values).max() < 1.0


def test_a_pair_is_nearer_to_the_truth_where_another_says_the_same(monkeypatch):
    """Squared error of the rates of b over 30 draws, against pairs drawn each by itself."""
    rng = np.random.default_rng(2)
    plan = plan_for()
    truth = exact(("b", "y"))[:, 1] / exact(("b", "y")).sum(axis=1)
    draws = [measured(rng, pairs=30.0, ties=10.0, of=(("a", "b"),)) for _ in range(30)]

    def error():
        tables = [np.asarray(fit_with_prior(plan, ms).marginal(("b", "y"))) for ms in draws]
        rates = np.array([table[:, 1] / table.sum(axis=1) for table in tables])
        return float(((rates - truth) ** 2).mean())

    together = error()
    monkeypatch.setattr(prior_fit, "MOST_CELLS", 0)  # nothing is expected of any pair
    alone = error()
    assert together < 0.87 * alone


def test_noise_on_features_that_have_nothing_to_do_with_each_other_is_not_followed():
    """Distance of the model's (a, c) to the truth, against a fit that follows what it can."""
    rng = np.random.default_rng(3)
    plan = plan_for()
    near, far = [], []
    for _ in range(20):
        ms = measured(rng, pairs=5.0, ties=40.0, of=(("a", "c"),))
        plain = fit_pgm(plan.sizes, "y", N, ms, engine="fast")
        for model, found in ((fit_with_prior(plan, ms), near), (plain, far)):
            found.append(np.abs(np.asarray(model.marginal(("a", "c"))) - exact(("a", "c"))).sum())
    assert np.mean(near) < 0.85 * np.mean(far)


def test_tables_are_held_near_columns_that_stand_alone(monkeypatch):
    """With a weight beyond all measure nothing but the totals is left; with none they are free."""
    rng = np.random.default_rng(11)
    plan, ms = plan_for(), [noisy(clique, 5.0, rng) for clique in PAIRS]
    apart = independent_model(plan.sizes, ("y",), N, ms)
    found = {}
    for held in (1e-6, 1e9):
        monkeypatch.setattr(prior_fit, "BASE_PULL", held)
        found[held] = np.asarray(fit_with_prior(plan, ms).marginal(("a", "y")))
    alone = np.outer(apart.marginal(("a",)), apart.marginal(("y",))) / N
    assert np.abs(found[1e9] - alone).max() < 0.5
    assert np.abs(found[1e-6] - ms[0].values).max() < 25.0
    assert np.abs(found[1e-6] - alone).sum() > 0.2 * N


def test_a_class_that_noise_has_taken_from_a_rare_level_can_come_back():
    plan = plan_for()
    table = np.array([[900, 100], [800, 200], [700, 300], [500, 300], [140, 40], [90, -80]])
    ms = [Measurement(clique=("a", "y"), values=table, sigma=20.0)]
    ms += [noisy(clique, 5.0, np.random.default_rng(12)) for clique in PAIRS[1:]]
    plain = np.asarray(fit_pgm(plan.sizes, "y", N, ms, engine="fast").marginal(("a", "y")))
    held = np.asarray(fit_with_prior(plan, ms).marginal(("a", "y")))
    assert plain[5, 1] < 1e-3
    assert held[5, 1] > 0.1


@pytest.mark.parametrize("kind", ["numeric target", "linear query", "few levels"])
def test_nothing_is_held_where_the_scale_or_the_bound_would_be_lost(monkeypatch, kind):
    number = {"kind": "numeric", "lower": 0, "upper": 4, "edges": (1, 2, 3), "decimals": 0}
    few = {"kind": "categorical", "levels": ("p", "q")}
    schema = Schema(
        columns=(
            Column(name="a", **(few if kind == "few levels" else number)),
            Column(name="y", **(number if kind == "numeric target" else few)),
        ),
        one_row_per_person=True,
    )
    task = Task(target="y", regime="predictive", k=1, three_way="none", max_joint_cells=0)
    plan = design(Brief(schema, task, Budget(epsilon=1.0), N))
    ms = [
        Measurement(clique=clique, values=np.full([plan.sizes[x] for x in clique], 9), sigma=9.0)
        for clique in (("a",), ("a", "y"))
    ]
    if kind == "linear query":
        query = linear_query(schema, ("a", "y"), ("value", "levels"))
        wanted = Measurement(
            clique=("a", "y"), values=np.full(query.shape, 9), sigma=9.0, query=query
        )
        ms[1:] = [wanted, Measurement(clique=("y",), values=np.full(2, 9), sigma=9.0)]
    monkeypatch.setattr(prior_fit, "independent_model", None)  # it must not be called
    fit_with_prior(plan, ms)


# --- limits ----------------------------------------------------------------------------------


def test_a_pair_whose_table_is_too_large_on_the_way_is_drawn_by_itself(monkeypatch):
    rng = np.random.default_rng(4)
    plan = plan_for()
    ms = measured(rng, pairs=20.0, ties=10.0)
    fits = prior_fit._Fits(plan, plan.n)
    apart = split_relations(ms, ("y",))
    assert ("b", "y") in prior_fit._expected(fits, *apart, lambda _: None)
    monkeypatch.setattr(variable_elimination, "MAX_CELLS", 1)  # b is tied to y by way of a alone
    assert ("b", "y") not in prior_fit._expected(fits, *apart, lambda _: None)
    fit_with_prior(plan, ms)


def test_progress_rises_to_one_and_may_stop():
    plan = plan_for()
    told: list[float] = []
    fit_with_prior(plan, measured(np.random.default_rng(5), pairs=20.0, ties=10.0), told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0

    def stop(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_with_prior(plan, measured(np.random.default_rng(5), pairs=20.0, ties=10.0), stop)


@pytest.mark.parametrize("synthesis", [{"pairs": "measured"}, {"engine": "mbi"}])
def test_marginals_as_measured_and_the_reference_engine_are_fitted_as_before(
    monkeypatch, synthesis
):
    def no(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(release, "fit_with_prior", no)
    seen = []

    def fit(sizes, target, n, measurements, **wanted):
        seen.append((measurements, wanted["engine"]))

    monkeypatch.setattr(release, "fit_pgm", fit)
    ms = measured(np.random.default_rng(6), pairs=20.0, ties=10.0)
    fit_model(plan_for(**synthesis), ms)
    ((used, engine),) = seen
    assert engine == synthesis.get("engine", "auto")
    as_measured = all(one is other for one, other in zip(used, ms, strict=True))
    assert as_measured == ("pairs" in synthesis)


# --- between rounds --------------------------------------------------------------------------


def test_a_sketch_goes_on_from_the_last_and_keeps_what_it_is_near_to(monkeypatch):
    plan = plan_for()
    ms = measured(np.random.default_rng(7), pairs=10.0, ties=15.0)
    fits: list[tuple[float, bool]] = []

    def counted(*args, pull=0.0, start=None, **more):
        if pull:  # not the fit of independent columns, which the sketches are pulled to
            fits.append((pull, start is not None))
        return fit_pgm(*args, pull=pull, start=start, **more)

    monkeypatch.setattr(prior_fit, "fit_pgm", counted)
    sketches = Sketches(plan)
    models = [sketches.of(ms[: len(PAIRS) + count]) for count in range(3)]
    assert fits == [(prior_fit.BASE_PULL, False), (prior_fit.PULL, False), (prior_fit.PULL, True)]
    fresh = Sketches(plan).of(ms)
    for clique in (("a", "b"), ("a", "z"), ("b", "z")):
        apart = np.abs(np.asarray(models[2].marginal(clique)) - fresh.marginal(clique))
        assert apart.sum() < 0.02 * N
    moved = np.abs(np.asarray(models[0].marginal(("a", "b"))) - models[1].marginal(("a", "b")))
    assert moved.sum() > 0.2 * N


# --- what is claimed -------------------------------------------------------------------------


def test_no_bound_is_claimed_where_counts_of_features_may_move_a_pair():
    """Features of too few levels for their pairs to be drawn, but tied to each other."""
    few = Schema(
        columns=tuple(
            Column(name=name, kind="categorical", levels=("p", "q")) for name in ("a", "b", "y")
        ),
        one_row_per_person=True,
    )
    for most, together in ((0, True), (64, True)):
        task = Task(target="y", regime="predictive", k=2, three_way="none", max_joint_cells=most)
        plan = design(Brief(few, task, Budget(epsilon=5.0), 10**7))
        assert may_move_pairs(plan) == together
        plain = design(
            Brief(few, task, Budget(epsilon=5.0), 10**7, synthesis=Synthesis(pairs="measured"))
        )
        assert not may_move_pairs(plain)
        found = bounds(plan, p_min=0.3).delta_s
        assert (found.raw is None) == (most == 0)  # a joint's own bound counts what is left over
        assert bounds(plain, p_min=0.3).delta_s.raw is not None
