"""The plan of a learned domain and its charge: closed, deducted, and before the first mechanism."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pandas as pd
import pytest

from prism_core.data.encoding import encode
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import (
    BudgetError,
    LedgerError,
    OverspentError,
    PlanError,
    PrivacyError,
    SchemaError,
    TableError,
)
from prism_core.learning.domain.domain_plan import design_domain
from prism_core.learning.domain.learned_domain import learn_domain
from prism_core.learning.domain.requests import CategoryRequest, NumericRequest, Outline
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Shares, Synthesis, Task
from prism_core.privacy.accountants.conversions import epsilon_to_rho, rho_to_epsilon
from prism_core.privacy.learning_charge import LearningCharge
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.noise import SeededNoise
from prism_core.synthesis.release import release
from tests.support.noise import Exact, Watching
from tests.support.outlines import AGE, ALL, WARD, Y, outline, raw, rng
from tests.support.refusals import refused

STAR = Synthesis(model="naive_bayes", rows=50)


# --- the plan --------------------------------------------------------------------------------


@pytest.mark.privacy
@pytest.mark.parametrize("epsilon", [0.01, 0.2, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("delta_share", [0.01, 0.1, 0.9, 0.999])
def test_domain_and_release_together_stay_below_the_declaration(epsilon, share, delta_share):
    """The deduction, added up apart from the program's own sums; and little is left over."""
    n, delta = 5_000, 1e-6
    plan = design_domain(outline(), epsilon, delta, n, share=share, delta_share=delta_share)
    learned = [r.grid if isinstance(r, NumericRequest) else r.column(("a",)) for r in ALL[:-1]]
    schema = plan.schema(learned, plan.prior())
    release = design(
        Brief(
            schema,
            Task(target="y", regime="predictive", k=2),
            Budget(epsilon=epsilon, delta=delta, shares=Shares(background=0.1, task=0.75)),
            n,
            synthesis=STAR,
        )
    )
    spent = [*plan.events, *release.events]
    failing = math.fsum(e.delta for e in plan.events if hasattr(e, "threshold"))
    assert 0.0 < failing <= delta * delta_share
    rho = math.fsum(event.rho for event in spent)
    assert rho <= epsilon_to_rho(epsilon, delta - failing)
    assert rho >= epsilon_to_rho(epsilon, delta - failing) * (1 - 1e-6)
    assert rho_to_epsilon(rho, delta - failing) <= epsilon
    assert release.guarantee.epsilon <= epsilon
    assert release.guarantee.rho == pytest.approx(rho, rel=1e-12)
    assert release.guarantee.delta <= delta
    assert plan.spent.rho == pytest.approx(share * rho, rel=1e-6)
    assert release.spent.epsilon < release.guarantee.epsilon
    document = release.to_dict()
    assert document["domain"]["rho"] == plan.spent.rho
    assert document["domain"]["delta_of_histograms"] == pytest.approx(failing, rel=1e-12)
    assert document["with_learning"]["epsilon"] == release.guarantee.epsilon
    assert len(document["domain"]["events"]) == 5
    json.dumps(document, allow_nan=False)


@pytest.mark.privacy
def test_several_histograms_share_their_delta():
    names = [CategoryRequest(name=f"c{i}") for i in range(7)]
    plan = design_domain(outline(*names, Y), 1.0, 1e-6, 1_000, delta_share=0.3)
    assert 0.3e-6 * (1 - 1e-9) <= plan.prior().failing <= 0.3e-6


@pytest.mark.privacy
def test_without_categories_no_delta_is_spent():
    plan = design_domain(outline(AGE, Y), 1.0, 1e-6, 1_000)
    assert plan.prior().failing == 0.0
    assert plan.spent.rho == pytest.approx(0.1 * epsilon_to_rho(1.0, 1e-6))


