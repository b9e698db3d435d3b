"""`prism bench`: what it prints, not how fast it is."""

from __future__ import annotations

import json

import pytest

from prism_core.bench import speed
from prism_core.bench.fit_child import SIGMA, workload
from prism_core.cli.main import main


def test_the_workload_measures_every_column_once_and_a_tree():
    sizes, measurements = workload(12)
    cliques = [m.clique for m in measurements]
    assert len(sizes) == 12
    assert len(set(cliques)) == len(cliques)
    assert {c for c in cliques if len(c) == 1} == {(name,) for name in sizes}
    assert len([c for c in cliques if len(c) == 2]) >= 11
    for m in measurements:
        assert m.values.shape == tuple(sizes[name] for name in m.clique)
        assert m.sigma == SIGMA


@pytest.mark.slow
def test_fit_prints_its_figures(capsys):
    assert main(["bench", "fit", "--columns", "5", "--no-mbi", "--sample", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["columns"] == 5
    for key in ("fast_cold_s", "fast_warm_s", "fast_peak_mb", "fast_sample_s"):
        assert found[key] > 0.0


def test_the_table_has_both_engines(capsys, monkeypatch):
    def child(module, engine, columns, *rest):
        loss = {"fast": 100.0, "mbi": 101.0}[engine]
        return {"cold_s": 2.0, "warm_s": 0.5, "peak_mb": 99.0, "loss": loss, "process_s": 3.0}

    monkeypatch.setattr(speed, "child", child)
    monkeypatch.setattr(speed, "compile_kernels", lambda: None)
    assert main(["bench", "fit", "--columns", "30", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {
        "columns",
        "loss_gap",
        *(
            f"{engine}_{key}"
            for engine in ("fast", "mbi")
            for key in ("cold_s", "warm_s", "peak_mb")
        ),
    }
    assert found["loss_gap"] == pytest.approx(0.01)
    assert main(["bench", "fit", "--columns", "30", "--columns", "40"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_release_prints_its_figures(capsys, monkeypatch):
    def child(module, *arguments):
        return {"process_s": 2.5, "fit_s": 0.3, "sample_s": 0.1, "peak_mb": 200.0}

    monkeypatch.setattr(speed, "child", child)
    monkeypatch.setattr(speed, "compile_kernels", lambda: None)
    monkeypatch.setattr("prism_core.samples.catalogue.write", lambda name, folder: None)
    monkeypatch.delenv("PRISM_ADULT_CSV", raising=False)
    assert main(["bench", "release", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "table": "readmission",
        "release_s": 2.5,
        "fit_s": 0.3,
        "sample_s": 0.1,
        "peak_mb": 200.0,
    }
    assert main(["bench", "release"]) == 0
    assert "prism release 2.50 s" in capsys.readouterr().out
