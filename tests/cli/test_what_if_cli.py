"""`prism plan` with scenarios and wishes: what it prints, and that no row is looked at."""

from __future__ import annotations

import json
import re

import pytest

from prism_core.cli import plan_command
from prism_core.data.tables.raw_table import RawTable
from prism_core.planning import design as planning

FILE = """
[[scenario]]
name = "more"
[scenario.budget]
epsilon = 2.0

[[scenario]]
name = "by hand"
[scenario.budget]
locks = [{columns = ["age", "readmitted"], share = 0.2}]
[scenario.task]
max_joint_cells = 0
"""


@pytest.fixture
def scenarios(tmp_path):
    path = tmp_path / "scenarios.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_scenarios_side_by_side(prism, make_run, scenarios):
    status, out, err = prism("plan", make_run(), "--what-if", scenarios)
    assert (status, err) == (0, "")
    rows = {}
    for line in out.splitlines():
        what, *cells = re.split(r"  +", line)
        rows.setdefault(what, cells)
    assert rows[""] == [plan_command.BASE, "more", "by hand"]
    assert rows["budget.epsilon"] == ["1", "2", "1"]
    assert rows["epsilon spent"] == ["1", "2 -", "1"]
    assert all(cell.endswith("%") for cell in rows["mean expected error of the task marginals"][:1])
    assert rows["mean expected error of the task marginals"][1].endswith("% +")
    assert rows["task.max_joint_cells"] == ["5,000", "5,000", "0"]
    assert rows["budget.locks.age × readmitted"] == ["-", "-", "0.2"]
    assert not any(what.startswith("warning") for what in rows)
    idle = FILE.replace('"age"', '"ward"')
    scenarios.write_text(idle, encoding="utf-8")
    out = prism("plan", scenarios.parent / "run" / "config.toml", "--what-if", scenarios)[1]
    assert "warning (by hand): The lock on ward × readmitted holds nothing" in out


def test_scenarios_as_json(prism, make_run, scenarios):
    config = make_run()
    status, out, err = prism("plan", config, "--what-if", scenarios, "--json")
    assert (status, err) == (0, "")
    document = json.loads(out)
    names = [row["name"] for row in document["scenarios"]]
    assert names == [plan_command.BASE, "more", "by hand"]
    plan = json.loads(prism("plan", config, "--json")[1])
    assert document["scenarios"][0]["figures"]["epsilon"] == plan["spent"]["epsilon"]
    more = document["differences"][0]
    assert (more["a"], more["b"]) == (plan_command.BASE, "more")
    assert {"what": "budget.epsilon", "kind": "entry", "a": 1.0, "b": 2.0, "better": None} in more[
        "rows"
    ]
    assert set(document["warnings"]) == set(names)


def test_a_scenario_that_cannot_be_planned_is_named(prism, make_run, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text('[[scenario]]\nname = "x"\n[scenario.task]\ntarget = "nobody"\n')
    config = make_run()
    status, out, err = prism("plan", config, "--what-if", path)
    assert (status, out) == (2, "")
    assert "Scenario 'x': " in err
    path.write_text("scenario = 3")
    assert prism("plan", config, "--what-if", path)[0] == 2
    assert prism("plan", config, "--what-if", tmp_path / "none.toml")[0] == 2


def test_the_most_bins(prism, make_run):
    config = make_run()
    status, out, _ = prism("plan", config, "--most-bins", "0.3", "--json")
    assert status == 0
    found = json.loads(out)
    assert found["expected_error"] <= found["target_error"] == 0.3
    assert found["most_bins"] >= 2
    _, text, _ = prism("plan", config, "--most-bins", "0.3", "--column", "age")
    assert " bins: expected error" in text
    status, _, err = prism("plan", config, "--most-bins", "1e-9")
    assert status == 2
    assert err.startswith("prism: target_error: No number of bins")


def test_the_most_features(prism, make_run):
    config = make_run(task={"regime": "predictive", "k": 1})
    _, out, _ = prism("plan", config, "--most-features", "0.5", "--json")
    found = json.loads(out)
    assert found["k"] == found["most_features"]
    assert found["expected_error"] <= 0.5
    status, _, err = prism("plan", make_run(name="causal"), "--most-features", "0.5")
    assert status == 2
    assert "predictive regime" in err


def test_one_wish_at_a_time(prism, make_run):
    with pytest.raises(SystemExit):
        prism("plan", make_run(), "--most-bins", "0.1", "--target-error", "0.1")


def test_a_lock_stands_beside_its_line(prism, make_run):
    config = make_run(task={"max_joint_cells": 0})
    text = config.read_text(encoding="utf-8")
    lock = '[[budget.locks]]\ncolumns = ["readmitted", "age"]\nshare = 0.2\n'
    config.write_text(f"{text}\n{lock}", encoding="utf-8")
    _, out, _ = prism("plan", config)
    (line,) = [line for line in out.splitlines() if line.endswith("  locked")]
    assert line.startswith("age × readmitted")
    assert " 20.00% " in line
    plan = json.loads(prism("plan", config, "--json")[1])
    assert plan["locks"] == [{"columns": ["readmitted", "age"], "share": 0.2}]


@pytest.mark.privacy
@pytest.mark.parametrize(
    "wish", [("--most-bins", "0.3"), ("--target-error", "0.3"), ("--what-if",)]
)
def test_no_what_if_sees_a_row(prism, make_run, scenarios, monkeypatch, wish):
    """Once n is counted, a look at any cell is an error."""
    config = make_run()

    def looked(self, name):
        raise AssertionError("a what-if looked at the rows")

    seen = []
    original = planning.design

    def watched(*arguments, **named):
        seen.append(arguments)
        assert not any(isinstance(value, RawTable) for value in (*arguments, *named.values()))
        return original(*arguments, **named)

    monkeypatch.setattr(RawTable, "column", looked)
    monkeypatch.setattr(planning, "design", watched)
    arguments = (*wish, scenarios) if wish == ("--what-if",) else wish
    status, _, err = prism("plan", config, *arguments)
    assert (status, err) == (0, "")
    assert seen


def test_what_was_considered_goes_along_with_the_release(prism, make_run, scenarios, tmp_path):
    config = make_run()
    out = tmp_path / "out"
    status, _, err = prism(
        "release",
        config,
        "--out",
        out,
        "--seed",
        1,
        "--what-if",
        scenarios,
        "--workspace",
        tmp_path / "workspace",
    )
    assert (status, err) == (0, "")
    rows = json.loads((out / "scenarios.json").read_text())["scenarios"]
    assert [row["name"] for row in rows] == [plan_command.BASE, "more", "by hand"]
    plan = json.loads((out / "plan.json").read_text())
    assert rows[0]["figures"]["epsilon"] == plan["spent"]["epsilon"]
    scenarios.write_text("scenario = 3")
    again = tmp_path / "again"
    assert prism("release", config, "--out", again, "--seed", 1, "--what-if", scenarios)[0] == 2
    assert not again.exists()
