"""The form with columns to be learned, and outlines written down again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prism_core.data.schema import column_form
from prism_core.data.schema.column import Column
from prism_core.errors import BudgetError, SchemaError
from prism_core.learning.domain import outline_io as learning_form
from prism_core.learning.domain.domain_plan import design_domain
from prism_core.learning.domain.outline_io import dumps_outline, loads_outline
from prism_core.learning.domain.requests import CategoryRequest, NumericRequest, Outline
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.accountants.accountant import accountant
from prism_core.privacy.accountants.conversions import epsilon_to_rho
from prism_core.privacy.learning_charge import LearningCharge, amount_left
from tests.support.refusals import refused

N = 2_000
OUTLINE = Outline(
    columns=(
        NumericRequest(name="age", lower=0, upper=150, decimals=0, bins=6, cells=75),
        NumericRequest(name="paid", lower=-5.5, upper=1e6, scale="log", unit=2.5, nullable=True),
        NumericRequest(name="seen", lower=0, upper=20_000, kind="date", description="day"),
        CategoryRequest(name="ward", other="rest", max_levels=7, nullable=True),
        Column(name="y", kind="boolean"),
    ),
    one_row_per_person=True,
)


def test_an_outline_is_read_back_as_it_was_written():
    assert loads_outline(dumps_outline(OUTLINE)) == OUTLINE


def test_people_provenance_and_earlier_cost_are_written_too():
    prior = replace(design_domain(OUTLINE, 1.0, None, N).prior(3), person_id="mrn")
    other = Outline(
        columns=OUTLINE.columns, person_id="mrn", persons=N, provenance="private rows", prior=prior
    )
    assert loads_outline(dumps_outline(other)) == other


def test_the_form_gives_the_outline_back():
    rows, details = learning_form.to_rows(OUTLINE)
    assert [row["learn"] for row in rows] == [True, True, True, True, False]
    assert learning_form.from_rows(rows, details) == OUTLINE.columns


@pytest.mark.parametrize("other", ["1", "true", "a|b", "01", "1.0", '"x"', "rest"])
def test_the_level_of_everything_else_stays_the_text_that_it_is(other):
    outline = replace(OUTLINE, columns=(CategoryRequest(name="ward", other=other),))
    assert loads_outline(dumps_outline(outline)) == outline
    assert learning_form.from_rows(*learning_form.to_rows(outline)) == outline.columns


def test_a_level_that_is_no_text_is_taken_for_the_text_of_its_cells():
    text = (
        "columns:\n- {name: a, kind: categorical, other: %s, learn: true}\none_row_per_person: true"
    )
    for written, other in (("true", "true"), ("1.0", "1"), ("01", "01")):
        (request,) = loads_outline(text % written).columns
        assert request.other == other


def test_what_is_absent_has_its_default():
    row = column_form.blank_rows(["age"])[0] | {"kind": "numeric", "lower": "0", "upper": "150"}
    row["learn"] = True
    (found,) = learning_form.from_rows([row], {"age": {"cells": None, "unit": 3}})
    assert found == NumericRequest(name="age", lower=0, upper=150, unit=3.0)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"kind": "numeric"}, "nobody's value could leave"),
        ({"kind": "numeric", "lower": "0", "upper": "9", "bins": "1 | 2"}, "not their edges"),
        ({"kind": "numeric", "lower": "0", "upper": "9", "bins": "2.5"}, "bins must be a whole"),
        ({"kind": "categorical", "levels": "a | b"}, "clear its levels"),
        ({"kind": "ordinal", "levels": "1 | 2"}, "numeric, date and categorical"),
        ({"kind": ""}, "choose its kind"),
    ],
)
def test_a_wish_that_cannot_be_learned_is_named(row, words):
    full = column_form.blank_rows(["x"])[0] | row | {"learn": True}
    with pytest.raises(SchemaError, match=words):
        learning_form.from_rows([full], {})


def test_a_column_still_to_be_learned_is_no_declared_one():
    rows, _ = learning_form.to_rows(OUTLINE)
    with refused(SchemaError, "age.learn"):
        column_form.from_rows(rows)


@pytest.mark.privacy
def test_learning_twice_is_deducted_twice():
    first = design_domain(OUTLINE, 1.0, None, N, share=0.2)
    again = Outline(
        columns=(CategoryRequest(name="ward"), Column(name="y", kind="boolean")),
        one_row_per_person=True,
        prior=first.prior(1),
    )
    second = design_domain(again, 1.0, None, N, share=0.2)
    whole = second.prior(2)
    assert whole.events == (*first.events, *second.events)
    assert whole.subjects == ("age", "paid", "seen", "ward", "ward")
    assert whole.rho == pytest.approx(first.spent.rho + second.spent.rho)
    assert whole.failing == pytest.approx(2 * 0.1 * first.delta)
    # The charge of the second step is its own, and a fifth of what was left.
    left = amount_left(accountant("zcdp"), 1.0, first.delta * 0.9, first.prior())
    assert second.spent.rho == pytest.approx(0.2 * left)
    assert whole.rho <= epsilon_to_rho(1.0, first.delta - whole.failing)
    with pytest.raises(BudgetError, match="used up the declared budget"):
        design_domain(again, 0.05, None, N)


@pytest.mark.privacy
def test_what_is_left_is_what_a_plan_may_spend():
    plan = design_domain(OUTLINE, 1.0, None, N)
    columns = [
        request.column(request.lower, request.upper, ())
        if isinstance(request, NumericRequest)
        else request.column(("north",))
        for request in OUTLINE.requests
    ]
    later = design(
        Brief(
            plan.schema(columns, plan.prior()),
            Task(target="y", regime="predictive", k=2),
            Budget(epsilon=1.0),
            N,
            synthesis=Synthesis(model="naive_bayes"),
        )
    )
    assert later.spent.epsilon == pytest.approx(plan.left_epsilon, rel=1e-6)
    assert plan.left_epsilon < 1.0 < plan.left_epsilon + plan.spent.epsilon


@pytest.mark.privacy
def test_learning_does_not_launder_a_draft_from_private_rows():
    drafted = Outline(columns=OUTLINE.columns, one_row_per_person=True, provenance="private rows")
    for outline, provenance in ((OUTLINE, "dp"), (drafted, "private rows")):
        plan = design_domain(outline, 1.0, None, N)
        request = CategoryRequest(name="ward")
        grids = [r.grid for r in outline.requests if isinstance(r, NumericRequest)]
        schema = plan.schema([*grids, request.column(())], plan.prior())
        assert schema.provenance == provenance
        assert isinstance(schema.prior, LearningCharge)
