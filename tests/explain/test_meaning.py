"""What epsilon means: odds and tests from the whole composition, in text that cannot be abused."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from prism_core.bundle.write import bundle_folder
from prism_core.cli import main
from prism_core.data.encoding import encode
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import BudgetError
from prism_core.explain.deployments import DEPLOYMENTS
from prism_core.explain.meaning import GUESSES, RATES, Guess, after, fixed, meaning
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.accountants.conversions import rho_to_epsilon
from prism_core.privacy.accountants.trade_off_bound import loss_bound
from prism_core.privacy.events import GaussianEvent
from prism_core.privacy.learning_charge import LearningCharge
from prism_core.privacy.noise import SeededNoise
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import release

pytestmark = pytest.mark.privacy

TASK = Task(target="readmitted")
DAG = Dag(nodes=("age", "readmitted", "ward"), edges=(("age", "readmitted"),))
STAR = Synthesis(model="naive_bayes")
EVIL = "x|y](javascript:alert) *b* `c` <i>"


def plan_of(schema, *, synthesis=STAR, n=300, dag=DAG, **budget):
    return design(Brief(schema, TASK, Budget(**budget), n, dag=dag, synthesis=synthesis))


# --- odds ------------------------------------------------------------------------------------


def test_odds_by_hand():
    """Odds of 1 to 19, four times as large, are 4 to 19: 4 in 23."""
    found = after(1 / 20, math.log(4.0))
    assert found == pytest.approx(4 / 23, rel=1e-11)
    assert found >= 4 / 23
    guess = Guess(one_in=20, after=found)
    assert (guess.before_words, guess.after_words) == ("1 in 20", "1 in 5")
    assert guess.sentence == (
        "If a guess was right 1 in 20 before, it is right at most 1 in 5 after: of 100 such "
        "guesses, 5 were right before, and at most 18 are after."
    )


def test_nothing_spent_leaves_a_guess_where_it_was():
    for one_in in GUESSES:
        assert after(1 / one_in, 0.0) == pytest.approx(1 / one_in, rel=1e-11)
    assert after(0.5, 800.0) == 1.0


@pytest.mark.parametrize(("one_in", "people"), [(2, 100), (100, 100), (101, 1_000), (1_000, 1_000)])
def test_before_and_after_are_said_of_the_same_number_of_people(one_in, people):
    assert Guess(one_in=one_in, after=0.5).people == people


@pytest.mark.parametrize("bad", [1, 0, -3, 2.5, True, 10**7], ids=repr)
def test_guesses_that_mean_nothing_are_refused(schema, bad):
    with pytest.raises(BudgetError, match="A guess must be"):
        meaning(plan_of(schema)).guess(bad)


# --- the whole composition -------------------------------------------------------------------


def test_it_follows_from_the_events_of_the_plan(schema):
    plan = plan_of(schema, synthesis=Synthesis())
    found = meaning(plan)
    rho = math.fsum(event.rho for event in plan.events)
    assert found.trade.rho >= rho
    assert found.trade.rho == pytest.approx(rho, rel=1e-8)
    assert found.loss == loss_bound(found.trade.rho, 0.0, plan.delta)
    assert found.loss > rho_to_epsilon(rho, plan.delta)  # epsilon is an average, the loss is not
    assert found.epsilon == plan.guarantee.epsilon
    assert [test.rate for test in found.tests] == list(RATES)
    assert all(test.power > test.rate for test in found.tests)
    assert [guess.one_in for guess in found.guesses] == list(GUESSES)
    assert all(guess.after > guess.before for guess in found.guesses)


def test_what_learning_cost_is_in_it(schema):
    """The events before the plan count, though the plan's own epsilon is smaller for them."""
    delta = 1.0 / 300**2
    prior = LearningCharge(events=(GaussianEvent(sigma=12.0, label="learning age"),), delta=delta)
    learned = plan_of(replace(schema, provenance="dp", prior=prior))
    found = meaning(learned)
    own = math.fsum(event.rho for event in learned.events)
    assert found.trade.rho == pytest.approx(own + 1 / 144, rel=1e-8)
    assert found.learned == prior.spent.epsilon
    assert found.epsilon == learned.guarantee.epsilon > learned.spent.epsilon
    assert "learning before" in found.basis
    assert "learned with a part of the budget" in found.to_markdown()
    assert not fixed(learned)


def test_more_epsilon_means_more(schema):
    small, large = (meaning(plan_of(schema, epsilon=epsilon)) for epsilon in (0.5, 2.0))
    for less, more in zip(small.guesses, large.guesses, strict=True):
        assert less.after < more.after
    for less, more in zip(small.tests, large.tests, strict=True):
        assert less.power < more.power


def test_a_private_regression_never_fails(schema):
    task = Task(target="readmitted", regime="predictive", k=2, selection="logistic")
    plan = design(Brief(schema, task, Budget(), 300, synthesis=STAR))
    assert meaning(plan).trade.failing == 0.0


def test_exact_where_the_accountant_was_and_on_request(schema):
    plain, sharp = plan_of(schema), plan_of(schema, accountant="pld")
    assert not meaning(plain).trade.exact
    assert meaning(sharp).trade.exact
    on_request = meaning(plain, exact=True)
    assert "privacy loss distribution" in on_request.basis
    for less, more in zip(on_request.tests, meaning(plain).tests, strict=True):
        assert less.power <= more.power
    assert on_request.loss == meaning(plain).loss


def test_choices_at_run_time_are_never_composed_as_distributions(schema):
    plan = plan_of(schema, synthesis=Synthesis())
    assert plan.tree is not None
    assert not fixed(plan)
    assert not meaning(plan, exact=True).trade.exact


