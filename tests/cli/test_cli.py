"""The command line, run in this process: its contracts, and what it may not tell."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from prism_core.bundle.certificate import NAME, installed
from prism_core.cli import main, plan_command
from prism_core.privacy.ledger import Ledger
from tests.support.charges import NOTE, charges

if TYPE_CHECKING:
    from pathlib import Path

DESCRIBED = (
    "README.md",
    "certificate.json",
    "dag.dot",
    "dag.json",
    "datapackage.json",
    "meaning.md",
    "plan.json",
    "refit.py",
    "report.html",
    "run.toml",
    "schema.yaml",
)
"""Files of a bundle that follow from what was declared, but for what is drawn or written anew."""
NOISY = (
    "manifest.json",
    "manifest.sig",
    "measurements.json",
    "public-key.pem",
    "synthetic.csv",
    "synthetic.parquet",
)

HEAVY = ("jax", "mbi", "duckdb", "ibis", "sklearn", "plotly", "streamlit", "pyvis")


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


# --- contracts -------------------------------------------------------------------------------


def test_plan_as_json_and_as_text(prism, make_run, tmp_path):
    config = make_run(budget={"epsilon": 0.5})
    status, out, err = prism("plan", config, "--json")
    plan = json.loads(out)
    assert (status, err) == (0, "")
    assert plan["s"] == ["age", "smoker"]
    assert plan["epsilon"] == 0.5
    assert plan["n"] == 300
    assert plan["delta"] == pytest.approx(1 / 300**2)
    assert plan["spent"]["epsilon"] <= 0.5
    assert plan["rows"] == 200
    assert {"queries", "deferred", "junction_tree", "events", "warnings"} <= set(plan)
    status, out, err = prism("plan", config)
    assert (status, err) == (0, "")
    assert "target readmitted, regime causal, n = 300" in out
    assert charges(tmp_path) == []


def test_plan_names_the_private_choices(prism, make_run):
    config = make_run(task={"three_way": "cmi", "max_joint_cells": 0}, synthesis={"model": "pgm"})
    entry = json.loads(prism("plan", config, "--json")[1])["deferred"][0]
    assert (entry["name"], entry["rule"], entry["rounds"]) == ("3-way marginals", "cmi", 1)
    assert "1 3-way marginals, chosen privately" in prism("plan", config)[1]


def test_plan_prints_its_warnings(prism, make_run):
    _, out, _ = prism("plan", make_run(budget={"delta": 0.01}))
    assert "warning: delta = 0.01 is not below 1/n" in out


def test_a_private_release_is_charged_and_stamped(prism, make_run, tmp_path):
    config = make_run(public=False, asset=3.0)
    status, out, err = prism("release", config, "--out", tmp_path / "out", "--json")
    assert (status, err) == (0, NOTE)
    made = json.loads(out)
    assert set(made) >= {"out", "rows", "selected", "epsilon", "delta", "seconds", "stamp"}
    assert made["out"] == str(tmp_path / "out")
    assert (made["rows"], made["epsilon"], made["stamp"]) == (200, 1.0, "release")
    assert made["delta"] == pytest.approx(1 / 300**2)
    assert made["seconds"] >= 0
    assert charges(tmp_path) == ["done"]
    (asset,) = Ledger(tmp_path / "workspace").assets()
    assert (asset.name, asset.epsilon) == ("ward 7", 3.0)
    table = pd.read_csv(tmp_path / "out" / "synthetic.csv")
    assert len(table) == 200
    assert list(table.columns) == list(pd.read_csv(config.parent / "train.csv").columns)
    assert files(tmp_path / "out") == sorted([*DESCRIBED, *NOISY, "local.json"])
    assert prism("verify", tmp_path / "out", "--workspace", tmp_path / "workspace")[0] == 0


def test_a_seeded_public_run_is_a_rehearsal_and_repeats_to_the_byte(prism, make_run, tmp_path):
    config = make_run()
    for out in ("a", "b", "c"):
        seed = "8" if out == "c" else "7"
        status, text, _ = prism("release", config, "--out", tmp_path / out, "--seed", seed)
        assert status == 0
        assert text.startswith("rehearsal, not a release: 200 rows")
    for name in files(tmp_path / "a"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    a, c = ((tmp_path / out / "synthetic.csv").read_bytes() for out in "ac")
    assert a != c
    assert not (tmp_path / "workspace").exists()


def test_two_private_releases_of_the_same_rows_differ(prism, make_run, tmp_path):
    config = make_run(public=False, asset=3.0)
    for out in ("a", "b"):
        assert prism("release", config, "--out", tmp_path / out)[0] == 0
    a, b = ((tmp_path / out / "synthetic.csv").read_bytes() for out in "ab")
    assert a != b
    assert charges(tmp_path) == ["done", "done"]


def test_evaluate_as_json_and_as_text(prism, make_run, tmp_path):
    config = make_run()
    prism("release", config, "--out", tmp_path / "out", "--seed", 1)
    command = ("evaluate", tmp_path / "out", "--holdout", config.parent / "holdout.csv")
    status, out, err = prism(*command, "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert 0.0 <= found["tstr_auc"] <= 1.0
    assert 0.5 < found["trtr_auc"] <= 1.0  # the run remembers its training rows
    assert found["metrics"]
    for row in found["metrics"]:
        assert {"name", "learner", "subject", "value", "floor", "ceiling"} <= set(row)
    assert {"auc", "accuracy"} <= {row["name"] for row in found["metrics"]}
    scored = [row for row in found["metrics"] if row["learner"]]
    for row in scored:
        low, high = row["interval"]
        assert low <= row["value"] <= high
    auc = scored[0]
    assert found["tstr_interval"] == auc["interval"]
    status, out, _ = prism(*command, "--train", config.parent / "train.csv")
    assert status == 0
    assert out.startswith("outside epsilon: these numbers read real rows without noise")
    lines = out.splitlines()
    assert "synthetic 95% interval" in lines[3]
    low, high = auc["interval"]
    assert f"{auc['value']:.4f} {low:.4f} to {high:.4f}" in lines[4]
    assert sum(line.startswith("  The synthetic rows carry ") for line in lines) >= 1
    assert "(95% interval " in lines[5]


def test_a_comparator_is_scored_for_the_target_that_is_named(prism, make_run, tmp_path):
    config = make_run()
    out = tmp_path / "other"
    made = prism("comparator", config, "--method", "independent", "--out", out, "--seed", 1)
    assert made[0] == 0
    command = ("evaluate", out, "--holdout", config.parent / "holdout.csv")
    status, text, _ = prism(
        *command, "--target", "readmitted", "--train", config.parent / "train.csv", "--json"
    )
    found = json.loads(text)
    assert status == 0
    assert 0.0 <= found["tstr_auc"] <= 1.0
    assert found["trtr_auc"] > 0.5
    for wrong in ((), ("--target", "nobody"), ("--target", "readmitted", "--private", 1.0)):
        status, _, err = prism(*command, *wrong)
        assert status == 2
        assert "target: " in err
    prism("release", config, "--out", tmp_path / "out", "--seed", 1)
    own = ("evaluate", tmp_path / "out", "--holdout", config.parent / "holdout.csv")
    assert "target: " in prism(*own, "--target", "age")[2]


def test_a_score_without_a_number_is_followed_by_the_reason():
    from prism_core.evaluation import MetricRow
    from prism_core.evaluation.score_text import score_lines

    row = MetricRow(
        name="auc",
        learner="ridge",
        subject="y",
        value=None,
        floor=None,
        ceiling=None,
        note="Fewer than 10 test rows have y = yes.",
    )
    assert score_lines([row.to_dict()])[-1] == "  Fewer than 10 test rows have y = yes."


def test_why_a_ceiling_is_missing_is_said_once():
    from prism_core.evaluation import MetricRow
    from prism_core.evaluation.score_text import score_lines

    why = "No real training rows were given, so there is no ceiling."
    rows = [
        MetricRow(
            name="auc", learner=name, subject="y", value=0.7, floor=0.5, ceiling=None, note=why
        )
        for name in ("ridge", "boosting")
    ]
    lines = score_lines([row.to_dict() for row in rows])
    assert [line for line in lines if why in line] == [f"note: {why}"]


def test_a_numeric_target_from_release_to_evaluation_and_report(prism, make_run, tmp_path):
    config = make_run(task={"target": "age", "regime": "predictive", "k": 2})
    assert prism("release", config, "--out", tmp_path / "out", "--seed", 1)[0] == 0
    command = ("evaluate", tmp_path / "out", "--holdout", config.parent / "holdout.csv")
    status, out, err = prism(*command, "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["score"] == "r2"
    assert found["tstr"] <= 1.0
    assert found["tstr_auc"] is None
    rows = {(row["name"], row["learner"]): row for row in found["metrics"]}
    for learner in ("ridge", "gradient_boosting"):
        assert rows["rmse", learner]["value"] > 0.0
        assert rows["rmse", learner]["floor"] > 0.0
        assert rows["rmse", learner]["ceiling"] > 0.0
    told = tmp_path / "evaluation.json"
    told.write_text(out, encoding="utf-8")
    copied = tmp_path / "copy.html"
    status, _, err = prism("report", tmp_path / "out", "--out", copied, "--evaluation", told)
    assert (status, err) == (0, "")
    text = copied.read_text(encoding="utf-8")
    assert "Root mean squared error (RMSE), in the unit of the target" in text
    assert "R² of a numeric target" in text
    classes = json.loads(prism(*command, "--classes", "--json")[1])
    assert classes["score"] == "auc"
    assert 0.0 <= classes["tstr_auc"] <= 1.0
    status, out, _ = prism(*command, "--private", 8, "--seed", 2, "--json")
    assert status == 0
    numbers = json.loads(out)["numbers"]
    assert [number["name"] for number in numbers] == ["r2", "rmse"]
    assert all(number["outside_epsilon"] for number in numbers)  # a rehearsal


def test_sample_data(prism, tmp_path):
    status, out, _ = prism("sample-data", "scm_spurious", "--out", tmp_path / "sample", "--json")
    assert status == 0
    assert json.loads(out)["files"] == files_in_order(tmp_path / "sample")
    status, out, err = prism("sample-data", "titanic", "--out", tmp_path / "sample")
    assert (status, out) == (2, "")
    assert err.startswith("prism: sample: There is no sample named 'titanic'. Choose one of")


def files_in_order(folder: Path) -> list[str]:
    expected = ["train.csv", "test.csv", "schema.yaml", "dag.json", "config.toml"]
    assert sorted(expected) == files(folder)
    return expected


@pytest.mark.slow
def test_a_graphical_model_from_end_to_end(prism, make_run, tmp_path):
    config = make_run(public=False, asset=2.0, synthesis={"model": "pgm", "iterations": 50})
    status, out, _ = prism("release", config, "--out", tmp_path / "out", "--json")
    assert status == 0
    assert json.loads(out)["stamp"] == "release"
    plan = json.loads((tmp_path / "out" / "plan.json").read_text())
    assert plan["model"] == "pgm"
    assert plan["deferred"] == []
    assert len(pd.read_csv(tmp_path / "out" / "synthetic.csv")) == 200
    assert charges(tmp_path) == ["done"]


# --- nothing said depends on the rows --------------------------------------------------------

NEIGHBOURS = {
    "unique category": ("ward", "a ward nobody else has"),
    "extreme value": ("age", "999999999999"),
    "tiny value": ("dose", "-1e308"),
    "beyond floats": ("dose", "9" * 400),
    "nan": ("age", "nan"),
    "inf": ("dose", "inf"),
    "empty": ("readmitted", ""),
    "empty number": ("age", ""),
    "overlong": ("ward", "x" * 10**6),
    "overlong number": ("age", "7" * 10**6),
    "no date": ("seen", "2020-13-45"),
    "far date": ("seen", "99999-01-01"),
    "nanoseconds": ("seen", "2020-01-01T00:00:00.123456789"),
    "no boolean": ("smoker", "perhaps"),
    "no level": ("grade", "3.0000001"),
    "quotes": ("ward", 'a "b"\n,c'),
    "other alphabet": ("ward", "\U0001f600\u202e٣"),
}


def described(path: Path) -> object:
    """What a file says but for the seed of the draw and the ledger's digest, which holds times."""
    if path.name == "report.html":
        text = path.read_text(encoding="utf-8")
        text, seeds = re.subn(r"rows, seed \d+ \(", "rows (", text)
        text, digests = re.subn(r"entry <code>[0-9a-f]{64}</code>", "entry", text)
        assert (seeds, digests) == (1, 1)
        return text
    if path.name != "certificate.json":
        return path.read_bytes()
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["sampling"].pop("seed") >= 0
    assert len(document.pop("ledger_entry_sha256")) == 64
    return document


