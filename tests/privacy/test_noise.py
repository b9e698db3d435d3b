"""Sources of noise: integers, refusals, and a scan of the sources for any other noise."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from prism_core.errors import PrivacyError
from prism_core.privacy.noise import SecureNoise, SeededNoise, _confirm

pytestmark = pytest.mark.privacy

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*ROOT.glob("prism_core/**/*.py"), *ROOT.glob("dashboard/**/*.py")])
CONTINUOUS = {
    "normal",
    "standard_normal",
    "laplace",
    "gumbel",
    "multivariate_normal",
    "logistic",
    "rvs",
}
NOT_GLOBAL = {"Generator", "default_rng", "SeedSequence", "BitGenerator"}


@pytest.mark.parametrize("source", [SecureNoise(), SeededNoise(np.random.default_rng(0))])
@pytest.mark.parametrize("shape", [(1,), (3, 2), (2, 1, 4)])
def test_noisy_counts_are_integers_of_the_same_shape(source, shape):
    """T-INT."""
    counts = np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
    noisy = source.add_discrete_gaussian(counts, 2.5)
    assert noisy.dtype == np.int64
    assert noisy.shape == shape


def test_secure_noise_is_not_cut_off_at_32_bits():
    noisy = SecureNoise().add_discrete_gaussian(np.full(20, 2**40, dtype=np.int64), 1e11)
    assert len(set(noisy.tolist())) == 20
    assert np.abs(noisy - 2**40).max() > 2**32


def test_tiny_noise_keeps_the_counts_in_place():
    counts = np.array([[5, 0], [2, 9]])
    for source in (SecureNoise(), SeededNoise(np.random.default_rng(0))):
        np.testing.assert_array_equal(source.add_discrete_gaussian(counts, 0.05), counts)


def test_only_the_secure_source_says_it_is_secure():
    assert SecureNoise().secure is True
    assert SeededNoise(np.random.default_rng(0)).secure is False


def test_seeded_noise_repeats_and_advances():
    draws = [
        SeededNoise(np.random.default_rng(3)).add_discrete_gaussian(np.zeros(9, int), 4.0)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*draws)
    source = SeededNoise(np.random.default_rng(3))
    first, second = (source.add_discrete_gaussian(np.zeros(9, int), 4.0) for _ in range(2))
    assert (first != second).any()


def test_a_library_that_states_a_larger_loss_is_refused():
    _confirm(1.0, 1.0)
    for loss in (1.001, float("nan"), float("inf")):
        with pytest.raises(PrivacyError, match="nothing was measured"):
            _confirm(loss, 1.0)


def _offences(tree: ast.AST) -> list[str]:
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            if node.attr in CONTINUOUS:
                found.append(ast.unparse(node))
            if owner in {"np.random", "numpy.random"} and node.attr not in NOT_GLOBAL:
                found.append(ast.unparse(node))
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rsplit(".", 1)[-1]
            if name == "default_rng" and not node.args and not node.keywords:
                found.append(ast.unparse(node))
        if isinstance(node, ast.Import) and any(a.name == "random" for a in node.names):
            found.append("import random")
        if isinstance(node, ast.ImportFrom) and node.module in {"random", "numpy.random"}:
            found.append(f"from {node.module}")
    return found


def _release_path(path: Path) -> bool:
    """Rooms that make public rows of their own are not on the way of private ones."""
    return not {"samples", "reproduction", "bench"} & set(path.parent.relative_to(ROOT).parts)


ELSEWHERE = {
    # Runs in the Python of another package, on public rows only, and gives that package its seed.
    "prism_core/comparators/external/runner.py": ["numpy.random.seed"],
    # Simulated picks of a forecast, with a seed of its own; no row and no noise is near.
    "prism_core/explain/run_time.py": ["import random"],
}


def test_no_continuous_or_hidden_noise_in_the_sources():
    """T-INT: no normal, laplace or gumbel of numpy, no global generator, no unseeded one."""
    assert len(SOURCES) > 30
    found = {}
    for path in SOURCES:
        offences = _offences(ast.parse(path.read_text(encoding="utf-8")))
        if not _release_path(path):
            offences = [text for text in offences if text.rsplit(".", 1)[-1] not in CONTINUOUS]
        if offences:
            found[str(path.relative_to(ROOT))] = offences
    assert found == ELSEWHERE


@pytest.mark.parametrize(
    "text",
    [
        "rng.normal(0, 1)",
        "np.random.rand(3)",
        "np.random.seed(1)",
        "np.random.default_rng()",
        "default_rng()",
        "import random",
        "from numpy.random import laplace",
        "rng.laplace(0, 1)",
    ],
)
def test_the_scan_sees_what_it_looks_for(text):
    assert _offences(ast.parse(text))
