"""T-SENS of persons: every small table of people with several rows, and every person replaced."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from prism_core.data.encoding import rows_per_person, set_aside
from prism_core.data.linear_queries import Basis, LinearQuery
from prism_core.data.source import check_fits
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import BudgetError, PlanError, PrivacyError, SchemaError, TableError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.step_plan import check_one_row
from prism_core.planning.wishes.task import Budget, Task
from prism_core.privacy import noisy_gradient
from prism_core.privacy.accountants.accountant import accountant
from prism_core.privacy.accountants.conversions import gaussian_delta, rho_to_delta
from prism_core.privacy.contribution import Contribution
from prism_core.privacy.events import GaussianEvent
from prism_core.privacy.mechanisms import noisy_marginal, noisy_query
from prism_core.privacy.noise import SecureNoise
from prism_core.privacy.noisy_gradient import Regression
from prism_core.privacy.scores import (
    association_sensitivity,
    interaction,
    interaction_sensitivity,
    model_error,
    model_error_sensitivity,
    scaled_association,
)
from prism_core.synthesis.measure import Measurement
from prism_core.synthesis.totals import total_of
from tests.support.noise import Unasked
from tests.support.people import everybody, schema_of, table_of

pytestmark = pytest.mark.privacy

KINDS = [(2, "rows"), (3, "rows"), (2, "persons"), (3, "persons")]


def counts_by_person(max_rows, weighting, sizes=(2, 2)):
    """What each person adds to the counts of all columns."""
    schema = schema_of(sizes, max_rows, weighting, persons=1)
    return [
        table_of(schema, [person]).counts([schema.names])[0]
        for person in everybody(sizes, max_rows)
    ]


@pytest.mark.parametrize(("max_rows", "weighting"), KINDS)
def test_counts_move_by_their_sensitivity_and_reach_it(max_rows, weighting):
    given = Contribution(max_rows, weighting)
    added = np.array([counts.ravel() for counts in counts_by_person(max_rows, weighting)])
    moves = added[:, None, :] - added[None, :, :]
    l1, l2 = np.abs(moves).sum(axis=2).max(), math.sqrt((moves**2).sum(axis=2).max())
    assert l1 == given.l1
    assert given.l2 * (1 - 1e-15) <= l2 <= given.l2
    totals = added.sum(axis=1)
    assert (totals.min(), totals.max()) == given.totals(1)


def test_a_row_counts_one_or_a_share_of_its_person():
    rows, persons = Contribution(3), Contribution(3, "persons")
    assert [rows.weight(kept) for kept in (1, 2, 3)] == [1, 1, 1]
    assert [persons.weight(kept) for kept in (1, 2, 3)] == [6, 3, 2]
    assert (rows.most, persons.most) == (3, 6)


@pytest.mark.parametrize(("max_rows", "weighting"), KINDS)
def test_counts_of_a_table_are_the_sums_of_its_people(max_rows, weighting):
    people = list(everybody((2, 2), max_rows))
    added = counts_by_person(max_rows, weighting)
    schema = schema_of((2, 2), max_rows, weighting, persons=len(people))
    found = table_of(schema, people)
    assert (found.counts([("a", "y")])[0] == np.sum(added, axis=0)).all()
    assert found.mass == np.sum(added)
    assert found.people == len(people)


def worst_move(score, max_rows, weighting, others=1, sizes=(2, 2)):
    """The largest change of a score of counts when one person of `others` + 1 is replaced."""
    added = counts_by_person(max_rows, weighting, sizes)
    worst = 0.0
    for rest in itertools.combinations_with_replacement(added, others):
        values = [score(sum(rest) + mine) for mine in added]
        worst = max(worst, max(values) - min(values))
    return worst


@pytest.mark.parametrize(("max_rows", "weighting"), KINDS)
@pytest.mark.parametrize("others", [1, 2])
def test_association_moves_by_its_sensitivity_at_most(max_rows, weighting, others):
    given, n = Contribution(max_rows, weighting), others + 1
    worst = worst_move(
        lambda counts: scaled_association(counts, n, given), max_rows, weighting, others
    )
    declared = association_sensitivity(n, given)
    assert worst <= declared * (1 + 1e-12)
    assert worst >= declared / 4


@pytest.mark.parametrize(("max_rows", "weighting"), KINDS)
def test_model_error_moves_by_its_sensitivity_and_reaches_it(max_rows, weighting):
    given = Contribution(max_rows, weighting)
    worst = 0.0
    for expected in (np.zeros((2, 2)), np.full((2, 2), given.most), np.diag([2.0, 0.0])):
        moved = worst_move(lambda counts, e=expected: model_error(counts, e), max_rows, weighting)
        assert moved <= model_error_sensitivity(given) * (1 + 1e-12)
        worst = max(worst, moved)
    assert worst >= model_error_sensitivity(given) / 2


@pytest.mark.parametrize(("max_rows", "weighting"), KINDS)
def test_an_interaction_moves_by_its_sensitivity_and_reaches_it(max_rows, weighting):
    given, worst = Contribution(max_rows, weighting), 0.0
    rng = np.random.default_rng(4)
    for shares in (np.full((2, 2), 0.5), rng.dirichlet([1, 1], 2), np.array([[1.0, 0], [0, 1.0]])):
        contrasts = [np.array([[1.0, -1.0]])]
        moved = worst_move(
            lambda counts, s=shares, c=contrasts: interaction(counts, s, c), max_rows, weighting
        )
        assert moved <= interaction_sensitivity(given) * (1 + 1e-12)
        worst = max(worst, moved)
    assert worst >= interaction_sensitivity(given) / 2


BASES = [
    (Basis(kind="moments", size=4),),
    (Basis(kind="value", size=4),),
    (Basis(kind="thresholds", size=4, starts=(0, 2)),),
    (Basis(kind="moments", size=3), Basis(kind="levels", size=2)),
    (Basis(kind="value", size=3), Basis(kind="levels", size=2)),
]


@pytest.mark.parametrize("bases", BASES)
@pytest.mark.parametrize(("max_rows", "weighting"), KINDS)
def test_linear_queries_move_by_their_sensitivity_and_reach_it(bases, max_rows, weighting):
    names = ("y",) if len(bases) == 1 else ("a", "y")
    query = LinearQuery(clique=names, bases=bases)
    sizes = tuple(basis.size for basis in bases)
    given = Contribution(max_rows, weighting)
    answers = [
        query.of(counts).ravel().astype(float)
        for counts in counts_by_person(max_rows, weighting, sizes)
    ]
    worst = max(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(answers, 2))
    assert worst <= query.moved(given) * (1 + 1e-12)
    assert worst >= query.moved(given) * (1 - 1e-9)


@pytest.mark.parametrize("max_rows", [2, 3])
def test_a_query_that_tells_the_number_of_rows_alone_moves_by_its_sensitivity(max_rows):
    """One row is one whatever it holds; of several the number is private."""
    query = LinearQuery(clique=("y",), bases=(Basis(kind="thresholds", size=4, starts=(0,)),))
    answers = [int(query.of(c)[0]) for c in counts_by_person(max_rows, "rows", (4,))]
    assert max(answers) - min(answers) == query.moved(Contribution(max_rows)) == max_rows - 1


@pytest.mark.parametrize("weighting", ["rows", "persons"])
@pytest.mark.parametrize("levels", [2, 3])
def test_a_gradient_moves_by_its_sensitivity_and_nearly_reaches_it(levels, weighting):
    schema = schema_of((2, levels), 2, weighting, persons=1)
    regression = Regression(target="y", levels=levels, cells={"a": np.arange(2)}, steps=1, rate=1.0)
    given, worst = Contribution(2, weighting), 0.0
    rng = np.random.default_rng(0)
    for scale in (0, 500, 20_000):
        theta = np.rint(scale * rng.standard_normal((regression.width, regression.parts)))
        gradients = [
            noisy_gradient._gradient(table_of(schema, [p]), regression, theta.astype(np.int64))
            for p in everybody((2, levels), 2)
        ]
        for one, other in itertools.combinations(gradients, 2):
            worst = max(worst, float(np.linalg.norm(one - other)))
    assert worst <= regression.moved(given)
    assert worst >= 0.7 * regression.moved(given)


def test_the_noise_of_one_row_is_refused_for_people_with_several():
    people = [((0, 0), (1, 1)), ((0, 1),)]
    table = table_of(schema_of((2, 2), 2), people, public=False)
    with pytest.raises(PrivacyError) as refused:
        noisy_marginal(table, ("a",), 5.0, SecureNoise())
    assert refused.value.field == "sensitivity"
    query = LinearQuery(clique=("a",), bases=(Basis(kind="value", size=2),))
    assert query.moved(table.contribution) > query.sensitivity


def test_no_mechanism_takes_the_noise_of_one_row_for_several():
    """Each of them holds what is declared against the people of the table it is given."""
    table = table_of(schema_of((2, 2), 2), [((0, 0), (1, 1)), ((0, 1),)])
    query = LinearQuery(clique=("a",), bases=(Basis(kind="value", size=2),))
    regression = Regression(target="y", levels=2, cells={"a": np.arange(2)}, steps=1, rate=1.0)
    event = GaussianEvent(sigma=5.0, sensitivity=regression.sensitivity)
    for measured in (
        lambda: noisy_query(table, query, 5.0, query.sensitivity, Unasked()),
        lambda: noisy_gradient.coefficients(table, regression, event, Unasked()),
    ):
        with pytest.raises(PrivacyError) as refused:
            measured()
        assert refused.value.field == "sensitivity"


@pytest.mark.parametrize("rho", [0.001, 0.3, 7.0])
@pytest.mark.parametrize(("max_rows", "weighting"), [(5, "rows"), (10, "persons")])
def test_the_same_rho_buys_the_noise_of_one_row_times_what_a_person_adds(rho, max_rows, weighting):
    given = Contribution(max_rows, weighting)
    one, several = (accountant("zcdp", c).gaussian(rho, 0.0, "") for c in (Contribution(), given))
    assert several.sensitivity == given.l2
    assert several.rho <= rho
    assert several.sigma == pytest.approx(given.most * one.sigma, rel=1e-12)


def test_a_plan_of_several_rows_spends_the_same_with_more_noise():
    task = Task(target="y", regime="predictive")
    plans = [
        design(Brief(schema_of((3, 3, 2), m, persons=20_000), task, Budget(epsilon=3.0), 20_000))
        for m in (1, 5)
    ]
    assert plans[0].delta == plans[1].delta == 1 / 20_000**2
    assert plans[0].spent.rho == pytest.approx(plans[1].spent.rho)
    for query in plans[1].queries:
        assert query.event.sensitivity == pytest.approx(5 * math.sqrt(2))
    assert all("n" not in query.clique for query in plans[1].queries)


def test_loss_distributions_are_refused():
    with pytest.raises(BudgetError) as refused:
        accountant("pld", Contribution(2))
    assert refused.value.field == "accountant"


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-9), (0.5, 1e-6), (4.0, 0.01)])
@pytest.mark.parametrize(("max_rows", "weighting"), [(2, "rows"), (5, "rows"), (10, "persons")])
def test_basic_composition_gives_what_the_moves_of_a_person_cost(
    epsilon, delta, max_rows, weighting
):
    given = Contribution(max_rows, weighting)
    event = accountant("basic", given).gaussian(epsilon, delta, "")
    assert (event.epsilon, event.delta, event.sensitivity) == (epsilon, delta, given.l2)
    assert rho_to_delta(event.rho, epsilon) <= delta
    # Integer noise itself, for all rows from one cell to another: the worst move there is.
    assert exact_delta(epsilon, event.sigma, given.most) <= delta
    # No waste: a fifth less noise would not be enough by the continuous law.
    assert gaussian_delta(epsilon, 0.8 * event.sigma, given.l2) > delta


def exact_delta(epsilon: float, sigma: float, moved: int) -> float:
    """Delta of integer noise where one cell falls by `moved` and one rises by it.

    The loss is moved (moved + D) / sigma^2 with D the difference of two discrete Gaussians; for a
    sigma this large D is summed as one, of variance 2 sigma^2.
    """
    spread = np.arange(-int(20 * sigma), int(20 * sigma) + 1, max(1, int(sigma / 1_000)))
    law = np.exp(-(spread.astype(float) ** 2) / (4.0 * sigma**2))
    losses = moved * (moved + spread) / sigma**2
    gain = -np.expm1(np.minimum(0.0, epsilon - losses))
    return float((law / law.sum() * gain).sum())


@pytest.mark.parametrize(
    ("field", "task"),
    [
        ("selection", Task(target="y", regime="predictive", k=1, selection="mutual_information")),
        ("three_way", Task(target="y", regime="predictive", k=2, three_way="cmi")),
    ],
)
def test_scores_without_a_proof_are_refused(field, task):
    brief = Brief(schema_of((3, 3, 3, 2), 3, persons=5_000), task, Budget(), 5_000)
    with pytest.raises(BudgetError) as refused:
        design(brief)
    assert refused.value.field == field


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "3", 101, None])
def test_unusable_numbers_of_rows_are_refused(bad):
    with pytest.raises(SchemaError) as refused:
        Contribution(bad)
    assert refused.value.field == "max_rows"


def test_a_person_with_too_many_rows_makes_no_table():
    with pytest.raises(TableError) as refused:
        table_of(schema_of((2, 2), 2), [((0, 0),) * 3, ((0, 1),)])
    assert refused.value.field == "max_rows"


def numbered(each):
    """Persons with so many rows, which are numbered through."""
    who = np.repeat(list(each), list(each.values()))
    return RawTable(pd.DataFrame({"who": who, "x": np.arange(len(who)).astype(str)}, dtype=object))


@pytest.mark.parametrize("most", [1, 2, 3, 10])
def test_up_to_so_many_rows_of_each_person_are_kept(most):
    each = {"a": 1, "b": 2, "c": 9}
    kept = rows_per_person(numbered(each), "who", np.random.default_rng(0), most).frame
    assert kept["who"].value_counts().to_dict() == {k: min(v, most) for k, v in each.items()}
    assert kept["x"].is_unique


def test_nobody_is_cut_in_two_by_the_rows_that_are_set_aside():
    people = list(everybody((2, 2), 3))
    table = table_of(schema_of((2, 2), 3, persons=len(people)), people)
    train, aside = set_aside(table, 7, np.random.default_rng(0))
    assert (train.people, aside.people) == (len(people) - 7, 7)
    owners = [part.person for part in (train, aside) if part.person is not None]
    sizes = np.concatenate([np.bincount(person) for person in owners])
    assert sorted(sizes) == sorted(len(rows) for rows in people)


def test_a_step_that_is_proven_for_one_row_refuses_several():
    check_one_row(schema_of((2, 2), 1), "It is proven")
    with pytest.raises(PrivacyError) as refused:
        check_one_row(schema_of((2, 2), 2), "It is proven")
    assert refused.value.field == "max_rows"


def test_the_total_of_a_fit_follows_the_noisy_counts_alone():
    measured = [Measurement(clique=("y",), values=np.array([v, 30]), sigma=2.0) for v in (8, 9)]
    found = total_of(Contribution(5), 10, measured)
    assert found in (38, 39)
    assert total_of(Contribution(5, "persons"), 10, measured) == 600
    assert total_of(Contribution(2), 10, measured) == 20  # nobody has more than two


def test_a_table_that_does_not_say_whose_its_rows_are_is_refused():
    schema = schema_of((2, 2), 2)
    table = table_of(schema, [((0, 0), (1, 0)), ((0, 1),)])
    check_fits(table, schema, 2)
    from dataclasses import replace

    with pytest.raises(PlanError) as refused:
        check_fits(replace(table, person=None), schema, 3)
    assert refused.value.field == "schema"
