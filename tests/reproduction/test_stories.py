"""The five stories: their lines, the stored results, and that the small run is a part of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from prism_core import reproduction
from prism_core.errors import ConfigError, EvaluationError
from prism_core.figures import story_dots
from prism_core.reproduction import (
    METHODS,
    STORIES,
    packaged,
    results,
    stories,
    story,
)
from prism_core.reproduction.verdicts import champion
from tests.support.refusals import refused

RESULTS = Path(__file__).parents[2] / "docs" / "results.json"


def test_what_comes_with_the_package_is_the_file_of_results():
    assert packaged() == reproduction.load_results(RESULTS)


def test_an_installation_without_results_says_so(monkeypatch):
    monkeypatch.setattr(results, "FILE", "nothing.json")
    results.packaged.cache_clear()
    try:
        with refused(EvaluationError, "results"):
            packaged()
    finally:
        results.packaged.cache_clear()


@pytest.mark.parametrize("one", STORIES, ids=lambda one: one.name)
def test_every_line_is_a_method_that_runs_in_its_setting_and_ours_comes_first(one):
    assert all(setting in METHODS[method].settings for method, setting in one.lines)
    assert all(METHODS[method].private for method, _ in one.lines)  # no oracle among them
    assert set(one.slow) < set(one.lines)
    assert one.lines[0] == (champion(one.name), "ours")
    assert one.rival in one.live
    assert ("mst", "ours") in one.live


def test_the_split_that_is_told_against_is_ours_too():
    """Against the paper's even split alone, accounting and model would be taken for the split."""
    assert {("graphical-unif", "ours"), ("graphical-unif", "paper")} <= set(
        story("allocation-wins").lines
    )


@pytest.mark.parametrize("one", STORIES, ids=lambda one: one.name)
def test_the_small_run_asks_for_its_lines_alone(one):
    asked = one.asked()
    lines = {(run.method.name, run.setting.name) for run in asked}
    assert lines == set(one.live)
    assert len(asked) == len(one.live) * one.live_seeds
    assert {run.seed for run in asked} == set(range(one.live_seeds))


def test_a_run_made_here_is_that_of_the_long_run():
    """The same seed gives the stored AUC, so the two figures can be read against each other."""
    one = story("allocation-wins")
    others = tuple(line for line in one.lines if line != ("graphical-opt", "paper"))
    one = replace(one, slow=others, live_seeds=1)
    some = list(one.run())
    for outcome in some:
        (kept,) = [row for row in one.stored().rows if row.key == outcome.key]
        assert outcome.onehot.auc == pytest.approx(kept.onehot.aucs[0], abs=0.02)
        again = reproduction.RunOutcome.from_dict(json.loads(json.dumps(outcome.to_dict())))
        assert again == outcome
    assert len(some) == 1


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


@pytest.mark.parametrize("one", STORIES, ids=lambda one: one.name)
def test_the_number_of_a_story_is_that_of_its_stored_rows(one):
    rows = one.at_epsilon(one.stored().rows)
    assert {row.epsilon for row in rows} == {one.epsilon}
    assert [(row.method, row.setting) for row in rows] == list(one.lines)
    found = one.headline(rows)
    assert found.ours == rows[0].onehot.auc_mean
    assert found.ours > found.rival + 0.02
    assert one.headline(rows[1:]) is None


def test_nearly_all_pairs_are_never_rounded_up_to_all():
    assert [stories.of_hundred(auc) for auc in (0.504, 0.994, 0.996, 1.0)] == [
        "50",
        "99",
        "over 99",
        "over 99",
    ]


def test_two_seeds_have_no_interval():
    one = story("allocation-wins")
    row = one.at_epsilon(one.stored().rows)[1]
    two = replace(
        row,
        seeds=(0, 1),
        onehot=replace(row.onehot, aucs=row.onehot.aucs[:2], auc_ci=0.9),
        standardised=replace(row.standardised, aucs=row.standardised.aucs[:2]),
    )
    assert "±" in story_dots([row], "t", one.label).words
    assert "±" not in story_dots([two], "t", one.label).words


def test_an_unknown_story_is_refused():
    with pytest.raises(ConfigError, match="scm-spurious"):
        story("nothing")
