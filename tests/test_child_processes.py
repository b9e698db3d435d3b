"""Code that lies in the folder one stands in is run by nothing that the product starts."""

from __future__ import annotations

import ast
import os
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
from importlib.metadata import packages_distributions
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dashboard import launch
from dashboard.jobs import worker
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import read_table
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.synthesis.engine import cache
from tests.support.product import nodes_by_function, sources

ROOT = Path(launch.__file__).parents[1]
_HOSTILE = "import pathlib\npathlib.Path({mark!r}).touch()\nraise ImportError('hostile')\n"


@pytest.fixture
def marks(tmp_path, monkeypatch) -> Path:
    """Stand in a folder with a hostile module of every name; gives where those that ran say so."""
    folder, ran = tmp_path / "stays", tmp_path / "ran"
    folder.mkdir()
    ran.mkdir()
    stdlib = set(sys.stdlib_module_names) - set(sys.builtin_module_names) - {"pathlib"}
    for name in {*stdlib, *packages_distributions(), "sitecustomize", "h11"}:
        if name.isidentifier():
            (folder / f"{name}.py").write_text(_HOSTILE.format(mark=str(ran / name)))
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PRISM_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    return ran


def ran(marks: Path) -> list[str]:
    return sorted(path.name for path in marks.iterdir())


def tiny() -> tuple[Schema, EncodedTable]:
    schema = Schema(
        columns=(Column(name="A", kind="boolean"), Column(name="Y", kind="boolean")),
        one_row_per_person=True,
    )
    codes = np.random.default_rng(0).integers(0, 2, (60, 2))
    return schema, EncodedTable(schema=schema, codes=codes, public=True)


def installed(name: str) -> str:
    return str(Path(sysconfig.get_path("scripts")) / name)


@pytest.mark.slow
@pytest.mark.privacy
def test_prism_and_the_processes_of_a_rehearsal_run_no_module_of_the_folder(marks):
    folder = marks.parent / "table"
    folder.mkdir()
    (folder / "schema.yaml").write_text(
        "one_row_per_person: true\ncolumns:\n  - {name: A, kind: boolean}\n"
        "  - {name: Y, kind: boolean}\n"
    )
    (folder / "dag.txt").write_text("dag { A -> Y }")
    (folder / "train.csv").write_text("A,Y\n" + "1,0\n0,1\n" * 30)
    (folder / "config.toml").write_text(
        '[table]\ntrain = "train.csv"\nschema = "schema.yaml"\ndag = "dag.txt"\n'
        '[task]\ntarget = "Y"\n[synthesis]\nmodel = "naive_bayes"\n'
    )
    done = subprocess.run(
        [
            installed("prism"),
            "rehearse",
            str(folder / "config.toml"),
            "--epsilon",
            "1",
            "--seeds",
            "20",
            "--jobs",
            "2",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert ran(marks) == []


@pytest.mark.slow
@pytest.mark.privacy
def test_the_dashboard_runs_no_module_of_the_folder(marks):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [installed("prism-dashboard"), "--no-browser", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        for _ in range(600):
            if ran(marks) or _answers(port):
                break
            time.sleep(0.1)
        assert ran(marks) == []
        assert _answers(port)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5) as found:
            return found.status == 200
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.privacy
def test_a_run_of_the_dashboard_runs_no_module_of_the_folder(marks):
    schema, table = tiny()
    plan = design(
        Brief(
            schema,
            Task(target="Y", regime="predictive"),
            Budget(),
            table.n,
            synthesis=Synthesis(model="naive_bayes"),
        )
    )
    job = worker.start(plan, table, None, seed=1)
    try:
        while job.outcome().state == "running":
            time.sleep(0.05)
        assert ran(marks) == []
        assert job.outcome().state == "done"
    finally:
        job.cancel()


@pytest.mark.privacy
def test_small_helpers_run_no_module_of_the_folder(marks):
    pd.DataFrame({"A": ["1", "0"]}).to_parquet(marks.parent / "rows.parquet")
    assert read_table(marks.parent / "rows.parquet").rows == 2
    assert cache.warm().wait() == 0
    assert ran(marks) == []


@pytest.mark.privacy
@pytest.mark.parametrize("name", ["config.toml", "secrets.toml"])
def test_settings_for_streamlit_in_the_folder_are_refused(tmp_path, monkeypatch, name):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / name).write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(launch.os, "execv", lambda *_: pytest.fail("started"))
    monkeypatch.setattr(launch, "warm", lambda: None)
    with pytest.raises(SystemExit, match=name):
        launch.main(["--no-browser"])


def test_settings_of_ones_own_are_no_reason_to_stop(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "config.toml").write_text("")
    launch.refuse_settings_of(tmp_path)


WHO_NAMES_PYTHON = {
    "prism_core/child_processes.py:python",
    "dashboard/jobs/queue.py:main",  # becomes the run
    "dashboard/launch.py:main",  # hands a command of `child_processes` to execv
    "prism_core/comparators/external/interpreter.py:python_of",  # may be another Python
    "prism_core/data/engines/servers.py:_spark",  # tells a local Spark what its workers run
}


def test_no_other_function_names_this_python():
    named = {
        place
        for place, node in nodes_by_function()
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.executable"
    }
    assert named == WHO_NAMES_PYTHON


def test_every_pool_is_made_under_the_one_rule():
    for path in sources():
        text = path.read_text(encoding="utf-8")
        names = {ast.unparse(n) for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Attribute)}
        place = str(path.relative_to(ROOT))
        pools = {"multiprocessing.get_context", "multiprocessing.Process", "multiprocessing.Pool"}
        assert not names & pools or "with spawning()" in text, place
