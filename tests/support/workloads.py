"""Random measured graphs of every shape, for comparing engines."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import strategies as st

from prism_core.data.linear_queries import Basis, LinearQuery
from prism_core.synthesis.measure import Measurement
from tests.support.exact import asked, indicator

SHAPES = (
    "tree",
    "star",
    "cycle",
    "clique",
    "disconnected",
    "single",
    "nested",
    "zeros",
    "huge",
    "tiny",
    "mixed",
)


def _pairs(shape: str, names: list[str], rng: np.random.Generator) -> list[tuple[str, ...]]:
    if shape == "star":
        return [(name, names[-1]) for name in names[:-1]]
    if shape == "cycle":
        return list(itertools.pairwise([*names, names[0]]))
    if shape == "clique":
        return list(itertools.combinations(names[:4], 2))
    if shape == "disconnected":
        half = len(names) // 2
        return [*itertools.pairwise(names[:half]), *itertools.pairwise(names[half:])]
    if shape == "single":
        return []
    if shape == "nested":
        return [tuple(names[:3]), tuple(names[1:3]), tuple(names[2:4]), (names[2], names[0])]
    return [(names[int(rng.integers(0, i))], names[i]) for i in range(1, len(names))]


def workload(shape: str, seed: int) -> tuple[dict[str, int], int, list[Measurement]]:
    """Sizes, n and noisy marginals of rows drawn from a random joint distribution."""
    rng = np.random.default_rng(seed)
    count = 1 if shape == "single" else int(rng.integers(4, 7))
    names = [f"v{i}" for i in range(count)]
    sizes = {name: int(rng.integers(2, 5)) for name in names}
    n = int(rng.integers(200, 5_000))
    spread = 0.05 if shape == "zeros" else 0.5
    joint = rng.dirichlet(np.full(int(np.prod(list(sizes.values()))), spread))
    counts = rng.multinomial(n, joint).reshape(list(sizes.values()))
    cliques = _pairs(shape, names, rng) + [(name,) for name in names if rng.random() < 0.6]
    if not cliques:
        cliques = [(names[0],)]
    found = []
    for clique in cliques:
        base = {"huge": 50.0 * n, "tiny": 0.3}.get(shape, float(rng.uniform(2.0, 20.0)))
        sigma = float(base * 10 ** rng.uniform(-3, 3)) if shape == "mixed" else base
        drop = tuple(i for i, name in enumerate(names) if name not in clique)
        kept = [name for name in names if name in clique]
        exact = np.transpose(counts.sum(axis=drop), [kept.index(name) for name in clique])
        noisy = exact + np.rint(rng.normal(0.0, sigma, exact.shape)).astype(np.int64)
        found.append(Measurement(clique=clique, values=noisy, sigma=sigma))
    return sizes, n, found


@st.composite
def graphs(draw):
    """Sizes and different measured sets of up to five columns; some sets lie within others."""
    names = [f"v{i}" for i in range(draw(st.integers(1, 5)))]
    sizes = {name: draw(st.integers(1, 3)) for name in names}
    subset = st.lists(st.sampled_from(names), min_size=1, max_size=5, unique=True)
    sets = {tuple(sorted(names)) for names in draw(st.lists(subset, min_size=1, max_size=7))}
    return sizes, sorted(sets), np.random.default_rng(draw(st.integers(0, 2**32)))


def measured(sizes, sets, rng, n):
    found = []
    joint = rng.dirichlet(np.full(math.prod(sizes.values()), 0.3))
    for clique in sets:
        sigma = float(rng.uniform(1.0, 30.0))
        exact = n * (indicator(sizes, clique) @ joint)
        values = np.rint(exact + rng.normal(0.0, sigma, exact.shape)).astype(np.int64)
        shape = [sizes[name] for name in clique]
        found.append(Measurement(clique=clique, values=values.reshape(shape), sigma=sigma))
    return found


def some_basis(size, rng):
    kinds = ["levels", *(["moments", "value", "thresholds"] if size > 2 else [])]
    kind = str(rng.choice(kinds))
    valueless = int(rng.integers(1, size - 1)) if size > 3 and rng.random() < 0.3 else 0
    starts = (0, (size - valueless) // 2) if kind == "thresholds" else ()
    return Basis(kind=kind, size=size, valueless=valueless, starts=starts)


def some_query(clique, sizes, rng):
    bases = tuple(some_basis(sizes[name], rng) for name in clique)
    if all(basis.kind == "levels" for basis in bases):
        return None
    return LinearQuery(clique=clique, bases=bases)


def observed(clique, query, joint, sizes, n, rng):
    """Noisy answers on rows drawn from the joint; large noise as well as small."""
    blank = Measurement(
        clique=clique,
        sigma=1.0,
        query=query,
        values=np.zeros(query.shape if query else [sizes[c] for c in clique], dtype=np.int64),
    )
    grid = query.grid if query else 1
    sigma = float(rng.uniform(2.0, 40.0)) * grid
    true = n * grid * (asked(sizes, blank) @ joint)
    noisy = np.rint(true + rng.normal(0.0, sigma, true.shape)).astype(np.int64)
    return Measurement(
        clique=clique, values=noisy.reshape(blank.values.shape), sigma=sigma, query=query
    )


@st.composite
def workloads(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    names = [f"v{i}" for i in range(draw(st.integers(1, 4)))]
    sizes = {name: draw(st.integers(2, 6)) for name in names}
    n = draw(st.integers(100, 5_000))
    joint = rng.dirichlet(np.full(int(np.prod(list(sizes.values()))), 0.4))
    subset = st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)
    cliques = [tuple(sorted(some)) for some in draw(st.lists(subset, min_size=1, max_size=6))]
    found = []
    for clique in cliques:
        query = some_query(clique, sizes, rng)
        found.append(observed(clique, query, joint, sizes, n, rng))
    return sizes, n, found
