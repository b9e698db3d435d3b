"""The script in a bundle, in a process of its own that has the package and no network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import prism_core
from prism_core.bundle import bundle_files
from prism_core.bundle.reader import read_bundle
from prism_core.bundle.write import refit_script
from prism_core.data.tables.spreadsheet import read_csv
from prism_core.planning.wishes.task import Synthesis
from prism_core.privacy.ledger import WORKSPACE_VARIABLE
from prism_core.synthesis.release import fit_model
from tests.support.bundles import TASKS, charged, rehearsed, written

_OFFLINE = """
import runpy, socket, sys
def closed(*_, **__):
    raise OSError("no network here")
socket.socket.connect = closed
socket.create_connection = closed
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run(folder: Path, tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`python refit.py` with an empty home, no environment but the package, and no network."""
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-c", _OFFLINE, str(folder / bundle_files.REFIT), *arguments],
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
        env={
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            WORKSPACE_VARIABLE: str(home / "none"),
            "PYTHONPATH": str(Path(prism_core.__file__).parents[1]),
        },
    )


def test_a_rehearsal_comes_out_to_the_byte(small, tmp_path):
    folder = written(rehearsed(*small), tmp_path / "out")
    (folder / bundle_files.LOCAL).unlink()
    done = run(folder, tmp_path, "--out", str(tmp_path / "again.csv"))
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "again.csv").read_bytes() == (folder / bundle_files.SYNTHETIC).read_bytes()
    assert not (tmp_path / "home" / "none").exists()  # no ledger, so nothing spent


@pytest.mark.privacy
def test_a_release_is_fitted_again_from_its_noisy_counts(small, tmp_path):
    made = charged(*small, tmp_path / "workspace", TASKS["predictive"], Synthesis(rows=120))
    folder = written(made, tmp_path / "out")
    bundle = read_bundle(folder)
    again = fit_model(bundle.stages().final, bundle.measurements)
    for query in made.plan.queries:
        gap = abs(again.marginal(query.clique) - made.model.marginal(query.clique)).max()
        assert gap <= 1e-9 * made.plan.n
    done = run(folder, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "120 rows drawn again: the same" in done.stdout
    assert not (tmp_path / "home" / "none").exists()


def test_the_script_draws_other_rows_and_says_when_they_differ(
    small, tmp_path, monkeypatch, capsys
):
    folder = written(rehearsed(*small), tmp_path / "out")

    def here(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["refit.py", "--dir", str(folder), *arguments])
        return refit_script.main()

    more = tmp_path / "more.csv"
    assert here("--rows", "7", "--seed", "3", "--out", str(more)) == 0
    assert read_csv(more).rows == 7
    assert here() == 0
    path = folder / bundle_files.SYNTHETIC
    path.write_text(path.read_text().replace("north", "south", 1))
    capsys.readouterr()
    assert here() == 1
    assert "NOT the same" in capsys.readouterr().out


def test_the_script_is_the_module_that_the_type_checker_reads(small, tmp_path):
    folder = written(rehearsed(*small), tmp_path / "out")
    assert (folder / bundle_files.REFIT).read_bytes() == Path(refit_script.__file__).read_bytes()
