"""Curves, sentences and the automatic choice, from points made by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from prism_core.figures import lowest, rehearsal_figure, rehearsal_text
from prism_core.planning.wishes.scenario import Scenario
from prism_core.planning.wishes.task import Synthesis, Task
from prism_core.rehearsal import Rehearsal, RehearsalPoint, estimates, from_graph, pace, verdict
from prism_core.rehearsal.allocation_choice import (
    PLANNED,
    TILTS,
    candidates,
    choose,
    decide,
    trial,
)
from prism_core.rehearsal.estimates import estimates_from, half_width, leads

EVIL = '<a href="javascript:x">a</a> & $x$'


def point(
    variant="a", epsilon=1.0, seed=0, auc=0.7, shift="none", ceiling=0.9, metric="auc"
) -> RehearsalPoint:
    return RehearsalPoint(
        variant=variant,
        epsilon=epsilon,
        seed=seed,
        shift=shift,
        metric=metric,
        score=auc,
        ceiling=ceiling,
        seconds=0.1,
    )


def curve(variant, areas, epsilon=1.0, **more):
    return [point(variant, epsilon, seed, auc, **more) for seed, auc in enumerate(areas)]


def test_the_interval_is_students():
    values = [0.7, 0.8, 0.75, 0.72]
    low, high = stats.t.interval(0.95, 3, loc=np.mean(values), scale=stats.sem(values))
    assert half_width(values) == pytest.approx((high - low) / 2)
    assert half_width([0.7]) is None


@pytest.mark.parametrize(
    ("done", "before", "seconds", "words"),
    [
        (0, 0, 78.0, ""),
        (10, 10, 78.0, ""),
        (150, 0, 78.0, ""),  # nothing known, or nothing left
        (1, 0, 0.2, "about 30 s more at this pace"),
        (11, 10, 2.0, "about 5 minutes more at this pace"),
        (30, 0, 3_600.0, "about 4.0 hours more at this pace"),
        (149, 0, 1.0, "about 1 s more at this pace"),
    ],
)
def test_the_time_left_is_told_from_the_runs_that_have_ended(done, before, seconds, words):
    assert pace(done, before, 150, seconds) == words


def test_estimates_stand_in_order_and_do_not_mix_shifts():
    points = [
        *curve("b", [0.6, 0.8], 2.0),
        *curve("b", [0.5], 1.0),
        *curve("a", [0.9], 1.0),
        *curve("b", [0.1], 1.0, shift="children"),
    ]
    found = estimates(points)
    assert [(e.variant, e.shift, e.epsilon) for e in found] == [
        ("b", "none", 1.0),
        ("b", "none", 2.0),
        ("a", "none", 1.0),
        ("b", "children", 1.0),
    ]
    assert found[1].mean == pytest.approx(0.7)
    assert (found[0].half, found[0].runs, found[1].runs) == (None, 1, 2)
    json.dumps([one.to_dict() for one in found])


def test_leads_compare_seed_by_seed():
    """Both vary by .2 from seed to seed, and differ by .01 in each: a clear lead."""
    rng = np.random.default_rng(0)
    base = 0.6 + 0.2 * rng.random(10)
    points = [*curve("a", base + 0.01), *curve("b", base)]
    (lead,) = leads(points, "none")
    assert (lead.best, lead.second) == ("a", "b")
    assert lead.by == pytest.approx(0.01)
    assert lead.clear
    points = [*curve("a", base), *curve("b", base[::-1])]
    assert not leads(points, "none")[0].clear


def test_a_lead_that_no_figure_shows_is_none():
    points = [*curve("a", [0.9004, 0.9104]), *curve("b", [0.9, 0.91])]
    (lead,) = leads(points, "none")
    assert lead.by > (lead.half or 0.0)
    assert not lead.clear


def test_seeds_that_only_one_design_has_are_not_compared():
    points = [*curve("a", [0.9, 0.1]), point("b", seed=0, auc=0.8)]
    (lead,) = leads(points, "none")
    assert lead.by == pytest.approx(0.1)
    assert not lead.clear  # one seed says nothing
    assert leads([*curve("a", [0.9]), point("b", seed=5)], "none") == ()
    assert leads(curve("a", [0.9]), "none") == ()


def test_the_verdict_names_the_best_where_it_is_clear():
    points = []
    for epsilon, a, b in ((0.2, 0.9, 0.8), (1.0, 0.9, 0.7), (4.0, 0.6, 0.8)):
        for seed in range(4):
            jitter = 0.001 * seed
            points += [point("a", epsilon, seed, a + jitter), point("b", epsilon, seed, b)]
    said = verdict(points, "none")
    assert "at epsilon 0.2 to 1 “a” is ahead of the next by 0.10" in said
    assert "at epsilon 4 “b” is ahead" in said
    assert verdict(points, "children") == ""
    same = [*curve("a", [0.7, 0.8]), *curve("b", [0.7, 0.8])]
    assert "no design is clearly ahead" in verdict(same, "none")


# --- figure ------------------------------------------------------------------------------------


def test_the_figure_has_curves_ceilings_chance_and_no_markup():
    points = [*curve(EVIL, [0.7, 0.8]), *curve("b", [0.6, 0.65], ceiling=0.8)]
    figure = rehearsal_figure(estimates(points), epsilons=(0.5, 1.0), names=(EVIL, "b"))
    text = figure.to_json()
    assert "NaN" not in text
    for trace in figure.data:
        assert "<a" not in trace.name
    shown = [trace.name for trace in figure.data if trace.showlegend]
    assert len(shown) == 2
    dashes = [trace.line.dash for trace in figure.data]
    assert dashes.count("dash") == 2  # two ceilings
    assert dashes.count("dot") == 1  # chance
    bars = [trace.error_y.array for trace in figure.data if trace.showlegend]
    assert bars[0][0] == pytest.approx(half_width([0.7, 0.8]))
    assert list(figure.layout.xaxis.ticktext) == ["0.5", "1"]


def test_one_ceiling_for_all_is_one_line():
    points = [*curve("a", [0.7]), *curve("b", [0.6])]
    figure = rehearsal_figure(estimates(points))
    assert [trace.line.dash for trace in figure.data].count("dash") == 1


def test_a_numeric_target_is_spoken_of_in_r_squared():
    """Its axis goes below 0, where the mean predicts better, but not without end."""
    points = [
        *curve("a", [0.3, 0.31, 0.32], metric="r2"),
        *curve("b", [0.2, 0.2, 0.2], metric="r2"),
    ]
    said = verdict(points, "none")
    assert "“a” is ahead of the next by 0.110 R²" in said
    found = estimates(points)
    assert estimates_from([one.to_dict() for one in found]) == found
    assert {one.unit for one in found} == {"R²"}
    assert "a: R² 0.310 ±" in rehearsal_text(found)
    figure = rehearsal_figure(found)
    assert figure.layout.yaxis.title.text == "R² on rows kept aside"
    assert [note.text for note in figure.layout.annotations] == ["always the mean"]
    (guess,) = (trace for trace in figure.data if trace.line.dash == "dot")
    assert set(guess.y) == {0.0}
    assert lowest(found) == pytest.approx(-0.03)
    assert lowest(estimates(curve("a", [-0.2, -0.2], metric="r2"))) == pytest.approx(-0.23)
    assert lowest(estimates(curve("a", [-9.0], metric="r2"))) == pytest.approx(-9.03)


def test_an_estimate_kept_before_there_was_a_metric_is_of_the_auc():
    (one,) = estimates(curve("a", [0.7]))
    document = one.to_dict()
    del document["metric"]
    assert estimates_from([document]) == (one,)
    with pytest.raises(ValueError, match="metric"):
        estimates_from([document | {"metric": "luck"}])


def test_nothing_yet_is_a_sentence():
    assert "Nothing has been rehearsed" in rehearsal_figure([]).layout.annotations[0].text
    assert "Nothing has been rehearsed" in rehearsal_text([])


def test_the_axis_leaves_room_for_chance_and_intervals():
    assert lowest(estimates(curve("a", [0.9]))) == pytest.approx(0.47)
    assert lowest(estimates(curve("a", [0.2, 0.2]))) == pytest.approx(0.17)


def test_the_figure_in_words_holds_every_number():
    said = rehearsal_text(estimates([*curve("a", [0.7, 0.8]), *curve("a", [0.9], 2.0)]))
    for part in ("a: AUC 0.750 ±", "at epsilon 1", "0.900 at epsilon 2", "without noise 0.900"):
        assert part in said


# --- the automatic choice ----------------------------------------------------------------------


PLAN = Scenario(name="mine", task=Task(target="Y"), synthesis=Synthesis(model="naive_bayes"))


def decided(**areas):
    """Points of candidates by name, in the order of the trial."""
    names = {"cf": "closed form", "u": "uniform", "t75": "tilt 0.75"}
    variants = tuple(replace(PLAN, name=names[key]) for key in areas)
    rehearsal = Rehearsal(variants=variants, epsilons=(1.0,), seeds=len(areas["cf"]))
    points = [p for key, values in areas.items() for p in curve(names[key], values)]
    return decide(PLAN, rehearsal, points)


def test_the_simplest_that_is_level_is_chosen():
    noisy = decided(cf=[0.80, 0.90, 0.70], u=[0.85, 0.86, 0.74])
    assert noisy.chosen == "closed form"
    assert "cannot be told from the best, “uniform”" in noisy.why
    assert [one.level for one in noisy.tried] == [True, True]


def test_what_is_seen_to_cost_is_not_chosen():
    clear = decided(cf=[0.80, 0.81, 0.79], u=[0.90, 0.912, 0.89], t75=[0.90, 0.911, 0.89])
    assert clear.chosen == "uniform"
    assert "“uniform” predicts best" in clear.why
    assert clear.tried[0].behind == pytest.approx(0.1, abs=0.01)
    json.dumps(clear.to_dict())


def test_the_choice_keeps_all_other_wishes(schema):
    rows = from_graph(schema, "readmitted", 200, holdout=100)
    mine = replace(PLAN, task=Task(target="readmitted", regime="predictive", k=3, three_way="cmi"))
    found = choose(mine, rows, 1.0, seeds=2, jobs=1)
    assert found.scenario.name == "mine"
    assert found.scenario.task == replace(mine.task, three_way="none")  # naive Bayes has none
    assert found.scenario.budget.epsilon == mine.budget.epsilon
    assert [one.name for one in found.tried] == list(TILTS.values())


def test_three_way_marginals_are_tried_where_they_would_be_measured(schema):
    rows = from_graph(schema, "readmitted", 200, holdout=100)
    pgm = Scenario(
        name="mine",
        task=Task(
            target="readmitted", regime="predictive", k=4, max_joint_cells=0, three_way="none"
        ),
    )
    names = [one.name for one in candidates(pgm, rows, 1.0)]
    assert len(names) == 1 + 2 * len(TILTS)
    assert names[:3] == [PLANNED, "closed form", "uniform"]
    assert trial(pgm, rows, 1.0, seeds=3).runs == 33
    joint = replace(pgm, task=Task(target="readmitted", regime="predictive", k=1))
    assert len(candidates(joint, rows, 1.0)) == 1 + len(TILTS)