@pytest.mark.privacy
def test_nothing_left_is_refused_and_so_are_other_ways_out():
    plan = design_domain(outline(AGE, WARD, Y), 1.0, 1e-6, 1_000)
    schema = plan.schema([AGE.grid, WARD.column(())], plan.prior())
    task = Task(target="y", regime="predictive", k=1)
    with pytest.raises(BudgetError, match="nothing is left"):
        design(Brief(schema, task, Budget(epsilon=0.2, delta=1e-6), 1_000))
    with pytest.raises(BudgetError, match="nothing is left"):  # the histogram's delta is larger
        design(Brief(schema, task, Budget(delta=1e-8), 1_000))
    with pytest.raises(BudgetError, match="zcdp"):
        design(Brief(schema, task, Budget(accountant="basic", delta=1e-6), 1_000))
    with pytest.raises(SchemaError, match="does not say what it cost"):
        replace(schema, prior=None)
    with pytest.raises(SchemaError, match="does not say what it cost"):  # a second step neither
        replace(outline(AGE, Y), provenance="dp")


@pytest.mark.privacy
@pytest.mark.parametrize("value", [None, math.nan, 0, 1, 1.0, -0.1, math.inf, True, "0.1"])
@pytest.mark.parametrize("field", ["share", "delta_share"])
def test_shares_are_closed(field, value):
    with pytest.raises(BudgetError, match=field):
        design_domain(outline(), 1.0, 1e-6, 1_000, **{field: value})


@pytest.mark.privacy
@pytest.mark.parametrize("value", [math.nan, 0, -1.0, math.inf, True, "1"])
def test_epsilon_delta_and_n_are_closed(value):
    with pytest.raises(BudgetError):
        design_domain(outline(), value, 1e-6, 1_000)
    with pytest.raises(BudgetError):
        design_domain(outline(), 1.0, value, 1_000)
    with pytest.raises(BudgetError):
        design_domain(outline(), 1.0, 1e-6, value)


def test_defaults_hash_and_warnings():
    plan = design_domain(outline(), 1.0, None, 1_000)
    assert plan.delta == 1e-6
    assert plan.hash == design_domain(outline(), 1.0, None, 1_000).hash
    assert plan.hash != design_domain(outline(), 1.0, None, 1_001).hash
    assert design_domain(outline(AGE, Y), 10.0, None, 1_000_000).warnings == ()
    poor = design_domain(outline(AGE, WARD, Y), 0.01, None, 100).warnings
    assert [warning.split(":")[0] for warning in poor] == ["age", "age", "ward"]


def test_people_must_be_declared():
    with pytest.raises(PrivacyError, match="one row"):
        design_domain(Outline(columns=ALL), 1.0, None, 1_000)
    ids = Outline(columns=ALL, person_id="mrn", persons=10)
    with pytest.raises(BudgetError, match="declared number of persons"):
        design_domain(ids, 1.0, None, 1_000)
    with pytest.raises(SchemaError, match="twice"):
        design_domain(outline(AGE, AGE, Y), 1.0, None, 1_000)
    with pytest.raises(SchemaError, match="No column is to be learned"):
        outline(Y)


# --- charged first ---------------------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path):
    found = Ledger(tmp_path)
    found.register("ward", epsilon=1.0, delta=1e-5)
    return found


def learn(plan, table, ledger, noise, **others):
    return learn_domain(plan, table, ledger=ledger, asset="ward", noise=noise, rng=rng(), **others)


@pytest.mark.privacy
def test_the_charge_stands_before_the_first_mechanism(ledger):
    plan = design_domain(outline(), 1.0, 1e-5, 300)
    noise = Watching(ledger)
    found = learn(plan, raw(300), ledger, noise)
    assert noise.calls == 5
    (charge,) = ledger.charges()
    assert (charge.state, charge.plan, charge.id) == ("done", plan.hash, found.charge)
    assert charge.rho == plan.spent.rho
    (receipt,) = set(found.schema.prior.receipts)
    assert found.schema.prior == plan.prior(charge.id, receipt)
    assert len(receipt) == 32
    assert found.stamp == "learned"
    balance = ledger.balance("ward")
    failing = plan.prior().failing
    assert balance.total_rho == epsilon_to_rho(1.0, 1e-5 - failing)
    assert balance.spent_epsilon == rho_to_epsilon(plan.spent.rho, 1e-5 - failing)


