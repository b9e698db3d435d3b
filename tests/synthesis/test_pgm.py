"""Private-PGM, by both engines, against the conditions that define its optimum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from prism_core.errors import CancelledError, PlanError, PrivacyError
from prism_core.planning.tree.junction_tree import junction_tree
from prism_core.synthesis import pgm
from prism_core.synthesis.measure import Measurement
from prism_core.synthesis.pgm import Pgm, fit_pgm
from prism_core.synthesis.reference.mbi_fit import _lipschitz

SIZES = {"a": 2, "b": 3, "y": 2, "c": 2, "d": 2}
N = 400
# A star on y, and a forest a - c - b that closes a cycle with it; d hangs on c.
CLIQUES = [("a", "y"), ("b", "y"), ("c",), ("d",), ("a", "c"), ("b", "c"), ("c", "d")]
OUTSIDE = ("c", "d")


def measured() -> list[Measurement]:
    rng = np.random.default_rng(8)
    joint = rng.dirichlet(np.full(48, 0.7)).reshape(list(SIZES.values())) * N
    names = tuple(SIZES)
    found = []
    for clique in CLIQUES:
        drop = tuple(i for i, name in enumerate(names) if name not in clique)
        noisy = np.round(joint.sum(axis=drop) + rng.normal(0, 8, [SIZES[n] for n in clique]))
        found.append(Measurement(clique=clique, values=noisy.astype(np.int64), sigma=8.0))
    return found


MEASURED = measured()


def project(joint: np.ndarray, clique: tuple[str, ...]) -> np.ndarray:
    names = tuple(SIZES)
    kept = [name for name in names if name in clique]
    drop = tuple(i for i, name in enumerate(names) if name not in clique)
    return np.transpose(joint.sum(axis=drop), [kept.index(name) for name in clique])


@pytest.fixture(scope="module", params=["fast", pytest.param("mbi", marks=pytest.mark.slow)])
def fitted(request) -> Pgm:
    return fit_pgm(SIZES, "y", N, MEASURED, iterations=5_000, engine=request.param)


@pytest.fixture(scope="module")
def joint(fitted) -> np.ndarray:
    """The model's distribution over all columns, from its cliques and separators."""
    names = tuple(SIZES)
    log = np.zeros(list(SIZES.values()))
    for clique, separator in zip(fitted.tree.cliques, fitted.tree.separators, strict=True):
        for part, sign in ((clique, 1.0), (separator, -1.0)):
            shape = [SIZES[name] if name in part else 1 for name in names]
            log += sign * np.log(fitted.marginal(part) / N).reshape(shape)
    return np.exp(log) * N


def test_the_fit_is_the_optimum_and_its_loss_is_reported(fitted, joint):
    """Frank-Wolfe gap: bounds how far the loss is from the least one over all distributions."""
    assert joint.sum() == pytest.approx(N, rel=1e-6)
    loss, gradient = 0.0, np.zeros_like(joint)
    for m in MEASURED:
        residual = (project(joint, m.clique) - m.values) / m.sigma
        loss += 0.5 * float((residual**2).sum())
        shape = [SIZES[name] if name in m.clique else 1 for name in SIZES]
        gradient += (residual / m.sigma).reshape(shape)
    assert fitted.loss == pytest.approx(loss, rel=1e-4)
    gap = float((gradient * joint).sum() - gradient.min() * N)
    assert gap < 0.02 * loss
    # Maximum entropy: log P is a sum of functions of measured cliques and nothing else.
    cells = list(itertools.product(*(range(size) for size in SIZES.values())))
    columns = []
    for clique in CLIQUES:
        at = [list(SIZES).index(name) for name in clique]
        for state in itertools.product(*(range(SIZES[name]) for name in clique)):
            columns.append([float(tuple(cell[i] for i in at) == state) for cell in cells])
    basis = np.array(columns).T
    log = np.log(joint.ravel())
    rest = log - basis @ np.linalg.lstsq(basis, log, rcond=None)[0]
    assert np.abs(rest).max() < 1e-5


@pytest.mark.privacy
def test_regime_guard_and_marginals_of_the_fitted_model(fitted, joint):
    """I(Y; X_outside | X_S) is 0 to solver precision, though a fill edge may join Y and c."""
    for outside in OUTSIDE:
        table = project(joint, ("a", "b", "y", outside)) / N
        given = table.sum(axis=(2, 3), keepdims=True)
        product = table.sum(axis=3, keepdims=True) * table.sum(axis=2, keepdims=True) / given
        information = float((table * np.log(table / product)).sum())
        assert abs(information) < 1e-9
    # ... while Y and c are dependent through S, so the zero is not that of a flat model.
    pair = project(joint, ("y", "c")) / N
    assert np.abs(pair - np.outer(pair.sum(axis=1), pair.sum(axis=0))).max() > 1e-3
    covered = [
        clique
        for size in (1, 2, 3)
        for clique in itertools.permutations(SIZES, size)
        if any(set(clique) <= set(other) for other in fitted.tree.cliques)
    ]
    for clique in [*covered, ("d", "a")]:  # the last is in no clique
        np.testing.assert_allclose(fitted.marginal(clique), project(joint, clique), atol=1e-3 * N)
    assert ("a", "d") not in covered
    assert len(covered) > 20
    codes = fitted.sample(500, np.random.default_rng(0))
    assert codes.shape == (500, 5)
    assert fitted.sample(0, np.random.default_rng(0)).shape == (0, 5)