@pytest.fixture
def said(prism, make_run, tmp_path, caplog):
    """Everything a private run says and writes but its noisy results, for a table."""

    def listen(name: str, frame: pd.DataFrame, asset: float = 3.0) -> dict[str, object]:
        caplog.clear()
        caplog.set_level(logging.DEBUG)
        if (tmp_path / "workspace").exists():  # every run starts with an empty ledger
            (tmp_path / "workspace").rename(tmp_path / f"before {name}")
        config = make_run(name=name, public=False, asset=asset, frame=frame)
        out = tmp_path / f"{name} out"
        plan = prism("plan", config, "--json")
        status, text, err = prism("release", config, "--out", out, "--json")
        told = json.loads(text) if text else {}
        told.pop("seconds", None)
        told.pop("out", None)
        return {
            "plan": plan,
            "status": status,
            "told": told,
            "stderr": err,
            "log": caplog.text,
            "files": {n: described(out / n) for n in DESCRIBED if (out / n).exists()},
            "names": files(out),
            "shape": pd.read_csv(out / "synthetic.csv").shape if out.exists() else None,
        }

    return listen


@pytest.mark.privacy
@pytest.mark.parametrize("neighbour", sorted(NEIGHBOURS))
def test_a_neighbour_changes_nothing_but_the_noisy_numbers(said, frame, neighbour):
    column, cell = NEIGHBOURS[neighbour]
    other = frame.copy()
    other.loc[11, column] = cell
    a, b = said("a", frame), said("b", other)
    assert a["status"] == 0
    assert set(a["files"]) == set(DESCRIBED)
    assert a == b