@pytest.mark.privacy
@pytest.mark.parametrize("breaks_at", [1, 3])
def test_a_failed_run_stays_charged(ledger, breaks_at):
    plan = design_domain(outline(), 1.0, 1e-5, 300)
    with pytest.raises(RuntimeError):
        learn(plan, raw(300), ledger, Watching(ledger, breaks_at))
    assert [charge.state for charge in ledger.charges()] == ["failed"]


@pytest.mark.privacy
def test_only_what_stopped_before_any_mechanism_is_void(ledger, monkeypatch):
    plan = design_domain(outline(), 1.0, 1e-5, 300)
    monkeypatch.setattr(RawTable, "column", lambda *_: (_ for _ in ()).throw(MemoryError()))
    with pytest.raises(MemoryError):
        learn(plan, raw(300), ledger, Watching(ledger))
    assert [charge.state for charge in ledger.charges()] == ["void"]
    assert ledger.balance("ward").total_rho == epsilon_to_rho(1.0, 1e-5)


@pytest.mark.privacy
def test_learning_and_release_use_up_a_lifetime_exactly_once(ledger):
    """Lifetime = declared: learning and its release fit, and no float's last digit refuses."""
    plan = design_domain(outline(), 1.0, 1e-5, 300)
    learn(plan, raw(300), ledger, Watching(ledger))
    left = ledger.balance("ward")
    rest = replace(
        plan.spent,
        rho=epsilon_to_rho(1.0, 1e-5 - plan.prior().failing) * (1 - 1e-12) - plan.spent.rho,
    )
    ledger.charge("ward", step="release", spent=rest, events=(), plan="r", accountant="zcdp")
    assert ledger.balance("ward").left_rho <= left.total_rho * 1e-11
    with pytest.raises(OverspentError):
        learn(plan, raw(300), ledger, Watching())


@pytest.mark.privacy
def test_the_cost_holds_for_the_unit_that_was_counted():
    """Twenty rows of a person counted one by one cost her far more than is written down."""
    plan = design_domain(outline(AGE, WARD, Y), 1.0, 1e-6, 1_000)
    schema = plan.schema([AGE.grid, WARD.column(())], plan.prior())
    people = {"one_row_per_person": False, "person_id": "patient", "persons": 50}
    with refused(SchemaError, "person_id"):
        replace(schema, **people)
    with refused(SchemaError, "person_id"):
        Outline(columns=(AGE, Y), prior=plan.prior(), **people)
    per_person = design_domain(Outline(columns=(AGE, Y), **people), 1.0, 1e-6, 50)
    learned = per_person.schema([AGE.grid], per_person.prior())
    assert LearningCharge.from_dict(learned.prior.to_dict()) == learned.prior
    with refused(SchemaError, "person_id"):
        replace(learned, one_row_per_person=True, person_id=None, persons=None)


@pytest.mark.privacy
def test_learning_charged_elsewhere_is_charged_with_the_release(ledger, tmp_path):
    """Another workspace, another asset, or no ledger: the asset that is released pays for both."""
    plan = design_domain(outline(AGE, Y), 1.0, 1e-5, 300)
    learned = learn(plan, raw(300), ledger, Watching(ledger)).schema
    released = encode(learned, raw(300))
    made = design(
        Brief(
            learned,
            Task(target="y", regime="predictive", k=1),
            Budget(delta=1e-5),
            300,
            synthesis=STAR,
        )
    )
    other = Ledger(tmp_path / "other")
    other.register("ward", epsilon=1.0, delta=1e-5)
    ledger.register("clinic", epsilon=1.0, delta=1e-5)
    for book, asset in ((ledger, "ward"), (other, "ward"), (ledger, "clinic")):
        release(made, released, ledger=book, asset=asset, rng=rng())
        balance = book.balance(asset)
        assert balance.spent_epsilon == pytest.approx(1.0, rel=1e-6)
        assert balance.spent_epsilon <= 1.0
    assert [len(book.charges()) for book in (ledger, other)] == [3, 1]
    assert other.charges()[0].epsilon == pytest.approx(1.0, rel=1e-6)


