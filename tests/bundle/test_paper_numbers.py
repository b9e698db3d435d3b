"""Every number of both papers, annex and all, comes from plan, certificate, ledger or evaluation.

Each has one form: what is known is written down once by the kind of number it is, and a number of a
paper that is not among those forms is a stranger, or the same one rounded in another way.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from prism_core.bundle.account import account_of
from prism_core.bundle.certificate import certificate
from prism_core.bundle.paper_values import paper_values
from prism_core.bundle.report.report_extras import Extras
from prism_core.bundle.report.report_html import report
from prism_core.evaluation.inside_epsilon.private_numbers import INSIDE_EPSILON, PRIVATE
from prism_core.evaluation.results import OUTSIDE_EPSILON
from prism_core.explain.error_bounds import bounds
from prism_core.explain.meaning import meaning
from prism_core.explain.plan_lines import lines
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.search.comparison import figures
from prism_core.planning.wishes.scenario import Scenario
from prism_core.planning.wishes.task import Budget, Task
from prism_core.text import numbers
from tests.support import bundles, reports
from tests.support.approvals import FAST, STATED, approval
from tests.support.reports import Page, protocol_of, staged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prism_core.bundle.account import Account
    from prism_core.bundle.protocol.protocol import Protocol
    from prism_core.planning.plan import Plan

PEOPLE = 1_300
POOLS = ("selection", "choice", "task", "background")
ROWS = "1,400 invented rows"
REHEARSED = replace(reports.REHEARSED, rows=ROWS)
_KIND = {
    **dict.fromkeys(
        ("epsilon", "declared_epsilon", "lifetime_epsilon", "spent", "after"), numbers.eps_text
    ),
    "room": numbers.left_text,
    "delta": numbers.delta_text,
    "rho": numbers.rho_text,
    **dict.fromkeys(("sigma", "largest_sigma"), numbers.sigma_text),
    "share": numbers.share_text,
    **dict.fromkeys(("relative_error", "mean_error", "largest_error"), numbers.error_text),
    **dict.fromkeys(("mean", "half", "ceiling", "score", "value"), numbers.score_text),
    "kept": numbers.whole_percent,
    "factor": numbers.factor_text,
    "bound": numbers.up,
    "chance": numbers.percent,
    "sensitivity": numbers.sensitivity_text,
}
"""How each kind of number is written; what is in no entry is a count."""

_NUMBER = re.compile(r"(?<![\w.,/-])\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?%?(?![\w/])")
# Ends of scales (0.5 guesses, 1 is perfect), the example's hundred, intervals of 95%, 3-way, a
# family of three, and that guarantees above 100% say nothing.
_FIXED = {"0", "1", "0.5", "10", "100", "95%", "95", "100%", "3", "2", "4"}


def plans(schema) -> Iterator[Plan]:
    """Features known beforehand, several rows of a person, a learned domain, another accountant."""
    causal = Task(target="readmitted")
    several = {"one_row_per_person": False, "person_id": "pid", "persons": PEOPLE, "max_rows": 3}
    for declared, budget in (
        (schema, Budget()),
        (replace(schema, **several), Budget()),
        (bundles.learned(schema), Budget()),
        (schema, Budget(epsilon=2.5, accountant="basic")),
    ):
        yield design(Brief(declared, causal, budget, PEOPLE, dag=bundles.DAG, synthesis=FAST))


def private(plan_sha256: str) -> dict[str, Any]:
    number = {"name": "auc", "value": 0.70049, "noise_interval_95": [0.65127, 0.74971]}
    return {
        "private_evaluation": PRIVATE,
        "charge": 4,
        "notice": INSIDE_EPSILON,
        "guarantee": {"epsilon": 0.2003, "delta": 1.31e-9},
        "plan": {"release_plan_sha256": plan_sha256},
        "numbers": [{**number, "subject": "readmitted", "outside_epsilon": False}],
    }


OUTSIDE = {
    "outside_epsilon": True,
    "notice": OUTSIDE_EPSILON,
    "metrics": [
        {
            "name": "auc",
            "subject": "readmitted",
            "value": 0.69951,
            "interval": [0.65149, 0.74449],
            "floor": 0.5,
            "ceiling": 0.80551,
            "kept": 0.6549,
            "kept_interval": [0.5049, 0.9051],
            "outside_epsilon": True,
        }
    ],
}


def test_every_number_of_both_papers_is_known_in_its_one_form(schema):
    for plan in plans(schema):
        made = protocol_of(plan)
        stages, facts = staged(plan)
        balance = made.balance
        assert balance is not None
        account = account_of(plan, balance, None, ())
        given = replace(facts, approval=approval(plan), said=made.statement)
        inside = private(facts.plan_sha256)
        extras = Extras(
            rehearsed=made.rehearsal, evaluation=OUTSIDE, private=(inside,), account=account
        )
        other = replace(plan.budget, epsilon=plan.budget.epsilon * 1.37)
        scenario = Scenario(name="more", task=plan.task, synthesis=FAST, budget=other)
        more = design(Brief(plan.schema, plan.task, other, plan.n, dag=plan.dag, synthesis=FAST))
        paper = report(stages, given, [(scenario, more)], extras=extras)
        known = forms(made, account, more, inside)
        for html in (made.to_html(), paper):
            found = numbers_of(html, plan)
            assert [one for one in found if one not in known] == []
            assert len(found) > 80


def numbers_of(html: str, plan: Plan) -> list[str]:
    """Numbers of a page without hashes, days, references, and what people or the plan say."""
    html = re.sub(r'<ul class="note" lang="en">.*?</ul>', "", html, flags=re.DOTALL)
    words = Page(html).words
    quoted = (*plan.warnings, *(text for text in STATED.to_dict().values() if " " in text))
    for text in (*quoted, "prism-dashboard 1.0", "arXiv 2509.13509", "SHA-256"):
        words = words.replace(text, " ")
    words = re.sub(r"\b[0-9a-f]{12,64}\b|\d{4}-\d{2}-\d{2}|ward 7", " ", words)
    return [one for one in _NUMBER.findall(words) if one not in _FIXED]


def forms(made: Protocol, account: Account, more: Plan, inside: dict[str, Any]) -> set[str]:
    """Every number there is, in its one form."""
    plan = made.plan
    stages, facts = staged(plan)
    meant, theory = meaning(plan), bounds(plan)
    values = paper_values(plan, meant, made.statement)
    whole = [theory.sampling, theory.delta_s, *theory.erm.terms, theory.erm.total]
    score = REHEARSED
    assert score.half is not None
    keys = ("share", "sigma", "relative_error", "cells")
    sources = (
        certificate(stages, facts),
        {name: value for name, value in plan.to_dict().items() if name != "warnings"},
        [{key: getattr(one, key) for key in keys} for one in lines(plan)],
        {"epsilon": [plan.spent.epsilon, plan.guarantee.epsilon], "rho": meant.trade.rho},
        {"spent": account.spent, "after": account.after, "room": account.room},
        {"lifetime_epsilon": account.ceiling, "left": made.holdout, "shown": 40},
        {"share": [*(line.share for line in account.lines), account.left]},
        {"share": [sum(one.share for one in lines(plan) if one.pool == pool) for pool in POOLS]},
        {"factor": [values.factor, values.two, values.family, values.cube]},
        {"factor": [values.guess.odds_after]},
        [one.to_dict() for one in made.rehearsal],
        [vars(one) for one in values.uses],
        {"score": [score.mean - score.half, score.mean + score.half, made.statement.least]},
        [vars(figures(one)) for one in (plan, more)],
        {"relative_error": [each.raw for one in theory.task for each in (one.expected, one.l1)]},
        {"bound": [bound.raw for bound in whole]},
        {"chance": [theory.beta, *(bound.failing for bound in whole)]},
        inside["guarantee"],
        {"score": [(row["value"], row["noise_interval_95"]) for row in inside["numbers"]]},
        {"charge": inside["charge"]},
        *(
            {("kept" if name.startswith("kept") else "score"): value}
            for row in OUTSIDE["metrics"]
            for name, value in row.items()
        ),
        [len(names) for names in (values.used, values.context, values.open, values.uses)],
        [len(stages.final.with_fine), len(plan.schema.columns), len(made.to_dict()["plan"])],
        list(range(1, len(certificate(stages, facts)["events"]) + 1)),
        [column.level_count for column in plan.schema.columns],
    )
    found = {form for key, value in walk(sources) for form in one_form(key, value)}
    for column in plan.schema.columns:
        if column.binned:
            found |= {f"{end:,.10g}" for end in column.bounds}
        found |= set(_NUMBER.findall(" ".join(column.labels())))
    words = [numbers.seldom(plan.delta), ROWS]
    words += [part for guess in meant.guesses for part in (guess.before_words, guess.after_words)]
    found |= {str(values.guess.after_of_100), str(values.guess.wrong_of_100)}
    for gain in meant.tests:
        people = 1_000 if gain.rate >= 0.01 else 10_000
        shown = (numbers.out_of(gain.rate, people), numbers.out_of(gain.power, people), people)
        found |= {f"{one:,}" for one in shown}
    return found | set(_NUMBER.findall(" ".join(words)))


def walk(value: Any, key: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from walk(each, name)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from walk(each, key)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield key, value


def one_form(key: str, value: float) -> set[str]:
    if key in _KIND:
        return {_KIND[key](value)}
    # A charge, a round or a version has no mark for thousands, a count has.
    return {f"{value:,}", str(value)} if isinstance(value, int) else set()


@pytest.mark.parametrize(
    ("filter_", "value", "form"),
    [("sigma", 246.11, "247"), ("error", 0.00979, "0.98%"), ("factor", 20.442, "20.5")],
)
def test_the_numbers_that_once_read_two_ways(filter_, value, form):
    assert getattr(numbers, f"{filter_}_text")(value) == form


def test_a_number_in_another_form_is_a_stranger(schema):
    """What the walk is for: one table that rounds for itself is found."""
    made = protocol_of(next(plans(schema)))
    sigma = max(query.sigma for query in made.plan.queries)
    html = made.to_html()
    shown = numbers.sigma_text(sigma)
    assert shown in numbers_of(html, made.plan)
    balance = made.balance
    assert balance is not None
    account = account_of(made.plan, balance, None, ())
    known = forms(made, account, made.plan, private("0" * 64))
    planted = html.replace(f">{shown}<", f">{sigma:.2f}<")
    assert [one for one in numbers_of(planted, made.plan) if one not in known] != []
