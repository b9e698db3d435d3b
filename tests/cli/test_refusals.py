"""Refusals of the command line: one line, the field named, nothing written."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from prism_core.cli import main
from prism_core.data import encoding
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from tests.support.charges import NOTE, charges


def refused(result: tuple[int, str, str], start: str) -> str:
    status, out, err = result
    assert (status, out) == (2, "")
    err = err.removeprefix(NOTE)
    assert err.startswith(f"prism: {start}")
    assert err.endswith(".\n")
    assert "Traceback" not in err
    return err


@pytest.mark.privacy
def test_a_seed_is_refused_for_private_rows_before_anything_is_read(
    prism, make_run, tmp_path, monkeypatch
):
    config = make_run(public=False, asset=3.0)
    monkeypatch.setattr("prism_core.runs.inputs.gather", unreachable)
    result = prism("release", config, "--out", tmp_path / "out", "--seed", 1)
    refused(result, "seed: --seed is for tables marked public only")
    assert not (tmp_path / "out").exists()
    assert charges(tmp_path) == []


def unreachable(*_: object, **__: object):
    raise AssertionError("this should not have been reached")


@pytest.mark.privacy
def test_a_private_table_needs_an_asset(prism, make_run, tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "encode_column", unreachable)
    result = prism("release", make_run(public=False), "--out", tmp_path / "out")
    err = refused(result, "asset: A private table needs a data asset with a name")
    assert "lifetime_epsilon" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.privacy
def test_overspending_is_refused_and_writes_no_file(prism, make_run, tmp_path):
    config = make_run(public=False, asset=1.2)  # two runs at 1.0 compose to 1.4
    assert prism("release", config, "--out", tmp_path / "first")[0] == 0
    result = prism("release", config, "--out", tmp_path / "second")
    err = refused(result, "epsilon: The asset 'ward 7' has a lifetime epsilon of 1.2;")
    assert "is left and this release needs" in err
    assert not (tmp_path / "second").exists()
    assert charges(tmp_path) == ["done"]


def test_a_folder_that_cannot_be_written_is_refused_before_the_charge(prism, make_run, tmp_path):
    config = make_run(public=False, asset=1.5)
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "deeper"):
        refused(prism("release", config, "--out", out), "out: The folder")
    assert charges(tmp_path) == []


def test_a_negative_seed_is_refused(prism, make_run, tmp_path):
    result = prism("release", make_run(), "--out", tmp_path / "out", "--seed", "-1")
    refused(result, "seed: --seed must be 0 or more")


def test_a_release_needs_to_know_who_a_row_is(prism, make_run, tmp_path, schema):
    undeclared = Schema(columns=schema.columns)
    config = make_run(public=False, asset=2.0, schema=undeclared)
    result = prism("release", config, "--out", tmp_path / "out")
    refused(result, "one_row_per_person: The guarantee protects one row.")
    assert charges(tmp_path) == []
    assert not (tmp_path / "out").exists()


@pytest.mark.privacy
def test_a_model_too_large_is_refused_before_a_row_is_read(prism, make_run, tmp_path, monkeypatch):
    names = ("age", "smoker", "readmitted", "ward")
    wide = tuple(Column(name=n, kind="ordinal", levels=tuple(range(2_000))) for n in names)
    config = make_run(public=False, asset=2.0, schema=Schema(columns=wide, one_row_per_person=True))
    monkeypatch.setattr(encoding, "encode_column", unreachable)
    for command in (("plan", config), ("release", config, "--out", tmp_path / "out")):
        refused(prism(*command), "levels: The marginal age × readmitted has 4,000,000 cells")
    assert charges(tmp_path) == []


REFUSALS = [
    ({"budget": {"epsilon": "one"}}, "budget.epsilon: [budget] epsilon must be a number"),
    ({"budget": {"epsilon": float("nan")}}, "epsilon: epsilon must be a number above 0"),
    ({"budget": {"delta": 1.0}}, "delta: delta must lie strictly between 0 and 1"),
    ({"task": {"k": 2.5}}, "task.k: [task] k must be a whole number"),
    ({"task": {"target": "Y"}}, "target: The target 'Y' is not a column"),
    ({"task": {"target": "age"}}, "dag: The target 'age' has no parents in the graph. Draw"),
    ({"task": {"regime": "predictive", "k": 40}}, "k: k = 40 is more than the 6 features"),
    ({"table": {"public": "yes"}}, "table.public: [table] public must be true or false"),
    ({"table": {"train": "absent.csv"}}, "table: The table 'absent.csv' does not exist"),
    ({"table": {"schema": "absent.yaml"}}, "schema: The schema 'absent.yaml' does not exist"),
    ({"table": {"dag": "absent.json"}}, "dag: The graph 'absent.json' does not exist"),
    ({"table": {"separator": ";"}}, "separator: The header of 'train.csv' is separated by comma"),
    ({"table": {"encoding": "klingon"}}, "encoding: encoding 'klingon' is not known"),
    ({"synthesis": {"rows": 0}}, "rows: rows must be between 1 and"),
    ({"extra": {"a": 1}}, "extra: The configuration has an unknown entry 'extra'"),
]


@pytest.mark.parametrize(("sections", "start"), REFUSALS)
def test_what_is_wrong_is_named_and_nothing_is_written(prism, make_run, tmp_path, sections, start):
    config = make_run(public=sections.get("table", {}).pop("public", True), **sections)
    for command in (("plan", config, "--json"), ("release", config, "--out", tmp_path / "out")):
        refused(prism(*command), start)
    assert not (tmp_path / "out").exists()


def test_a_cycle_in_the_graph_is_named_in_full(prism, make_run):
    config = make_run()
    lines = "from,to\nage,ward\nward,readmitted\nreadmitted,age\n"
    (config.parent / "dag.csv").write_text(lines)
    err = refused(prism("plan", config), "edges: The graph has a cycle: ")
    named = err.partition("cycle: ")[2].partition(". ")[0].split(" → ")
    assert named[0] == named[-1]
    assert set(named) == {"age", "ward", "readmitted"}


def test_evaluate_refuses_what_is_not_there(prism, make_run, tmp_path):
    config = make_run()
    holdout = config.parent / "holdout.csv"
    prism("release", config, "--out", tmp_path / "out", "--seed", 1)
    absent = tmp_path / "absent.csv"
    out = tmp_path / "out"
    refused(prism("evaluate", tmp_path, "--holdout", holdout), "dir: ")
    refused(prism("evaluate", out, "--holdout", absent), "table: The table 'absent.csv'")
    refused(prism("evaluate", out, "--holdout", holdout, "--train", absent), "table: The table")
    for text in ("{", "[]", '{"task": 5}', '{"task": {}}'):
        (out / "certificate.json").write_text(text)
        refused(prism("evaluate", out, "--holdout", holdout), "dir: certificate.json")


def test_persons_are_planned_checked_and_evaluated(prism, make_run, tmp_path, schema, frame):
    people = Schema(columns=schema.columns, person_id="who", persons=150)
    visits = frame.assign(who=[f"p{i % 150}" for i in range(300)])
    config = make_run(public=False, asset=9.0, schema=people, frame=visits)
    assert json.loads(prism("plan", config, "--json")[1])["n"] == 150
    assert prism("release", config, "--out", tmp_path / "out")[0] == 0
    synthetic = pd.read_csv(tmp_path / "out" / "synthetic.csv")
    assert list(synthetic.columns) == list(schema.names)
    holdout = config.parent / "stays.csv"
    others = visits.iloc[:200]
    others.assign(who="q" + others["who"]).to_csv(holdout, index=False)
    status, out, err = prism("evaluate", tmp_path / "out", "--holdout", holdout, "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["n_holdout"] == 150

    visits.iloc[:299].replace({"who": {"p149": "p0"}}).to_csv(
        config.parent / "train.csv", index=False
    )
    result = prism("release", config, "--out", tmp_path / "wrong")
    refused(result, "persons: The schema declares 150 persons and the person-ID column holds")
    assert not (tmp_path / "wrong").exists()
    assert charges(tmp_path) == ["done"]


@pytest.mark.parametrize("arguments", [[], ["publish"], ["release", "a.toml"], ["evaluate", "x"]])
def test_a_command_that_is_none_explains_the_usage(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main.main(arguments)
    assert caught.value.code == 2
    assert "usage: prism" in capsys.readouterr().err