@pytest.mark.privacy
def test_the_ledger_subtracts_the_delta_of_histograms_before_and_after(ledger):
    """What the whole lifetime delta would still buy is refused: a part of that delta is gone."""
    plan = design_domain(outline(), 1.0, 1e-5, 300, delta_share=0.9)
    learn(plan, raw(300), ledger, Watching(ledger))
    reduced, whole = epsilon_to_rho(1.0, 1e-5 - plan.prior().failing), epsilon_to_rho(1.0, 1e-5)
    assert reduced < 0.9 * whole
    rest = replace(plan.spent, rho=0.95 * whole - plan.spent.rho)
    with pytest.raises(OverspentError):
        ledger.charge("ward", step="release", spent=rest, events=(), plan="r", accountant="zcdp")
    ledger.register("fresh", epsilon=1.0, delta=1e-5)
    with pytest.raises(OverspentError):  # the delta of the charge itself counts, too
        ledger.charge(
            "fresh",
            step="release",
            spent=replace(plan.spent, rho=0.95 * whole),
            events=plan.events,
            plan="r",
            accountant="zcdp",
        )


class Untouchable(RawTable):
    def column(self, name):
        raise AssertionError("a cell was read")


@pytest.mark.privacy
def test_refusals_come_before_a_cell_is_read(ledger):
    plan = design_domain(outline(), 1.0, 1e-5, 300)
    table = Untouchable(raw(300).frame)
    with pytest.raises(PrivacyError, match="Seeded noise"):
        learn(plan, table, ledger, SeededNoise(rng()))
    with pytest.raises(PlanError, match="300"):
        learn(plan, Untouchable(raw(299).frame), ledger, Watching())
    with pytest.raises(TableError, match="'ward'"):
        learn(plan, Untouchable(table.frame.drop(columns="ward")), ledger, Watching())
    with pytest.raises(LedgerError, match="Name the data asset"):
        learn_domain(plan, table, ledger=ledger, noise=Watching(), rng=rng())
    dear = design_domain(outline(), 30.0, 1e-5, 300)
    with pytest.raises(OverspentError):
        learn(dear, table, ledger, Watching())
    assert ledger.charges() == ()


def test_a_rehearsal_is_not_charged(ledger):
    plan = design_domain(outline(), 1.0, 1e-5, 300)
    found = learn(plan, raw(300), ledger, SeededNoise(rng()), public=True)
    assert (found.charge, found.stamp) == (None, "rehearsal, not learned")
    assert ledger.charges() == ()


@pytest.mark.privacy
def test_one_row_per_person_is_kept_before_anything_is_counted(monkeypatch):
    ids = Outline(columns=(WARD, Y), person_id="mrn", persons=40)
    plan = design_domain(ids, 50.0, 0.5, 40)
    frame = pd.DataFrame({"mrn": [*range(40), *[7] * 60], "ward": ["A"] * 40 + ["B"] * 60, "y": ""})
    seen = []

    class Counting(Exact):
        def add_discrete_gaussian(self, counts, sigma):
            seen.append(counts)
            return counts

    learn_domain(
        plan,
        RawTable(frame.astype(str)),
        ledger=None,
        noise=Counting(),
        rng=rng(),  # type: ignore[arg-type]
    )
    assert seen[0].sum() == 40
    assert seen[0].max() >= 39
