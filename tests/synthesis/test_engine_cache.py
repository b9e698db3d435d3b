"""Compiled kernels find a folder everywhere, and nothing heavy comes with the package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from prism_core.synthesis.engine import cache

ROOT = Path(__file__).parents[2]


def python(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )
    return done.stdout.strip()


@pytest.fixture
def without_numba(monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delitem(sys.modules, "numba", raising=False)


def test_a_folder_that_can_be_written_is_left_to_numba(without_numba):
    cache.prepare()
    assert "NUMBA_CACHE_DIR" not in os.environ


def test_without_one_a_private_folder_serves(without_numba, monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "_writable", lambda folder: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    cache.prepare()
    made = Path(os.environ["NUMBA_CACHE_DIR"])
    assert made.parent == tmp_path
    assert made.stat().st_mode & 0o777 == 0o700


def test_a_chosen_folder_is_kept(without_numba, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "elsewhere")
    cache.prepare()
    assert os.environ["NUMBA_CACHE_DIR"] == "elsewhere"


def test_a_folder_under_a_file_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    assert cache._writable(tmp_path / "new")
    assert not cache._writable(tmp_path / "file" / "new")


def test_the_package_alone_brings_nothing_heavy():
    heavy = "{'numpy', 'pandas', 'networkx', 'scipy', 'sklearn', 'jax', 'mbi', 'numba', 'plotly'}"
    found = python(f"import sys, prism_core; print(sorted({heavy} & set(sys.modules)))")
    assert found == "[]"


@pytest.mark.long
def test_planning_and_a_fit_of_ours_bring_no_mbi():
    found = python(
        "import sys, numpy as np\n"
        "from prism_core.synthesis.measure import Measurement\n"
        "from prism_core.synthesis.pgm import fit_pgm\n"
        "m = [Measurement(clique=c, values=np.ones(s, dtype=int), sigma=1.0)\n"
        "     for c, s in ((('a', 'y'), (2, 2)), (('b', 'y'), (3, 2)))]\n"
        "print(fit_pgm({'a': 2, 'b': 3, 'y': 2}, 'y', 5, m).engine)\n"
        "print(sorted({'jax', 'mbi', 'sklearn', 'plotly'} & set(sys.modules)))"
    )
    assert found.splitlines() == ["fast", "[]"]