@pytest.mark.parametrize("engine", ["fast", pytest.param("mbi", marks=pytest.mark.slow)])
def test_a_cancelled_fit_stops(engine):
    shares = []

    def stop(share: float) -> None:
        shares.append(share)
        raise CancelledError("stop")

    with pytest.raises(CancelledError):
        fit_pgm(
            {"a": 2, "y": 2},
            "y",
            10,
            [
                Measurement(clique=("a", "y"), values=np.array([[4, 1], [2, 3]]), sigma=1.0),
                Measurement(clique=("y",), values=np.array([9, 3]), sigma=1.0),
            ],
            progress=stop,
            engine=engine,
        )
    assert len(shares) == 1
    assert 0.0 <= shares[0] <= 1.0


def test_covered_marginals_need_no_engine():
    """From the clique tables alone, in any order; clipped tables stay counts."""
    rng = np.random.default_rng(0)
    cube = rng.dirichlet(np.ones(12)).reshape(2, 3, 2) * 50
    model = Pgm(
        sizes={"a": 2, "b": 3, "y": 2},
        n=50,
        tree=junction_tree((("a", "b", "y"),)),
        tables=(cube,),
        loss=0.0,
    )
    np.testing.assert_allclose(model.marginal(("y", "a")), cube.sum(axis=1).T)
    np.testing.assert_allclose(model.marginal(("b",)), cube.sum(axis=(0, 2)))
    np.testing.assert_allclose(model.marginal(("y", "b", "a")), cube.transpose(2, 1, 0))


def test_the_step_size_bounds_the_curvature():
    """The largest eigenvalue of each clique's block of the Hessian, by linear algebra."""
    cliques = [("a", "b", "y"), ("c", "d")]
    mine = [m for m in MEASURED if set(m.clique) <= {"a", "b", "y"} or m.clique == ("c", "d")]
    bound = _lipschitz(SIZES, cliques, mine)
    worst = 0.0
    for home in cliques:
        cells = list(itertools.product(*(range(SIZES[name]) for name in home)))
        hessian = np.zeros((len(cells), len(cells)))
        for m in mine:
            if set(m.clique) <= set(home):
                at = [home.index(name) for name in m.clique]
                keys = [tuple(cell[i] for i in at) for cell in cells]
                hessian += np.array([[float(p == q) for q in keys] for p in keys]) / m.sigma**2
        worst = max(worst, float(np.linalg.eigvalsh(hessian).max()))
    assert worst <= bound * (1 + 1e-9)
    assert bound <= 3 * worst


@pytest.mark.slow
def test_the_model_can_be_handed_to_mbi():
    """mbi's own inference from our potentials gives our marginals, and its sampler takes it."""
    made = fit_pgm(SIZES, "y", N, MEASURED, engine="fast")
    field = made.markov_random_field()
    for clique in [("a", "y"), ("c",), ("a", "b", "y", "d")]:
        theirs = np.asarray(field.project(clique).values)
        np.testing.assert_allclose(made.marginal(clique), theirs, atol=1e-6 * N)
    again = type(field)(potentials=field.potentials, marginals=field.marginals, total=field.total)
    assert len(again.synthetic_data(50).to_dict()["a"]) == 50


def test_mbi_fits_only_where_it_is_asked_for(monkeypatch):
    called = []

    def fit_mbi(*arguments, **options):
        called.append("mbi")
        raise CancelledError("stop")

    monkeypatch.setattr(pgm, "fit_mbi", fit_mbi)
    assert fit_pgm(SIZES, "y", N, MEASURED).engine == "fast"
    assert fit_pgm(SIZES, "y", N, MEASURED, engine="fast").engine == "fast"
    assert called == []
    with pytest.raises(CancelledError):
        fit_pgm(SIZES, "y", N, MEASURED, engine="mbi")
    assert called == ["mbi"]


def test_what_cannot_be_fitted_is_refused_before_the_fit(monkeypatch):
    good = MEASURED[0]
    for change, error in [
        ({"sigma": float("nan")}, PrivacyError),
        ({"sigma": 0.0}, PrivacyError),
        ({"values": np.full((2, 2), np.nan)}, PrivacyError),
        ({"values": np.full((2, 2), np.inf)}, PrivacyError),
        ({"values": np.zeros((2, 3), dtype=np.int64)}, PlanError),
    ]:
        bad = Measurement(clique=good.clique, values=good.values, sigma=good.sigma)
        for name, value in change.items():
            object.__setattr__(bad, name, value)
        for engine in ("auto", "fast", "mbi"):
            with pytest.raises(error):
                fit_pgm(SIZES, "y", N, [*MEASURED, bad], engine=engine)
    with pytest.raises(PlanError, match="engine must be one of"):
        fit_pgm(SIZES, "y", N, MEASURED, engine="slow")  # type: ignore[arg-type]
    with pytest.raises(PlanError, match="n must be"):
        fit_pgm(SIZES, "y", 0, MEASURED)


def test_a_marginal_that_would_not_fit_in_memory_is_refused(monkeypatch):
    made = fit_pgm(SIZES, "y", N, MEASURED)
    monkeypatch.setattr("prism_core.synthesis.engine.variable_elimination.MAX_CELLS", 7)
    with pytest.raises(PlanError, match="more than 7 cells"):
        made.marginal(("a", "b", "d"))