@pytest.mark.privacy
def test_a_neighbour_changes_no_refusal(said, frame):
    other = frame.copy()
    other.loc[3] = ["", "x" * 10**6, "nan", "nobody's", "2020-13-45", "1e999", ""]
    a, b = said("a", frame, asset=0.5), said("b", other, asset=0.5)
    assert a["status"] == 2
    assert "lifetime epsilon of 0.5" in a["stderr"]
    assert a["files"] == {}
    assert a == b


@pytest.mark.privacy
def test_a_row_leaves_no_trace_in_what_is_said_or_described(said, frame, canary):
    for column in ("ward", "age", "seen", "smoker", "dose"):
        frame.loc[7, column] = canary
    told = said("a", frame)
    assert told["status"] == 0
    assert canary not in repr(told)


@pytest.mark.privacy
@pytest.mark.parametrize("column", ["readmitted", "smoker", "age", "ward"])
def test_a_constant_column_changes_nothing_that_is_said(said, frame, column):
    other = frame.assign(**{column: frame[column].iloc[0]})
    empty = frame.assign(**{column: ""})
    a, b, c = said("a", frame), said("b", other), said("c", empty)
    assert a["status"] == 0
    assert a == b == c


# --- what an import brings along -------------------------------------------------------------


@pytest.mark.parametrize(
    "modules",
    [
        "prism_core.synthesis.release, prism_core.planning.wishes.config, prism_core.cli.main",
        "prism_core.synthesizer",
    ],
)
def test_an_import_stays_light(modules):
    code = (
        f"import {modules}\nimport sys\nprint([name for name in {HEAVY!r} if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_main_is_what_python_m_runs():
    run = subprocess.run(
        [sys.executable, "-m", "prism_core.cli.main", "plan", "absent.toml"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert run.stderr == (
        "prism: config: The configuration 'absent.toml' does not exist: there is no such file. "
        "Check the path.\n"
    )


def test_numbers_in_json_are_numbers(prism, make_run):
    plan = json.loads(prism("plan", make_run(), "--json")[1])
    sigmas = [query["sigma"] for query in plan["queries"]]
    assert np.isfinite(sigmas).all()
    assert min(sigmas) > 0


def test_a_pattern_of_files_is_planned_released_and_evaluated(prism, make_run, tmp_path, frame):
    config = make_run(table={"train": "part-*.csv"})
    for number in range(2):
        frame[number::2].to_csv(config.parent / f"part-{number}.csv", index=False)
    status, out, _ = prism("plan", config)
    assert (status, "n = 300" in out) == (0, True)
    assert prism("release", config, "--out", tmp_path / "out", "--seed", 1)[0] == 0
    assert json.loads((tmp_path / "out" / "local.json").read_text())["train"] == "part-*.csv"
    status, out, err = prism(
        "evaluate", tmp_path / "out", "--holdout", config.parent / "part-?.csv"
    )
    assert (status, err) == (0, "")
    assert files(tmp_path / "workspace" / "scratch") == []


def test_counting_is_compared_with_grouping_sets(prism):
    status, out, _ = prism("bench", "count", "--rows", 3_000, "--json")
    found = json.loads(out)
    assert (status, found["equal"]) == (0, True)
    assert (found["rows"], found["columns"], found["marginals"]) == (3_000, 31, 44)
    assert found["peak_mb"] > 0
    assert prism("bench", "count", "--rows", 0)[0] == 2
    status, out, _ = prism("bench", "engine", "--engine", "duckdb", "--rows", 2_000, "--json")
    assert status == 0
    found = json.loads(out)
    assert found["equal"]
    assert (found["rows"], found["scans"]) == (2_000, 2)
    assert found["bytes_home"] > 0
    assert prism("bench", "engine", "--rows", 0)[0] == 2
    assert prism("bench", "engine", "--engine", "postgres")[0] == 2


@pytest.mark.privacy
def test_an_unexpected_error_is_its_type_and_none_of_its_words(monkeypatch, capsys):
    def fail(*_):
        raise ValueError("year 11096 is out of range")

    monkeypatch.setattr(plan_command, "_plan", fail)
    assert main.main(["plan", "config.toml"]) == 1
    told = "".join(capsys.readouterr())
    assert "(ValueError)" in told
    assert "11096" not in told


def test_the_version_is_that_of_the_certificate(capsys):
    with pytest.raises(SystemExit) as ended:
        main.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"prism {installed(NAME)}\n"
