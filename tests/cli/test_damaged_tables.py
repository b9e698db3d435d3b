"""Rows stay closed until the release: what comes before is the same though they are damaged."""

from __future__ import annotations

import json
import tomllib

import pytest
import tomli_w

from tests.support.file_kinds import DAMAGED, damaged
from tests.support.tables import small_frame

pytestmark = pytest.mark.privacy
STATISTICAL = ("sav", "zsav", "dta", "xpt")


@pytest.fixture
def early(prism, make_run, tmp_path):
    """The configuration of a run, and what plan and protocol say while there is no table."""
    config = make_run()
    (config.parent / "train.csv").unlink()
    persons = ("--persons", 300, "--json")
    plan = json.loads(prism("plan", config, *persons)[1])
    assert prism("protocol", config, "--out", tmp_path / "early.json", *persons)[0] == 0
    return config, plan


@pytest.mark.parametrize("kind", DAMAGED)
def test_plan_and_protocol_open_no_row(kind, prism, early, tmp_path):
    config, plan = early
    place = damaged(small_frame(), config.parent / f"train.{kind}", kind)
    document = tomllib.loads(config.read_text(encoding="utf-8"))
    document["table"]["train"] = str(place)
    config.write_text(tomli_w.dumps(document), encoding="utf-8")
    persons = ("--persons", 300, "--json")
    assert json.loads(prism("plan", config, *persons)[1]) == plan
    assert prism("protocol", config, "--out", tmp_path / "late.json", *persons)[0] == 0
    assert (tmp_path / "late.json").read_bytes() == (tmp_path / "early.json").read_bytes()
    status, _, err = prism("release", config, "--out", tmp_path / "out", "--seed", 1)
    assert status != 0
    assert place.name.partition("#")[0] in err or "rows" in err
    assert not (tmp_path / "out" / "synthetic.csv").exists()


@pytest.mark.parametrize("kind", STATISTICAL)
def test_a_codebook_is_read_from_a_file_whose_rows_are_damaged(kind, prism, tmp_path):
    place = damaged(small_frame(), tmp_path / f"train.{kind}", kind)
    status, out, _ = prism("codebook", place, "--out", tmp_path / "schema.yaml", "--json")
    assert status == 2  # bounds are open
    assert [one["name"] for one in json.loads(out)["columns"]] == list(small_frame())
