"""The four stories: their lines, the stored results, and that the small run is a part of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from prism_core import reproduction
from prism_core.errors import ConfigError, EvaluationError
from prism_core.figures import story_figure, story_low
from prism_core.reproduction import (
    METHODS,
    STORIES,
    adult_table,
    packaged,
    results,
    story,
)
from prism_core.reproduction.verdicts import champion

RESULTS = Path(__file__).parents[2] / "docs" / "results.json"
SHORT = [one for one in STORIES if one.name != "adult"]


def test_what_comes_with_the_package_is_the_file_of_results():
    assert packaged() == reproduction.load_results(RESULTS)


def test_an_installation_without_results_says_so(monkeypatch):
    monkeypatch.setattr(results, "FILE", "nothing.json")
    results.packaged.cache_clear()
    try:
        with pytest.raises(EvaluationError, match="did not come with this installation"):
            packaged()
    finally:
        results.packaged.cache_clear()


@pytest.mark.parametrize("one", STORIES, ids=lambda one: one.name)
def test_every_line_is_a_method_that_runs_in_its_setting_and_ours_comes_first(one):
    assert all(setting in METHODS[method].settings for method, setting in one.lines)
    assert all(METHODS[method].private for method, _ in one.lines)  # no oracle among them
    assert set(one.live) <= set(one.lines)
    assert one.lines[0] == (champion(one.name), "ours")
    assert any(setting == "paper" for _, setting in one.lines)
    assert ("mst", "ours") in one.live


@pytest.mark.parametrize("one", SHORT, ids=lambda one: one.name)
def test_the_small_run_asks_for_its_lines_alone(one):
    asked = one.asked()
    lines = {(run.method.name, run.setting.name) for run in asked}
    assert lines == set(one.live)
    assert len(asked) == len(one.live) * one.live_seeds * len(one.live_epsilons)
    assert {run.seed for run in asked} == set(range(one.live_seeds))


def test_a_run_made_here_is_that_of_the_long_run():
    """The same seed gives the stored AUC, so the two figures can be read against each other."""
    one = replace(story("allocation-wins"), live=(("graphical-opt", "paper"),), live_seeds=1)
    some = list(one.run())
    for outcome in some:
        (kept,) = [row for row in one.stored().rows if row.key == outcome.key]
        assert outcome.onehot.auc == pytest.approx(kept.onehot.aucs[0], abs=0.02)
        again = reproduction.RunOutcome.from_dict(json.loads(json.dumps(outcome.to_dict())))
        assert again == outcome
    assert len(some) == 2


def test_a_run_that_lacks_a_field_is_refused():
    with pytest.raises(EvaluationError, match="lacks a field"):
        reproduction.RunOutcome.from_dict({"onehot": {}})


def test_rows_are_shown_in_the_order_of_the_lines_with_the_commands_behind_them():
    one = story("scm-spurious")
    kept = one.stored()
    assert [(row.method, row.setting) for row in kept.rows] == sorted(
        ((row.method, row.setting) for row in kept.rows), key=one.lines.index
    )
    assert len(kept.made) == len(kept.rows)
    assert all("--benchmarks scm-spurious" in made.command for made in kept.runs)
    assert kept.seeds[0] >= 1
    assert story("scm-spurious").stored(reproduction.Results()).seeds == (0, 0)


def test_a_method_keeps_its_colour_whichever_lines_have_rows():
    one = story("scm-spurious")
    rows = one.stored().rows
    some = [row for row in rows if row.method == "mst"]
    full, part = (story_figure(r, "t", order=one.lines) for r in (rows, some))
    colour = [
        {trace.name: trace.line.color for trace in drawn.figure.data if trace.mode != "lines"}
        for drawn in (full, part)
    ]
    assert colour[0] == colour[1]
    assert "causal-opt, as in the paper" in full.words
    assert "causal-opt" not in part.words


def test_two_seeds_have_no_interval():
    (row, *_) = story("allocation-wins").stored().rows
    two = replace(
        row,
        seeds=(0, 1),
        onehot=replace(row.onehot, aucs=row.onehot.aucs[:2], auc_ci=0.9),
        standardised=replace(row.standardised, aucs=row.standardised.aucs[:2]),
    )
    assert "±" in story_figure([row], "t").words
    assert "±" not in story_figure([two], "t").words
    assert story_low([two]) == pytest.approx(0.47)


def test_adult_opens_where_its_file_is(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {name: rng.integers(0, size, 200) for name, size in adult_table.SIZES.items()}
    )
    frame.to_csv(tmp_path / "adult.csv", index=False)
    one = story("adult")
    monkeypatch.setenv(adult_table.PATH_VARIABLE, str(tmp_path / "gone.csv"))
    assert "adult.csv" in one.missing
    monkeypatch.setenv(adult_table.PATH_VARIABLE, str(tmp_path / "adult.csv"))
    assert one.missing == ""
    assert {(run.method.name, run.epsilon, run.seed) for run in one.asked()} == {
        ("predictive-opt", 1.0, 0),
        ("mst", 1.0, 0),
    }
    sample = one.sample()
    assert (sample.train.rows, sample.test.rows) == (160, 40)
    task, synthesis = one.project(sample)
    assert (task.regime, task.k, synthesis.rows) == ("predictive", 11, 5_000)


def test_an_unknown_story_is_refused():
    with pytest.raises(ConfigError, match="scm-spurious"):
        story("nothing")