def test_the_curve_passes_through_what_is_spelled_out(schema):
    found = meaning(plan_of(schema))
    assert (found.curve[0].rate, found.curve[-1].rate) == (0.0, 1.0)
    rates = [gain.rate for gain in found.curve]
    powers = [gain.power for gain in found.curve]
    assert rates == sorted(rates)
    assert powers == sorted(powers)
    by_name = dict(zip(np.round(rates, 9), powers, strict=True))
    assert by_name[0.001] == pytest.approx(found.tests[0].power)


# --- text ------------------------------------------------------------------------------------


def test_the_text_for_a_committee(schema):
    found = meaning(plan_of(schema))
    text = found.to_markdown()
    assert text.startswith("# What epsilon means here\n")
    assert found.claim in text
    assert "1 in 90,000" in found.claim
    for part in ("learn about one person", "membership test", "published releases", "not protect"):
        assert part in text
    for guess in found.guesses:
        assert f"| {guess.before_words} | {guess.after_words} |" in text
    for test in found.tests:
        assert test.sentence in text
    assert found.tests[0].sentence.startswith("A test that wrongly points at 10 of 10,000 people")
    assert all(limit.text in text for limit in found.limits)
    assert "rehearsal" not in text


def test_a_rehearsal_says_that_it_protects_nobody(schema):
    text = meaning(plan_of(schema)).to_markdown(stamp="rehearsal, not a release")
    assert "protects nobody" in text


def test_names_cannot_become_markup():
    """Bars, brackets, links and code in the names of columns stay text."""
    schema = Schema(
        columns=(Column(name="a", kind="boolean"), Column(name=EVIL, kind="boolean")),
        person_id="id|[x](y)",
        persons=300,
    )
    dag = Dag(nodes=schema.names, edges=(("a", EVIL),))
    plan = design(Brief(schema, Task(target=EVIL), Budget(), 300, dag=dag, synthesis=STAR))
    text = meaning(plan).to_markdown()
    assert EVIL not in text
    assert "id|[x]" not in text
    links = set(re.findall(r"(?<!\\)\]\(([^)]*)\)", text))
    assert links == {each.source for each in DEPLOYMENTS}
    assert not re.search(r"(?<!\\)[<`]", text)


def test_every_row_of_a_table_has_its_cells(schema):
    for block in meaning(plan_of(schema)).to_markdown().split("\n\n"):
        lines = [line for line in block.split("\n") if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) <= 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"provenance": "private rows"}, "taken from the private rows"),
        ({"provenance": "public twin"}, "drafted from a public file"),
        ({}, "exactly one row"),
        ({"one_row_per_person": False, "person_id": "mrn", "persons": 300}, "every value of mrn"),
        ({"one_row_per_person": False}, "not declared yet"),
    ],
)
def test_what_is_not_protected_depends_on_the_declaration(schema, change, words):
    found = meaning(plan_of(replace(schema, **change)))
    assert any(words in limit.text for limit in found.limits)


def test_a_family_is_protected_less(schema):
    plan = plan_of(schema, epsilon=0.2)
    found = meaning(plan)
    factor = math.exp(loss_bound(9 * found.trade.rho, 0.0, plan.delta))
    shown = float(re.search(r"factor of up to ([\d.]+)\.", found.limits[0].text).group(1))
    assert factor <= shown <= 1.1 * factor
    assert "more than a million" in meaning(plan_of(schema, epsilon=9.0)).limits[0].text


def test_published_releases_name_their_source():
    assert 6 <= len(DEPLOYMENTS) <= 9
    assert len({each.name for each in DEPLOYMENTS}) == len(DEPLOYMENTS)
    for each in DEPLOYMENTS:
        assert each.source.startswith("https://")
        assert not set("()<>| ") & set(each.source)
        assert 2010 < each.year < 2030
        assert each.epsilon > 0
        assert each.delta is None or 0 < each.delta < 1
        assert each.unit


# --- where it goes ---------------------------------------------------------------------------


def test_every_release_carries_it(schema, frame, tmp_path):
    table = encode(schema, RawTable(frame), public=True)
    plan = plan_of(schema, synthesis=Synthesis(model="naive_bayes", rows=20))
    rng = np.random.default_rng(1)
    made = release(plan, table, ledger=None, noise=SeededNoise(rng), rng=rng)
    text = (bundle_folder.write(made, tmp_path / "out") / bundle_folder.MEANING).read_text(
        encoding="utf-8"
    )
    assert text == meaning(made.plan).to_markdown(stamp=made.stamp)
    assert "protects nobody" in text
    private = release(plan, encode(schema, RawTable(frame)), ledger=None, rng=rng)
    text = (bundle_folder.write(private, tmp_path / "other") / bundle_folder.MEANING).read_text(
        encoding="utf-8"
    )
    assert "protects nobody" not in text


def test_on_the_command_line(make_run, capsys):
    config = make_run()
    assert main.main(["plan", str(config), "--meaning"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("# What epsilon means here")
    assert main.main(["plan", str(config), "--meaning", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["odds_factor"] > math.exp(found["epsilon"])
    assert [test["false_alarms"] for test in found["tests"]] == list(RATES)
    assert len(found["not_protected"]) == 8


def test_exact_needs_the_extra_only_when_it_is_asked_for(schema, monkeypatch):
    from prism_core.privacy.accountants import loss_distribution

    def missing():
        raise BudgetError("dp-accounting is not installed", field="accountant")

    monkeypatch.setattr(loss_distribution, "_library", missing)
    plan = plan_of(schema, n=311)
    assert meaning(plan).tests
    with pytest.raises(BudgetError, match="not installed"):
        meaning(plan, exact=True)
