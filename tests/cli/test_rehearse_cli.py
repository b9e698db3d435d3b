"""`prism rehearse`: tables and JSON lines, and a private table that is never opened."""

from __future__ import annotations

import json

import pytest

from prism_core.cli.main import main
from prism_core.rehearsal.variants import PLANNED

pytestmark = pytest.mark.usefixtures("workspace")


def rehearse(config, *more):
    fast = ["--seeds", "2", "--epsilon", "1,4", "--jobs", "1", "--rows", "200"]
    return main(["rehearse", str(config), *fast, *more])


def lines(capsys) -> list[dict]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_points_are_lines_and_then_the_sum(make_run, capsys):
    assert rehearse(make_run(public=False), "--json", "--shift", "none", "--shift", "children") == 0
    *points, last = lines(capsys)
    assert len(points) == 3 * 2 * 2 * 2
    assert points[0]["point"]["variant"] == PLANNED
    assert {p["point"]["variant"] for p in points} == {PLANNED, "closed form", "uniform"}
    assert {p["point"]["shift"] for p in points} == {"none", "children"}
    assert last["runs"] == 12
    assert len(last["estimates"]) == 12
    assert last["estimates"][0]["variant"] == PLANNED  # papers tell its score
    assert "drawn from the graph (assumed: a cause multiplies the odds by 5)" in last["stand_in"]
    assert set(last["verdicts"]) == {"none", "children"}


def test_the_table_says_that_nothing_is_about_the_real_table(make_run, capsys):
    assert rehearse(make_run(public=False), "--compare", "regime", "--strength", "strong") == 0
    out = capsys.readouterr().out
    assert "nothing is spent, and nothing here is about the real table" in out
    for word in ("causal", "graphical", "predictive", "While the world stays as it is"):
        assert word in out


@pytest.mark.privacy
def test_the_private_table_is_not_opened(make_run, capsys):
    config = make_run(public=False)
    (config.parent / "train.csv").unlink()
    assert rehearse(config) == 0
    capsys.readouterr()
    # Without a number of rows it would have to be counted, and this test would notice.
    assert main(["rehearse", str(config), "--seeds", "1", "--epsilon", "1"]) == 2
    assert "does not exist" in capsys.readouterr().err


@pytest.mark.privacy
def test_where_rows_are_counted_nothing_else_is_asked(make_run, capsys, monkeypatch):
    from prism_core.runs import inputs

    class Sealed:
        rows = 200

    monkeypatch.setattr(inputs, "open_rows", lambda *_, **__: Sealed())
    fast = ["--seeds", "1", "--epsilon", "1", "--jobs", "1"]
    assert main(["rehearse", str(make_run(public=False)), *fast]) == 0
    assert "200 invented rows drawn" in capsys.readouterr().out


@pytest.mark.privacy
def test_rows_that_are_counted_are_looked_up_in_the_workspace_that_is_named(
    make_run, tmp_path, capsys
):
    private, named = make_run(public=False, asset=9.0), tmp_path / "other"
    out = tmp_path / "out"
    assert main(["release", str(private), "--out", str(out), "--workspace", str(named)]) == 0
    once = ["--seeds", "1", "--epsilon", "1", "--jobs", "1", "--workspace", str(named)]
    assert main(["rehearse", str(make_run(name="claimed", public=True)), *once]) == 2
    assert "“ward 7”" in capsys.readouterr().err


def test_what_ran_is_there_at_once(make_run, capsys, monkeypatch):
    from prism_core.rehearsal.trial import SharedRows

    config = make_run()
    assert rehearse(config) == 0
    first = capsys.readouterr().out
    monkeypatch.setattr(SharedRows, "run", None)
    assert rehearse(config) == 0
    assert capsys.readouterr().out == first


def test_a_what_if_file_is_compared_with_the_plan(make_run, capsys, tmp_path):
    path = tmp_path / "b.toml"
    path.write_text('[[scenario]]\nname = "B"\n[scenario.task]\nregime = "graphical"\n')
    assert rehearse(make_run(), "--what-if", str(path), "--json") == 0
    assert {one["variant"] for one in lines(capsys)[-1]["estimates"]} == {"this plan", "B"}


def test_auto_says_what_and_why(make_run, capsys):
    config = make_run()
    assert rehearse(config, "--auto", "--json") == 0
    first, second = lines(capsys)
    assert (first["epsilon"], second["epsilon"]) == (1.0, 4.0)
    assert first["chosen"] in {one["name"] for one in first["tried"]}
    assert "On stand-in rows at epsilon 1" in first["why"]
    assert rehearse(config, "--auto") == 0
    assert "level" in capsys.readouterr().out


def test_public_rows_and_samples_stand_in(make_run, frame, capsys):
    config = make_run(public=False, synthesis={"rows": 5_000})
    survey = config.parent / "survey.csv"
    frame[::2].to_csv(survey, index=False)  # other rows than those of the private files
    assert rehearse(config, "--stand-in", str(survey), "--json") == 0
    assert "rows of the public file 'survey.csv'" in lines(capsys)[-1]["stand_in"]
    causal = ["--stand-in", "sample:scm_spurious", "--shift", "children", "--compare", "regime"]
    assert rehearse(config, *causal, "--epsilon", "4", "--seeds", "1", "--json") == 0
    found = {one["variant"]: one["mean"] for one in lines(capsys)[-1]["estimates"]}
    assert found["causal"] > 0.7
    assert found["graphical"] < 0.56


@pytest.mark.privacy
@pytest.mark.parametrize("name", ["train.csv", "holdout.csv"])
def test_private_files_do_not_stand_in(make_run, capsys, name):
    config = make_run(public=False)
    assert rehearse(config, "--stand-in", str(config.parent / name)) == 2
    assert "holds as private" in capsys.readouterr().err


def test_edges_have_strengths_of_their_own(make_run, capsys):
    config = make_run()
    assert rehearse(config, "--edge", "age,readmitted=strong", "--json") == 0
    strong = lines(capsys)[-1]
    assert rehearse(config, "--json") == 0
    assert strong["estimates"] != lines(capsys)[-1]["estimates"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--edge", "age=strong"], "CAUSE,EFFECT=STRENGTH"),
        (["--edge", "age,readmitted=huge"], "CAUSE,EFFECT=STRENGTH"),
        (["--edge", "ward,age=weak"], "no edge of the graph"),
        (["--epsilon", "one"], "numbers above 0 with commas"),
        (["--epsilon", "0"], "epsilon must be"),
        (["--seeds", "0"], "seeds must be"),
        (["--jobs", "0"], "jobs must be"),
        (["--rows", "1"], "--rows must be"),
        (["--stand-in", "sample:nothing"], "no sample named"),
        (["--stand-in", "nowhere.csv"], "does not exist"),
        (["--stand-in", "sample:scm_spurious", "--shift", "parents"], "not defined for these"),
        (["--auto", "--shift", "none", "--shift", "parents"], "under one shift"),
    ],
)
def test_a_mistake_is_a_sentence(make_run, capsys, more, words):
    assert rehearse(make_run(), *more) == 2
    assert words in capsys.readouterr().err
