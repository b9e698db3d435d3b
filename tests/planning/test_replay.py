"""A plan made again from its wishes and choices is the same plan, and other choices are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prism_core.errors import PlanError
from prism_core.planning.choices import Choices, replay
from prism_core.planning.design import design
from tests.support.bundles import TASKS, rehearsed


@pytest.fixture(scope="module")
def plan(small):
    return rehearsed(*small).plan


def test_it_is_the_same_plan_to_the_last_digit(plan):
    stages = replay(plan.brief, Choices.of(plan))
    assert stages.final == plan
    assert stages.final.hash == plan.hash
    assert stages.planned == design(plan.brief)
    assert stages.planned.hash != plan.hash
    assert stages.opened.three_way is not None


@pytest.mark.parametrize("name", TASKS)
def test_a_release_carries_the_stages_that_a_replay_finds(small, name):
    """So nothing designs the plan again to write the bundle."""
    made = rehearsed(*small, task=TASKS[name])
    assert made.stages == replay(made.plan.brief, Choices.of(made.plan))
    assert made.stages.planned.s_is_final == (name == "causal")
    assert made.stages.opened.tree is not None
    assert made.plan is made.stages.final


@pytest.mark.privacy
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: replace(c, s=("age", "ward")), "S is not what"),
        (lambda c: replace(c, triples=()), "not as many 3-way"),
        (lambda c: replace(c, triples=(("age", "readmitted", "smoker"),) * 2), "not as many"),
        (lambda c: replace(c, triples=(("age", "grade", "readmitted"),)), "no forest over S"),
        (lambda c: replace(c, pairs=c.pairs[:-1]), "planned number of pairs"),
        (lambda c: replace(c, pairs=(*c.pairs[:-1], c.pairs[0])), "no forest of candidates"),
        (lambda c: replace(c, pairs=(*c.pairs[:-1], ("age", "smoker"))), "no forest of candidates"),
        (lambda c: replace(c, pairs=(*c.pairs[:-1], ("age", "readmitted"))), "no forest of cand"),
    ],
)
def test_choices_that_no_run_makes_are_refused(plan, change, message):
    with pytest.raises(PlanError, match=message):
        replay(plan.brief, change(Choices.of(plan)))


@pytest.mark.privacy
@pytest.mark.parametrize(
    "s", [("age",), ("age", "age", "ward"), ("age", "ward", "readmitted"), ("age", "ward", "mars")]
)
def test_s_is_as_many_different_features_as_were_to_be_chosen(plan, s):
    wishes = replace(plan.brief, task=TASKS["predictive"])
    with pytest.raises(PlanError, match="as many features"):
        replay(wishes, Choices(s=s))


@pytest.mark.privacy
def test_nothing_is_measured_that_was_not_planned(plan):
    bare = replace(plan.brief, task=replace(plan.task, three_way="none"))
    with pytest.raises(PlanError, match="the plan has not"):
        replay(bare, Choices.of(plan))
    quick = replace(bare, synthesis=replace(plan.synthesis, model="naive_bayes"))
    with pytest.raises(PlanError, match="Background pairs were measured"):
        replay(quick, replace(Choices.of(plan), triples=()))
