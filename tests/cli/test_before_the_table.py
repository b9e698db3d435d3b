"""`prism plan` and `prism protocol` before there is a table: the number of persons is enough."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def config(make_run):
    return make_run()


def test_the_design_is_the_one_that_the_table_gets(prism, config, tmp_path):
    plan = json.loads(prism("plan", config, "--json")[1])
    protocol = json.loads(prism("protocol", config, "--out", tmp_path / "a.json", "--json")[1])
    (config.parent / "train.csv").unlink()
    persons = ("--persons", plan["n"], "--json")
    assert prism("plan", config, "--json")[0] != 0
    assert json.loads(prism("plan", config, *persons)[1]) == plan
    early = prism("protocol", config, "--out", tmp_path / "b.json", *persons)
    assert json.loads(early[1])["plan_sha256"] == protocol["plan_sha256"]
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_another_number_is_another_plan(prism, config):
    plan = json.loads(prism("plan", config, "--json")[1])
    other = json.loads(prism("plan", config, "--persons", plan["n"] + 1, "--json")[1])
    assert other["n"] == plan["n"] + 1


@pytest.mark.parametrize("persons", [0, -3])
def test_a_number_of_nobody_is_refused(prism, config, persons):
    status, _, err = prism("plan", config, f"--persons={persons}")
    assert status != 0
    assert "persons" in err


def test_the_number_is_that_of_the_schema(prism, make_run):
    config = make_run()
    schema = config.parent / "schema.yaml"
    text = schema.read_text(encoding="utf-8")
    declared = text.replace("one_row_per_person: true", "person_id: person\npersons: 700")
    assert declared != text
    schema.write_text(declared, encoding="utf-8")
    status, _, err = prism("plan", config, "--persons", 701)
    assert status != 0
    assert "700" in err
    assert prism("plan", config, "--persons", 700)[0] == 0
