"""Random measured graphs of every shape, for comparing engines."""

from __future__ import annotations

import itertools

import numpy as np

from prism_core.synthesis.measure import Measurement

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
